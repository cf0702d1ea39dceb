"""One weight vector that learns dense or sparse rows, in compiled code."""

import math
from dataclasses import dataclass

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.losses import exact_step
from bgsub.learners._jit.records import Array, Lessons, State

PERCEPTRON, ALMA, LMS, PASSIVE_AGGRESSIVE = 0, 1, 2, 3

SMALLEST_FACTOR = 1e-6
LONGEST_LMS = 1.98  # times 1 / |x|²; from 2 on weights grow without bound


@dataclass(kw_only=True)
class LinearParameters:
    """The rule, and what is done to samples first."""

    rule: int  # PERCEPTRON, ALMA, LMS or PASSIVE_AGGRESSIVE
    bias: bool = False  # whether samples get a constant feature
    unit: bool = False  # whether samples are divided by their length
    margin: float = 0.0  # of the perceptron
    eta: float = 0.0  # step of the perceptron and of LMS
    normalised: bool = False  # whether the step of LMS is divided by |x|²
    alpha: float = 0.0  # alpha, B and C of ALMA
    B: float = 0.0
    C: float = 0.0  # also the largest step of PASSIVE_AGGRESSIVE


@dataclass
class LinearStore:
    """What belongs to the weights: a weight is factor · stored."""

    factor: float = 1.0
    correction: float = 1.0  # number of the next correction of ALMA
    norm2: float = 0.0  # squared norm, of ALMA


@part
def with_bias(bias: bool, square: float) -> float:
    """Return |x|² with the constant feature, if there is one."""
    return square + 1.0 if bias else square


@part
def divisor(unit: bool, square: float) -> float:
    """Return what a sample is divided by: its length where it gets length 1."""
    return math.sqrt(square) if unit and square > 0.0 else 1.0


@part
def alma_correction(p: LinearParameters, e: LinearStore, margin: float, length: float, y: float, w: float) -> float:
    """Return the step of ALMA, times w, in units of the stored weights; count, norm and factor move along."""
    root = math.sqrt(e.correction)
    if margin > (1.0 - p.alpha) * p.B / root:
        return 0.0
    size = p.C * w / root
    step: float = y * size / (length * e.factor)
    e.norm2 = max(e.norm2 + 2.0 * size * margin + size * size, 0.0)
    norm = max(1.0, math.sqrt(e.norm2))
    e.norm2 /= norm * norm
    e.factor /= norm
    e.correction += 1.0
    return step


@part
def linear_step(p: LinearParameters, s: State, e: LinearStore, f: float, y: float, square: float) -> float:
    """Count a sample whose score is f, and return how often it is added to the stored weights; square = |x|²."""
    s.t += 1
    s.last = f
    if y * f <= 0.0:
        s.mistakes += 1
    step = 0.0
    if p.rule == LMS:
        eta = s.importance * (p.eta / (1e-12 + square) if p.normalised else p.eta)
        if eta * square > LONGEST_LMS:
            eta = LONGEST_LMS / square
        step = eta * (y - f)
    elif p.rule == PERCEPTRON:
        if y * f <= p.margin:
            step = p.eta * s.importance * y
    elif square > 0.0:
        if p.rule == PASSIVE_AGGRESSIVE:
            if y * f < 1.0:
                step = y * exact_step(1.0 - y * f, square, 0.0, p.C * s.importance)
        else:
            length = math.sqrt(square)
            step = alma_correction(p, e, y * f / length, length, y, s.importance)
    if step != 0.0:
        s.violations += 1
    return step


@shared
def settle_factor(e: LinearStore, weights: Array) -> None:
    """Multiply a factor that has become small into the weights."""
    if e.factor < SMALLEST_FACTOR:
        for j in range(weights.shape[0]):
            weights[j] *= e.factor
        e.factor = 1.0


