"""How dynamic the background is, on a coarse grid."""

import numpy as np

from bgsub._jit.majority import CELL, IN_LARGE, IN_SMALL
from bgsub._numba import compiled

import os
_STAYS = np.float32(1/float(os.environ.get("STAYS","50")))
_LASTS = np.uint8(int(os.environ.get("LASTS","4")))
__all__ = ["average", "count_onsets"]


@compiled
def count_onsets(cells, before, rates, rate):
    """Update how often small squares begin to vote where large ones do not: false alarms, or small things that pass.

    Parameters
    ----------
    cells : (h, w) u1
        Bits of the votes of this frame, from `vote_twice`.
    before : (h, w) u1
        Those of the frame before; becomes a copy of `cells`.
    rates : (h, w) f4
        Running mean of the onsets per frame, written.
    rate : f4
        Of the running mean.
    """
    height, width = cells.shape
    large = np.empty(width + 2, np.uint8)  # of the cells above, beside and below, with a margin
    recent = np.empty(width + 2, np.uint8)
    large[:], recent[:] = np.uint8(0), np.uint8(0)
    for y in range(height):
        top, bottom = max(y - 1, 0), min(y + 1, height - 1)
        above, here, below = cells[top], cells[y], cells[bottom]
        for x in range(width):
            large[x + 1] = (above[x] | here[x] | below[x]) & IN_LARGE
        above, previous, below = before[top], before[y], before[bottom]
        for x in range(width):
            recent[x + 1] = above[x] | previous[x] | below[x]
        means = rates[y]
        for x in range(width):
            alone = ((here[x] & IN_SMALL) != 0) & ((large[x] | large[x + 1] | large[x + 2]) == 0)
            begins = (recent[x] | recent[x + 1] | recent[x + 2]) == 0
            cost = np.float32(1.0) if begins else _STAYS
            means[x] += rate * ((cost if alone else np.float32(0.0)) - means[x])
    for y in range(height):
        here, previous = cells[y], before[y]
        for x in range(width):
            previous[x] = _LASTS if (here[x] & IN_SMALL) != 0 else max(previous[x], np.uint8(1)) - np.uint8(1)


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
