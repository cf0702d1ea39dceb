"""Ground truth that the user paints, above labels from files if there are any; no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bgsub._files import failure
from bgsub.evaluation import GroundTruth
from bgsub.frames import Mask
from bgsub.video._images import write_image

__all__ = ["BACKGROUND_LABEL", "FOREGROUND_LABEL", "UNKNOWN_LABEL", "PaintedTruth", "Truth"]

FOREGROUND_LABEL, BACKGROUND_LABEL, UNKNOWN_LABEL = 255, 0, 85
"""Labels of changedetection.net: moving, static, and not labelled, which does not count."""


@dataclass(frozen=True, slots=True, eq=False)
class PaintedTruth:
    """Labels by frame number; each change makes another truth, so that other threads see whole ones only.

    Examples
    --------
    >>> truth = PaintedTruth().painted(7, (4, 6), np.eye(4, 6, dtype=bool), FOREGROUND_LABEL)
    >>> truth.numbers, truth.read(7, (4, 6))[0][0, :3].tolist()
    ([7], [255, 85, 85])
    """

    base: GroundTruth | None = None
    """Labels of frames that nobody painted on."""
    frames: Mapping[int, Mask] = field(default_factory=lambda: MappingProxyType({}))
    """Painted labels, (H, W) uint8, by number."""
    folder: Path = Path()
    """Where they were saved last; the present folder if never."""
    is_saved: bool = False
    """Whether a file holds all that was painted."""

    @property
    def numbers(self) -> list[int]:
        """Numbers of the frames with labels, in rising order."""
        return sorted({*self.frames, *(self.base.numbers if self.base is not None else ())})

    def read(self, number: int, size: tuple[int, int]) -> tuple[Mask, Mask | None] | None:
        """Return labels and region of interest of a frame, as `GroundTruth.read` does."""
        painted = self.frames.get(number)
        if painted is not None and painted.shape == size:
            return painted, None
        return None if self.base is None else self.base.read(number, size)

    def painted(self, number: int, size: tuple[int, int], where: NDArray[np.bool_], label: int) -> "PaintedTruth":
        """Return the truth with a label at some pixels, (H, W) bool, of a frame of (height, width)."""
        labels = self.labels(number, size).copy()
        labels[where] = label
        return replace(self, frames=MappingProxyType({**self.frames, number: labels}), is_saved=False)

    def with_frame(self, number: int, labels: Mask | None) -> "PaintedTruth":
        """Return the truth with other labels of a frame, (H, W) uint8; None forgets what was painted on it."""
        frames = {known: mask for known, mask in self.frames.items() if known != number}
        if labels is not None:
            frames[number] = labels
        return replace(self, frames=MappingProxyType(frames), is_saved=False)

    def labels(self, number: int, size: tuple[int, int]) -> Mask:
        """Return the labels of a frame, (H, W) uint8, also where it has none yet."""
        found = self.read(number, size)
        return np.full(size, UNKNOWN_LABEL, np.uint8) if found is None else found[0]

    def save(self, folder: Path) -> "PaintedTruth":
        """Write the painted frames in the layout of changedetection.net; return the truth as it is on disk.

        Raises
        ------
        SinkError
            If a file cannot be written.
        """
        images = folder / "groundtruth"
        try:
            images.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise failure(images, error.strerror) from error
        for number, labels in self.frames.items():
            write_image(images / f"gt{number:06d}.png", labels)
        return replace(self, folder=folder, is_saved=True)


Truth = GroundTruth | PaintedTruth
"""Labels of a video by frame number."""
