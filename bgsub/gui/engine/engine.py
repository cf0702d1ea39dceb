"""What the worker does, one frame at a time: take, look into pixels, detect, count, record, make pictures."""

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bgsub._opencv import cv2
from bgsub.errors import BgsubError
from bgsub.evaluation import scored_pixels
from bgsub.frames import Frame, Mask, Result
from bgsub.gui.engine.detector_run import Lane
from bgsub.gui.engine.history import FRAME_COLUMNS, History
from bgsub.gui.engine.notices import Teller, describe
from bgsub.gui.engine.pane_images import Pictures
from bgsub.gui.engine.pinned_pixels import Pins
from bgsub.gui.engine.player import Opener, Player, Taken
from bgsub.gui.engine.recorder import Outputs
from bgsub.gui.engine.scribe import Scribe
from bgsub.gui.messages import (
    Configured,
    Event,
    Level,
    Notice,
    Opened,
    Pane,
    Settings,
    View,
)

__all__ = ["Engine"]

logger = logging.getLogger(__name__)

_VIEW_INTERVAL_S = 1 / 60  # no screen shows more
_KEPT_FRAMES = 90_000  # an hour at 25 frames a second


@dataclass(slots=True)
class _Seen:
    """What is known of the frames of the present source."""

    results: list[Result] = field(default_factory=list)
    """Of each detector, on the newest frame."""
    labels: Mask | None = None
    processed: int = 0
    share: float = 0.0
    elapsed_s: float = 0.0
    time_s: float = 0.0
    taken_s: float = 0.0
    due_s: float = 0.0
    finished_s: deque[float] = field(default_factory=lambda: deque(maxlen=30))
    """When the last frames were done."""


