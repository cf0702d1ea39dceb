"""Still images written to files."""

from os import PathLike
from pathlib import Path

import numpy as np

from bgsub._files import write_whole
from bgsub._opencv import cv2
from bgsub.errors import SinkError
from bgsub.frames import Frame

__all__ = ["write_image"]


def write_image(path: str | PathLike[str], image: Frame, *, suffix: str = ".png", sync: bool = True) -> None:
    """Write one image, whole or not at all; an existing file is overwritten.

    OpenCV only encodes: Python's errors name their cause, and its paths may hold any letters.

    Parameters
    ----------
    path : str or path
        Where to write.
    image : (H, W) or (H, W, 3) array of uint8 or uint16
        Grey or BGR.
    suffix : str
        Format, such as ".png", whatever the path ends in.
    sync : bool
        As for `bgsub._files.open_whole`.

    Raises
    ------
    SinkError
        If the format cannot hold the image, or the file cannot be written.
    """
    path, format_name = Path(path), suffix[1:].upper()
    if image.dtype not in (np.uint8, np.uint16):
        raise SinkError(
            f"cannot write {path}: a {format_name} cannot hold {image.dtype} pixels; run on frames of 8 or 16 bits"
        )
    done, data = cv2.imencode(suffix, image)
    if not done:
        raise SinkError(f"cannot write {path}: OpenCV cannot store an array of shape {image.shape} as {format_name}")
    write_whole(path, data.tobytes(), sync=sync)
