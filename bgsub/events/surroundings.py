"""Whether an object is but light, such as the shadow of a cloud, by how brightness has changed in it and around it."""

import math

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.events.observation import Box

__all__ = ["Surroundings", "median"]

_MEMORY_S = 20.0
"""Time constant of the remembered brightness."""

_LEAST_CHANGE = 0.015
"""Relative change of brightness around an object below which there is none."""

_DARK = 8.0
"""Grey levels added to all brightness, so that noise in the dark is no change."""

_LEAST_EDGE = 0.2
"""Least step between two cells, as a share of the whole change: generated clouds, with penumbras of 8 cells and more,
have up to 0.19 and on average at most 0.12, 80 people and vehicles of eight recordings 0.27 and 0.37."""

_LEAST_RING = 2
"""Width of the ring around a box, in cells; half of the box where that is more."""


class Surroundings:
    """Compares the brightness of a small image with what it was, inside and around boxes.

    What changes everywhere alike, as under automatic exposure, is no change.
    """

    def __init__(self) -> None:
        self.remembered: NDArray[np.float32] | None = None
        """(h, w) logarithm of the brightness, a running mean."""
        self.time_s = 0.0
        """When it was last updated."""
        self._change: NDArray[np.float32] | None = None
        self._sums: NDArray[np.float64] | None = None

    def see(self, image: NDArray[np.float32], time_s: float) -> None:
        """Take the next image, (h, w) in grey levels of 255."""
        brightness = np.log(image + np.float32(_DARK))
        self._sums = None
        if self.remembered is None:
            self.remembered = brightness
        self._change = brightness - self.remembered
        share = np.float32(-math.expm1(-max(0.0, time_s - self.time_s) / _MEMORY_S))
        self.remembered = self.remembered + share * self._change
        self.time_s = time_s

    def diffuse(self, box: Box) -> float:
        """Return how far the surroundings of a box have changed as it has, from 0 to 1; 1 if nothing there has an edge.

        An object ends somewhere within a cell or two, also where it is in front of its own shadow or beside another.
        """
        if self._change is None:
            return 0.0
        if self._sums is None:
            self._change = self._change - median(self._change[::2, ::2])
            self._sums = np.asarray(cv2.integral(self._change, sdepth=cv2.CV_64F))
        rows, columns = self._change.shape
        left, right = math.floor(box[0] * columns), math.ceil((box[0] + box[2]) * columns)
        top, bottom = math.floor(box[1] * rows), math.ceil((box[1] + box[3]) * rows)
        if _is_smooth(self._change[max(0, top - 1) : bottom + 1, max(0, left - 1) : right + 1]):
            return 1.0
        return self._shared(left, top, right, bottom)

    def _shared(self, left: int, top: int, right: int, bottom: int) -> float:
        """Return the ratio of the changes around and inside, from 0 to 1."""
        x, y = max(_LEAST_RING, (right - left) // 2), max(_LEAST_RING, (bottom - top) // 2)
        inner = self._sum(left, top, right, bottom)
        # The cells at the outline belong to both.
        gap = self._sum(left - 1, top - 1, right + 1, bottom + 1)
        outer = self._sum(left - x - 1, top - y - 1, right + x + 1, bottom + y + 1)
        inside = inner[0] / inner[1]
        if outer[1] <= gap[1]:
            return 0.0
        around = (outer[0] - gap[0]) / (outer[1] - gap[1])
        if min(abs(around), abs(inside)) < _LEAST_CHANGE:
            return 0.0
        return min(max(around / inside, 0.0), 1.0)

    def _sum(self, left: int, top: int, right: int, bottom: int) -> tuple[float, int]:
        """Return the sum over a rectangle, as far as it lies in the image, and its number of cells."""
        sums = self._sums
        if sums is None:
            return 0.0, 1
        rows, columns = sums.shape[0] - 1, sums.shape[1] - 1
        left, top = min(max(left, 0), columns), min(max(top, 0), rows)
        right, bottom = min(max(right, 0), columns), min(max(bottom, 0), rows)
        total = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        return float(total), max(1, (right - left) * (bottom - top))


def median(values: NDArray[np.float32]) -> np.float32:
    """Return the median, as `np.median` does in five times as long: sorting uses vectors, selecting does not."""
    ordered = np.sort(values, axis=None)
    return np.float32((ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / np.float32(2))


def _is_smooth(change: NDArray[np.float32]) -> bool:
    """Return whether brightness changed without a step anywhere.

    Both the steps and the changes are means weighted by themselves, so that what has not changed makes no difference.
    """
    steps = np.abs(np.concatenate((np.diff(change, axis=0), np.diff(change, axis=1)), axis=None))
    size = np.abs(change)
    if not steps.any() or np.vdot(size, size) < _LEAST_CHANGE * size.sum():
        return False
    return bool(np.vdot(steps, steps) * size.sum() < _LEAST_EDGE * np.vdot(size, size) * steps.sum())
