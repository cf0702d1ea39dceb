"""A generated scene written as a data set with ground truth."""

from pathlib import Path

import numpy as np

from bgsub._files import failure, write_text
from bgsub.errors import SinkError
from bgsub.video._images import write_image
from bgsub.video.sources.synthetic.families import ComposedScene
from bgsub.video.sources.synthetic.scene import SyntheticScene

__all__ = ["write_sample"]


def write_sample(
    folder: str | Path, scene: SyntheticScene | ComposedScene, *, suffix: str = ".png", force: bool = False
) -> Path:
    """Write a scene in the layout of the change-detection benchmark.

    ``input/in000001.png``, ``groundtruth/gt000001.png`` and so on, ``ROI.bmp``, and ``temporalROI.txt``,
    which leaves the empty frames at the start to training.

    Parameters
    ----------
    folder : path
        Folder to write to; created if missing.
    scene : SyntheticScene or ComposedScene
        The scene to write.
    suffix : {".png", ".jpg"}
        Format of the input images.
    force : bool
        Whether to write to a folder that has contents; frames of an earlier sample are removed from it.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    SinkError
        If the folder has contents and `force` is False, or it cannot be written to.
    ValueError
        If the suffix is neither.
    """
    if suffix not in (".png", ".jpg"):
        raise ValueError(f"suffix must be '.png' or '.jpg', got {suffix!r}")
    folder = Path(folder)
    try:
        if folder.exists() and any(folder.iterdir()) and not force:
            raise SinkError(
                f"cannot write the sample {folder}: the folder is not empty; choose another or force overwriting"
            )
        for part, prefix in (("input", "in"), ("groundtruth", "gt")):
            (folder / part).mkdir(parents=True, exist_ok=True)
            for old in (folder / part).glob(f"{prefix}[0-9]*.*"):
                old.unlink()
    except OSError as error:
        raise failure(folder, error.strerror or str(error), what="sample") from error
    for i in range(scene.frames):
        frame, labels = scene.frame(i)
        write_image(folder / "input" / f"in{i + 1:06d}{suffix}", frame, suffix=suffix, sync=False)
        write_image(folder / "groundtruth" / f"gt{i + 1:06d}.png", labels, sync=False)
    write_image(folder / "ROI.bmp", np.full(scene.size, 255, np.uint8), suffix=".bmp")
    write_text(folder / "temporalROI.txt", f"{scene.empty_frames + 1} {scene.frames}\n")
    return folder
