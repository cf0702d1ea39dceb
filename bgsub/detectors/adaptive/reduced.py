"""Frames with fewer pixels: what `quality` leaves of a frame, and how masks get their size back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.frames import Frame, Mask

__all__ = ["enlarge", "enlarge_mask", "reduce_frame", "reduce_mask", "reduction"]

_BALANCED_PX = 640 * 480  # pixels that frames keep at least


def reduction(quality: str, size: tuple[int, int]) -> int:
    """Return the side of the squares of pixels that become one, a power of two, for frames of (height, width).

    Examples
    --------
    >>> [reduction("balanced", size) for size in [(480, 640), (720, 1280), (1080, 1920), (2160, 3840)]]
    [1, 1, 2, 4]
    >>> reduction("fast", (480, 640)), reduction("best", (2160, 3840))
    (2, 1)
    """
    side = 1
    while quality != "best" and size[0] * size[1] >= 4 * side**2 * _BALANCED_PX:
        side *= 2
    return 2 * side if quality == "fast" else side


def reduce_frame(frame: Frame, side: int) -> Frame:
    """Return the means of squares of pixels.

    Parameters
    ----------
    frame : (H, W, 3) or (H, W) array of uint8, uint16 or float32
    side : int
        Of the squares, a power of two; beyond the right and the lower border pixels are repeated.

    Returns
    -------
    array
        ceil(H / side) times ceil(W / side) pixels, of the same dtype.
    """
    height, width = frame.shape[:2]
    right, below = -width % side, -height % side
    if right or below:
        frame = np.asarray(cv2.copyMakeBorder(frame, 0, below, 0, right, cv2.BORDER_REPLICATE))
    while side > 1:  # OpenCV is fast at halves alone
        height, width = frame.shape[0] // 2, frame.shape[1] // 2
        frame = np.asarray(cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA))
        side //= 2
    return frame


def reduce_mask(mask: Mask, side: int) -> Mask:
    """Return 255 where a whole square of pixels is not 0."""
    shares = reduce_frame((mask != 0).astype(np.float32), side)
    return np.where(shares == 1, np.uint8(255), np.uint8(0))


def enlarge(image: NDArray[Any], out: NDArray[Any], side: int, *, smooth: bool) -> None:
    """Write an image to an array that is `side` times as large, each pixel repeated, or with the values between."""
    height, width = image.shape[0] * side, image.shape[1] * side
    fits = out.shape[:2] == (height, width) and out.flags.c_contiguous
    how = cv2.INTER_LINEAR if smooth else cv2.INTER_NEAREST
    large = cv2.resize(image, (width, height), dst=out if fits else None, interpolation=how)
    if not fits:
        out[:] = large[: out.shape[0], : out.shape[1]]


def enlarge_mask(mask: Mask, out: Mask, side: int) -> None:
    """Write a mask to a larger array, with outlines between the pixels; 127 remains where nothing is 255."""
    enlarge(np.where(mask == 255, np.uint8(255), np.uint8(0)), out, side, smooth=True)
    out[:] = cv2.threshold(out, 127, 255, cv2.THRESH_BINARY)[1]
    if np.any((mask != 0) & (mask != 255)):
        marks = np.empty_like(out)
        enlarge(mask, marks, side, smooth=False)
        np.copyto(out, marks, where=(out == 0) & (marks != 255))
