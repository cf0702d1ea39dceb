"""Milliseconds per frame of several detectors that take turns on the same frames."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import compiled, run_bands
from bgsub.bench.clips import Clip
from bgsub.bench.specs import YARDSTICK, DetectorSpec
from bgsub.frames import Frame

__all__ = ["TURN", "Row", "take_turns"]

TURN = 4
"""Frames that a detector processes before the next one's turn, the first of them untimed."""


@dataclass(frozen=True, slots=True)
class Row:
    """Measurements of one detector on one clip."""

    clip: str
    detector: str
    size: tuple[int, int]
    """(height, width) in pixels."""
    threads: int
    ms: float
    """Median time per frame in milliseconds."""
    relative: float
    """Median ratio to the time of MOG2 in the same turn."""
    relative_quartiles: tuple[float, float]
    """First and third quartile of these ratios, a measure of the noise."""
    turns: int
    """Number of turns measured."""
    state_bytes: int | None
    """Size of the model; None if unknown."""
    floor_ms: float | None
    """Time in milliseconds to copy as many bytes as the state has, with the same threads; None if unknown."""
    rescaled: bool
    """Whether the frames were given this size, the same for all clips."""


@compiled  # type: ignore[untyped-decorator,unused-ignore]
def _copy(first_row, last_row, source, target):  # type: ignore[no-untyped-def]
    for y in range(first_row, last_row):
        row, copied = source[y], target[y]
        for x in range(source.shape[1]):
            copied[x] = row[x]


def take_turns(
    clip: Clip,
    specs: Sequence[DetectorSpec],
    threads: int,
    rounds: int,
    rows: list[Row],
    progress: Callable[[], object] | None = None,
) -> None:
    """Measure detectors on one clip, with one number of threads, and append their rows.

    New models see the warm-up frames first, so that code is compiled and the models have filled. Then they take turns,
    so that a machine that slows down slows all of them. A turn is one untimed frame, which brings the model's state
    into the caches as far as it fits, as it is for a model in use, then three timed ones.

    Parameters
    ----------
    clip : Clip
        The frames.
    specs : sequence of DetectorSpec
        The detectors, MOG2 among them.
    threads : int
        Number of threads; the caller sets OpenCV's.
    rounds : int
        Turns of each detector.
    rows : list of Row
        Receives a row per detector. If the measurement is interrupted, the rows have the turns that are complete.
    progress : callable, optional
        Called after each round.
    """
    mask = np.empty(clip.size, np.uint8)
    models = {spec.name: spec.make(threads=threads, rate_hz=clip.rate_hz) for spec in specs}
    steps = {spec.name: spec.step(models[spec.name], mask) for spec in specs}
    for index in range(clip.warmup):
        for step in steps.values():
            step(clip.frame(index))
    states = {name: _memory_bytes(model) for name, model in models.items()}
    copies = {state: _copy_of(state, clip.size, threads) for state in set(states.values()) if state}
    calls: dict[str | int, Callable[[Frame], object]] = dict([*steps.items(), *copies.items()])
    times_s: dict[str | int, list[float]] = {key: [] for key in calls}
    try:
        for turn in range(rounds):
            frames = [clip.frame(clip.warmup + TURN * turn + step) for step in range(TURN)]
            for key, call in calls.items():
                times_s[key].append(_mean_time(call, frames))
            if progress is not None:
                progress()
    finally:
        rows += _make_rows(clip, threads, states, times_s)


def _make_rows(
    clip: Clip, threads: int, states: dict[str, int | None], times_s: dict[str | int, list[float]]
) -> list[Row]:
    """Return the rows of the rounds that are complete, none if there is no such round."""
    turns = min(map(len, times_s.values()))
    if turns == 0:
        return []
    times: dict[str | int, NDArray[Any]] = {key: np.array(found[:turns]) for key, found in times_s.items()}
    rows = []
    for name, state in states.items():
        ratios = times[name] / times[YARDSTICK]
        first, median, third = (float(value) for value in np.percentile(ratios, (25, 50, 75)))
        floor_ms = float(np.median(times[state]) * 1e3) if state else None
        ms = float(np.median(times[name]) * 1e3)
        quartiles = (first, third)
        rows.append(
            Row(clip.name, name, clip.size, threads, ms, median, quartiles, turns, state, floor_ms, clip.rescaled)
        )
    return rows


def _mean_time(call: Callable[[Frame], object], frames: Sequence[Frame]) -> float:
    """Return the mean time in seconds of the calls after the first."""
    call(frames[0])
    start = time.perf_counter()
    for frame in frames[1:]:
        call(frame)
    return (time.perf_counter() - start) / (len(frames) - 1)


def _memory_bytes(model: Any) -> int | None:
    memory = getattr(model, "memory_bytes", None)
    if callable(memory):
        memory = memory()
    return None if memory is None else int(memory)


def _copy_of(state_bytes: int, size: tuple[int, int], threads: int) -> Callable[[Frame], object]:
    """Return a function that copies so many bytes, and copy them once, so that it is compiled."""
    source = np.ones((size[0], max(1, state_bytes // size[0])), np.uint8)
    copy = partial(run_bands, _copy, size, threads, source, np.ones_like(source))
    copy()
    return lambda _: copy()
