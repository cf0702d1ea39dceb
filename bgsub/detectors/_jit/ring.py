"""Shared by the compiled functions of NORMA and OLK_N: rings of support vectors, one per pixel, and rows of frames.

Inner loops run over contiguous pixels of a row through one-dimensional views, and load what they choose from before
they choose: in this form LLVM vectorises all of them. Support vectors lie channel by channel, then slot by slot, so
that the inner loop reads a few purely sequential streams (15 % faster than slot by slot, then channel).
"""

from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import exp2_nonpositive, inlined, part

__all__ = [
    "NO_SLOT",
    "Outputs",
    "Ring",
    "expand",
    "next_slot",
    "separate",
    "store_coefficients",
    "store_colours",
    "write_mask",
    "write_score",
]

NO_SLOT = np.uint8(255)
"""Stands for a slot: none stores this pixel's colour."""
_LOWEST_SCORE = np.float32(-1e6)


class Ring(NamedTuple):
    """Support vectors of all pixels; the oldest of a pixel is replaced first."""

    colours: Any
    """(H, D, B, W) of the frame's dtype."""
    coefficients: Any
    """(H, B, W) f4, to be multiplied by the common scale."""
    heads: Any
    """(H, W) u1: the slot written next."""


class Outputs(NamedTuple):
    """Arrays to be written; shape (0, 0) stands for one that is not wanted."""

    mask: Any
    """(H, W) u1: 255 where the value is below the threshold, else 0."""
    score: Any
    """(H, W) f4: 1 - value / threshold."""


@part
def separate(part, planes, values):
    """Copy a row, pixels in turn, into planes of its dtype and of f4, (D, W)."""
    channels = planes.shape[0]
    for c in range(channels):
        plane, row = planes[c], values[c]
        if channels == 3:
            for x in range(part.size // 3):
                plane[x] = part[3 * x + c]
        else:
            for x in range(part.size):
                plane[x] = part[x]
        for x in range(part.size // channels):
            row[x] = np.float32(plane[x])


@part
def expand(colours, coefficients, values, gain, f):
    """Compute f, (W,) f4, of a row without the common scale: the sums of `norma_boxes`, bit by bit.

    `values` are the planes of the row, (D, W) f4.
    """
    zero = np.float32(0.0)
    x0 = values[0]
    for x in range(f.shape[0]):
        f[x] = zero
    for j in range(coefficients.shape[0]):
        a, s0 = coefficients[j], colours[0, j]
        if values.shape[0] == 3:
            s1, s2, x1, x2 = colours[1, j], colours[2, j], values[1], values[2]
            for x in range(f.shape[0]):
                d0 = np.float32(s0[x]) - x0[x]
                d1 = np.float32(s1[x]) - x1[x]
                d2 = np.float32(s2[x]) - x2[x]
                f[x] += a[x] * exp2_nonpositive((d0 * d0 + d1 * d1 + d2 * d2) * gain)
        else:
            for x in range(f.shape[0]):
                d0 = np.float32(s0[x]) - x0[x]
                f[x] += a[x] * exp2_nonpositive(d0 * d0 * gain)


@inlined
def next_slot(head, slots):
    """Return the slot after this one, in a ring."""
    return np.uint8(head + np.uint8(1) if head + np.uint8(1) < slots else np.uint8(0))


@part
def write_mask(value, threshold, mask):
    """Write 255 where the value is below the threshold; (W,) each."""
    for x in range(mask.shape[0]):
        mask[x] = np.uint8(255) if value[x] < threshold[x] else np.uint8(0)


@part
def write_score(value, threshold, score):
    """Write 1 - value / threshold, and the lowest score where the threshold is not positive; (W,) each."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for x in range(score.shape[0]):
        level = threshold[x]
        ratio = value[x] / (level if level > zero else one)
        score[x] = one - ratio if level > zero else _LOWEST_SCORE


@part
def store_coefficients(slot, insert, new, coefficients):
    """Give a slot (W,) the new coefficients where it is the one that takes the colour."""
    for x in range(coefficients.shape[0]):
        old, following = coefficients[x], new[x]
        coefficients[x] = following if insert[x] == slot else old


@part
def store_colours(slot, insert, pixels, colours):
    """Give a slot, (D, B, W), the colours (D, W) where it is the one that takes them."""
    for c in range(colours.shape[0]):
        s, row = colours[c, slot], pixels[c]
        for x in range(row.shape[0]):
            old, new = s[x], row[x]
            s[x] = new if insert[x] == slot else old
