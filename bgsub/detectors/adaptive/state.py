"""Arrays of the adaptive detector: what makes a model, what a frame is seen as, and which values a file may hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.detectors.adaptive._jit.blocks import BLOCK, FACTOR_ONE, LOWEST_BLINK_RATE, Observation
from bgsub.detectors.adaptive._jit.feedback import WIDEST
from bgsub.detectors.adaptive.block_images import count_blocks
from bgsub.detectors.adaptive.exposure import LEAST_BASE
from bgsub.detectors.adaptive.final_mask import make_static
from bgsub.detectors.kernel_bank import aligned_zeros
from bgsub.detectors.model_file import BIT, MASK, Span

__all__ = ["SPANS", "make_arrays", "make_observation"]

SPANS = {
    "flooded": Span(0, 2**53, 1),
    "threshold": Span(0, 1),
    "dominant": BIT,
    "sigma": Span(-1, 255),
    "base": Span(LEAST_BASE, 1),
    "share": Span(0, 1),
    "brighter": Span(0, 2**53),
    "brighter_alike": Span(0, 2**53),
    "width_factors": Span(LEAST_BASE * float(FACTOR_ONE), float(WIDEST) * float(FACTOR_ONE)),
    "onset_rates": Span(0, 1),
    "vote_cells": Span(0, 3, 1),
    "blink_rates": Span(int(LOWEST_BLINK_RATE), 65535),
    "previous_raw": MASK,
    "previous_mask": MASK,
    "static": MASK,
}
"""Values that each array and number of a saved model may have; kernels rely on them."""


def make_arrays(size: tuple[int, int], channels: int, slots: int, dtype: np.dtype[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of an empty model for frames of (height, width); `State` says what most of them are."""
    count = count_blocks(size)
    blocks = (count, BLOCK)
    static = make_static(size)
    arrays: dict[str, NDArray[Any]] = {
        "colours": aligned_zeros((slots, channels, *blocks), dtype),
        "coefficients": aligned_zeros((slots, *blocks), np.float32),
        "dominant": np.zeros(count, np.uint8),
        "width_factors": aligned_zeros(blocks, np.uint16),
        "blink_rates": aligned_zeros(blocks, np.uint16),
        "mean_distances": aligned_zeros(blocks, np.uint16),
        "previous_raw": aligned_zeros(blocks, np.uint8),
        "foreground_ages": aligned_zeros(blocks, np.uint16),
        "previous_mask": aligned_zeros(blocks, np.uint8),
        "static": static,
        "onset_rates": np.zeros(static.shape, np.float32),
        "vote_cells": np.zeros_like(static),
    }
    arrays["width_factors"][:], arrays["blink_rates"][:] = int(FACTOR_ONE), LOWEST_BLINK_RATE
    return arrays


def make_observation(size: tuple[int, int], channels: int, dtype: np.dtype[Any]) -> Observation:
    """Return the arrays that scoring a frame of (height, width) writes."""
    blocks = (count_blocks(size), BLOCK)
    return Observation(
        planes=aligned_zeros((channels, *blocks), dtype),
        density=aligned_zeros(blocks, np.float32),
        raw=aligned_zeros(blocks, np.uint8),
        distance=aligned_zeros(blocks, np.uint8),
        nearest=aligned_zeros(blocks, np.uint8),
        kernel_value=aligned_zeros(blocks, np.uint8),
        settled=np.zeros(blocks[0], np.uint8),
    )
