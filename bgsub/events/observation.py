"""What one frame shows: the numbers from which events are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Box", "Observation", "Seen"]

Box = tuple[float, float, float, float]
"""x, y, width and height, as shares of the width and the height of the frame."""


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
