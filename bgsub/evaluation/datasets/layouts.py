"""The layouts of data sets, and the search for sequences in any of them."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.change_detection import find_change_detection
from bgsub.evaluation.datasets.hand_segmented import find_i2r, find_wallflower
from bgsub.evaluation.datasets.lasiesta import find_lasiesta
from bgsub.evaluation.datasets.listing import Candidate, Listing
from bgsub.evaluation.datasets.sequence import Sequence

__all__ = ["LAYOUTS", "Layout", "find_sequences"]


@dataclass(frozen=True, slots=True)
class Layout:
    """One way of arranging the frames and labels of a data set in folders."""

    title: str
    """Name of the data set or format."""
    form: str
    """Its folders and files in a few words, for messages."""
    find: Callable[[Listing], list[Candidate]]
    """Returns the sequences that the listing of one folder shows."""


LAYOUTS: dict[str, Layout] = {
    "change-detection": Layout("CDnet, SBI2015 and alike", "input/ and groundtruth/", find_change_detection),
    "lasiesta": Layout("LASIESTA", "NAME/ and NAME-GT/", find_lasiesta),
    "wallflower": Layout("Wallflower", "hand_segmented_NNNNN.BMP among the frames", find_wallflower),
    "i2r": Layout("I2R", "gt_new_*NNNN.bmp among the frames or in GroundTruth/", find_i2r),
}
"""Known layouts by name; where a folder fits several, the first that claims it wins."""


def find_sequences(
    path: str | Path,
    *,
    layout: str | None = None,
    on_error: Callable[[Path, DatasetError], None] | None = None,
) -> list[Sequence]:
    """Find every sequence in a folder and the folders below it, in any of the known layouts.

    In the layout of the change-detection benchmark, a sequence is a folder with `input/` and `groundtruth/`, whose
    images are matched by the number at the end of their names. `temporalROI.txt` names the first and the last frame to
    score, otherwise all are; of these, frames without labels are not scored. `ROI.bmp` may name the pixels to score.
    The other layouts are those of LASIESTA, Wallflower and I2R.

    Parameters
    ----------
    path : path
        A data set, a category or a single sequence.
    layout : str, optional
        A name of `LAYOUTS`, to search for this layout only.
    on_error : callable, optional
        Called with the folder and the error of a sequence that is wrong, which is then left out.

    Returns
    -------
    list of Sequence
        Sorted by path.

    Raises
    ------
    DatasetError
        If there is no sequence, or, without `on_error`, a file of one is missing or wrong.
    ValueError
        If there is no such layout.
    """
    if layout is not None and layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, got {layout!r}")
    root = Path(path).resolve()
    if not root.is_dir():
        raise DatasetError(f"no data set at {path}: there is no such folder")
    layouts = list(LAYOUTS.values()) if layout is None else [LAYOUTS[layout]]
    found = sorted(_candidates(root, layouts), key=lambda candidate: candidate.folder)
    if not found:
        forms = "; or ".join(layout.form for layout in layouts)
        raise DatasetError(f"no sequence in {path}: none of its folders has {forms}")
    sequences = []
    for candidate in found:
        try:
            sequences.append(candidate.open())
        except DatasetError as error:
            if on_error is None:
                raise
            on_error(candidate.folder, error)
    return sequences


def _candidates(root: Path, layouts: list[Layout]) -> Iterator[Candidate]:
    """Search a tree from the top; folders that belong to a sequence are not searched themselves."""
    for name, folders, files in os.walk(root):
        listing = Listing(Path(name), tuple(sorted(folders)), tuple(sorted(files)))
        for layout in layouts:
            candidates = layout.find(listing)
            if candidates:
                yield from candidates
                used = frozenset().union(*(candidate.uses for candidate in candidates))
                folders[:] = [folder for folder in folders if folder not in used]
                break
