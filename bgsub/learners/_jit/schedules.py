"""Step sizes that shrink by a schedule."""

import math

from bgsub._numba import part

ADAPTIVE, CONSTANT, SQUARE_ROOT, DELAYED = 0, 1, 2, 3

SCHEDULES = {"constant": CONSTANT, "sqrt": SQUARE_ROOT, "tau": DELAYED}
"""Schedules of all learners by name; "adaptive" is for those of SVMD."""


@part
def step_size(eta: float, schedule: int, tau: float, t: float) -> float:
    """Return the step at sample t: eta, eta / sqrt(t) or eta sqrt(tau / (tau + t))."""
    if schedule == SQUARE_ROOT:
        eta /= math.sqrt(t)
    elif schedule == DELAYED:
        eta *= math.sqrt(tau / (tau + t))
    return eta
