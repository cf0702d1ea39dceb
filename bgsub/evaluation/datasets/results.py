"""Masks of any program in a folder, matched with the frames of sequences."""

from pathlib import Path

import numpy as np

from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.sequence import Sequence, numbered_images, read_grey
from bgsub.frames import Mask

__all__ = ["ResultFolder"]


_LOSSY = {".jpg", ".jpeg"}


class ResultFolder:
    """The masks that a program wrote for the videos of a data set.

    Those of a sequence are the images in CATEGORY/NAME, in results/CATEGORY/NAME, in NAME or, for a single sequence, in
    the folder itself: the first of these that exists and has images. A mask belongs to the frame whose number ends its
    name, such as bin000470.png, whatever comes before the number.

    Parameters
    ----------
    path : path
        The folder.

    Raises
    ------
    DatasetError
        If there is no such folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        """The folder as given."""
        if not self.path.is_dir():
            raise DatasetError(f"no results at {path}: there is no such folder")
        self._masks: dict[str, dict[int, Path]] = {}

    def masks(self, sequence: Sequence) -> dict[int, Path]:
        """Return the mask files of a sequence by frame number, in rising order; empty if there are none.

        Raises
        ------
        DatasetError
            If two masks have the same number.
        """
        if sequence.identity not in self._masks:
            home = Path(sequence.category, sequence.name)
            folders = (self.path / home, self.path / "results" / home, self.path / sequence.name, self.path)
            listed = (numbered_images(folder) for folder in folders if folder.is_dir())
            self._masks[sequence.identity] = next(filter(None, listed), {})
        return self._masks[sequence.identity]

    def missing(self, sequence: Sequence) -> list[int]:
        """Return the numbers of the scored frames without a mask, in rising order."""
        masks = self.masks(sequence)
        return [number for number in sequence.scored if number not in masks]

    def read(self, sequence: Sequence, number: int, size: tuple[int, int]) -> Mask:
        """Read the mask of a frame.

        Parameters
        ----------
        sequence : Sequence
            The video.
        number : int
            Number of the frame.
        size : (height, width)
            Size of the frame in pixels.

        Returns
        -------
        (H, W) uint8 array
            255 where the image is 255, or, in JPEG, brighter than the middle, or, in images of 0 and 1, 1: by the
            rules of changedetection.net's own tool.

        Raises
        ------
        DatasetError
            If there is no mask, or it cannot be read or has another size.
        """
        path = self.masks(sequence).get(number)
        if path is None:
            raise DatasetError(f"{self.path} has no mask of frame {number} of {sequence.identity}")
        values = read_grey(path)
        least = 128 if path.suffix.lower() in _LOSSY else 1 if values.max(initial=0) == 1 else 255
        mask = np.where(values >= least, np.uint8(255), np.uint8(0))
        if mask.shape != size:
            wanted, got = f"{size[1]}x{size[0]}", f"{mask.shape[1]}x{mask.shape[0]}"
            raise DatasetError(f"{path} must have the size of its frame, {wanted}, but has {got}")
        return mask
