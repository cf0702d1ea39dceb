"""The model of a camera on the disk: loaded when the watch starts, saved every few minutes and at the end."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from bgsub._files import write_text
from bgsub.detectors import Detector
from bgsub.errors import BgsubError, ModelFileError
from bgsub.watching.settings import CameraSettings

__all__ = ["ModelKeeper"]

logger = logging.getLogger(__name__)


class ModelKeeper:
    """Loads and saves the model of one camera.

    A copy is made between two frames and written on another thread. A model that was learned with other settings, or
    cannot be read, is not used. That a model cannot be saved disturbs nothing else.

    Parameters
    ----------
    path : Path
        File of the model.
    state : Path
        Folder for a note of the settings with which it was learned.
    settings : CameraSettings
    every_s : float
        Time between two saves.
    """

    def __init__(self, path: Path, state: Path, settings: CameraSettings, every_s: float) -> None:
        self._path, self._note = path, state / f"{settings.name}.model"
        self._settings, self._every_s = settings, every_s
        self._digest = settings.scan.digest()
        self._executor = ThreadPoolExecutor(1, "bgsub-save")
        self._saving: Future[None] | None = None
        self._next_s = time.monotonic() + every_s
        self._loaded = False
        self.saved = 0
        """Times that the model was saved."""
        self.trouble: str | None = None
        """Why it could not be saved last time."""

    def load(self, size: tuple[int, int] | None) -> Detector | None:
        """Return the saved model once, if it fits; None for a new one.

        Parameters
        ----------
        size : (height, width), optional
            Of the frames that the detector will get.
        """
        if self._loaded or not self._path.exists():
            return None
        self._loaded = True
        try:
            known = self._note.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            known = ""
        name = self._settings.name
        if known != self._digest:
            logger.warning("%s: its settings have changed since the model was saved; it learns from scratch", name)
            return None
        try:
            detector = self._settings.scan.config.make_detector(threads=self._settings.threads, model=self._path)
        except ModelFileError as error:
            logger.warning("%s: %s; it learns from scratch", name, error)
            return None
        if size is not None and detector.shape is not None and detector.shape[:2] != size:
            logger.warning("%s: its frames have another size than those of the model; it learns from scratch", name)
            return None
        return detector

    def see(self, detector: Detector) -> None:
        """Start to save the model if its time has come; to be called between two frames."""
        if self._saving is not None and self._saving.done():
            self._finish()
        now = time.monotonic()
        if detector.can_save and now >= self._next_s and self._saving is None:
            self._next_s = now + self._every_s
            copy = detector.snapshot()
            self._saving = self._executor.submit(self._write, copy.save)

    def close(self, detector: Detector | None) -> None:
        """Save the model for the last time."""
        self._executor.shutdown()
        self._finish()
        if detector is not None and detector.can_save and detector.frames_seen:
            self._note_saved(lambda: self._write(detector.save))

    def _write(self, save: Callable[[Path], None]) -> None:
        save(self._path)
        write_text(self._note, self._digest + "\n")

    def _finish(self) -> None:
        saving, self._saving = self._saving, None
        if saving is not None:
            self._note_saved(saving.result)

    def _note_saved(self, save: Callable[[], None]) -> None:
        try:
            save()
        except BgsubError as error:
            self.trouble = str(error)
            logger.error("%s: %s", self._settings.name, error)
        else:
            self.saved += 1
            self.trouble = None
