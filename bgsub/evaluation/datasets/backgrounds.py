"""Sequences whose ground truth is an image of the empty scene, in the layout of SBMnet.

P.-M. Jodoin, L. Maddalena, A. Petrosino, Y. Wang: Extensive benchmark and survey of modeling methods for scene
background initialization. IEEE Transactions on Image Processing 26(11), 2017.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bgsub._input.images import read_image
from bgsub._opencv import cv2
from bgsub.detectors.base import Detector
from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.sequence import numbered_images
from bgsub.frames import Frame

__all__ = [
    "BackgroundMeasures",
    "BackgroundSequence",
    "compare_backgrounds",
    "evaluate_background",
    "find_background_sequences",
]

_PREFIX = "gt_background"
_ERROR = 20  # grey levels; a larger difference makes an error pixel


@dataclass(frozen=True, slots=True)
class BackgroundMeasures:
    """Differences between an estimated and a true background, on luminance."""

    age: float
    """Average grey-level error: mean absolute difference, in grey levels."""
    peps: float
    """Share of error pixels, which differ by more than 20 grey levels."""
    pceps: float
    """Share of clustered error pixels, whose four neighbours are error pixels, too."""
    psnr: float
    """Peak signal-to-noise ratio in dB; infinite for equal images."""


@dataclass(frozen=True, slots=True)
class BackgroundSequence:
    """A video with one or more images of its empty scene."""

    name: str
    category: str
    inputs: dict[int, Path]
    """Images by frame number, in rising order."""
    truths: tuple[Path, ...]
    """Images of the empty scene; an estimate is compared with the most similar one."""

    @property
    def identity(self) -> str:
        """Category and name."""
        return f"{self.category}/{self.name}"

    def read_input(self, number: int) -> Frame:
        """Read a frame: (H, W, 3) BGR or (H, W) grey, as it is stored."""
        return read_image(self.inputs[number], cv2.IMREAD_ANYCOLOR, DatasetError)

    def read_truths(self) -> list[Frame]:
        """Read the images of the empty scene, (H, W, 3) uint8 BGR."""
        return [read_image(path, cv2.IMREAD_COLOR, DatasetError) for path in self.truths]


def find_background_sequences(path: str | Path) -> list[BackgroundSequence]:
    """Find every folder with `input/` and `GT_background*.jpg` (or .png, .bmp) in a folder and those below it.

    Returns
    -------
    list of BackgroundSequence
        Sorted by path.

    Raises
    ------
    DatasetError
        If there is none, or one holds no frames.
    """
    root = Path(path).resolve()
    if not root.is_dir():
        raise DatasetError(f"no data set at {path}: there is no such folder")
    found = []
    for name, folders, _ in os.walk(root):
        folder = Path(name)
        if "input" not in folders:
            continue
        truths = numbered_images(folder, lambda stem: stem == _PREFIX)
        if truths:
            inputs = numbered_images(folder / "input")
            if not inputs:
                raise DatasetError(f"{folder / 'input'} holds no numbered images")
            found.append((folder, BackgroundSequence(folder.name, folder.parent.name, inputs, tuple(truths.values()))))
            folders.remove("input")
    if not found:
        raise DatasetError(f"no sequence in {path}: none of its folders has both input/ and GT_background1.jpg")
    return [sequence for _, sequence in sorted(found, key=lambda pair: pair[0])]


def compare_backgrounds(estimate: Frame, truth: Frame) -> BackgroundMeasures:
    """Measure the error of an estimated background.

    Parameters
    ----------
    estimate, truth : (H, W, 3) BGR or (H, W) grey uint8 arrays
        Colour is converted to luminance, 0.299 R + 0.587 G + 0.114 B.

    Returns
    -------
    BackgroundMeasures

    Raises
    ------
    ValueError
        If the sizes differ.

    Examples
    --------
    >>> compare_backgrounds(np.full((4, 4), 30, np.uint8), np.zeros((4, 4), np.uint8))
    BackgroundMeasures(age=30.0, peps=1.0, pceps=1.0, psnr=18.5...)
    """
    if estimate.shape[:2] != truth.shape[:2]:
        raise ValueError(f"estimate must have the size of truth, {truth.shape[:2]}, got {estimate.shape[:2]}")
    difference = np.abs(_luminance(estimate) - _luminance(truth))
    errors = (difference > _ERROR).astype(np.uint8)
    clustered = cv2.erode(errors, cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3)))
    square = float(np.mean(difference**2))
    return BackgroundMeasures(
        age=float(difference.mean()),
        peps=float(errors.mean()),
        pceps=float(np.mean(clustered)),
        psnr=10 * math.log10(255**2 / square) if square else math.inf,
    )


def evaluate_background(sequence: BackgroundSequence, detector: Detector) -> BackgroundMeasures:
    """Show all frames to a detector and measure the background that it has learned.

    Returns
    -------
    BackgroundMeasures
        Those of the true background that is most similar, by AGE.

    Raises
    ------
    DatasetError
        If a file cannot be read, or a true background has another size than the frames.
    """
    for number in sequence.inputs:
        detector.apply(sequence.read_input(number))
    estimate = detector.background_image()
    truths = sequence.read_truths()
    for path, truth in zip(sequence.truths, truths, strict=True):
        if truth.shape[:2] != estimate.shape[:2]:
            raise DatasetError(f"{path} must have the size of the frames of {sequence.identity}")
    return min((compare_backgrounds(estimate, truth) for truth in truths), key=lambda measures: measures.age)


def _luminance(image: Frame) -> Frame:
    """Return float64 luminance."""
    if image.ndim == 2:
        return image.astype(np.float64)
    return np.asarray(image @ np.array((0.114, 0.587, 0.299)))
