"""The arrays of the adaptive detector's state, and which values a file of them may hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._jit.majority import IN_MIDDLE
from bgsub.detectors.adaptive._jit.blocks import BLOCK, FACTOR_ONE, LOWEST_BLINK_RATE, Observation, count_blocks
from bgsub.detectors.adaptive._jit.feedback import WIDEST
from bgsub.detectors.adaptive._jit.light.relighting import MIDDLE
from bgsub.detectors.adaptive.exposure import DARKEST, LEAST_BASE
from bgsub.detectors.adaptive.final_mask import make_static
from bgsub.detectors.adaptive.reduced import make_squares, make_view
from bgsub.detectors.kernel_bank import aligned_zeros
from bgsub.detectors.model_file import BIT, MASK, Span

__all__ = ["FULL", "SPANS", "make_arrays", "make_observation"]

FULL = int(FACTOR_ONE)
"""The width factor 1, in units of 1 / FACTOR_ONE."""

_FARTHEST = 1.01 * 255e4  # grey levels: float frames are cut to 10,000 times white

SPANS = {
    "frames": Span(0, 2**53, 1),
    "flooded": Span(0, 2**53, 1),
    "threshold": Span(0, 1),
    "dominant": BIT,
    "fractions": Span(0, 255, 1),
    "sigma": Span(-1, 255),
    "steps": Span(-255, 255),
    "base": Span(LEAST_BASE, 1),
    "brightness": Span(DARKEST, 1),
    "black": Span(0, 255),
    "coloured": Span(0, 1),
    "share": Span(0, 1),
    "sudden": Span(0, 2**53, 1),
    "likeness": Span(-1, 1),
    "usual_likeness": Span(-1, 1),
    "view": Span(-127, 127, 1),
    "turned": Span(0, 2**53, 1),
    "moved": Span(0, 2**53, 1),
    "moved_down": Span(-(2**53), 2**53, 1),
    "moved_right": Span(-(2**53), 2**53, 1),
    "shaken": Span(0, 2**53, 1),
    "sought": Span(0, 2**53, 1),
    "rest": Span(1, 2**53, 1),
    "edges": Span(-1, 1),
    "looks": Span(0, 2**53, 1),
    "placed": Span(0, 2**53, 1),
    "places": Span(-(2**53), 2**53),
    "brighter": Span(0, 2**53),
    "brighter_alike": Span(0, 2**53),
    "foreground": Span(0, 2**53),
    "appeared": Span(0, 2**53),
    "searched": Span(0, 2**53, 1),
    "lit_until": Span(0, 2**53, 1),
    "width_factors": Span(LEAST_BASE * float(FACTOR_ONE), float(WIDEST) * float(FACTOR_ONE)),
    "onset_rates": Span(0, 1),
    "vote_cells": Span(0, 255, 1),
    "square_means": Span(-_FARTHEST, _FARTHEST),
    "square_variances": Span(0, 4 * _FARTHEST**2),
    "square_limits": Span(0, 2.0**53),
    "square_ages": Span(0, 65535, 1),
    "moving_squares": MASK,
    "blink_rates": Span(int(LOWEST_BLINK_RATE), 65535),
    "previous_raw": MASK,
    "previous_mask": MASK,
    "suspects": MASK,
    "replaced": MASK,
    "replaced_px": Span(0, 2**53, 1),
    "static": Span(0, int(IN_MIDDLE), 1),
    "faint_static": BIT,
    "broad_static": BIT,
    "restless": Span(0, 255, 1),
    "moving": MASK,
}
"""Values that each array and number of a saved model may have; kernels rely on them."""


def make_arrays(size: tuple[int, int], channels: int, slots: int, dtype: np.dtype[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an empty model for frames of (height, width); `State` says what most of them are."""
    count = count_blocks(size)
    blocks = (count, BLOCK)
    static = make_static(size)
    arrays: dict[str, NDArray[Any]] = {
        "colours": aligned_zeros((slots, channels, *blocks), dtype),
        "fractions": aligned_zeros((channels, *blocks), np.uint8),
        "coefficients": aligned_zeros((slots, *blocks), np.float32),
        "dominant": np.zeros(count, np.uint8),
        "width_factors": aligned_zeros(blocks, np.uint16),
        "blink_rates": aligned_zeros(blocks, np.uint16),
        "mean_distances": aligned_zeros(blocks, np.uint16),
        "previous_raw": aligned_zeros(blocks, np.uint8),
        "foreground_ages": aligned_zeros(blocks, np.uint16),
        "previous_mask": aligned_zeros(blocks, np.uint8),
        "suspects": aligned_zeros(blocks, np.uint8),
        "replaced": aligned_zeros(blocks, np.uint8),
        "static": static,
        "faint_static": np.zeros_like(static),
        "broad_static": np.zeros_like(static),
        "restless": np.full_like(static, 255),
        "onset_rates": np.zeros((4, *static.shape), np.float32),
        "vote_cells": np.zeros((4, *static.shape), np.uint8),
    }
    arrays |= {f"square_{name}": array for name, array in make_squares(size, channels)._asdict().items()}
    arrays["view"] = make_view(size)
    arrays["places"] = np.zeros((2, 2))
    arrays["moving_squares"] = np.zeros(arrays["square_ages"].shape, np.uint8)
    arrays["fractions"][:] = MIDDLE
    arrays["width_factors"][:], arrays["blink_rates"][:] = FULL, LOWEST_BLINK_RATE
    return arrays


def make_observation(size: tuple[int, int], channels: int, dtype: np.dtype[Any]) -> Observation:
    """Return the arrays that scoring a frame of (height, width) writes."""
    blocks = (count_blocks(size), BLOCK)
    return Observation(
        planes=aligned_zeros((channels, *blocks), dtype),
        density=aligned_zeros(blocks, np.float32),
        raw=aligned_zeros(blocks, np.uint8),
        faint=aligned_zeros(blocks, np.uint8),
        distance=aligned_zeros(blocks, np.uint8),
        nearest=aligned_zeros(blocks, np.uint8),
        kernel_value=aligned_zeros(blocks, np.uint8),
        settled=np.zeros(blocks[0], np.uint8),
    )
