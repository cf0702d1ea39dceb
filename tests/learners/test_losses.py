import numpy as np
import pytest

from bgsub.learners import NORMAClassifier
from bgsub.learners.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    MulticlassHinge,
    Novelty,
    Softmax,
    Squared,
)
from tests.learners.known import LABELS, STREAM

STEP = 1e-6


@pytest.mark.parametrize(
    "loss",
    [Hinge(0.7), Hinge(0.7, 0.2), Novelty(0.3, 0.1), Logistic(), Squared(), EpsilonInsensitive(0.4), Huber(0.6)],
    ids=repr,
)
def test_gradient_is_the_slope(loss):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=400) * 2
    targets = rng.choice([-1.0, 1.0], 400) if isinstance(loss, Hinge | Logistic) else rng.normal(size=400)
    slope = (loss.value(scores + STEP, targets) - loss.value(scores - STEP, targets)) / (2 * STEP)
    np.testing.assert_allclose(loss.gradient(scores, targets), slope, atol=1e-6)


@pytest.mark.parametrize("loss", [MulticlassHinge(), MulticlassHinge(0.0), Softmax()], ids=repr)
def test_gradient_is_the_slope_for_each_class(loss):
    rng = np.random.default_rng(1)
    scores, targets = rng.normal(size=(200, 4)), rng.integers(0, 4, 200)
    gradient = loss.gradient(scores, targets)
    for q in range(4):
        step = STEP * np.eye(4)[q]
        slope = (loss.value(scores + step, targets) - loss.value(scores - step, targets)) / (2 * STEP)
        np.testing.assert_allclose(gradient[:, q], slope, atol=1e-6)


def test_nothing_overflows():
    for sign in (-1.0, 1.0):
        assert np.isfinite(Logistic().value(np.array([1e4, -1e4]), sign)).all()
        assert np.isfinite(Logistic().gradient(np.array([1e4, -1e4]), sign)).all()
    scores = np.array([[1e4, -1e4, 0.0]])
    assert Softmax().value(scores, np.array([1]))[0] == pytest.approx(2e4)
    assert np.isfinite(Softmax().gradient(scores, np.array([1]))).all()


def test_margin_moves_against_its_gradient():
    """The sign that the paper prints does the opposite."""
    for sign in (1.0, -1.0):
        name = "gradient" if sign > 0 else "printed"
        model = NORMAClassifier(sigma=1.0, eta=0.1, nu=0.3, lam=1.0, rho=0.1, rho_sign=name)
        rho = 0.1
        for x, y in zip(STREAM, LABELS, strict=True):
            loss = Hinge(rho, 0.3)
            score = model.learn_one(x, int(y))
            rho -= sign * 0.1 * float(loss.gradient_rho(score, y))
            assert model.rho_ == pytest.approx(rho, abs=1e-12)
