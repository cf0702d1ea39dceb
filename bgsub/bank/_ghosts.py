"""Ghosts: foreground where nothing is, because what stood there while the model was young has gone."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.frames import Frame, Mask

__all__ = ["find_ghosts"]

_MOST = 32  # regions looked at in one frame, the largest first
_RATIO = 2.0  # edges of the background must outweigh those of the frame this often
_EDGE = 10.0  # and by so many grey levels (of a Sobel filter) a pixel of the outline
_MARGIN = 4


def find_ghosts(
    mask: Mask,
    frame_grey: Callable[[tuple[slice, slice]], Frame],
    background_grey: Callable[[tuple[slice, slice]], Frame],
    min_area_px: int,
) -> Mask | None:
    """Find regions whose outline is an edge in the background but not in the frame.

    A real object brings its outline along; a ghost's outline is that of what the model still remembers.

    Parameters
    ----------
    mask : (H, W) uint8 array
        Final mask, 0 and 255.
    frame_grey, background_grey : callable
        Return the part in (rows, columns) of the frame, of the learned background, as uint8 grey.
    min_area_px : int
        Regions in a smaller box are left alone.

    Returns
    -------
    (H, W) uint8 array or None
        255 in ghosts; None if there is none.
    """
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    boxes = [cv2.boundingRect(outline) for outline in outlines]
    large = [index for index, (_, _, width, height) in enumerate(boxes) if width * height >= min_area_px]
    large.sort(key=lambda index: -boxes[index][2] * boxes[index][3])
    ghosts: Mask | None = None
    for index in large[:_MOST]:
        left, top, width, height = boxes[index]
        rows = slice(max(top - _MARGIN, 0), min(top + height + _MARGIN, mask.shape[0]))
        columns = slice(max(left - _MARGIN, 0), min(left + width + _MARGIN, mask.shape[1]))
        region = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.uint8)
        cv2.drawContours(region, outlines, index, 255, cv2.FILLED, offset=(-columns.start, -rows.start))
        border = _border(region, rows, columns, mask.shape)
        pixels = cv2.countNonZero(border)
        if pixels == 0:
            continue
        difference = _edges(background_grey((rows, columns))) - _edges(frame_grey((rows, columns)))
        along = difference[border != 0]
        background = float(along[along > 0].sum())
        frame = float(-along[along < 0].sum())
        if background > _RATIO * frame and background > _EDGE * pixels:
            if ghosts is None:
                ghosts = np.zeros_like(mask)
            ghosts[rows, columns] |= region
    return ghosts


def _border(region: Mask, rows: slice, columns: slice, shape: tuple[int, ...]) -> Mask:
    """Return a band of 4 pixels around a region's border, without the frame's own border."""
    square = np.ones((5, 5), np.uint8)
    band = np.asarray(cv2.bitwise_xor(cv2.dilate(region, square), cv2.erode(region, square)), np.uint8)
    if rows.start == 0:
        band[:2] = 0
    if rows.stop == shape[0]:
        band[-2:] = 0
    if columns.start == 0:
        band[:, :2] = 0
    if columns.stop == shape[1]:
        band[:, -2:] = 0
    return band


def _edges(grey: Frame) -> NDArray[np.float32]:
    smooth = cv2.GaussianBlur(grey, (0, 0), 1.0)
    across, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    return np.asarray(cv2.magnitude(across, down), np.float32)
