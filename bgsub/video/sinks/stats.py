"""Statistics of each frame as a table."""

from os import PathLike
from pathlib import Path

from bgsub._opencv import cv2
from bgsub.frames import Result
from bgsub.video.sinks.appended import AppendedFile, csv_lines
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
        self._file = AppendedFile(Path(path), self.suffixes, force=force)

    def write(self, result: Result) -> None:
        """Append the line of one frame."""
        packet, mask = result.packet, result.mask
        blobs = cv2.connectedComponents(mask, connectivity=8)[0] - 1
        share = cv2.countNonZero(mask) / mask.size
        if not self._file.begun:
            self._file.append(csv_lines([self.COLUMNS]))
        row = (packet.index, packet.number, f"{packet.time_s:.6f}", f"{share:.6f}", blobs)
        self._file.append(csv_lines([(*row, f"{result.timings.total_ms:.3f}")]))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
