"""State of the viewer without any widget, and the worker behind it; widgets talk to nothing else."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from PyQt6.QtCore import pyqtSignal

from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.errors import BgsubError
from bgsub.frames import VideoInfo
from bgsub.gui.counting import Counting
from bgsub.gui.engine.history import History
from bgsub.gui.engine.opening import Opener, Sampled, open_for_viewer
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.engine.worker import Worker
from bgsub.gui.mailbox import Mailbox
from bgsub.gui.messages import (
    DEFAULT_RATE_HZ,
    Configured,
    Level,
    MomentFound,
    Notice,
    Opened,
    RecordingChanged,
    Sampling,
    Settings,
    View,
)
from bgsub.gui.painted_truth import PaintedTruth, Truth
from bgsub.gui.session_commands import SessionCommands
from bgsub.gui.workspace import Workspace, public_source
from bgsub.roi import Region
from bgsub.video.sources import Position

__all__ = ["Session"]

_UNDO_STEPS = 100


class Session(SessionCommands):
    """Settings, commands and the latest view.

    Parameters
    ----------
    opener : Opener, optional
        Opens sources; `open_source` by default.
    settings : Settings, optional
        Initial settings.
    budget : Budget, optional
        Memory for past frames.
    """

    viewed = pyqtSignal()
    """There is a new `view`."""
    changed = pyqtSignal()
    """The settings changed."""
    configured = pyqtSignal()
    """The settings of the detector changed other than by its form."""
    noticed = pyqtSignal(object)
    """A `Notice` to show."""
    moment = pyqtSignal(float, bool)
    """A moment of a live source was asked for: its time since the first frame, and whether it is shown."""
    opened = pyqtSignal(str, object)
    """A source is open: the name asked for, and its `VideoInfo`."""
    recording = pyqtSignal(bool)
    """Recording began or ended."""
    _ready = pyqtSignal()
    _happened = pyqtSignal(object)

    def __init__(
        self, opener: Opener | None = None, settings: Settings | None = None, budget: Budget | None = None
    ) -> None:
        super().__init__()
        self._settings = settings or Settings()
        self._saved = self._settings.config, self._settings.region
        self._done: deque[Config] = deque(maxlen=_UNDO_STEPS)
        self._undone: deque[Config] = deque(maxlen=_UNDO_STEPS)
        self._view = View(0)
        self._info: VideoInfo | None = None
        self._source = ""
        self._part_wanted: tuple[Position | None, Position | None] = (None, None)
        self._outputs: tuple[str, ...] = ()
        # The worker emits both, so Qt queues them. At most one wake-up is pending, whatever the frame rate.
        self._ready.connect(self._take_view)
        self._happened.connect(self._handle)
        self._mailbox: Mailbox[View] = Mailbox(self._ready.emit)
        self._opener: Opener = opener or open_for_viewer
        self._scale = 1.0
        self._worker = Worker(self._mailbox.put, self._happened.emit, self._opener, self._settings, budget)

    # State

    @property
    def settings(self) -> Settings:
        """Current settings."""
        return self._settings

    @property
    def view(self) -> View:
        """Latest view."""
        return self._view

    @property
    def info(self) -> VideoInfo | None:
        """Description of the source; None before it is open."""
        return self._info

    @property
    def source(self) -> str:
        """Name of the source, as it was given; it may contain a password."""
        return self._source

    @property
    def opener(self) -> Opener:
        """Opens sources, with frames of the size that is processed."""
        return Sampled(self._opener, self._settings.sampling)

    @property
    def scale(self) -> float:
        """Factor by which the frames are smaller than those of the source, in (0, 1]."""
        return self._scale

    @property
    def is_recording(self) -> bool:
        """Whether frames are being recorded."""
        return bool(self._outputs)

    @property
    def unseen(self) -> int:
        """Views that were replaced by newer ones before the window received them."""
        return self._mailbox.overwritten

    @property
    def history(self) -> History:
        """Statistics of the frames so far."""
        return self._worker.engine.history

    def pixel_history(self, row: int, column: int) -> History | None:
        """Return the statistics of a pinned pixel."""
        return self._worker.engine.work.pinned_pixels.histories.get((row, column))

    @property
    def size(self) -> tuple[int, int] | None:
        """(height, width) of the frames; None before the first."""
        result = self._view.result
        if result is not None:
            return result.mask.shape[0], result.mask.shape[1]
        return None if self._info is None else self._info.size

    @property
    def can_freeze(self) -> bool:
        """Whether the detector can stop learning."""
        return detector_class(self._settings.config.detector).can_freeze

    @property
    def is_comparing(self) -> bool:
        """Whether there is a second detector."""
        return self._settings.other is not None

    # Settings

    def change(self, **values: Any) -> None:
        """Change settings; they are used for the frame that is held, or else from the next frame on.

        Parameters
        ----------
        **values
            Fields of `Settings`.
        """
        settings = replace(self._settings, **values)
        if settings == self._settings:
            return
        if settings.config != self._settings.config:
            self._undone.clear()
            self._done.append(self._settings.config)
        self._settings = settings
        self._worker.apply(settings)
        self.changed.emit()

    def configure(self, config: Config, *, saved: bool = True) -> None:
        """Use other settings for the detector, including the learning rate; `saved` if they are those of a file."""
        self.change(config=replace(config, roi=""))
        if saved:
            self._saved = self._settings.config, self._saved[1]
        self.configured.emit()

    def undo_settings(self) -> None:
        """Use the settings of the detector before the last change of them."""
        self._move(self._done, self._undone)

    def redo_settings(self) -> None:
        """Use the settings of the detector that were undone."""
        self._move(self._undone, self._done)

    @property
    def settings_history(self) -> tuple[list[Config], int]:
        """Settings that the detector has had, oldest first, with those that were undone; index of the present ones."""
        return [*self._done, self._settings.config, *reversed(self._undone)], len(self._done)

    def _move(self, source: deque[Config], target: deque[Config]) -> None:
        if not source:
            return
        target.append(self._settings.config)
        self._settings = replace(self._settings, config=source.pop())
        self._worker.apply(self._settings)
        self.changed.emit()
        self.configured.emit()

    def toggle_frozen(self) -> None:
        """Stop or resume learning, if the detector can."""
        if self.can_freeze:
            self.change(frozen=not self._settings.frozen)

    def set_part(self, begin_s: float | None, end_s: float | None) -> None:
        """Play only a part again and again, from and to a time since the first frame; None for the end there."""
        if begin_s is None and end_s is None:
            self.change(part=None)
            return
        begin, end = begin_s or 0.0, math.inf if end_s is None else end_s
        if begin < end:
            self.change(part=(begin, end))
        else:
            self.notify(Level.WARNING, "A part must end after its beginning.")

    def choose_scale(self, scale: float) -> None:
        """Process frames of another size, given as a factor in (0, 1] of that of the source, which is opened again.

        A file is held where it was. Region, lines and zones follow; the models begin again.
        """
        settings, factor = self._settings, scale / self._scale
        if scale == self._scale and settings.sampling.largest_px is None:
            return
        position = None if self._info is None or self._info.live else self._view.position
        self._scale = scale
        self.change(
            sampling=replace(settings.sampling, scale=scale, largest_px=None),
            region=None if settings.region is None else settings.region.scaled(factor),
            counting=settings.counting.scaled(factor),
            pinned_pixels=(),
        )
        if self._source:
            self._post(lambda engine: engine.open(self._source, position))

    def pin(self, row: int, column: int) -> None:
        """Inspect one more pixel."""
        self.change(pinned_pixels=tuple(dict.fromkeys((*self._settings.pinned_pixels, (row, column)))))

    def unpin(self, row: int, column: int) -> None:
        """Stop inspecting a pixel."""
        self.change(pinned_pixels=tuple(pixel for pixel in self._settings.pinned_pixels if pixel != (row, column)))

    def set_region(self, region: Region | None) -> None:
        """Process only a region of the frames; the whole frame if None."""
        self.change(region=region)

    # Commands

    def open(
        self, text: str, part: tuple[Position | None, Position | None] = (None, None), truth: Truth | None = None
    ) -> None:
        """Open a source and play it; ground truth, region and part of another one before it are put away.

        Parameters
        ----------
        text : str
            Name of the source.
        part : (Position, Position)
            First and last frame of the part to play; None for the ends of the source.
        truth : Truth, optional
            Its own ground truth, by which its first frame is scored, too.
        """
        before, self._source, self._info = self._source, text, None
        self._part_wanted = part
        others = {"part": None, "counting": Counting(), "sampling": Sampling()} if before not in ("", text) else {}
        self.change(pinned_pixels=(), **others)
        gone = [name for name in ("truth", "region") if getattr(self._settings, name) is not None]
        if gone and before not in ("", text):
            self.change(truth=None, region=None)
            names = " and ".join({"truth": "ground truth", "region": "region"}[name] for name in gone)
            self.notify(Level.INFO, f"The {names} of the source before {'were' if gone[1:] else 'was'} put away.")
        if truth is not None:
            self.change(truth=truth)
        self._post(lambda engine: engine.open(text))

    @property
    def workspace(self) -> Workspace:
        """What a session file holds of the present state."""
        return Workspace(public_source(self._source), self._view.position, self._settings)

    def restore(self, workspace: Workspace) -> None:
        """Use the settings of a session file, and hold the frame that was shown."""
        self._source, self._info = workspace.source, None
        self.change(**{item.name: getattr(workspace.settings, item.name) for item in fields(Settings)})
        self.mark_saved()
        self.configured.emit()
        if workspace.source:
            self._post(lambda engine: engine.open(workspace.source, workspace.position))
        else:
            self._post(lambda engine: engine.close_source())

    @property
    def has_unsaved_labels(self) -> bool:
        """Whether labels were painted that no folder holds."""
        truth = self._settings.truth
        return isinstance(truth, PaintedTruth) and bool(truth.frames) and not truth.is_saved

    @property
    def has_unsaved_settings(self) -> bool:
        """Whether detector or region were changed since they were saved or loaded."""
        return (self._settings.config, self._settings.region) != self._saved

    @property
    def has_unsaved_tuning(self) -> bool:
        """Whether detector or region were changed, or labels painted, since they were saved or loaded."""
        return self.has_unsaved_labels or self.has_unsaved_settings

    def mark_saved(self) -> None:
        """Note that a file holds the present settings."""
        self._saved = self._settings.config, self._settings.region

    def retry(self) -> None:
        """Open the source that failed again."""
        self._post(lambda engine: engine.retry())

    def close_source(self) -> None:
        """Close the source."""
        self._source, self._info = "", None
        self._post(lambda engine: engine.close_source())

    def notify(self, level: Level, text: str) -> None:
        """Show a notice from the window itself."""
        self.noticed.emit(Notice(level, text))

    def attempt(self, action: Callable[[], object]) -> bool:
        """Call something that may fail, show the error if it does, and return whether it worked."""
        try:
            action()
        except (BgsubError, ValueError, OSError) as error:
            self.notify(Level.ERROR, " ".join(str(error).split()))
            return False
        return True

    def ask_to_close(self) -> None:
        """Let the worker end without waiting for it."""
        self._worker.ask_to_end()

    def close(self) -> None:
        """Finish recordings, close the source and end the worker's thread."""
        self._worker.close()

    def _post(self, command: Callable[[Any], None]) -> None:
        self._worker.post(lambda: command(self._worker.engine))

    def _use_part(self, rate_hz: float) -> None:
        """Go to the part that was asked for when the source was opened."""
        begin_s, end_s = (
            None if at is None else at.time_s if at.number is None else max(0, at.number - 1) / rate_hz
            for at in self._part_wanted
        )
        self._part_wanted = (None, None)
        if begin_s is not None or end_s is not None:
            self.set_part(begin_s, end_s)
        if begin_s:
            self.seek(round(begin_s * rate_hz))

    def _take_view(self) -> None:
        view = self._mailbox.take()
        if view is not None:
            self._view = view
            self.viewed.emit()

    def _handle(self, event: object) -> None:
        if isinstance(event, Notice):
            self.noticed.emit(event)
        elif isinstance(event, Opened):
            if event.text == self._source:
                self._info, self._scale = event.info, event.scale
                self._use_part(event.info.rate_hz or DEFAULT_RATE_HZ)
                self.opened.emit(event.text, event.info)
        elif isinstance(event, MomentFound):
            self.moment.emit(event.elapsed_s, event.is_shown)
        elif isinstance(event, Configured):
            self._settings = replace(self._settings, config=event.config)
            self._saved = event.config, self._saved[1]
            self._worker.apply(self._settings)
            self.changed.emit()
            self.configured.emit()
        elif isinstance(event, RecordingChanged):
            self._outputs = event.paths
            self.recording.emit(bool(event.paths))
