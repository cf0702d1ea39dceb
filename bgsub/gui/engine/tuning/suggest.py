"""Tries settings on the frames that have labels, and suggests those that agree best."""

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bgsub.config import Config
from bgsub.evaluation import Counts, count_pixels, scored_pixels
from bgsub.frames import Packet
from bgsub.gui.engine.notices import describe
from bgsub.gui.engine.opening import Opener
from bgsub.gui.engine.tuning.candidates import Change, differences, neighbours, with_change
from bgsub.gui.messages import DEFAULT_RATE_HZ
from bgsub.gui.painted_truth import Truth
from bgsub.pipeline import Pipeline
from bgsub.roi import Region

__all__ = ["Problem", "Suggester", "Suggestion", "agreement"]

logger = logging.getLogger(__name__)

_LEARNING_FRAMES = 150
"""Frames from which models learn before the first label of a part."""
_MOST_FRAMES = 800
"""Frames that every setting processes; labels further from the frame shown are left out."""
_MODELS_BYTES = 256 * 2**20
_BYTES_PER_PIXEL = 64  # of a model, about
_LEAST_GAIN = 0.002
_ROUNDS = 3
_BEST = 6  # changes that go on to the next round
_NICE = 10


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be solved."""

    source: str
    config: Config
    truth: Truth
    region: Region | None = None
    number: int = 1
    """Number of the frame shown; the labels nearest to it come first."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The best settings so far."""

    problem: Problem
    config: Config
    before: Counts = field(default_factory=Counts)
    """Right and wrong pixels with the present settings,"""
    after: Counts = field(default_factory=Counts)
    """and with the suggested ones."""
    frames: int = 0
    """Frames with labels that were compared."""
    tried: int = 0
    is_complete: bool = False
    failure: str = ""

    @property
    def changes(self) -> list[tuple[str, object, object]]:
        """Name, old and new value of what is suggested; names of post-processing begin with a dot."""
        return differences(self.problem.config, self.config)


def agreement(counts: Counts) -> float:
    """Return the mean of the shares of both kinds of labels that a mask agrees with; 0 without labels.

    Unlike F it does not depend on how much of each kind the user has painted.

    Examples
    --------
    >>> agreement(Counts(tp=9, fn=3, tn=75, fp=25))
    0.75
    """
    parts = [
        right / (right + wrong) for right, wrong in ((counts.tp, counts.fn), (counts.tn, counts.fp)) if right + wrong
    ]
    return sum(parts) / len(parts) if parts else 0.0


class Suggester:
    """Looks for better settings on a thread of its own.

    First each value is changed by itself; the best changes are then combined, a few at a time.

    Parameters
    ----------
    problem : Problem
        Source, settings and labels.
    opener : Opener
        Opens the source.
    put : callable
        Receives each better `Suggestion`, on that thread.
    """

    def __init__(self, problem: Problem, opener: Opener, put: Callable[[Suggestion], None]) -> None:
        self._problem, self._opener, self._put = problem, opener, put
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bgsub-suggest", daemon=True)
        self._thread.start()

    def ask_to_end(self) -> None:
        """Let the thread end with the frame that it is at."""
        self._stop.set()

    def close(self) -> None:
        """End the thread and wait for it."""
        self.ask_to_end()
        self._thread.join()

    def _run(self) -> None:
        if hasattr(os, "setpriority"):
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        best = Suggestion(self._problem, self._problem.config)
        try:
            self._search(best)
        except Exception as error:
            logger.debug("the search for settings failed", exc_info=error)
            self._put(replace(best, failure=describe(error)))

    def _search(self, best: Suggestion) -> None:
        trials = _Trials(self._problem, self._opener, self._stop)
        (before,) = trials.count([self._problem.config])
        if self._stop.is_set():
            return
        best = replace(best, before=before, after=before, frames=trials.labelled, tried=1)
        self._put(best)
        changes = neighbours(self._problem.config)
        for _ in range(_ROUNDS):
            base, gains = best.config, []
            tried = [(change, config) for change in changes if (config := with_change(base, change)) is not None]
            for batch in trials.batches(tried):
                found = trials.count([config for _, config in batch])
                if self._stop.is_set():
                    return
                for (change, config), counts in zip(batch, found, strict=True):
                    gains.append((agreement(counts), change))
                    if agreement(counts) > agreement(best.after) + _LEAST_GAIN:
                        best = replace(best, config=config, after=counts)
                best = replace(best, tried=best.tried + len(batch))
                self._put(best)
            if best.config == base:
                break
            changes = [change for _, change in sorted(gains, key=lambda gain: -gain[0])[:_BEST]]
            changes += _further(best.config, base)
        self._put(replace(best, is_complete=True))


