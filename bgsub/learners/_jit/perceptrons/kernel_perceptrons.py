"""Perceptrons in kernel space: with a margin, passive-aggressive, and ALMA; two classes, or many.

A rule gets the parameters p and the state s of a learner, the value f of its hypothesis at a sample, the target y and
k(x, x). It changes s and returns (factor, a): all coefficients are multiplied by the factor, then x is stored with
coefficient a unless that is 0. Compiled loops and plain numpy use the same rules. A loop over samples returns the row
it has reached, which is an earlier one than the last where the arrays must grow first.
"""

import math
from dataclasses import dataclass

from bgsub._numba import compiled_views, part
from bgsub.learners._jit.classes import apply_pair, find_rival
from bgsub.learners._jit.losses import exact_step
from bgsub.learners._jit.records import Array, State
from bgsub.learners._jit.store import Expansion, apply, diagonal, evaluate, full


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


@compiled_views
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


@compiled_views
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


@compiled_views
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


@compiled_views
def perceptron_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) with targets and weights (m,) from row `first` on; return the row reached."""
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        f, k_tt = evaluate(e, samples[t]), diagonal(e.store[0], samples[t])
        factor, a = perceptron(p, s, f, targets[t], k_tt)
        apply(e, samples[t], factor, a)
    return len(samples)


@compiled_views
def passive_aggressive_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) with targets and weights (m,) from row `first` on; return the row reached."""
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        f, k_tt = evaluate(e, samples[t]), diagonal(e.store[0], samples[t])
        factor, a = passive_aggressive(p, s, f, targets[t], k_tt)
        apply(e, samples[t], factor, a)
    return len(samples)


@compiled_views
def alma_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) with targets and weights (m,) from row `first` on; return the row reached."""
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        f, k_tt = evaluate(e, samples[t]), diagonal(e.store[0], samples[t])
        factor, a = alma(p, s, f, targets[t], k_tt)
        apply(e, samples[t], factor, a)
    return len(samples)


@compiled_views
def perceptron_class_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array,
    scores: Array,
) -> int:  # fmt: skip
    """Learn samples of Q classes, targets (m,) f8 = 0..Q-1; scores (Q,) f8 of the last sample are written."""
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        right = int(targets[t])
        rival = find_rival(e, samples[t], right, scores)
        factor, a = perceptron(p, s, scores[right] - scores[rival], 1.0, 2.0 * diagonal(e.store[0], samples[t]))
        apply_pair(e, samples[t], right, rival, factor, a)
    return len(samples)


@compiled_views
def passive_aggressive_class_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array,
    scores: Array,
) -> int:  # fmt: skip
    """Learn samples of Q classes, targets (m,) f8 = 0..Q-1; scores (Q,) f8 of the last sample are written."""
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        right = int(targets[t])
        rival = find_rival(e, samples[t], right, scores)
        factor, a = passive_aggressive(p, s, scores[right] - scores[rival], 1.0, 2.0 * diagonal(e.store[0], samples[t]))
        apply_pair(e, samples[t], right, rival, factor, a)
    return len(samples)


@compiled_views
def alma_class_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array,
    scores: Array,
) -> int:  # fmt: skip
    """Learn samples of Q classes, targets (m,) f8 = 0..Q-1; scores (Q,) f8 of the last sample are written."""
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        right = int(targets[t])
        rival = find_rival(e, samples[t], right, scores)
        factor, a = alma(p, s, scores[right] - scores[rival], 1.0, 2.0 * diagonal(e.store[0], samples[t]))
        apply_pair(e, samples[t], right, rival, factor, a)
    return len(samples)
