"""What the foreground of a final mask was found by, which tells what it says of shadows."""

from typing import Any

import numpy as np

from bgsub._numba import banded

__all__ = ["DETAIL", "FAINT", "FILLED", "RIM", "SOLID", "SPECK", "tell_kinds"]

# In this order: what is below DETAIL is opened in frames with shadows.
FAINT = np.uint8(0)
"""Merely faint: no vote on shadows, no penumbra, and background where anything is shadow: clouds begin faintly."""
RIM = np.uint8(1)
"""The same beside what is not: the rest of a thing, or penumbra, and so nothing by which a shadow is judged."""
FILLED = np.uint8(2)
"""A hole that was filled: no vote, since it may look like nothing, and opened where shadows alone close it."""
DETAIL = np.uint8(3)
"""Too thin for squares: no vote, since the borders of shadows are as thin."""
SPECK = np.uint8(4)
"""Tiny, and shown for that: no vote either, and nothing by which a shadow is judged, on whose rim there are specks."""
SOLID = np.uint8(255)
"""All else, which votes."""


@banded
def tell_kinds(first_row: Any, last_row: Any, detailed: Any, final: Any, unfilled: Any, kinds: Any) -> Any:
    """Write of what kind the foreground is.

    Parameters
    ----------
    first_row, last_row : i8
    detailed : (H, W) u1
        Final mask with its details, but nothing that is faint: 255 for foreground, else 0.
    final : (H, W) u1
        The same without details.
    unfilled : (H, W) u1
        255 for what of it was foreground before holes were filled; others may be, too.
    kinds : (H, W) u1
        Written: a kind where `detailed` is foreground, else `FAINT`.
    """
    for y in range(first_row, last_row):
        d, f, u, out = detailed[y], final[y], unfilled[y], kinds[y]
        for x in range(out.shape[0]):
            of_squares = (f[x] & u[x]) | (f[x] & FILLED)
            out[x] = d[x] & (of_squares | (~f[x] & DETAIL))
