"""Frames with fewer pixels: what `quality` leaves of a frame, and how masks get their size back."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.frames import Frame, Mask

__all__ = [
    "Scales",
    "enlarge",
    "enlarge_mask",
    "find_moving",
    "find_scales",
    "reduce_frame",
    "reduce_mask",
    "reduced_shape",
    "take_where_moving",
]

_BALANCED_PX = 640 * 480  # pixels that frames keep at least
_BOTH_PX = 320 * 240  # frames with fewer show too little when they are reduced
_WIDE = 1.5  # mean width factor, in units of the least one, above which the background moves


class Scales(NamedTuple):
    """At which sizes frames of one size are judged."""

    whole: bool
    """Whether each pixel is."""
    side: int
    """Of the squares of pixels that are judged as one, a power of two; 1 if none are."""


def find_scales(quality: str, size: tuple[int, int]) -> Scales:
    """Return how frames of (height, width) are judged.

    Examples
    --------
    >>> [find_scales("balanced", size).side for size in [(480, 640), (720, 1280), (1080, 1920), (2160, 3840)]]
    [1, 1, 2, 4]
    >>> find_scales("fast", (480, 640))
    Scales(whole=False, side=2)
    >>> find_scales("best", (480, 640))
    Scales(whole=True, side=2)
    """
    pixels = size[0] * size[1]
    if quality == "best":
        return Scales(True, 2 if pixels >= _BOTH_PX else 1)
    side = 1
    while pixels >= 4 * side**2 * _BALANCED_PX:
        side *= 2
    side *= 2 if quality == "fast" else 1
    return Scales(side == 1, side)


def reduced_shape(shape: tuple[int, ...], side: int) -> tuple[int, ...]:
    """Return the shape of a frame after `reduce_frame`."""
    return -(-shape[0] // side), -(-shape[1] // side), *shape[2:]


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
    """Return 255 where a whole square of pixels is 255, else 0."""
    while side > 1:  # a mean of four bytes rounds to 255 only if all are
        mask = np.asarray(cv2.threshold(reduce_frame(mask, 2), 254, 255, cv2.THRESH_BINARY)[1], np.uint8)
        side //= 2
    return mask


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


def find_moving(factors: NDArray[np.uint16], least: float, side: int, reach: int, moving: Mask) -> None:
    """Find where the background moves: the mean width factor in a square is far above the least one.

    Parameters
    ----------
    factors : (H, W) uint16 array
        Width factors.
    least : float
        The least one, in the same units.
    side : int
        Of the squares of pixels that become one.
    reach : int
        Side of the square of these in which the mean is taken.
    moving : (ceil(H / side), ceil(W / side)) uint8 array
        Written: 255 where the background moves, else 0.
    """
    mean = cv2.blur(reduce_frame(factors, side), (max(reach, 1), max(reach, 1)))
    moving[:] = np.where(np.asarray(mean) > _WIDE * least, np.uint8(255), np.uint8(0))


def take_where_moving(mask: Mask, coarse: Mask, moving: Mask, side: int) -> None:
    """Write the mask of the reduced frame where the background moves."""
    if cv2.hasNonZero(moving):
        where = np.empty_like(mask)
        enlarge(moving, where, side, smooth=False)
        cv2.copyTo(coarse, where, mask)
