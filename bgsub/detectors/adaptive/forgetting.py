"""Forgetting of pixels: what was learned about them is wrong, and the present colour is to be learned at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.detectors.adaptive._jit.blocks import FORGOTTEN, LOWEST_BLINK_RATE, NONE, Observation, State
from bgsub.detectors.adaptive._jit.feedback import rescore_touched

__all__ = ["forget"]


def forget(state: State, seen: Observation, chosen: NDArray[np.uint8], factor: int, gain: np.float32) -> None:
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
    rescore: Any = rescore_touched
    rescore(state, seen, chosen, gain)
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
