"""Events and changes of the scene: what the state machine reports."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from bgsub.events.observation import Box, Observation

__all__ = ["Event", "Moment", "SceneChange"]


class Moment(NamedTuple):
    """A frame of a recording."""

    file: int
    """Position of its file in the recording."""
    number: int
    """1-based number in the file."""
    time_s: float
    """Time in seconds since the start of the recording."""

    @classmethod
    def of(cls, observation: Observation) -> "Moment":
        """Return the moment of an observation."""
        return cls(observation.file, observation.number, observation.time_s)


@dataclass(frozen=True, slots=True)
class Event:
    """Something moved in a region for some time."""

    region: str
    """Name of the region; empty for the whole frame."""
    start: Moment
    """First frame with the objects."""
    end: Moment
    """Last frame with them."""
    peak: Moment
    """Frame in which they were largest together."""
    share: float
    """Share of the frame that they covered then."""
    boxes: tuple[Box, ...]
    """Their boxes then."""
    union: Box
    """Box around all of their boxes at all times."""
    objects: int
    """Number of different objects."""
    score: float
    """Mean score of the objects at the peak, from 0 to 1."""

    @property
    def duration_s(self) -> float:
        """Time from the first to the last frame."""
        return self.end.time_s - self.start.time_s

    def to_json(self) -> dict[str, Any]:
        """Return the event as values that JSON has; `from_json` reads them."""
        return {
            "region": self.region,
            "start": list(self.start),
            "end": list(self.end),
            "peak": list(self.peak),
            "share": self.share,
            "boxes": [list(box) for box in self.boxes],
            "union": list(self.union),
            "objects": self.objects,
            "score": self.score,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Event":
        """Return the event that `to_json` wrote."""
        boxes = tuple(tuple(box) for box in values["boxes"])
        moments = {name: Moment(*values[name]) for name in ("start", "end", "peak")}
        return cls(**{**values, **moments, "boxes": boxes, "union": tuple(values["union"])})


@dataclass(frozen=True, slots=True)
class SceneChange:
    """All of the scene changed at once: the light was switched, or the camera was moved."""

    start: Moment
    """First frame that is changed."""
    end: Moment
    """First frame in which the detector has got over it, or was given up."""
    share: float
    """Largest share of the frame that was foreground meanwhile."""
    cause: str
    """``light`` where the brightness of the frame jumped, else ``camera``."""
    recovered: bool
    """Whether the detector has got over it in time."""
