"""Generated surveillance scenes with exact ground truth."""

from bgsub.video.sources.synthetic.sample import write_sample
from bgsub.video.sources.synthetic.scene import SyntheticScene
from bgsub.video.sources.synthetic.source import SCENES, SyntheticSource, open_generated, open_synthetic

__all__ = ["SCENES", "SyntheticScene", "SyntheticSource", "open_generated", "open_synthetic", "write_sample"]
