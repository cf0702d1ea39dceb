"""Loss functions: value, slope and curvature, by which NORMA and SVMD learn, and the exact step of OLK.

A loss of one score f and a target y is two functions, called by `value` and `slope`:

value(score, y, level) returns the loss; `level` is the margin of a classifier, the threshold of a novelty detector,
or the width (eps, delta) of a regression.
slope(score, y, level, weight) returns the derivative with respect to the score times `weight`, the second derivative,
and whether the sample violates its margin, threshold or width (1.0 or 0.0).

To add a loss: a number, its two functions, a branch in `value` and `slope`, and a line in the table of those that
learners offer by name.
"""

import math
from typing import NamedTuple

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.records import Array

HINGE, SOFT_MARGIN, LOGISTIC, NOVELTY, SQUARED, EPSILON, HUBER, MULTICLASS_HINGE, SOFTMAX = 0, 1, 2, 3, 4, 5, 6, 7, 8


class RegressionLoss(NamedTuple):
    """A loss that regressors offer."""

    code: int
    width: str = ""  # the parameter that is its width; nu can adapt it


class ClassificationLoss(NamedTuple):
    """A loss that classifiers offer."""

    two: int  # its number for two classes
    many: int  # and for more
    margin: bool = False  # whether it has a margin, which nu or distances of labels can set


REGRESSION_LOSSES = {
    "squared": RegressionLoss(SQUARED),
    "epsilon": RegressionLoss(EPSILON, "eps"),
    "huber": RegressionLoss(HUBER, "delta"),
}
CLASSIFICATION_LOSSES = {
    "hinge": ClassificationLoss(HINGE, MULTICLASS_HINGE, margin=True),
    "logistic": ClassificationLoss(LOGISTIC, SOFTMAX),
}


@part
def hinge_value(score: float, y: float, margin: float) -> float:
    """max(0, margin - y f)."""
    return max(0.0, margin - y * score)


@part
def hinge_slope(score: float, y: float, margin: float, weight: float) -> tuple[float, float, float]:
    """-y where y f < margin."""
    violated = 1.0 if y * score < margin else 0.0
    return weight * -y * violated, 0.0, violated


@part
def soft_margin_slope(score: float, y: float, margin: float, weight: float) -> tuple[float, float, float]:
    """-y where y f <= margin: the hinge loss as NORMA's paper has it, where meeting a margin exactly is missing it."""
    violated = 1.0 if y * score <= margin else 0.0
    return weight * -y * violated, 0.0, violated


@part
def logistic_value(score: float, y: float, margin: float) -> float:
    """log(1 + exp(-y f)), without overflow."""
    z = y * score
    return max(-z, 0.0) + math.log1p(math.exp(-abs(z)))


@part
def logistic_slope(score: float, y: float, margin: float, weight: float) -> tuple[float, float, float]:
    """-y p with p = 1 / (1 + exp(y f)), and p (1 - p); a sample on the wrong side is a violation."""
    z = y * score
    small = math.exp(-abs(z))  # without overflow
    p_wrong = (small if z > 0.0 else 1.0) / (1.0 + small)
    return weight * -y * p_wrong, p_wrong * (1.0 - p_wrong), 1.0 if z <= 0.0 else 0.0


@part
def novelty_value(score: float, y: float, threshold: float) -> float:
    """max(0, threshold - f); there is no target."""
    return max(0.0, threshold - score)


@part
def novelty_slope(score: float, y: float, threshold: float, weight: float) -> tuple[float, float, float]:
    """-1 where f < threshold."""
    violated = 1.0 if score < threshold else 0.0
    return -weight * violated, 0.0, violated


@part
def squared_value(score: float, y: float, width: float) -> float:
    """(f - y)² / 2; it has no width."""
    return 0.5 * (score - y) * (score - y)


@part
def squared_slope(score: float, y: float, width: float, weight: float) -> tuple[float, float, float]:
    """Return f - y, which changes f at every sample, so every one counts as a violation."""
    return weight * (score - y), 1.0, 1.0


@part
def epsilon_value(score: float, y: float, width: float) -> float:
    """max(0, |f - y| - width)."""
    return max(0.0, abs(score - y) - width)


@part
def epsilon_slope(score: float, y: float, width: float, weight: float) -> tuple[float, float, float]:
    """sgn(f - y) where |f - y| > width."""
    difference = score - y
    if abs(difference) > width:
        return weight if difference > 0.0 else -weight, 0.0, 1.0
    return 0.0, 0.0, 0.0


@part
def huber_value(score: float, y: float, width: float) -> float:
    """|d| - width / 2 where |d| > width, else d² / (2 width), with d = f - y."""
    size = abs(score - y)
    return size - 0.5 * width if size > width else size * size / (2.0 * width)


@part
def huber_slope(score: float, y: float, width: float, weight: float) -> tuple[float, float, float]:
    """sgn(d) where |d| > width, else d / width."""
    difference = score - y
    if abs(difference) > width:
        return weight if difference > 0.0 else -weight, 0.0, 1.0
    return weight * difference / width, 1.0 / width, 0.0


