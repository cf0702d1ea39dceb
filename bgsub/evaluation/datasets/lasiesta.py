"""The layout of LASIESTA, whose labels are colours.

C. Cuevas, E. M. Yáñez, N. García: Labeled dataset for integral evaluation of moving object detection algorithms:
LASIESTA. Computer Vision and Image Understanding 152, 2016. Folders and colours as published at
http://gti.ssr.upm.es/data/LASIESTA.
"""

import re
from functools import partial
from pathlib import Path

import numpy as np

from bgsub._input.images import read_image
from bgsub._opencv import cv2
from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.listing import Candidate, Listing
from bgsub.evaluation.datasets.sequence import FileSequence, Sequence, numbered_images
from bgsub.frames import Mask

__all__ = ["find_lasiesta", "read_colours"]

_LABELS = {
    (0, 0, 0): 0,
    (0, 0, 255): 255,
    (0, 255, 0): 255,
    (0, 255, 255): 255,
    (255, 255, 255): 255,
    (128, 128, 128): 170,
}
"""Labels by colour, BGR: background; the first, second and third object; objects that moved and stand; uncertain."""


def read_colours(path: Path) -> Mask:
    """Read a label image of LASIESTA: 0 background, 170 uncertain, 255 moving objects, whether they stand or not.

    Raises
    ------
    DatasetError
        If it cannot be read or has other colours.
    """
    image = read_image(path, cv2.IMREAD_COLOR, DatasetError)
    codes = image.astype(np.int32) @ np.array((1, 256, 65536), np.int32)
    labels = np.full(codes.shape, 1, np.uint8)
    for colour, label in _LABELS.items():
        labels[codes == sum(part << 8 * i for i, part in enumerate(colour))] = label
    if (labels == 1).any():
        blue, green, red = image[labels == 1][0]
        raise DatasetError(f"{path} has the colour ({red}, {green}, {blue}), which is no label of LASIESTA")
    return labels


def _open_sequence(folder: Path, labels: Path) -> Sequence:
    inputs, truths = numbered_images(folder), numbered_images(labels)
    if not inputs:
        raise DatasetError(f"{folder} holds no numbered images")
    category = re.sub(r"_\d+$", "", folder.name)
    first, last = next(iter(inputs)), next(reversed(inputs))
    sequence = FileSequence(folder.name, category, "LASIESTA", folder, inputs, truths, first, last, read_colours)
    if not sequence.scored:
        raise DatasetError(f"{labels} has no labels for any frame of {folder.name}")
    return sequence


def find_lasiesta(listing: Listing) -> list[Candidate]:
    """Find the sequences among the folders of a folder: NAME with frames, NAME-GT or NAME_GT with labels."""
    found = []
    for name in listing.folders:
        for labels in (f"{name}-GT", f"{name}_GT"):
            if labels in listing.folders:
                opener = partial(_open_sequence, listing.path / name, listing.path / labels)
                found.append(Candidate(listing.path / name, opener, frozenset((name, labels))))
                break
    return found
