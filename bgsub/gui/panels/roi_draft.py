"""A region being drawn: polygons to include and to exclude, with undo and redo; no Qt."""

import math
from dataclasses import dataclass, replace

from bgsub.roi import Region

__all__ = ["Draft", "Shape"]

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """One polygon; open while it is being drawn."""

    points: tuple[Point, ...]
    """Corners (x, y) in pixels of the frame."""
    exclude: bool = False
    closed: bool = True


class Draft:
    """Polygons that can be changed step by step; each change can be undone.

    Examples
    --------
    >>> draft = Draft()
    >>> for corner in ((0, 0), (9, 0), (9, 9)):
    ...     draft.add_point(corner, exclude=False)
    >>> draft.close()
    True
    >>> draft.region().include
    (((0, 0), (9, 0), (9, 9)),)
    >>> draft.undo()
    >>> draft.region() is None
    True
    """

    def __init__(self) -> None:
        self._shapes: tuple[Shape, ...] = ()
        self._past: list[tuple[Shape, ...]] = []
        self._future: list[tuple[Shape, ...]] = []
        self._before_drag: tuple[Shape, ...] | None = None

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """All polygons; the last one may be open."""
        return self._shapes

    @property
    def drawing(self) -> Shape | None:
        """The polygon that is being drawn."""
        return self._shapes[-1] if self._shapes and not self._shapes[-1].closed else None

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether something was undone."""
        return bool(self._future)

    def region(self) -> Region | None:
        """Return the region of all closed polygons; None if there are none."""
        closed = [shape for shape in self._shapes if shape.closed]
        if not closed:
            return None
        return Region(
            include=tuple(shape.points for shape in closed if not shape.exclude),
            exclude=tuple(shape.points for shape in closed if shape.exclude),
        )

    def load(self, region: Region | None) -> None:
        """Begin with the polygons of a region; that can be undone, too."""
        shapes: tuple[Shape, ...] = ()
        if region is not None:
            shapes = tuple(Shape(polygon) for polygon in region.include)
            shapes += tuple(Shape(polygon, exclude=True) for polygon in region.exclude)
        self._put(shapes)

    def add_point(self, point: Point, *, exclude: bool) -> None:
        """Add a corner to the polygon being drawn, or begin one."""
        drawing = self.drawing
        if drawing is None:
            self._put((*self._shapes, Shape((point,), exclude, closed=False)))
        else:
            self._put((*self._shapes[:-1], replace(drawing, points=(*drawing.points, point))))

    def close(self) -> bool:
        """Finish the polygon being drawn; return False if it has fewer than three corners."""
        drawing = self.drawing
        if drawing is None or len(drawing.points) < 3:
            return False
        self._put((*self._shapes[:-1], replace(drawing, closed=True)))
        return True

    def cancel(self) -> None:
        """Discard the polygon being drawn."""
        if self.drawing is not None:
            self._put(self._shapes[:-1])

    def insert_point(self, shape: int, after: int, point: Point) -> None:
        """Add a corner to a closed polygon, after another."""
        points = self._shapes[shape].points
        self._replace(shape, (*points[: after + 1], point, *points[after + 1 :]))

    def move_point(self, shape: int, corner: int, point: Point) -> None:
        """Move a corner, in a drag or at once."""
        points = self._shapes[shape].points
        moved = (*points[:corner], point, *points[corner + 1 :])
        if self._before_drag is not None:
            self._shapes = self._with(shape, moved)
        else:
            self._replace(shape, moved)

    def delete_point(self, shape: int, corner: int) -> None:
        """Delete a corner; a triangle is deleted as a whole."""
        points = self._shapes[shape].points
        left = (*points[:corner], *points[corner + 1 :])
        if not left or (self._shapes[shape].closed and len(left) < 3):
            self.delete_shape(shape)
        else:
            self._replace(shape, left)

    def delete_shape(self, shape: int) -> None:
        """Delete a polygon."""
        self._put((*self._shapes[:shape], *self._shapes[shape + 1 :]))

    def set_exclude(self, shape: int, exclude: bool) -> None:
        """Make a polygon include or exclude its inside."""
        if self._shapes[shape].exclude != exclude:
            changed = replace(self._shapes[shape], exclude=exclude)
            self._put((*self._shapes[:shape], changed, *self._shapes[shape + 1 :]))

    def clear(self) -> None:
        """Delete all polygons."""
        if self._shapes:
            self._put(())

    def begin_drag(self) -> None:
        """Treat all moves until `end_drag` as one change."""
        self._before_drag = self._shapes

    def end_drag(self) -> None:
        """Finish a drag."""
        before, self._before_drag = self._before_drag, None
        if before is not None and before != self._shapes:
            self._past.append(before)
            self._future.clear()

    def undo(self) -> None:
        """Undo the last change."""
        if self._past:
            self._future.append(self._shapes)
            self._shapes = self._past.pop()

    def redo(self) -> None:
        """Redo the change undone last."""
        if self._future:
            self._past.append(self._shapes)
            self._shapes = self._future.pop()

    def find_corner(self, point: Point, reach: float) -> tuple[int, int] | None:
        """Return polygon and corner nearest to a point, within reach."""
        found = [
            (math.dist(corner, point), number, index)
            for number, shape in enumerate(self._shapes)
            for index, corner in enumerate(shape.points)
        ]
        nearest = min(found, default=None)
        return None if nearest is None or nearest[0] > reach else nearest[1:]

    def find_edge(self, point: Point, reach: float) -> tuple[int, int] | None:
        """Return the closed polygon and the corner before the edge nearest to a point, within reach."""
        found = [
            (_distance(point, corner, shape.points[(index + 1) % len(shape.points)]), number, index)
            for number, shape in enumerate(self._shapes)
            if shape.closed
            for index, corner in enumerate(shape.points)
        ]
        nearest = min(found, default=None)
        return None if nearest is None or nearest[0] > reach else nearest[1:]

    def _replace(self, shape: int, points: tuple[Point, ...]) -> None:
        self._put(self._with(shape, points))

    def _with(self, shape: int, points: tuple[Point, ...]) -> tuple[Shape, ...]:
        changed = replace(self._shapes[shape], points=points)
        return (*self._shapes[:shape], changed, *self._shapes[shape + 1 :])

    def _put(self, shapes: tuple[Shape, ...]) -> None:
        if shapes != self._shapes:
            self._past.append(self._shapes)
            self._future.clear()
            self._shapes = shapes


def _distance(point: Point, start: Point, end: Point) -> float:
    """Return the distance of a point from the line between two others."""
    along = (end[0] - start[0], end[1] - start[1])
    square = along[0] ** 2 + along[1] ** 2
    share = 0.0
    if square > 0:
        share = ((point[0] - start[0]) * along[0] + (point[1] - start[1]) * along[1]) / square
    share = min(max(share, 0.0), 1.0)
    return math.dist(point, (start[0] + share * along[0], start[1] + share * along[1]))