@part
def learn_row(p: LinearParameters, s: State, e: LinearStore, weights: Array, x: Array, y: float) -> bool:
    """Learn x (d,) with target y, or return False where |x|² is not finite.

    weights (d + 1,) f8, the last one that of the constant feature.
    """
    last: int = x.shape[0]
    square, f = 0.0, 0.0
    for j in range(last):
        square += x[j] * x[j]
    if not square < math.inf:
        return False
    square = with_bias(p.bias, square)
    length = divisor(p.unit, square)
    for j in range(last):
        f += x[j] / length * weights[j]
    if p.bias:
        f += 1.0 / length * weights[last]
    step = linear_step(p, s, e, f * e.factor, y, 1.0 if length != 1.0 else square)
    if step != 0.0:
        for j in range(last):
            weights[j] += x[j] / length * step
        if p.bias:
            weights[last] += 1.0 / length * step
        settle_factor(e, weights)
    return True


@compiled_views
def linear_one(
    parameters: Array, state: Array, store: Array, weights: Array, x: Array, y: float, importance: float
) -> bool:
    """Learn one sample as `learn_row` does, for calls from Python."""
    state[0].importance = importance
    return learn_row(parameters[0], state[0], store[0], weights, x, y)


@compiled_views
def linear_rows(
    parameters: Array, state: Array, store: Array, weights: Array, samples: Array, lessons: Lessons
) -> None:
    """Learn rows (m, d), finite."""
    p, s, e = parameters[0], state[0], store[0]
    for t in range(samples.shape[0]):
        s.importance = lessons.importance[t]
        learn_row(p, s, e, weights, samples[t], lessons.targets[t])


@compiled_views
def linear_sparse_rows(
    parameters: Array, state: Array, store: Array, weights: Array, starts: Array, columns: Array, values: Array,
    lessons: Lessons,
) -> None:  # fmt: skip
    """Learn rows in compressed form with the bits of `linear_rows`: those of row t are starts[t] to starts[t + 1]."""
    p, s, e = parameters[0], state[0], store[0]
    last: int = weights.shape[0] - 1
    for t in range(lessons.targets.shape[0]):
        s.importance = lessons.importance[t]
        square, f = 0.0, 0.0
        first, stop = starts[t], starts[t + 1]
        for i in range(first, stop):
            square += values[i] * values[i]
        square = with_bias(p.bias, square)
        length = divisor(p.unit, square)
        for i in range(first, stop):
            f += values[i] / length * weights[columns[i]]
        if p.bias:
            f += 1.0 / length * weights[last]
        step = linear_step(p, s, e, f * e.factor, lessons.targets[t], 1.0 if length != 1.0 else square)
        if step != 0.0:
            for i in range(first, stop):
                weights[columns[i]] += values[i] / length * step
            if p.bias:
                weights[last] += 1.0 / length * step
            settle_factor(e, weights)


@part
def score_row(bias: bool, unit: bool, factor: float, weights: Array, x: Array) -> float:
    """Return the score of x (d,), NaN where |x|² is not finite."""
    last: int = x.shape[0]
    square, f = 0.0, 0.0
    for j in range(last):
        square += x[j] * x[j]
    if not square < math.inf:
        return math.nan
    length = divisor(unit, with_bias(bias, square))
    for j in range(last):
        f += x[j] / length * weights[j]
    if bias:
        f += 1.0 / length * weights[last]
    return f * factor


@compiled_views
def linear_value(bias: bool, unit: bool, store: Array, weights: Array, x: Array) -> float:
    """Return the score of one sample, for calls from Python."""
    return score_row(bias, unit, store[0].factor, weights, x)


@compiled_views
def linear_values(bias: bool, unit: bool, factor: float, weights: Array, samples: Array, out: Array) -> None:
    """Write the score of each row of samples (m, d) to out (m,)."""
    for t in range(samples.shape[0]):
        out[t] = score_row(bias, unit, factor, weights, samples[t])


@compiled_views
def linear_sparse_values(
    bias: bool, unit: bool, factor: float, weights: Array, starts: Array, columns: Array, values: Array, out: Array
) -> None:
    """Write the score of each row in compressed form to out (m,)."""
    last: int = weights.shape[0] - 1
    for t in range(out.shape[0]):
        square, f = 0.0, 0.0
        first, stop = starts[t], starts[t + 1]
        for i in range(first, stop):
            square += values[i] * values[i]
        length = divisor(unit, with_bias(bias, square))
        for i in range(first, stop):
            f += values[i] / length * weights[columns[i]]
        if bias:
            f += 1.0 / length * weights[last]
        out[t] = f * factor
