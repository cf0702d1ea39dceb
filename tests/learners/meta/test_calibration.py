"""Probabilities that are learned from scores."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from bgsub.learners.calibration import OnlineTemperature, class_probabilities


def logistic_scores(factor, n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, rng.random(n) < 1 / (1 + np.exp(-factor * scores))


@pytest.mark.parametrize("factor", [0.2, 1.0, 4.0])
def test_the_factor_is_that_of_maximum_likelihood(factor):
    scores, labels = logistic_scores(factor)
    scale = OnlineTemperature(memory=1.0)
    for score, label in zip(scores.tolist(), labels.tolist(), strict=True):
        scale.learn_two(score, label)
    signs = np.where(labels, 1, -1)
    best = minimize_scalar(lambda a: np.logaddexp(0, -a * signs * scores).sum(), bounds=(0, 10), method="bounded").x
    assert scale.a == pytest.approx(best, rel=0.02)
    assert best == pytest.approx(factor, rel=0.1)


def test_of_two_classes_many_are_the_same():
    scores, labels = logistic_scores(2.0, 3000)
    two, many = OnlineTemperature(), OnlineTemperature()
    for score, label in zip(scores.tolist(), labels.tolist(), strict=True):
        two.learn_two(score, label)
        many.learn_many([0.0, score], int(label))
    assert many.a == pytest.approx(two.a, rel=1e-9)
    assert many.probabilities(np.array([0.0, 0.7]))[1] == pytest.approx(two.probability(0.7), rel=1e-9)


def test_the_factor_follows_scores_that_change():
    scale = OnlineTemperature(memory=0.99)
    for factor in (3.0, 0.3):
        for score, label in zip(*map(np.ndarray.tolist, logistic_scores(factor, 4000)), strict=True):
            scale.learn_two(score, label)
        assert scale.a == pytest.approx(factor, rel=0.5)


def test_neither_separable_scores_nor_huge_ones_end_in_something_infinite():
    scale = OnlineTemperature()
    for _ in range(5000):
        scale.learn_two(1.0, True)
        scale.learn_two(-1e300, False)
        scale.learn_many([1e300, -1e300, 0.0], 0)
    assert np.isfinite(scale.a)
    assert scale.a > 0
    assert (scale.probability(1e300), scale.probability(-1e300)) == (1.0, pytest.approx(0.0, abs=1e-300))
    np.testing.assert_array_equal(class_probabilities(np.array([[1e300, 0.0], [0.0, 1e300]])), [[1, 0], [0, 1]])
