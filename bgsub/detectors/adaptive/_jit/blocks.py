"""The adaptive detector's state in blocks, its units, and code shared by its compiled functions.

Pixels are processed in blocks of 64 that follow each other in memory, slot by slot, because most blocks of most
frames need little. In a *settled* block every pixel matches a first slot that outweighs the rest: the other slots are
not even read. Where no pixel was foreground or blinked lately, feedback has little to do, and
nothing where it has *converged*. The inner loops have the form that
`bgsub.detectors._jit.ring` explains.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import exp2_nonpositive, inlined, part

__all__ = [
    "BLINK_RATE_UNIT",
    "BLOCK",
    "BYTE",
    "BYTES",
    "CONVERGED",
    "DITHERS",
    "EMPTY",
    "FACTOR_ONE",
    "FORGOTTEN",
    "LOWEST_BLINK_RATE",
    "NONE",
    "SETTLED",
    "STEADY",
    "Observation",
    "State",
    "as_blocks",
    "as_image",
    "count_blocks",
    "exponent_unit",
    "first_kernel_values",
    "is_empty",
]

BLOCK = 64
"""Pixels of a block."""
DITHERS = 61
"""Blocks of dither, which blocks of pixels take in turns."""
SETTLED, FORGOTTEN = np.uint8(1), np.uint8(2)
"""States of a block: near to its first slots, or due to learn at once; 0 is neither."""
EMPTY, STEADY, CONVERGED = np.uint8(1), np.uint8(2), np.uint8(3)
"""How calm a block is: nothing was foreground in the frame before, in the raw mask or the final one; nor did anything
blink lately; and feedback would change nothing as long as it is settled and background."""
NONE = np.uint8(255)
"""Stands for a slot: there is none."""

_WORD = 8  # bytes of a machine word
_Scalar = TypeVar("_Scalar", bound=np.generic)

# State in small integers: each unit is less than what a frame changes.
FACTOR_ONE = np.float32(8000.0)  # a width factor of 1
BLINK_RATE_UNIT = np.float32(0.025)
LOWEST_BLINK_RATE = np.int32(4)  # the least v, 0.1; also what a frame without a blink takes from it
BYTE, BYTES = np.float32(1.0 / 255.0), np.float32(255.0)
"""Unit of the kernel values and distances of one frame, and how many make 1."""


class State(NamedTuple):
    """The model. N blocks, B slots, D channels."""

    colours: Any
    """(B, D, N, BLOCK) of the frame's dtype: support vectors."""
    coefficients: Any
    """(B, N, BLOCK) f4, to be multiplied by the common scale."""
    dominant: Any
    """(N,) u1: 1 where each first coefficient is at least threshold / tau of the sum."""
    width_factors: Any
    """(N, BLOCK) u2: R, the factor of the kernel width, in units of 1 / FACTOR_ONE."""
    blink_rates: Any
    """(N, BLOCK) u2: v, how often the raw mask changes away from foreground, in units of BLINK_RATE_UNIT."""
    mean_distances: Any
    """(N, BLOCK) u2: running mean of the distance from the background; 65535 is 1."""
    previous_raw: Any
    """(N, BLOCK) u1: raw mask of the frame before."""
    foreground_ages: Any
    """(N, BLOCK) u2: frames that the pixel has been foreground without a break."""
    calm: Any
    """(N,) u1: EMPTY, STEADY or CONVERGED where a block is known to be. Not a part of the saved model: it changes the
    time of a step only, and a loaded model finds it again."""


class Observation(NamedTuple):
    """Results of `score` for one frame, from which `update` learns; every step writes them before reading them."""

    planes: Any
    """(D, N, BLOCK) of the frame's dtype: the frame, channel by channel."""
    density: Any
    """(N, BLOCK) f4: g(x); only where it was asked for, or the block is not settled."""
    raw: Any
    """(N, BLOCK) u1: 255 where the density is below the threshold."""
    faint: Any
    """(N, BLOCK) u1: 255 where it is below tau, the first slot's kernel value is not above it, and the others alone do
    not make the pixel background."""
    distance: Any
    """(N, BLOCK) u1: 1 - density / threshold, at least 0, in BYTEs; not in settled blocks."""
    nearest: Any
    """(N, BLOCK) u1: the slot to project on, or NONE; not in settled blocks."""
    kernel_value: Any
    """(N, BLOCK) u1: its kernel value in BYTEs; not in settled blocks."""
    settled: Any
    """(N,) u1: SETTLED where every pixel is background and near to its first slot; see FORGOTTEN."""


def count_blocks(size: tuple[int, int]) -> int:
    """Return how many blocks a frame of (height, width) takes."""
    return -(-size[0] * size[1] // BLOCK)


def as_image(blocks: NDArray[_Scalar], size: tuple[int, int]) -> NDArray[_Scalar]:
    """View a contiguous array of blocks as an image of (height, width)."""
    return blocks.reshape(-1)[: size[0] * size[1]].reshape(size)


def as_blocks(image: NDArray[_Scalar], filling: int = 0) -> NDArray[_Scalar]:
    """View an image as an array of blocks; copy it where its pixels fill no whole number of them."""
    if image.size % BLOCK == 0:
        return np.ascontiguousarray(image).reshape(-1, BLOCK)
    size = (image.shape[0], image.shape[1])
    blocks = np.full((count_blocks(size), BLOCK), filling, image.dtype)
    as_image(blocks, size)[:] = image
    return blocks


@inlined
def is_empty(row):
    """Return whether every pixel of a block, (BLOCK,) u1, is 0."""
    words, found = row.view(np.uint64), np.uint64(0)
    for i in range(BLOCK // _WORD):  # LLVM vectorises the disjunction of words, not that of bytes
        found |= words[i]
    return found == 0


@inlined
def exponent_unit(gain, channels):
    """Return the factor from squared distance / R**2, in their units, to the exponent of two.

    One channel counts like three equal ones, so that a width means the same for grey as for colour.
    """
    return np.float32((gain if channels == 3 else np.float32(3.0) * gain) * (FACTOR_ONE * FACTOR_ONE))


@part
def first_kernel_values(planes, colours, factors_row, unit, y, k):
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
