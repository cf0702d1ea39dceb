"""Numba kernels of the update rules: what one sample does to a learner, as arithmetic on a few scalars.

A rule gets the parameters p and the state s of a learner, the value f of its hypothesis at the sample, the target y,
k(x, x) and the sum of all coefficients. It changes s and returns (factor, a): all coefficients are multiplied by the
factor, then x is stored with coefficient a unless that is 0. Compiled loops and plain numpy use the same rules.
"""

import math

from bgsub.learners._jit.decorator import kernel

PERCEPTRON, PASSIVE_AGGRESSIVE, ALMA, FORGETRON, NORMA, OLK_C, OLK_R, OLK_N = 0, 1, 2, 3, 4, 5, 6, 7
PROJECTRON, KRLS, BATCH, SVMD, MEMBERS = 8, 9, 10, 11, 12  # which do not go through `update`

# State, the same places for all learners; the meaning of LEVEL, EXTRA and NORM2 is the learner's.
T, MISTAKES, VIOLATIONS, OFFSET, LEVEL, LAST, LAST_DENSITY, LAST_NOVEL = 0, 1, 2, 3, 4, 5, 6, 7
LAST_VIOLATION, EXTRA, NORM2, OFFSET_SUM, NOVEL = 8, 9, 10, 11, 12
STATE_SIZE = 13

# Parameters of NORMA.
ETA, LAM, SCHEDULE, TAU, LARGEST, LOSS, NU, ADAPT = 0, 1, 2, 3, 4, 5, 6, 7
WITH_OFFSET, LOWEST, SIGN, UNIT, KAPPA = 8, 9, 10, 11, 12
HINGE, NOVELTY, SQUARED, EPSILON, HUBER = 0, 1, 2, 3, 4
CONSTANT, SQUARE_ROOT, DELAYED = 0, 1, 2

# Parameters of OLK.
R, C, V, EPS, RULE, ON_DENSITY, QUANTILE_NU, ETA_RHO, DECREASING, WARMUP, FIXED_LEVEL = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
QUANTILE, PUBLISHED, FIXED, KKT = 0, 1, 2, 3


@kernel
def perceptron(p, s, f, y):
    """P = margin, eta, -: store where y f <= margin."""
    z = y * f
    if z <= 0.0:
        s[MISTAKES] += 1
    if z > p[0]:
        return 1.0, 0.0
    s[VIOLATIONS] += 1
    return 1.0, p[1] * y


@kernel
def passive_aggressive(p, s, f, y, k_tt):
    """P = -, -, C: the smallest step that reaches margin 1, at most C."""
    z = y * f
    if z <= 0.0:
        s[MISTAKES] += 1
    if z >= 1.0 or k_tt <= 0.0:
        return 1.0, 0.0
    s[VIOLATIONS] += 1
    return 1.0, y * min(p[2], (1.0 - z) / k_tt)


@kernel
def alma(p, s, f, y, k_tt):
    """P = alpha, B, C; s[EXTRA] = number of the next correction, s[NORM2] = |w|²."""
    z = y * f
    if z <= 0.0:
        s[MISTAKES] += 1
    if k_tt <= 0.0:
        return 1.0, 0.0
    length, root = math.sqrt(k_tt), math.sqrt(s[EXTRA])
    m = z / length
    if m > (1.0 - p[0]) * p[1] / root:
        return 1.0, 0.0
    step = p[2] / root
    s[VIOLATIONS] += 1
    s[EXTRA] += 1
    # Where a budget forgot vectors, the carried norm is not that of f and could fall below 0.
    s[NORM2] = max(s[NORM2] + 2.0 * step * m + step * step, 0.0)
    norm = max(1.0, math.sqrt(s[NORM2]))
    s[NORM2] /= norm * norm
    return 1.0 / norm, y * step / length / norm


@kernel
def forgetron(p, s, f, y, k_tt, crowded, oldest, oldest_value, oldest_diagonal):
    """P = self-tuned, budget; s[EXTRA] = Q, s[NORM2] = |f|².

    Where the store is crowded, `oldest` is the coefficient a_o of the vector that has to go, and `oldest_value` the
    value at it, the new vector counted.
    """
    z = y * f
    if z > 0.0:
        return 1.0, 0.0
    s[MISTAKES] += 1
    s[VIOLATIONS] += 1
    s[NORM2] += 2.0 * z + k_tt
    if not crowded:
        return 1.0, y
    if p[0] > 0.0:
        size = abs(oldest)
        mu = oldest_value if oldest > 0.0 else -oldest_value
        a = size * size - 2.0 * size * mu
        b = 2.0 * size
        c = s[EXTRA] - 15.0 / 32.0 * s[MISTAKES]
        phi = 1.0
        if a + b + c > 0.0:  # the largest phi in (0, 1] with a phi² + b phi + c <= 0, without cancellation
            phi = -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c))
        s[EXTRA] += a * phi * phi + b * phi
    else:
        budget = p[1]
        bound = 0.25 * math.sqrt((budget + 1.0) / math.log(budget + 1.0))
        phi = min((budget + 1.0) ** (-1.0 / (2.0 * (budget + 1.0))), bound / math.sqrt(s[NORM2]))
    s[NORM2] = phi * phi * (s[NORM2] - 2.0 * oldest * oldest_value + oldest * oldest * oldest_diagonal)
    return phi, phi * y


@kernel
def step_size(p, t):
    """eta_t of the schedule, never above the largest step."""
    eta = p[ETA]
    if p[SCHEDULE] == SQUARE_ROOT:
        eta /= math.sqrt(t)
    elif p[SCHEDULE] == DELAYED:
        eta *= math.sqrt(p[TAU] / (p[TAU] + t))
    return min(eta, p[LARGEST])


