"""Statistics of each frame as a table."""

import csv
from os import PathLike
from pathlib import Path
from typing import TextIO

from bgsub._files import check_file, failure
from bgsub._opencv import cv2
from bgsub.errors import SinkError
from bgsub.frames import Result
from bgsub.video.sinks.base import Sink, SinkOption

__all__ = ["StatsCsv"]


class StatsCsv(Sink):
    """One line of statistics per frame; every line is in the file before the next frame.

    The columns are index, number, time_s, foreground (share of the pixels, 0 to 1), blobs (8-connected) and ms (time
    of detection and post-processing).

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
        self._path = Path(path)
        check_file(self._path, self.suffixes, force)
        self._file: TextIO | None = None
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
                self._file = self._path.open("w", encoding="utf-8", newline="")
                csv.writer(self._file).writerow(self.COLUMNS)
            csv.writer(self._file).writerow((*row, f"{result.timings.total_ms:.3f}"))
            self._file.flush()
        except OSError as error:
            self._closed = self._failed = True
            raise failure(self._path, error.strerror) from error

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()
        except OSError as error:
            if not self._failed:  # else it was raised where it happened, and closing only tries again
                raise failure(self._path, error.strerror) from error
