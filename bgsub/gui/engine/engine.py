"""The engine: everything the worker does, one frame at a time, and the commands between two frames."""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bgsub.gui.engine.history import History
from bgsub.gui.engine.notices import Notices
from bgsub.gui.engine.opening import Opener, Sampled
from bgsub.gui.engine.player import Arrival, PlayedFrame, Player
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.engine.processing.changes import changes_masks, wants_more
from bgsub.gui.engine.processing.detector_runs import DetectorRuns
from bgsub.gui.engine.processing.first_pass import FirstPass
from bgsub.gui.engine.processing.frame_processor import FrameProcessor
from bgsub.gui.engine.processing.recent_frames import SAME_S, covers
from bgsub.gui.engine.publisher import Progress, ViewPublisher
from bgsub.gui.engine.recorder import Outputs, Recorder
from bgsub.gui.messages import DEFAULT_RATE_HZ, Configured, Event, MomentFound, Opened, Settings, View

__all__ = ["Engine"]

logger = logging.getLogger(__name__)

_LEARNING_FRAMES = 100
"""Frames from which a new model learns before it judges a frame that is held."""


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
    budget : Budget, optional
        Memory for past frames.
    """

    def __init__(
        self,
        put: Callable[[View], None],
        send: Callable[[Event], None],
        wake: Callable[[], None],
        opener: Opener,
        settings: Settings,
        budget: Budget | None = None,
    ) -> None:
        self._settings = settings
        self._notices = Notices(send)
        self._publisher = ViewPublisher(put)
        self._opener = opener
        self._sampled = Sampled(opener, settings.sampling)
        self._player = Player(self._sampled, wake)
        self._player_state: tuple[object, ...] = ()
        self.work = FrameProcessor(settings, self._notices, budget)
        """The models, and what they found."""
        self._queue: deque[PlayedFrame] = deque()
        """Recent frames that are to be processed again."""
        self._first_pass: FirstPass | None = None
        self._rerun_to: int | None = None
        """Position of the frame at which processing again ends."""
        self.recorder = Recorder(self._notices)
        """Writes files."""
        self.work.pinned_pixels.pin(settings.pinned_pixels, self.runs.main, None)

    @property
    def runs(self) -> DetectorRuns:
        """The detectors at work."""
        return self.work.runs

    @property
    def progress(self) -> Progress:
        """Latest frame of the present source."""
        return self.work.progress

    @property
    def history(self) -> History:
        """Statistics of the frames so far."""
        return self.work.history

    @property
    def is_opening(self) -> bool:
        """Whether a source is being opened or sought."""
        return self._player.opening

    # Commands

    def apply(self, settings: Settings) -> None:
        """Use other settings: on the frame that is held, else from the next frame on."""
        before, self._settings = self._settings, settings
        self._publisher.mark_changed()
        self.runs.configure(settings, self._player.rate_hz)
        self.work.use(settings, self._player.info)
        if before.truth is not settings.truth:
            self.restart_counts()
            self.work.show_truth(settings)
            if not self._player.playing:
                self.work.count_shown()
        is_held = not (self._player.playing or self._player.opening or before.sampling != settings.sampling)
        if self._first_pass is None and self.progress.results and (is_held or self._rerun_to is not None):
            if changes_masks(before, settings):
                self._answer()
            elif wants_more(before, settings):
                self.work.repeat(settings, self._player.rate_hz)
        if self._first_pass is None and before.pinned_pixels != settings.pinned_pixels:
            self._pin()

    def _answer(self) -> None:
        """Show what present settings make of the frame that is held."""
        if self._rerun_to is not None or not self.work.repeat(self._settings, self._player.rate_hz):
            is_new = not self.runs.can_be_kept or any(run.is_empty for run in self.runs)
            self.rerun(_LEARNING_FRAMES / (self._player.rate_hz or DEFAULT_RATE_HZ) if is_new else 0.0)

    def _pin(self) -> None:
        """Inspect pixels that are new; in a frame that is held, by the models before it."""
        results = self.progress.results
        self.work.pinned_pixels.pin(self._settings.pinned_pixels, self.runs.main, results[0] if results else None)
        if self.work.is_looking_back:
            self.work.pinned_pixels.show_past(results[0])
        elif not self._player.playing:
            self.work.repeat(self._settings, self._player.rate_hz)

    def rerun(self, back_s: float) -> None:
        """Process the last seconds up to the frame that is shown again, with the present settings.

        Parameters
        ----------
        back_s : float
            How far back; 0 for the frame alone. Frames before that may have to be processed again as they were.
        """
        player, work, results = self._player, self.work, self.progress.results
        if not results or player.info is None or (player.opening and self._rerun_to is None) or self._first_pass:
            return
        target_s = results[0].packet.time_s if self._rerun_to is None else work.repeats_until_s
        self._rerun_to = player.position if self._rerun_to is None else self._rerun_to
        from_s = target_s - back_s
        learning_s = max(back_s, _LEARNING_FRAMES / (player.rate_hz or DEFAULT_RATE_HZ))
        frames = [*work.recent.until(target_s), *self._queue]  # before the processor forgets them
        begin = work.rewind(from_s, player.rate_hz, fresh_from_s=target_s - learning_s)
        first_s = target_s - learning_s if begin is None else begin[0]
        if self.recorder.recorded is not None:
            self._notices.warn("The frames processed again are not recorded a second time.")
        player.pause()
        self._queue.clear()
        self._publisher.mark_changed()
        again = [played for played in frames if played.packet.time_s >= first_s - SAME_S]
        if player.info.live or covers(frames, first_s, target_s):
            self._queue.extend(replace(played, arrival=Arrival.NEXT) for played in again)
            return
        behind = round(learning_s * (player.rate_hz or DEFAULT_RATE_HZ))
        position = max(0, self._rerun_to - behind) if begin is None else begin[1]
        player.replay(position, self._rerun_to - position + 1)

    def open(self, text: str, position: int | None = None) -> None:
        """Open a source and play it; or hold the frame of an index, from which models learn some frames before it."""
        self.stop_recording()
        self._forget_frames()
        self._sampled = self._player.opener = Sampled(self._opener, self._settings.sampling)
        self._player.open(text)
        if position is not None:
            begin = max(0, position - _LEARNING_FRAMES)
            self._player.replay(begin, position - begin + 1)

    def retry(self) -> None:
        """Open the source that failed again, and keep the model."""
        if self._player.text and not self._player.opening:
            self._stop_rerun()
            self.work.forget_past()
            self._player.open(self._player.text)
            self._publisher.mark_changed()

    def close_source(self) -> None:
        """Close the source and show nothing."""
        self.stop_recording()
        self._player.close_source()
        self._forget_frames()

    def play(self) -> None:
        """Let frames follow each other."""
        if not self._queue:
            self._stop_rerun()
        self._player.play()
        self._publisher.mark_changed()

    def pause(self) -> None:
        """Hold the next frame: the models are kept as they are before it, so that it can be processed again."""
        if self._first_pass is not None:
            self._stop_rerun()
            self._player.pause(at_once=True)
        elif self._player.playing and self.progress.results:
            self._player.step()
        else:
            self._player.pause()
        self._publisher.mark_changed()

    def step(self, frames: int) -> None:
        """Go frames forward, or back if negative, and pause; frames seen before are shown as they were."""
        self._stop_rerun()
        self._player.pause()
        if frames == 1:
            self._player.step()
        else:
            self._player.seek(self._player.target + frames, Arrival.STEPPED)
        self._publisher.mark_changed()

    def seek(self, index: int) -> None:
        """Go to a 0-based frame index in a file."""
        self._stop_rerun()
        self._player.seek(index)
        self._publisher.mark_changed()

    def show_moment(self, elapsed_s: float) -> None:
        """Hold the frame that a live source showed at a time since its first one, if it is still kept."""
        self._stop_rerun()
        self._player.pause()
        self._notices.send(MomentFound(elapsed_s, self.work.show_moment(elapsed_s, self._settings)))
        self._publisher.mark_changed()

    def reset(self) -> None:
        """Forget the models."""
        self._stop_rerun()
        self.runs.reset()
        self.work.models_changed()
        self._publisher.mark_changed()

    def learn_first(self) -> None:
        """Learn from all of a file, or of the part that is repeated, and begin again with that model."""
        player = self._player
        if player.info is None or player.info.live or not player.count or player.opening:
            self._notices.warn("Only a source that is open and has an end can be learned from beginning to end.")
            return
        self.stop_recording()
        self._stop_rerun()
        self._first_pass = FirstPass(player, self.work, self._settings.part)
        self._publisher.mark_changed()

    def _learn(self, played: PlayedFrame, first_pass: FirstPass) -> None:
        try:
            is_news = first_pass.learn(played, self._settings)
        except Exception as error:  # noqa: BLE001 - a detector may raise anything; the window stays open
            self._lose_detector(error)
            return
        if is_news:
            self._publisher.mark_changed()

    def _stop_rerun(self) -> None:
        self._rerun_to = self._first_pass = None
        self._queue.clear()
        if self.work.is_repeating:
            self.work.stop_repeating()
            self.runs.configure(self._settings, self._player.rate_hz)  # frames processed again had others

    def restart_counts(self) -> None:
        """Count right and wrong pixels from zero."""
        self.work.restart_counts()
        self._publisher.mark_changed()

    def restart_objects(self) -> None:
        """Count objects from zero."""
        self.work.counter.restart()
        self._publisher.mark_changed()

    def load_model(self, path: Path) -> None:
        """Continue with a saved model."""
        config = self.runs.load(path, self.progress.results[0].packet.frame if self.progress.results else None)
        if config is None:
            return
        self.work.models_changed()
        self._notices.send(Configured(config))
        self._notices.info(f"The model {path.name} was loaded; it continues from where it was saved.")

    def save_model(self, path: Path) -> None:
        """Save the model in its current state."""
        self.recorder.save_model(self.runs.main.detector, path)

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
        if self._queue:
            self._process(self._queue.popleft())
            self._publish(idle=not self._queue)
            return 0.0
        try:
            polled = self._player.poll(self._settings.speed, self._settings.loop, self._settings.part)
        except Exception as error:  # noqa: BLE001 - whatever a source raises, the window stays open
            self._lose_source(error)
            return 0.0
        self._follow_player()
        first_pass = self._first_pass
        if first_pass is not None and isinstance(polled, PlayedFrame):
            self._learn(polled, first_pass)
            self._publish(idle=False)
            return 0.0
        if first_pass is not None and first_pass.is_over:
            self._first_pass = None
            first_pass.finish()
            return 0.0
        if isinstance(polled, PlayedFrame):
            if not self.progress.results:
                self._publisher.preview(polled.packet.frame)
                self._publish(idle=True)  # the first frame may compile for seconds: show that before
            is_new, latest = self._process(polled), self.progress
            self._publish(idle=False)  # the image does not wait for events
            if is_new and self.work.live.see(latest.results[0], latest.elapsed_s):
                self._publisher.mark_changed()
            return 0.0
        self._publish(idle=polled > 0 or self._player.trouble is not None)
        return min(polled, self.work.copy_ahead(self._publisher.painted_s))

    def _follow_player(self) -> None:
        """Notice a change of the player's state, and a source that was opened."""
        player = self._player
        state = player.playing, player.opening, player.trouble
        if state != self._player_state:
            self._player_state = state
            if player.trouble is not None:
                self.work.live.finish()
            self._publisher.mark_changed()
        info, player.just_opened = player.just_opened, None
        if info is None:
            return
        if not self.progress.results:  # else the same source was opened again
            self.runs.restart(info.rate_hz)
        self.work.use(self._settings, info)
        self._publisher.mark_changed()
        self._notices.send(Opened(player.text, info, self._sampled.scale))

    def _process(self, played: PlayedFrame) -> bool:
        player, settings = self._player, self._settings
        more = bool(self._queue) or player.owed > 0
        hold = not more and (not player.playing or (player.is_last and not settings.loop))
        try:
            outcome = self.work.process(played, settings, player.rate_hz, hold=hold)
        except Exception as error:  # noqa: BLE001 - a detector may raise anything; the window stays open
            self._lose_detector(error)
            return False
        if not self.work.is_repeating:
            self._rerun_to = None
        if outcome.is_new:
            self.recorder.write(self.progress.results[0], self.progress.elapsed_s)
        self._publisher.mark_changed()
        return outcome.is_new

    def _publish(self, *, idle: bool) -> None:
        recorded, caption = self.recorder.recorded, None if self._first_pass is None else self._first_pass.caption
        self._publisher.publish(self._settings, self.work, self._player, recorded, caption, idle=idle)

    def _forget_frames(self) -> None:
        self._stop_rerun()
        self.work.clear()
        self._publisher.clear()

    # Failures

    def _lose_source(self, error: Exception) -> None:
        self._player.close_broken()
        self.stop_recording()
        self._publisher.mark_changed()
        self._notices.error(error, can_retry=True)

    def _lose_detector(self, error: Exception) -> None:
        self._stop_rerun()
        self._player.pause()
        self.stop_recording()
        self._publisher.mark_changed()
        self._notices.lose_detector(error)

    def report(self, error: Exception) -> None:
        """Report an unexpected error, and hold the image."""
        logger.error("unexpected error in the viewer", exc_info=error)
        self.pause()
        self._notices.error(error)
