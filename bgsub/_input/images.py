"""Still images read from files: every failure is one line that names the file."""

import logging
import stat
from pathlib import Path

import numpy as np

from bgsub._input.frame_size import check_frame_size, image_size, lacks_data, most_pixels
from bgsub._opencv import cv2
from bgsub.errors import BgsubError, SourceError
from bgsub.frames import Frame

__all__ = ["AS_STORED", "GREY", "decode_image", "read_image"]

logger = logging.getLogger(__name__)

AS_STORED = cv2.IMREAD_ANYCOLOR | cv2.IMREAD_ANYDEPTH
"""Grey stays grey, 16 bits stay 16 bits, alpha is dropped."""
GREY = cv2.IMREAD_GRAYSCALE

_BYTES_PER_PIXEL = 16  # more than any format stores


def read_image(path: Path, flags: int = AS_STORED, error: type[BgsubError] = SourceError) -> Frame:
    """Read one image.

    Parameters
    ----------
    path : path
        The file.
    flags : int
        As for `cv2.imdecode`.
    error : type of BgsubError
        The error to raise.

    Returns
    -------
    (H, W) or (H, W, 3) array
        C-contiguous.

    Raises
    ------
    BgsubError
        Of the kind `error`, if the file cannot be read, is no image, or has too many pixels.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _BYTES_PER_PIXEL * most_pixels():
            raise error(f"{path} is no file of the size of an image; replace it or move it elsewhere")
        data = path.read_bytes()
    except OSError as refused:
        raise error(f"cannot read {path}: {refused.strerror}; check the file") from refused
    return decode_image(str(path), data, flags, error)


def decode_image(name: str, data: bytes, flags: int = AS_STORED, error: type[BgsubError] = SourceError) -> Frame:
    """Decode one image, called `name` in messages; otherwise as `read_image`.

    Raises
    ------
    BgsubError
        Of the kind `error`, if it is no image or has too many pixels.
    """
    check_frame_size(name, image_size(data), error)
    try:
        image = None if lacks_data(data) else cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error as refused:  # of an empty file, or with a size that OpenCV refuses
        logger.debug("%s: %s", name, refused)
        image = None
    if image is None:
        raise error(f"{name} is not a readable image; replace it or move it elsewhere")
    return np.ascontiguousarray(image)
