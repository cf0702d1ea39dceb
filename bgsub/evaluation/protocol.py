"""The change-detection protocol: run models over sequences with ground truth and measure them."""

import functools
import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from bgsub.errors import DatasetError, UnsupportedError
from bgsub.evaluation.datasets.sequence import Sequence
from bgsub.evaluation.metrics import Counts, count_pixels, scored_pixels
from bgsub.evaluation.reports.report import Report, Row, Sample
from bgsub.evaluation.roc import Roc, RocCounter
from bgsub.frames import Frame, Mask, Score

__all__ = ["MakeModel", "Model", "Progress", "evaluate", "measure"]

logger = logging.getLogger(__name__)


class Model(Protocol):
    """The interface of a model: a detector of this package, of OpenCV or of anybody.

    With `score(frame) -> (H, W) float32` it can have a ROC curve; with `memory_bytes` (a number or a method) its
    size is reported.
    """

    def apply(self, image: Any, /) -> Any:
        """Learn a frame and return its (H, W) uint8 mask, in which only 255 is foreground."""


MakeModel = Callable[[Sequence], Any]
Progress = Callable[[str, Sequence, int, int], None]


def evaluate(
    sequences: Iterable[Sequence],
    make_model: MakeModel | Mapping[str, MakeModel],
    *,
    postprocess: Callable[[Mask], Mask] | None = None,
    progress: Progress | None = None,
    roc: bool = False,
    samples: int = 0,
) -> Report:
    """Run models over sequences and measure their masks as the change-detection benchmark does.

    Every frame of a sequence is shown to a fresh model in the order of its number. Those of `sequence.scored` are
    scored, pixel by pixel: label 255 is positive, 0 and 50 (shadow) are negative, others do not count, nor do pixels
    outside the region of interest. Counts are pooled per video, and measures are computed from them, then averaged.

    Parameters
    ----------
    sequences : iterable of Sequence
        From `find_sequences`.
    make_model : callable, or mapping of names to callables
        Called with each sequence; returns a new `Model`.
    postprocess : callable, optional
        Receives a mask of 0 and 255 and returns the one to score.
    progress : callable, optional
        Called after each frame with the model's name, the sequence, the number of frames done and the number of all.
    roc : bool
        Whether to evaluate `model.score(frame)`, computed before the frame is learned, at every threshold. Rows of
        models without a score have no curve.
    samples : int
        Number of scored frames of each sequence, evenly spaced, to keep for `contact_sheet`.

    Returns
    -------
    Report

    Raises
    ------
    DatasetError
        If a file cannot be read.
    ValueError
        If the size of a mask or score differs from that of the frame.

    Examples
    --------
    >>> import tempfile
    >>> from bgsub._opencv import cv2
    >>> from bgsub.evaluation.datasets import find_sequences
    >>> from bgsub.video.sources.synthetic import SyntheticScene, write_sample
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = write_sample(folder.name, SyntheticScene(size=(60, 80), frames=20))
    >>> report = evaluate(find_sequences(folder.name), {"mog2": lambda sequence: cv2.createBackgroundSubtractorMOG2()})
    >>> report.rows[0].scored
    16
    >>> folder.cleanup()
    """
    if samples < 0:
        raise ValueError(f"samples must not be negative, got {samples}")
    makers = make_model if isinstance(make_model, Mapping) else {"model": make_model}
    sequences = list(sequences)
    rows = []
    for name, make in makers.items():
        for sequence in sequences:
            done = itertools.count(1)
            report_frame = None
            if progress is not None:
                report_frame = functools.partial(_report, progress, name, sequence, done)
            rows.append(
                measure(
                    name,
                    make(sequence),
                    sequence,
                    postprocess=postprocess,
                    roc=roc,
                    samples=samples,
                    on_frame=report_frame,
                )
            )
    return Report(rows)


def _report(progress: Progress, name: str, sequence: Sequence, done: Iterator[int]) -> None:
    progress(name, sequence, next(done), len(sequence.numbers))


def measure(
    name: str,
    model: Any,
    sequence: Sequence,
    *,
    postprocess: Callable[[Mask], Mask] | None = None,
    roc: bool = False,
    samples: int = 0,
    on_mask: Callable[[int, Mask], object] | None = None,
    on_frame: Callable[[], object] | None = None,
) -> Row:
    """Show all frames of a sequence to a new model and measure its masks; see `evaluate`.

    Parameters
    ----------
    on_mask : callable, optional
        Called with the number and the mask, of 0 and 255, of every frame.
    on_frame : callable, optional
        Called after every frame.
    """
    run = _Run(name, model, sequence, postprocess)
    run.on_mask = on_mask
    if roc:
        run.keep_scores()
    run.keep_samples(samples)
    for number in sequence.numbers:
        run.step(number)
        if on_frame is not None:
            on_frame()
    return run.row()


