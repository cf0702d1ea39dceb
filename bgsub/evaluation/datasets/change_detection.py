"""Sequences with ground truth, in the layout of the change-detection benchmark."""

from functools import partial
from pathlib import Path

from bgsub._input.texts import read_text
from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.listing import Candidate, Listing
from bgsub.evaluation.datasets.sequence import FileSequence, Sequence, numbered_images
from bgsub.frames import Mask

__all__ = ["GroundTruth", "find_change_detection"]

_MOST_INTERVAL_BYTES = 2**16  # of temporalROI.txt, which holds two numbers


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
    inputs, truths = numbered_images(folder / "input"), numbered_images(folder / "groundtruth")
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
    sequence = FileSequence(folder.name, folder.parent.name, folder.parent.name, folder, inputs, truths, first, last)
    if not sequence.scored:
        raise DatasetError(f"{folder / 'groundtruth'} has no labels for any frame from {first} to {last}")
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
        self._truths = numbered_images(images)
        if not self._truths:
            raise DatasetError(f"{images} holds no numbered label images; choose a folder like groundtruth/")
        home = images.parent if images.name == "groundtruth" else images
        first, last = next(iter(self._truths)), next(reversed(self._truths))
        if (home / "temporalROI.txt").exists():
            first, last = _read_interval(home / "temporalROI.txt")
        self._sequence = FileSequence(home.name, home.parent.name, "", home, {}, self._truths, first, last)
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


def find_change_detection(listing: Listing) -> list[Candidate]:
    """Find the sequence in a folder with `input/` and `groundtruth/`; everything in the folder belongs to it."""
    if not {"input", "groundtruth"} <= set(listing.folders):
        return []
    return [Candidate(listing.path, partial(_open_sequence, listing.path), frozenset(listing.folders))]
