"""Events from results, each with a small picture of its peak; no Qt, and no thread of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Self

import numpy as np

from bgsub._opencv import cv2
from bgsub.events import Event, EventMachine, EventRules, Measure, Observation, SceneChange
from bgsub.frames import Result
from bgsub.roi import Region
from bgsub.watching.cameras.pictures import Pictures

__all__ = ["EventFinder", "EventSearch", "Found"]

_PICTURE_PX = 320
_MOST_PICTURES = 1000
"""Pictures that are kept, about 15 kB each."""
_UNDECIDED_S = 30.0
"""Time before an event for which pictures are kept."""


@dataclass(frozen=True, slots=True)
class EventSearch:
    """What an event is, and where: in named regions, or in the whole frame without any."""

    rules: EventRules = field(default_factory=EventRules)
    regions: Mapping[str, Region] = field(default_factory=lambda: MappingProxyType({}))
    """In pixels of the frames that are processed."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Events and changes of the scene so far."""

    events: tuple[Event, ...] = ()
    changes: tuple[SceneChange, ...] = ()
    pictures: Mapping[Event, bytes] = field(default_factory=lambda: MappingProxyType({}))
    """JPEG of the peak of the events that have one."""

    def with_more(self, new: list[Event | SceneChange], pictures: Mapping[Event, bytes], most: int) -> Self:
        """Return this with more events and changes, up to a number of each, of which the newest stay."""
        events = (*self.events, *(one for one in new if isinstance(one, Event)))[-most:]
        changes = (*self.changes, *(one for one in new if isinstance(one, SceneChange)))[-most:]
        here = set(events)
        kept = [(event, picture) for event, picture in {**self.pictures, **pictures}.items() if event in here]
        newest = dict(kept[-_MOST_PICTURES:])
        return replace(self, events=events, changes=changes, pictures=MappingProxyType(newest))


class EventFinder:
    """Measures results, and finds events in the numbers.

    Parameters
    ----------
    search : EventSearch
        What to find.
    """

    def __init__(self, search: EventSearch) -> None:
        self._measure = Measure(search.regions, min_area=search.rules.min_area)
        self._machine = EventMachine(search.rules, list(search.regions))
        self._pictures = Pictures()

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the regions in which something counts at present; the empty name is the whole frame."""
        return tuple(self._machine.active)

    @property
    def since_s(self) -> float | None:
        """Time of the first frame that may belong to an event not found yet; None if nothing counts."""
        return self._machine.since_s

    def measure(self, result: Result, time_s: float | None = None) -> Observation:
        """Return what a result shows, at another time than that of its frame if one is given.

        Raises
        ------
        ConfigError
            If a region does not fit the mask.
        """
        return self._measure(result, time_s=time_s)

    def see(self, observation: Observation, result: Result) -> list[Event | SceneChange]:
        """Take the next frame, whose time is later than that of the one before, and return what became certain."""
        found = self._machine.see(observation)
        self._pictures.see(observation, result.packet.frame)
        return found

    def finish(self) -> list[Event | SceneChange]:
        """Return what an end of the frames makes certain; others may follow."""
        return self._machine.finish()

    def take_pictures(self, found: list[Event | SceneChange], time_s: float) -> dict[Event, bytes]:
        """Return the pictures of new events, and forget those that no event after a time will need."""
        taken = {one: _small(image) for one in found if isinstance(one, Event) and (image := self._pictures.of(one))}
        since_s = self._machine.since_s
        self._pictures.forget_before(min(time_s - _UNDECIDED_S, time_s if since_s is None else since_s))
        return taken


def _small(data: bytes) -> bytes:
    image = np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR))
    scale = min(1.0, _PICTURE_PX / max(image.shape[:2]))
    size = max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale))
    _, small = cv2.imencode(".jpg", cv2.resize(image, size, interpolation=cv2.INTER_AREA))
    return bytes(small)
