"""The file of events, which is the queue of all deliveries, too: what is in it will be delivered, and nothing else."""

import contextlib
import io
import json
import logging
import os
import threading
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any, NamedTuple

from bgsub._files import failure, lock_name, write_text
from bgsub.errors import SinkError

__all__ = ["Cursor", "EventLog", "Record"]

logger = logging.getLogger(__name__)

_MOST_WAITING = 10_000
"""Events that are kept in memory while the disk is full; beyond that the oldest are lost."""

_MOST_LINE = 2**20
_MOST_IDS = 10_000


class Record(NamedTuple):
    """One event of the file."""

    sequence: int
    """Position among all events ever written to the folder, from 1."""
    id: str
    data: bytes
    """Its JSON, without the end of the line."""


class EventLog:
    """JSON lines to which events are added, each on the disk before the next.

    Each gets a number, ``sequence``, which rises by one from event to event, also across restarts. When the file is
    larger than `most_bytes` it is renamed, to ``events.1.jsonl`` where there was one before, and another begins: these
    two files are all that cursors can lag behind.

    Methods may be called on any thread.

    Parameters
    ----------
    path : Path
        File of the events.
    state : Path
        Folder in which cursors remember what is delivered.
    most_bytes : int
        Size at which another file begins.

    Raises
    ------
    SinkError
        If another process writes it, or it cannot be written.
    """

    def __init__(self, path: Path, state: Path, most_bytes: int = 100 * 10**6) -> None:
        self.path, self.older, self._most_bytes = path, path.with_name(f"{path.stem}.1{path.suffix}"), most_bytes
        self._state = state
        self.changed = threading.Condition(threading.RLock())
        self._waiting: deque[dict[str, Any]] = deque()
        self.lost = 0
        """Events that were lost because the disk stayed full for too long."""
        self.trouble: str | None = None
        """Why events wait in memory; None in normal operation."""
        self._cursors: list[Cursor] = []
        self._lock = lock_name(path, force=True)
        try:
            state.mkdir(exist_ok=True)
            self._file = self._open()
            acknowledged = [_read_acknowledged(file) for file in state.glob("*.acknowledged")]
            written = max((_last_sequence(file) for file in (self.older, path)), default=0)
        except OSError as error:
            self._lock.release()
            raise failure(path, error.strerror) from error
        self._next = 1 + max([written, *acknowledged])
        self._ids: OrderedDict[str, None] = OrderedDict()
        for file in (self.older, path):
            for record in _last_records(file):
                self._remember(record.id)

    def add(self, event: dict[str, Any]) -> None:
        """Write an event; while the disk is full it waits in memory, and `retry` tries again.

        One whose id was written lately is left out: its segment was read again after a crash.
        """
        with self.changed:
            if event["id"] in self._ids:
                return
            self._remember(event["id"])
            if len(self._waiting) >= _MOST_WAITING:
                self._waiting.popleft()
                self.lost += 1
            self._waiting.append(event)
        self.retry()

    def retry(self) -> None:
        """Write the events that wait, as far as that is possible."""
        with self.changed:
            while self._waiting:
                try:
                    self._write(self._waiting[0])
                except OSError as error:
                    if self.trouble is None:
                        self.trouble = str(failure(self.path, error.strerror))
                        logger.error("%s; events wait in memory until then", self.trouble)
                    return
                self._waiting.popleft()
                self.changed.notify_all()
            if self.trouble is not None:
                self.trouble = None
                logger.warning("%s can be written again", self.path)

    @property
    def waiting(self) -> int:
        """Number of events that wait in memory."""
        return len(self._waiting)

    def cursor(self, name: str) -> "Cursor":
        """Return the cursor of a name, which goes on after the last event that it acknowledged, even in another run.

        One that is new begins with the next event.
        """
        with self.changed:
            made = Cursor(self, self._state / f"{name}.acknowledged", self._next - 1)
            self._cursors.append(made)
            return made

    def close(self) -> None:
        """Close the file, and its cursors with it.

        Raises
        ------
        SinkError
            If events are lost with it, because they cannot be written.
        """
        self.retry()
        with self.changed:
            for cursor in self._cursors:
                cursor.close()
            self._file.close()
            self._lock.release()
            if self._waiting:
                raise SinkError(f"{len(self._waiting)} events are lost: {self.trouble}")

    def _remember(self, event: str) -> None:
        self._ids[event] = None
        while len(self._ids) > _MOST_IDS:
            self._ids.popitem(last=False)

    def _open(self) -> io.FileIO:
        """Open the file for adding, without the torn line that a crash may have left."""
        file = io.FileIO(self.path, "a+")
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - _MOST_LINE))
        tail = file.read(_MOST_LINE)
        if tail and not tail.endswith(b"\n"):
            file.truncate(end - (len(tail) - tail.rfind(b"\n") - 1))
        return file

    def _write(self, event: dict[str, Any]) -> None:
        if not _is_at(self._file, self.path):  # someone has renamed it, to keep it
            self._file.close()
            self._file = self._open()
        if self._file.seek(0, os.SEEK_END) >= self._most_bytes:
            self._rotate()
        end = self._file.seek(0, os.SEEK_END)
        left = memoryview(json.dumps({"sequence": self._next, **event}).encode() + b"\n")
        try:
            while left:
                left = left[self._file.write(left) :]  # on a disk that is nearly full it writes a part
            os.fsync(self._file.fileno())
        except OSError:
            with contextlib.suppress(OSError):  # then the next one finds a torn line, and removes it
                self._file.truncate(end)
            raise
        self._next += 1

    def _rotate(self) -> None:
        for cursor in self._cursors:
            cursor.leave(self.older)
        self._file.close()
        offsets = [cursor.pause(self.path) for cursor in self._cursors]  # Windows renames no file that is open
        place = self.path
        try:
            self.path.replace(self.older)
            place = self.older
        finally:
            for cursor, offset in zip(self._cursors, offsets, strict=True):
                cursor.resume(place, offset)
            self._file = self._open()


