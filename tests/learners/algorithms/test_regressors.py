"""What holds for every regressor, their known answers, and published experiments."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from bgsub.learners import (
    Gaussian,
    KRLSRegressor,
    LSSVMClassifier,
    LSSVMRegressor,
    NORMARegressor,
    OLKRegressor,
    Polynomial,
)
from tests.learners.files import learning_file
from tests.learners.known import STREAM, TARGETS, answers, rings, slope_of
from tests.marks import needs_compiler

KNOWN = [
    (NORMARegressor(eta=0.2, lam=0.1), 37, [0.1203535868, -0.2995624529], {}),
    (
        NORMARegressor(loss="epsilon", eta=0.2, lam=1.0, nu=0.4, eps=0.1),
        19,
        [-0.0533454844, -0.1301745024],
        {"level_": 0.94, "n_violations_": 19},
    ),
    (
        NORMARegressor(loss="huber", eta=0.2, lam=0.1, delta=0.5),
        37,
        [0.1380795311, -0.4084742466],
        {"n_violations_": 24},
    ),
    (
        NORMARegressor(loss="huber", eta=0.1, lam=0.1, nu=0.4, delta=0.5),
        37,
        [0.0897521276, -0.1863712301],
        {"level_": 0.82},
    ),
    (OLKRegressor(r=0.05, C=0.6, eps=0.1), 33, [0.2686697060, -0.6285974598], {}),
    (KRLSRegressor(nu=0.1), 5, [0.6460540228, -0.6393769938], {}),
    (LSSVMRegressor(C=10.0), 37, [0.5238702694, -0.6340760455], {"intercept_": 0.0049787843}),
]
ONLINE = [
    NORMARegressor(),
    NORMARegressor(loss="epsilon", nu=0.3, offset=True),
    NORMARegressor(loss="huber", nu=0.3, schedule="sqrt", average=True),
    OLKRegressor(),
    OLKRegressor(average=True),
    KRLSRegressor(),
]


def curve(n, seed=0):
    """Return a noisy sum of sines: example 2 of Li 2013."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-np.pi, np.pi, size=(n, 1))
    return x, clean(x) + rng.uniform(-0.5, 0.5, n)


def clean(x):
    return 0.2 * np.sin(5 * x[:, 0]) + 0.5 * np.sin(x[:, 0])


GRID = np.linspace(-np.pi, np.pi, 400)[:, None]


def error(model):
    return np.sqrt(np.mean((model.predict(GRID) - clean(GRID)) ** 2))


@pytest.mark.compiled
@pytest.mark.parametrize(("model", "size", "values", "state"), KNOWN, ids=repr)
@pytest.mark.parametrize("kernel", [Gaussian(sigma=1.0), lambda a, b: float(np.exp(-((a - b) @ (a - b)) / 2))])
def test_known_answers(model, size, values, state, kernel):
    given = {} if isinstance(model, KRLSRegressor) else {"budget": None}
    model = clone(model).set_params(kernel=kernel, **given).fit(STREAM, TARGETS)
    assert model.n_support_ == size
    np.testing.assert_allclose(answers(model), values, atol=1e-8)
    for name, expected in state.items():
        assert getattr(model, name) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("model", ONLINE, ids=repr)
