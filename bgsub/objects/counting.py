"""Counts of tracks: across a line, and into and out of a zone."""

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np

from bgsub.frames import Mask
from bgsub.objects.tracker import Track
from bgsub.roi import Region

__all__ = ["Anchor", "Line", "Zone"]

Anchor = Literal["center", "bottom"]
"""Point of a box that counts: its middle, or the middle of its lower side."""

Point = tuple[float, float]


def _check_anchor(anchor: str) -> None:
    if anchor not in ("center", "bottom"):
        raise ValueError(f"anchor must be center or bottom, got {anchor!r}")


def _side(point: Point, start: Point, end: Point) -> float:
    """Return the distance from a line in pixels, positive on its right, as seen from start to end in an image."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    return (dx * (point[1] - start[1]) - dy * (point[0] - start[0])) / math.hypot(dx, dy)


class Line:
    """Counts the tracks that cross a line, by direction.

    Left and right are those of somebody who walks over the image from `start` to `end`: of a line from bottom to top,
    left is the left of the image. A track has crossed when it has been more than `margin` on one side and then on the
    other, if the straight way between the two points meets the line between its ends. Who comes back is counted again,
    in the other direction.

    Parameters
    ----------
    start, end : (x, y)
        Ends in pixels.
    anchor : {"center", "bottom"}
        Point of the box that counts.
    margin : float
        Distance from the line in pixels within which a track is on neither side, so that trembling does not count.

    Raises
    ------
    ValueError
        If the ends are equal or not finite, or a parameter is out of range.

    Examples
    --------
    >>> line = Line((50, 99), (50, 0))
    >>> for x in (20, 40, 60, 80):
    ...     line.update([Track(1, (x, 10.0, 8.0, 8.0), (20.0, 0.0), 5, 0)])
    >>> line.counts
    {'left_to_right': 1, 'right_to_left': 0}
    """

    def __init__(self, start: Point, end: Point, *, anchor: Anchor = "center", margin: float = 2.0) -> None:
        values = [float(value) for point in (start, end) for value in point]
        if not len(start) == len(end) == 2 or not all(map(math.isfinite, values)) or values[:2] == values[2:]:
            raise ValueError(f"start and end must be two different points x, y, got {start} and {end}")
        if not 0 <= margin < math.inf:
            raise ValueError(f"margin must be a number of pixels, at least 0, got {margin}")
        _check_anchor(anchor)
        self.start, self.end = (values[0], values[1]), (values[2], values[3])
        self.anchor, self.margin = anchor, float(margin)
        self.reset()

    def reset(self) -> None:
        """Count from 0 again."""
        self.left_to_right = self.right_to_left = 0
        self._last: dict[int, Point] = {}  # where each track was when it was last on a side

    @property
    def counts(self) -> dict[str, int]:
        """The counts by direction."""
        return {"left_to_right": self.left_to_right, "right_to_left": self.right_to_left}

    def update(self, tracks: Iterable[Track]) -> None:
        """Count the crossings of one frame.

        Parameters
        ----------
        tracks : iterable of Track
            `Tracker.tracks` after the frame. Tracks that are not among them are forgotten.
        """
        last: dict[int, Point] = {}
        for track in tracks:
            before = self._last.get(track.id)
            now: Point = getattr(track, self.anchor)
            side = _side(now, self.start, self.end)
            if track.gap or abs(side) <= self.margin:
                if before is not None:
                    last[track.id] = before
                continue
            if before is not None and _side(before, self.start, self.end) * side < 0 and self._between(before, now):
                if side > 0:
                    self.left_to_right += 1
                else:
                    self.right_to_left += 1
            last[track.id] = now
        self._last = last

    def _between(self, one: Point, other: Point) -> bool:
        """Return whether the line's ends are on different sides of the way between two points."""
        return _side(self.start, one, other) * _side(self.end, one, other) <= 0


class Zone:
    """Counts the tracks inside a region, and those that entered and left it.

    A track that is first seen inside has entered, one that ends inside has left: `inside` is always `entered` less
    `left`. A track that is not seen in a frame stays where it was.

    Parameters
    ----------
    region : Region
        Polygons or an image, as `bgsub.open_region` returns them.
    size : (height, width)
        Size of the frames in pixels.
    anchor : {"center", "bottom"}
        Point of the box that counts.

    Raises
    ------
    ConfigError
        If the region does not fit the frames.
    ValueError
        If the anchor is unknown.

    Examples
    --------
    >>> import bgsub
    >>> zone = Zone(bgsub.open_region("0,0 49,0 49,99 0,99"), (100, 100))
    >>> for x in (20, 40, 60, 80):
    ...     zone.update([Track(1, (x, 10.0, 8.0, 8.0), (20.0, 0.0), 5, 0)])
    >>> zone.counts
    {'entered': 1, 'left': 1, 'inside': 0}
    """

    def __init__(self, region: Region, size: tuple[int, int], *, anchor: Anchor = "center") -> None:
        _check_anchor(anchor)
        self.region, self.size, self.anchor = region, size, anchor
        self._mask: Mask = region.mask(size)
        self.reset()

    def reset(self) -> None:
        """Count from 0 again; tracks that are inside enter again."""
        self.entered = self.left = 0
        self._inside: set[int] = set()

    @property
    def inside(self) -> int:
        """Number of tracks inside now."""
        return len(self._inside)

    @property
    def ids(self) -> frozenset[int]:
        """Numbers of the tracks inside now."""
        return frozenset(self._inside)

    @property
    def counts(self) -> dict[str, int]:
        """All counts by name."""
        return {"entered": self.entered, "left": self.left, "inside": self.inside}

    def update(self, tracks: Iterable[Track]) -> None:
        """Count who enters and leaves with one frame.

        Parameters
        ----------
        tracks : iterable of Track
            `Tracker.tracks` after the frame. Tracks that are not among them have ended.
        """
        inside = set()
        for track in tracks:
            if self._contains(getattr(track, self.anchor)) if track.gap == 0 else track.id in self._inside:
                inside.add(track.id)
        self.entered += len(inside - self._inside)
        self.left += len(self._inside - inside)
        self._inside = inside

    def _contains(self, point: Point) -> bool:
        x, y = np.rint(point).astype(int).tolist()
        height, width = self.size
        return bool(self._mask[min(max(y, 0), height - 1), min(max(x, 0), width - 1)])
