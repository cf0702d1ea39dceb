"""What a scan finds: events and changes of the scene, with files, times of day and pixels."""

import datetime
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bgsub import __version__
from bgsub.events import Event, Moment, SceneChange
from bgsub.events.observation import Box

__all__ = ["FileReport", "FoundChange", "FoundEvent", "Instant", "ScanResult"]


@dataclass(frozen=True, slots=True)
class FileReport:
    """What is known of a file that was scanned."""

    file: str
    frames: int = 0
    """Frames that were looked at."""
    size: tuple[int, int] = (0, 0)
    """(height, width) in pixels."""
    rate_hz: float = 25.0
    first_s: float = 0.0
    """Time in the file of its first frame."""
    last_s: float = 0.0
    """Time in the file of its last frame that was looked at."""
    offset_s: float = 0.0
    """To be added to times in the file for those in the recording."""
    clock: datetime.datetime | None = None
    """When it begins."""
    failure: str = ""
    """Why it could not be read, or not to its end."""

    @property
    def duration_s(self) -> float:
        """Time that was looked at."""
        if self.frames < 2:
            return self.frames / self.rate_hz
        return max(0.0, self.last_s - self.first_s) * self.frames / (self.frames - 1)

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON has them."""
        return {
            "file": self.file,
            "frames": self.frames,
            "width": self.size[1],
            "height": self.size[0],
            "rate_hz": round(self.rate_hz, 6),
            "duration_s": round(self.duration_s, 3),
            "clock": None if self.clock is None else self.clock.isoformat(),
            "failure": self.failure or None,
        }


@dataclass(frozen=True, slots=True)
class Instant:
    """A frame of a file."""

    file: FileReport
    number: int
    """1-based number of the frame."""
    time_s: float
    """Time in the file."""

    @classmethod
    def of(cls, moment: Moment, files: Sequence[FileReport]) -> "Instant":
        """Return the instant of a moment in a recording of some files."""
        file = files[moment.file]
        return cls(file, moment.number, moment.time_s - file.offset_s)

    @property
    def clock(self) -> datetime.datetime | None:
        """Time of day; None where it is not known when the file begins."""
        if self.file.clock is None:
            return None
        return self.file.clock + datetime.timedelta(seconds=self.time_s - self.file.first_s)

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON has them."""
        clock = self.clock
        return {
            "file": self.file.file,
            "frame": self.number,
            "time_s": round(self.time_s, 3),
            "clock": None if clock is None else clock.isoformat(timespec="milliseconds"),
        }


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """An event, with all that a person or a program wants to know of it."""

    event: Event
    files: tuple[FileReport, ...]
    """The files of its recording."""
    detector: str
    settings: str
    """Digest of the settings of the scan."""
    thumbnail: str = ""
    """Name of the picture of its peak, below the folder of the outputs."""
    clips: tuple[str, ...] = field(default=())
    """Names of its clips, below that folder."""

    @property
    def start(self) -> Instant:
        """Its first frame."""
        return Instant.of(self.event.start, self.files)

    @property
    def end(self) -> Instant:
        """Its last frame."""
        return Instant.of(self.event.end, self.files)

    @property
    def peak(self) -> Instant:
        """The frame with the largest objects."""
        return Instant.of(self.event.peak, self.files)

    @property
    def id(self) -> str:
        """A name that is the same in each scan of these files with these settings."""
        start = self.start
        stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(start.file.file).stem).strip("-")[:40] or "event"
        known = f"{start.file.file}\0{self.event.region}\0{self.event.end.number}"
        return f"{stem}-{start.number:06d}-{hashlib.sha256(known.encode(errors='surrogateescape')).hexdigest()[:6]}"

    @property
    def start_s(self) -> float:
        """Time in the recording of its first frame."""
        return self.event.start.time_s

    @property
    def region(self) -> str:
        """Name of its region; empty for the whole frame."""
        return self.event.region

    def with_outputs(self, *, thumbnail: str | None = None, clips: Sequence[str] | None = None) -> "FoundEvent":
        """Return the event with the names of its files."""
        return replace(
            self,
            thumbnail=self.thumbnail if thumbnail is None else thumbnail,
            clips=self.clips if clips is None else tuple(clips),
        )

    def to_json(self) -> dict[str, Any]:
        """Return one line of events.jsonl."""
        event, (height, width) = self.event, self.start.file.size
        return {
            "id": self.id,
            "region": event.region or None,
            "start": self.start.to_json(),
            "end": self.end.to_json(),
            "peak": self.peak.to_json(),
            "duration_s": round(event.duration_s, 3),
            "share": round(event.share, 6),
            "score": round(event.score, 4),
            "objects": event.objects,
            "width": width,
            "height": height,
            "boxes": [_pixels(box, width, height) for box in event.boxes],
            "union": _pixels(event.union, width, height),
            "boxes_relative": [_rounded(box) for box in event.boxes],
            "union_relative": _rounded(event.union),
            "thumbnail": self.thumbnail or None,
            "clips": list(self.clips),
            "detector": self.detector,
            "settings": self.settings,
            "version": __version__,
        }


@dataclass(frozen=True, slots=True)
class FoundChange:
    """A change of the whole scene."""

    change: SceneChange
    files: tuple[FileReport, ...]

    @property
    def start(self) -> Instant:
        """Its first frame."""
        return Instant.of(self.change.start, self.files)

    @property
    def start_s(self) -> float:
        """Time in the recording of its first frame."""
        return self.change.start.time_s

    @property
    def region(self) -> str:
        """Empty: it is the whole frame."""
        return ""

    def to_json(self) -> dict[str, Any]:
        """Return one line of changes.jsonl."""
        change = self.change
        return {
            "start": self.start.to_json(),
            "end": Instant.of(change.end, self.files).to_json(),
            "share": round(change.share, 6),
            "cause": change.cause,
            "recovered": change.recovered,
        }


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What a scan has found."""

    events: list[FoundEvent]
    """By time of day where it is known, else by file."""
    changes: list[FoundChange]
    """Changes of the whole scene, which are no events."""
    files: list[FileReport]
    clips_left_out: int = 0
    """Clips that would have exceeded the size allowed."""
    clip_failures: list[str] = field(default_factory=list)
    """Why clips could not be cut."""

    @property
    def failures(self) -> list[FileReport]:
        """Files that could not be read, or not to their end."""
        return [file for file in self.files if file.failure]


def _pixels(box: Box, width: int, height: int) -> list[int]:
    x, y, box_width, box_height = box
    return [round(x * width), round(y * height), round(box_width * width), round(box_height * height)]


def _rounded(box: Box) -> list[float]:
    return [round(value, 5) for value in box]
