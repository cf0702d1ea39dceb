"""Kernel adaptive filters beside loops in plain numpy over their published rules, and beside Gaussian processes."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from bgsub._numba import JIT_ENABLED
from bgsub.learners import (
    Gaussian,
    KAPARegressor,
    KRLSRegressor,
    KRLSTRegressor,
    Polynomial,
    QKLMSRegressor,
    load,
    save,
)

SIGMA = 0.6
RNG = np.random.default_rng(11)
POINTS = RNG.uniform(-2, 2, size=(150, 2))
TARGETS = np.sin(2 * POINTS[:, 0]) * np.cos(POINTS[:, 1]) + 0.1 * RNG.normal(size=150)
WEIGHTS = RNG.choice([0.5, 1.0, 2.0], 150)
GRID = RNG.uniform(-3, 3, size=(40, 2))


def gaussian(a, b):
    return np.exp(-((np.asarray(a)[:, None] - np.asarray(b)[None]) ** 2).sum(axis=2) / (2 * SIGMA**2))


def qklms(eta, epsilon, budget, weights):
    centres, a = [POINTS[0]], [eta * weights[0] * TARGETS[0]]
    for x, y, w in zip(POINTS[1:], TARGETS[1:], weights[1:], strict=True):
        error = y - gaussian(centres, x[None])[:, 0] @ np.array(a)
        distances = np.linalg.norm(np.array(centres) - x, axis=1)
        if distances.min() <= epsilon or len(centres) == budget:
            a[int(distances.argmin())] += eta * w * error
        else:
            centres.append(x)
            a.append(eta * w * error)
    return np.array(centres), np.array(a)


@pytest.mark.compiled
@pytest.mark.parametrize(("epsilon", "budget"), [(0.0, None), (0.3, None), (0.8, None), (0.1, 20)])
@pytest.mark.parametrize("weights", [np.ones(150), WEIGHTS], ids=["equal", "weighted"])
def test_qklms_is_its_published_loop(epsilon, budget, weights):
    model = QKLMSRegressor(sigma=SIGMA, eta=0.4, epsilon=epsilon, budget=budget)
    model.fit(POINTS, TARGETS, sample_weight=weights)
    centres, a = qklms(0.4, epsilon, budget, weights)
    np.testing.assert_array_equal(model.support_vectors_, centres)
    np.testing.assert_allclose(model.dual_coef_[0], a, atol=1e-12)
    np.testing.assert_allclose(model.predict(GRID), gaussian(GRID, centres) @ a, atol=1e-12)


def test_vectors_of_qklms_keep_their_distance():
    model = QKLMSRegressor(sigma=SIGMA, epsilon=0.5).fit(POINTS, TARGETS)
    vectors = model.support_vectors_
    distances = np.linalg.norm(vectors[:, None] - vectors[None], axis=2) + 9 * np.eye(len(vectors))
    assert distances.min() > 0.5
    assert np.linalg.norm(POINTS[:, None] - vectors[None], axis=2).min(axis=1).max() <= 0.5
    with pytest.warns(UserWarning, match=r"eta should be below 2 / k\(x, x\)"):
        QKLMSRegressor(sigma=SIGMA, eta=2.5).fit(POINTS, TARGETS)


def kapa(order, eta, eps, coherence, budget, weights, kernel=gaussian, targets=TARGETS):
    kept, a = [], np.zeros((0, *targets.shape[1:]))
    for t in range(len(POINTS)):
        x = POINTS[t : t + 1]
        own = kernel(x, x)[0, 0]
        known = POINTS[kept]
        lengths = np.array([kernel(v[None], v[None])[0, 0] for v in known])
        cosines = np.abs(kernel(known, x)[:, 0]) / np.sqrt(lengths * own) if kept else np.zeros(1)
        if cosines.max() <= coherence and len(kept) != budget:
            kept.append(t)
            a = np.concatenate([a, np.zeros((1, *targets.shape[1:]))])
        latest = np.arange(max(0, t - order + 1), t + 1)
        h = kernel(POINTS[latest], POINTS[kept])
        error = targets[latest] - h @ a
        step = min(eta * weights[t], 1.98)
        a = a + step * h.T @ np.linalg.solve(eps * np.eye(len(latest)) + h @ h.T, error)
    return POINTS[kept], a


@pytest.mark.compiled
@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize("budget", [None, 15])
@pytest.mark.parametrize("weights", [np.ones(150), WEIGHTS], ids=["equal", "weighted"])
def test_kapa_is_its_published_loop(order, budget, weights):
    model = KAPARegressor(sigma=SIGMA, order=order, eta=0.3, eps=0.05, coherence=0.6, budget=budget)
    model.fit(POINTS, TARGETS, sample_weight=weights)
    vectors, a = kapa(order, 0.3, 0.05, 0.6, budget, weights)
    np.testing.assert_array_equal(model.support_vectors_, vectors)
    np.testing.assert_allclose(model.dual_coef_[0], a, atol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("order", [1, 4])
@pytest.mark.parametrize("budget", [None, 15])
def test_kapa_of_several_targets_is_its_published_loop(order, budget):
    targets = np.stack([TARGETS, 100 * np.cos(POINTS[:, 1]), 0.01 * POINTS[:, 0]], axis=1)
    model = KAPARegressor(sigma=SIGMA, order=order, eta=0.3, eps=0.05, coherence=0.6, budget=budget)
    model.fit(POINTS, targets, sample_weight=WEIGHTS)
    vectors, a = kapa(order, 0.3, 0.05, 0.6, budget, WEIGHTS, targets=targets)
    np.testing.assert_array_equal(model.support_vectors_, vectors)
    np.testing.assert_allclose(model.dual_coef_, a.T, rtol=1e-9, atol=1e-11)
    assert model.n_violations_ == len(vectors)


@pytest.mark.compiled
def test_kapa_measures_coherence_by_cosines():
    kernel = Polynomial(degree=3, gamma=0.5, coef0=1.0)
    model = KAPARegressor(kernel=kernel, order=2, eta=0.3, eps=0.05, coherence=0.9).fit(POINTS, TARGETS)
    vectors, a = kapa(2, 0.3, 0.05, 0.9, None, np.ones(150), lambda x, y: (0.5 * x @ y.T + 1) ** 3)
    np.testing.assert_array_equal(model.support_vectors_, vectors)
    np.testing.assert_allclose(model.dual_coef_[0], a, atol=1e-8)


@pytest.mark.compiled
def test_a_full_step_of_kapa_fits_its_samples():
    model = KAPARegressor(sigma=SIGMA, order=3, eta=1.0, eps=1e-9, coherence=0.99).fit(POINTS[:40], TARGETS[:40])
    np.testing.assert_allclose(model.predict(POINTS[37:40]), TARGETS[37:40], atol=1e-6)


def tracker(lam, forgetting, noise, budget, weights):
    """The published recursion, whose inverse of K is that of numpy at each step."""
    kept, mean, covariance, squares, count = [], np.zeros(0), np.zeros((0, 0)), 0.0, 0.0
    for t in range(len(POINTS)):
        x, y = POINTS[t : t + 1], TARGETS[t]
        gram = gaussian(POINTS[kept], POINTS[kept])
        if forgetting == "prior":
            mean, covariance = np.sqrt(lam) * mean, lam * covariance + (1 - lam) * gram
        else:
            covariance = covariance / lam
        k = gaussian(POINTS[kept], x)[:, 0]
        q = np.linalg.solve(gram, k)
        h, f, apart = covariance @ q, q @ mean, 1 - k @ q
        total = noise / weights[t] + apart + q @ h
        squares, count = lam * (squares + (y - f) ** 2 / total), lam * (count + 1)
        if apart <= 1e-6:
            mean, covariance = mean + (y - f) / total * h, covariance - np.outer(h, h) / total
            continue
        p = np.append(h, apart + q @ h)
        mean = np.append(mean, f) + (y - f) / total * p
        covariance = np.block([[covariance, h[:, None]], [h[None], p[-1:, None]]]) - np.outer(p, p) / total
        kept.append(t)
        if len(kept) > budget:
            inverse = np.linalg.inv(gaussian(POINTS[kept], POINTS[kept]))
            worst = int(np.argmin(np.abs(inverse @ mean / np.diag(inverse))))
            kept.pop(worst)
            mean, covariance = np.delete(mean, worst), np.delete(np.delete(covariance, worst, 0), worst, 1)
    gram = gaussian(POINTS[kept], POINTS[kept])
    projections = np.linalg.solve(gram, gaussian(POINTS[kept], GRID)).T
    inside = np.einsum("ij,ij->i", projections, gaussian(GRID, POINTS[kept]))
    variance = 1 - inside + np.einsum("ij,jk,ik->i", projections, covariance, projections)
    return POINTS[kept], projections @ mean, np.sqrt(squares / count * (noise + variance))


@pytest.mark.compiled
@pytest.mark.parametrize("forgetting", ["prior", "uncertainty"])
@pytest.mark.parametrize(("lam", "budget"), [(1.0, 25), (0.97, 25), (0.99, 60)] if JIT_ENABLED else [(0.97, 25)])
@pytest.mark.parametrize("weights", [np.ones(150), WEIGHTS] if JIT_ENABLED else [WEIGHTS])
def test_the_tracker_is_its_published_recursion(forgetting, lam, budget, weights):
    model = KRLSTRegressor(sigma=SIGMA, lam=lam, forgetting=forgetting, noise=0.05, budget=budget)
    mean, std = model.fit(POINTS, TARGETS, sample_weight=weights).predict(GRID, return_std=True)
    vectors, expected_mean, expected_std = tracker(lam, forgetting, 0.05, budget, weights)
    assert {tuple(v) for v in model.support_vectors_} == {tuple(v) for v in vectors}
    np.testing.assert_allclose(mean, expected_mean, atol=1e-6)
    np.testing.assert_allclose(std, expected_std, rtol=1e-6)
    np.testing.assert_allclose(mean, gaussian(GRID, model.support_vectors_) @ model.dual_coef_[0], atol=1e-9)
    assert model.t_ == len(POINTS)


def test_the_tracker_that_forgets_nothing_is_a_gaussian_process():
    model = KRLSTRegressor(sigma=SIGMA, lam=1.0, noise=0.05, budget=200).fit(POINTS, TARGETS)
    mean, std = model.predict(GRID, return_std=True)
    process = GaussianProcessRegressor(RBF(SIGMA) + WhiteKernel(0.05), optimizer=None).fit(POINTS, TARGETS)
    expected_mean, expected_std = process.predict(GRID, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-3)  # samples close to others are projected
    np.testing.assert_allclose(std / np.sqrt(model.scale_), expected_std, atol=1e-3)
    assert model.std_one(GRID[0]) == pytest.approx(std[0], rel=1e-12)


def test_back_to_the_prior_is_a_gaussian_process_of_samples_and_times():
    lam, noise, n = 0.9, 0.05, 60
    model = KRLSTRegressor(sigma=SIGMA, lam=lam, noise=noise, budget=100).fit(POINTS[:n], TARGETS[:n])
    times = np.arange(n)
    gram = gaussian(POINTS[:n], POINTS[:n]) * lam ** (np.abs(times[:, None] - times) / 2)
    rows = gaussian(GRID, POINTS[:n]) * lam ** ((n - 1 - times) / 2)
    inverse = np.linalg.inv(gram + noise * np.eye(n))
    mean, std = model.predict(GRID, return_std=True)
    assert model.n_support_ == n
    np.testing.assert_allclose(mean, rows @ inverse @ TARGETS[:n], atol=1e-8)
    variance = 1 - np.einsum("ij,jk,ik->i", rows, inverse, rows)
    np.testing.assert_allclose(std**2 / model.scale_ - noise, variance, atol=1e-8)


def test_the_tracker_estimates_its_scale_and_covers_its_targets():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, size=(2000, 1))
    y = 10 * np.sin(2 * x[:, 0]) + rng.normal(size=2000)
    model = KRLSTRegressor(sigma=0.7, lam=1.0, noise=0.02, budget=60).fit(x[:1000], y[:1000])
    mean, std = model.predict(x[1000:], return_std=True)
    inside = np.abs(y[1000:] - mean) < 1.96 * std
    assert abs(inside.mean() - 0.95) < 0.03
    assert model.scale_ == pytest.approx(1 / 0.02, rel=0.15)  # noise of variance 1 is .02 of that


MODELS = [
    QKLMSRegressor(sigma=SIGMA, epsilon=0.3),
    QKLMSRegressor(sigma=SIGMA, epsilon=0.1, budget=30),
    KAPARegressor(sigma=SIGMA),
    KAPARegressor(sigma=SIGMA, order=4, budget=20),
    KRLSTRegressor(sigma=SIGMA, budget=20, lam=0.98),
    KRLSTRegressor(sigma=SIGMA, budget=20, lam=0.98, forgetting="uncertainty", dtype="float32"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_compiled_plain_single_and_parts_agree_and_files_continue(model, tmp_path):
    bulk = clone(model).fit(POINTS, TARGETS)
    kernel = Gaussian(sigma=SIGMA)
    plain = clone(model).set_params(sigma=None, kernel=lambda a, b: float(kernel.row(a[None], b)[0]))
    plain.fit(POINTS, TARGETS)
    single, parts = clone(model), clone(model).partial_fit(POINTS[:70], TARGETS[:70])
    for x, y in zip(POINTS, TARGETS.tolist(), strict=True):
        faded = np.sqrt(0.98) if getattr(model, "forgetting", "") == "prior" else 1.0  # before it predicts
        before = faded * single.score_one(x)
        assert single.learn_one(x, y) == pytest.approx(before, abs=1e-9)
    save(parts, tmp_path / "model.npz")
    copies = [load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(parts)), parts]  # noqa: S301
    for other in (single, *(copy.partial_fit(POINTS[70:], TARGETS[70:]) for copy in copies)):
        np.testing.assert_array_equal(other.support_vectors_, bulk.support_vectors_)
        np.testing.assert_array_equal(other.predict(GRID), bulk.predict(GRID))
    np.testing.assert_allclose(plain.predict(GRID), bulk.predict(GRID), atol=1e-8)
    if isinstance(model, KRLSTRegressor):
        np.testing.assert_allclose(
            plain.predict(GRID, return_std=True)[1], bulk.predict(GRID, return_std=True)[1], rtol=1e-6
        )


def test_filters_follow_a_target_that_changes():
    rng = np.random.default_rng(2)
    x = rng.uniform(-2, 2, size=(1200, 1))
    y = np.where(np.arange(1200) < 600, 1.0, -1.0) * np.sin(2 * x[:, 0])

    def last_error(model):
        errors = [value - model.learn_one(row, value) for row, value in zip(x, y.tolist(), strict=True)]
        return np.sqrt(np.mean(np.square(errors[1100:])))

    assert last_error(KRLSRegressor(sigma=SIGMA)) > 0.5  # it never forgets
    for model in (KAPARegressor(sigma=SIGMA), QKLMSRegressor(sigma=SIGMA), KRLSTRegressor(sigma=SIGMA, lam=0.97)):
        assert last_error(model) < 0.15


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (QKLMSRegressor(eta=0.0), "eta must be positive, got 0.0"),
        (QKLMSRegressor(epsilon=-1.0), "epsilon must not be negative, got -1.0"),
        (KAPARegressor(order=0), "order must be an integer of at least 1, got 0"),
        (KAPARegressor(eta=2.0), r"eta must be in \(0, 2\), got 2.0"),
        (KAPARegressor(coherence=1.0), r"coherence must be in \[0, 1\), got 1.0"),
        (KRLSTRegressor(lam=0.0), r"lam must be in \(0, 1\], got 0.0"),
        (KRLSTRegressor(noise=0.0), "noise must be positive, got 0.0"),
        (KRLSTRegressor(budget=None), "budget must be an integer of at least 1, got None"),
        (KRLSTRegressor(forgetting="none"), "forgetting must be one of 'prior', 'uncertainty', got 'none'"),
    ],
)
def test_wrong_parameters_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(POINTS, TARGETS)
