"""Milliseconds per frame of each detector and of OpenCV's, on the same frames in the same process."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._input.frame_size import check_made_size
from bgsub._numba import available_threads, kernel, run_bands
from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.frames import Frame
from bgsub.video.sources.synthetic.scene import SyntheticScene

__all__ = ["DEFAULT_SIZES", "Row", "bench", "make_frames", "table"]

DEFAULT_SIZES = ((240, 320), (480, 640), (720, 1280), (1080, 1920), (2160, 3840))
"""(height, width) of the frames."""

_TURN = 4  # frames a detector gets before the next one's turn, the first of them untimed
_DISTINCT = 24  # frames played forwards and backwards, so that every model sees motion at each step


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement."""

    detector: str
    size: tuple[int, int]
    threads: int
    ms: float
    """Median time per frame in milliseconds."""
    relative: float
    """Median ratio to the time of MOG2 in the same turn."""
    state_bytes: int
    floor_ms: float
    """Time in milliseconds to copy as many bytes as the state has, with the same threads; 0 if unknown."""


@kernel  # type: ignore[untyped-decorator,unused-ignore]
def _copy(first_row, last_row, source, target):  # type: ignore[no-untyped-def]
    for y in range(first_row, last_row):
        row, copied = source[y], target[y]
        for x in range(source.shape[1]):
            copied[x] = row[x]


def bench(
    sizes: Sequence[tuple[int, int]] = DEFAULT_SIZES,
    threads: Sequence[int] = (1, 0),
    *,
    rounds: int = 20,
    progress: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Measure adaptive, norma, norma learning every frame, and olk with 8 slots beside OpenCV's MOG2 and KNN.

    The detectors take turns, so that a machine that slows down slows all of them. A turn is one untimed frame,
    which brings the model's state into the caches as far as it fits, as it is for a model in use, then three timed
    ones. Times are medians over turns, after the models have filled.

    Parameters
    ----------
    sizes : sequence of (height, width)
        Frame sizes.
    threads : sequence of int
        Numbers of threads, 0 for one per CPU; OpenCV gets the same.
    rounds : int
        Turns of each detector.
    progress : callable, optional
        Called with each row when it is measured.

    Returns
    -------
    list of Row
        By size, threads and detector; `mog2` and `knn` are OpenCV's own objects, without our interface.
    """
    for size in sizes:
        check_made_size(size)
    rows: list[Row] = []
    before = cv2.getNumThreads()
    try:
        for size in sizes:
            frames = make_frames(size)
            for count in dict.fromkeys(number or available_threads() for number in threads):
                cv2.setNumThreads(count)
                for row in _measure(frames, count, rounds):
                    rows.append(row)
                    if progress is not None:
                        progress(row)
    finally:
        cv2.setNumThreads(before)
    return rows


def _mean_time(calls: Sequence[Callable[[], object]]) -> float:
    """Return the mean time in seconds of the calls after the first."""
    calls[0]()
    start = time.perf_counter()
    for call in calls[1:]:
        call()
    return (time.perf_counter() - start) / (len(calls) - 1)


def table(rows: Sequence[Row]) -> str:
    """Return rows as an aligned table."""
    lines = [
        f"{'size':>10} {'threads':>7} {'detector':<14} {'ms/frame':>9} {'of MOG2':>8} {'MB state':>9} {'of copy':>8}"
    ]
    for row in rows:
        size = f"{row.size[1]}x{row.size[0]}"
        state = f"{row.state_bytes / 1e6:9.1f}" if row.state_bytes else " " * 9
        floor = f"{row.ms / row.floor_ms:8.2f}" if row.floor_ms else " " * 8
        lines.append(
            f"{size:>10} {row.threads:>7} {row.detector:<14} {row.ms:9.2f} {row.relative:8.2f} {state} {floor}".rstrip()
        )
    return "\n".join(lines)


def make_frames(size: tuple[int, int]) -> list[Frame]:
    """Make a scene with moving people, water and a tree once, and enlarge it, with new noise."""
    scene = SyntheticScene(size=(240, 320), frames=400)
    generator = np.random.default_rng(0)
    noise = generator.normal(0, 3, (size[0], size[1], 3)).astype(np.int16)
    frames = []
    for index in range(_DISTINCT):
        image = cv2.resize(scene.frame(100 + index)[0], (size[1], size[0]), interpolation=cv2.INTER_CUBIC)
        moved = np.roll(noise, (17 * index, 31 * index), (0, 1))
        frames.append(np.clip(image.astype(np.int16) + moved, 0, 255).astype(np.uint8))
    return frames + frames[-2:0:-1]


def _measure(frames: list[Frame], threads: int, rounds: int) -> list[Row]:
    size = (frames[0].shape[0], frames[0].shape[1])
    models: dict[str, Any] = {
        "adaptive": create("adaptive", threads=threads),
        "norma": create("norma", threads=threads),
        "norma every 1": create("norma", threads=threads, learn_every=1),
        "olk": create("olk", threads=threads, slots=8),
        "mog2": cv2.createBackgroundSubtractorMOG2(),
        "knn": cv2.createBackgroundSubtractorKNN(),
    }
    mask = np.empty(size, np.uint8)
    for frame in frames[:34]:
        for model in models.values():
            model.apply(frame, mask)
    times: dict[str, list[float]] = {name: [] for name in models}
    states = {name: getattr(model, "memory_bytes", 0) for name, model in models.items()}
    copies: dict[int, tuple[list[float], NDArray[np.uint8], NDArray[np.uint8]]] = {}
    for state in set(states.values()) - {0}:
        source = np.ones((size[0], state // size[0]), np.uint8)
        copies[state] = ([], source, np.ones_like(source))
    for turn in range(rounds):
        shown = [frames[(34 + _TURN * turn + step) % len(frames)] for step in range(_TURN)]
        for name, model in models.items():
            times[name].append(_mean_time([partial(model.apply, frame, mask) for frame in shown]))
        for durations, source, target in copies.values():
            durations.append(_mean_time([partial(run_bands, _copy, size, threads, source, target)] * _TURN))
    yardstick = np.array(times["mog2"])
    return [
        Row(
            name,
            size,
            threads,
            float(np.median(times[name]) * 1e3),
            float(np.median(np.array(times[name]) / yardstick)),
            states[name],
            float(np.median(copies[states[name]][0]) * 1e3) if states[name] else 0.0,
        )
        for name in models
    ]