class Engine:
    """Everything that runs on the worker's thread; each method is called there.

    Parameters
    ----------
    put : callable
        Takes each new `View`.
    tell : callable
        Takes each `Event`.
    wake : callable
        Called on any thread when `advance` should be called again.
    opener : Opener
        Opens sources.
    settings : Settings
        To begin with.
    """

    def __init__(
        self,
        put: Callable[[View], None],
        tell: Callable[[Event], None],
        wake: Callable[[], None],
        opener: Opener,
        settings: Settings,
    ) -> None:
        self._put, self._teller = put, Teller(tell)
        self._scribe = Scribe(self._teller)
        self._settings = settings
        self._player = Player(opener, wake)
        self._lanes = [Lane(config) for config in (settings.config, settings.other) if config is not None]
        self.history = History(FRAME_COLUMNS, _KEPT_FRAMES)
        """Figures of the frames so far."""
        self._pins = Pins()
        self._pins.place(settings.pins, self._lanes[0], None)
        self._forget_frames()
        self._serial = 0
        self._dirty, self._published_s = True, -math.inf
        self._state: tuple[object, ...] = ()

    @property
    def pin_histories(self) -> dict[tuple[int, int], History]:
        """Figures of the pinned pixels, by row and column."""
        return self._pins.histories

    @property
    def is_opening(self) -> bool:
        """Whether a source is being opened or searched."""
        return self._player.opening

    # Commands

    def apply(self, settings: Settings) -> None:
        """Take new settings."""
        before, self._settings = self._settings, settings
        self._dirty = True
        try:
            self._lanes[0].configure(settings.config)
            if settings.other is None:
                del self._lanes[1:]
            elif len(self._lanes) == 1:
                self._lanes.append(Lane(settings.other, self._rate_hz))
            else:
                self._lanes[1].configure(settings.other)
        except (BgsubError, ValueError) as error:
            self._teller.complain(error)
        if before.truth is not settings.truth:
            self.restart_counts()
        if before.pins != settings.pins:
            self._pins.place(settings.pins, self._lanes[0], self._seen.results[0] if self._seen.results else None)

    def open(self, text: str) -> None:
        """Open a source and play it."""
        self.stop_recording()
        self._forget_frames()
        self._player.open(text)

    def retry(self) -> None:
        """Open the source that failed again, with the model as it is."""
        if self._player.text and not self._player.opening:
            self._player.open(self._player.text)
            self._dirty = True

    def close_source(self) -> None:
        """Close the source and show nothing."""
        self.stop_recording()
        self._player.close_source()
        self._forget_frames()

    def play(self) -> None:
        """Let frames follow each other."""
        self._player.play()
        self._dirty = True

    def pause(self) -> None:
        """Hold the picture."""
        self._player.pause()
        self._dirty = True

    def step(self, frames: int) -> None:
        """Go one frame on (1) or back (-1), and pause."""
        self._player.pause()
        if frames > 0:
            self._player.step()
        else:
            self._player.seek(self._player.heading + frames)
        self._dirty = True

    def seek(self, place: int) -> None:
        """Go to a 0-based place in a file."""
        self._player.seek(place)
        self._dirty = True

    def reset(self) -> None:
        """Forget what the detectors have learned."""
        for lane in self._lanes:
            lane.reset()
        self._dirty = True

    def restart_counts(self) -> None:
        """Count right and wrong pixels anew."""
        for lane in self._lanes:
            lane.restart_counts()
        self._dirty = True

    def load_model(self, path: Path) -> None:
        """Go on with a saved model."""
        frame = self._seen.results[0].packet.frame if self._seen.results else None
        try:
            config = self._lanes[0].load(path, frame)
        except (BgsubError, ValueError) as error:
            self._teller.complain(error)
            return
        self._teller.tell(Configured(config))
        self._teller.inform(f"The model {path.name} is loaded; it goes on from where it was saved.")

    def save_model(self, path: Path) -> None:
        """Save the model as it is."""
        self._scribe.save_model(self._lanes[0].detector, path)

    def save_images(self, images: Mapping[Path, Frame]) -> None:
        """Write pictures as PNG."""
        self._scribe.save_images(images)

    def export(self, path: Path) -> None:
        """Write the figures of the frames so far as a table."""
        self._scribe.export(self.history, path)

    def record(self, outputs: Outputs) -> None:
        """Begin to record."""
        self._scribe.record(outputs, self._rate_hz or 25.0, self._settings.overlay_style)
        self._dirty = True

    def stop_recording(self) -> None:
        """Finish the files being recorded."""
        self._scribe.stop()
        self._dirty = True

    def close(self) -> None:
        """Finish recordings and close the source."""
        self.stop_recording()
        self._player.close_source()

    # One turn

    def advance(self) -> float:
        """Do at most one frame; return for how many seconds there is nothing to do."""
        try:
            taken = self._player.poll(self._settings.speed, self._settings.loop)
        except Exception as error:  # noqa: BLE001 - whatever a source raises, the window lives on
            self._lose_source(error)
            return 0.0
        self._note_player()
        if isinstance(taken, Taken):
            if not self._seen.results:
                self._publish(idle=True)  # the first frame may compile for seconds: say so before
            self._process(taken)
            self._publish(idle=False)
            return 0.0
        self._publish(idle=taken > 0 or self._player.trouble is not None)
        return taken

    @property
    def _rate_hz(self) -> float | None:
        return None if self._player.info is None else self._player.info.rate_hz

    def _note_player(self) -> None:
        state = self._player.playing, self._player.opening, self._player.trouble
        if state != self._state:
            self._state = state
            self._dirty = True
        info, self._player.just_opened = self._player.just_opened, None
        if info is None:
            return
        if not self._seen.results:  # else the same source was opened again
            self._lanes = [lane if lane.is_loaded else Lane(lane.config, info.rate_hz) for lane in self._lanes]
        self._dirty = True
        self._teller.tell(Opened(self._player.text, info))

    def _process(self, taken: Taken) -> None:
        frame, settings = taken.packet.frame, self._settings
        if taken.jumped and not taken.looped and not settings.keep_model:
            self.reset()
        self._renew_unfit(frame)
        self._confine(frame)
        begin = time.perf_counter()
        looked = self._pins.look(self._lanes[0], frame)
        try:
            results = [
                lane.step(taken.packet, frozen=settings.frozen, want_score=pane in settings.panes)
                for lane, pane in zip(self._lanes, (Pane.SCORE, Pane.SCORE_B), strict=False)
            ]
        except Exception as error:  # noqa: BLE001 - a detector may raise anything; the window lives on
            self._lose_detector(error)
            return
        self._elapse(taken)
        self._seen.results, self._seen.taken_s, self._seen.due_s = results, begin, taken.due_s
        self._seen.processed += 1
        self._seen.finished_s.append(time.perf_counter())
        self._seen.share = cv2.countNonZero(results[0].mask) / results[0].mask.size
        self._count(results)
        self._pins.note(looked, results[0], self._seen.elapsed_s)
        self._note_frame(results)
        self._scribe.write(results[0], self._seen.elapsed_s)
        self._dirty = True

    def _renew_unfit(self, frame: Frame) -> None:
        """Begin anew where frames are of another size or kind than those learned."""
        for lane in self._lanes:
            if lane.detector.shape is not None and (lane.detector.shape, lane.detector.dtype) != (
                frame.shape,
                frame.dtype,
            ):
                lane.reset()
                self._teller.warn(
                    f"The frames are {frame.shape[1]}x{frame.shape[0]} now: {lane.detector.name} learns a new model."
                )

    def _confine(self, frame: Frame) -> None:
        try:
            for lane in self._lanes:
                lane.confine(self._settings.region, (frame.shape[0], frame.shape[1]))
        except (BgsubError, ValueError) as error:
            self._teller.refuse(error, self._settings.region)

    def _elapse(self, taken: Taken) -> None:
        """Let time go on by one frame over a jump."""
        time_s, usual = taken.packet.time_s, 1 / (self._rate_hz or 25.0)
        if self._seen.processed:
            gone = time_s - self._seen.time_s
            self._seen.elapsed_s += usual if taken.jumped or gone <= 0 else gone
        self._seen.time_s = time_s

    def _count(self, results: list[Result]) -> None:
        truth = self._settings.truth
        self._seen.labels = None
        if truth is None:
            return
        size = results[0].mask.shape
        try:
            found = truth.read(results[0].packet.number, (size[0], size[1]))
        except BgsubError as error:
            self._teller.refuse(error, truth)
            return
        if found is None:
            return
        self._seen.labels, roi = found
        selected = scored_pixels(self._seen.labels, roi)
        for lane, result in zip(self._lanes, results, strict=True):
            lane.count(result.mask, selected)

    def _note_frame(self, results: list[Result]) -> None:
        packet = results[0].packet
        b = self._lanes[1] if len(results) > 1 else None
        scored = self._settings.truth is not None
        self.history.append(
            self._seen.elapsed_s,
            packet.number,
            packet.time_s,
            self._seen.share,
            results[0].timings.total_ms,
            results[1].timings.total_ms if b else math.nan,
            self._lanes[0].counts.f_measure if scored else math.nan,
            b.counts.f_measure if b and scored else math.nan,
        )

    # Trouble

    def _lose_source(self, error: Exception) -> None:
        self._player.close_broken()
        self.stop_recording()
        self._dirty = True
        self._teller.complain(error, can_retry=True)

    def _lose_detector(self, error: Exception) -> None:
        self._player.pause()
        self.stop_recording()
        self._dirty = True
        logger.debug("the detector failed", exc_info=error)
        self._teller.tell(
            Notice(Level.ERROR, f"The detector failed ({describe(error)}); reset it, change it or choose another.")
        )

    def report(self, error: Exception) -> None:
        """Tell of an error that nobody expected, and hold the picture."""
        logger.error("unexpected error in the viewer", exc_info=error)
        self.pause()
        self._teller.complain(error)

    # What is kept

    def _forget_frames(self) -> None:
        self._seen = _Seen()
        self._pictures = Pictures()
        self._dirty = True
        self.history.clear()
        self._pins.clear()

    # Views

    def _publish(self, *, idle: bool) -> None:
        """Hand a new view out: at once when nothing else is to do, else not faster than a screen."""
        now = time.perf_counter()
        if not self._dirty or not (idle or now - self._published_s >= _VIEW_INTERVAL_S):
            return
        self._dirty = False
        self._published_s = now
        self._serial += 1
        detectors = [lane.detector for lane in self._lanes]
        hurried = self._player.playing
        self._pictures.draw(
            self._settings, self._seen.results, detectors, self._seen.labels, hurried=hurried, now_s=now
        )
        scored = self._settings.truth is not None
        lanes = tuple(
            lane.view(result, scored=scored) for lane, result in zip(self._lanes, self._seen.results, strict=False)
        )
        player = self._player
        self._put(
            View(
                serial=self._serial,
                lanes=lanes,
                images=dict(self._pictures.images),
                pins=self._pins.views,
                position=player.position,
                processed=self._seen.processed,
                rate_hz=self._lately_hz(now),
                dropped=player.dropped,
                playing=player.playing,
                opening=player.opening,
                preparing=player.info is not None and not self._seen.results,
                trouble=player.trouble,
                recorded=self._scribe.recorded,
                taken_s=self._seen.taken_s,
                due_s=self._seen.due_s,
            )
        )

    def _lately_hz(self, now: float) -> float:
        times = self._seen.finished_s
        if len(times) < 2 or now - times[-1] > 1:
            return 0.0
        return (len(times) - 1) / max(times[-1] - times[0], 1e-6)
