"""The time that one object spends in one region."""

from dataclasses import dataclass

from bgsub.events.event import Moment
from bgsub.events.evidence import Trail
from bgsub.events.observation import Box, Observation, Seen

__all__ = ["Peak", "Visit", "join"]


@dataclass(slots=True)
class Peak:
    """The frame in which the objects of a region were largest together."""

    moment: Moment
    share: float
    boxes: tuple[Box, ...]
    score: float


@dataclass(slots=True)
class _Span:
    """What is known of a visit up to some frame."""

    last: Moment
    union: Box
    peak: Peak | None = None

    def extend(self, other: "_Span") -> None:
        self.last = other.last
        self.union = join(self.union, other.union)
        if other.peak is not None and (self.peak is None or other.peak.share > self.peak.share):
            self.peak = other.peak


@dataclass(slots=True)
class Visit:
    """The time that one object spends in one region.

    What is seen after its last movement is kept apart: it is dropped where the object fades without moving again.
    """

    object: int
    """Number of its trail."""
    start: Moment
    sure: _Span
    pending: _Span | None = None
    over: bool = False
    """Whether it has ended."""

    @classmethod
    def begin(cls, trail: Trail, observation: Observation, seen: Seen) -> "Visit":
        """Begin a visit in a frame."""
        moment = Moment.of(observation)
        return cls(trail.number, moment, _Span(moment, seen.box))

    @property
    def last(self) -> Moment:
        """The last frame in which the object was in the region."""
        return self.sure.last if self.pending is None else self.pending.last

    def see(self, observation: Observation, seen: Seen, *, moves: bool) -> None:
        """Note that the object is in the region."""
        span = _Span(Moment.of(observation), seen.box)
        if self.pending is None:
            self.pending = span
        else:
            self.pending.extend(span)
        if moves:
            self.settle()

    def note_peak(self, peak: Peak) -> None:
        """Note how large all objects in the region are in the frame of the last `see`."""
        span = self.sure if self.pending is None else self.pending
        if span.peak is None or peak.share > span.peak.share:
            span.peak = peak

    def settle(self) -> None:
        """Take everything up to now for sure."""
        if self.pending is not None:
            self.sure.extend(self.pending)
            self.pending = None

    def close(self, trail: Trail) -> None:
        """End the visit with its trail: what is pending is dropped if the trail has faded."""
        if trail.end_s >= trail.seen_s:
            self.settle()
        self.pending = None
        self.over = True


def join(one: Box, other: Box) -> Box:
    """Return the box around two boxes."""
    left, top = min(one[0], other[0]), min(one[1], other[1])
    right = max(one[0] + one[2], other[0] + other[2])
    bottom = max(one[1] + one[3], other[1] + other[3])
    return left, top, right - left, bottom - top
