"""Output files: checked before any work is done, written by one run at a time, and whole or not at all."""

import contextlib
import importlib
import os
import secrets
import time
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from bgsub.errors import BgsubError, SinkError

__all__ = [
    "OutputLock",
    "check_file",
    "check_folder",
    "failure",
    "lock_file",
    "lock_name",
    "open_whole",
    "refuse_existing",
    "refuse_locked",
    "write_text",
    "write_whole",
]

_ATTEMPTS, _PAUSE_S = 5, 0.01
_WINDOWS = os.name == "nt"


def failure(
    path: str | PathLike[str], reason: str | None, error: type[BgsubError] = SinkError, *, what: str = ""
) -> BgsubError:
    """Return the error for an output that the system refused, with its remedy."""
    name = f"the {what} {path}" if what else path
    return error(f"cannot write {name}: {reason or 'the system refuses'}; choose a writable folder with free space")


def check_file(path: Path, suffixes: tuple[str, ...], force: bool, *, whole: bool = True) -> None:
    """Refuse a file that could not or should not be written, before any work is done.

    Its suffix must be one of `suffixes`, unless there are none. A file that is written bit by bit (not `whole`) may be
    a pipe.

    Raises
    ------
    SinkError
        If the suffix is another, the file exists (without `force`), its folder is missing or read-only, or another run
        writes it.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        raise SinkError(f"cannot write {path}: the name must end in {' or '.join(suffixes)}")
    if path.is_dir():
        raise SinkError(f"cannot write {path}: it is a folder; give the name of a file in it")
    refuse_locked(path)
    if not force:
        refuse_existing(path)
    if whole:
        _refuse_special(path, SinkError)
    if path.exists() and not os.access(path, os.W_OK):
        raise SinkError(f"cannot write {path}: it is read-only; choose another name")
    check_folder(path.parent)


def refuse_existing(path: Path) -> None:
    """Raise SinkError if there is such a file."""
    if path.exists():
        raise SinkError(f"{path} exists; choose another name or force overwriting")


def _refuse_special(path: Path, error: type[BgsubError], *, what: str = "") -> None:
    """Raise an error for a pipe, a socket or a device: it cannot be replaced by a complete file."""
    if path.exists() and not path.is_file() and not path.is_dir():
        name = f"the {what} {path}" if what else path
        raise error(f"cannot write {name}: it is a pipe, a socket or a device; give the name of a file")


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

    The data go to a file without a name, or with a temporary one where the system knows no other, in the same folder.
    It replaces `path` when the block ends without an error and is removed otherwise.

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
        Of the kind `error`, if the file cannot be written, or is a pipe, a socket or a device.

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
    _refuse_special(path, error, what=what)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        try:
            nameless = _open_nameless(target.parent)
            with nameless or temporary.open("xb") as file:
                yield file
                file.flush()
                if sync:
                    os.fsync(file.fileno())
                if nameless is not None and not _give_name(nameless, target):
                    _give_name(nameless, temporary)
            if temporary.exists():
                temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as refused:
        raise failure(path, _reason(path, refused), error, what=what) from refused


def _reason(path: Path, refused: OSError) -> str:
    """Return why the system refuses to write a file; that a folder is missing, it does not say."""
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    return refused.strerror or str(refused)


def _open_nameless(folder: Path) -> BinaryIO | None:
    """Open a file that vanishes with the process unless it is given a name; None where the system has none."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):  # noqa: PTH112 - no path of ours
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666), "wb")
    except OSError:  # the file system has no such files, or the folder is missing, which opening a named one reports
        return None


def _give_name(file: BinaryIO, path: Path) -> bool:
    """Give a nameless file a name; return whether it was free."""
    try:
        # With a folder to begin at, which an absolute path does not use, the link in /proc is followed.
        os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=file.fileno())
    except FileExistsError:
        return False
    return True


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


