"""Write recordings, images, models and statistics; failures become notices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bgsub.detectors.base import Detector
from bgsub.errors import BgsubError
from bgsub.frames import Frame, Result
from bgsub.gui.engine.history import History
from bgsub.gui.engine.notices import Notices
from bgsub.gui.messages import RecordingChanged
from bgsub.video.sinks import RunContext, Sink, recordable_sinks
from bgsub.video.sinks.images import save_image
from bgsub.video.sinks.overlay import Style

__all__ = ["Outputs", "Recorder", "Recording"]


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to record, by the names of sinks that can record: see `recordable_sinks`."""

    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are wanted."""
        return tuple(self.files.values())


class Recording:
    """Files being written, as videos whose time never jumps.

    Parameters
    ----------
    outputs : Outputs
        The files; existing ones are overwritten, since the user has been asked.
    rate_hz : float
        Nominal frame rate.
    style : {"contour", "tint"}
        Overlay style.

    Raises
    ------
    SinkError
        If one of them cannot be written.
    ValueError
        If nothing is to be recorded.
    """

    def __init__(self, outputs: Outputs, rate_hz: float, style: Style = "contour") -> None:
        if not outputs.paths:
            raise ValueError("outputs must name at least one file, got none")
        self.outputs = outputs
        self._sinks: list[Sink] = []
        self._frames = 0
        self._begin_s = 0.0
        try:
            for name, path in outputs.files.items():
                self._sinks.append(_make_sink(name, path, RunContext(rate_hz, force=True), style))
        except BaseException:
            self.close()
            raise

    @property
    def frames(self) -> int:
        """Frames written."""
        return self._frames

    def write(self, result: Result, elapsed_s: float) -> None:
        """Append one result at a time that begins at 0 and continues over jumps and loops.

        Raises
        ------
        SinkError
            If one of the files cannot be written.
        """
        if not self._frames:
            self._begin_s = elapsed_s
        packet = result.packet
        continued = replace(result, packet=replace(packet, time_s=elapsed_s - self._begin_s))
        for sink in self._sinks:
            sink.write(continued if sink.continuous else result)
        self._frames += 1

    def close(self) -> None:
        """Finish every file, even if one of them fails.

        Raises
        ------
        SinkError
            The first failure.
        """
        sinks, self._sinks = self._sinks, []
        failure: Exception | None = None
        for sink in sinks:
            try:
                sink.close()
            except Exception as error:  # noqa: BLE001 - the others must be closed first
                failure = failure or error
        if failure is not None:
            raise failure


def _make_sink(name: str, path: Path, run: RunContext, style: Style) -> Sink:
    kind = recordable_sinks()[name]
    settings = () if kind.option is None else kind.option.settings
    return kind.from_path(path, run, **{item.name: style for item in settings if item.name == "style"})


class Recorder:
    """Writes the files the user asks for, on the worker's thread.

    Parameters
    ----------
    notices : Notices
        Reports every file written, and every failure.
    """

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._recording: Recording | None = None

    @property
    def recorded(self) -> int | None:
        """Frames recorded so far; None while nothing is recorded."""
        return None if self._recording is None else self._recording.frames

    def start(self, outputs: Outputs, rate_hz: float, style: Style) -> None:
        """Begin a recording; one that is under way is finished first."""
        self.stop()

        def begin() -> None:
            self._recording = Recording(outputs, rate_hz, style)

        if self._attempt(begin):
            self._notices.send(RecordingChanged(tuple(str(path) for path in outputs.paths)))

    def write(self, result: Result, elapsed_s: float) -> None:
        """Record a result while a recording is under way; a failure ends the recording."""
        recording = self._recording
        if recording is not None and not self._attempt(lambda: recording.write(result, elapsed_s)):
            self.stop()

    def stop(self) -> None:
        """Finish the files being recorded."""
        recording, self._recording = self._recording, None
        if recording is None:
            return
        if self._attempt(recording.close):
            names = ", ".join(str(path) for path in recording.outputs.paths)
            self._notices.info(f"Recorded {recording.frames} frames: {names}")
        self._notices.send(RecordingChanged(()))

    def save_images(self, images: Mapping[Path, Frame]) -> None:
        """Write images as PNG."""

        def save() -> None:
            for path, image in images.items():
                save_image(path, image)

        if self._attempt(save):
            self._notices.info(f"Saved: {', '.join(str(path) for path in images)}")

    def save_model(self, detector: Detector, path: Path) -> None:
        """Save a model in its current state."""
        if self._attempt(lambda: detector.save(path)):
            self._notices.info(f"The model was saved as {path}.")

    def export(self, history: History, path: Path) -> None:
        """Write statistics as a table."""
        if self._attempt(lambda: history.to_csv(path)):
            self._notices.info(f"The statistics of {len(history.rows())} frames were saved as {path}.")

    def _attempt(self, action: Callable[[], object]) -> bool:
        try:
            action()
        except (BgsubError, ValueError, OSError) as error:
            self._notices.error(error)
            return False
        return True
