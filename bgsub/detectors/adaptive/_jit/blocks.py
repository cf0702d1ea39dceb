"""What the kernels of the adaptive bank share: its state in blocks, small integers and their units.

Pixels are worked off in blocks of 64 that follow each other in memory, slot by slot, because most blocks of most
frames need little: where every pixel matches a first slot that outweighs the rest (`settled`), the other slots are
not even read, and where the feedback is at rest as well (`quiet`), it stays there. The inner loops have the form that
`_norma_kernels` explains.
"""

import numpy as np

from bgsub._numba import exp2_nonpositive, view_kernel

__all__ = [
    "BLOCK",
    "BYTE",
    "BYTES",
    "DITHERS",
    "FACTOR_ONE",
    "FORGOTTEN",
    "NONE",
    "QUIET",
    "RESTLESS_UNIT",
    "SETTLED",
    "exponent_unit",
    "first_values",
]

BLOCK = 64
"""Pixels of a block."""
DITHERS = 61
"""Blocks of dither, which blocks of pixels take in turns."""
SETTLED, FORGOTTEN = np.uint8(1), np.uint8(2)
"""What a block is, near to its first slots or due to learn at once; 0 is neither."""
NONE = np.uint8(255)
"""In place of a slot: there is none."""

# State in small integers: each unit is less than what a frame changes.
FACTOR_ONE = np.float32(8000.0)  # a factor of 1
RESTLESS_UNIT = np.float32(0.025)
BYTE, BYTES = np.float32(1.0 / 255.0), np.float32(255.0)
"""Unit of the kernel values and distances of one frame, and how many make 1."""

QUIET = np.int32(4)  # what a frame without a blink takes, and the least v: 0.1


@view_kernel
def exponent_unit(gain, channels):
    """Return what turns squared distance / factor**2, in their units, into the exponent of two.

    One channel counts like three equal ones, so that a width means the same for grey as for colour.
    """
    return np.float32((gain if channels == 3 else np.float32(3.0) * gain) * (FACTOR_ONE * FACTOR_ONE))


@view_kernel
def first_values(planes, colours, factors_row, unit, y, k):
    """Compute the kernel values (BLOCK,) f4 of the first slots of a block."""
    s0, p0 = colours[0, 0, y], planes[0, y]
    for x in range(BLOCK):
        d = np.float32(s0[x]) - np.float32(p0[x])
        k[x] = d * d
    for c in range(1, planes.shape[0]):
        s1, p1 = colours[0, c, y], planes[c, y]
        for x in range(BLOCK):
            d = np.float32(s1[x]) - np.float32(p1[x])
            k[x] += d * d
    for x in range(BLOCK):
        r = np.float32(factors_row[x])
        k[x] = min(exp2_nonpositive(k[x] * (unit / (r * r))), np.float32(1.0))
