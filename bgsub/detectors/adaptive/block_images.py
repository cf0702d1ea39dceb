"""Arrays of blocks, pixels in the order of memory with the last one filled up, as images, and pixels chosen in them."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgsub.detectors.adaptive._jit.blocks import BLOCK, FORGOTTEN, LOWEST_BLINK_RATE, NONE, Observation, State
from bgsub.detectors.adaptive._jit.feedback import rescore_touched

__all__ = ["as_blocks", "as_image", "count_blocks", "forget_chosen"]

_Scalar = TypeVar("_Scalar", bound=np.generic)


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


def forget_chosen(state: State, seen: Observation, chosen: NDArray[np.uint8], factor: int, gain: np.float32) -> None:
    """Empty the expansions of pixels and start their feedback again.

    Parameters
    ----------
    state : State
        Written.
    seen : Observation
        The present frame; these pixels are made to look as if no support vector was near.
    chosen : (N, BLOCK) uint8 array
        Not 0 for pixels to forget.
    factor : int
        Their width factors from now on, in units of 1 / FACTOR_ONE.
    gain : float32
        As for `score`.
    """
    rescore_touched(state, seen, chosen, gain, np.empty(BLOCK, np.float32))
    touched = np.flatnonzero(chosen.any(1))  # whole frames are rare, and boolean indexing of all of them is slow
    found = chosen[touched] != 0

    def put(array: NDArray[Any], value: Any) -> None:
        array[touched] = np.where(found, value, array[touched])

    put(state.width_factors, factor)
    put(state.blink_rates, LOWEST_BLINK_RATE)
    put(state.mean_distances, 0)
    put(seen.nearest, NONE)
    for coefficients in state.coefficients:
        put(coefficients, np.float32(0))
    state.dominant[touched] = 0
    seen.settled[touched] = FORGOTTEN
