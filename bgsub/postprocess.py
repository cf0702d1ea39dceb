"""Post-processing of masks: median, hole filling, minimum area."""

from dataclasses import dataclass

import numpy as np

from bgsub._jit import majority
from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.frames import Mask
from bgsub.stages import FILL_HOLES, MEDIAN, MIN_AREA, Stage, StageTrace

__all__ = ["RAW", "Postprocess", "fill_holes", "median", "remove_small"]


def median(mask: Mask, size: int) -> Mask:
    """Replace each pixel by the majority of its neighbourhood.

    On a binary mask the median is a majority vote, whose cost hardly depends on the side; the border is repeated
    outwards. Equals `cv2.medianBlur`.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Only 0 and 255.
    size : int
        Side of the square neighbourhood in pixels, odd.

    Returns
    -------
    (H, W) uint8 array
        Only 0 and 255.
    """
    if size <= majority.LARGEST:
        mask = np.ascontiguousarray(mask)
        voted: Mask = np.empty_like(mask)
        run_bands(majority.median, (mask.shape[0], mask.shape[1]), 1, mask, size, voted)
        return voted
    # An odd box has no tie: the mean of 0s and 255s is at least 127.5 / size^2 away from 127.5.
    mean = cv2.boxFilter(mask, -1, (size, size), borderType=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.threshold(mean, 127, 255, cv2.THRESH_BINARY)[1], np.uint8)


def fill_holes(mask: Mask) -> Mask:
    """Make background that foreground encloses foreground.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Only 0 and 255. Background that touches the border is no hole.

    Returns
    -------
    (H, W) uint8 array
        Only 0 and 255.
    """
    # An outline, filled, has no holes; finding outlines is much cheaper than labelling regions.
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return np.asarray(cv2.drawContours(mask.copy(), outlines, -1, 255, cv2.FILLED), np.uint8)


def remove_small(mask: Mask, min_area_px: int) -> Mask:
    """Make foreground regions (8-connected) of fewer pixels background.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Only 0 and 255.
    min_area_px : int
        Area of the smallest region that stays.

    Returns
    -------
    (H, W) uint8 array
        Only 0 and 255.
    """
    _, labels, statistics, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    keep = np.where(statistics[:, cv2.CC_STAT_AREA] >= min_area_px, np.uint8(255), np.uint8(0))
    keep[0] = 0
    return np.asarray(keep[labels])


@dataclass(frozen=True, slots=True)
class Postprocess:
    """The steps from a raw to a final mask, in this order; each can be left out.

    Parameters
    ----------
    median : int
        Side in pixels of the square neighbourhood of the median, odd; 1 for none.
    fill_holes : bool
        Whether background that foreground encloses becomes foreground.
    min_area : int
        Area in pixels of the smallest foreground region that stays; 0 for all.

    Raises
    ------
    ValueError
        If median is even or not positive, min_area negative, or a value of another type.

    Examples
    --------
    >>> mask = np.zeros((9, 9), np.uint8)
    >>> mask[2:7, 2:7] = 255
    >>> mask[4, 4] = 0
    >>> mask[0, 8] = 255
    >>> int(Postprocess(median=1, fill_holes=True, min_area=4)(mask).sum() // 255)
    25
    """

    median: int = 5
    fill_holes: bool = False
    min_area: int = 0

    def __post_init__(self) -> None:
        if type(self.median) is not int or self.median < 1 or self.median % 2 == 0 or self.median > 999:
            raise ValueError(f"median must be an odd number from 1 to 999, got {self.median!r}")
        if not isinstance(self.fill_holes, bool):
            raise ValueError(f"fill_holes must be true or false, got {self.fill_holes!r}")
        if type(self.min_area) is not int or self.min_area < 0:
            raise ValueError(f"min_area must be a whole number of pixels, at least 0, got {self.min_area!r}")

    def __call__(self, mask: Mask, trace: StageTrace | None = None) -> Mask:
        """Return the final mask; `mask`, (H, W) uint8 with only 0 and 255, is not written to.

        The mask after each step is added to `trace`, if there is one.
        """
        if self.median > 1:
            mask = median(mask, self.median)
            _keep(trace, MEDIAN, mask)
        if self.fill_holes:
            mask = fill_holes(mask)
            _keep(trace, FILL_HOLES, mask)
        if self.min_area > 1:
            mask = remove_small(mask, self.min_area)
            _keep(trace, MIN_AREA, mask)
        return mask


def _keep(trace: StageTrace | None, stage: Stage, mask: Mask) -> None:
    if trace is not None:
        trace.keep(stage, mask)


RAW = Postprocess(median=1)
"""Returns masks unchanged."""
