"""The final mask, and what is faint beside it, in one call: on small frames calls take as long as the work."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.copying import copy_image
from bgsub._jit.majority import IN_LARGE, LARGEST, Square, Squares, Votes
from bgsub._numba import compiled, inlined, unpack
from bgsub.detectors.adaptive._jit.outlines.broad import Broad, add_broad
from bgsub.detectors.adaptive._jit.outlines.faint import Found, vote_on_faint
from bgsub.detectors.adaptive._jit.outlines.trimming import Trust, vote_and_trim
from bgsub.detectors.adaptive._jit.regions import finish

__all__ = ["MaskRule", "Masked", "Seen", "make_masks"]


class Seen(NamedTuple):
    """What a frame showed; (H, W) u1."""

    raw: Any
    """The raw mask, 0 and 255."""
    faint: Any
    """0 and 255; see `Observation`."""
    distance: Any
    """1 - density / threshold in BYTEs, where the raw mask is foreground."""


class MaskRule(NamedTuple):
    """How squares vote, and what they are trusted with."""

    large: Any
    """i8: side of the largest squares, odd; 1 for the raw mask as it is, and nothing faint"""
    middle: Any
    """i8"""
    small: Any
    """i8"""
    full: Any
    """f8: share of the pixels inside what any squares found, of `Trust`,"""
    fine: Any
    """f8: and of those inside what small squares found,"""
    around: Any
    """i8: in so many cells around"""
    clear: Any
    """u1: distance from which raw foreground is no part of what is faint,"""
    far: Any
    """i8: which counts so many cells away"""
    fill: Any
    """b1: whether holes are filled"""


class Masked(NamedTuple):
    """What is written; (H, W) u1 but where something else is said."""

    mask: Any
    """The final mask, 0 and 255."""
    occupied_rows: Any
    """(H,) u1: 0 for rows of it that are empty for certain."""
    cells: Any
    """(h, w) u1: bits of `vote_thrice`, `add_broad` and `mark_faint`."""
    unfilled: Any
    """The final mask before holes were filled, in occupied rows."""
    faint: Any
    """What `vote_on_faint` writes."""
    smaller: Any
    """(2, H, W) u1: scratch."""


@inlined
def _square(side):
    return Square(side // 2, side * side // 2 + 1)


@compiled
def make_masks(team: Any, held: Any, region: Any) -> Any:
    """Vote on the final mask in squares of three sizes, add broad regions, fill holes, and vote on what is faint.

    Parameters
    ----------
    team : Team
    held
        found : (H, W) u1
            The raw mask with what squares of pixels alone show.
        seen : Seen
        static : (h, w) u1
            Which smaller squares count, as for `vote_thrice`.
        broad_static, pictures, sway
            Make `Broad`.
        rule : MaskRule
        masked : Masked
            Written.
    region : (H, W) u1
        The final mask is empty where it is 0; of no rows if there is no such region.
    """
    found, seen, static, broad_static, pictures, sway, rule, masked = unpack(held)
    broad = Broad(broad_static, pictures, sway)
    mask, rows, cells = masked.mask, masked.occupied_rows, masked.cells
    if rule.large == 1:
        copy_image(found, mask)
        rows[:], cells[:] = np.uint8(1), IN_LARGE
    else:
        squares = Squares(_square(rule.large), _square(rule.middle), _square(rule.small))
        trust = Trust(np.float32(rule.full), np.float32(rule.fine), rule.around)
        votes = Votes(mask, rows, cells)
        vote_and_trim(team, found, squares, static, trust, masked.smaller, votes)
        add_broad(masked.smaller[0], static, broad, squares.large.least, votes)
    finish(mask, rows, masked.unfilled, rule.fill)
    for y in range(region.shape[0]):  # a majority or a filled hole may cross the border
        for x in range(region.shape[1]):
            mask[y, x] &= region[y, x]
    if rule.large > 1:
        final = Found(mask, rows, seen.raw, seen.distance)
        side = min(rule.small, LARGEST)
        vote_on_faint(team, seen.faint, final, rule.clear, static, rule.far, side, cells, masked.faint)
