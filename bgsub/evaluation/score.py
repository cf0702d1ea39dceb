"""Score masks that any program wrote."""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bgsub._opencv import cv2
from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.sequence import Sequence, read_image
from bgsub.evaluation.metrics import Counts, count_pixels, scored_pixels
from bgsub.evaluation.reports.report import Report, Row
from bgsub.evaluation.runs import Failure
from bgsub.frames import Mask

__all__ = ["score_masks"]

_LOSSY = {".jpg", ".jpeg"}
_IMAGES = _LOSSY | {".png", ".bmp", ".tif", ".tiff", ".pgm", ".gif"}


def score_masks(
    sequences: Iterable[Sequence], folder: str | Path, *, name: str | None = None, keep_going: bool = False
) -> tuple[Report, list[Failure]]:
    """Compare a folder of masks with the labels, by the rules of `evaluate`.

    Masks lie in ``CATEGORY/VIDEO/``, as changedetection.net takes results, or in ``VIDEO/`` or, for one sequence, in
    the folder itself. They are matched by the number at the end of their names, such as ``bin000470.png``. Foreground
    is 255; in images of 0 and 1 it is 1, and in JPEG images all that is brighter than the middle, as
    changedetection.net's own tool has it.

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
    folder, sequences = Path(folder), list(sequences)
    name = name or folder.resolve().name
    if not folder.is_dir():
        raise DatasetError(f"no results at {folder}: there is no such folder")
    rows, failures = [], []
    for sequence in sequences:
        try:
            rows.append(_score(sequence, _find_folder(folder, sequence, alone=len(sequences) == 1), name))
        except DatasetError as error:
            if not keep_going:
                raise
            failures.append(Failure(name, sequence.identity, str(error)))
    return Report(rows, provenance={"masks": str(folder)}), failures


def _find_folder(root: Path, sequence: Sequence, *, alone: bool) -> Path:
    candidates = [root / sequence.category / sequence.name, root / sequence.name, *([root] if alone else [])]
    for candidate in candidates:
        if candidate.is_dir() and (candidate != root or _number_masks(root)):
            return candidate
    raise DatasetError(f"no masks of {sequence.identity} in {root}: there is no folder {candidates[0]}")


def _number_masks(folder: Path) -> dict[int, Path]:
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        digits = re.search(r"(\d+)$", path.stem)
        if path.suffix.lower() not in _IMAGES or digits is None:
            continue
        number = int(digits[1])
        if number in found:
            raise DatasetError(f"{folder} has two masks of number {number}: {found[number].name} and {path.name}")
        found[number] = path
    return found


def _score(sequence: Sequence, folder: Path, name: str) -> Row:
    masks = _number_masks(folder)
    missing = [number for number in sequence.scored if number not in masks]
    if missing:
        raise DatasetError(f"{folder} has no mask of frame {missing[0]}, {len(missing)} are missing")
    counts, roi = Counts(), None
    for index, number in enumerate(sequence.scored):
        mask = _read_mask(masks[number])
        size = (mask.shape[0], mask.shape[1])
        if index == 0:
            roi = sequence.read_roi(size)
        counts += count_pixels(mask, *scored_pixels(sequence.read_labels(number, size), roi))
    return Row(
        model=name,
        category=sequence.category,
        sequence=sequence.name,
        counts=counts,
        frames=len(masks),
        scored=len(sequence.scored),
        model_hz=float("nan"),
        total_hz=float("nan"),
        memory_bytes=None,
        unlabelled=sequence.unlabelled,
        family=sequence.family,
        data=sequence.digest(),
    )


def _read_mask(path: Path) -> Mask:
    mask = read_image(path, cv2.IMREAD_GRAYSCALE)
    if path.suffix.lower() in _LOSSY:
        return np.where(mask >= 128, np.uint8(255), np.uint8(0))
    return np.where(mask == 1, np.uint8(255), np.uint8(0)) if int(mask.max()) == 1 else np.asarray(mask, np.uint8)
