"""The state of one pixel, which explains why it is foreground."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PixelState"]


@dataclass(frozen=True, slots=True, eq=False)
class PixelState:
    """The kernel expansion of one pixel and how it judges one colour.

    Every number is that of the present state, before the colour is learned: what `Detector.score` would use.
    """

    colour: NDArray[Any]
    """(D,) the colour judged, of the frame's dtype: blue, green, red or grey."""
    support: NDArray[Any]
    """(n, D) support vectors in use, those of the largest coefficient first, of the frame's dtype."""
    coefficients: NDArray[np.float64]
    """(n,) their coefficients."""
    kernel: NDArray[np.float64]
    """(n,) kernel value of each support vector with the colour, in [0, 1]."""
    value: float
    """The value compared with the threshold: f(x), or the density f(x) / sum of all coefficients."""
    symbol: str
    """Name of `value`: "f", or "g" for a density."""
    threshold: float
    """Below it the colour is raw foreground; where it is not positive, no colour is."""
    threshold_symbol: str
    """Name of the threshold, such as "theta" or "kappa rho"."""
    width: float
    """Kernel width in grey levels over all channels, on a scale where white is 255."""
    white: float
    """Value of white in the frames."""

    @property
    def is_novel(self) -> bool:
        """Whether the colour is raw foreground, before any post-processing."""
        return self.value < self.threshold
