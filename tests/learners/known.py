"""The stream of the known answers, and small streams that many tests use."""

import numpy as np
import pytest

T = np.arange(1, 38)
STREAM = 2 * np.sin(T)[:, None]
LABELS = np.where(2 * np.sin(T) + 0.9 * np.cos(5 * T) > 0.2, 1, -1)
TARGETS = np.sin(2 * STREAM[:, 0]) + 0.1 * (-1.0) ** T


def quick_first(models):
    """Return parameters of a test, all but the first one left to the slow tier."""
    return [models[0], *(pytest.param(model, marks=pytest.mark.slow) for model in models[1:])]


def slope_of(loss, score, target, width=0.0):
    """Return the derivative of a regression's loss, in numpy."""
    difference = np.subtract(score, target)
    if loss == "squared":
        return difference
    if loss == "epsilon":
        return np.where(np.abs(difference) > width, np.sign(difference), 0.0)
    return np.clip(difference / width, -1.0, 1.0)  # huber


def answers(model):
    """Return the score at 0.3 and at -1.2."""
    return [float(model.score_one(np.array([x]))) for x in (0.3, -1.2)]


def rings(n=400, seed=0, noise=0.05):
    """Return two classes that a circle separates, with some labels wrong."""
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(n, 2))
    return samples, np.where((np.hypot(*samples.T) < 1) ^ (rng.random(n) < noise), 1, -1)
