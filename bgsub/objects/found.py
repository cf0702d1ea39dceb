"""The objects of one mask, as a structure of arrays and as records."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.errors import DependencyError
from bgsub.frames import Mask

__all__ = ["FoundObject", "Objects", "Runs"]


class Runs(NamedTuple):
    """The pixels of all objects of a mask; not a bare array, which choosing some of the objects would choose from."""

    table: NDArray[np.int32]
    """(m, 4): row, first column, end of columns, and label of each run, from top to bottom."""


@dataclass(frozen=True, slots=True)
class FoundObject:
    """One object of a mask."""

    box: tuple[int, int, int, int]
    """x, y, width and height in pixels."""
    area: int
    """Number of its pixels."""
    centroid: tuple[float, float]
    """Mean x and y of its pixels."""
    mean_score: float | None
    """Mean score of its pixels; None where no score was given."""
    touches_border: bool
    """Whether it has a pixel at the border of the mask, so that a part of it may lie outside."""
    regions: tuple[str, ...]
    """Names of the regions that contain its centroid."""
    id: int | None
    """Number of its track; None where nothing tracks."""
    age: int | None
    """Number of frames in which its track was seen, this one included; None where nothing tracks."""


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """The objects of one mask, from top to bottom and from left to right by the corners of their boxes.

    `bgsub.find_objects` makes it. Each array has a row for each object. Iteration yields a `FoundObject` for each, and
    so does indexing by a number; a slice, a list of numbers or a boolean array selects.

    Examples
    --------
    >>> import bgsub
    >>> mask = np.zeros((20, 30), np.uint8)
    >>> mask[3:7, 10:20] = 255
    >>> mask[12:14, 0:2] = 255
    >>> objects = bgsub.find_objects(mask)
    >>> objects.boxes.tolist(), objects.areas.tolist()
    ([[10, 3, 10, 4], [0, 12, 2, 2]], [40, 4])
    >>> objects[objects.areas > 10][0].centroid
    (14.5, 4.5)
    """

    size: tuple[int, int]
    """(height, width) of the mask in pixels."""
    boxes: NDArray[np.int32]
    """(n, 4): x, y, width, height."""
    areas: NDArray[np.int32]
    """(n,): number of pixels."""
    centroids: NDArray[np.float64]
    """(n, 2): mean x and y."""
    touches_border: NDArray[np.bool_]
    """(n,): whether a pixel lies at the border of the mask."""
    regions: tuple[tuple[str, ...], ...]
    """n times the names of the regions that contain the centroid."""
    mean_scores: NDArray[np.float32] | None = None
    """(n,): mean score of the pixels; None where no score was given."""
    ids: NDArray[np.int64] | None = None
    """(n,): numbers of the tracks, set by a `Tracker`; else None."""
    ages: NDArray[np.int64] | None = None
    """(n,): number of frames in which each track was seen, set by a `Tracker`; else None."""
    _runs: Runs = None  # type: ignore[assignment]
    _labels: NDArray[np.intp] = None  # type: ignore[assignment]
    """(n,): labels in the runs."""

    def __len__(self) -> int:
        return len(self.boxes)

    def __iter__(self) -> Iterator[FoundObject]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, chosen: int | np.integer[Any]) -> FoundObject: ...

    @overload
    def __getitem__(self, chosen: slice | list[int] | NDArray[Any]) -> Self: ...

    def __getitem__(self, chosen: Any) -> Any:
        if isinstance(chosen, int | np.integer):
            return self._record(int(chosen))
        rows = np.arange(len(self))[chosen]
        picked: dict[str, Any] = {"regions": tuple(self.regions[row] for row in rows)}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                picked[item.name] = value[rows]
        return replace(self, **picked)

    def _record(self, i: int) -> FoundObject:
        x, y, width, height = self.boxes[i].tolist()
        return FoundObject(
            (x, y, width, height),
            int(self.areas[i]),
            (float(self.centroids[i, 0]), float(self.centroids[i, 1])),
            None if self.mean_scores is None else float(self.mean_scores[i]),
            bool(self.touches_border[i]),
            self.regions[i],
            None if self.ids is None else int(self.ids[i]),
            None if self.ages is None else int(self.ages[i]),
        )

    def mask(self, i: int) -> Mask:
        """Return the pixels of object `i` within its box.

        Returns
        -------
        (height, width) uint8 array
            255 on the object, of the size of its box.
        """
        x, y, width, height = self.boxes[i].tolist()
        first, end = np.searchsorted(self._runs.table[:, 0], (y, y + height))
        runs = self._runs.table[first:end]
        pixels = np.zeros((height, width), np.uint8)
        for row, start, stop, _ in runs[runs[:, 3] == self._labels[i]].tolist():
            pixels[row - y, start - x : stop - x] = 255
        return pixels

    def contour(self, i: int) -> NDArray[np.int32]:
        """Return the outline of object `i`, without those of its holes.

        Returns
        -------
        (k, 2) int32 array
            Corners x, y of a polygon in pixels of the mask, clockwise as `cv2.findContours` has them.
        """
        x, y = self.boxes[i, :2].tolist()
        outlines, _ = cv2.findContours(self.mask(i), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE, offset=(x, y))
        return np.asarray(outlines[0].reshape(-1, 2), np.int32)

    def to_supervision(self) -> Any:
        """Return the objects as `supervision.Detections`, which the package `trackers` accepts, too.

        Returns
        -------
        supervision.Detections
            xyxy, (n, 4) float32, the ends exclusive; confidence, the mean scores within [0, 1], or 1 where there are
            none; class_id 0; tracker_id, the ids, if tracked; data with area and centroid.

        Raises
        ------
        DependencyError
            If supervision is missing.
        """
        try:
            import supervision
        except ImportError as error:
            raise DependencyError(
                f"detections need supervision ({error}); run: pip install 'bgsub[supervision]'"
            ) from error
        ends = self.boxes[:, :2] + self.boxes[:, 2:]
        scores = np.ones(len(self), np.float32) if self.mean_scores is None else self.mean_scores
        return supervision.Detections(
            xyxy=np.concatenate([self.boxes[:, :2], ends], axis=1).astype(np.float32),
            confidence=np.clip(scores, 0, 1),
            class_id=np.zeros(len(self), np.intp),
            tracker_id=self.ids,
            data={"area": self.areas, "centroid": self.centroids},
        )
