"""How far a frame lies from where the background was learned, and frames brought back to there."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.offsets import add_channels, compare_parts, correlate, find_directions
from bgsub.detectors.adaptive.camera.shifts import STILL, Shift, overlap
from bgsub.detectors.adaptive.reduced import PLAIN, view_side
from bgsub.frames import Frame

__all__ = ["Found", "compile_seldom_needed", "find_offset", "find_strips", "shift_back", "steady"]

_RANGE = 0.15  # largest offset, as a share of the frame's height and width
_LEAST_CELLS = 16  # that the reduced picture must have in both directions
_COMPARED_PX = 20000  # about so many pixels are compared, in every so many rows
_PARTS = 4, 4  # of the frame, which an offset makes more like the background or less
_LIKER = 0.05  # by at least such a share of what they would have if they were the same


class Found(NamedTuple):
    """How a frame lies to the background."""

    offset: Shift
    """Where a pixel of the background is found."""
    likeness: float
    """Of the reduced pictures' edges under that offset, in [-1, 1]; see `find_likeness`."""
    better: float
    """Share of the parts of the frame that the offset makes more like the background,"""
    worse: float
    """and less like it."""


def find_offset(frame: NDArray[Any], background: NDArray[Any], white: float) -> Found:
    """Find where the background lies in a frame, by the directions of edges.

    In pictures reduced by a power of two to some 60x45 pixels all offsets up to .15 of the frame are tried, then in
    pictures twice as large those next to the best one, down to single pixels. It is the orientation correlation of
    Fitch, Kadyrov, Christmas and Kittler (2002): how strong edges are and what light there is matters little, and
    whatever covers a part of the frame takes only that part away.

    Parameters
    ----------
    frame : (H, W) or (H, W, 3) array
    background : (D, at least H * W) array
        Planes of the learned background.
    white : float
        Value of white.

    Returns
    -------
    Found
    """
    size = frame.shape[0], frame.shape[1]
    side = view_side(size)
    if min(size) <= _LEAST_CELLS * side:
        return Found(STILL, 0.0, 0.0, 0.0)
    pixels, unit = size[0] * size[1], np.float32(255.0 / white)
    planes = np.empty((len(background), *size), frame.dtype)
    cv2.split(np.ascontiguousarray(frame), list(planes))
    known = np.ascontiguousarray(background[:, :pixels].reshape(-1, *size))  # as compiled ahead of time
    pictures = [(_grey(planes, unit), _grey(known, unit))]
    while 2 ** (len(pictures) - 1) < side:
        pictures.append((_halve(pictures[-1][0]), _halve(pictures[-1][1])))
    seen, learned = (_directions(picture) for picture in pictures[-1])
    offset, likeness = _find_roughly(seen, learned)
    for pair in reversed(pictures[:-1]):
        seen, learned = (_directions(picture) for picture in pair)
        offset = _refine(seen, learned, Shift(2 * offset.down, 2 * offset.right))
    if offset == STILL:
        return Found(STILL, likeness, 0.0, 0.0)
    sums = np.empty((3, *_PARTS), np.int64)
    compare_parts(seen, learned, *offset, _row_step(learned), sums)
    gain, room = sums[1] - sums[0], _LIKER * sums[2]
    return Found(offset, likeness, float(np.mean(gain > room)), float(np.mean(gain < -room)))


def compile_seldom_needed() -> None:
    """Call the compiled functions that only larger frames need, or a camera that was elsewhere."""
    view = _directions(np.zeros((9, 9), np.float32))
    _refine(view, view, STILL)
    compare_parts(view, view, *STILL, 1, np.empty((3, *_PARTS), np.int64))


def _grey(planes: NDArray[Any], unit: np.float32) -> NDArray[np.float32]:
    grey = np.empty(planes.shape[1:], np.float32)
    add_channels(planes, unit, np.empty(planes.shape[-1], np.float32), grey)
    return grey


