"""Probabilities from the scores of a classifier that has none, learned along with it."""

import math
from collections.abc import Sequence

import numpy as np

from bgsub.learners.hypotheses.kernels import Array

__all__ = ["OnlineTemperature", "class_probabilities"]

_LARGEST = 1e100  # size of a score, whose square must not overflow


def class_probabilities(scores: Array) -> Array:
    """Return softmax of the scores (..., Q) along the last axis, of numbers that do not overflow.

    Examples
    --------
    >>> class_probabilities(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Array = powers / powers.sum(axis=-1, keepdims=True)
    return result


class OnlineTemperature:
    """One number a > 0, by which scores are multiplied before they become probabilities.

    The probability of the second of two classes is 1 / (1 + exp(-a f)), that of many softmax(a f): the sigmoid of Platt
    (1999) without its constant, which is the temperature scaling of Guo and others (2017). The most probable class is
    then the predicted one. a maximises the likelihood of the labels given the scores before learning, with a memory
    of 1 / (1 - `memory`) samples: each sample is one Newton step on it, from a prior that holds a at 1.

    Parameters
    ----------
    memory : float
        Factor by which the weight of earlier samples shrinks, in (0, 1].

    Examples
    --------
    >>> scale, rng = OnlineTemperature(), np.random.default_rng(0)
    >>> for score in rng.normal(size=5000):
    ...     scale.learn_two(float(score), bool(rng.random() < 1 / (1 + np.exp(-3 * score))))
    >>> 2.5 < scale.a < 3.5
    True
    """

    LEAST = 1e-6

    def __init__(self, memory: float = 0.999) -> None:
        self.memory = memory
        self.a = 1.0
        self._information = 1.0

    def probability(self, score: float) -> float:
        """Return the probability of the second of two classes."""
        z = min(max(self.a * score, -700.0), 700.0)
        return 1 / (1 + math.exp(-z))

    def probabilities(self, scores: Array) -> Array:
        """Return the probability of each of many classes: (..., Q) as the scores."""
        return class_probabilities(self.a * scores)

    def learn_two(self, score: float, second: bool) -> None:
        """Learn the score of one sample of two classes, and whether it was of the second."""
        score = min(max(score, -_LARGEST), _LARGEST)
        p = self.probability(score)
        self._step((second - p) * score, p * (1 - p) * score * score)

    def learn_many(self, scores: Sequence[float] | Array, right: int) -> None:
        """Learn the scores (Q,) of one sample of many classes, and which of them was right."""
        values = np.clip(np.asarray(scores, np.float64), -_LARGEST, _LARGEST)
        p = self.probabilities(values)
        mean = float(p @ values)
        self._step(float(values[right]) - mean, float(p @ (values - mean) ** 2))

    def _step(self, gradient: float, curvature: float) -> None:
        # The prior does not fade: without it, separable data would drive a to infinity.
        self._information = 1.0 + self.memory * (self._information - 1.0) + curvature
        self.a = max(self.a + gradient / self._information, self.LEAST)
