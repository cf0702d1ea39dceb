"""How dynamic the background is, on a coarse grid."""

import numpy as np

from bgsub._numba import compiled

__all__ = ["GRID", "average"]

GRID = 4
"""Pixels of the side of a cell."""


@compiled
def average(first, last, factors, blink_rates, weight, means):
    """Write the mean of factors + weight * blink_rates over each cell; those at the ends may be smaller.

    Parameters
    ----------
    factors, blink_rates : (H, W) u2
    weight : int
        Of the second beside the first.
    means : (ceil(H / GRID), ceil(W / GRID)) f4
        Written.
    """
    height, width = factors.shape
    sums, factor, whole = np.empty(width, np.int32), np.int32(weight), width // GRID
    for row in range(first, last):
        for x in range(width):
            sums[x] = np.int32(0)
        top, bottom = row * GRID, min((row + 1) * GRID, height)
        for y in range(top, bottom):
            a, b = factors[y], blink_rates[y]
            for x in range(width):
                sums[x] = np.int32(sums[x] + np.int32(a[x]) + factor * np.int32(b[x]))
        out, share = means[row], np.float32(1.0 / (GRID * (bottom - top)))
        for cell in range(whole):
            part = np.int32(sums[4 * cell] + sums[4 * cell + 1] + sums[4 * cell + 2] + sums[4 * cell + 3])
            out[cell] = np.float32(part) * share
        if whole < out.shape[0]:
            rest = sums[whole * GRID :]
            out[whole] = np.float32(np.sum(rest)) / np.float32(rest.shape[0] * (bottom - top))
