"""Lines and zones at which objects are counted, and the counts; no Qt."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from bgsub.frames import Result
from bgsub.objects import Line, ObjectFinder, ObjectLimits
from bgsub.roi import Region

__all__ = ["Counted", "Counting", "ObjectCounter"]

_TRAIL_FRAMES, _MOST_TRAILS = 100, 500
_MIN_AGE, _LEAST_AREA = 3, 1e-3
"""An object counts from its third frame on, if it covers so much of the image; the age is that of `bgsub run`."""

Point = tuple[float, float]
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Counting:
    """Where objects are counted, in pixels of the frame."""

    lines: Mapping[str, tuple[Point, Point]] = field(default_factory=lambda: MappingProxyType({}))
    """Ends x, y by name."""
    zones: Mapping[str, tuple[Point, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Corners x, y by name."""
    follows: bool = False
    """Whether objects are followed, and shown with their trails, also without lines and zones."""

    def __bool__(self) -> bool:
        return bool(self.lines or self.zones or self.follows)

    def added(self, points: tuple[Point, ...]) -> "Counting":
        """Return this with a line of two points, or a zone of more, under a new name.

        Examples
        --------
        >>> Counting().added(((0.0, 0.0), (9.0, 0.0))).lines
        mappingproxy({'line 1': ((0.0, 0.0), (9.0, 0.0))})
        """
        kind = "line" if len(points) == 2 else "zone"
        known = {*self.lines, *self.zones}
        name = next(name for i in range(1, len(known) + 2) if (name := f"{kind} {i}") not in known)
        if len(points) == 2:
            return replace(self, lines=MappingProxyType({**self.lines, name: (points[0], points[1])}))
        return replace(self, zones=MappingProxyType({**self.zones, name: points}))

    def without(self, name: str) -> "Counting":
        """Return this without a line or zone."""
        lines = {known: ends for known, ends in self.lines.items() if known != name}
        zones = {known: corners for known, corners in self.zones.items() if known != name}
        return replace(self, lines=MappingProxyType(lines), zones=MappingProxyType(zones))

    def scaled(self, factor: float) -> "Counting":
        """Return the same in frames whose sides are this many times as long."""

        def scaled(points: tuple[Point, ...]) -> tuple[Point, ...]:
            return tuple((x * factor, y * factor) for x, y in points)

        lines = {name: (scaled(ends)[0], scaled(ends)[1]) for name, ends in self.lines.items()}
        zones = {name: scaled(corners) for name, corners in self.zones.items()}
        return replace(self, lines=MappingProxyType(lines), zones=MappingProxyType(zones))

    def to_arguments(self) -> list[str]:
        """Return the options of `bgsub run` that count the same."""
        arguments = []
        for name, ends in self.lines.items():
            arguments += ["--count-line", f"{name}={','.join(f'{value:g}' for end in ends for value in end)}"]
        for name, corners in self.zones.items():
            arguments += ["--region", f"{name}={' '.join(f'{x:g},{y:g}' for x, y in corners)}"]
        return [*arguments, "--object-area", f"{100 * _LEAST_AREA:g}%:"] if arguments else []


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What was counted up to a frame."""

    tracks: int = 0
    """Objects so far."""
    boxes: tuple[tuple[int, Box], ...] = ()
    """Number of each object in the frame, and its box x, y, width, height."""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of each line and zone, by name: crossings by direction, or objects that entered, left and are inside."""
    trails: Mapping[int, tuple[Point, ...]] = field(default_factory=dict)
    """Where the objects in the frame stood, x, y of the middle of the lower edges of their boxes, by number."""


class ObjectCounter:
    """Follows objects from frame to frame and counts them."""

    def __init__(self) -> None:
        self._counting = Counting()
        self._finder: ObjectFinder | None = None
        self._shape: tuple[int, ...] = ()
        self._trails: dict[int, deque[Point]] = {}
        self.counted: Counted | None = None
        """After the latest frame; None while nothing is counted."""

    def use(self, counting: Counting) -> None:
        """Count at other lines and zones, from zero."""
        if counting != self._counting:
            self._counting = counting
            self.restart()

    def restart(self) -> None:
        """Count from zero."""
        self._finder, self.counted = None, Counted() if self._counting else None
        self._trails = {}

    def see(self, result: Result) -> None:
        """Take the next frame."""
        if not self._counting:
            return
        if self._finder is None or result.mask.shape != self._shape:
            self._shape = result.mask.shape
            self._finder = ObjectFinder(
                limits=ObjectLimits(min_area=_LEAST_AREA, min_age=_MIN_AGE),
                regions={name: Region(include=(corners,)) for name, corners in self._counting.zones.items()},
                lines={name: Line(*ends) for name, ends in self._counting.lines.items()},
            )
        found = self._finder.find(result)
        counts: dict[str, Any] = self._finder.counts
        boxes = tuple((item.id or 0, item.box) for item in found)
        trails = self._follow(boxes)
        self.counted = Counted(counts["tracks"], boxes, {**counts["lines"], **counts["regions"]}, trails)

    def _follow(self, boxes: tuple[tuple[int, Box], ...]) -> dict[int, tuple[Point, ...]]:
        """Add the present boxes to the trails, and forget the objects that have gone for good."""
        for number, (x, y, width, height) in boxes:
            trail = self._trails.setdefault(number, deque(maxlen=_TRAIL_FRAMES))
            trail.append((x + width / 2, float(y + height)))
        while len(self._trails) > _MOST_TRAILS:
            del self._trails[next(iter(self._trails))]
        return {number: tuple(self._trails[number]) for number, _ in boxes if number in self._trails}
