"""Progress through the present source, and the views of it that the window receives."""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bgsub.frames import Frame, Mask, Result
from bgsub.gui.engine.pane_images import LatestFrame, PaneImages
from bgsub.gui.engine.player import PlayedFrame, Player
from bgsub.gui.engine.processing.captions import describe_models, describe_pace
from bgsub.gui.messages import DEFAULT_RATE_HZ, Settings, View
from bgsub.gui.panes import INPUT, OVERLAY
from bgsub.video.sinks.overlay import to_display

if TYPE_CHECKING:
    from bgsub.gui.engine.processing.frame_processor import FrameProcessor

__all__ = ["Progress", "ViewPublisher"]

_VIEW_INTERVAL_S = 1 / 60  # no screen shows more
_PAINT_S = 0.02
_PACED_FRAMES = 10  # before them the rate says little
_IDLE_S = 1.0  # after so long without a frame the rate is 0


@dataclass(slots=True)
class Progress:
    """The latest frame of the present source, and how far its processing has come."""

    results: list[Result] = field(default_factory=list)
    """Of each detector, for the latest frame; empty before the first."""
    labels: Mask | None = None
    """Ground truth of the latest frame, (H, W) uint8."""
    processed: int = 0
    """Frames since the source was opened."""
    elapsed_s: float = 0.0
    """Time since the first frame, which goes on over jumps."""
    time_s: float = 0.0
    """Time of the latest frame in the source."""
    due_s: float = 0.0
    """`time.perf_counter()` when the latest frame was due."""
    finished_s: deque[float] = field(default_factory=lambda: deque(maxlen=30))
    """When the last frames were finished."""

    def add(self, played: PlayedFrame, results: list[Result], rate_hz: float | None) -> None:
        """Take over the results of the next frame."""
        time_s = played.packet.time_s
        if self.processed:
            gone = time_s - self.time_s
            usual = 1 / (rate_hz or DEFAULT_RATE_HZ)
            self.elapsed_s += usual if played.is_jump or gone <= 0 else gone
        self.time_s = time_s
        self.results, self.labels = results, None
        self.due_s = played.due_s
        self.processed += 1
        self.finished_s.append(time.perf_counter())

    def rate_hz(self, now_s: float) -> float:
        """Return the frames processed per second, over the last ones."""
        times = self.finished_s
        if len(times) < 2 or now_s - times[-1] > _IDLE_S:
            return 0.0
        return (len(times) - 1) / max(times[-1] - times[0], 1e-6)


class ViewPublisher:
    """Makes views of what changed: at once when there is nothing else to do, else no faster than a screen.

    Parameters
    ----------
    put : callable
        Receives each new `View`.
    """

    def __init__(self, put: Callable[[View], None]) -> None:
        self._put = put
        self._images = PaneImages()
        self._preview: Frame | None = None
        self._serial = 0
        self._changed, self._published_s = True, -math.inf

    @property
    def painted_s(self) -> float:
        """`time.perf_counter()` when the last view is painted, about; before that the window needs the processors."""
        return self._published_s + _PAINT_S

    def mark_changed(self) -> None:
        """Note that the window does not show the present state yet."""
        self._changed = True

    def preview(self, frame: Frame) -> None:
        """Show a frame as it is while the detectors are being prepared for it."""
        self._preview = frame if frame.dtype == np.uint8 else to_display(frame)
        self._changed = True

    def clear(self) -> None:
        """Forget all images."""
        self._images, self._preview = PaneImages(), None
        self._changed = True

    def publish(
        self,
        settings: Settings,
        work: "FrameProcessor",
        player: Player,
        recorded: int | None,
        caption: str | None = None,
        *,
        idle: bool,
    ) -> None:
        """Hand out a new view if something changed and it is time for one; `caption` takes the place of all others."""
        now = time.perf_counter()
        if not self._changed or not (idle or now - self._published_s >= _VIEW_INTERVAL_S):
            return
        self._changed = False
        self._published_s = now
        self._serial += 1
        progress, runs = work.progress, work.runs
        latest = LatestFrame(progress.results, runs.detectors, progress.labels, work.is_looking_back)
        self._images.draw(settings, latest, hurried=player.playing, now_s=now)
        images = dict(self._images.images)
        if self._preview is not None and not progress.results:
            images = {pane: self._preview for pane in settings.panes if pane in (INPUT, OVERLAY)}
        self._put(
            View(
                serial=self._serial,
                runs=runs.views(progress.results, scored=settings.truth is not None),
                images=images,
                counted=work.counter.counted,
                live=work.live.found,
                labels=progress.labels,
                pinned_pixels=work.pinned_pixels.views,
                position=player.position,
                time_s=player.since_begin_s(progress.results[0].packet.time_s) if progress.results else 0.0,
                processed=progress.processed,
                rate_hz=progress.rate_hz(now),
                dropped=player.dropped,
                playing=player.playing,
                looking_back=work.is_looking_back,
                captions=(caption,) if caption else _captions(settings, work, player, progress.rate_hz(now), recorded),
                opening=player.opening,
                preparing=player.info is not None and not progress.results,
                trouble=player.trouble,
                recorded=recorded,
                due_s=progress.due_s,
            )
        )


def _captions(
    settings: Settings, work: "FrameProcessor", player: Player, rate_hz: float, recorded: int | None
) -> tuple[str, ...]:
    """Return what the user must know to understand the images."""
    if not work.progress.results:
        return ("preparing the detector…",) if player.info is not None else ()
    recording = () if recorded is None else (f"● recording: {recorded} frames",)
    if work.is_repeating:
        return (*recording, f"processing again: {work.repeats_left_s:.1f} s to go")
    head = work.head
    if work.is_looking_back and head is not None:
        stands = player.since_begin_s(head.time_s)
        return (*recording, f"looking back: as it was detected; the model stands at {stands:.1f} s")
    captions = describe_models(work.runs, settings)
    info = player.info
    is_paced = player.playing and info is not None and not info.live and not math.isinf(settings.speed)
    if is_paced and work.progress.processed > _PACED_FRAMES:
        captions += describe_pace(rate_hz, settings.speed * (player.rate_hz or DEFAULT_RATE_HZ))
    return (*recording, *captions)
