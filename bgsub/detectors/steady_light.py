"""Steady light: frames brought under the light of those before, by one gain per channel."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.frames import Frame

__all__ = ["find_gains", "follow_light", "sample_light", "steady"]

_SAMPLES = 2000  # about so many pixels, on a grid, measure the light
_LEAST = 32  # and at least so many that are not white
_DARK = 8.0 / 255.0  # of white, added before ratios are formed, so that noise in the dark does not make them
_WHITE = 0.98  # of white, from which a pixel may be overexposed
_SLOW = 0.2 / 255.0  # of white: largest change of a sample per frame, which what passes hardly moves


def sample_light(frame: Frame) -> NDArray[np.float32]:
    """Return the colours of a grid of pixels, (h, w, D), in the frame's units.

    Examples
    --------
    >>> sample_light(np.zeros((480, 640, 3), np.uint8)).shape
    (40, 53, 3)
    """
    step = max(1, round(math.sqrt(frame.shape[0] * frame.shape[1] / _SAMPLES)))
    chosen = frame[step // 2 :: step, step // 2 :: step].astype(np.float32)
    return chosen.reshape(*chosen.shape[:2], -1)


def find_gains(now: NDArray[np.float32], learned: NDArray[np.float32], white: float) -> NDArray[np.float32]:
    """Return how many times brighter each channel is: the median of the ratios of two samples, 1 where all is white.

    A median, so that what covers less than half of the frame does not matter.

    Parameters
    ----------
    now, learned : (h, w, D) float32 array
        From `sample_light`, of the frame and of the light to compare with.
    white : float
        Value of white.

    Returns
    -------
    (D,) float32 array
    """
    gains = np.ones(now.shape[2], np.float32)
    dark, most = _DARK * white, _WHITE * white
    usable = (now < most) & (learned < most)
    for channel in range(len(gains)):
        use = usable[..., channel]
        if np.count_nonzero(use) >= min(_LEAST, use.size):
            gains[channel] = np.median((now[use, channel] + dark) / (learned[use, channel] + dark))
    return np.maximum(gains, np.float32(1e-3))


def steady(frame: Frame, gains: NDArray[np.float32], white: float) -> Frame:
    """Return a frame with the gains of its channels taken away, rounded and cut to the range of its dtype.

    Examples
    --------
    >>> steady(np.full((1, 1), 72, np.uint8), np.array([0.5], np.float32), 255.0)
    array([[152]], dtype=uint8)
    """
    dark = np.float32(_DARK * white)
    if frame.dtype == np.uint8:
        levels = np.arange(256, dtype=np.float32)[:, np.newaxis]
        table = np.clip(np.rint((levels + dark) / gains - dark), 0, 255).astype(np.uint8)
        if (table == levels).all():
            return frame
        return np.asarray(cv2.LUT(frame, table.reshape(1, 256, len(gains))), np.uint8)
    per_channel: Any = gains if frame.ndim == 3 else gains[0]
    changed: NDArray[np.float32] = (frame + dark) / per_channel - dark
    if frame.dtype == np.uint16:
        changed = np.clip(np.rint(changed), 0, 65535)
    return changed.astype(frame.dtype)


def follow_light(
    learned: NDArray[np.float32], now: NDArray[np.float32], gains: NDArray[np.float32], white: float
) -> None:
    """Draw a learned sample towards that of a frame under the same light, at most .2 grey levels per frame."""
    dark, most = np.float32(_DARK * white), np.float32(_SLOW * white)
    learned += np.clip((now + dark) / gains - dark - learned, -most, most)
