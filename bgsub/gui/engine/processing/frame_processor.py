"""Processes frames, keeps what it found, and goes back to an earlier state of the models."""

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from bgsub.evaluation import Counts
from bgsub.frames import Packet, Result, VideoInfo
from bgsub.gui.counting import ObjectCounter
from bgsub.gui.engine.history import FRAME_COLUMNS, History
from bgsub.gui.engine.notices import Notices
from bgsub.gui.engine.pinned_pixels import PinnedPixels
from bgsub.gui.engine.player import Arrival, PlayedFrame
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.engine.processing.detector_run import foreground_share
from bgsub.gui.engine.processing.detector_runs import DetectorRuns
from bgsub.gui.engine.processing.moments import find_moment
from bgsub.gui.engine.processing.past_results import PastResults, time_key
from bgsub.gui.engine.processing.recent_frames import RecentFrames
from bgsub.gui.engine.processing.snapshots import Snapshot, Snapshots
from bgsub.gui.engine.publisher import Progress
from bgsub.gui.events.live import LiveEvents
from bgsub.gui.messages import Settings

__all__ = ["FrameProcessor", "Outcome"]

_HISTORY_FRAMES = 90_000  # an hour at 25 frames per second


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a frame."""

    is_new: bool
    """Whether the models learned it for the first time; otherwise it was shown as it was, or processed again."""


@dataclass(slots=True)
class _Again:
    """Frames that are processed a second time, each with the settings it had, up to where new settings begin."""

    from_s: float
    """Time of the first frame that gets the present settings."""
    until_s: float
    """Time of the last frame that is processed again."""
    settings: dict[int, Settings] = field(default_factory=dict)


class FrameProcessor:
    """Detectors at work on the frames of a source.

    The models always stand after the newest frame that they learned, the head. A frame before it is shown with the
    results it had, and teaches them nothing. `rewind` is the only way back for the models.

    Parameters
    ----------
    settings : Settings
        Initial settings.
    notices : Notices
        Reports what a detector cannot do.
    budget : Budget
        Memory for the past.
    """

    def __init__(self, settings: Settings, notices: Notices, budget: Budget | None = None) -> None:
        budget = budget or Budget()
        self.runs = DetectorRuns(settings, notices)
        self.progress = Progress()
        self.history = History(FRAME_COLUMNS, _HISTORY_FRAMES)
        self.pinned_pixels = PinnedPixels()
        self.counter = ObjectCounter()
        self.live = LiveEvents(notices.refuse)
        self.past = PastResults(budget.results)
        self.snapshots = Snapshots(budget.snapshots, budget.snapshot_interval_s, budget.least_snapshots)
        self.recent = RecentFrames(budget.frames)
        self._held: Snapshot | None = None
        self._head: list[Result] = []
        self._head_settings = settings
        self._counting = 0
        self._again: _Again | None = None

    @property
    def head(self) -> Packet | None:
        """Newest frame that the models learned."""
        return self._head[0].packet if self._head else None

    @property
    def is_looking_back(self) -> bool:
        """Whether the frame shown lies before the head."""
        return bool(self.progress.results) and self.progress.results[0].packet is not self.head

    @property
    def repeats_until_s(self) -> float:
        """Time of the last frame that is to be processed a second time; of the head if none is."""
        if self._again is not None:
            return self._again.until_s
        return self.progress.time_s

    @property
    def repeats_left_s(self) -> float:
        """Time of the source that is left to be processed a second time."""
        return max(0.0, self.repeats_until_s - self.progress.time_s)

    @property
    def is_repeating(self) -> bool:
        """Whether frames are being processed a second time."""
        return self._again is not None

    @property
    def kept_bytes(self) -> tuple[int, int, int]:
        """Memory in use for past masks, copies of models, and frames."""
        return self.past.nbytes, self.snapshots.nbytes, self.recent.nbytes

    def use_budget(self, budget: Budget) -> None:
        """Keep less of past frames from now on, or more."""
        self.past.limit(budget.results)
        self.recent.limit(budget.frames)
        self.snapshots.limit(budget.snapshots, budget.least_snapshots)

    def use(self, settings: Settings, info: VideoInfo | None) -> None:
        """Count objects, and look for events of a live source, as other settings say."""
        self.counter.use(settings.counting)
        self.live.use(settings.event_search if info is not None and info.live else None)

    def process(self, played: PlayedFrame, settings: Settings, rate_hz: float | None, *, hold: bool) -> Outcome:
        """Process one frame, or show what was found in it before.

        Parameters
        ----------
        played : PlayedFrame
            The frame.
        settings : Settings
            Present settings.
        rate_hz : float, optional
            Frame rate of the source.
        hold : bool
            Whether this frame will stay on the screen: then the models before it are kept.
        """
        packet, arrival = played.packet, played.arrival
        if arrival in (Arrival.LOOPED, Arrival.BEGUN_AGAIN):
            self.forget_past()
        if arrival in (Arrival.SOUGHT, Arrival.BEGUN_AGAIN) and not settings.keep_model:
            self.runs.reset()
            self.forget_past()
        if not self.is_repeating:
            kept = self.past.find(packet.time_s)
            if kept is not None:
                self._show(packet, kept.results(packet), settings)
                return Outcome(is_new=False)
            if arrival is Arrival.STEPPED and self.head is not None:
                self._show(packet, self.runs.peek(packet), settings)
                return Outcome(is_new=False)
        if arrival is Arrival.SOUGHT:
            self.snapshots.clear()  # from them to here the frames do not follow each other
        was_repeated = self.is_repeating
        self.counter.use(settings.counting)
        self._learn(played, self._settings_for(packet, settings), rate_hz, hold=hold)
        self._end_repeating(packet, settings, rate_hz)
        if not was_repeated:
            self.counter.see(self.progress.results[0])
        return Outcome(is_new=not was_repeated)

    def show_moment(self, elapsed_s: float, settings: Settings) -> bool:
        """Show what was found at a time since the first frame; return whether that is still kept."""
        moment = find_moment(elapsed_s, self.history, self.past, self.recent)
        if moment is not None:
            self._show(moment[0].packet, moment[1].results(moment[0].packet), settings)
        return moment is not None

    def repeat(self, settings: Settings, rate_hz: float | None) -> bool:
        """Process the head once more with other settings, as if they had been changed before it.

        Returns
        -------
        bool
            False if the models before it are not kept, or if one of them would see its first frame.
        """
        held = self._held
        if held is None or self.is_looking_back:
            return False
        packet = self._head[0].packet
        known = self._unaffected(held, settings)
        wanted = held.runs if settings.other is not None else held.runs[:1]
        if any(state.pipeline is None and index not in known for index, state in enumerate(wanted)):
            return False
        self._restore(held, rate_hz, but=known)
        self.runs.configure(settings, rate_hz)
        if held.processed and any(run.is_empty for run in self.runs):
            return False
        played = PlayedFrame(packet, self.progress.due_s, Arrival.NEXT, held.position)
        self._learn(played, settings, rate_hz, hold=False, known=known)
        self._held = held
        return True

    def copy_ahead(self, due_s: float) -> float:
        """Copy the models for the next `repeat` once it is time, by `perf_counter`; return for how long it is not."""
        held = self._held
        if held is None or self.is_looking_back or self.runs.are_copied(held.runs):
            return math.inf
        if (wait_s := due_s - time.perf_counter()) > 0:
            return wait_s
        self.runs.copy_ahead(held.runs)
        return math.inf

    def _unaffected(self, held: Snapshot, settings: Settings) -> dict[int, Result]:
        """Return the results of models that cannot be copied and would find the same: they need not see it again."""
        head = self._head_settings
        if (settings.frozen, settings.region) != (head.frozen, head.region):
            return {}
        configs = dict(enumerate((settings.config, settings.other)))
        return {
            index: result
            for index, (result, state) in enumerate(zip(self._head, held.runs, strict=False))
            if state.pipeline is None and configs[index] == state.config
        }

    def show_truth(self, settings: Settings) -> None:
        """Use another ground truth for the frame that is shown, without counting it."""
        if self.progress.results:
            self.progress.labels = self.runs.compare(self.progress.results, settings.truth)

    def count_shown(self) -> None:
        """Add the frame that is shown to the counts, after they began again."""
        for run in self.runs:
            run.count()

    def restart_counts(self) -> None:
        """Count right and wrong pixels from zero."""
        self._counting += 1
        self.runs.restart_counts()

    def rewind(self, time_s: float, rate_hz: float | None, *, fresh_from_s: float) -> tuple[float, int] | None:
        """Return to the models before a frame, or before an earlier one; all later results are forgotten.

        The frames up to the one that is shown have to be processed again. Those before `time_s` get the settings they
        had, so that the models become what they were.

        Parameters
        ----------
        time_s : float
            Time of the first frame that gets the present settings.
        rate_hz : float, optional
            Frame rate of the source.
        fresh_from_s : float
            Where models begin again if there is no snapshot.

        Returns
        -------
        (float, int) or None
            Time and position of the first frame to be processed again; None if it has to be found from `fresh_from_s`.
        """
        known = {} if self._again is None else self._again.settings
        until_s = self.progress.results[0].packet.time_s if self._again is None else self._again.until_s
        script = known | {time_key(frame.time_s): frame.settings for frame in self.past}
        script = {key: settings for key, settings in script.items() if key < time_key(time_s)}
        snapshot = self.snapshots.before(time_s)
        self._again = _Again(time_s, until_s, script)
        self._held = None
        first_s = fresh_from_s if snapshot is None else snapshot.time_s
        if snapshot is None:
            self.runs.reset()
            self.snapshots.clear()
            self._again.settings = {}
        else:
            self._restore(snapshot, rate_hz)
            self.snapshots.drop_after(snapshot.time_s)
        self.past.drop_from(first_s)
        self.recent.drop_from(first_s)
        return None if snapshot is None else (snapshot.time_s, snapshot.position)

    def stop_repeating(self) -> None:
        """Go on from here; the frames that are left get the present settings."""
        self._again = None

    def models_changed(self) -> None:
        """Note that the models are no longer what the last frame made them."""
        self.snapshots.clear()
        self._held = None

    def forget_past(self) -> None:
        """Forget what is kept to look back at or to return to."""
        self.past.clear()
        self.recent.clear()
        self.models_changed()
        self._again = None

    def clear(self) -> None:
        """Forget all frames, for another source."""
        self.forget_past()
        self._head = []
        self.progress = Progress()
        self.history.clear()
        self.pinned_pixels.clear()
        self.counter.restart()
        self.live.clear()

    def _settings_for(self, packet: Packet, present: Settings) -> Settings:
        """Return the settings of a frame, which are those it had where frames are processed again."""
        again = self._again
        if again is None:
            return present
        return again.settings.get(time_key(packet.time_s), present)

    def _end_repeating(self, packet: Packet, present: Settings, rate_hz: float | None) -> None:
        if self._again is not None and time_key(packet.time_s) >= time_key(self._again.until_s):
            self._again = None
            self.runs.configure(present, rate_hz)

    def _learn(
        self,
        played: PlayedFrame,
        settings: Settings,
        rate_hz: float | None,
        *,
        hold: bool,
        known: Mapping[int, Result] = MappingProxyType({}),
    ) -> None:
        packet, progress = played.packet, self.progress
        self.past.drop_from(packet.time_s)
        self.recent.drop_from(packet.time_s)  # a frame that is processed again must not be kept twice
        if self.is_repeating:
            self.runs.configure(settings, rate_hz)
        self._held = None
        if hold or self.snapshots.is_due(packet.time_s):
            snapshot = self._snapshot(played)
            self._held = snapshot if hold else None
            if self.snapshots.is_due(packet.time_s):
                self.snapshots.add(snapshot)
        self.runs.prepare(packet.frame, settings.region)
        inspections = self.pinned_pixels.inspect(self.runs.main, packet.frame)
        results = self.runs.step(packet, settings, known, score=self.live.is_on)
        self._head, self._head_settings = results, settings
        progress.add(played, results, rate_hz)
        progress.labels = self.runs.count(results, settings.truth, known)
        self.past.add(results, settings)
        self.recent.add(played)
        self.pinned_pixels.record(inspections, self.runs.main, results[0], progress.elapsed_s)
        self._record_statistics(results, scored=settings.truth is not None)

    def _show(self, packet: Packet, results: list[Result], settings: Settings) -> None:
        """Show a frame without teaching the models anything."""
        head = self.head
        if head is not None and time_key(packet.time_s) == time_key(head.time_s):
            results = self._head
        self.progress.results = results
        self.show_truth(settings)
        if results is not self._head:
            self.pinned_pixels.show_past(results[0])
        else:
            self.pinned_pixels.show_head()

    def _snapshot(self, played: PlayedFrame) -> Snapshot:
        progress = self.progress
        return Snapshot(
            played.packet.time_s,
            played.position,
            self.runs.states(),
            progress.processed,
            progress.elapsed_s,
            progress.time_s,
            self._counting,
        )

    def _restore(self, snapshot: Snapshot, rate_hz: float | None, *, but: Collection[int] = ()) -> None:
        self.runs.restore(snapshot.runs, rate_hz, but=but)
        if snapshot.counting != self._counting:
            self.runs.restart_counts()
        progress = self.progress
        progress.processed, progress.elapsed_s = snapshot.processed, snapshot.elapsed_s
        progress.time_s = snapshot.previous_s
        last_s = snapshot.elapsed_s if snapshot.processed else -math.inf
        for history in (self.history, *self.pinned_pixels.histories.values()):
            history.drop_after(last_s)

    def _record_statistics(self, results: list[Result], *, scored: bool) -> None:
        packet, main, second = results[0].packet, self.runs.main, self.runs.second
        self.history.append(
            self.progress.elapsed_s,
            packet.number,
            packet.time_s,
            foreground_share(results[0].mask),
            results[0].timings.total_ms,
            results[1].timings.total_ms if second else math.nan,
            main.counts.f_measure if scored else math.nan,
            second.counts.f_measure if second and scored else math.nan,
            *_frame_scores(main.frame_counts),
            *_frame_scores(second.frame_counts if second else None),
            foreground_share(results[1].mask) if second else math.nan,
        )


def _frame_scores(counts: Counts | None) -> tuple[float, float]:
    """Return the F-measure of a frame and the share of wrong pixels; NaN where there are no labels."""
    if counts is None:
        return math.nan, math.nan
    scored = counts.tp + counts.fp + counts.fn + counts.tn
    return counts.f_measure, (counts.fp + counts.fn) / scored if scored else math.nan
