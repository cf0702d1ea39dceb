"""Losses: each slope is that of its value, nothing overflows, and every learner that can take a loss takes it."""

import math

import numpy as np
import pytest

from bgsub.learners import NORMAClassifier, NORMARegressor, SVMDClassifier, SVMDRegressor
from bgsub.learners._jit.losses import (
    CLASSIFICATION_LOSSES,
    EPSILON,
    HINGE,
    HUBER,
    LOGISTIC,
    MULTICLASS_HINGE,
    NOVELTY,
    REGRESSION_LOSSES,
    SOFT_MARGIN,
    SOFTMAX,
    SQUARED,
    class_slope,
    class_value,
    slope,
    value,
)
from tests.learners.known import LABELS, STREAM, TARGETS, rings

pytestmark = pytest.mark.compiled

STEP = 1e-6
LOSSES = {
    "hinge": (HINGE, 0.7),
    "soft margin": (SOFT_MARGIN, 0.7),
    "novelty": (NOVELTY, 0.3),
    "logistic": (LOGISTIC, 0.0),
    "squared": (SQUARED, 0.0),
    "epsilon": (EPSILON, 0.4),
    "huber": (HUBER, 0.6),
}


def pairs(loss, n=400):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=n) * 2
    sides = loss in (HINGE, SOFT_MARGIN, LOGISTIC)
    targets = rng.choice([-1.0, 1.0], n) if sides else rng.normal(size=n)
    return list(zip(scores.tolist(), targets.tolist(), strict=True))


@pytest.mark.parametrize("name", LOSSES)
def test_slope_is_that_of_the_value(name):
    loss, level = LOSSES[name]
    for f, y in pairs(loss):
        rise = (value(loss, f + STEP, y, level) - value(loss, f - STEP, y, level)) / (2 * STEP)
        derivative, curvature, _ = slope(loss, f, y, level, 1.0)
        assert derivative == pytest.approx(rise, abs=1e-6)
        assert slope(loss, f, y, level, 0.3)[0] == pytest.approx(0.3 * derivative)
        after, before = (slope(loss, f + sign * STEP, y, level, 1.0)[0] for sign in (1, -1))
        assert curvature == pytest.approx((after - before) / (2 * STEP), abs=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_violations_are_beyond_the_level(name):
    loss, level = LOSSES[name]
    beyond = {
        "hinge": lambda f, y: y * f < level,
        "soft margin": lambda f, y: y * f <= level,
        "novelty": lambda f, y: f < level,
        "logistic": lambda f, y: y * f <= 0,
        "squared": lambda f, y: True,
        "epsilon": lambda f, y: abs(f - y) > level,
        "huber": lambda f, y: abs(f - y) > level,
    }[name]
    sides = loss in (HINGE, SOFT_MARGIN, LOGISTIC)
    for f, y in [*pairs(loss), (level, 1.0), (0.0, -1.0 if sides else 0.0)]:
        assert slope(loss, f, y, level, 1.0)[2] == float(beyond(f, y))


@pytest.mark.parametrize(("loss", "margin"), [(MULTICLASS_HINGE, 1.0), (MULTICLASS_HINGE, 0.0), (SOFTMAX, 0.0)])
def test_slope_is_that_of_the_value_for_each_class(loss, margin):
    rng = np.random.default_rng(1)
    distances, xi = np.array([[0, 1, 1, 2], [1, 0, 1, 1], [1, 1, 0, 1], [2.0, 1, 1, 0]]), np.zeros(4)
    for scores, right in zip(rng.normal(size=(200, 4)), rng.integers(0, 4, 200).tolist(), strict=True):
        class_slope(loss, scores, right, distances, margin, xi)
        for q in range(4):
            step = STEP * np.eye(4)[q]
            after, before = (class_value(loss, scores + s * step, right, distances, margin) for s in (1, -1))
            assert xi[q] == pytest.approx((after - before) / (2 * STEP), abs=1e-6)


def test_nothing_overflows():
    for y in (-1.0, 1.0):
        for f in (1e4, -1e4):
            assert math.isfinite(value(LOGISTIC, f, y, 0.0))
            assert np.isfinite(slope(LOGISTIC, f, y, 0.0, 1.0)).all()
    scores, distances, xi = np.array([1e4, -1e4, 0.0]), np.ones((3, 3)), np.zeros(3)
    assert class_value(SOFTMAX, scores, 1, distances, 0.0) == pytest.approx(2e4)
    class_slope(SOFTMAX, scores, 1, distances, 0.0, xi)
    assert np.isfinite(xi).all()


def test_margin_moves_against_its_gradient():
    """The sign that the paper prints does the opposite."""
    for sign in (1.0, -1.0):
        name = "gradient" if sign > 0 else "printed"
        model = NORMAClassifier(sigma=1.0, eta=0.1, nu=0.3, lam=1.0, rho=0.1, rho_sign=name)
        rho = 0.1
        for x, y in zip(STREAM, LABELS.tolist(), strict=True):
            score = model.learn_one(x, y)
            gradient = (1.0 if y * score <= rho else 0.0) - 0.3  # of max(0, rho - y f) - nu rho
            rho -= sign * 0.1 * gradient
            assert model.rho_ == pytest.approx(rho, abs=1e-12)


@pytest.mark.parametrize("kind", [NORMARegressor, SVMDRegressor])
@pytest.mark.parametrize("name", REGRESSION_LOSSES)
def test_regressors_descend_on_every_loss_of_a_regression(kind, name):
    model = kind(sigma=0.5, loss=name)
    for x, y in zip(STREAM, TARGETS.tolist(), strict=True):
        loss = REGRESSION_LOSSES[name]
        level = getattr(model, loss.width) if loss.width else 0.0
        before = model.learn_one(x, y)
        derivative = slope(loss.code, before, y, level, 1.0)[0]
        eta = model.eta if kind is NORMARegressor else model.step_size_
        if derivative:
            assert model.dual_coef_[0, -1] == pytest.approx(-eta * derivative, rel=1e-12)


@pytest.mark.parametrize("name", REGRESSION_LOSSES)
def test_nu_adapts_a_width_and_is_refused_where_there_is_none(name):
    model = NORMARegressor(sigma=0.5, loss=name, nu=0.3)
    if REGRESSION_LOSSES[name].width:
        before = getattr(model, REGRESSION_LOSSES[name].width)
        assert model.fit(STREAM, TARGETS).level_ != before
    else:
        with pytest.raises(ValueError, match=f"nu must be None where loss is '{name}', which has no width, got 0.3"):
            model.fit(STREAM, TARGETS)


@pytest.mark.parametrize("name", CLASSIFICATION_LOSSES)
def test_nu_adapts_a_margin_and_is_refused_where_there_is_none(name):
    model = SVMDClassifier(sigma=0.7, loss=name, nu=0.3)
    if CLASSIFICATION_LOSSES[name].margin:
        assert model.fit(*rings(60)).margin_ != 1.0
    else:
        with pytest.raises(ValueError, match=f"nu must be None where loss is '{name}', which has no margin, got 0.3"):
            model.fit(*rings(60))