@pytest.mark.parametrize("kernel", [Gaussian(width=0.7), Polynomial(degree=2, gamma=0.5)], ids=repr)
def test_compiled_plain_single_and_parts_agree(model, kernel):
    samples, targets = curve(200)
    if isinstance(kernel, Polynomial) and isinstance(model, NORMARegressor):
        samples = samples / 4  # larger steps than 2 / k(x, x) diverge
    bulk = clone(model).set_params(kernel=kernel).fit(samples, targets)
    plain = clone(model).set_params(kernel=lambda a, b: float(kernel.row(a[None], b)[0])).fit(samples, targets)
    single, parts = (clone(model).set_params(kernel=kernel) for _ in range(2))
    for x, y in zip(samples, targets, strict=True):
        before = 0.0 if single._averaging else single.score_one(x)
        predicted = single.learn_one(x, float(y))
        assert single._averaging or predicted == pytest.approx(before, abs=1e-12)
    for start in range(0, 200, 33):
        parts.partial_fit(samples[start : start + 33], targets[start : start + 33])
    copy = pickle.loads(pickle.dumps(bulk))  # noqa: S301
    for other in (single, parts, copy):
        assert other.t_ == 200
        if isinstance(model, KRLSRegressor) and other is not copy:  # it sums up batches
            np.testing.assert_allclose(bulk.predict(samples), other.predict(samples), atol=1e-12)
        else:
            np.testing.assert_array_equal(bulk.dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(bulk.support_vectors_, other.support_vectors_)
    np.testing.assert_array_equal(single.predict(samples), [single.predict_one(x) for x in samples])
    np.testing.assert_array_equal(bulk.support_vectors_, plain.support_vectors_)
    np.testing.assert_allclose(bulk.predict(samples), plain.predict(samples), atol=1e-7)


@pytest.mark.parametrize(
    ("model", "width"),
    [
        (NORMARegressor(), 0.0),
        (NORMARegressor(loss="epsilon", eps=0.2), 0.2),
        (NORMARegressor(loss="huber", delta=0.3), 0.3),
    ],
)
def test_norma_steps_against_the_gradient(model, width):
    samples, targets = curve(50)
    model.set_params(width=0.7)
    for x, y in zip(samples, targets, strict=True):
        value = model.score_one(x)
        model.learn_one(x, float(y))
        step = -0.1 * float(slope_of(model.loss, value, y, width))
        assert model.score_one(x) == pytest.approx((1 - 0.1 * 0.01) * value + step, abs=1e-12)


@pytest.mark.parametrize(("loss", "first"), [("epsilon", 0.1), ("huber", 1.0)])
def test_nu_is_the_share_outside(loss, first):
    samples, targets = curve(2000)
    model = NORMARegressor(width=0.7, loss=loss, nu=0.2, eta=0.02, offset=True).fit(samples, targets)
    assert model.n_violations_ / 2000 == pytest.approx(0.2 + (model.level_ - first) / (0.02 * 2000), abs=1e-12)
    assert abs(model.n_violations_ / 2000 - 0.2) < 0.05


def test_olk_step_minimises_the_primal():
    r, bound, eps = 0.1, 0.6, 0.15
    model = OLKRegressor(kernel=Polynomial(degree=2), r=r, C=bound, eps=eps)
    rng = np.random.default_rng(1)
    for x, y in zip(rng.normal(size=(40, 2)), rng.normal(size=40), strict=True):
        value = model.score_one(x)
        size = model.n_support_ if value else 0
        model.learn_one(x, float(y))
        diagonal = model.expansion_.kernel.diag(x)
        learned = model.dual_coef_[0, -1] if model.n_support_ > size else 0.0

        def primal(a, value=value, diagonal=diagonal, y=y):
            after = value / (1 + r) + a * diagonal
            return (1 + r) / 2 * a * a * diagonal + bound * max(0.0, abs(y - after) - eps)

        best = minimize_scalar(primal, bounds=(-1, 1), method="bounded", options={"xatol": 1e-10}).x
        assert learned == pytest.approx(best, abs=1e-5)
        if 0 < abs(learned) < bound / (1 + r) - 1e-9:
            assert abs(y - model.score_one(x)) == pytest.approx(eps, abs=1e-12)


def test_olk_without_forgetting_is_passive_aggressive_regression():
    samples, targets = curve(100)
    model = OLKRegressor(width=0.7, r=0.0, C=0.5, eps=0.1)
    for x, y in zip(samples, targets, strict=True):
        value = model.score_one(x)
        model.learn_one(x, float(y))
        step = np.sign(y - value) * min(0.5, max(0.0, abs(y - value) - 0.1))
        assert model.score_one(x) == pytest.approx(value + step, abs=1e-14)


@pytest.mark.compiled
@pytest.mark.parametrize("nu", [1e-4, 1e-2])
def test_krls_is_least_squares_over_the_dictionary(nu):
    samples, targets = curve(400)
    model = KRLSRegressor(sigma=0.5, nu=nu)
    rows, size = [], 0
    for x, y in zip(samples, targets, strict=True):
        vectors = model.support_vectors_ if size else np.zeros((0, 1))
        model.learn_one(x, float(y))
        kernel = model.expansion_.kernel
        if model.n_support_ > size:
            size += 1
            rows.append(np.eye(size)[-1])
        else:
            rows.append(np.linalg.solve(kernel.matrix(vectors, vectors), kernel.row(vectors, x)))
    projections = np.array([np.pad(row, (0, size - len(row))) for row in rows])
    design = projections @ kernel.matrix(vectors, vectors)
    best = design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    np.testing.assert_allclose(design @ model.dual_coef_[0], best, atol=1e-6 if nu < 1e-3 else 1e-8)


def recursive_least_squares(samples, targets, kernel, nu, budget):
    """Return vectors, coefficients and the predictions made on the way by the published recursion, unhurried."""
    vectors, alpha, p, predicted = samples[:0], np.zeros(0), np.zeros((0, 0)), []
    for x, y in zip(samples, targets, strict=True):
        gram, row, k_tt = kernel.matrix(vectors, vectors), kernel.row(vectors, x), kernel.diag(x)
        a = np.linalg.solve(gram, row)
        error, delta2 = y - alpha @ row, k_tt - a @ row
        predicted.append(alpha @ row)
        if k_tt > 0 and delta2 > max(nu, 1e-10 * k_tt) and len(alpha) != budget:
            vectors, alpha = np.vstack([vectors, x]), np.append(alpha - a * error / delta2, error / delta2)
            p = np.block([[p, np.zeros((len(a), 1))], [np.zeros((1, len(a))), np.ones((1, 1))]])
        else:
            gain = 1 + a @ p @ a
            alpha = alpha + np.linalg.solve(gram, p @ a) * error / gain
            p = p - np.outer(p @ a, p @ a) / gain
    return vectors, alpha, np.array(predicted)


def late(n, features, seed):
    """Return a stream that moves on slowly, so that vectors join all along."""
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(n, features)) + np.linspace(0, 3, n)[:, None]
    samples[n // 3] = 0.0
    return samples, np.sin(samples).sum(axis=1) + 0.1 * rng.normal(size=n)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("kernel", "features", "nu", "budget", "size"),
    [
        (Gaussian(sigma=1.0), 1, 1e-2, None, 10),
        (Gaussian(sigma=1.0), 2, 0.2, 1000, 32),
        (Gaussian(sigma=1.0), 2, 1e-3, 14, 14),
        (Gaussian(sigma=3.0), 5, 0.05, 37, 37),
        (Gaussian(sigma=0.1), 3, 0.0, 50, 50),
        (Polynomial(degree=2, gamma=0.5, coef0=1.0), 2, 1e-3, None, 6),
        (Polynomial(degree=2, gamma=1.0, coef0=0.0), 4, 0.0, None, 10),
    ],
    ids=repr,
)
def test_krls_batches_are_the_published_recursion(kernel, features, nu, budget, size):
    samples, targets = late(240, features, 1)
    vectors, alpha, predicted = recursive_least_squares(samples, targets, kernel, nu, budget)
    expected = [kernel.row(vectors, x) @ alpha for x in samples]
    models = {name: KRLSRegressor(kernel=kernel, nu=nu, budget=budget) for name in ("single", 240, 100, 33, 17)}
    single = models.pop("single")
    alone = [single.learn_one(x, float(y)) for x, y in zip(samples, targets, strict=True)]
    np.testing.assert_allclose(alone, predicted, atol=1e-8)
    for length, model in models.items():
        for start in range(0, 240, length):
            model.partial_fit(samples[start : start + length], targets[start : start + length])
        assert model._s["last"][0] == pytest.approx(alone[-1], abs=1e-9)
    for model in (single, *models.values()):
        assert (model.t_, model.n_support_) == (240, size)
        np.testing.assert_array_equal(model.support_vectors_, vectors)
        np.testing.assert_allclose(model.predict(samples), expected, atol=1e-8)


