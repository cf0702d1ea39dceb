"""The final mask of the adaptive detector: majority in two sizes, and hole filling."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._jit.majority import Votes, make_square, vote_twice
from bgsub._numba import run_bands
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.blocks import BLINK_RATE_UNIT, FACTOR_ONE, LOWEST_BLINK_RATE
from bgsub.detectors.adaptive._jit.dynamics import GRID, average
from bgsub.frames import Mask

__all__ = ["FINE_PX", "Outlines", "clean", "find_outlines", "find_static", "make_static", "scaled_side"]

Outlines = Sequence[NDArray[Any]]

# Sides in pixels are for frames of this area and grow with it to this power: less than the 0.5 of a picture that is
# enlarged, because larger frames also show smaller things.
_REFERENCE_PX, _GROWTH = 320 * 240, 0.35
FINE_PX = 5
"""Side of the majority where the background is static, for 320x240."""
_STATIC = 1.1  # largest mean factor of the width of a static neighbourhood,
_BLINK_WEIGHT = 0.3  # plus so much of the mean of v - 0.1, which shows at once what factors follow slowly
_LIGHT = 12  # votes and means cost so many times less per pixel than most compiled functions
_REACH = 6  # side of that neighbourhood, in sides of the majority


def scaled_side(pixels: int, size: tuple[int, int]) -> int:
    """Scale a side, given for 320x240, to frames of (height, width); odd."""
    return 1 if pixels == 1 else max(3, round(pixels * (size[0] * size[1] / _REFERENCE_PX) ** _GROWTH) | 1)


def clean(
    raw: Mask,
    static: Mask,
    side: int,
    fine: int,
    fill: bool,
    threads: int,
    final: Mask,
    occupied_rows: NDArray[np.uint8],
    scratch: Mask,
) -> Outlines:
    """Write the final mask of a raw one and return its outlines.

    The majority in a square of `side` pixels, also in one of `fine` pixels where the background is static, and holes
    filled if `fill`. Masks are (H, W) uint8, 0 and 255; `static` is the grid that `find_static` writes.
    `occupied_rows`, (H,), becomes 0 for rows of the final mask that are empty.
    """
    if side == 1:
        final[:], occupied_rows[:] = raw, 1
    else:
        fine = min(fine, side)
        size, squares = (raw.shape[0], raw.shape[1]), (make_square(side), make_square(fine))
        run_bands(vote_twice, size, threads, raw, *squares, static, scratch, Votes(final, occupied_rows), light=_LIGHT)
    outlines = find_outlines(final, occupied_rows)
    if fill:
        cv2.drawContours(final, outlines, -1, 255, cv2.FILLED)
    return outlines


def find_outlines(mask: Mask, occupied_rows: NDArray[np.uint8] | None = None) -> Outlines:
    """Return the outer outline of each region, an array (P, 1, 2) of x and y; filling holes does not change them.

    Rows where `occupied_rows`, (H,), is 0 are not looked at, except between others.
    """
    rows = np.arange(len(mask)) if occupied_rows is None else np.flatnonzero(occupied_rows)
    if rows.size == 0:
        return ()
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    return cv2.findContours(mask[top:bottom], cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE, offset=(0, top))[0]


def make_static(size: tuple[int, int]) -> Mask:
    """Return the grid that `find_static` writes for frames of (height, width), static everywhere."""
    return np.full((-(-size[0] // GRID), -(-size[1] // GRID)), 255, np.uint8)


def find_static(
    factors: NDArray[np.uint16], blink_rates: NDArray[np.uint16], side: int, threads: int, static: Mask
) -> None:
    """Write 255 where the background is static, else 0; factors and blink rates are images in their units."""
    one = float(FACTOR_ONE)
    weight = round(_BLINK_WEIGHT * float(BLINK_RATE_UNIT) * one)
    dynamics = np.empty(static.shape, np.float32)
    size = (static.shape[0], static.shape[1] * GRID**2)
    run_bands(average, size, threads, factors, blink_rates, weight, dynamics, light=_LIGHT)
    reach = (_REACH * side // GRID) | 1
    mean = np.asarray(cv2.boxFilter(dynamics, -1, (reach, reach))).reshape(static.shape)
    np.multiply(mean < np.float32(_STATIC * one + weight * int(LOWEST_BLINK_RATE)), np.uint8(255), out=static)
