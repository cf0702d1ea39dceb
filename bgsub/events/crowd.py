"""Places where things keep appearing that come to nothing: leaves in the wind, waves, rain."""

import math
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bgsub.events.observation import Seen

if TYPE_CHECKING:
    from bgsub.events.evidence import Trail

__all__ = ["ACROSS", "Crowd"]

_MEMORY_S = 10.0
_RADIUS = 0.2
"""Distance between centres, in diagonals of the frame, within which others are near."""

_MANY = 12
"""Others near that came to nothing: on recordings of people and cars there were at most 9 when one of those began to
count, in generated trees at least 13."""

_LARGER = 3.0
"""Ratio to the area of which nine in ten of the others fall short; leaves that counted wrongly had at most 1.6."""

ACROSS = 0.4
"""Distance in diagonals of the frame that nothing travels that sways."""


class Crowd:
    """Remembers the trails that have ended without ever counting, for ten seconds.

    A thing among many of these must be larger than they are, travel far, or leave them behind before it counts.
    """

    def __init__(self) -> None:
        self._ended: deque[tuple[float, tuple[float, float], float]] = deque()
        """When each was born, where it ended, and its largest area."""

    def note(self, trail: "Trail") -> None:
        """Remember a trail that has ended without counting."""
        self._ended.append((trail.born_s, trail.seen.centre, trail.largest))

    def forget(self) -> None:
        """Forget all: the scene has changed."""
        self._ended.clear()

    def hides(self, seen: Seen, others: Iterable["Trail"], time_s: float, aspect: float) -> bool:
        """Return whether an object that has not travelled as far as `ACROSS` cannot be told from those around it.

        Parameters
        ----------
        seen : Seen
            The object.
        others : iterable of Trail
            Those that may still go on; the one of the object, and those that count, make no difference.
        time_s, aspect : float
            Of the frame.
        """
        while self._ended and time_s - self._ended[0][0] > 2 * _MEMORY_S:  # they ended in another order
            self._ended.popleft()
        present = [(one.born_s, one.seen.centre, one.largest) for one in others if one.since_s is None]
        x, y = seen.centre
        areas = sorted(
            area
            for born_s, centre, area in (*self._ended, *present)
            if time_s - born_s <= _MEMORY_S
            and math.hypot((centre[0] - x) * aspect, centre[1] - y) <= _RADIUS * math.hypot(aspect, 1)
        )
        return len(areas) > _MANY and seen.area < _LARGER * areas[int(0.9 * len(areas))]
