"""The change-detection protocol: run models over sequences with ground truth and measure them."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from bgsub.errors import UnsupportedError
from bgsub.evaluation.dataset import GroundTruth, Sequence, find_sequences
from bgsub.evaluation.metrics import MEASURES, Counts, Roc, RocCounter, count_pixels, mean_measures, scored_pixels
from bgsub.evaluation.report import Mean, Report, Row, Sample, contact_sheet, plot_roc
from bgsub.frames import Frame, Mask

__all__ = [
    "MEASURES",
    "Counts",
    "GroundTruth",
    "Mean",
    "Model",
    "Report",
    "Roc",
    "Row",
    "Sample",
    "Sequence",
    "contact_sheet",
    "count_pixels",
    "evaluate",
    "find_sequences",
    "mean_measures",
    "plot_roc",
    "scored_pixels",
]

logger = logging.getLogger(__name__)


class Model(Protocol):
    """What is evaluated: a detector of ours, of OpenCV or anybody's.

    With `score(frame) -> (H, W) float32` it can have a ROC curve, with `memory_bytes` (a number or a method) its
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

    Every frame of a sequence is shown to a fresh model in the order of its number. Frames from `first` to `last`
    are scored, pixel by pixel: label 255 is positive, 0 and 50 (shadow) are negative, others do not count, nor does
    what lies outside the region of interest. Counts are pooled over a video, measures are computed from them, then
    averaged.

    Parameters
    ----------
    sequences : iterable of Sequence
        From `find_sequences`.
    make_model : callable, or mapping of names to callables
        Called with each sequence, returns a new `Model`.
    postprocess : callable, optional
        Takes a mask of 0 and 255 and returns the one to score.
    progress : callable, optional
        Called after each frame with the model's name, the sequence, and how many of how many frames are done.
    roc : bool
        Whether to score `model.score(frame)`, asked for before the frame is learned, at every threshold. Rows of
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
        If a mask or score has not the size of the frame.

    Examples
    --------
    >>> import tempfile
    >>> from bgsub._opencv import cv2
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
    rows = [
        _run(name, make(sequence), sequence, postprocess, progress, roc, samples)
        for name, make in makers.items()
        for sequence in sequences
    ]
    return Report(rows)


def _run(
    name: str,
    model: Any,
    sequence: Sequence,
    postprocess: Callable[[Mask], Mask] | None,
    progress: Progress | None,
    roc: bool,
    samples: int,
) -> Row:
    scored = sequence.scored
    keep = {scored[round(place)] for place in np.linspace(0, len(scored) - 1, samples)}
    counter = RocCounter() if roc and hasattr(model, "score") else None
    counts, kept, roi = Counts(), [], None
    durations = []
    begin = time.perf_counter()
    for done, number in enumerate(sequence.inputs, 1):
        frame = sequence.read_input(number)
        size = frame.shape[:2]
        if done == 1:
            roi = sequence.read_roi(size)
        is_scored = sequence.first <= number <= sequence.last
        if is_scored:
            labels = sequence.read_labels(number, size)
            positive, negative = scored_pixels(labels, roi)
            if counter is not None:
                try:
                    score = _checked(model.score(frame), size, name, "score")
                    counter.add(score, positive, negative)
                except UnsupportedError as error:
                    logger.info("%s has no ROC curve: %s", name, error)
                    counter = None
        start = time.perf_counter()
        raw = model.apply(frame)
        durations.append(time.perf_counter() - start)
        if is_scored:
            mask = _checked(raw, size, name, "mask")
            if postprocess is not None:
                mask = postprocess(np.where(mask == 255, np.uint8(255), np.uint8(0)))
            counts += count_pixels(mask, positive, negative)
            if number in keep:
                kept.append(Sample(number, frame, labels, mask.copy()))
        if progress is not None:
            progress(name, sequence, done, len(sequence.inputs))
    total = time.perf_counter() - begin
    steady = durations[1:] or durations  # the first frame may compile and allocate
    return Row(
        model=name,
        category=sequence.category,
        sequence=sequence.name,
        counts=counts,
        frames=len(durations),
        scored=len(scored),
        model_hz=len(steady) / max(sum(steady), 1e-9),
        total_hz=len(durations) / total,
        memory_bytes=_memory(model),
        roc=None if counter is None else counter.roc(),
        samples=tuple(kept),
    )


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
