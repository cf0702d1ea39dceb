"""An event of a camera, as it is reported."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

from bgsub.events import Event, Moment
from bgsub.scanning.found import FoundEvent
from bgsub.watching.cameras.clocks import Clocks
from bgsub.watching.settings import CameraSettings

__all__ = ["WatchedEvent"]


@dataclass
class WatchedEvent:
    """An event with its camera, and the names of its files."""

    camera: str
    found: FoundEvent
    began: int = 0
    """Number of the stretch in which it began."""
    thumbnail: str = ""
    clips: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, settings: CameraSettings, event: Event, clocks: Clocks) -> "WatchedEvent":
        """Return what is known of an event: the stretches from its start to its end are its files."""
        numbers = sorted({event.start.file, event.peak.file, event.end.file})
        numbers = list(range(numbers[0], numbers[-1] + 1))

        def moved(moment: Moment) -> Moment:
            return moment._replace(file=numbers.index(moment.file))

        event = replace(event, start=moved(event.start), peak=moved(event.peak), end=moved(event.end))
        files = tuple(clocks.report(number) for number in numbers)
        found = FoundEvent(event, files, settings.scan.config.detector, settings.scan.digest())
        return cls(settings.name, found, numbers[0])

    @property
    def id(self) -> str:
        """A name that no other event has, and the same one if its segment is read again."""
        found = self.found
        known = [self.camera, found.region, found.start.file.file, found.start.number, found.end.file.file]
        known += [found.end.number, round(found.start.time_s, 3)]
        clock = found.start.clock
        if clock is not None and clock.tzinfo is not None:  # frames of streams are numbered by connection
            known.append(clock.isoformat())
        digest = hashlib.sha256("\0".join(map(str, known)).encode(errors="surrogateescape")).hexdigest()[:12]
        when = f"{clock:%Y%m%dT%H%M%S}-" if clock is not None else ""
        return f"{self.camera}-{when}{digest}"

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON has it."""
        values = self.found.to_json()
        del values["id"]
        return {
            "id": self.id,
            "camera": self.camera,
            **values,
            "thumbnail": self.thumbnail or None,
            "clips": self.clips,
        }
