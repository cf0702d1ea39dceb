"""Several targets: one dictionary, and for each target what it would have alone."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor

from bgsub.learners import (
    CallableKernel,
    KAPARegressor,
    KRLSRegressor,
    KRLSTRegressor,
    NORMARegressor,
    OLKRegressor,
    QKLMSRegressor,
    SVMDRegressor,
    export,
    load,
    save,
)
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled


def stream(n=120, seed=0):
    """Return samples, and three targets of different sizes."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 2))
    clean = np.stack([np.sin(2 * x[:, 0]), 10 * np.cos(x[:, 1]), 0.01 * x[:, 0] * x[:, 1]], axis=1)
    return x, clean + 0.01 * rng.normal(size=(n, 3))


MODELS = [
    KRLSRegressor(sigma=0.8, nu=0.01),
    KRLSRegressor(sigma=0.8, nu=1e-4, budget=15),
    KRLSRegressor(kernel="polynomial", degree=2, nu=1e-3),
    KRLSRegressor(sigma=0.8, nu=0.01, dtype="float32"),
    QKLMSRegressor(sigma=0.8, epsilon=0.3),
    QKLMSRegressor(sigma=0.8, epsilon=0.1, budget=15, dtype="float32"),
    KAPARegressor(sigma=0.8, order=3),
    KAPARegressor(kernel="polynomial", degree=2, order=2, budget=4, dtype="float32"),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_each_target_is_learned_as_if_alone(model, weighted):
    samples, targets = stream()
    weights = np.random.default_rng(1).uniform(0.3, 3.0, 120) if weighted else None
    several = clone(model).fit(samples, targets, sample_weight=weights)
    alone = [clone(model).fit(samples, y, sample_weight=weights) for y in targets.T]
    expected = np.stack([each.predict(samples) for each in alone], axis=1)
    sizes = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(several.predict(samples) / sizes, expected / sizes, atol=1e-9)
    np.testing.assert_array_equal(several.support_vectors_, alone[0].support_vectors_)
    assert several.dual_coef_.shape == (3, several.n_support_)
    np.testing.assert_allclose(several.predict_one(samples[3]), several.predict(samples)[3])


@pytest.mark.parametrize("nu", [0.1, 1e-3])
def test_it_is_least_squares_over_the_dictionary(nu):
    """All samples count, with what the dictionary explains of them when they come."""
    samples, targets = stream(80)

    def gauss(a, b):
        return np.exp(-((a[:, None] - b) ** 2).sum(axis=2) / (2 * 0.8**2))

    kept, rows = np.empty((0, 2)), np.empty((0, 0))
    for x in samples:
        k = gauss(kept, x[None])[:, 0]
        shares = np.linalg.solve(gauss(kept, kept), k) if len(kept) else k
        if 1.0 - k @ shares > nu:
            rows = np.pad(rows, ((0, 1), (0, 1)))
            kept, rows[-1, -1] = np.vstack([kept, x]), 1.0
        else:
            rows = np.vstack([rows, shares])
    expected = np.linalg.lstsq(rows @ gauss(kept, kept), targets, rcond=None)[0]
    model = KRLSRegressor(sigma=0.8, nu=nu).fit(samples, targets)
    np.testing.assert_allclose(model.support_vectors_, kept)
    np.testing.assert_allclose(model.predict(samples), gauss(samples, kept) @ expected, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [KRLSRegressor(sigma=0.8, nu=0.01), QKLMSRegressor(sigma=0.8, epsilon=0.3), KAPARegressor(sigma=0.8, order=3)],
    ids=lambda model: type(model).__name__,
)
def test_rows_parts_single_samples_sparse_rows_and_plain_numpy_agree(model, tmp_path):
    samples, targets = stream(70)
    whole = clone(model).fit(samples, targets)
    parts = clone(model).partial_fit(samples[:30], targets[:30]).partial_fit(csr_matrix(samples[30:]), targets[30:])
    gauss = CallableKernel(lambda a, b: float(np.exp(-((a - b) ** 2).sum() / (2 * 0.8**2))))
    plain = clone(model).set_params(kernel=gauss, sigma=None).fit(samples, targets)
    single = clone(model)
    for x, y in zip(samples, targets, strict=True):
        before = np.zeros(3) if not hasattr(single, "expansion_") else single.predict_one(x)
        np.testing.assert_array_equal(single.learn_one(x, y), before)
    save(single, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    for other in (parts, plain, single, again):
        np.testing.assert_allclose(other.predict(samples), whole.predict(samples), atol=1e-8)
    for each in (single, again):
        each.partial_fit(samples[:5], targets[:5])
    np.testing.assert_array_equal(again.predict(samples), single.predict(samples))
    assert single.restart().partial_fit(samples, targets).t_ == 70
    np.testing.assert_allclose(single.predict(samples), whole.predict(samples), atol=1e-9)
    export(whole, tmp_path / "plain.npz")
    with np.load(tmp_path / "plain.npz") as m:
        K = np.exp(-m["gamma"] * ((samples[:, None] - m["support_vectors"]) ** 2).sum(axis=2))  # noqa: N806
        np.testing.assert_allclose(K @ m["dual_coef"].T + m["intercept"], whole.predict(samples), atol=1e-9)


def test_another_number_of_targets_is_refused_and_changes_nothing():
    samples, targets = stream(30)
    model = KRLSRegressor(sigma=0.8, nu=0.01).fit(samples, targets)
    before = model.predict(samples)
    for call, message in (
        (lambda: model.partial_fit(samples, targets[:, 0]), "y must have as many targets as before, 3, got 1"),
        (lambda: model.partial_fit(samples, targets[:, :2]), "y must have as many targets as before, 3, got 2"),
        (lambda: model.learn_one(samples[0], 1.0), "y must have as many targets as before, 3, got 1"),
        (lambda: model.learn_one(samples[0], targets[0, :2]), "y must have as many targets as before, 3, got 2"),
        (lambda: model.learn_one(samples[0], [1.0, np.nan, 0.0]), "y must be a finite number, or an array of them"),
        (lambda: model.learn_one([np.nan, 0.0], targets[0]), "x must be finite"),
        (lambda: NORMARegressor(sigma=0.8).fit(samples, targets), "1d array"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    np.testing.assert_array_equal(model.predict(samples), before)
    alone = KRLSRegressor(sigma=0.8).fit(samples, targets[:, 0])
    with pytest.raises(ValueError, match="as many targets as before, 1, got 3"):
        alone.learn_one(samples[0], targets[0])


@needs_compiler
@pytest.mark.parametrize(
    "regressor",
    [
        NORMARegressor(sigma=0.8, eta=0.5),
        OLKRegressor(sigma=0.8),
        SVMDRegressor(sigma=0.8),
        KRLSTRegressor(sigma=0.8, budget=20),
    ],
    ids=lambda regressor: type(regressor).__name__,
)
def test_other_regressors_learn_several_targets_by_scikit_learn(regressor):
    samples, targets = stream()
    model = MultiOutputRegressor(regressor)
    for part in (slice(0, 60), slice(60, 120)):
        model.partial_fit(samples[part], targets[part])
    alone = [clone(regressor).fit(samples, y).predict(samples) for y in targets.T]
    np.testing.assert_allclose(model.predict(samples), np.stack(alone, axis=1), atol=1e-9)


@pytest.mark.parametrize(("epsilon", "budget"), [(0.0, None), (0.4, None), (0.2, 12)])
def test_quantised_lms_of_several_targets_is_a_plain_loop(epsilon, budget):
    samples, targets = stream(90)
    weights = np.random.default_rng(2).uniform(0.3, 2.0, 90)
    kept, a = np.empty((0, 2)), np.empty((0, 3))
    for x, y, weight in zip(samples, targets, weights, strict=True):
        error = y - np.exp(-((kept - x) ** 2).sum(axis=1) / (2 * 0.8**2)) @ a
        distances = np.sqrt(((kept - x) ** 2).sum(axis=1))
        if len(kept) and (distances.min() <= epsilon or len(kept) == budget):
            a[distances.argmin()] += 0.2 * weight * error
        else:
            kept, a = np.vstack([kept, x]), np.vstack([a, 0.2 * weight * error])
    model = QKLMSRegressor(sigma=0.8, epsilon=epsilon, budget=budget).fit(samples, targets, sample_weight=weights)
    np.testing.assert_array_equal(model.support_vectors_, kept)
    np.testing.assert_allclose(model.dual_coef_, a.T, atol=1e-12)
    assert model.n_violations_ == len(kept)


def test_a_sample_exactly_as_far_as_nu_is_not_stored():
    model = KRLSRegressor(kernel="linear", nu=1.0).fit([[1.0], [0.5]], [1.0, 2.0])
    assert model.n_support_ == 0
    assert KRLSRegressor(kernel="linear", nu=1.0).fit([[1.25]], [1.0]).n_support_ == 1


def test_samples_whose_sum_would_lose_digits_are_learned_one_by_one():
    """Forty heavy samples at one place: what the sum knows of other directions is a millionth of it."""
    samples = np.concatenate([[0.0, 1.0, 2.0], np.full(40, 0.6)])[:, None]
    targets, weights = np.repeat([1.0, -1.0, 0.5, 0.3], [1, 1, 1, 40]), np.repeat([1.0, 1e6], [3, 40])
    batch, single = (KRLSRegressor(sigma=1.0, nu=1e-3, budget=3) for _ in range(2))
    batch.fit(samples, targets, sample_weight=weights)
    for x, y, weight in zip(samples, targets, weights, strict=True):
        single.learn_one(x, y, weight)
    grid = np.linspace(-1, 3, 9)[:, None]
    np.testing.assert_array_equal(batch.predict(grid), single.predict(grid))
