"""The engine: everything the worker does, one frame at a time, and the commands between two frames."""

import logging
import math
from collections.abc import Callable, Mapping
from pathlib import Path

from bgsub.errors import BgsubError
from bgsub.frames import Frame, Result
from bgsub.gui.engine.detector_run import DetectorRuns, foreground_share
from bgsub.gui.engine.history import FRAME_COLUMNS, History
from bgsub.gui.engine.notices import Notices, describe
from bgsub.gui.engine.opening import Opener
from bgsub.gui.engine.pinned_pixels import PinnedPixels
from bgsub.gui.engine.player import Arrival, PlayedFrame, Player
from bgsub.gui.engine.publisher import Progress, ViewPublisher
from bgsub.gui.engine.recorder import Outputs, Recorder
from bgsub.gui.messages import DEFAULT_RATE_HZ, Configured, Event, Level, Notice, Opened, Settings, View

__all__ = ["Engine"]

logger = logging.getLogger(__name__)

_HISTORY_FRAMES = 90_000  # an hour at 25 frames per second


class Engine:
    """Everything that runs on the worker's thread; each method is called there.

    Parameters
    ----------
    put : callable
        Receives each new `View`.
    send : callable
        Receives each `Event`.
    wake : callable
        Called on any thread when `advance` should be called again.
    opener : Opener
        Opens sources.
    settings : Settings
        Initial settings.
    """

    def __init__(
        self,
        put: Callable[[View], None],
        send: Callable[[Event], None],
        wake: Callable[[], None],
        opener: Opener,
        settings: Settings,
    ) -> None:
        self._settings = settings
        self._notices = Notices(send)
        self._publisher = ViewPublisher(put)
        self._player = Player(opener, wake)
        self._player_state: tuple[object, ...] = ()
        self.runs = DetectorRuns(settings, self._notices)
        """The detectors at work."""
        self.recorder = Recorder(self._notices)
        """Writes files."""
        self.progress = Progress()
        """Latest frame of the present source."""
        self.history = History(FRAME_COLUMNS, _HISTORY_FRAMES)
        """Statistics of the frames so far."""
        self._pinned_pixels = PinnedPixels()
        self._pinned_pixels.pin(settings.pinned_pixels, self.runs.main, None)

    @property
    def pixel_histories(self) -> dict[tuple[int, int], History]:
        """Statistics of the pinned pixels, by row and column."""
        return self._pinned_pixels.histories

    @property
    def is_opening(self) -> bool:
        """Whether a source is being opened or sought."""
        return self._player.opening

    # Commands

    def apply(self, settings: Settings) -> None:
        """Use other settings from the next frame on."""
        before, self._settings = self._settings, settings
        self._publisher.mark_changed()
        self.runs.configure(settings, self._player.rate_hz)
        if before.truth is not settings.truth:
            self.restart_counts()
        if before.pinned_pixels != settings.pinned_pixels:
            results = self.progress.results
            self._pinned_pixels.pin(settings.pinned_pixels, self.runs.main, results[0] if results else None)

    def open(self, text: str) -> None:
        """Open a source and play it."""
        self.stop_recording()
        self._forget_frames()
        self._player.open(text)

    def retry(self) -> None:
        """Open the source that failed again, and keep the model."""
        if self._player.text and not self._player.opening:
            self._player.open(self._player.text)
            self._publisher.mark_changed()

    def close_source(self) -> None:
        """Close the source and show nothing."""
        self.stop_recording()
        self._player.close_source()
        self._forget_frames()

    def play(self) -> None:
        """Let frames follow each other."""
        self._player.play()
        self._publisher.mark_changed()

    def pause(self) -> None:
        """Hold the image."""
        self._player.pause()
        self._publisher.mark_changed()

    def step(self, frames: int) -> None:
        """Go one frame forward (1) or back (-1), and pause."""
        self._player.pause()
        if frames > 0:
            self._player.step()
        else:
            self._player.seek(self._player.target + frames)
        self._publisher.mark_changed()

    def seek(self, index: int) -> None:
        """Go to a 0-based frame index in a file."""
        self._player.seek(index)
        self._publisher.mark_changed()

    def reset(self) -> None:
        """Forget the models."""
        self.runs.reset()
        self._publisher.mark_changed()

    def restart_counts(self) -> None:
        """Count right and wrong pixels from zero."""
        self.runs.restart_counts()
        self._publisher.mark_changed()

    def load_model(self, path: Path) -> None:
        """Continue with a saved model."""
        results = self.progress.results
        try:
            config = self.runs.main.load(path, results[0].packet.frame if results else None)
        except (BgsubError, ValueError) as error:
            self._notices.error(error)
            return
        self._notices.send(Configured(config))
        self._notices.info(f"The model {path.name} was loaded; it continues from where it was saved.")

    def save_model(self, path: Path) -> None:
        """Save the model in its current state."""
        self.recorder.save_model(self.runs.main.detector, path)

    def save_images(self, images: Mapping[Path, Frame]) -> None:
        """Write images as PNG."""
        self.recorder.save_images(images)

    def export(self, path: Path) -> None:
        """Write the statistics of the frames so far as a table."""
        self.recorder.export(self.history, path)

    def record(self, outputs: Outputs) -> None:
        """Begin to record."""
        self.recorder.start(outputs, self._player.rate_hz or DEFAULT_RATE_HZ, self._settings.overlay_style)
        self._publisher.mark_changed()

    def stop_recording(self) -> None:
        """Finish the files being recorded."""
        self.recorder.stop()
        self._publisher.mark_changed()

    def close(self) -> None:
        """Finish recordings and close the source."""
        self.stop_recording()
        self._player.close_source()

    # One turn

    def advance(self) -> float:
        """Process at most one frame; return for how many seconds there is nothing to do."""
        try:
            polled = self._player.poll(self._settings.speed, self._settings.loop)
        except Exception as error:  # noqa: BLE001 - whatever a source raises, the window stays open
            self._lose_source(error)
            return 0.0
        self._follow_player()
        if isinstance(polled, PlayedFrame):
            if not self.progress.results:
                self._publish(idle=True)  # the first frame may compile for seconds: show that before
            self._process(polled)
            self._publish(idle=False)
            return 0.0
        self._publish(idle=polled > 0 or self._player.trouble is not None)
        return polled

    def _follow_player(self) -> None:
        """Notice a change of the player's state, and a source that was opened."""
        player = self._player
        state = player.playing, player.opening, player.trouble
        if state != self._player_state:
            self._player_state = state
            self._publisher.mark_changed()
        info, player.just_opened = player.just_opened, None
        if info is None:
            return
        if not self.progress.results:  # else the same source was opened again
            self.runs.restart(info.rate_hz)
        self._publisher.mark_changed()
        self._notices.send(Opened(player.text, info))

    def _process(self, played: PlayedFrame) -> None:
        frame, settings = played.packet.frame, self._settings
        if played.arrival is Arrival.SOUGHT and not settings.keep_model:
            self.reset()
        self.runs.prepare(frame, settings.region)
        inspections = self._pinned_pixels.inspect(self.runs.main, frame)
        try:
            results = self.runs.step(played.packet, settings)
        except Exception as error:  # noqa: BLE001 - a detector may raise anything; the window stays open
            self._lose_detector(error)
            return
        self.progress.add(played, results, self._player.rate_hz)
        self.progress.labels = self.runs.count(results, settings.truth)
        self._pinned_pixels.record(inspections, results[0], self.progress.elapsed_s)
        self._record_statistics(results)
        self.recorder.write(results[0], self.progress.elapsed_s)
        self._publisher.mark_changed()

    def _record_statistics(self, results: list[Result]) -> None:
        packet, main, second = results[0].packet, self.runs.main, self.runs.second
        scored = self._settings.truth is not None
        self.history.append(
            self.progress.elapsed_s,
            packet.number,
            packet.time_s,
            foreground_share(results[0].mask),
            results[0].timings.total_ms,
            results[1].timings.total_ms if second else math.nan,
            main.counts.f_measure if scored else math.nan,
            second.counts.f_measure if second and scored else math.nan,
        )

    def _publish(self, *, idle: bool) -> None:
        self._publisher.publish(
            self._settings,
            self.progress,
            self.runs,
            self._pinned_pixels.views,
            self._player,
            self.recorder.recorded,
            idle=idle,
        )

    def _forget_frames(self) -> None:
        self.progress = Progress()
        self._publisher.clear()
        self.history.clear()
        self._pinned_pixels.clear()

    # Failures

    def _lose_source(self, error: Exception) -> None:
        self._player.close_broken()
        self.stop_recording()
        self._publisher.mark_changed()
        self._notices.error(error, can_retry=True)

    def _lose_detector(self, error: Exception) -> None:
        self._player.pause()
        self.stop_recording()
        self._publisher.mark_changed()
        logger.debug("the detector failed", exc_info=error)
        self._notices.send(
            Notice(Level.ERROR, f"The detector failed ({describe(error)}); reset it, change it or choose another.")
        )

    def report(self, error: Exception) -> None:
        """Report an unexpected error, and hold the image."""
        logger.error("unexpected error in the viewer", exc_info=error)
        self.pause()
        self._notices.error(error)
