"""The files that a scan writes: events as lines and as a table, pictures, clips, a summary."""

import csv
import datetime
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from bgsub import __version__
from bgsub._files import failure, write_text
from bgsub._opencv import cv2
from bgsub.errors import BgsubError, SinkError
from bgsub.events.observation import Box
from bgsub.events.rules import EventRules
from bgsub.frames import Frame
from bgsub.scanning.found import FileReport, FoundChange, FoundEvent
from bgsub.scanning.journal import file_stamp
from bgsub.video._images import write_image
from bgsub.video.clips import clip_suffix, copy_clip, encode_clip
from bgsub.video.stills import read_stills

__all__ = ["ClipMode", "Clips", "Outputs", "clip_spans", "thumbnail"]

ClipMode = Literal["copy", "encode"]

_THUMBNAIL_PX = 480
_OURS = re.compile(r"[A-Za-z0-9-]+-[0-9]{6,}-[0-9a-f]{6}(-[0-9]+)?\.[a-z0-9]+")
_COLUMNS = (
    "id",
    "region",
    "file",
    "start_s",
    "end_s",
    "duration_s",
    "start_clock",
    "end_clock",
    "end_file",
    "start_frame",
    "end_frame",
    "peak_s",
    "share",
    "score",
    "objects",
    "x",
    "y",
    "width",
    "height",
    "thumbnail",
    "clips",
)


@dataclass(frozen=True, slots=True)
class Clips:
    """How clips are cut out.

    Parameters
    ----------
    mode : {"copy", "encode"}
        As they are stored, beginning with a key frame, or encoded again, exactly.
    max_bytes : int, optional
        Most bytes of all clips together: those that would exceed it are left out.

    Raises
    ------
    ValueError
        If a value is wrong.
    """

    mode: ClipMode
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.mode not in get_args(ClipMode):
            raise ValueError(f"clips must be one of {', '.join(get_args(ClipMode))}, got {self.mode!r}")
        if self.max_bytes is not None and self.max_bytes < 0:
            raise ValueError(f"max_bytes must not be negative, got {self.max_bytes}")