@kernel
def norma(p, s, f, y, k_tt):
    """Stochastic gradient step on loss + lam/2 |f|²; s[LEVEL] = rho, eps or sigma."""
    eta = step_size(p, s[T])
    loss, level, nu = p[LOSS], s[LEVEL], p[NU]
    g = f + s[OFFSET]
    s[LAST] = g
    difference = y - g
    a = 0.0
    violated = 0.0
    if loss == HINGE or loss == NOVELTY:
        z = g if loss == NOVELTY else y * g
        # The papers differ: a margin counts as missed where it is met exactly, a novelty threshold does not.
        violated = 1.0 if (z < level if loss == NOVELTY else z <= level) else 0.0
        if violated > 0.0:
            a = eta / p[UNIT] if loss == NOVELTY else eta * y
        if p[ADAPT] > 0.0:
            s[LEVEL] = max(level + p[SIGN] * eta / p[UNIT] * (nu - violated), p[LOWEST])
        if loss == HINGE and z <= 0.0:
            s[MISTAKES] += 1
        s[LAST_NOVEL] = 1.0 if g < p[KAPPA] * level else 0.0
    elif loss == SQUARED:
        violated = 1.0
        a = eta * difference
    else:
        violated = 1.0 if abs(difference) > level else 0.0
        if violated > 0.0:
            a = eta if difference > 0.0 else -eta
        elif loss == HUBER:
            a = eta * difference / level
        if p[ADAPT] > 0.0:
            s[LEVEL] = level + eta * (violated - nu)
            if loss == HUBER:  # inside the zone the step is eta k / sigma and must stay <= 1
                s[LEVEL] = max(s[LEVEL], eta * k_tt)
    if p[WITH_OFFSET] > 0.0:
        s[OFFSET] += a
    s[VIOLATIONS] += violated
    s[LAST_VIOLATION] = violated
    return 1.0 - eta * p[LAM], a


@kernel
def olk_classification(p, s, f, y, k_tt):
    """Equations (30) and (33)."""
    z = y * f
    if z <= 0.0:
        s[MISTAKES] += 1
    shrink = 1.0 + p[R]
    if k_tt <= 0.0 or shrink - z <= 0.0:
        return 1.0 / shrink, 0.0
    s[VIOLATIONS] += 1
    return 1.0 / shrink, y * min((shrink - z) / k_tt, p[C]) / shrink


@kernel
def olk_regression(p, s, f, y, k_tt):
    """Equations (42) and (48): one of the two multipliers is positive at most."""
    shrink = 1.0 + p[R]
    if k_tt <= 0.0:
        return 1.0 / shrink, 0.0
    up = min(max((shrink * (y - p[EPS]) - f) / k_tt, 0.0), p[C])
    down = min(max((f - shrink * (y + p[EPS])) / k_tt, 0.0), p[C])
    if up != down:
        s[VIOLATIONS] += 1
    return 1.0 / shrink, (up - down) / shrink


@kernel
def olk_threshold(p, s):
    """Return the score below which a sample is novel."""
    if p[RULE] == PUBLISHED:
        return 1.0 + p[R] - p[C]
    if p[RULE] == KKT:
        return 1.0 + s[LEVEL]
    if p[RULE] == FIXED:
        return p[FIXED_LEVEL]
    return s[EXTRA]


@kernel
def olk_score(p, f, density, k_tt):
    """Return the score that the threshold is for."""
    if p[RULE] == PUBLISHED:
        return f - p[C] * (1.0 - k_tt)  # the threshold depends on k(x, x); moved here, it is one for all samples
    return density if p[RULE] != KKT and p[ON_DENSITY] > 0.0 else f


@kernel
def olk_novelty(p, s, f, k_tt, mass):
    """Equation (67), and the quantile rule; s[EXTRA] = theta, s[NORM2] = sum of scores while warming up."""
    density = f / mass if mass > 0.0 else 1.0
    score = olk_score(p, f, density, k_tt)
    novel = 1.0 if score < olk_threshold(p, s) else 0.0
    shrink = 1.0 + p[R]
    wanted = (shrink - f) / k_tt if k_tt > 0.0 else 0.0  # k(x, .) = 0 changes nothing: alpha is v
    alpha = min(max(wanted, p[V]), p[C])
    if p[RULE] == QUANTILE:
        if s[T] <= p[WARMUP]:
            if s[T] > 1:  # the first score is 1 for want of anything to compare with
                s[NORM2] += score
            if s[T] == p[WARMUP]:
                s[EXTRA] = 0.5 * s[NORM2] / (p[WARMUP] - 1)
        else:
            step = p[ETA_RHO]
            if p[DECREASING] > 0.0:
                step = min(max(3.0 / (s[T] - p[WARMUP]), step), 1.0)
            s[EXTRA] *= math.exp(step * (p[QUANTILE_NU] - novel))
    s[NOVEL] += novel
    s[LAST_NOVEL], s[LAST_DENSITY] = novel, density
    return 1.0 / shrink, alpha / shrink


@kernel
def update(rule, p, s, f, y, k_tt, mass):
    """Apply the rule of a learner, all but the Forgetron, whose rule needs to know the oldest vector."""
    s[T] += 1
    s[LAST] = f
    if rule == NORMA:
        return norma(p, s, f, y, k_tt)
    if rule == OLK_N:
        return olk_novelty(p, s, f, k_tt, mass)
    if rule == OLK_C:
        return olk_classification(p, s, f, y, k_tt)
    if rule == OLK_R:
        return olk_regression(p, s, f, y, k_tt)
    if rule == PASSIVE_AGGRESSIVE:
        return passive_aggressive(p, s, f, y, k_tt)
    if rule == ALMA:
        return alma(p, s, f, y, k_tt)
    return perceptron(p, s, f, y)
