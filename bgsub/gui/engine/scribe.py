"""Write what a person keeps: recordings, pictures, models, figures; what fails is told, never raised."""

from collections.abc import Callable, Mapping
from pathlib import Path

from bgsub.detectors.base import Detector
from bgsub.errors import BgsubError
from bgsub.frames import Frame, Result
from bgsub.gui.engine.history import History
from bgsub.gui.engine.notices import Teller
from bgsub.gui.engine.recorder import Outputs, Recorder
from bgsub.gui.messages import Recording
from bgsub.video.sinks.images import save_image
from bgsub.video.sinks.overlay import Style

__all__ = ["Scribe"]


class Scribe:
    """Writes files, on the worker's thread.

    Parameters
    ----------
    teller : Teller
        Tells what was written, and what could not be.
    """

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._recorder: Recorder | None = None

    @property
    def recorded(self) -> int | None:
        """Frames recorded so far; None while nothing is recorded."""
        return None if self._recorder is None else self._recorder.frames

    def record(self, outputs: Outputs, rate_hz: float, style: Style) -> None:
        """Begin to record; what was recorded before is finished."""
        self.stop()
        if self._attempt(lambda: self._begin(outputs, rate_hz, style)):
            self._teller.tell(Recording(tuple(str(path) for path in outputs.paths)))

    def write(self, result: Result, elapsed_s: float) -> None:
        """Record a result, if anything is recorded; a failure ends the recording."""
        recorder = self._recorder
        if recorder is not None and not self._attempt(lambda: recorder.write(result, elapsed_s)):
            self.stop()

    def stop(self) -> None:
        """Finish the files being recorded."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        if self._attempt(recorder.close):
            names = ", ".join(str(path) for path in recorder.outputs.paths)
            self._teller.inform(f"{recorder.frames} frames are recorded: {names}")
        self._teller.tell(Recording(()))

    def save_images(self, images: Mapping[Path, Frame]) -> None:
        """Write pictures as PNG."""

        def save() -> None:
            for path, image in images.items():
                save_image(path, image)

        if self._attempt(save):
            self._teller.inform(f"Saved: {', '.join(str(path) for path in images)}")

    def save_model(self, detector: Detector, path: Path) -> None:
        """Save a model as it is."""
        if self._attempt(lambda: detector.save(path)):
            self._teller.inform(f"The model is saved as {path}.")

    def export(self, history: History, path: Path) -> None:
        """Write figures as a table."""
        if self._attempt(lambda: history.to_csv(path)):
            self._teller.inform(f"The figures of {len(history.rows())} frames are in {path}.")

    def _begin(self, outputs: Outputs, rate_hz: float, style: Style) -> None:
        self._recorder = Recorder(outputs, rate_hz, style)

    def _attempt(self, action: Callable[[], object]) -> bool:
        try:
            action()
        except (BgsubError, ValueError, OSError) as error:
            self._teller.complain(error)
            return False
        return True
