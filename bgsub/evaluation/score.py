"""Score masks that any program wrote."""

import math
from collections.abc import Iterable
from pathlib import Path

from bgsub._lab.machine import describe_machine
from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.results import ResultFolder
from bgsub.evaluation.datasets.sequence import Sequence
from bgsub.evaluation.metrics import Counts, count_pixels, scored_pixels
from bgsub.evaluation.reports.report import Report, Row
from bgsub.evaluation.runs import Failure

__all__ = ["score_masks"]


def score_masks(
    sequences: Iterable[Sequence], folder: str | Path, *, name: str | None = None, keep_going: bool = False
) -> tuple[Report, list[Failure]]:
    """Compare a folder of masks with the labels, by the rules of `evaluate`.

    `ResultFolder` describes where masks lie and which values are foreground; those that `evaluate` or
    changedetection.net's tools write are found.

    Parameters
    ----------
    sequences : iterable of Sequence
    folder : path
        The results.
    name : str, optional
        Name of the method; that of the folder by default.
    keep_going : bool
        Whether a sequence with a missing or damaged mask is left out, instead of raising.

    Returns
    -------
    report : Report
        Its times are NaN.
    failures : list of Failure
        Empty without `keep_going`.

    Raises
    ------
    DatasetError
        If the folder, a mask of a frame that is scored, or a file of the data set is missing or damaged.
    """
    found = ResultFolder(folder)
    name = name or found.path.resolve().name
    rows, failures = [], []
    for sequence in sequences:
        try:
            rows.append(_score(sequence, found, name))
        except DatasetError as error:
            if not keep_going:
                raise
            failures.append(Failure(name, sequence.identity, str(error)))
    return Report(rows, provenance=describe_machine() | {"masks": str(folder)}), failures


def _score(sequence: Sequence, folder: ResultFolder, name: str) -> Row:
    masks, missing = folder.masks(sequence), folder.missing(sequence)
    if not masks:
        raise DatasetError(f"no masks of {sequence.identity} in {folder.path}")
    if missing:
        raise DatasetError(f"no mask of frame {missing[0]} of {sequence.identity}, {len(missing)} are missing")
    height, width = sequence.read_input(sequence.scored[0]).shape[:2]
    size, counts = (height, width), Counts()
    roi = sequence.read_roi(size)
    for number in sequence.scored:
        labels = sequence.read_labels(number, size)
        counts += count_pixels(folder.read(sequence, number, size), *scored_pixels(labels, roi))
    return Row(
        model=name,
        category=sequence.category,
        sequence=sequence.name,
        counts=counts,
        frames=len(masks),
        scored=len(sequence.scored),
        model_hz=math.nan,
        total_hz=math.nan,
        memory_bytes=None,
        unlabelled=sequence.unlabelled,
        family=sequence.family,
        data=sequence.digest(),
    )