def _halve(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    size = picture.shape[1] // 2, picture.shape[0] // 2
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.float32)


def _directions(grey: NDArray[np.float32]) -> NDArray[np.int8]:
    view, room = np.empty((2, grey.shape[0] - 1, grey.shape[1] - 1), np.int8), np.empty((6, grey.shape[1]), np.float32)
    find_directions(grey, np.float32(1), np.float32(PLAIN), room, view)
    return view


def _find_roughly(seen: NDArray[np.int8], learned: NDArray[np.int8]) -> tuple[Shift, float]:
    """Return the offset of all within reach under which the middle of the background is most like the frame."""
    down, right = (max(1, round(_RANGE * length)) for length in learned.shape[1:])
    image, template = (np.ascontiguousarray(view.transpose(1, 2, 0), np.float32) for view in (seen, learned))
    template = np.ascontiguousarray(template[down:-down, right:-right])
    if not (image.any() and template.any()):
        return STILL, 0.0
    found = cv2.matchTemplate(image, template, cv2.TM_CCORR_NORMED)
    _, likeness, _, (column, row) = cv2.minMaxLoc(found)
    return Shift(row - down, column - right), float(likeness)


def _refine(seen: NDArray[np.int8], learned: NDArray[np.int8], near: Shift) -> Shift:
    """Return the best offset of those at most a pixel away."""
    sums = np.empty((3, 3), np.int64)
    correlate(seen, learned, *near, _row_step(learned), sums)
    row, column = divmod(int(np.argmax(sums)), 3)
    if sums[row, column] <= sums[1, 1]:  # as in plain pictures, where all are 0
        return near
    return Shift(near.down + row - 1, near.right + column - 1)


def _row_step(view: NDArray[np.int8]) -> int:
    return max(1, int(view.shape[1] * view.shape[2]) // _COMPARED_PX)


def find_strips(size: tuple[int, int], offset: Shift) -> list[tuple[slice, slice]]:
    """Return what of a background of (height, width) is not seen in a frame where it lies elsewhere.

    Examples
    --------
    >>> find_strips((120, 160), Shift(3, -4))
    [(slice(117, 120, None), slice(0, 160, None)), (slice(0, 117, None), slice(0, 4, None))]
    """
    (rows, _), (columns, _) = overlap(-offset.down, size[0]), overlap(-offset.right, size[1])
    across = slice(0, size[1])
    strips = [
        (slice(0, rows.start), across),
        (slice(rows.stop, size[0]), across),
        (rows, slice(0, columns.start)),
        (rows, slice(columns.stop, size[1])),
    ]
    return [strip for strip in strips if all(side.start < side.stop for side in strip)]


def steady(frame: Frame, background: NDArray[Any], offset: Shift) -> Frame:
    """Return a frame as the camera would have seen it where the background was learned.

    What it does not see now is the background, of which `background`, (D, at least H * W), are the planes.
    """
    height, width = frame.shape[:2]
    (to_rows, rows), (to_columns, columns) = overlap(-offset.down, height), overlap(-offset.right, width)
    steadied = np.empty_like(frame)
    steadied[to_rows, to_columns] = frame[rows, columns]
    channels = steadied.reshape(height, width, -1)
    for strip in find_strips((height, width), offset):
        for channel, plane in enumerate(background):
            channels[(*strip, channel)] = plane[: height * width].reshape(height, width)[strip]
    return steadied


def shift_back(image: NDArray[Any], offset: Shift, unseen: float) -> NDArray[Any]:
    """Return a mask or scores of a steadied frame as they lie in the frame, with a value for what was not judged."""
    (to_rows, rows), (to_columns, columns) = (
        overlap(shift, length) for shift, length in zip(offset, image.shape, strict=True)
    )
    shifted = np.full_like(image, unseen)
    shifted[to_rows, to_columns] = image[rows, columns]
    return shifted
