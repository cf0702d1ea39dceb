"""Shifts of the picture: how far the background has gone at once, and a model that goes with it."""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.blocks import BLOCK, as_image, count_blocks
from bgsub.detectors.adaptive._jit.offsets import add_channels, compare_shifted
from bgsub.frames import Mask

__all__ = ["STILL", "Shift", "compile_seldom_needed", "find_shift", "is_sudden", "move", "overlap"]

_GRID_PX = 320 * 240  # larger frames are compared on a grid of about so many pixels
_SUDDEN, _USUAL = 0.05, 2.0  # foreground above this share of the frame and so many times its mean may be a knock
_LARGEST = 0.2  # of the frame's smaller side
_EXPLAINS = 0.5  # a shift is real if at most this share of the pixels that did not match is left,
_LEAST = 0.05  # and so many did not;
_PARTS, _SPREAD = (4, 4), 0.5  # of the parts of the frame so many have some that it explains: else something moves
_IN_PART = 0.005  # before a plain background


class Shift(NamedTuple):
    """Where the background has gone, in pixels."""

    down: int
    right: int


STILL = Shift(0, 0)
"""That of a camera that stands where it stood."""


def is_sudden(share: float, mean: float) -> bool:
    """Return whether a share of foreground is so far above its running mean that the camera may have moved."""
    return share > _SUDDEN + _USUAL * mean


def find_shift(frame: NDArray[Any], background: NDArray[Any], white: float, box: float) -> Shift | None:
    """Find a shift of the whole background.

    It is the maximum of the phase correlation of the grey pictures, if under it at most half as many pixels differ
    from the background as without it, and those that it explains lie in half of the frame: what moves before a plain
    background looks like a shift as well.

    Parameters
    ----------
    frame : (H, W) or (H, W, 3) array
    background : (D, at least H * W) array
        Planes of the learned background.
    white : float
        Value of white.
    box : float
        Largest difference of a channel of a pixel that matches the background, in grey levels.

    Returns
    -------
    Shift or None
        None if there is none of at least a pixel.
    """
    height, width = frame.shape[:2]
    step = max(1, round(math.sqrt(height * width / _GRID_PX)))
    unit = np.float32(255.0 / white)
    size = (-(-height // step), -(-width // step))
    if min(size) < 2:
        return None
    planes = np.empty((2, len(background), *size), frame.dtype)
    cv2.split(np.ascontiguousarray(frame[::step, ::step]), list(planes[0]))
    planes[1] = background[:, : height * width].reshape(-1, height, width)[:, ::step, ::step]
    if not _differs_widely(planes, box / float(unit)):
        return None
    grey, room = np.empty((2, *size), np.float32), np.empty((3, size[1]), np.float32)
    for image in range(2):
        add_channels(planes[image], unit, room[0], grey[image])
    (right, down), _ = cv2.phaseCorrelate(grey[1], grey[0], _window(size))
    x, y = round(right), round(down)  # on the grid
    if (x == 0 and y == 0) or max(abs(x), abs(y)) > _LARGEST * min(size):
        return None
    explained = np.empty((size[0] - abs(y), size[1] - abs(x)), np.uint8)
    room = room[:, : explained.shape[1]]
    different, still = compare_shifted(planes, unit, y, x, np.float32(box), room, explained)
    if different / explained.size < _LEAST or still / explained.size > _EXPLAINS * (different / explained.size):
        return None
    if _spread(explained, _IN_PART) < _SPREAD:
        return None
    return Shift(round(down * step), round(right * step))


def _differs_widely(planes: NDArray[Any], box: float) -> bool:
    """Return whether frame and background, (2, D, h, w), differ in as many parts as a shift has to explain.

    Most often something large has come in, and to see that takes a twentieth of the time that a phase correlation does.
    """
    differences = [cv2.absdiff(now, learned) for now, learned in zip(*planes, strict=True)]
    different = np.asarray(functools.reduce(cv2.max, differences)) > box
    return _spread(different, _IN_PART) >= _SPREAD


def _spread(marked: NDArray[Any], least: float) -> float:
    """Return in how large a share of the parts of a frame more than a share of the pixels are marked, by 1 or True."""
    shares = cv2.resize(marked.astype(np.float32), _PARTS, interpolation=cv2.INTER_AREA)
    return float(np.mean(shares > least))


def compile_seldom_needed(dtype: np.dtype[Any]) -> None:
    """Call the compiled function that only a knock at the camera needs, for frames of a type."""
    scene = np.random.default_rng(0).integers(0, 200, (32, 48)).astype(dtype)
    find_shift(np.roll(scene, (2, 3), (0, 1)), scene.reshape(1, -1), 255.0, 10.0)


@functools.cache
def _window(size: tuple[int, int]) -> NDArray[np.float32]:
    """Return the weights that pictures of (height, width) fade with towards their borders."""
    return np.asarray(cv2.createHanningWindow(size[::-1], cv2.CV_32F), np.float32)


def overlap(shift: int, length: int) -> tuple[slice, slice]:
    """Return what lies in both of two ranges of which one is shifted: its place in the second, and in the first."""
    return slice(max(shift, 0), length + min(shift, 0)), slice(max(-shift, 0), length + min(-shift, 0))


def move(arrays: dict[str, NDArray[Any]], size: tuple[int, int], shift: Shift) -> Mask:
    """Move everything that is kept for each pixel, in blocks; what comes into view gets what was at the border.

    Parameters
    ----------
    arrays : dict
        The model's, from `make_arrays`; those in blocks are written.
    size : (height, width)
    shift : Shift

    Returns
    -------
    (H, W) uint8 array
        255 where the camera had not looked.
    """
    (height, width), (down, right) = size, shift
    rows = np.clip(np.arange(height) - down, 0, height - 1)
    columns = np.clip(np.arange(width) - right, 0, width - 1)
    blocks = (count_blocks(size), BLOCK)
    for array in arrays.values():
        if array.shape[-2:] == blocks:
            for plane in array.reshape(-1, *blocks):
                image = as_image(plane, size)
                image[:] = image[rows][:, columns]
    new = np.full(size, 255, np.uint8)
    new[overlap(down, height)[0], overlap(right, width)[0]] = 0
    return new
