"""From masks to numbers: what the state machine needs to know of a frame."""

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.events.observation import Observation, Seen
from bgsub.events.rules import FAINT
from bgsub.events.surroundings import Surroundings, median
from bgsub.frames import Frame, Mask, Result
from bgsub.objects import find_objects
from bgsub.roi import Region

__all__ = ["Measure"]

_GRID = 8
"""Cells of the frame in each direction, by which foreground is local or everywhere."""

_CELL_SHARE = 0.02
"""Share of a cell that must be foreground."""

_SAMPLES = (72, 128)
"""Rows and columns to which a frame is shrunk for its brightness and its shift."""

_WINDOW = np.asarray(cv2.createHanningWindow(_SAMPLES[::-1], cv2.CV_32F), np.float32)

_LEAST_RESPONSE = 0.1
"""Height of the peak of a phase correlation below which it shows nothing; equal images have 1."""

_MANY = 4
"""Objects that are at least to be seen where the camera was moved; the shift of other frames does not matter."""

_MOST = 64
"""Objects of one frame that are kept, the largest: more are noise."""


class Measure:
    """Reduces results to numbers.

    Parameters
    ----------
    regions : mapping of str to Region, optional
        Named regions, in pixels of the masks.
    min_area : float
        Least share of the frame that an object covers to count; those of less than a quarter of it are left out.
    """

    def __init__(self, regions: Mapping[str, Region] | None = None, *, min_area: float = 0.0) -> None:
        self._regions = dict(regions or {})
        self._min_area = min_area
        self._masks: dict[str, Mask] = {}
        self._before: NDArray[np.float32] | None = None
        self._surroundings = Surroundings()

    def __call__(self, result: Result, *, file: int = 0, time_s: float | None = None) -> Observation:
        """Return what a result shows.

        Parameters
        ----------
        result : Result
            With its score, where the detector has one; objects without have a score of 1.
        file : int
            Position of the file in the recording.
        time_s : float, optional
            Time since the start of the recording; that of the frame by default.

        Raises
        ------
        ConfigError
            If a region does not fit the mask.
        """
        mask = result.mask
        height, width = mask.shape
        objects = find_objects(mask, score=result.score, regions=self._regions)
        pixels = height * width
        large = np.flatnonzero(objects.areas >= FAINT * self._min_area * pixels)
        if len(large) > _MOST:
            large = np.sort(large[np.argsort(-objects.areas[large], kind="stable")[:_MOST]])
        many = int(np.sum(objects.areas >= self._min_area * pixels)) >= _MANY
        small = _shrink(result.packet.frame)
        before, self._before = self._before, small
        self._surroundings.see(small, result.packet.time_s if time_s is None else time_s)
        boxes = (objects.boxes[large] / (width, height, width, height)).tolist()
        scores = [1.0] * len(large) if objects.mean_scores is None else objects.mean_scores[large].tolist()
        areas, least = (objects.areas[large] / pixels).tolist(), self._min_area
        seen = [
            # What is too small to be an object yet is only followed.
            Seen((x, y, w, h), area, score, self._surroundings.diffuse((x, y, w, h)) if area >= least else 0.0, regions)
            for (x, y, w, h), area, score, regions in zip(
                boxes, areas, scores, [objects.regions[i] for i in large], strict=True
            )
        ]
        return Observation(
            number=result.packet.number,
            time_s=result.packet.time_s if time_s is None else time_s,
            objects=seen,
            foreground=cv2.countNonZero(mask) / pixels,
            spread=_spread(mask),
            light=float(median(small[::2, ::2])),
            shift=0.0 if before is None or not many else _shift(before, small, width / height),
            aspect=width / height,
            file=file,
            shares={name: self._share(name, mask) for name in self._regions},
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what is remembered from frame to frame, as arrays; empty before the first one."""
        remembered = self._surroundings.remembered
        if self._before is None or remembered is None:
            return {}
        return {"before": self._before, "remembered": remembered, "time_s": np.array(self._surroundings.time_s)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` returned."""
        if "before" in state:
            self._before = np.asarray(state["before"], np.float32)
            self._surroundings.remembered = np.asarray(state["remembered"], np.float32)
            self._surroundings.time_s = float(state["time_s"])

    def _share(self, name: str, mask: Mask) -> float:
        drawn = self._masks.get(name)
        if drawn is None or drawn.shape != mask.shape:
            drawn = self._masks[name] = self._regions[name].mask((mask.shape[0], mask.shape[1]))
        return cv2.countNonZero(np.bitwise_and(mask, drawn)) / cv2.countNonZero(drawn)


def _shrink(frame: Frame) -> NDArray[np.float32]:
    """Return a small grey image, (72, 128) in grey levels of 255."""
    rows, columns = _SAMPLES
    grey = frame if frame.ndim == 2 else cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)  # first: colours take twice as long
    small = np.asarray(cv2.resize(grey, (columns, rows), interpolation=cv2.INTER_AREA), np.float32)
    if frame.dtype == np.uint16:
        small = small / np.float32(257)
    elif frame.dtype == np.float32:
        small = small * np.float32(255)
    return np.ascontiguousarray(small)


def _spread(mask: Mask) -> float:
    """Return the share of the cells of a grid over the frame that hold foreground."""
    # Sums over all pixels up to a corner, interpolated where a cell ends within a pixel: resizing takes five times as
    # long where a cell is no whole number of pixels.
    sums = np.asarray(cv2.integral(mask, sdepth=cv2.CV_32S))
    rows = _between(sums, *_borders(mask.shape[0]))
    corners = _between(rows.T, *_borders(mask.shape[1]))
    cells = corners[1:, 1:] - corners[:-1, 1:] - corners[1:, :-1] + corners[:-1, :-1]
    return float(np.mean(cells > 255 * _CELL_SHARE * mask.size / _GRID**2))


def _between(sums: NDArray[Any], before: NDArray[np.intp], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the running sums at borders, which lie this share of a pixel behind the rows before them."""
    return np.asarray((1 - share) * sums[before] + share * sums[before + 1])


@functools.lru_cache(maxsize=8)
def _borders(length: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return where the cells end: the pixel, and the share of it that lies before."""
    borders = np.linspace(0, length, _GRID + 1)
    before = np.minimum(borders.astype(np.intp), length - 1)
    return before, (borders - before)[:, None]


def _shift(old: NDArray[np.float32], new: NDArray[np.float32], aspect: float) -> float:
    """Return how far an image has moved, by phase correlation; what moves in it does not count."""
    (x, y), response = cv2.phaseCorrelate(old, new, _WINDOW)
    if response < _LEAST_RESPONSE:
        return 0.0
    return math.hypot(x / _SAMPLES[1] * aspect, y / _SAMPLES[0]) / math.hypot(aspect, 1)
