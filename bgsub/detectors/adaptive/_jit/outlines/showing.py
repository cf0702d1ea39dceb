"""What masks show beside the final mask: its details, without what sways and without its gaps."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.copying import copy_image, copy_row
from bgsub._numba import compiled, in_bands, unpack
from bgsub.detectors.adaptive._jit.outlines.details import add_details, mark_beside
from bgsub.detectors.adaptive._jit.outlines.displaced import clear_displaced
from bgsub.detectors.adaptive._jit.outlines.gaps import open_gaps
from bgsub.detectors.adaptive._jit.shadows.kinds import tell_kinds

__all__ = ["Reaches", "Shown", "show_details"]

_PIECES = 2  # for each thread: foreground is seldom the same in both halves of a frame


class Reaches(NamedTuple):
    """How far details and gaps reach; i8."""

    cells: Any
    """From cells in which large squares have a majority, so many rows and columns of cells;"""
    pixels: Any
    """and from what was found, so many pixels. 0 for no details."""
    gap: Any
    """Side of the smallest gap, odd; 0 for none."""


class Shown(NamedTuple):
    """A mask to be shown, written; (H, W) u1."""

    mask: Any
    """255 for foreground, else 0."""
    occupied_rows: Any
    """(H,) u1: 0 for rows of it that are empty for certain."""
    kinds: Any
    """Of what kind foreground is, from `tell_kinds`."""


@compiled
def show_details(team: Any, held: Any, region: Any, mask: Any) -> Any:
    """Write the final mask with its details, without what sways and its gaps, and of what kind its foreground is.

    Parameters
    ----------
    team : Team
    held
        pictures : Pictures
        masked : Masked
            From `make_masks`; what is faint in it is written by `clear_displaced`.
        static : (h, w) u1
            Not 0 where smaller squares count.
        reaches : Reaches
        sway : Sway
        rows, kinds
            Those of `Shown`.
    region : (H, W) u1
        Details are left out where it is 0; of no rows if there is no such region.
    mask : (H, W) u1
        That of `Shown`.
    """
    pictures, masked, static, reaches, sway, rows, kinds = unpack(held)
    final, cells = masked.mask, masked.cells
    height = mask.shape[0]
    if reaches.pixels > 0:
        where = np.empty_like(static)
        mark_beside(cells, reaches.cells, static, where)
        details = (pictures.raw, final, masked.occupied_rows, where, reaches.pixels, mask, rows)
        in_bands(team, add_details, 0, static.shape[0], 1, details)
        for y in range(region.shape[0]):
            for x in range(region.shape[1]):
                mask[y, x] &= region[y, x]
    else:
        copy_image(final, mask)
        copy_row(masked.occupied_rows, rows)
    if sway.reach > 0:
        clear_displaced(mask, cells, pictures, sway, masked.faint)
    if reaches.gap > 0:
        in_bands(team, open_gaps, 0, height, _PIECES, (pictures, mask, rows, reaches.gap))
    in_bands(team, tell_kinds, 0, height, 1, (mask, final, masked.unfilled, kinds))
