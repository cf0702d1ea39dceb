"""The learned model as a file."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from bgsub._files import check_file
from bgsub.errors import UnsupportedError
from bgsub.frames import Result
from bgsub.video.sinks.base import RunContext, Sink, SinkOption, model_of

__all__ = ["SavedModel"]


class SavedModel(Sink):
    """The model a detector has learned, saved when the run ends, even by an error.

    Parameters
    ----------
    path : str or path
        A name ending in .npz.
    save : callable
        Writes the model to a path, such as a detector's `save`.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.
    """

    needs_model = True
    option = SinkOption("save-model", "Save the model at the end (.npz)")
    suffixes = (".npz",)

    def __init__(self, path: str | PathLike[str], save: Callable[[Path], None], *, force: bool = False) -> None:
        self._path, self._save = Path(path), save
        check_file(self._path, self.suffixes, force)
        self._due = False

    @classmethod
    def from_path(cls, path: Path, run: RunContext, **settings: str) -> "SavedModel":
        """Make the sink for the detector of the run."""
        model = model_of(run)
        if not model.can_save:
            raise UnsupportedError(f"{model.name} cannot be saved; leave out --save-model or use another detector")
        return cls(path, model.save, force=run.force)

    def write(self, result: Result) -> None:
        """Record that there is something to save at the end."""
        self._due = True

    def close(self) -> None:
        """Save the model if any frame was seen."""
        if self._due:
            self._due = False
            self._save(self._path)
