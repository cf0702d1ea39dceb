"""How dynamic the background is, on a coarse grid."""

from typing import Any, NamedTuple

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._numba import compiled

__all__ = ["OnsetRule", "average", "count_onsets"]


class OnsetRule(NamedTuple):
    """How the votes of a frame count."""

    rate: Any
    """f4: of the running mean"""
    stays: Any
    """f4: cost of a vote that is no onset"""
    lasts: Any
    """u1: frames for which a vote is remembered"""
    votes: Any
    """u1: which votes count, IN_SMALL or IN_MIDDLE"""


@compiled
def count_onsets(cells: Any, recent: Any, rates: Any, rule: Any) -> Any:
    """Update what smaller squares cost that vote where large ones do not: false alarms, or small things that pass.

    Where such squares begin to vote, with none that did lately in the cells around, this costs 1: things that move
    into a cell come from another one. Each other frame costs `rule.stays`.

    Parameters
    ----------
    cells : (h, w) u1
        Bits of the votes of this frame, from `vote_thrice`.
    recent : (h, w) u1
        `rule.lasts` where such squares voted in the frame before, less by one for each frame since then; updated.
    rates : (h, w) f4
        Running mean of the cost per frame, written.
    rule : OnsetRule
    """
    height, width = cells.shape
    large = np.empty(width + 2, np.uint8)  # of the cells above, beside and below, with a margin
    lately = np.empty(width + 2, np.uint8)
    large[:], lately[:] = np.uint8(0), np.uint8(0)
    for y in range(height):
        top, bottom = max(y - 1, 0), min(y + 1, height - 1)
        above, here, below = cells[top], cells[y], cells[bottom]
        above_before, before, below_before = recent[top], recent[y], recent[bottom]
        for x in range(width):
            large[x + 1] = (above[x] | here[x] | below[x]) & IN_LARGE
            lately[x + 1] = above_before[x] | before[x] | below_before[x]
        means = rates[y]
        for x in range(width):
            alone = ((here[x] & rule.votes) != 0) & ((large[x] | large[x + 1] | large[x + 2]) == 0)
            begins = (lately[x] | lately[x + 1] | lately[x + 2]) == 0
            cost = np.float32(1.0) if begins else rule.stays
            means[x] += rule.rate * ((cost if alone else np.float32(0.0)) - means[x])
    for y in range(height):
        here, before = cells[y], recent[y]
        for x in range(width):
            before[x] = rule.lasts if (here[x] & rule.votes) != 0 else max(before[x], np.uint8(1)) - np.uint8(1)


@compiled
def average(first, last, factors, blink_rates, weight, means):
    """Write the mean of factors + weight * blink_rates over each cell; those at the ends may be smaller.

    Parameters
    ----------
    factors, blink_rates : (H, W) u2
    weight : int
        Of the second beside the first.
    means : (ceil(H / CELL), ceil(W / CELL)) f4
        Written.
    """
    height, width = factors.shape
    sums, factor, whole = np.empty(width, np.int32), np.int32(weight), width // CELL
    for row in range(first, last):
        for x in range(width):
            sums[x] = np.int32(0)
        top, bottom = row * CELL, min((row + 1) * CELL, height)
        for y in range(top, bottom):
            a, b = factors[y], blink_rates[y]
            for x in range(width):
                sums[x] = np.int32(sums[x] + np.int32(a[x]) + factor * np.int32(b[x]))
        out, share = means[row], np.float32(1.0 / (CELL * (bottom - top)))
        for cell in range(whole):
            part = np.int32(sums[4 * cell] + sums[4 * cell + 1] + sums[4 * cell + 2] + sums[4 * cell + 3])
            out[cell] = np.float32(part) * share
        if whole < out.shape[0]:
            rest, total = sums[whole * CELL :], np.int64(0)
            for x in range(rest.shape[0]):
                total += np.int64(rest[x])
            out[whole] = np.float32(total) / np.float32(rest.shape[0] * (bottom - top))
