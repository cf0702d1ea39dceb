"""The learned background: per pixel, the support vector at which the hypothesis is largest."""

import numpy as np

from bgsub._numba import banded, exp2_nonpositive

__all__ = ["densest_colours"]


@banded
def densest_colours(
    first_row,
    last_row,
    colours,  # (H, D, B, W)
    coefficients,  # (H, B, W) f4
    gain,  # f4: -log2(e) / width**2
    background,  # (H, W, D) of the colours' dtype: written
):
    """Write the colour of the support vector s_i with the largest f(s_i) = sum_j a_j k(s_j, s_i)."""
    slots, width = coefficients.shape[1], coefficients.shape[2]
    channels = colours.shape[1]
    f, best = np.empty(width, np.float32), np.empty(width, np.float32)
    square, chosen = np.empty(width, np.float32), np.empty(width, np.uint8)
    for y in range(first_row, last_row):
        best[:] = np.float32(-1.0)
        for i in range(slots):
            f[:] = np.float32(0.0)
            for j in range(slots):
                square[:] = np.float32(0.0)
                for c in range(channels):
                    centre, other = colours[y, c, i], colours[y, c, j]
                    for x in range(width):
                        d = np.float32(centre[x]) - np.float32(other[x])
                        square[x] += d * d
                a = coefficients[y, j]
                for x in range(width):
                    f[x] += a[x] * exp2_nonpositive(square[x] * gain)
            own = coefficients[y, i]
            for x in range(width):
                better = f[x] > best[x] and own[x] > np.float32(0.0)
                highest, previous = f[x], chosen[x]
                best[x] = highest if better else best[x]
                chosen[x] = np.uint8(i) if better else previous
        for x in range(width):
            for c in range(channels):
                background[y, x, c] = colours[y, c, chosen[x], x] if best[x] >= np.float32(0.0) else 0
