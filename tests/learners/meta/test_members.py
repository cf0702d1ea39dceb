"""Linear learners and the online Bayes point machine, on dense and sparse rows."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import clone

from bgsub._numba import JIT_ENABLED
from bgsub.learners import (
    ALMAClassifier,
    Gaussian,
    KernelPerceptron,
    Linear,
    LinearALMAClassifier,
    LinearPAClassifier,
    LMSClassifier,
    OBPMClassifier,
    PassiveAggressiveKernel,
    Perceptron,
)
from tests.learners.known import rings

SINGLE = [
    Perceptron(),
    Perceptron(margin=0.2, eta=0.5, bias=False),
    LinearALMAClassifier(),
    LinearALMAClassifier.obpm(1.1, 0.7, unit=False),
    LinearPAClassifier(),
    LinearPAClassifier(C=0.02, bias=False, unit=False),
    LMSClassifier(),
    LMSClassifier(eta=0.3, normalised=True, unit=False),
]
ENSEMBLES = [
    OBPMClassifier(n_members=40, random_state=3),
    OBPMClassifier(n_members=5, tau=0.6, margin=0.1, bias=False, random_state=3),
    OBPMClassifier(n_members=33, base="alma", unit=False, random_state=3),
    OBPMClassifier(n_members=7, renormalise=True, random_state=3),
]
KERNELS = [
    OBPMClassifier(n_members=6, kernel=Gaussian(sigma=0.7), random_state=3),
    OBPMClassifier(n_members=6, kernel=Gaussian(sigma=0.7), budget=15, base="alma", random_state=3),
]


def half_planes(n=200, d=8, seed=0):
    n = n if JIT_ENABLED else min(n, 40)
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    samples[3] = 0.0
    labels = np.where(samples @ rng.normal(size=d) + 0.3 > 0, 1, -1)
    labels[rng.random(n) < 0.05] *= -1
    return samples, labels


def state_of(model):
    return [array.tobytes() for array in model.expansion_.state().values()], model._s.tobytes(), model.n_features_in_


def split_mix(seed, count):
    """Return numbers in [0, 1) of Steele, Lea and Flood's generator, in Python's own integers."""
    mask, state, result = 2**64 - 1, seed, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        result.append(((z ^ (z >> 31)) >> 11) / 2**53)
    return np.array(result)


def plain_members(model, samples, labels):
    """Return the weights of all members and the mistakes of their mean, by a loop over members."""
    n, d = samples.shape
    rows = np.hstack([samples, np.ones((n, 1)) if model.bias else np.zeros((n, 1))])
    if model.unit:
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(length > 0, length, 1)
    size, tau = getattr(model, "n_members", 1), getattr(model, "tau", 1.0)
    draws = np.zeros((n, size))
    if 0 < tau < 1:
        seed = int(np.random.RandomState(3).randint(1, 2**31 - 1))
        draws = split_mix(seed, n * size).reshape(n, size)
    weights, counts, mistakes = np.zeros((size, d + 1)), np.ones(size), 0
    for x, y, drawn in zip(rows, labels, draws, strict=True):
        values = weights @ x
        mistakes += y * values.mean() <= 0
        length = np.linalg.norm(x)
        for j in range(size):
            if not drawn[j] < tau:
                continue
            if isinstance(model, LMSClassifier):
                step = model.eta * (y - values[j])
                weights[j] += step * x / (1e-12 + length**2 if model.normalised else 1)
            elif isinstance(model, LinearPAClassifier):
                if length > 0:
                    weights[j] += y * np.clip((1 - y * values[j]) / length**2, 0, model.C) * x
            elif isinstance(model, LinearALMAClassifier) or getattr(model, "base", "") == "alma":
                bound = 1 / model.alpha if model.B is None else model.B
                if length > 0 and y * values[j] / length <= (1 - model.alpha) * bound / np.sqrt(counts[j]):
                    weights[j] += y * model.C / np.sqrt(counts[j]) * x / length
                    weights[j] /= max(1, np.linalg.norm(weights[j]))
                    counts[j] += 1
            elif y * values[j] <= model.margin:
                weights[j] += model.eta * y * x
    return weights, mistakes


@pytest.mark.compiled
@pytest.mark.parametrize("model", [*SINGLE, *ENSEMBLES], ids=repr)
def test_equals_a_loop_over_members(model):
    samples, labels = half_planes(150)
    model = clone(model).fit(samples, labels)
    weights, mistakes = plain_members(model, samples, labels)
    each = model.expansion_.each() if hasattr(model, "n_members") else [model.expansion_.mean()]
    np.testing.assert_allclose(each, weights, atol=1e-12)
    assert model.n_mistakes_ == mistakes
    mean = weights.mean(axis=0)
    if getattr(model, "renormalise", False):
        mean /= max(1, np.linalg.norm(mean))
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), mean, atol=1e-12)
    scores = samples @ model.coef_[0] + model.intercept_
    if model.unit:
        biased = np.hstack([samples, np.full((len(samples), 1), model.bias)])
        scores = scores / np.linalg.norm(biased, axis=1).clip(1e-300)
    np.testing.assert_allclose(model.decision_function(samples), scores, atol=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("model", [*SINGLE, *ENSEMBLES], ids=repr)
def test_sparse_rows_are_the_same_as_dense_ones(model):
    samples, labels = half_planes()
    dense, sparse, columns, doubled = (clone(model) for _ in range(4))
    dense.fit(samples, labels)
    sparse.fit(csr_matrix(samples), labels)
    columns.partial_fit(csc_matrix(samples[:30]), labels[:30]).partial_fit(csr_matrix(samples[30:]), labels[30:])
    twice = csr_matrix(samples)  # each number in two parts, which scipy allows
    parts = (np.repeat(twice.data, 2) / 2, np.repeat(twice.indices, 2), twice.indptr * 2)
    doubled.fit(csr_matrix(parts, shape=samples.shape), labels)
    for other in (sparse, columns, doubled):
        assert state_of(other) == state_of(dense)
    np.testing.assert_array_equal(dense.decision_function(samples), sparse.decision_function(csr_matrix(samples)))
    np.testing.assert_array_equal(dense.predict(samples), sparse.predict(csc_matrix(samples)))


@pytest.mark.parametrize("model", [*SINGLE, *ENSEMBLES, *KERNELS], ids=repr)
def test_sample_by_sample_equals_bulk(model):
    samples, labels = half_planes(120)
    bulk, single = clone(model).fit(samples, labels), clone(model)
    mistakes = 0
    for x, y in zip(samples, labels.tolist(), strict=True):
        expected = single.score_one(x)
        score = single.learn_one(x, y)
        if not getattr(model, "renormalise", False):
            assert score == pytest.approx(expected, abs=1e-12)
        mistakes += y * score <= 0
    again = pickle.loads(pickle.dumps(bulk))  # noqa: S301
    for other in (single, again):
        assert state_of(other) == state_of(bulk)
    assert (single.t_, single.n_mistakes_) == (120, mistakes)
    np.testing.assert_array_equal(bulk.decision_function(samples), [single.score_one(x) for x in samples])
    assert bulk.score(samples, labels) > 0.6


@pytest.mark.compiled
@pytest.mark.parametrize("base", ["perceptron", "alma"])
@pytest.mark.parametrize("size", [1, 5, 40])
def test_kernel_form_equals_the_linear_form(base, size):
    samples, labels = half_planes()
    given = {"n_members": size, "base": base, "random_state": 4, "bias": False, "unit": False}
    weights = OBPMClassifier(**given).fit(samples, labels)
    fast = OBPMClassifier(**given, kernel=Linear()).fit(samples, labels)
    slow = OBPMClassifier(**given, kernel=lambda a, b: float(a @ b)).fit(samples, labels)
    for other in (fast, slow):
        assert (other.n_mistakes_, other.n_violations_) == (weights.n_mistakes_, weights.n_violations_)
        np.testing.assert_allclose(other.decision_function(samples), weights.decision_function(samples), atol=1e-12)
    np.testing.assert_allclose(fast.dual_coef_ @ fast.support_vectors_, weights.coef_, atol=1e-12)
    np.testing.assert_array_equal(fast.intercept_, [0.0])


def test_one_member_that_sees_everything_is_the_base_learner():
    samples, labels = half_planes()
    perceptron = KernelPerceptron(kernel="linear").fit(samples, labels)
    for one in (
        OBPMClassifier(n_members=1, tau=1.0, bias=False, unit=False),
        OBPMClassifier(n_members=1, tau=1.0, kernel=Linear()),
        Perceptron(bias=False, unit=False),
    ):
        np.testing.assert_allclose(
            one.fit(samples, labels).decision_function(samples), perceptron.decision_function(samples), atol=1e-12
        )
        assert (one.n_mistakes_, one.n_violations_) == (perceptron.n_mistakes_, perceptron.n_violations_)
    aggressive = PassiveAggressiveKernel(kernel="linear", C=0.1).fit(samples, labels)
    weights = LinearPAClassifier(C=0.1, bias=False, unit=False).fit(samples, labels)
    np.testing.assert_allclose(weights.decision_function(samples), aggressive.decision_function(samples), atol=1e-12)
    assert (weights.n_mistakes_, weights.n_violations_) == (aggressive.n_mistakes_, aggressive.n_violations_)
    alma = ALMAClassifier(kernel="linear").fit(samples, labels)
    linear = LinearALMAClassifier(bias=False, unit=False).fit(samples, labels)
    np.testing.assert_allclose(linear.decision_function(samples), alma.decision_function(samples), atol=1e-12)
    assert linear.n_violations_ == alma.n_corrections_


def test_draws_are_a_fraction_tau_and_depend_on_the_seed_only():
    samples, labels = half_planes(2000 if JIT_ENABLED else 200)
    models = [OBPMClassifier(n_members=50, margin=1e9, tau=0.2, random_state=seed) for seed in (0, 0, 1)]
    first, again, other = (model.fit(samples, labels) for model in models)
    assert state_of(first) == state_of(again) != state_of(other)
    assert first.n_violations_ / (50 * len(samples)) == pytest.approx(0.2, abs=0.01)
    corrections = first.expansion_.ensemble.updates.ravel()[:50]
    assert corrections.std() == pytest.approx(np.sqrt(0.16 * len(samples)), rel=0.35)
    still = OBPMClassifier(tau=0.0).fit(samples, labels)
    assert (still.n_violations_, still.n_mistakes_) == (0, len(samples))


def test_threads_change_nothing():
    samples, labels = half_planes(3000 if JIT_ENABLED else 100, 30)
    for rows in (samples, csr_matrix(samples)):
        models = [OBPMClassifier(n_jobs=jobs, random_state=0).fit(rows, labels) for jobs in (None, 2, -1)]
        assert state_of(models[0]) == state_of(models[1]) == state_of(models[2])


def test_kernel_form_learns_what_no_plane_separates():
    samples, labels = rings(600, noise=0.1)
    ensemble = OBPMClassifier(kernel="gaussian", sigma=0.7, n_members=30, random_state=0)
    single = KernelPerceptron(sigma=0.7)
    scores = [model.fit(samples[:400], labels[:400]).score(samples[400:], labels[400:]) for model in (ensemble, single)]
    assert scores[0] > scores[1]
    assert ensemble.set_params(budget=20).fit(samples, labels).n_support_ == 20


@pytest.mark.parametrize("model", [Perceptron(), LMSClassifier(), ENSEMBLES[0], KERNELS[0]], ids=repr)
def test_input_that_is_wrong_raises_and_changes_nothing(model):
    samples, labels = half_planes(60)
    model = clone(model).fit(samples, labels)
    before = state_of(model)
    good = samples[0]
    for bad, words in [
        (lambda: model.learn_one(np.full(8, np.nan), 1), "finite"),
        (lambda: model.learn_one(np.zeros(3), 1), "x must have 8 features, got 3"),
        (lambda: model.learn_one(good, 7), r"y must be one of \[-1, 1\], got 7"),
        (lambda: model.learn_one(good, [1]), r"y must be one of \[-1, 1\], got \[1\]"),
        (lambda: model.partial_fit([np.full(8, np.inf)], [1]), "infinity"),
        (lambda: model.partial_fit([np.full(8, 1e200)], [1]), "must be scaled"),
        (lambda: model.partial_fit([good, good], [1, 7]), "y must hold only the classes"),
        (lambda: model.partial_fit(np.zeros((0, 8)), []), "0 sample"),
    ]:
        with pytest.raises(ValueError, match=words):
            bad()
        assert state_of(model) == before
    sparse = csr_matrix([[1e200] + [0.0] * 7])
    with pytest.raises(ValueError, match="must be scaled"):
        model.partial_fit(sparse, [1])
    with pytest.raises(ValueError, match=r"infinity|NaN"):
        model.partial_fit(csr_matrix([[np.nan] + [0.0] * 7]), [1])
    assert state_of(model) == before


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Perceptron(margin=-1.0), "margin must not be negative, got -1.0"),
        (Perceptron(eta=0.0), "eta must be positive, got 0.0"),
        (LinearALMAClassifier(alpha=1.0), r"alpha must be in \[0, 1\), got 1.0"),
        (LinearALMAClassifier(alpha=0.0), "B must be given where alpha is 0"),
        (LinearALMAClassifier(C=0.0), "C must be positive, got 0.0"),
        (LinearPAClassifier(C=0.0), "C must be positive, got 0.0"),
        (LMSClassifier(eta=-1.0), "eta must be positive, got -1.0"),
        (LMSClassifier(eta=2.0), "eta must be below 2"),
        (OBPMClassifier(n_members=0), "n_members must be an integer of at least 1, got 0"),
        (OBPMClassifier(tau=1.5), r"tau must be in \[0, 1\], got 1.5"),
        (OBPMClassifier(base="svm"), "base must be one of 'perceptron', 'alma', got 'svm'"),
        (OBPMClassifier(margin=-1.0), "margin must not be negative"),
        (OBPMClassifier(eta=0.0), "eta must be positive"),
        (OBPMClassifier(base="alma", alpha=0.0), "B must be given where alpha is 0"),
        (OBPMClassifier(n_jobs=0), "n_jobs must be None, -1 or an integer of at least 1, got 0"),
        (OBPMClassifier(dtype="float32"), "dtype must be 'float64' where kernel is 'linear', got 'float32'"),
        (OBPMClassifier(kernel="gaussian", renormalise=True), "renormalise must be False unless kernel is 'linear'"),
        (OBPMClassifier(kernel="gaussian", budget=0), "budget must be None or an integer of at least 1, got 0"),
    ],
)
def test_wrong_parameters_are_named(model, message):
    samples, labels = half_planes(20)
    with pytest.raises(ValueError, match=message):
        model.fit(samples, labels)
    assert not hasattr(model, "expansion_")


def test_weights_are_there_only_where_they_are():
    samples, labels = half_planes(40)
    model = OBPMClassifier(kernel="gaussian").fit(samples, labels)
    assert not hasattr(model, "coef_")


def test_long_samples_do_not_make_lms_diverge():
    samples, labels = half_planes(200)
    model = LMSClassifier(eta=5.0, unit=False).fit(1e6 * samples, labels)
    assert np.isfinite(model.coef_).all()
    assert np.abs(model.decision_function(1e6 * samples)).max() < 1e6
