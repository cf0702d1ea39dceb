"""Sequences with ground truth, in the layout of the change-detection benchmark."""

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bgsub._input.images import GREY, read_image
from bgsub._input.texts import read_text
from bgsub._opencv import cv2
from bgsub.errors import DatasetError
from bgsub.frames import Frame, Mask

__all__ = ["GroundTruth", "Sequence", "find_sequences"]

logger = logging.getLogger(__name__)

_MOST_INTERVAL_BYTES = 2**16  # of temporalROI.txt, which holds two numbers
_IMAGES = {".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff"}


@dataclass(frozen=True, slots=True)
class Sequence:
    """One video of a data set: its frames, its labels, and the frames that are scored."""

    name: str
    """Name of the folder."""
    category: str
    """Name of the folder around it."""
    folder: Path
    inputs: dict[int, Path]
    """Images by frame number, from the file names, in rising order."""
    truths: dict[int, Path]
    """Label images by frame number."""
    first: int
    """Number of the first frame that is scored; those before it train the model."""
    last: int
    """Number of the last frame that is scored."""

    @property
    def scored(self) -> list[int]:
        """Numbers of the frames that are scored, in rising order."""
        return [number for number in self.inputs if self.first <= number <= self.last]

    def read_input(self, number: int) -> Frame:
        """Read a frame: (H, W, 3) BGR or (H, W) grey, as it is stored.

        Raises
        ------
        DatasetError
            If the file cannot be read, as the other methods do.
        """
        return read_image(self.inputs[number], cv2.IMREAD_ANYCOLOR, DatasetError)

    def read_labels(self, number: int, size: tuple[int, int]) -> Mask:
        """Read the labels of a frame of that (height, width); palettes are expanded."""
        path = self.truths[number]
        labels = read_image(path, GREY, DatasetError)
        if labels.shape != size:
            raise DatasetError(f"{path} must have the size of its frame, {_size(size)}, but has {_size(labels.shape)}")
        return labels

    def read_roi(self, size: tuple[int, int]) -> Mask | None:
        """Read the region of interest for frames of that (height, width): 255 where scored; None if there is none.

        One of another size, as published for a sequence, is resized without interpolation, and a warning logged.
        """
        path = self.folder / "ROI.bmp"
        if not path.exists():
            return None
        roi = np.where(read_image(path, GREY, DatasetError) > 127, np.uint8(255), np.uint8(0))
        if roi.shape != size:
            logger.warning("%s is %s, the frames are %s: it is resized", path, _size(roi.shape), _size(size))
            roi = np.asarray(cv2.resize(roi, size[::-1], interpolation=cv2.INTER_NEAREST), np.uint8)
        return roi


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]}x{shape[0]}"


def _numbered(folder: Path) -> dict[int, Path]:
    """Return the images of a folder by the number at the end of their names, in rising order."""
    found: dict[int, Path] = {}
    for path in folder.iterdir():
        digits = re.search(r"(\d+)$", path.stem)
        if path.suffix.lower() not in _IMAGES or digits is None:
            continue
        number = int(digits[1])
        if number in found:
            raise DatasetError(f"{folder} has two images of number {number}: {found[number].name} and {path.name}")
        found[number] = path
    return dict(sorted(found.items()))


def _read_interval(path: Path) -> tuple[int, int]:
    try:
        words = read_text(path, _MOST_INTERVAL_BYTES).split()
        first, last = map(int, words)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
    except ValueError:
        raise DatasetError(f"{path} must hold two frame numbers, the first and the last to score") from None
    return first, last


def _open_sequence(folder: Path) -> Sequence:
    inputs, truths = _numbered(folder / "input"), _numbered(folder / "groundtruth")
    if not inputs:
        raise DatasetError(f"{folder / 'input'} holds no numbered images")
    first, last = next(iter(inputs)), next(reversed(inputs))
    interval = folder / "temporalROI.txt"
    if interval.exists():
        first, last = _read_interval(interval)
        if not first <= last:
            raise DatasetError(f"{interval} must name the first frame before the last, got {first} {last}")
        for end in (first, last):
            if end not in inputs:
                raise DatasetError(f"{folder / 'input'} has no frame {end}, which {interval.name} asks for")
    sequence = Sequence(folder.name, folder.parent.name, folder, inputs, truths, first, last)
    for number in sequence.scored:
        if number not in truths:
            raise DatasetError(f"{folder / 'groundtruth'} has no labels for frame {number} ({inputs[number].name})")
    return sequence


class GroundTruth:
    """The labels of a video by frame number, each read when its frame is shown.

    Parameters
    ----------
    folder : path
        Numbered label images, or a sequence whose groundtruth/ holds them. `temporalROI.txt` and `ROI.bmp` beside
        them are used as by `find_sequences`.

    Raises
    ------
    DatasetError
        If there are no labels, or a file beside them is wrong.
    """

    def __init__(self, folder: str | Path) -> None:
        root = Path(folder)
        if not root.is_dir():
            raise DatasetError(f"no ground truth at {root}: there is no such folder")
        images = root / "groundtruth" if (root / "groundtruth").is_dir() else root
        self._truths = _numbered(images)
        if not self._truths:
            raise DatasetError(f"{images} holds no numbered label images; choose a folder like groundtruth/")
        home = images.parent if images.name == "groundtruth" else images
        first, last = next(iter(self._truths)), next(reversed(self._truths))
        if (home / "temporalROI.txt").exists():
            first, last = _read_interval(home / "temporalROI.txt")
        self._sequence = Sequence(home.name, home.parent.name, home, {}, self._truths, first, last)
        self._roi: tuple[tuple[int, int], Mask | None] | None = None
        self.folder = root
        """The folder as given."""

    @property
    def numbers(self) -> list[int]:
        """Numbers of the frames that are scored, in rising order."""
        return [number for number in self._truths if self._sequence.first <= number <= self._sequence.last]

    def read(self, number: int, size: tuple[int, int]) -> tuple[Mask, Mask | None] | None:
        """Return labels and region of interest, (H, W) uint8 both, of a frame; None if the frame is not scored.

        Raises
        ------
        DatasetError
            If a file cannot be read, or the labels have not that (height, width).
        """
        if number not in self._truths or not self._sequence.first <= number <= self._sequence.last:
            return None
        if self._roi is None or self._roi[0] != size:
            self._roi = size, self._sequence.read_roi(size)
        return self._sequence.read_labels(number, size), self._roi[1]


def find_sequences(path: str | Path) -> list[Sequence]:
    """Find every sequence in a folder and the folders below it.

    A sequence is a folder with `input/` and `groundtruth/`, whose images are matched by the number at the end
    of their names. `temporalROI.txt` names the first and the last frame to score, otherwise all are; `ROI.bmp` may
    name the pixels to score.

    Parameters
    ----------
    path : path
        A data set, a category or a single sequence.

    Returns
    -------
    list of Sequence
        Sorted by path.

    Raises
    ------
    DatasetError
        If there is no sequence, or a file of one is missing or wrong.
    """
    root = Path(path).resolve()
    if not root.is_dir():
        raise DatasetError(f"no data set at {path}: there is no such folder")
    found = []
    for folder, folders, _ in os.walk(root):
        if "input" in folders and "groundtruth" in folders:
            found.append(Path(folder))
            folders.clear()
    if not found:
        raise DatasetError(f"no sequence in {path}: none of its folders has both input/ and groundtruth/")
    return [_open_sequence(folder) for folder in sorted(found)]
