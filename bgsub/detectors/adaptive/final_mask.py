"""The final mask of the adaptive bank: two medians and hole filling."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._jit.majority import Votes, make_square, vote_twice
from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit import blocks as units
from bgsub.detectors.adaptive._jit.unrest import GRID, average
from bgsub.frames import Mask

__all__ = ["FINE_PX", "Outlines", "clean", "find_calm", "find_outlines", "make_calm", "scaled_side"]

Outlines = Sequence[NDArray[Any]]

# Sides in pixels are for frames of this area and grow with it to this power: less than the 0.5 of a picture that is
# enlarged, because larger frames also show smaller things.
_REFERENCE_PX, _GROWTH = 320 * 240, 0.35
FINE_PX = 5
"""Side of the median where the neighbourhood is calm, for 320x240."""
_CALM = 1.1  # largest unrest of a calm neighbourhood: mean factor of the width,
_RESTLESS_WEIGHT = 0.3  # and so much of the mean of v - 0.1, which shows at once what factors follow slowly
_LIGHT = 12  # votes and means cost so many times less a pixel than most kernels
_REACH = 6  # side of that neighbourhood, in sides of the median


def scaled_side(pixels: int, size: tuple[int, int]) -> int:
    """Scale a side, given for 320x240, to frames of (height, width); odd."""
    return 1 if pixels == 1 else max(3, round(pixels * (size[0] * size[1] / _REFERENCE_PX) ** _GROWTH) | 1)


def clean(
    raw: Mask,
    calm: Mask,
    side: int,
    fine: int,
    fill: bool,
    threads: int,
    final: Mask,
    filled: NDArray[np.uint8],
    scratch: Mask,
) -> Outlines:
    """Write the final mask of a raw one and return its outlines: a median, a finer one where it is calm, no holes.

    `side` and `fine` are sides in pixels of the frame; masks are (H, W) uint8, 0 and 255, and `calm` is a grid's.
    In `filled`, (H,), it writes 0 for rows of the final mask that are empty.
    """
    if side == 1:
        final[:], filled[:] = raw, 1
    else:
        fine = min(fine, side)
        size, squares = (raw.shape[0], raw.shape[1]), (make_square(side), make_square(fine))
        run_bands(vote_twice, size, threads, raw, *squares, calm, scratch, Votes(final, filled), light=_LIGHT)
    outlines = find_outlines(final, filled)
    if fill:
        cv2.drawContours(final, outlines, -1, 255, cv2.FILLED)
    return outlines


def find_outlines(mask: Mask, filled: NDArray[np.uint8] | None = None) -> Outlines:
    """Return the outer outline of each region, an array (P, 1, 2) of x and y; filling holes does not change them.

    Rows where `filled`, (H,), is 0 are not looked at, except between others.
    """
    rows = np.arange(len(mask)) if filled is None else np.flatnonzero(filled)
    if rows.size == 0:
        return ()
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    return cv2.findContours(mask[top:bottom], cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE, offset=(0, top))[0]


def make_calm(size: tuple[int, int]) -> Mask:
    """Return the grid that `find_calm` writes for frames of (height, width), calm everywhere."""
    return np.full((-(-size[0] // GRID), -(-size[1] // GRID)), 255, np.uint8)


def find_calm(factors: NDArray[np.uint16], restless: NDArray[np.uint16], side: int, threads: int, calm: Mask) -> None:
    """Write 255 where the neighbourhood is calm, else 0; factors and restlessness are images in their units."""
    one = float(units.FACTOR_ONE)
    weight = round(_RESTLESS_WEIGHT * float(units.RESTLESS_UNIT) * one)
    unrest = np.empty(calm.shape, np.float32)
    size = (calm.shape[0], calm.shape[1] * GRID**2)
    run_bands(average, size, threads, factors, restless, weight, unrest, light=_LIGHT)
    reach = (_REACH * side // GRID) | 1
    mean = np.asarray(cv2.boxFilter(unrest, -1, (reach, reach))).reshape(calm.shape)
    np.multiply(mean < np.float32(_CALM * one + weight * int(units.QUIET)), np.uint8(255), out=calm)
