"""Statistics of each frame as a table."""

import contextlib
import csv
import io
from os import PathLike
from pathlib import Path
from typing import Any

from bgsub._files import OutputLock, check_file, failure, lock_file
from bgsub._opencv import cv2
from bgsub.errors import SinkError
from bgsub.frames import Result
from bgsub.video.sinks.base import Sink, SinkOption

__all__ = ["StatsCsv"]


class StatsCsv(Sink):
    """One line of statistics per frame; every line is in the file before the next frame.

    The columns are index, number, time_s, foreground (share of the pixels, 0 to 1), blobs (8-connected) and ms (time
    of detection and post-processing). A line that does not fit on the disk is removed, so that the last one is whole.

    Parameters
    ----------
    path : str or path
        A name ending in .csv.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.
    """

    option = SinkOption("stats", "CSV with one line per frame")
    suffixes = (".csv",)
    COLUMNS = ("index", "number", "time_s", "foreground", "blobs", "ms")

    def __init__(self, path: str | PathLike[str], *, force: bool = False) -> None:
        self._path, self._force = Path(path), force
        check_file(self._path, self.suffixes, force, whole=False)
        self._file: io.FileIO | None = None
        self._lock = OutputLock()
        self._closed = self._failed = False

    def write(self, result: Result) -> None:
        """Append the line of one frame."""
        if self._closed:
            raise SinkError(f"cannot write {self._path}: it is closed")
        packet, mask = result.packet, result.mask
        blobs = cv2.connectedComponents(mask, connectivity=8)[0] - 1
        share = cv2.countNonZero(mask) / mask.size
        row = (packet.index, packet.number, f"{packet.time_s:.6f}", f"{share:.6f}", blobs)
        try:
            if self._file is None:
                self._lock = lock_file(self._path, force=self._force)
                self._file = io.FileIO(self._path, "w")
                _append(self._file, self.COLUMNS)
            _append(self._file, (*row, f"{result.timings.total_ms:.3f}"))
        except OSError as error:
            self._closed = self._failed = True
            raise failure(self._path, error.strerror) from error

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        file, self._file = self._file, None
        try:
            if file is not None:
                file.close()
        except OSError as error:
            if not self._failed:  # else it was raised where it happened, and closing only tries again
                raise failure(self._path, error.strerror) from error
        finally:
            self._lock.release()


def _append(file: io.FileIO, row: tuple[Any, ...]) -> None:
    """Write one line, whole or not at all."""
    text = io.StringIO(newline="")
    csv.writer(text).writerow(row)
    line = memoryview(text.getvalue().encode())
    end = file.tell() if file.seekable() else None
    try:
        while line:
            line = line[file.write(line) :]  # on a disk that is nearly full it writes a part
    except OSError:
        if end is not None:
            with contextlib.suppress(OSError):  # such as of a network that is gone: then the line stays torn
                file.truncate(end)
        raise
