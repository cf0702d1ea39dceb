"""Shadows: foreground that is the background under less light."""

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
    chromaticity=np.float32(0.03),
    variance=np.float32(8.0**2),
    least=np.float32(6.25),  # a quarter of the square
)
_MEDIAN_PX = 5  # side of the median filter on what was found


def find_shadows(
    mask: Mask, frame: NDArray[Any], background: NDArray[Any], white: float, side: int, threads: int
) -> Mask:
    """Find foreground whose colour and texture are those of the background, darkened by one factor.

    A pixel may be in shadow where brightness fell to between 25 and 97 % and chromaticity stayed, and where the
    brightness of such pixels in the 5x5 square around it equals the background's times one factor, up to 8 grey
    levels. Grey cars on grey roads look like that in places, so the majority decides: shadow is where most of the
    foreground in a square of `side` pixels may be in shadow, except what the rest of the foreground encloses.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Final mask, 0 and 255.
    frame, background : (D, at least H * W) array
        Planes of the frame and of the learned background.
    white : float
        Value of white.
    side : int
        Odd side of the square in which the majority decides, in pixels.
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
    darkened = np.zeros_like(mask)
    images = Images(mask, frame, background, np.float32(255.0 / white / len(frame)))
    starts = np.arange(0, mask.shape[1], SEGMENT)
    occupied = np.maximum.reduceat(mask, starts, axis=1)
    run_bands(find_darkened, (mask.shape[0], mask.shape[1]), threads, images, _RULE, occupied, darkened)
    # Everything below is local: the box of the mask and what the squares reach.
    reach = side // 2 + 1
    box = (
        slice(max(top - reach, 0), min(top + height + reach, mask.shape[0])),
        slice(max(left - reach, 0), min(left + width + reach, mask.shape[1])),
    )
    inside, found = mask[box], np.asarray(cv2.medianBlur(np.ascontiguousarray(darkened[box]), _MEDIAN_PX))
    found = _vote(cv2.bitwise_and(found, inside), inside, side)
    if not found.any():
        return shadows
    solid = cv2.bitwise_and(inside, cv2.bitwise_not(found))
    outlines = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    cv2.drawContours(solid, outlines, -1, 255, cv2.FILLED)
    shadows[box] = cv2.bitwise_and(found, cv2.bitwise_not(solid))
    return shadows


def _vote(found: NDArray[Any], inside: NDArray[Any], side: int) -> NDArray[np.uint8]:
    """Return the part of `inside` where most of it in a square was found."""
    square = (side, side)
    share = cv2.boxFilter(found, cv2.CV_32F, square, normalize=False)
    whole = cv2.boxFilter(inside, cv2.CV_32F, square, normalize=False)
    return np.where(2 * np.asarray(share) > np.asarray(whole), inside, np.uint8(0))
