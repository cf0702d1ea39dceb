"""What a camera delivers, piece by piece: connections of a stream, a file, or the segments of a folder that grows."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bgsub._files import write_text
from bgsub.errors import BgsubError, SourceError
from bgsub.scanning.inputs import VIDEO_SUFFIXES, natural_key
from bgsub.video.sources import FrameSource, open_source
from bgsub.watching.settings import CameraSettings

__all__ = ["Piece", "Segments", "may_return", "open_pieces"]

logger = logging.getLogger(__name__)

Wait = Callable[[float], bool]
"""Waits for some seconds, and returns whether to end."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
_LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """A source to be read to its end."""

    source: FrameSource
    name: str
    """As it may be shown."""
    path: str | None = None
    """File from which clips can be cut; None for a stream."""


def open_pieces(settings: CameraSettings, state: Path, wait: Wait, report: Callable[[str], None]) -> Iterator[Piece]:
    """Yield what a camera delivers, until it ends, or `wait` returns True.

    A stream that cannot be opened, or was given up by its source, is opened again, with growing pauses.

    Parameters
    ----------
    settings : CameraSettings
    state : Path
        Folder in which it is remembered which segments were read.
    wait : callable
        Waits for some seconds, and returns whether to end.
    report : callable
        Called with the reason whenever a piece cannot be opened.
    """
    if settings.folder:
        yield from Segments(settings, state, wait, report)
        return
    pause_s = FIRST_PAUSE_S
    while True:
        begin_s = time.monotonic()
        try:
            source = _open(settings, settings.source)
        except BgsubError as error:
            if not may_return(settings.source):
                raise
            report(str(error))
        else:
            live = source.info.live
            name = settings.address
            yield Piece(source, name, None if live or "://" in settings.source else settings.source)
            if not live:
                return
            if time.monotonic() - begin_s > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
        if wait(pause_s):
            return
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


class Segments:
    """The files of a folder that a recorder fills, in natural order, each when it is complete.

    A file is complete when there is a later one, or it has not changed for `settle_s`. The last one that was read is
    remembered on the disk, so that another run goes on after it.

    Parameters
    ----------
    settings, state, wait, report
        As for `open_pieces`; without a folder for the state nothing is remembered.
    """

    def __init__(self, settings: CameraSettings, state: Path | None, wait: Wait, report: Callable[[str], None]) -> None:
        self._settings, self._wait, self._report = settings, wait, report
        self._folder = Path(settings.source)
        self._memory = None if state is None else state / f"{settings.name}.segment"
        self._last: str | None = None
        self._seen: dict[str, tuple[int, int, float]] = {}
        """Size, time of change, and since when they are so, of files that may still grow."""

    def __iter__(self) -> Iterator[Piece]:
        last = self._recall()
        while last is None and not self._folder.is_dir():
            self._report(f"there is no folder {self._folder}; it is waited for")
            if self._wait(_LOOK_S):
                return
        if last is None:
            names = self._list()
            last = names[-1] if names and self._settings.existing == "skip" else ""
            self._remember(last)
        while True:
            for name in self._complete(last):
                self._last = name
                yield from self._open(name)
                if self._wait(0):  # it was not read to its end: another run reads it again
                    return
                last = name
                self._remember(last)
            if self._wait(_LOOK_S):
                return

    def newest(self) -> Piece | None:
        """Open the newest file that does not grow any more; those after it follow. None if there is none."""
        names = self._list()
        complete = names if self._is_settled(names) else names[:-1]
        if not complete:
            return None
        self._last = complete[-1]
        return next(self._open(self._last), None)

    @property
    def is_behind(self) -> bool:
        """Whether there are two files or more after the one that was opened last: one may still grow."""
        names = self._list()
        return self._last is not None and sum(natural_key(name) > natural_key(self._last) for name in names) > 1

    def _is_settled(self, names: list[str]) -> bool:
        """Return whether the last file has not changed for a while, by the clock of its file system."""
        if not names:
            return False
        try:
            status = (self._folder / names[-1]).stat()
        except OSError:
            return False
        return status.st_size > 0 and time.time() - status.st_mtime >= self._settings.settle_s

    def _open(self, name: str) -> Iterator[Piece]:
        path = self._folder / name
        try:
            source = _open(self._settings, str(path))
        except BgsubError as error:
            if path.exists():  # else it was removed, as recorders remove what is old
                self._report(str(error))
                logger.warning("%s: %s; it is left out", self._settings.name, error)
            return
        yield Piece(source, name, str(path))

    def _complete(self, last: str) -> list[str]:
        """Return the names of the files after one that do not grow any more."""
        names = [name for name in self._list() if natural_key(name) > natural_key(last)]
        now = time.monotonic()
        done = []
        for position, name in enumerate(names):
            try:
                status = (self._folder / name).stat()
            except OSError:
                continue
            known = self._seen.get(name)
            if known is None or known[:2] != (status.st_size, status.st_mtime_ns):
                known = self._seen[name] = (status.st_size, status.st_mtime_ns, now)
            unchanged_s = now - known[2]
            settled = status.st_size > 0 and unchanged_s >= self._settings.settle_s
            if not settled and (position == len(names) - 1 or unchanged_s < _LOOK_S):
                break
            done.append(name)
        self._seen = {name: self._seen[name] for name in names if name in self._seen}
        return done

    def _list(self) -> list[str]:
        """Return the names of all segments, in folders below, too, in natural order."""
        try:
            if not self._folder.is_dir():
                raise SourceError(f"there is no folder {self._folder}; it is waited for")
            found = []
            for place, folders, files in os.walk(self._folder):
                folders[:] = [name for name in folders if not name.startswith(".")]
                below = Path(place).relative_to(self._folder)
                found += [str(below / name) for name in files if _is_segment(name)]
            return sorted(found, key=natural_key)
        except (OSError, SourceError) as error:
            self._report(str(error))
            return []

    def _recall(self) -> str | None:
        if self._memory is None:
            return self._last
        try:
            return self._memory.read_text(encoding="utf-8", errors="surrogateescape").removesuffix("\n")
        except OSError:
            return None

    def _remember(self, name: str) -> None:
        if self._memory is None:
            return
        try:
            write_text(self._memory, name.encode(errors="replace").decode() + "\n")
        except BgsubError as error:
            self._report(str(error))


def _is_segment(name: str) -> bool:
    return not name.startswith(".") and Path(name).suffix.lower() in VIDEO_SUFFIXES


def _open(settings: CameraSettings, text: str) -> FrameSource:
    return open_source(text, auth=settings.auth, stall_timeout_s=settings.stall_timeout_s)


def may_return(text: str) -> bool:
    """Return whether a source that cannot be opened may be there later: a stream or a camera, but no file."""
    return "://" in text or text.isdigit() or text.startswith("camera:")
