"""Output files: checked before any work is done, written whole or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from bgsub.errors import BgsubError, SinkError

__all__ = ["check_file", "check_folder", "failure", "open_whole", "write_text", "write_whole"]


def failure(
    path: str | PathLike[str], reason: str | None, error: type[BgsubError] = SinkError, *, what: str = ""
) -> BgsubError:
    """Return the error for an output that the system refused, with its remedy."""
    name = f"the {what} {path}" if what else path
    return error(f"cannot write {name}: {reason or 'the system refuses'}; choose a writable folder with free space")


def check_file(path: Path, suffixes: tuple[str, ...], force: bool) -> None:
    """Refuse a file that could not or should not be written, before any work is done.

    Its suffix must be one of `suffixes`, unless there are none.

    Raises
    ------
    SinkError
        If the suffix is another, the file exists (without `force`), or its folder is missing or read-only.
    """
    if suffixes and path.suffix.lower() not in suffixes:
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
        If the folder is missing or read-only.
    """
    if not folder.is_dir():
        raise SinkError(f"there is no folder {folder}; create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SinkError(f"cannot write to the folder {folder}; check its permissions or choose another")


@contextlib.contextmanager
def open_whole(
    path: str | PathLike[str], error: type[BgsubError] = SinkError, *, what: str = "", sync: bool = True
) -> Iterator[BinaryIO]:
    """Open a file that is, at every moment, either as it was before or complete.

    The data go to a temporary file in the same folder, which replaces `path` when the block ends without an error and
    is removed otherwise. A device or a pipe, such as /dev/stdout, cannot be replaced and is written directly.

    Parameters
    ----------
    path : str or path
        Where to write; an existing file is overwritten, and a link stays a link.
    error : type of BgsubError
        The error to raise where the system refuses.
    what : str
        The kind of file for the message, such as "model".
    sync : bool
        Whether the data are on the disk before the file is replaced, so that even a power failure leaves one of both.
        Costs milliseconds: too much for each of thousands of images.

    Yields
    ------
    binary file
        To write to.

    Raises
    ------
    BgsubError
        Of the kind `error`, if the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_whole(f"{folder}/notes.txt") as file:
    ...         count = file.write(b"all of it")
    ...     Path(f"{folder}/notes.txt").read_bytes()
    b'all of it'
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        target = path.resolve()
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        try:
            with temporary.open("xb") as file:
                yield file
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as refused:
        reason = refused.strerror or str(refused)
        if not path.parent.is_dir():
            reason = f"there is no folder {path.parent}"
        raise failure(path, reason, error, what=what) from refused


def write_whole(
    path: str | PathLike[str],
    data: bytes,
    error: type[BgsubError] = SinkError,
    *,
    what: str = "",
    sync: bool = True,
) -> None:
    """Write a file that is, at every moment, either as it was before or complete.

    Parameters are those of `open_whole`.

    Raises
    ------
    BgsubError
        Of the kind `error`, if the file cannot be written.
    """
    with open_whole(path, error, what=what, sync=sync) as file:
        file.write(data)


def write_text(path: str | PathLike[str], text: str, error: type[BgsubError] = SinkError, *, what: str = "") -> None:
    """Write a text file in UTF-8, whole or not at all; an existing file is overwritten.

    Raises
    ------
    BgsubError
        Of the kind `error`, if the file cannot be written.
    """
    write_whole(path, text.encode(), error, what=what)
