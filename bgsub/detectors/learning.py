"""How a frame is to be learned: at which rate, and where."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bgsub.frames import Mask

__all__ = ["Learning", "check_rate"]


@dataclass(frozen=True, slots=True)
class Learning:
    """How a frame is to be learned."""

    rate: float | None = None
    """Share of the model that this frame replaces, in (0, 1); None for the detector's own pace."""
    where: Mask | None = None
    """(H, W) uint8, 255 at pixels that may learn; None for all. The region of interest is taken into account."""


def check_rate(rate: Any) -> float:
    """Return a learning rate as OpenCV means it, with -1 for every negative one.

    Raises
    ------
    ValueError
        If it is no number up to 1.
    """
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or math.isnan(rate) or rate > 1:
        raise ValueError(f"learningRate must be -1 (automatic) or a number in [0, 1], got {rate!r}")
    return -1.0 if rate < 0 else float(rate)