class Cursor:
    """A reader of the events, which remembers on the disk what it has acknowledged.

    Parameters
    ----------
    log : EventLog
    path : Path
        File that holds the number of the last event acknowledged.
    begin : int
        That number where there is no such file.
    """

    def __init__(self, log: EventLog, path: Path, begin: int) -> None:
        self._log, self._path = log, path
        self.dropped = 0
        """Events that were never delivered, because their file was removed before."""
        self._stored = _read_acknowledged(path) if path.exists() else None
        self._acknowledged = begin if self._stored is None else self._stored
        self._file: io.BufferedReader | None = None
        self._record: Record | None = None
        if self._stored is None:
            self._store()

    @property
    def pending(self) -> int:
        """Number of events that are not acknowledged."""
        return self._log._next - 1 - self._acknowledged

    def next(self) -> Record | None:
        """Return the first event that is not acknowledged; None if there is none."""
        with self._log.changed:
            while self._record is None and (line := self._read_line()) is not None:
                record = _parse(line)
                if record is not None and record.sequence > self._acknowledged:
                    self.dropped += record.sequence - self._acknowledged - 1
                    self._record = record
            return self._record

    def acknowledge(self, record: Record) -> None:
        """Note on the disk that an event is delivered.

        Raises
        ------
        SinkError
            If that cannot be written; the event is delivered again after a restart then.
        """
        with self._log.changed:
            self._acknowledged = max(self._acknowledged, record.sequence)
            if self._record is not None and self._record.sequence <= self._acknowledged:
                self._record = None
            self._store()

    def leave(self, file: Path) -> None:
        """Leave a file that is about to be removed."""
        if self._file is not None and _is_at(self._file, file):
            self.close()
            self._record = None

    def pause(self, place: Path) -> int | None:
        """Close a file that is about to be renamed; return the offset in it, or None if another or none is read."""
        if self._file is None or not _is_at(self._file, place):
            return None
        offset = self._file.tell()
        self.close()
        return offset

    def resume(self, place: Path, offset: int | None) -> None:
        """Go on where `pause` was called, in a file that may have another name now."""
        if offset is not None and (file := _open_existing(place)) is not None:
            file.seek(offset)
            self._file = file

    def close(self) -> None:
        """Close what is open."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _store(self) -> None:
        if self._stored != self._acknowledged:
            write_text(self._path, f"{self._acknowledged}\n")
            self._stored = self._acknowledged

    def _read_line(self) -> bytes | None:
        if self._file is None:
            self._file = self._first_file()
        while self._file is not None:
            line = self._file.readline(_MOST_LINE)
            if line.endswith(b"\n") or len(line) == _MOST_LINE:
                return line
            self._file.seek(-len(line), os.SEEK_CUR)
            if line or _is_at(self._file, self._log.path):
                return None  # the end, for now
            self._file.close()
            self._file = _open_existing(self._log.path)
        return None

    def _first_file(self) -> io.BufferedReader | None:
        """Open the older file if it may hold events that are not acknowledged."""
        if _last_sequence(self._log.older) > self._acknowledged:
            return _open_existing(self._log.older)
        return _open_existing(self._log.path)


def _open_existing(path: Path) -> io.BufferedReader | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def _is_at(file: io.FileIO | io.BufferedReader, path: Path) -> bool:
    """Return whether an open file is the one that has this name now."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _parse(line: bytes) -> Record | None:
    try:
        values = json.loads(line)
        return Record(int(values["sequence"]), str(values["id"]), line.rstrip(b"\n"))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        logger.warning("a line of the events is none, and is passed over")
        return None


def _last_records(path: Path) -> list[Record]:
    """Return the last events of a file, as far as a megabyte holds them."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            begin = file.seek(max(0, end - _MOST_LINE))
            lines = file.read(_MOST_LINE).splitlines()
    except FileNotFoundError:
        return []
    whole = lines[1:] if begin else lines
    return [record for line in whole if (record := _parse(line)) is not None]


def _last_sequence(path: Path) -> int:
    """Return the number of the last event of a file; 0 if there is none."""
    return max((record.sequence for record in _last_records(path)), default=0)


def _read_acknowledged(path: Path) -> int:
    try:
        return max(0, int(path.read_text()))
    except ValueError:
        logger.warning("%s is damaged: events that were delivered may be delivered again", path)
        return 0
