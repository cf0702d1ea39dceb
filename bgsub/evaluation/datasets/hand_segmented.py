"""The layouts of Wallflower and I2R, in which some frames of a video are segmented by hand.

K. Toyama, J. Krumm, B. Brumitt, B. Meyers: Wallflower: principles and practice of background maintenance. ICCV 1999.
L. Li, W. Huang, I. Y.-H. Gu, Q. Tian: Statistical modeling of complex backgrounds for foreground object detection.
IEEE Transactions on Image Processing 13(11), 2004.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.listing import Candidate, Listing
from bgsub.evaluation.datasets.sequence import FileSequence, Sequence, numbered_images, read_grey
from bgsub.frames import Mask

__all__ = ["find_i2r", "find_wallflower", "read_binary"]

_WALLFLOWER, _I2R = "hand_segmented_", "gt_new_"
_TRUTH_FOLDERS = ("groundtruth", "ground_truth", "gt")


@dataclass(frozen=True, slots=True)
class HandSegmented(FileSequence):
    """A video of which only chosen frames have labels; the others are not missing any."""

    @property
    def unlabelled(self) -> int:
        """Zero: no frame but the chosen ones is meant to be scored."""
        return 0


def read_binary(path: Path) -> Mask:
    """Read a mask of two grey levels as labels: 255 where it is brighter than half, else 0.

    Raises
    ------
    DatasetError
        If it cannot be read.
    """
    return np.where(read_grey(path) > 127, np.uint8(255), np.uint8(0))


def _open_sequence(origin: str, folder: Path, inputs: dict[int, Path], truths: dict[int, Path]) -> Sequence:
    """Open a video up to the last frame with labels; later ones change nothing."""
    missing = [number for number in truths if number not in inputs]
    if missing:
        raise DatasetError(f"{folder} has no frame {missing[0]}, which {truths[missing[0]].name} labels")
    first, last = min(truths), max(truths)
    shown = {number: path for number, path in inputs.items() if number <= last}
    return HandSegmented(folder.name, origin, origin, folder, shown, truths, first, last, read_binary)


def _has_labels(names: Iterable[str], prefix: str) -> bool:
    return any(name.lower().startswith(prefix) for name in names)


def _open_mixed(origin: str, prefix: str, folder: Path, labels: Path) -> Sequence:
    """Open a video whose frames have a folder; all labels of the other folder, maybe the same, are its own."""
    inputs = numbered_images(folder, lambda stem: not stem.startswith(prefix))
    return _open_sequence(origin, folder, inputs, numbered_images(labels, lambda stem: stem.startswith(prefix)))


def find_wallflower(listing: Listing) -> list[Candidate]:
    """Find the sequence in a folder of frames with a mask called `hand_segmented_NNNNN.BMP` among them."""
    if not _has_labels(listing.files, _WALLFLOWER):
        return []
    opener = partial(_open_mixed, "Wallflower", _WALLFLOWER, listing.path, listing.path)
    return [Candidate(listing.path, opener, frozenset())]


def find_i2r(listing: Listing) -> list[Candidate]:
    """Find sequences with masks called `gt_new_*NNNN.bmp`.

    The masks lie among the frames; or in a folder beside them; or those of all videos lie in a folder beside the
    folders of the videos.
    """
    here = listing.path
    if _has_labels(listing.files, _I2R):
        return [Candidate(here, partial(_open_mixed, "I2R", _I2R, here, here), frozenset())]
    for name in listing.folders:
        labels = here / name
        if name.lower() not in _TRUTH_FOLDERS or not _has_labels(_names(labels), _I2R):
            continue
        if numbered_images(here):
            return [Candidate(here, partial(_open_mixed, "I2R", _I2R, here, labels), frozenset({name}))]
        videos = [video for video in listing.folders if video != name and numbered_images(here / video)]
        return [
            Candidate(here / video, partial(_open_shared, here / video, labels), frozenset({name, video}))
            for video in videos
        ]
    return []


def _open_shared(folder: Path, labels: Path) -> Sequence:
    """Open a video whose labels lie among those of others.

    They are called as the folder or, where there are none, as the frames: those of Escalator are called airport, as
    are those of Hall.
    """
    inputs = numbered_images(folder)
    stems = (folder.name, re.sub(r"\d+$", "", next(iter(inputs.values())).stem))
    for name in stems:
        truths = numbered_images(labels, f"{_I2R}{name}".lower().__eq__)
        if truths:
            return _open_sequence("I2R", folder, inputs, truths)
    raise DatasetError(f"{labels} has no labels called {_I2R}{stems[0]} or {_I2R}{stems[1]}, which {folder} needs")


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError as error:
        raise DatasetError(f"cannot list {folder}: {error.strerror}") from error