class OutputLock:
    """Keeps other runs from writing an output; made by `lock_file` and `lock_name`.

    It is a lock of the system (flock, or that of Windows), which ends with the process, however that ends. Where the
    file system has none, nothing is locked.

    Parameters
    ----------
    descriptor : int, optional
        Open file that holds the lock.
    path : Path, optional
        Its name.
    temporary : bool
        Whether to remove it with the lock.
    """

    def __init__(self, descriptor: int | None = None, path: Path | None = None, *, temporary: bool = False) -> None:
        self._descriptor, self._path, self._temporary = descriptor, path, temporary

    def refuse_moved(self) -> None:
        """Raise SinkError if the locked file has lost its name: what was written is lost, or elsewhere."""
        if self._descriptor is not None and self._path is not None and not _is_at(self._descriptor, self._path):
            raise SinkError(
                f"{self._path} was removed or replaced while it was written; run again, and keep other programs from it"
            )

    def release(self) -> None:
        """Let others write. Releasing twice is allowed."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        if _WINDOWS:  # where open files cannot be removed
            os.close(descriptor)
        if self._temporary and self._path is not None:
            with contextlib.suppress(OSError):  # its folder is gone, or not writable any more
                self._path.unlink()
        if not _WINDOWS:
            os.close(descriptor)


def lock_file(path: Path, *, force: bool) -> OutputLock:
    """Lock a file that is about to be written bit by bit, and create it if it is missing.

    Raises
    ------
    SinkError
        If another run writes it, it exists (without `force`), or it cannot be created.
    """
    if path.exists() and not path.is_file():
        return OutputLock()
    if _WINDOWS:  # where a lock keeps everybody from reading and writing the file, the library that encodes included
        return lock_name(path, force=force)
    target = Path(os.path.realpath(path))
    try:
        return OutputLock(_open_locked(target, 0 if force else os.O_EXCL), target)
    except FileExistsError:
        refuse_locked(path)
        refuse_existing(path)
        raise failure(path, "it was created and removed meanwhile") from None
    except BlockingIOError:
        raise _locked(path) from None
    except OSError as error:
        raise failure(path, _reason(path, error)) from error


def lock_name(path: Path, *, force: bool) -> OutputLock:
    """Lock an output that is replaced as a whole, or a pattern of names, by the hidden file `.NAME.lock` beside it.

    A killed process leaves that file behind. It locks nothing then, and the next run on this output removes it.

    Raises
    ------
    SinkError
        If another run writes the output, it exists (without `force`), or the lock file cannot be written.
    """
    beside = _lock_beside(path)
    try:
        lock = OutputLock(_open_locked(beside), beside, temporary=True)
    except BlockingIOError:
        raise _locked(path) from None
    except OSError as error:
        raise failure(path, _reason(path, error)) from error
    if path.exists() and not force:  # written since it was checked
        lock.release()
        refuse_existing(path)
    return lock


def refuse_locked(path: Path) -> None:
    """Raise SinkError if another run writes this output."""
    for file in (path, _lock_beside(path)):
        if not file.is_file() or (_WINDOWS and file == path):
            continue
        try:
            descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:  # it was just removed, or may not be read; writing to it decides
            continue
        try:
            if not _try_lock(descriptor, shared=True):
                raise _locked(path)
        finally:
            os.close(descriptor)


def _lock_beside(path: Path) -> Path:
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.lock")


def _locked(path: Path) -> SinkError:
    return SinkError(f"cannot write {path}: another run is writing it; wait for its end or choose another name")


def _open_locked(path: Path, flags: int = 0) -> int:
    """Open a file for writing, and lock it; BlockingIOError if another has."""
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | flags, 0o666)
        try:
            if not _try_lock(descriptor):
                raise BlockingIOError(f"{path} is locked")
            if _WINDOWS or _is_at(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the one who had locked it has removed it meanwhile


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is the one that has this name now."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file, and return whether no other has locked it."""
    for _ in range(_ATTEMPTS):
        try:
            _lock_now(descriptor, shared=shared)
        except (BlockingIOError, PermissionError):  # the second on Windows
            time.sleep(_PAUSE_S)  # it may be another process that only asks whether the file is locked
        except OSError:  # the file system has no locks
            return True
        else:
            return True
    return False


def _lock_now(descriptor: int, *, shared: bool) -> None:
    if _WINDOWS:
        msvcrt: Any = importlib.import_module("msvcrt")
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # its first byte, whether there is one or not
    else:
        import fcntl

        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
