"""What one frame shows: the numbers from which events are made, and the geometry of boxes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Box", "Observation", "Seen", "at_one_border", "length", "overlap", "overlaps", "translation"]

Box = tuple[float, float, float, float]
"""x, y, width and height, as shares of the width and the height of the frame."""


_BORDER = 0.004
"""Share of the frame within which a box touches its border."""


class Seen(NamedTuple):
    """One object in one frame."""

    box: Box
    area: float
    """Share of the pixels of the frame."""
    score: float = 0.0
    """Mean score of its pixels, at most 1."""
    diffuse: float = 0.0
    """How far its surroundings have changed in brightness as it has, from 0 to 1: an object ends at its outline, the
    shadow of a cloud does not."""
    regions: tuple[str, ...] = ()
    """Names of the regions that contain its centroid."""

    @property
    def centre(self) -> tuple[float, float]:
        """Centre of the box."""
        return self.box[0] + self.box[2] / 2, self.box[1] + self.box[3] / 2


@dataclass(frozen=True, slots=True)
class Observation:
    """What one frame shows."""

    number: int
    """1-based number of the frame in its file."""
    time_s: float
    """Time in seconds since the start of the recording, which may span files; it rises from frame to frame."""
    objects: Sequence[Seen] = ()
    foreground: float = 0.0
    """Share of the frame that is foreground."""
    spread: float = 0.0
    """Share of the cells of a grid over the frame that hold foreground: near 1 if all of the frame has changed."""
    light: float = 0.0
    """Median brightness of the frame in grey levels of 255."""
    shift: float = 0.0
    """How far the whole image has moved since the frame before, in diagonals of the frame; measured where there are
    several objects."""
    aspect: float = 4 / 3
    """Width of the frame divided by its height."""
    file: int = 0
    """Position of the file in the recording."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Share of each named region that is foreground."""


def translation(old: Box, new: Box, aspect: float) -> float:
    """Return how far a box was shifted, in diagonals of the frame.

    A box is shifted where opposite edges move the same way, by the lesser of both distances; one that grows, shrinks or
    flickers is not. An edge that stays at the border of the frame says nothing.

    Examples
    --------
    >>> translation((0.2, 0.2, 0.1, 0.1), (0.2, 0.2, 0.4, 0.1), 1.0)
    0.0
    >>> round(translation((0.2, 0.2, 0.1, 0.1), (0.5, 0.2, 0.1, 0.1), 1.0) * 2**0.5, 3)
    0.3
    """
    return length(_shift(old[0], old[2], new[0], new[2]), _shift(old[1], old[3], new[1], new[3]), aspect)


def _shift(old: float, old_size: float, new: float, new_size: float) -> float:
    first, last = new - old, new + new_size - old - old_size
    low = max(old, new) <= _BORDER
    high = min(old + old_size, new + new_size) >= 1 - _BORDER
    if low and high:
        return 0.0
    if low or high:
        return abs(last if low else first)
    return min(abs(first), abs(last)) if first * last > 0 else 0.0


def at_one_border(old: Box, new: Box) -> bool:
    """Return whether two boxes touch the same border of the frame."""
    return any(
        max(old[axis], new[axis]) <= _BORDER or min(old[axis] + old[axis + 2], new[axis] + new[axis + 2]) >= 1 - _BORDER
        for axis in (0, 1)
    )


def length(x: float, y: float, aspect: float) -> float:
    """Return the length of a way in shares of width and height, in diagonals of the frame."""
    return math.hypot(x * aspect, y) / math.hypot(aspect, 1)


def overlap(one: Box, other: Box) -> float:
    """Return the area that two boxes share, divided by that which they cover together."""
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (one[2] * one[3] + other[2] * other[3] - shared)


def overlaps(some: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the `overlap` of each of some boxes, (N, 4), with each of others, (M, 4), as an (N, M) array.

    Examples
    --------
    >>> overlaps(np.array([[0.1, 0.1, 0.2, 0.2]]), np.array([[0.2, 0.1, 0.2, 0.2], [0.5, 0.5, 0.1, 0.1]])).round(3)
    array([[0.333, 0.   ]])
    """
    starts = np.maximum(some[:, None, :2], others[:, :2])
    ends = np.minimum((some[:, :2] + some[:, 2:])[:, None], others[:, :2] + others[:, 2:])
    shared = np.maximum(ends - starts, 0).prod(2)
    together = some[:, 2:].prod(1)[:, None] + others[:, 2:].prod(1) - shared
    return np.asarray(np.divide(shared, together, out=np.zeros_like(shared), where=shared > 0))
