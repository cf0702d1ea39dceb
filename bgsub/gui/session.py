"""What widgets talk to: the state of the viewer without any widget, and the worker behind it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QObject, pyqtSignal

from bgsub.config import Config
from bgsub.errors import BgsubError
from bgsub.frames import Frame, VideoInfo
from bgsub.gui.engine.history import History
from bgsub.gui.engine.mailbox import Mailbox
from bgsub.gui.engine.player import Opener
from bgsub.gui.engine.recorder import Outputs
from bgsub.gui.engine.worker import Worker
from bgsub.gui.messages import Configured, Level, Notice, Opened, Recording, Settings, View
from bgsub.roi import Region
from bgsub.video.sources import FrameSource, open_source

__all__ = ["Session"]

_FOR_EVER = 1_000_000
"""Attempts to find a lost camera again: the person decides when to stop."""


def _open(text: str, /, *, start: float | None) -> FrameSource:
    return open_source(text, start=start, reconnects=_FOR_EVER)


class Session(QObject):
    """Settings, commands and the newest view.

    Parameters
    ----------
    opener : Opener, optional
        Opens sources; `open_source` by default.
    settings : Settings, optional
        To begin with.
    """

    viewed = pyqtSignal()
    """There is a new `view`."""
    changed = pyqtSignal()
    """The settings are others now."""
    configured = pyqtSignal()
    """The settings of a detector changed from elsewhere than its form."""
    noticed = pyqtSignal(object)
    """A `Notice` to show."""
    opened = pyqtSignal(str, object)
    """A source is open: what was asked for, and its `VideoInfo`."""
    recording = pyqtSignal(bool)
    """Recording began or ended."""
    _ready = pyqtSignal()
    _happened = pyqtSignal(object)

    def __init__(self, opener: Opener | None = None, settings: Settings | None = None) -> None:
        super().__init__()
        self._settings = settings or Settings()
        self._view = View(0)
        self._info: VideoInfo | None = None
        self._source = ""
        self._outputs: tuple[str, ...] = ()
        # Both are emitted by the worker, so Qt queues them. At most one wake-up waits, whatever the frame rate.
        self._ready.connect(self._look)
        self._happened.connect(self._hear)
        self._mailbox: Mailbox[View] = Mailbox(self._ready.emit)
        self._worker = Worker(self._mailbox.put, self._happened.emit, opener or _open, self._settings)

    # State

    @property
    def settings(self) -> Settings:
        """What frames are made with."""
        return self._settings

    @property
    def view(self) -> View:
        """The newest view."""
        return self._view

    @property
    def info(self) -> VideoInfo | None:
        """What the source tells of itself; None before it is open."""
        return self._info

    @property
    def source(self) -> str:
        """What was opened, as it was given; it may hold a password."""
        return self._source

    @property
    def is_recording(self) -> bool:
        """Whether frames are being recorded."""
        return bool(self._outputs)

    @property
    def unseen(self) -> int:
        """Views that were replaced by newer ones before the window took them."""
        return self._mailbox.overwritten

    @property
    def history(self) -> History:
        """Figures of the frames so far."""
        return self._worker.engine.history

    def pin_history(self, row: int, column: int) -> History | None:
        """Return the figures of a pinned pixel."""
        return self._worker.engine.pin_histories.get((row, column))

    @property
    def size(self) -> tuple[int, int] | None:
        """(height, width) of the frames; None before the first."""
        result = self._view.result
        if result is not None:
            return result.mask.shape[0], result.mask.shape[1]
        return None if self._info is None else self._info.size

    # Settings

    def change(self, **values: Any) -> None:
        """Change settings; they count from the next frame on.

        Parameters
        ----------
        **values
            Fields of `Settings`.
        """
        settings = replace(self._settings, **values)
        if settings == self._settings:
            return
        self._settings = settings
        self._worker.apply(settings)
        self.changed.emit()

    def configure(self, config: Config) -> None:
        """Take the settings of a file for the detector; region and learning rate with them."""
        self.change(config=replace(config, roi=""))
        self.configured.emit()

    def pin(self, row: int, column: int) -> None:
        """Look into one more pixel."""
        self.change(pins=tuple(dict.fromkeys((*self._settings.pins, (row, column)))))

    def unpin(self, row: int, column: int) -> None:
        """Look no longer into a pixel."""
        self.change(pins=tuple(pin for pin in self._settings.pins if pin != (row, column)))

    def set_region(self, region: Region | None) -> None:
        """Look only at a region of the frames."""
        self.change(region=region)

    # Commands

    def open(self, text: str) -> None:
        """Open a source and play it."""
        self._source, self._info = text, None
        self.change(pins=())
        self._post(lambda engine: engine.open(text))

    def retry(self) -> None:
        """Open the source that failed again."""
        self._post(lambda engine: engine.retry())

    def close_source(self) -> None:
        """Close the source."""
        self._source, self._info = "", None
        self._post(lambda engine: engine.close_source())

    def toggle(self) -> None:
        """Play or pause."""
        if self._view.playing:
            self.pause()
        else:
            self.play()

    def play(self) -> None:
        """Let frames follow each other."""
        self._post(lambda engine: engine.play())

    def pause(self) -> None:
        """Hold the picture."""
        self._post(lambda engine: engine.pause())

    def step(self, frames: int = 1) -> None:
        """Go one frame on (1) or back (-1), and pause."""
        self._post(lambda engine: engine.step(frames))

    def seek(self, place: int) -> None:
        """Go to a 0-based place in a file."""
        self._post(lambda engine: engine.seek(place))

    def reset(self) -> None:
        """Forget what the detectors have learned."""
        self._post(lambda engine: engine.reset())

    def restart_counts(self) -> None:
        """Count right and wrong pixels anew."""
        self._post(lambda engine: engine.restart_counts())

    def load_model(self, path: str | Path) -> None:
        """Go on with a saved model."""
        self._post(lambda engine: engine.load_model(Path(path)))

    def save_model(self, path: str | Path) -> None:
        """Save the model as it is after the present frame."""
        self._post(lambda engine: engine.save_model(Path(path)))

    def record(self, outputs: Outputs) -> None:
        """Begin to record."""
        self._post(lambda engine: engine.record(outputs))

    def stop_recording(self) -> None:
        """Finish the files being recorded."""
        self._post(lambda engine: engine.stop_recording())

    def save_image(self, path: str | Path, image: Frame) -> None:
        """Write one picture as PNG."""
        self._post(lambda engine: engine.save_images({Path(path): image}))

    def save_panes(self, folder: str | Path, name: str) -> None:
        """Write each picture that is shown as PNG, named after its pane."""
        images = {
            Path(folder) / f"{name}-{pane.value.lower().replace(' ', '-')}.png": image
            for pane, image in self._view.images.items()
        }
        if images:
            self._post(lambda engine: engine.save_images(images))

    def export(self, path: str | Path) -> None:
        """Write the figures of the frames so far as a table."""
        self._post(lambda engine: engine.export(Path(path)))

    def notify(self, level: Level, text: str) -> None:
        """Show a notice that comes from the window itself."""
        self.noticed.emit(Notice(level, text))

    def attempt(self, action: Callable[[], object]) -> bool:
        """Do something that the world can refuse, and show why it did; tell whether it went well."""
        try:
            action()
        except (BgsubError, ValueError, OSError) as error:
            self.notify(Level.ERROR, " ".join(str(error).split()))
            return False
        return True

    def close(self) -> None:
        """Finish recordings, close the source and end the worker's thread."""
        self._worker.close()

    def _post(self, command: Callable[[Any], None]) -> None:
        self._worker.post(lambda: command(self._worker.engine))

    def _look(self) -> None:
        view = self._mailbox.take()
        if view is not None:
            self._view = view
            self.viewed.emit()

    def _hear(self, event: object) -> None:
        if isinstance(event, Notice):
            self.noticed.emit(event)
        elif isinstance(event, Opened):
            if event.text == self._source:
                self._info = event.info
                self.opened.emit(event.text, event.info)
        elif isinstance(event, Configured):
            self._settings = replace(self._settings, config=event.config)
            self._worker.apply(self._settings)
            self.changed.emit()
            self.configured.emit()
        elif isinstance(event, Recording):
            self._outputs = event.paths
            self.recording.emit(bool(event.paths))