class _Run:
    """One model on one sequence: receives the frames one by one and accumulates the measurements."""

    def __init__(self, name: str, model: Any, sequence: Sequence, postprocess: Callable[[Mask], Mask] | None) -> None:
        self._name, self._model, self._sequence, self._postprocess = name, model, sequence, postprocess
        self._counts, self._scored = Counts(), set(sequence.scored)
        self._timeline: list[tuple[int, int, int, int, int]] = []
        self._scores: RocCounter | None = None
        self._sampled: set[int] = set()
        self._samples: list[Sample] = []
        self._roi: Mask | None = None
        self._durations_s: list[float] = []
        self._first_kind = ""
        self._begin_s = time.perf_counter()
        self.on_mask: Callable[[int, Mask], object] | None = None

    def keep_scores(self) -> None:
        """Count the scores for a ROC curve, if the model has any."""
        if hasattr(self._model, "score"):
            self._scores = RocCounter()

    def keep_samples(self, count: int) -> None:
        """Keep so many of the scored frames, evenly spaced."""
        scored = self._sequence.scored
        self._sampled = {scored[round(index)] for index in np.linspace(0, len(scored) - 1, count)}

    def step(self, number: int) -> None:
        """Show a frame to the model and measure its mask, and before that its score, if the frame is scored."""
        sequence = self._sequence
        frame = sequence.read_input(number)
        size = frame.shape[:2]
        self._check_kind(frame, number)
        if not self._durations_s:
            self._roi = sequence.read_roi(size)
        scored = number in self._scored
        if scored:
            labels = sequence.read_labels(number, size)
            positive, negative = scored_pixels(labels, self._roi)
            score = self._score(frame)
            if self._scores is not None and score is not None:
                self._scores.add(score, positive, negative)
        mask = self._apply(frame)
        if not scored and self.on_mask is None:
            return
        mask = _checked(mask, size, self._name, "mask")
        if self._postprocess is not None:
            mask = self._postprocess(np.where(mask == 255, np.uint8(255), np.uint8(0)))
        if self.on_mask is not None:
            self.on_mask(number, np.where(mask == 255, np.uint8(255), np.uint8(0)))
        if scored:
            counts = count_pixels(mask, positive, negative)
            self._counts += counts
            self._timeline.append((number, counts.tp, counts.fp, counts.fn, counts.tn))
        if number in self._sampled:
            if self._roi is not None:
                labels = np.where(self._roi != 0, labels, np.uint8(85))
            self._samples.append(Sample(number, frame, labels, mask.copy()))

    def _check_kind(self, frame: Frame, number: int) -> None:
        """Refuse a frame of another size or kind than the first, by its name."""
        kind = _kind(frame)
        self._first_kind = self._first_kind or kind
        if kind != self._first_kind:
            name = self._sequence.frame_name(number)
            raise DatasetError(f"{name} is {kind} but the sequence began with {self._first_kind}; replace it")

    def row(self) -> Row:
        """Return the measurements of the frames shown."""
        total_s = time.perf_counter() - self._begin_s
        steady = self._durations_s[1:] or self._durations_s  # the first frame may compile and allocate
        return Row(
            model=self._name,
            category=self._sequence.category,
            sequence=self._sequence.name,
            counts=self._counts,
            frames=len(self._durations_s),
            scored=len(self._scored),
            unlabelled=self._sequence.unlabelled,
            family=self._sequence.family,
            model_hz=len(steady) / max(sum(steady), 1e-9),
            total_hz=len(self._durations_s) / total_s,
            memory_bytes=_memory(self._model),
            roc=self._roc(),
            samples=tuple(self._samples),
            knob=getattr(self._sequence, "knob", None),
            timeline=np.array(self._timeline, np.int64).reshape(-1, 5),
        )

    def _roc(self) -> Roc | None:
        return None if self._scores is None else self._scores.roc()

    def _apply(self, frame: Frame) -> Any:
        start = time.perf_counter()
        raw = self._model.apply(frame)
        self._durations_s.append(time.perf_counter() - start)
        return raw

    def _score(self, frame: Frame) -> Score | None:
        """Return the model's score, None from the first time on that the model has none."""
        if self._scores is None:
            return None
        try:
            score: Score = _checked(self._model.score(frame), frame.shape[:2], self._name, "score")
        except UnsupportedError as error:
            logger.info("%s has no ROC curve: %s", self._name, error)
            self._scores = None
            return None
        return score


def _kind(frame: Frame) -> str:
    colours = "grey" if frame.ndim == 2 else "colour"
    return f"{frame.shape[1]}x{frame.shape[0]}, {colours}, {frame.dtype}"


def _checked(array: Any, size: tuple[int, int], name: str, what: str) -> Frame:
    if not isinstance(array, np.ndarray) or array.shape != size:
        got = array.shape if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"the {what} of {name} must have the frame's shape {size}, got {got}")
    return array


def _memory(model: Any) -> int | None:
    memory = getattr(model, "memory_bytes", None)
    if callable(memory):
        memory = memory()
    return None if memory is None else int(memory)