@compiled_views
def value(loss: int, score: float, y: float, level: float) -> float:
    """Return a loss of one score."""
    if loss == HINGE or loss == SOFT_MARGIN:
        return hinge_value(score, y, level)
    if loss == LOGISTIC:
        return logistic_value(score, y, level)
    if loss == NOVELTY:
        return novelty_value(score, y, level)
    if loss == SQUARED:
        return squared_value(score, y, level)
    if loss == EPSILON:
        return epsilon_value(score, y, level)
    if loss == HUBER:
        return huber_value(score, y, level)
    return math.nan  # a number without a branch above; compiled code without reference counts cannot raise


@shared
def slope(loss: int, score: float, y: float, level: float, weight: float) -> tuple[float, float, float]:
    """Return derivative times weight, second derivative and violation of a loss of one score."""
    if loss == HINGE:
        return hinge_slope(score, y, level, weight)
    if loss == SOFT_MARGIN:
        return soft_margin_slope(score, y, level, weight)
    if loss == LOGISTIC:
        return logistic_slope(score, y, level, weight)
    if loss == NOVELTY:
        return novelty_slope(score, y, level, weight)
    if loss == SQUARED:
        return squared_slope(score, y, level, weight)
    if loss == EPSILON:
        return epsilon_slope(score, y, level, weight)
    if loss == HUBER:
        return huber_slope(score, y, level, weight)
    return math.nan, math.nan, math.nan


@part
def has_sides(loss: int) -> bool:
    """Whether targets are -1 and 1, so that a score can have the wrong sign."""
    return loss == HINGE or loss == SOFT_MARGIN or loss == LOGISTIC


@shared
def least_width(loss: int, eta: float, k_tt: float) -> float:
    """Return the width below which a step of size eta overshoots its target: within it the slope is d / width."""
    return eta * k_tt if loss == HUBER else -math.inf


@part
def best_wrong(scores: Array, right: int) -> int:
    """Return the class with the highest of scores (Q,) but for the right one, the first of several."""
    rival = 1 if right == 0 else 0
    for q in range(scores.shape[0]):
        if q != right and scores[q] > scores[rival]:
            rival = q
    return rival


@part
def most_violating(scores: Array, right: int, distances: Array, margin: float) -> int:
    """Return the wrong class that lacks most of its distance, in units of the margin; distances (Q, Q)."""
    worst = 1 if right == 0 else 0
    for q in range(scores.shape[0]):
        if q != right and margin * distances[right, q] + scores[q] > margin * distances[right, worst] + scores[worst]:
            worst = q
    return worst


@compiled_views
def class_value(loss: int, scores: Array, right: int, distances: Array, margin: float) -> float:
    """Return a loss of the scores (Q,) of all classes.

    The hinge loss is max(0, margin · distance + f_q - f_right) of the worst q; softmax log(sum of exp(f_q)) - f_right.
    """
    if loss == SOFTMAX:
        highest, total = -math.inf, 0.0
        for q in range(scores.shape[0]):
            highest = max(highest, scores[q])
        for q in range(scores.shape[0]):
            total += math.exp(scores[q] - highest)
        loss_of_right: float = math.log(total) + highest - scores[right]
        return loss_of_right
    worst = most_violating(scores, right, distances, margin)
    lack: float = margin * distances[right, worst] + scores[worst] - scores[right]
    return max(0.0, lack)


@shared
def class_slope(
    loss: int, scores: Array, right: int, distances: Array, margin: float, xi: Array
) -> tuple[float, float]:
    """Write the derivative of `class_value` to xi (Q,); return the second derivative and the violation.

    Of softmax the former only says that there is one, see `bend_softmax`.

    Table 1 of Vishwanathan, Schraudolph, Smola 2006: equations (20), (24) and (29).
    """
    xi[:] = 0.0
    if loss == SOFTMAX:
        rival = best_wrong(scores, right)
        highest, total = max(scores[right], scores[rival]), 0.0
        for q in range(scores.shape[0]):
            xi[q] = math.exp(scores[q] - highest)
            total += xi[q]
        for q in range(scores.shape[0]):
            xi[q] /= total
        xi[right] -= 1.0
        return 1.0, 1.0 if scores[right] - scores[rival] <= 0.0 else 0.0
    worst = most_violating(scores, right, distances, margin)
    if margin * distances[right, worst] + scores[worst] - scores[right] <= 0.0:
        return 0.0, 0.0
    xi[right], xi[worst] = -1.0, 1.0
    return 0.0, 1.0


@part
def bend_softmax(importance: float, right: int, xi: Array, values: Array, result: Array) -> None:
    """Write the second derivative of softmax times values (Q,) to result (Q,): equations (46) and (47).

    It is the matrix diag(p) - p p^T, p being xi but for the right class. xi is already multiplied by the weight of the
    sample, `importance`.
    """
    mean = values[right]
    for q in range(values.shape[0]):
        mean += xi[q] / importance * values[q]
    for q in range(values.shape[0]):
        p_q = xi[q] / importance + (1.0 if q == right else 0.0)
        result[q] = importance * (p_q * (values[q] - mean))


@part
def exact_step(missing: float, k_tt: float, least: float, largest: float) -> float:
    """Return the multiplier that minimises |f - f_t|² / 2 plus a hinge loss: equation (30) of Li and others 2013.

    `missing` is the distance of f to the kink; the multiplier is in [least, largest], `largest` weighting the loss.
    """
    return min(max(missing / k_tt, least), largest)
