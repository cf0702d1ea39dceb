"""Shadows: foreground that is the learned background, only darker."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.frames import Mask

__all__ = ["find_shadows"]

_DARKEST, _LIGHTEST = 0.4, 0.97  # brightness of a shadow, as a share of the background's
_CHROMATICITY = 0.04  # largest change of a channel's share of the brightness
_TEXTURE = 8.0  # grey levels, the largest standard deviation of what the darkened background does not explain
_REACH_PX = 5  # side of the square where the texture is compared
_MARGIN_PX = 8


def find_shadows(mask: Mask, frame: NDArray[Any], background: NDArray[Any], white: float) -> Mask:
    """Find foreground whose colour and texture are those of the background, darkened by one factor.

    A pixel may be in shadow where brightness fell to between 40 and 97 % and chromaticity stayed. That alone takes
    grey cars for shadows on grey roads; so around the pixel the frame's brightness must also equal the
    background's times the ratio of their local means, up to 8 grey levels (least squares in a 5x5 square). The
    result is smoothed by a median.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Final mask, 0 and 255.
    frame, background : (D, at least H * W) array
        Planes of the frame and of the learned background.
    white : float
        Value of white.

    Returns
    -------
    (H, W) uint8 array
        255 in shadows, which are a part of the mask.
    """
    shadows = np.zeros_like(mask)
    left, top, width, height = cv2.boundingRect(mask)
    if width == 0:
        return shadows
    rows = slice(max(top - _MARGIN_PX, 0), top + height + _MARGIN_PX)
    columns = slice(max(left - _MARGIN_PX, 0), left + width + _MARGIN_PX)
    now, learned = (
        planes[:, : mask.size].reshape(-1, *mask.shape)[:, rows, columns].astype(np.float32) * np.float32(255 / white)
        + 1
        for planes in (frame, background)
    )
    grey_now, grey_learned = now.mean(0), learned.mean(0)
    ratio = grey_now / grey_learned
    change = np.abs(now / grey_now - learned / grey_learned).max(0) / len(now)
    candidate = (ratio > _DARKEST) & (ratio < _LIGHTEST) & (change < _CHROMATICITY)

    def mean(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(cv2.boxFilter(values, -1, (_REACH_PX, _REACH_PX)), np.float32)

    mean_now, mean_learned = mean(grey_now), mean(grey_learned)
    variance_now = mean(grey_now * grey_now) - mean_now * mean_now
    variance_learned = mean(grey_learned * grey_learned) - mean_learned * mean_learned
    covariance = mean(grey_now * grey_learned) - mean_now * mean_learned
    darkened = mean_now / mean_learned
    unexplained = variance_now - 2 * darkened * covariance + darkened * darkened * variance_learned
    candidate &= unexplained < _TEXTURE * _TEXTURE
    found = cv2.medianBlur(np.where(candidate, mask[rows, columns], np.uint8(0)), _REACH_PX)
    shadows[rows, columns] = cv2.bitwise_and(found, mask[rows, columns])
    return shadows
