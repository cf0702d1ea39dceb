"""Shadows: foreground that is the background under less light."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.shadows import SEGMENT, Darkening, Images, find_darkened
from bgsub.frames import Mask

__all__ = ["find_shadows"]

_RULE = Darkening(
    darkest=np.float32(0.25),
    lightest=np.float32(0.97),
    chromaticity=np.float32(0.09),  # 3 % of a grey pixel's channel, for three channels
    variance=np.float32(8.0**2),
    least=np.float32(6.25),  # a quarter of the square
)
_SIDE_PX = 15  # side of the square in which the majority decides, for 320x240
_GRID_PX = 320 * 240  # larger frames are looked at on a grid of about so many pixels


def find_shadows(mask: Mask, frame: NDArray[Any], background: NDArray[Any], white: float, threads: int) -> Mask:
    """Find foreground whose colour and texture are those of the background, darkened by one factor.

    A pixel may be in shadow where brightness fell to between 25 and 97 % and chromaticity stayed, and where the
    brightness of such pixels in the 5x5 square around it equals the background's times one factor, up to 8 grey
    levels. Grey cars on grey roads look like that in places, so the majority decides: shadow is where most of the
    foreground in a square of 15 pixels may be in shadow, except what the rest of the foreground encloses. Of frames
    larger than 320x240 every second, third, ... row and column is looked at, and stands for its neighbours.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Final mask, 0 and 255.
    frame, background : (D, at least H * W) array
        Planes of the frame and of the learned background.
    white : float
        Value of white.
    threads : int
        Threads to use, 0 for one per CPU.

    Returns
    -------
    (H, W) uint8 array
        255 in shadows, which are a part of the mask.
    """
    if not mask.any():
        return np.zeros_like(mask)
    height, width = mask.shape
    step = max(1, round(math.sqrt(mask.size / _GRID_PX)))
    grid, now, learned = mask, frame, background
    if step > 1:
        grid = np.ascontiguousarray(mask[step // 2 :: step, step // 2 :: step])
        now, learned = (_thin(planes, mask.shape, step) for planes in (frame, background))
    found = _find_on_grid(grid, now, learned, white, threads)
    if step > 1:
        found = found.repeat(step, 0).repeat(step, 1)
        short = max(height - found.shape[0], 0), max(width - found.shape[1], 0)
        found = np.pad(found, ((0, short[0]), (0, short[1])), "edge")[:height, :width]
    return np.asarray(np.bitwise_and(found, mask), np.uint8)


def _thin(planes: NDArray[Any], shape: tuple[int, ...], step: int) -> NDArray[Any]:
    """Return every step-th pixel of every step-th row of planes (D, at least H * W), as planes."""
    images = planes[:, : shape[0] * shape[1]].reshape(-1, *shape)
    return np.ascontiguousarray(images[:, step // 2 :: step, step // 2 :: step]).reshape(len(planes), -1)


def _find_on_grid(mask: Mask, frame: NDArray[Any], background: NDArray[Any], white: float, threads: int) -> Mask:
    darkened = np.empty_like(mask)
    images = Images(mask, frame, background, np.float32(255.0 / white))
    occupied = np.maximum.reduceat(mask, np.arange(0, mask.shape[1], SEGMENT), axis=1)
    run_bands(find_darkened, (mask.shape[0], mask.shape[1]), threads, images, _RULE, occupied, darkened)
    if not darkened.any():
        return darkened
    square = (_SIDE_PX, _SIDE_PX)
    share, whole = (cv2.boxFilter(image, cv2.CV_16U, square, normalize=False) for image in (darkened, mask))
    found = np.where(np.asarray(share) > np.asarray(whole) // 2, mask, np.uint8(0))
    solid = cv2.bitwise_and(mask, cv2.bitwise_not(found))
    outlines = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    cv2.drawContours(solid, outlines, -1, 255, cv2.FILLED)
    return np.asarray(cv2.bitwise_and(found, cv2.bitwise_not(solid)), np.uint8)
