"""Measure detectors on several clips, sizes and numbers of threads."""

import logging
from collections.abc import Callable, Iterable, Sequence

from bgsub._numba import available_threads
from bgsub._opencv import cv2
from bgsub.bench.clips import ClipSource
from bgsub.bench.profiles import profile
from bgsub.bench.report import Report
from bgsub.bench.specs import YARDSTICK, DetectorSpec, default_specs, parse
from bgsub.bench.turns import TURN, Row, take_turns

__all__ = ["CLIP_ROUNDS", "SCENE_ROUNDS", "bench", "count_steps"]

logger = logging.getLogger(__name__)

SCENE_ROUNDS = 20
"""Turns of each detector on a generated scene,"""
CLIP_ROUNDS = 50
"""and on real content, where 50 turns show each frame of a clip of 300 once after the warm-up."""


def bench(
    clips: Iterable[ClipSource],
    detectors: Sequence[DetectorSpec] = (),
    threads: Sequence[int] = (1, 0),
    *,
    rounds: int = CLIP_ROUNDS,
    with_stages: bool = False,
    report: Report | None = None,
    progress: Callable[[], object] | None = None,
) -> Report:
    """Measure detectors beside OpenCV's MOG2, all on the same decoded frames in one process.

    A clip is decoded once, and only one clip is in memory at a time. `take_turns` describes how times are measured.

    Parameters
    ----------
    clips : iterable of ClipSource
        What to measure on.
    detectors : sequence of DetectorSpec
        What to measure; `default_specs()` if empty. MOG2 is measured in any case.
    threads : sequence of int
        Numbers of threads, 0 for one per CPU; OpenCV gets the same.
    rounds : int
        Turns of each detector.
    with_stages : bool
        Whether to measure the stages of a run as well, of detectors of this package's kind.
    report : Report, optional
        Receives the measurements as they are made, so that an interrupted benchmark leaves those before.
    progress : callable, optional
        Called after each of `count_steps` steps.

    Returns
    -------
    Report
        By clip, number of threads and detector.

    Raises
    ------
    BgsubError
        If a clip cannot be read.
    ValueError
        If `rounds` is not positive.

    Examples
    --------
    >>> from bgsub.bench import scene_clip
    >>> report = bench([scene_clip((48, 64))], [parse("norma")], [1], rounds=2)
    >>> [row.detector for row in report.rows], report.rows[-1].relative
    (['norma', 'mog2'], 1.0)
    """
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")
    report = Report() if report is None else report
    specs = _complete(detectors)
    before = cv2.getNumThreads()
    try:
        for source in clips:
            clip = source.read()
            report.add_clip(clip)
            for count in _distinct(threads):
                cv2.setNumThreads(count)
                measured = len(report.rows)
                take_turns(clip, specs, count, rounds, report.rows, progress)
                _log(report.rows[measured:])
                for spec in _staged(specs) if with_stages else ():
                    report.stages.extend(profile(clip, spec, count, rounds * TURN))
                    if progress is not None:
                        progress()
    finally:
        cv2.setNumThreads(before)
    return report


def count_steps(
    clips: int, detectors: Sequence[DetectorSpec], threads: Sequence[int], *, rounds: int, with_stages: bool
) -> int:
    """Return how often `bench` calls `progress` for so many clips."""
    staged = len(_staged(_complete(detectors))) if with_stages else 0
    return clips * len(_distinct(threads)) * (rounds + staged)


def _complete(detectors: Sequence[DetectorSpec]) -> list[DetectorSpec]:
    """Return each detector once, by default the usual ones, and MOG2."""
    chosen = {spec.name: spec for spec in detectors or default_specs()}
    chosen.setdefault(YARDSTICK, parse(YARDSTICK))
    return list(chosen.values())


def _staged(specs: Sequence[DetectorSpec]) -> list[DetectorSpec]:
    return [spec for spec in specs if spec.detector is not None]


def _distinct(threads: Sequence[int]) -> list[int]:
    return list(dict.fromkeys(number or available_threads() for number in threads))


def _log(rows: Sequence[Row]) -> None:
    for row in rows:
        logger.info("%s, %d threads, %s: %.2f ms", row.clip, row.threads, row.detector, row.ms)
