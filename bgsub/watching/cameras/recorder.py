"""Clips of a live stream: begun when something moves, with what was kept from before; dropped if it was nothing."""

import contextlib
import datetime
import logging
from pathlib import Path

from bgsub.errors import SinkError
from bgsub.events import Event, EventRules
from bgsub.video.packets import ClipWriter, PacketRing
from bgsub.watching.settings import ClipSettings

__all__ = ["Recorder", "remove_oldest"]

logger = logging.getLogger(__name__)

_UNDECIDED_S = 15.0
"""Time in which an object may have been seen before it counts: 13 s, and some for a frame that is late."""


class Recorder:
    """Writes clips of one stream, while its packets pass.

    Parameters
    ----------
    folder : Path
        Folder of the clips.
    name : str
        Name of the camera.
    rules : EventRules
        Time to show before and after an event.
    settings : ClipSettings
    """

    def __init__(self, folder: Path, name: str, rules: EventRules, settings: ClipSettings) -> None:
        self._folder, self._name, self._rules, self._settings = folder, name, rules, settings
        self.ring = PacketRing(rules.before_s + _UNDECIDED_S, settings.memory_bytes)
        self.failures = 0
        self._writer: ClipWriter | None = None
        self._begin_s = 0.0
        self._serial = 0
        self._until_s: float | None = None
        """Until when it records, because an event was found; None as long as there is none."""
        self._failed = False
        """Whether the clip could not be written: the next one is tried when something else begins."""
        self._closed: list[Path] = []
        """Parts of the present recording that have their full length."""

    @property
    def recording(self) -> bool:
        """Whether a clip is being written."""
        return self._writer is not None

    def see(self, time_s: float, since_s: float | None, clock: datetime.datetime) -> None:
        """Write the packets up to a frame.

        Parameters
        ----------
        time_s : float
            Time of the frame.
        since_s : float, optional
            When something began that may become an event; None if there is nothing.
        clock : datetime
            Time of day of the frame, for the name of a clip.
        """
        self._failed = self._failed and since_s is not None
        if self._writer is None and since_s is not None and not self._failed:
            self._begin(since_s - self._rules.before_s, time_s, clock)
        if self._writer is None:
            return
        self._write()
        if since_s is None and (self._until_s is None or time_s >= self._until_s):
            self.finish()
        elif self._writer is not None and time_s - self._begin_s > self._settings.max_length_s:
            self._split(time_s, clock)

    def name_clips(self, event: Event) -> list[str]:
        """Keep what is being recorded, because it is an event, and return the names that the clips will have."""
        end_s = event.end.time_s + self._rules.after_s
        if self._writer is None:
            return []
        self._until_s = end_s if self._until_s is None else max(self._until_s, end_s)
        return [path.name for path in (*self._closed, self._writer.path)] if self._writer.begin_s is not None else []

    def finish(self) -> None:
        """Complete the clip, or remove it if nothing in it was an event."""
        writer, self._writer = self._writer, None
        keep, self._until_s = self._until_s is not None, None
        closed, self._closed = self._closed, []
        if writer is None and not closed:
            return
        if writer is not None:
            closed.append(writer.path)
            with contextlib.suppress(SinkError):  # `_fail` has reported it, or the last fragment is lost
                writer.close()
        for path in closed:
            self._settle(path, keep=keep and (writer is None or path != writer.path or writer.begin_s is not None))
        remove_oldest(self._folder, self._settings.max_bytes)

    def _begin(self, from_s: float, time_s: float, clock: datetime.datetime) -> None:
        self._serial = self.ring.serial_before(from_s)
        self._open(time_s, clock)

    def _open(self, time_s: float, clock: datetime.datetime) -> None:
        waiting = self.ring.since(self._serial)
        if not waiting:
            return
        self._begin_s = time_s
        stem = f"{self._name}-{clock.astimezone(datetime.UTC):%Y%m%dT%H%M%S}{clock.microsecond // 1000:03d}Z"
        header = waiting[0].header
        try:
            self._writer = ClipWriter(self._folder / f".{stem}{header.suffix}", header)
            self._writer.path = self._folder / f"{stem}{header.suffix}"
        except SinkError as error:
            self._fail(error)

    def _write(self) -> None:
        for packet in self.ring.since(self._serial):
            self._serial = packet.serial
            if self._writer is None:
                return
            if packet.header is not self._writer.header:  # another connection, which cannot follow
                self.finish()
                return
            try:
                self._writer.write(packet)
            except SinkError as error:
                self._fail(error)

    def _split(self, time_s: float, clock: datetime.datetime) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            self._closed.append(writer.path)
            with contextlib.suppress(SinkError):
                writer.close()
        newest = self.ring.serial_before(float("inf"))
        self._serial = min(self._serial, newest)
        self._open(time_s, clock)

    def _fail(self, error: SinkError) -> None:
        self.failures += 1
        self._failed = True
        logger.error("%s: %s; the clip ends there", self._name, error)
        self.finish()

    def _settle(self, path: Path, *, keep: bool) -> None:
        temporary = path.with_name(f".{path.name}")
        try:
            if keep:
                temporary.replace(path)
            else:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            logger.error("%s: cannot keep the clip %s: %s", self._name, path, error.strerror)


def remove_oldest(folder: Path, most_bytes: int) -> None:
    """Remove the oldest clips of a folder, as far as all of them together are larger than allowed."""
    found = []
    for path in folder.glob("[!.]*"):
        with contextlib.suppress(FileNotFoundError):  # another camera has removed it
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= most_bytes:
            return
        path.unlink(missing_ok=True)
        total -= size
