"""Looks through a whole source ahead of the user: activity over time, events and changes of the scene."""

import contextlib
import logging
import math
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bgsub.config import Config
from bgsub.events import Event, EventRules, SceneChange, Sensitivity
from bgsub.frames import Packet, VideoInfo
from bgsub.gui.engine.notices import describe
from bgsub.gui.engine.opening import Opener
from bgsub.gui.events.finder import EventFinder, EventSearch, Found
from bgsub.gui.messages import DEFAULT_RATE_HZ
from bgsub.pipeline import Pipeline
from bgsub.roi import Region
from bgsub.scanning import FileReport, ScanSettings
from bgsub.scanning.clock import time_in_name
from bgsub.video.sources import Slice

__all__ = ["BINS", "Ahead", "Happenings", "Task"]

logger = logging.getLogger(__name__)

BINS = 600
"""Parts into which a source is divided for the activity over time."""

_LARGEST_PX = 320
_LEAST_RATE_HZ, _MOST_FRAMES = 5.0, 3000
"""Short sources are looked at frame by frame, longer ones in about so many frames, but so many per second."""
_MOST_EVENTS = 10_000
_INTERVAL_S = 0.25  # between two reports
_REST = 0.5  # of the time that was worked: the frame that is shown comes first
_NICE = 10


@dataclass(frozen=True, slots=True)
class Task:
    """What to look through, and how."""

    source: str
    config: Config = field(default_factory=Config)
    region: Region | None = None
    sensitivity: Sensitivity = "normal"

    @property
    def rules(self) -> EventRules:
        """What an event is."""
        return EventRules.from_sensitivity(self.sensitivity)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Happenings(Found):
    """What was found so far."""

    task: Task
    activity: NDArray[np.float32]
    """(BINS,): largest share of foreground in each part of the source; NaN where nothing was looked at yet."""
    file: FileReport
    """What is known of the source."""
    length_s: float
    """Length of the source, as its container states it."""
    settings: ScanSettings
    """With which `bgsub scan` finds the same, but for the region."""
    is_complete: bool = False
    """Whether the end was reached."""
    failure: str = ""
    """Why it was not."""

    @property
    def seen_s(self) -> float:
        """Time of the source that was looked at."""
        return self.file.duration_s

    def since_begin_s(self, time_s: float) -> float:
        """Return a time of the source as one since its first frame."""
        return time_s - self.file.first_s

    def event_at(self, time_s: float) -> int | None:
        """Return the position of the event that goes on at a time since the first frame; None if there is none."""
        for index, event in enumerate(self.events):
            first_s, last_s = self.since_begin_s(event.start.time_s), self.since_begin_s(event.end.time_s)
            if first_s - 1e-3 <= time_s <= last_s + 1e-3:
                return index
        return None


class Ahead:
    """Looks through a source on a thread of its own, with a model of its own and little of the machine.

    Parameters
    ----------
    task : Task
        What to look through.
    opener : Opener
        Opens the source.
    put : callable
        Receives each new `Happenings`, on that thread.
    """

    def __init__(self, task: Task, opener: Opener, put: Callable[[Happenings], None]) -> None:
        self._task, self._opener, self._put = task, opener, put
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bgsub-ahead", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread is still at work."""
        return self._thread.is_alive()

    def ask_to_end(self) -> None:
        """Let the thread end with the frame that it is at."""
        self._stop.set()

    def close(self) -> None:
        """End the thread and wait for it."""
        self.ask_to_end()
        self._thread.join()

    def _run(self) -> None:
        _be_nice()
        settings = ScanSettings(replace(self._task.config, roi=""), self._task.rules)
        empty = np.full(BINS, np.nan, np.float32)
        file = FileReport(self._task.source)
        found = Happenings(task=self._task, activity=empty, file=file, length_s=0.0, settings=settings)
        try:
            self._look(found)
        except Exception as error:
            logger.debug("looking ahead failed", exc_info=error)
            self._put(replace(found, failure=describe(error)))

    def _look(self, found: Happenings) -> None:
        source = self._opener(self._task.source, start=None)
        with source:
            info = source.info
            length_s = (info.count or 0) / (info.rate_hz or DEFAULT_RATE_HZ)
            rate_hz = info.rate_hz or DEFAULT_RATE_HZ
            wanted_hz = min(rate_hz, max(_LEAST_RATE_HZ, _MOST_FRAMES / max(length_s, 1e-3)))
            settings = replace(found.settings, largest_px=_LARGEST_PX, rate_hz=wanted_hz)
            scale, skip = settings.sampling(info)
            clock = time_in_name(self._task.source, None)
            file = replace(found.file, size=info.size or (0, 0), rate_hz=rate_hz, clock=clock)
            search = _Search(replace(found, settings=settings, length_s=length_s, file=file), info, scale, skip)
            published_s = -math.inf
            with Slice(source, skip=skip, scale=scale) as frames:
                while not self._stop.is_set():
                    begin = time.perf_counter()
                    packet = frames.read()
                    if packet is None:
                        search.finish()
                        break
                    search.see(packet)
                    if begin - published_s > _INTERVAL_S:
                        published_s = begin
                        self._put(search.found)
                    self._stop.wait((time.perf_counter() - begin) * _REST)
            if not self._stop.is_set():
                self._put(search.found)


class _Search:
    """The model and the machine that find events, and what they have found."""

    def __init__(self, found: Happenings, info: VideoInfo, scale: float, skip: int) -> None:
        self.found = found
        task = found.task
        detector = task.config.make_detector(rate_hz=None if info.rate_hz is None else info.rate_hz / skip, threads=1)
        self._pipeline = Pipeline(
            detector,
            postprocess=task.config.postprocess,
            learning_rate=task.config.learning_rate,
            region=None if task.region is None else task.region.scaled(scale),
            warmup=task.config.warmup or 0,
            want_score=detector.can_score,
        )
        self._finder = EventFinder(EventSearch(task.rules))
        self._activity = found.activity.copy()
        self._first_s, self._last_s, self._frames = math.nan, -math.inf, 0
        self._bin = 0

    def see(self, packet: Packet) -> None:
        """Take the next frame."""
        result = self._pipeline.step(packet)
        observation = self._finder.measure(result)
        if self._frames == 0:
            self._first_s = packet.time_s
        if observation.time_s <= self._last_s:
            return
        self._last_s, self._frames = packet.time_s, self._frames + 1
        self._note_activity(packet.time_s - self._first_s, observation.foreground)
        self._add(self._finder.see(observation, result))

    def finish(self) -> None:
        """Note that the end was reached, which may be a little before the one that the container states."""
        self._activity[self._bin + 1 :] = self._activity[self._bin]
        self._add(self._finder.finish())
        self.found = replace(self.found, is_complete=True)

    def _note_activity(self, time_s: float, share: float) -> None:
        length_s = max(self.found.length_s, 1e-3)
        last = min(BINS - 1, max(0, int(time_s / length_s * BINS)))
        here = slice(min(self._bin + 1, last), last + 1)  # frames may be further apart than bins
        self._activity[here] = np.fmax(self._activity[here], np.float32(share))
        self._bin = last

    def _add(self, new: list[Event | SceneChange]) -> None:
        found = self.found
        file = replace(found.file, frames=self._frames, first_s=self._first_s, last_s=self._last_s)
        pictures = self._finder.take_pictures(new, self._last_s)
        if new:
            found = found.with_more(new, pictures, _MOST_EVENTS)
        self.found = replace(found, activity=self._activity.copy(), file=file)


def _be_nice() -> None:
    """Let other threads go first, where the system has priorities of threads."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
