"""Output files: checked before any work is done, written whole or not at all."""

import contextlib
import os
import tempfile
from os import PathLike
from pathlib import Path

from bgsub.errors import SinkError

__all__ = ["check_file", "check_folder", "failure", "write_text", "write_whole"]


def failure(path: Path, reason: str | None) -> SinkError:
    """Return the error for an output that the system refused, with what to do about it."""
    return SinkError(f"cannot write {path}: {reason or 'the system refuses'}; free space or choose another folder")


def check_file(path: Path, suffixes: tuple[str, ...], force: bool) -> None:
    """Refuse a file that could not or should not be written, before any work is done.

    Raises
    ------
    SinkError
        If the suffix is another, the file exists (without `force`), or its folder is missing or read-only.
    """
    if path.suffix.lower() not in suffixes:
        raise SinkError(f"cannot write {path}: the name must end in {' or '.join(suffixes)}")
    if path.is_dir():
        raise SinkError(f"cannot write {path}: it is a folder; give the name of a file in it")
    if path.exists() and not force:
        raise SinkError(f"{path} exists; choose another name or force overwriting")
    if path.exists() and not os.access(path, os.W_OK):
        raise SinkError(f"cannot write {path}: it is read-only; choose another name")
    check_folder(path.parent)


def check_folder(folder: Path) -> None:
    """Refuse a folder that is missing or cannot be written to.

    Raises
    ------
    SinkError
        If it is so.
    """
    if not folder.is_dir():
        raise SinkError(f"there is no folder {folder}; create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SinkError(f"cannot write to the folder {folder}; check its permissions or choose another")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is, at every moment, either as it was before or complete.

    Raises
    ------
    SinkError
        If it cannot be written.
    """
    name = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            name = Path(file.name)
            file.write(data)
        name.chmod(0o666 & ~_umask())  # temporary files are private, outputs are not
        name.replace(path)
    except OSError as error:
        if name is not None:
            with contextlib.suppress(OSError):
                name.unlink()
        raise failure(path, error.strerror) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all; an existing file is overwritten.

    Raises
    ------
    SinkError
        If it cannot be written.
    """
    path = Path(path)
    check_folder(path.parent)
    write_whole(path, text.encode())
