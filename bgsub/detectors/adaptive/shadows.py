"""Shadows: foreground that is the background under less light."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.shadows import SEGMENT, Darkening, Images, find_darkened
from bgsub.detectors.adaptive.final_mask import scaled_side
from bgsub.frames import Mask

__all__ = ["find_shadows"]

_RULE = Darkening(
    darkest=np.float32(0.25),
    lightest=np.float32(0.97),
    chromaticity=np.float32(0.09),  # 3 % of a grey pixel's channel, for three channels
    variance=np.float32(8.0**2),
    least=np.float32(6.25),  # a quarter of the square
)
_ALONE = 0.95  # share of a region in shadow that leaves nothing to cast it,
_DARK = 0.7  # and share of the background's brightness below which it is then an object
_SIDE_PX = 15  # side of the square in which the majority decides, on the grid; less for frames smaller than 320x240
_GRID_PX = 320 * 240  # larger frames are looked at on a grid of about so many pixels


def find_shadows(mask: Mask, frame: NDArray[Any], background: NDArray[Any], white: float, threads: int) -> Mask:
    """Find foreground whose colour and texture are those of the background, darkened by one factor.

    A pixel may be in shadow where brightness fell to between 25 and 97 % and chromaticity stayed, and where the
    brightness of such pixels in the 5x5 square around it equals the background's times one factor, up to 8 grey
    levels. Grey cars on grey roads look like that in places, so the majority decides: shadow is where most of the
    foreground in a square of 15 pixels may be in shadow, except what the rest of the foreground encloses. A region
    that is shadow as a whole and has less than 70 % of the brightness is an object, since nothing casts it. Of frames
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
    shadows = np.zeros_like(mask)
    left, top, width, height = cv2.boundingRect(mask)
    if width == 0:
        return shadows
    step = max(1, round(math.sqrt(mask.size / _GRID_PX)))
    box = slice(top, top + height), slice(left, left + width)
    grid = slice(top + step // 2, top + height, step), slice(left + step // 2, left + width, step)
    thin = np.ascontiguousarray(mask[grid])
    if thin.size == 0:
        return shadows
    now, learned = (
        np.ascontiguousarray(planes[:, : mask.size].reshape(-1, *mask.shape)[:, *grid]).reshape(len(planes), -1)
        for planes in (frame, background)
    )
    side = min(_SIDE_PX, scaled_side(_SIDE_PX, (mask.shape[0], mask.shape[1])))
    found = _find_on_grid(thin, now, learned, white, side, threads)
    if found.any():
        whole = found if step == 1 else cv2.resize(found, (width, height), interpolation=cv2.INTER_NEAREST)
        np.bitwise_and(np.asarray(whole, np.uint8), mask[box], out=shadows[box])
    return shadows


def _find_on_grid(
    mask: Mask, frame: NDArray[Any], background: NDArray[Any], white: float, side: int, threads: int
) -> Mask:
    """Find shadows in all of a small image; see `find_shadows`."""
    darkened = np.empty_like(mask)
    images = Images(mask, frame, background, np.float32(255.0 / white))
    occupied = np.maximum.reduceat(mask, np.arange(0, mask.shape[1], SEGMENT), axis=1)
    run_bands(find_darkened, (mask.shape[0], mask.shape[1]), threads, images, _RULE, occupied, darkened)
    if not darkened.any():
        return darkened
    # Outside nothing is foreground: a border that repeats or mirrors the mask would vote twice.
    share, whole = (cv2.blur(image, (side, side), borderType=cv2.BORDER_CONSTANT) for image in (darkened, mask))
    voted = cv2.bitwise_and(mask, cv2.compare(share, cv2.subtract(whole, share), cv2.CMP_GT))
    solid = np.asarray(cv2.bitwise_and(mask, cv2.bitwise_not(voted)), np.uint8)
    outlines = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    cv2.drawContours(solid, outlines, -1, 255, cv2.FILLED)
    found = np.asarray(cv2.bitwise_and(voted, cv2.bitwise_not(solid)), np.uint8)
    return _leave_objects(found, mask, frame.sum(0, dtype=np.float32), background.sum(0, dtype=np.float32))


def _leave_objects(shadows: Mask, mask: Mask, brightness: NDArray[np.float32], learned: NDArray[np.float32]) -> Mask:
    """Leave out regions of the mask that are shadow as a whole, but far too dark for a cloud: nothing casts them."""
    if not shadows.any():
        return shadows
    count, labels = cv2.connectedComponents(mask, connectivity=8)
    flat = np.asarray(labels).ravel()
    area, shaded = np.bincount(flat, minlength=count), np.bincount(flat[shadows.ravel() != 0], minlength=count)
    light = np.bincount(flat, brightness, count) / np.maximum(np.bincount(flat, learned, count), 1e-6)
    objects = (shaded > _ALONE * area) & (light < _DARK)
    objects[0] = False
    return np.where(objects[labels], np.uint8(0), shadows)
