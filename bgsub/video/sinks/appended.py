"""Text files that grow line by line."""

import contextlib
import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bgsub._files import OutputLock, check_file, failure, lock_file
from bgsub.errors import SinkError

__all__ = ["AppendedFile", "csv_lines"]


class AppendedFile:
    """A file to which whole lines are added; each is on its way to the disk before the next.

    It is created with the first lines. Lines that do not fit on the disk are removed, so that the last one is whole.

    Parameters
    ----------
    path : Path
        Its name.
    suffixes : tuple of str
        Endings that the name may have.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the file exists or cannot be written.
    """

    def __init__(self, path: Path, suffixes: tuple[str, ...], *, force: bool) -> None:
        self.path, self._force = path, force
        check_file(path, suffixes, force, whole=False)
        self._file: io.FileIO | None = None
        self._lock = OutputLock()
        self._closed = self._failed = False

    @property
    def begun(self) -> bool:
        """Whether it was created."""
        return self._file is not None

    def append(self, text: str) -> None:
        """Add lines, all of them or none.

        Raises
        ------
        SinkError
            If the file is closed or cannot be written.
        """
        if self._closed:
            raise SinkError(f"cannot write {self.path}: it is closed")
        try:
            if self._file is None:
                self._lock = lock_file(self.path, force=self._force)
                self._file = io.FileIO(self.path, "w")
            _append(self._file, text.encode())
        except OSError as error:
            self._closed = self._failed = True
            raise failure(self.path, error.strerror) from error

    def close(self) -> None:
        """Close the file. Closing twice is allowed.

        Raises
        ------
        SinkError
            If the system refuses it, or the file was removed or replaced meanwhile.
        """
        self._closed = True
        file, self._file = self._file, None
        try:
            if file is not None:
                file.close()
                if not self._failed:
                    self._lock.refuse_moved()
        except OSError as error:
            if not self._failed:  # else it was raised where it happened, and closing only tries again
                raise failure(self.path, error.strerror) from error
        finally:
            self._lock.release()


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows of a table as text."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _append(file: io.FileIO, data: bytes) -> None:
    left = memoryview(data)
    end = file.tell() if file.seekable() else None
    try:
        while left:
            left = left[file.write(left) :]  # on a disk that is nearly full it writes a part
    except OSError:
        if end is not None:
            with contextlib.suppress(OSError):  # such as of a network that is gone: then the line stays torn
                file.truncate(end)
        raise