@pytest.mark.compiled
@pytest.mark.parametrize("far", [1.0, 1e5])
def test_krls_does_not_sum_up_what_would_lose_digits(far):
    """Two vectors near 0, and far samples on one line that nearly hide what the two had to say."""
    rng = np.random.default_rng(0)
    samples = np.vstack([np.eye(2), far * np.ones((100, 2)), np.eye(2)])
    targets = samples @ [1.0, 2.0] + 0.1 * rng.normal(size=104)
    best = np.linalg.lstsq(samples, targets, rcond=None)[0]
    for model in (KRLSRegressor(kernel="linear", budget=2), KRLSRegressor(kernel=lambda a, b: float(a @ b), budget=2)):
        for learn in (model.fit, model.partial_fit):
            learn(samples, targets)
            np.testing.assert_allclose(model.predict(np.eye(2)), best, rtol=1e-9)


def test_krls_interpolates_where_everything_is_stored():
    samples, targets = curve(30)
    model = KRLSRegressor(width=0.2, nu=0.0).fit(samples, targets)
    np.testing.assert_allclose(model.predict(samples), targets, atol=1e-5)


def test_lssvm_solves_its_equations():
    samples, labels = rings(80)
    for model in (LSSVMRegressor(sigma=0.7, C=5.0), LSSVMClassifier(sigma=0.7, C=5.0)):
        model.fit(samples, labels)
        alpha = model.dual_coef_[0]
        assert alpha.sum() == pytest.approx(0, abs=1e-9)
        scores = model.predict(samples) if isinstance(model, LSSVMRegressor) else model.decision_function(samples)
        np.testing.assert_allclose(scores + alpha / 5, labels, atol=1e-9)
        assert not hasattr(model, "partial_fit")


