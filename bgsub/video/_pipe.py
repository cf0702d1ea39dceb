"""Pipes and standard input as files that are read once."""

import os
import select
import stat
import sys
from pathlib import Path

from bgsub.errors import SourceError

__all__ = ["STANDARD_INPUT", "Pipe", "find_pipe", "redirected_file"]

STANDARD_INPUT = "standard input"


class Pipe:
    """An open pipe, and the address by which FFmpeg reads it.

    Parameters
    ----------
    path : Path, optional
        A named pipe; standard input without.

    Raises
    ------
    OSError
        If it cannot be opened.
    """

    def __init__(self, path: Path | None) -> None:
        # Python's calls wait for the other end, since FFmpeg's would not notice Ctrl-C before the first data.
        self._descriptor = os.dup(0) if path is None else os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self.address = f"pipe:{self._descriptor}"
        if sys.platform != "win32":
            select.select([self._descriptor], [], [])

    def close(self) -> None:
        """Close this end. Closing twice is allowed."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def redirected_file() -> Path | None:
    """Return a path to the file that standard input is redirected from, which can be seeked; None for a pipe."""
    path = Path("/dev/stdin")
    return path if path.exists() and stat.S_ISREG(os.fstat(0).st_mode) else None


def find_pipe(path: Path | None, name: str) -> bool:
    """Return whether a path is a pipe; refuse an empty file, and a path that is neither file nor pipe.

    Parameters
    ----------
    path : Path, optional
        The path; standard input without, which counts as a pipe.
    name : str
        Of the source, for messages.

    Raises
    ------
    SourceError
        If nothing can be read from it.
    OSError
        If there is no such path.
    """
    if path is None:
        if os.isatty(0):
            raise SourceError(f"{STANDARD_INPUT} is a terminal; pipe a video into bgsub or give a file")
        return True
    status = path.stat()
    if stat.S_ISFIFO(status.st_mode):
        return True
    if not stat.S_ISREG(status.st_mode):
        raise SourceError(f"{name} is neither a file nor a pipe; a camera is camera:0")
    if status.st_size == 0:
        raise SourceError(f"{name} is empty; record or copy it again")
    return False
