"""Masks as numbered images, and the learned background as one."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from bgsub._files import OutputLock, check_file, check_folder, failure, lock_name, refuse_locked
from bgsub.errors import SinkError
from bgsub.frames import Frame, Result
from bgsub.video._images import write_image
from bgsub.video.sinks.base import RunContext, Sink, SinkOption, model_of

__all__ = ["BackgroundImage", "PngSequence", "save_image"]


class PngSequence(Sink):
    """Masks as numbered images, in the layout of the change-detection benchmark.

    Parameters
    ----------
    folder : str or path
        Folder to write to; created if its parent exists.
    pattern : str
        printf pattern of the names, filled with the number of the frame.
    force : bool
        Overwrite existing images.

    Raises
    ------
    SinkError
        If the folder cannot be written or holds such images already.
    ValueError
        If the pattern has not exactly one number, or does not end in .png.
    """

    any_thread = True
    option = SinkOption("mask", "a folder of masks (bin%06d.png)")

    def __init__(self, folder: str | PathLike[str], pattern: str = "bin%06d.png", *, force: bool = False) -> None:
        self._folder, self._pattern = Path(folder), pattern
        try:
            name = pattern % 1
        except (TypeError, ValueError) as error:
            raise ValueError(f"pattern must hold one number like %06d, got {pattern!r}") from error
        if name == pattern % 2 or not name.endswith(".png") or Path(name).name != name:
            raise ValueError(f"pattern must be a file name with one number that ends in .png, got {pattern!r}")
        self._force = force
        self._lock: OutputLock | None = None
        if self._folder.exists():
            check_folder(self._folder)
            refuse_locked(self._folder / pattern)
            self._refuse_occupied()
        else:
            check_folder(self._folder.parent)

    def _refuse_occupied(self) -> None:
        first, _, last = self._pattern.partition("%")
        ending = last.partition("d")[2]
        occupied = any(file.name.startswith(first) and file.name.endswith(ending) for file in self._folder.iterdir())
        if occupied and not self._force:
            raise SinkError(f"{self._folder} holds such images already; choose another folder or force overwriting")

    @classmethod
    def accepts(cls, path: Path) -> bool:
        """Return whether the path is a folder, or a pattern of names in one."""
        return "%" in path.name or not path.suffix

    @classmethod
    def from_path(cls, path: Path, run: RunContext, **settings: str) -> "PngSequence":
        """Write to the folder, or to its parent where the path ends in a pattern."""
        if "%" in path.name:
            return cls(path.parent, path.name, force=run.force)
        return cls(path, force=run.force)

    def write(self, result: Result) -> None:
        """Write the mask under the number of its frame."""
        if self._lock is None:
            self._begin()
        path = self._folder / (self._pattern % result.packet.number)
        write_image(path, result.mask, sync=False)  # one of thousands

    def _begin(self) -> None:
        """Make the folder; never again, since whoever removes it during the run has removed images, too."""
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise failure(self._folder, error.strerror) from error
        self._lock = lock_name(self._folder / self._pattern, force=self._force)
        self._refuse_occupied()  # another run may have begun and ended since it was checked

    def close(self) -> None:
        """Let other runs write to the folder; every image is complete."""
        if self._lock is not None:
            self._lock.release()


class BackgroundImage(Sink):
    """The background a detector has learned, written when the run ends, even by an error.

    Parameters
    ----------
    path : str or path
        A name ending in .png.
    image : callable
        Returns the (H, W) or (H, W, 3) uint8 or uint16 image, such as a detector's `background_image`.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.
    """

    needs_model = True
    option = SinkOption("background", "Image (.png) of the learned background")
    suffixes = (".png",)

    def __init__(self, path: str | PathLike[str], image: Callable[[], Frame], *, force: bool = False) -> None:
        self._path, self._image, self._force = Path(path), image, force
        check_file(self._path, self.suffixes, force)
        self._lock: OutputLock | None = None

    @classmethod
    def from_path(cls, path: Path, run: RunContext, **settings: str) -> "BackgroundImage":
        """Make the sink for the detector of the run."""
        return cls(path, model_of(run).background_image, force=run.force)

    def write(self, result: Result) -> None:
        """Lock the file, which is written at the end."""
        if self._lock is None:
            self._lock = lock_name(self._path, force=self._force)

    def close(self) -> None:
        """Write the image if any frame was seen."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            write_image(self._path, self._image())
        finally:
            lock.release()


def save_image(path: str | PathLike[str], image: Frame) -> None:
    """Write one image as PNG, whole or not at all; an existing file is overwritten.

    Parameters
    ----------
    path : str or path
        A name ending in .png.
    image : (H, W) or (H, W, 3) array of uint8 or uint16
        Grey or BGR.

    Raises
    ------
    SinkError
        If it cannot be written.
    """
    path = Path(path)
    check_file(path, (".png",), force=True)
    write_image(path, image)
