"""The learned model as a file."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from os import PathLike
from pathlib import Path

from bgsub._files import OutputLock, check_file, lock_name
from bgsub.errors import UnsupportedError
from bgsub.frames import Result
from bgsub.video.sinks.base import ModelCopy, RunContext, Sink, SinkOption, model_of

__all__ = ["SavedModel"]


class SavedModel(Sink):
    """The model a detector has learned, saved when the run ends, even by an error, and at intervals before.

    At an interval the model is copied between two frames, and a thread writes the copy while the run goes on. Each save
    replaces the one before as a whole: whatever happens, the file holds a complete model.

    Parameters
    ----------
    path : str or path
        A name ending in .npz.
    save : callable
        Writes the model to a path, such as a detector's `save`.
    snapshot : callable, optional
        Returns a copy of the model with a method `save`, such as a detector's `snapshot`.
    interval_s : float
        Seconds between two saves while the run goes on; 0, or no `snapshot`, for only at the end.
    force : bool
        Overwrite an existing file.

    Raises
    ------
    SinkError
        If the output exists or cannot be written.
    ValueError
        If the interval is negative.
    """

    needs_model = True
    option = SinkOption("save-model", "Save the model at the end, and every --save-every minutes (.npz)")
    suffixes = (".npz",)

    def __init__(
        self,
        path: str | PathLike[str],
        save: Callable[[Path], None],
        *,
        snapshot: Callable[[], ModelCopy] | None = None,
        interval_s: float = 0.0,
        force: bool = False,
    ) -> None:
        if not interval_s >= 0:
            raise ValueError(f"interval_s must be at least 0, got {interval_s}")
        self._path, self._save, self._snapshot, self._force = Path(path), save, snapshot, force
        self._interval_s = interval_s
        check_file(self._path, self.suffixes, force)
        self._lock: OutputLock | None = None
        self._next_s = 0.0
        self._executor = ThreadPoolExecutor(1, "bgsub-save")
        self._saving: Future[None] | None = None

    @classmethod
    def from_path(cls, path: Path, run: RunContext, **settings: str) -> "SavedModel":
        """Make the sink for the detector of the run."""
        model = model_of(run)
        if not model.can_save:
            raise UnsupportedError(f"{model.name} cannot be saved; leave out --save-model or use another detector")
        return cls(path, model.save, snapshot=model.snapshot, interval_s=run.save_interval_s, force=run.force)

    def write(self, result: Result) -> None:
        """Start to save the model if its time has come."""
        now = time.monotonic()
        if self._lock is None:
            self._lock = lock_name(self._path, force=self._force)
            self._next_s = now + self._interval_s
        if self._saving is not None and self._saving.done():
            saving, self._saving = self._saving, None
            saving.result()
        if self._snapshot is not None and self._interval_s and self._saving is None and now >= self._next_s:
            self._saving = self._executor.submit(self._snapshot().save, self._path)
            self._next_s = now + self._interval_s

    def close(self) -> None:
        """Save the model if any frame was seen."""
        self._executor.shutdown()  # a save that is under way must not replace the last one
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            self._save(self._path)
        finally:
            lock.release()
