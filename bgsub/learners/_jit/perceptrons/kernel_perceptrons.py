"""Rules of perceptrons in kernel space: with a margin, passive-aggressive, and ALMA; two classes, or many."""

import math
from dataclasses import dataclass

from bgsub._numba import part, shared
from bgsub.learners._jit.losses import exact_step
from bgsub.learners._jit.records import State
from bgsub.learners._jit.rows import make_class_rows, make_rows


@dataclass
class PerceptronParameters:
    """The perceptron."""

    margin: float
    eta: float


@dataclass
class PassiveAggressiveParameters:
    """PA-I."""

    C: float  # largest step


@dataclass
class ALMAParameters:
    """ALMA: thresholds (1 - alpha) B / sqrt(q), steps C / sqrt(q)."""

    alpha: float
    B: float
    C: float


@dataclass
class ALMAState(State):
    """State of ALMA."""

    correction: float = 1.0  # q, the number of the next correction
    norm2: float = 0.0  # |f|²


@part
def begin(s: State, f: float) -> None:
    """Count a sample whose score is f."""
    s.t += 1
    s.last = f


@shared
def perceptron(p: PerceptronParameters, s: State, f: float, y: float, k_tt: float) -> tuple[float, float]:
    """Store where y f <= margin."""
    begin(s, f)
    z = y * f
    if z <= 0.0:
        s.mistakes += 1
    if z > p.margin:
        return 1.0, 0.0
    s.violations += 1
    return 1.0, p.eta * s.importance * y


@shared
def passive_aggressive(
    p: PassiveAggressiveParameters, s: State, f: float, y: float, k_tt: float
) -> tuple[float, float]:
    """Take the smallest step that reaches margin 1, at most C."""
    begin(s, f)
    z = y * f
    if z <= 0.0:
        s.mistakes += 1
    if z >= 1.0 or k_tt <= 0.0:
        return 1.0, 0.0
    s.violations += 1
    return 1.0, y * exact_step(1.0 - z, k_tt, 0.0, p.C * s.importance)


@shared
def alma(p: ALMAParameters, s: ALMAState, f: float, y: float, k_tt: float) -> tuple[float, float]:
    """Store where the margin in the unit ball is missed, then shrink back into the ball."""
    begin(s, f)
    z = y * f
    if z <= 0.0:
        s.mistakes += 1
    if k_tt <= 0.0:
        return 1.0, 0.0
    length, root = math.sqrt(k_tt), math.sqrt(s.correction)
    m = z / length
    if m > (1.0 - p.alpha) * p.B / root:
        return 1.0, 0.0
    step = p.C * s.importance / root
    s.violations += 1
    s.correction += 1
    # Where a budget forgot vectors, the carried norm is not that of f and could fall below 0.
    s.norm2 = max(s.norm2 + 2.0 * step * m + step * step, 0.0)
    norm = max(1.0, math.sqrt(s.norm2))
    s.norm2 /= norm * norm
    return 1.0 / norm, y * step / length / norm


perceptron_rows, perceptron_class_rows = make_rows(perceptron), make_class_rows(perceptron)
passive_aggressive_rows = make_rows(passive_aggressive)
passive_aggressive_class_rows = make_class_rows(passive_aggressive)
alma_rows, alma_class_rows = make_rows(alma), make_class_rows(alma)