def _further(config: Config, base: Config) -> list[Change]:
    """Return further changes of the values that the last round changed."""
    changed = {name for name, _, _ in differences(base, config)}
    return [change for change in neighbours(config) if change[0] in changed]


class _Trials:
    """Runs settings over the frames around the labels, several at a time, and counts."""

    def __init__(self, problem: Problem, opener: Opener, stop: threading.Event) -> None:
        self._problem, self._opener, self._stop = problem, opener, stop
        self._spans = _spans(problem.truth.numbers, problem.number)
        self._numbers = set(problem.truth.numbers)
        self._rate_hz = DEFAULT_RATE_HZ
        self._size: tuple[int, int] | None = None
        self._origin: tuple[float, int] | None = None
        self.labelled = 0
        """Frames with labels that were compared in the last run."""

    def batches(self, tried: Sequence[tuple[Change, Config]]) -> Iterator[Sequence[tuple[Change, Config]]]:
        """Yield settings in groups whose models together take bounded memory."""
        height, width = self._size or (1, 1)
        most = max(1, _MODELS_BYTES // (_BYTES_PER_PIXEL * height * width))
        for begin in range(0, len(tried), most):
            yield tried[begin : begin + most]

    def count(self, configs: Sequence[Config]) -> list[Counts]:
        """Return the counts of each of some settings."""
        totals = [Counts() for _ in configs]
        self.labelled = 0
        for first, last in self._spans:
            pipelines: list[Pipeline] = []
            for packet, rate_hz in self._frames(first, last):
                if self._stop.is_set():
                    return totals
                if not pipelines:
                    pipelines = [self._make(config, rate_hz) for config in configs]
                masks = [pipeline.step(packet).mask for pipeline in pipelines]
                if packet.number not in self._numbers:
                    continue
                found = self._problem.truth.read(packet.number, packet.frame.shape[:2])
                if found is not None:
                    selected = scored_pixels(*found)
                    totals = [total + count_pixels(mask, *selected) for total, mask in zip(totals, masks, strict=True)]
                    self.labelled += 1
        return totals

    def _make(self, config: Config, rate_hz: float | None) -> Pipeline:
        detector = config.make_detector(rate_hz=rate_hz, threads=1)
        return Pipeline(
            detector,
            postprocess=config.postprocess,
            learning_rate=config.learning_rate,
            region=self._problem.region,
            warmup=0,
        )

    def _frames(self, first: int, last: int) -> Iterator[tuple[Packet, float | None]]:
        """Yield the frames from and to a number."""
        with self._opener(self._problem.source, start=self._start_s(first)) as source:
            rate_hz = source.info.rate_hz
            while (packet := source.read()) is not None and packet.number <= last:
                self._size = packet.frame.shape[0], packet.frame.shape[1]
                if packet.number >= first:
                    yield packet, rate_hz

    def _start_s(self, number: int) -> float | None:
        """Return the time in the source of a frame number; None for the beginning."""
        if self._origin is None:
            with self._opener(self._problem.source, start=None) as source:
                packet = source.read()
                self._rate_hz = source.info.rate_hz or DEFAULT_RATE_HZ
            self._origin = (0.0, 1) if packet is None else (packet.time_s, packet.number)
        time_s, begin = self._origin
        return None if number <= begin else max(0.0, time_s + (number - begin - 0.5) / self._rate_hz)


def _spans(numbers: Sequence[int], near: int) -> list[tuple[int, int]]:
    """Return first and last number of the parts to process: each begins before its first label, to learn."""
    groups: list[tuple[int, int]] = []
    for number in numbers:
        first = max(1, number - _LEARNING_FRAMES)
        if groups and first <= groups[-1][1]:
            groups[-1] = groups[-1][0], number
        else:
            groups.append((first, number))
    groups.sort(key=lambda span: 0 if span[0] <= near <= span[1] else min(abs(span[0] - near), abs(span[1] - near)))
    chosen: list[tuple[int, int]] = []
    left = _MOST_FRAMES
    for first, last in groups:
        if last - first + 1 > left:
            if not chosen:  # one long part: what lies round the frame shown
                end = min(last, max(near, first + left - 1))
                chosen.append((max(first, end - left + 1), end))
            break
        chosen.append((first, last))
        left -= last - first + 1
    return sorted(chosen)