@needs_compiler
def test_olk_learns_the_curve_of_example_2():
    errors = np.zeros(3)
    for seed in range(10):
        samples, targets = curve(600, seed)
        model = OLKRegressor(width=0.5, eps=0.5, C=1.0, r=0.001, budget=None)
        for i, (start, stop) in enumerate([(0, 100), (100, 300), (300, 600)]):
            errors[i] += error(model.partial_fit(samples[start:stop], targets[start:stop])) / 10
    assert (errors <= [0.18, 0.115, 0.09]).all(), errors


@needs_compiler
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (KRLSRegressor(width=0.5, nu=0.001), 0.064),
        (LSSVMRegressor(width=0.5, C=10.0), 0.054),
        (NORMARegressor(width=0.5, eta=0.02, lam=0.0, budget=None), 0.122),
        (NORMARegressor(width=0.5, loss="epsilon", eta=0.1, lam=0.01, eps=0.5, budget=None), 0.068),
    ],
    ids=repr,
)
def test_others_on_the_curve_of_example_2(model, expected):
    errors = [error(model.fit(*curve(600, seed))) for seed in range(10)]
    assert np.mean(errors) == pytest.approx(expected, rel=0.25)


@needs_compiler
def test_a_wider_tube_stores_fewer_vectors():
    samples, targets = curve(700, 3)
    counts = [
        OLKRegressor(width=0.5, eps=eps, C=1.0, r=0.001, budget=None).fit(samples, targets).n_support_
        for eps in (0.0, 0.3, 0.5, 0.7, 1.1)
    ]
    assert counts[0] == 700
    assert sorted(counts, reverse=True) == counts
    assert counts[-1] <= 15


@needs_compiler
def test_krls_predicts_the_lorenz_series():
    series = np.loadtxt(learning_file("lorenz.dat"))
    padded = np.concatenate([np.zeros(6), series])
    samples = np.stack([padded[i + 1 : i + 1 + 10000] for i in range(6)], axis=1)[:, ::-1]
    targets = series[1:10001]
    np.testing.assert_array_equal(samples[6, :2], series[[6, 5]])
    model = KRLSRegressor(sigma=32.0, nu=1e-4)
    errors = np.array([y - model.learn_one(x, float(y)) for x, y in zip(samples, targets, strict=True)])
    assert 10 * np.log10(np.mean(errors[1000:] ** 2)) <= -39.9
    assert model.n_support_ < 50


def test_input_that_is_wrong_raises_and_changes_nothing():
    samples, targets = curve(40)
    for model in (NORMARegressor(width=0.7), KRLSRegressor(width=0.7)):
        model.fit(samples, targets)
        before = [array.tobytes() for array in model.expansion_.state().values()], model.t_
        for bad, words in [
            (lambda: model.learn_one(np.array([np.inf]), 1.0), "finite"),  # noqa: B023
            (lambda: model.learn_one(np.zeros(1), np.nan), "y must be finite, got nan"),  # noqa: B023
            (lambda: model.learn_one(np.zeros(2), 1.0), "x must have 1 features, got 2"),  # noqa: B023
            (lambda: model.partial_fit([[0.0]], [np.nan]), "NaN"),  # noqa: B023
            (lambda: model.partial_fit([[0.0, 1.0]], [1.0]), "2 features"),  # noqa: B023
        ]:
            with pytest.raises(ValueError, match=words):
                bad()
            assert before == ([array.tobytes() for array in model.expansion_.state().values()], model.t_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NORMARegressor(loss="cubic"), "loss must be one of"),
        (NORMARegressor(eta=0), "eta must be positive, got 0"),
        (NORMARegressor(eta=1.0, lam=1.0), "must be below 1 with a constant step"),
        (NORMARegressor(eps=-1.0), "eps must not be negative"),
        (NORMARegressor(delta=0.0), "delta must be positive"),
        (NORMARegressor(nu=0.5), "nu must be None where loss is 'squared'"),
        (NORMARegressor(loss="huber", nu=1.0), r"nu must be in \(0, 1\) or None"),
        (OLKRegressor(eps=-0.1), "eps must not be negative"),
        (KRLSRegressor(nu=-1.0), "nu must not be negative"),
        (KRLSRegressor(budget=0), "budget must be None or an integer"),
        (LSSVMRegressor(C=0), "C must be positive"),
        (LSSVMRegressor(budget=3), "budget must be None: every sample"),
    ],
)
def test_wrong_parameters_are_named(model, message):
    with pytest.raises(ValueError, match=message):
        model.set_params(width=1.0).fit(*curve(10))


def test_a_step_that_diverges_is_warned_of():
    with pytest.warns(UserWarning, match="eta should be below 2"):
        NORMARegressor(width=1.0, eta=2.5, lam=0.01).fit(*curve(5))