@dataclass
class Outputs:
    """Writes the outputs of a scan below one folder.

    Parameters
    ----------
    folder : Path
        Existing folder.
    rules : EventRules
        For the time that clips show around an event.
    clips : Clips, optional
        How to cut out clips, if at all.
    stop : callable, optional
        Asked before each clip whether to end.
    """

    folder: Path
    rules: EventRules
    clips: Clips | None = None
    stop: Callable[[], bool] = lambda: False
    left_out: int = 0
    """Clips left out for their size."""
    clip_bytes: int = 0
    failures: list[str] = field(default_factory=list)
    """Why clips could not be cut."""

    def begin(self) -> None:
        """Make empty tables, to which `append` adds."""
        self._write("events.jsonl", "")
        self._write("events.csv", _table([]))

    def render(self, events: Sequence[FoundEvent]) -> list[FoundEvent]:
        """Write pictures and clips of events, and return the events with their names."""
        return [self._cut(event) for event in self._picture(events)]

    def append(self, events: Sequence[FoundEvent]) -> None:
        """Add events that are final to the tables."""
        if not events:
            return
        self._append("events.jsonl", "".join(_line(event.to_json()) for event in events))
        self._append("events.csv", _table(events, head=False))

    def write(self, events: Sequence[FoundEvent], changes: Sequence[FoundChange]) -> None:
        """Write the tables of all events, in order."""
        self._write("events.jsonl", "".join(_line(event.to_json()) for event in events))
        self._write("events.csv", _table(events))
        self._write("changes.jsonl", "".join(_line(change.to_json()) for change in changes))
        self._clean(events)

    def write_summary(self, values: dict[str, Any]) -> None:
        """Write settings, files and totals."""
        self._write("scan.json", json.dumps({"version": __version__, **values}, indent=1) + "\n")

    def _clean(self, events: Sequence[FoundEvent]) -> None:
        """Remove pictures and clips of events that an earlier part of this scan found in files that have changed."""
        kept = {name for event in events for name in (event.thumbnail, *event.clips)}
        for folder in ("thumbnails", "clips"):
            for path in (self.folder / folder).glob("*"):
                if _OURS.fullmatch(path.name) and f"{folder}/{path.name}" not in kept:
                    path.unlink(missing_ok=True)

    def _write(self, name: str, text: str) -> None:
        write_text(self.folder / name, text)

    def _append(self, name: str, text: str) -> None:
        path = self.folder / name
        try:
            with path.open("a", encoding="utf-8", newline="", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            raise failure(path, error.strerror) from error

    def _folder(self, name: str) -> Path:
        path = self.folder / name
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise failure(path, error.strerror) from error
        return path

    def _picture(self, events: Sequence[FoundEvent]) -> list[FoundEvent]:
        """Write a picture of the peak of each event."""
        named = []
        for event in events:
            name = f"thumbnails/{event.id}.jpg"
            path = self._folder("thumbnails") / f"{event.id}.jpg"
            peak = event.peak
            if not _is_new(path, peak.file.file):
                (frame,) = read_stills(peak.file.file, [(peak.number, peak.time_s)])
                if frame is None:
                    named.append(event)
                    continue
                write_image(path, thumbnail(frame, event.event.boxes), suffix=".jpg", sync=False)
            named.append(event.with_outputs(thumbnail=name))
        return named

    def _cut(self, event: FoundEvent) -> FoundEvent:
        if self.clips is None or self.stop():
            return event
        names = []
        for position, (file, start_s, end_s) in enumerate(clip_spans(event, self.rules)):
            suffix = clip_suffix(file.file) if self.clips.mode == "copy" else ".mp4"
            name = event.id + (f"-{position + 1}" if position else "") + suffix
            if self._write_clip(self._folder("clips") / name, file.file, (start_s, end_s), self.clips):
                names.append(f"clips/{name}")
        return event.with_outputs(clips=names)

    def _write_clip(self, path: Path, file: str, span: tuple[float, float], clips: Clips) -> bool:
        """Write one clip, whole or not at all, and return whether it is there."""
        if not _is_new(path, file):
            temporary = path.with_name(f".{path.name}")
            try:
                temporary.unlink(missing_ok=True)
                if clips.mode == "copy":
                    copy_clip(temporary, file, *span)
                else:
                    encode_clip(temporary, file, *span, self.stop)
                if self.stop():
                    return False
                if self._exceeds(temporary, clips):
                    self.left_out += 1
                    return False
                temporary.replace(path)
            except SinkError:
                raise
            except BgsubError as error:
                self.failures.append(str(error))
                return False
            finally:
                temporary.unlink(missing_ok=True)
        elif self._exceeds(path, clips):
            self.left_out += 1
            path.unlink()
            return False
        self.clip_bytes += path.stat().st_size
        return True

    def _exceeds(self, path: Path, clips: Clips) -> bool:
        return clips.max_bytes is not None and self.clip_bytes + path.stat().st_size > clips.max_bytes


def clip_spans(event: FoundEvent, rules: EventRules) -> list[tuple[FileReport, float, float]]:
    """Return files, and start and end in each of them in seconds, that show an event with the time around it."""
    start, end = event.event.start.time_s - rules.before_s, event.event.end.time_s + rules.after_s
    spans = []
    for index in range(len(event.files)):
        file = event.files[index]
        first_s, last_s = start - file.offset_s, end - file.offset_s
        if file.frames and last_s >= file.first_s and first_s <= file.last_s:
            spans.append((file, max(first_s, file.first_s, 0.0), min(last_s, file.last_s)))
    return spans


def _is_new(path: Path, file: str) -> bool:
    """Return whether an output is there, made since the file was last changed."""
    try:
        made_ns = path.stat().st_mtime_ns
    except OSError:
        return False
    stamp = file_stamp(file)
    return not stamp or made_ns >= stamp[1]


def thumbnail(frame: Frame, boxes: Sequence[Box]) -> Frame:
    """Return a small picture of a frame with boxes."""
    if frame.dtype != np.uint8:
        frame = (frame / (257 if frame.dtype == np.uint16 else 1 / 255)).astype(np.uint8)
    if frame.ndim == 2:
        frame = np.asarray(cv2.cvtColor(frame, cv2.COLOR_GRAY2BGR))
    scale = min(1.0, _THUMBNAIL_PX / max(frame.shape[:2]))
    height, width = max(1, round(frame.shape[0] * scale)), max(1, round(frame.shape[1] * scale))
    image = np.asarray(cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA))
    for x, y, box_width, box_height in boxes:
        corner = round(x * width), round(y * height)
        opposite = round((x + box_width) * width) - 1, round((y + box_height) * height) - 1
        cv2.rectangle(image, corner, opposite, (0, 0, 0), 3)
        cv2.rectangle(image, corner, opposite, (0, 220, 255), 1)
    return image


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values) + "\n"


def _table(events: Sequence[FoundEvent], *, head: bool = True) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    if head:
        writer.writerow(_COLUMNS)
    for found in events:
        values = found.to_json()
        start, end = values["start"], values["end"]
        row = (
            values["id"],
            values["region"] or "",
            start["file"],
            start["time_s"],
            end["time_s"],
            values["duration_s"],
            start["clock"] or "",
            end["clock"] or "",
            end["file"],
            start["frame"],
            end["frame"],
            values["peak"]["time_s"],
            values["share"],
            values["score"],
            values["objects"],
            *values["union"],
            values["thumbnail"] or "",
            " ".join(values["clips"]),
        )
        writer.writerow([_safe(value) for value in row])
    return text.getvalue()


def _safe(value: Any) -> Any:
    """Return a value whose text can be written as UTF-8, and is no formula to a spreadsheet."""
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode()
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def day_of(time: datetime.datetime | None) -> str:
    """Return the date of a time; empty if it is not known."""
    return "" if time is None else time.date().isoformat()
