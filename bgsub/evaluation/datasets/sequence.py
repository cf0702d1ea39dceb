"""The videos of a data set: frames with labels, wherever they come from."""

import hashlib
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bgsub._input.images import GREY, read_image
from bgsub._opencv import cv2
from bgsub.errors import DatasetError
from bgsub.frames import Frame, Mask

__all__ = ["FileSequence", "Sequence", "numbered_images", "read_grey"]

logger = logging.getLogger(__name__)

_IMAGES = {".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff"}


class Sequence(ABC):
    """One video of a data set: its frames, its labels, and the frames that are scored.

    Frames and labels are known by the frame's number. Sequences can be pickled, for evaluations in several processes.
    """

    name: str
    """Name of the video."""
    category: str
    """Name of the group that the data set puts it in."""
    family: str
    """Kind of scene or origin; what is chosen on some families is scored on the others."""

    @property
    def identity(self) -> str:
        """Category and name, which together distinguish the videos of an evaluation."""
        return f"{self.category}/{self.name}"

    @property
    @abstractmethod
    def numbers(self) -> list[int]:
        """Numbers of all frames, in rising order; the model sees each of them."""

    @property
    @abstractmethod
    def scored(self) -> list[int]:
        """Numbers of the frames that are scored, in rising order."""

    @property
    def unlabelled(self) -> int:
        """Number of frames that should be scored but have no labels; they are not scored."""
        return 0

    @abstractmethod
    def read_input(self, number: int) -> Frame:
        """Read a frame: (H, W, 3) BGR or (H, W) grey, as it is stored.

        Raises
        ------
        DatasetError
            If the file cannot be read, as the other methods do.
        """

    def frame_name(self, number: int) -> str:
        """Return what messages call a frame: its file, where it has one."""
        return f"frame {number} of {self.identity}"

    @abstractmethod
    def read_labels(self, number: int, size: tuple[int, int]) -> Mask:
        """Read the labels of a frame of that (height, width): 0, 50, 85, 170, 255 as `scored_pixels` reads them."""

    @abstractmethod
    def read_roi(self, size: tuple[int, int]) -> Mask | None:
        """Read the region of interest for frames of that (height, width): 255 where scored; None if there is none."""

    @abstractmethod
    def digest(self) -> str:
        """Return a digest of all that determines the scores: frames, labels and region."""


def numbered_images(folder: Path, accept: Callable[[str], bool] = lambda _stem: True) -> dict[int, Path]:
    """Return the images of a folder by the number at the end of their names, in rising order.

    Parameters
    ----------
    folder : Path
        Folder to list; the folders in it are not searched.
    accept : callable
        Receives the name without the number and the suffix, in small letters; returns whether the image counts.

    Raises
    ------
    DatasetError
        If two images have the same number, or the folder cannot be listed.
    """
    found: dict[int, Path] = {}
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise DatasetError(f"cannot list {folder}: {error.strerror}") from error
    for path in paths:
        parts = re.fullmatch(r"(.*?)(\d+)", path.stem)
        if path.suffix.lower() not in _IMAGES or parts is None or not accept(parts[1].lower()):
            continue
        number = int(parts[2])
        if number in found:
            raise DatasetError(f"{folder} has two images of number {number}: {found[number].name} and {path.name}")
        found[number] = path
    return dict(sorted(found.items()))


def read_grey(path: Path) -> Mask:
    """Read a label image whose grey levels are the labels; palettes are expanded.

    Raises
    ------
    DatasetError
        If it cannot be read.
    """
    return read_image(path, GREY, DatasetError)


@dataclass(frozen=True, slots=True)
class FileSequence(Sequence):
    """A sequence of image files."""

    name: str
    category: str
    family: str
    folder: Path
    inputs: dict[int, Path]
    """Images by frame number, in rising order."""
    truths: dict[int, Path]
    """Label images by frame number."""
    first: int
    """Number of the first frame that is scored; those before it train the model."""
    last: int
    """Number of the last frame that is scored."""
    decode: Callable[[Path], Mask] = read_grey
    """Reads a label image as labels of the change-detection benchmark; a function of a module, to be picklable."""

    @property
    def numbers(self) -> list[int]:
        """Numbers of all frames, in rising order."""
        return list(self.inputs)

    @property
    def scored(self) -> list[int]:
        """Numbers of the frames between `first` and `last` that have labels, in rising order."""
        return [number for number in self._interval if number in self.truths]

    @property
    def unlabelled(self) -> int:
        """Number of frames between `first` and `last` without labels."""
        return len(self._interval) - len(self.scored)

    @property
    def _interval(self) -> list[int]:
        return [number for number in self.inputs if self.first <= number <= self.last]

    def read_input(self, number: int) -> Frame:
        """Read a frame: (H, W, 3) BGR or (H, W) grey, as it is stored.

        Raises
        ------
        DatasetError
            If the file cannot be read, as the other methods do.
        """
        return read_image(self.inputs[number], cv2.IMREAD_ANYCOLOR, DatasetError)

    def frame_name(self, number: int) -> str:
        """Return the path of a frame."""
        return str(self.inputs[number])

    def read_labels(self, number: int, size: tuple[int, int]) -> Mask:
        """Read the labels of a frame of that (height, width), decoded by `decode`."""
        path = self.truths[number]
        labels = self.decode(path)
        if labels.shape != size:
            raise DatasetError(f"{path} must have the size of its frame, {_size(size)}, but has {_size(labels.shape)}")
        return labels

    def read_roi(self, size: tuple[int, int]) -> Mask | None:
        """Read `ROI.bmp` for frames of that (height, width): 255 where scored; None if there is none.

        One of another size, as published for a sequence, is resized without interpolation, and a warning logged.
        """
        path = self.folder / "ROI.bmp"
        if not path.exists():
            return None
        roi = np.where(read_grey(path) > 127, np.uint8(255), np.uint8(0))
        if roi.shape != size:
            logger.warning("%s is %s, the frames are %s: it is resized", path, _size(roi.shape), _size(size))
            roi = np.asarray(cv2.resize(roi, size[::-1], interpolation=cv2.INTER_NEAREST), np.uint8)
        return roi

    def digest(self) -> str:
        """Return the SHA-256 of names and bytes of all frames, labels that are scored, and the region."""
        digest = hashlib.sha256(f"{self.first} {self.last}".encode())
        roi = self.folder / "ROI.bmp"
        truths = (self.truths[number] for number in self.scored)
        for path in (*self.inputs.values(), *truths, *([roi] if roi.exists() else [])):
            try:
                data = path.read_bytes()
            except OSError as error:
                raise DatasetError(f"cannot read {path}: {error.strerror}") from error
            digest.update(f"{path.name} {len(data)}".encode())
            digest.update(data)
        return digest.hexdigest()


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]}x{shape[0]}"
