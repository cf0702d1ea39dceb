"""Statistics of past frames, in ring buffers of constant size that one thread writes and another reads."""

import csv
import io
import threading
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bgsub._files import write_text

__all__ = ["FRAME_COLUMNS", "PIXEL_COLUMNS", "History"]

FRAME_COLUMNS = (
    *("elapsed_s", "number", "time_s", "foreground", "ms", "ms_b", "f_measure", "f_measure_b"),
    *("f_frame", "wrong", "f_frame_b", "wrong_b", "foreground_b"),
)
"""Per frame: seconds since the source was opened, frame number and time, foreground share, and of both detectors the
milliseconds, the F-measure so far, that of the frame, and its share of wrong pixels; last the foreground share of B.
The names identify the columns and head the exported table."""

PIXEL_COLUMNS = ("elapsed_s", "value", "threshold", "width", "foreground")
"""Per frame, at a pinned pixel."""


class History:
    """The last rows of a table of numbers.

    Parameters
    ----------
    columns : tuple of str
        Names.
    capacity : int
        Rows to keep.

    Examples
    --------
    >>> history = History(("a", "b"), 2)
    >>> for a in (1, 2, 3):
    ...     history.append(a, 10 * a)
    >>> history.rows()
    array([[ 2., 20.],
           [ 3., 30.]])
    """

    def __init__(self, columns: tuple[str, ...], capacity: int) -> None:
        self.columns = columns
        self._rows = np.full((capacity, len(columns)), np.nan)
        self._written = 0
        self._first = 0  # of the rows not overwritten
        self._mark = 0
        self._lock = threading.Lock()

    @property
    def written(self) -> int:
        """Rows ever appended, by which a reader recognises new ones."""
        return self._written

    def append(self, *values: float) -> None:
        """Append a row; when the table is full it replaces the oldest."""
        with self._lock:
            self._rows[self._written % len(self._rows)] = values
            self._written += 1
            self._first = max(self._first, self._written - len(self._rows))

    def drop_after(self, value: float) -> None:
        """Forget the newest rows, those whose first column is larger than this."""
        with self._lock:
            while self._written > self._first and self._rows[(self._written - 1) % len(self._rows), 0] > value:
                self._written -= 1
            self._mark = min(self._mark, self._written)

    def clear(self) -> None:
        """Forget all rows."""
        with self._lock:
            self._written = self._first = self._mark = 0

    def mark(self) -> None:
        """Begin what `rows_since_mark` returns with the next row."""
        with self._lock:
            self._mark = self._written

    def rows(self, last: int | None = None) -> NDArray[np.float64]:
        """Return a copy of the last rows, (n, columns), oldest first; all by default."""
        with self._lock:
            return self._last(self._written if last is None else last)

    def rows_since_mark(self) -> NDArray[np.float64]:
        """Return a copy of the rows that were appended after the mark, (n, columns), oldest first."""
        with self._lock:
            return self._last(self._written - self._mark)

    def _last(self, rows: int) -> NDArray[np.float64]:
        count = min(self._written - self._first, rows)
        return self._rows[np.arange(self._written - count, self._written) % len(self._rows)]

    def to_csv(self, path: str | Path) -> int:
        """Write all rows to a file and return their number; unknown numbers are left empty.

        Raises
        ------
        SinkError
            If the file cannot be written.
        """
        rows = self.rows()
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(self.columns)
        writer.writerows(["" if np.isnan(value) else f"{value:.6g}" for value in row] for row in rows)
        write_text(path, text.getvalue())
        return len(rows)
