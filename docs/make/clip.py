"""Render the bundled clip: samples/walkers.mp4, and its labels frame by frame, samples/walkers_truth.mkv.

Run from anywhere: python docs/make/clip.py
"""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from bgsub.video.sources.synthetic.scene import SyntheticScene

FOLDER = Path(__file__).resolve().parents[2] / "samples"


def write(path: Path, codec: str, pixels: str, frames: list[np.ndarray], rate: int, options: dict[str, str]) -> None:
    """Encode frames, BGR or grey."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=Fraction(rate), options=options)
        stream.height, stream.width, stream.pix_fmt = *frames[0].shape[:2], pixels
        for index, frame in enumerate(frames):
            image = av.VideoFrame.from_ndarray(frame, format="bgr24" if frame.ndim == 3 else "gray")
            image.pts, image.time_base = index, Fraction(1, rate)
            container.mux(stream.encode(image))
        container.mux(stream.encode())


def main() -> None:
    """Write both files."""
    scene = SyntheticScene(size=(240, 320), frames=300, rate_hz=25, seed=4, noise=2.0)
    images, labels = zip(*(scene.frame(index) for index in range(scene.frames)), strict=True)
    write(FOLDER / "walkers.mp4", "libx264", "yuv420p", list(images), 25, {"crf": "25", "preset": "slow"})
    write(FOLDER / "walkers_truth.mkv", "ffv1", "gray", list(labels), 25, {"level": "3", "coder": "range_def"})


if __name__ == "__main__":
    main()
