"""OLK in compiled code: each step minimises its regularised risk exactly.

All coefficients shrink by 1 / (1 + r), then the sample gets its own. Equation numbers are those of Li and others 2013.
"""

import math
from dataclasses import dataclass

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.classes import drop_below_columns
from bgsub.learners._jit.losses import exact_step
from bgsub.learners._jit.records import Array, State
from bgsub.learners._jit.rows import make_class_rows, make_rows
from bgsub.learners._jit.store import Expansion, apply, diagonal, drop_below, evaluate, full, mass

QUANTILE, PUBLISHED, FIXED, KKT = 0, 1, 2, 3


@dataclass
class OLKParameters:
    """OLK_C, and the base of the other two."""

    r: float
    C: float  # largest multiplier
    least: float  # a vector with a smaller coefficient is forgotten


@dataclass
class OLKRegressionParameters(OLKParameters):
    """OLK_R."""

    eps: float


@dataclass
class OLKNoveltyParameters(OLKParameters):
    """OLK_N."""

    v: float  # least multiplier
    rule: int  # QUANTILE, PUBLISHED, FIXED or KKT
    on_density: bool  # whether the score is q, else f
    nu: float
    eta_rho: float
    decreasing: bool
    warmup: int
    level: float


@dataclass
class OLKNoveltyState(State):
    """State of OLK_N."""

    theta: float = 0.0  # threshold of the quantile rule
    rho: float = 0.0  # of the rule KKT
    score_sum: float = 0.0  # of the scores while warming up
    novel: float = 0.0  # samples that were novel
    last_density: float = 1.0  # q of the latest sample before it was learned
    last_novel: float = 0.0


@shared
def olk_classification(p: OLKParameters, s: State, f: float, y: float, k_tt: float) -> tuple[float, float]:
    """Equations (30) and (33)."""
    s.t += 1
    s.last = f
    z = y * f
    if z <= 0.0:
        s.mistakes += 1
    shrink = 1.0 + p.r
    if k_tt <= 0.0 or shrink - z <= 0.0:
        return 1.0 / shrink, 0.0
    s.violations += 1
    return 1.0 / shrink, y * exact_step(shrink - z, k_tt, 0.0, p.C * s.importance) / shrink


@shared
def olk_regression(p: OLKRegressionParameters, s: State, f: float, y: float, k_tt: float) -> tuple[float, float]:
    """Equations (42) and (48): at most one of the two multipliers is positive."""
    s.t += 1
    s.last = f
    shrink = 1.0 + p.r
    if k_tt <= 0.0:
        return 1.0 / shrink, 0.0
    largest = p.C * s.importance
    up = exact_step(shrink * (y - p.eps) - f, k_tt, 0.0, largest)
    down = exact_step(f - shrink * (y + p.eps), k_tt, 0.0, largest)
    if up != down:
        s.violations += 1
    return 1.0 / shrink, (up - down) / shrink


@part
def olk_threshold(p: OLKNoveltyParameters, s: OLKNoveltyState) -> float:
    """Return the score below which a sample is novel."""
    if p.rule == PUBLISHED:
        return 1.0 + p.r - p.C
    if p.rule == KKT:
        return 1.0 + s.rho
    if p.rule == FIXED:
        return p.level
    return s.theta


@part
def olk_score(p: OLKNoveltyParameters, f: float, density: float, k_tt: float) -> float:
    """Return the score that the threshold is for."""
    if p.rule == PUBLISHED:
        return f - p.C * (1.0 - k_tt)  # the threshold depends on k(x, x); moved here, it is one for all samples
    return density if p.rule != KKT and p.on_density else f


@part
def move_threshold(p: OLKNoveltyParameters, s: OLKNoveltyState, score: float, novel: float) -> None:
    """Take one step of the quantile rule: theta starts at half the mean score of the warm-up."""
    if s.t <= p.warmup:
        if s.t > 1:  # the first score is 1 for want of anything to compare with
            s.score_sum += score
        if s.t == p.warmup:
            s.theta = 0.5 * s.score_sum / (p.warmup - 1)
        return
    step = p.eta_rho
    if p.decreasing:
        step = min(max(3.0 / (s.t - p.warmup), step), 1.0)
    s.theta *= math.exp(min(step * s.importance, 1.0) * (p.nu - novel))


@shared
def olk_novelty(
    p: OLKNoveltyParameters, s: OLKNoveltyState, f: float, total: float, k_tt: float
) -> tuple[float, float]:
    """Equation (67), and the quantile rule; total = sum of all coefficients."""
    s.t += 1
    s.last = f
    density = f / total if total > 0.0 else 1.0
    score = olk_score(p, f, density, k_tt)
    novel = 1.0 if score < olk_threshold(p, s) else 0.0
    shrink = 1.0 + p.r
    least, largest = p.v * s.importance, p.C * s.importance
    alpha = exact_step(shrink - f, k_tt, least, largest) if k_tt > 0.0 else least  # k(x, .) = 0 changes nothing
    if p.rule == QUANTILE:
        move_threshold(p, s, score, novel)
    s.novel += novel
    s.last_novel, s.last_density = novel, density
    return 1.0 / shrink, alpha / shrink


@compiled_views
def current_threshold(parameters: Array, state: Array) -> float:
    """Return `olk_threshold`; calls from Python are faster with arrays of one record than with records."""
    return olk_threshold(parameters[0], state[0])


@compiled_views
def current_score(parameters: Array, f: float, density: float, k_tt: float) -> float:
    """Return `olk_score`, for calls from Python."""
    return olk_score(parameters[0], f, density, k_tt)


@shared
def drop_small(p: OLKParameters, s: State, e: Expansion) -> None:
    """Forget vectors with small coefficients, where that is wanted."""
    if p.least > 0.0:
        drop_below(e, p.least)


@shared
def drop_small_columns(p: OLKParameters, s: State, e: Expansion) -> None:
    """Forget vectors whose coefficients in all functions are small, where that is wanted."""
    if p.least > 0.0:
        drop_below_columns(e, p.least)


olk_classification_rows = make_rows(olk_classification, drop_small)
olk_classification_class_rows = make_class_rows(olk_classification, drop_small_columns)
olk_regression_rows = make_rows(olk_regression, drop_small)


@compiled_views
def olk_novelty_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) from row `first` on; there are no targets. Return the row reached."""
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        f, k_tt = evaluate(e, samples[t]), diagonal(e.store[0], samples[t])
        factor, a = olk_novelty(p, s, f, mass(e), k_tt)
        apply(e, samples[t], factor, a)
        drop_small(p, s, e)
        if p.rule == KKT:  # needs f once more, after the step
            s.rho = max(0.0, evaluate(e, samples[t]) - 1.0)
    return len(samples)
