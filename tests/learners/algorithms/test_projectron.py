"""Projectron: relations to the perceptron, the factor, and published runs."""

import numpy as np
import pytest

from bgsub._numba import JIT_ENABLED
from bgsub.learners import Gaussian, KernelPerceptron, Linear, PassiveAggressiveKernel, Polynomial, ProjectronClassifier
from tests.learners.files import adult, digits, german
from tests.learners.known import rings
from tests.marks import needs_compiler

DEGREE13 = {"kernel": "polynomial", "degree": 13, "gamma": 0.5, "coef0": 0.5}


@pytest.fixture(scope="module", name="adult")
def load_adult():
    return adult()


@pytest.fixture(scope="module", name="digits")
def load_digits():
    samples, labels = digits()
    return samples / np.linalg.norm(samples, axis=1, keepdims=True), labels


@needs_compiler
@pytest.mark.parametrize(
    ("margin", "mistakes", "vectors"), [("none", 6691, 785), ("published", 6516, 779), ("experiments", 5958, 737)]
)
def test_runs_on_adult(adult, margin, mistakes, vectors):
    model = ProjectronClassifier(gamma=0.04, eta=0.1, eta_on="squared", margin=margin).fit(*adult)
    assert (model.n_mistakes_, model.n_support_) == (mistakes, vectors)


@pytest.mark.parametrize(
    ("margin", "eta", "mistakes", "vectors"),
    [("none", 0.1, 331, 116), ("none", 0.02, 329, 293), ("published", 0.1, 334, 116), ("published", 0.02, 326, 292)],
)
def test_runs_on_german(margin, eta, mistakes, vectors):
    samples, labels = german()
    if not JIT_ENABLED:
        pytest.skip("plain Python kernels are slow")
    model = ProjectronClassifier(sigma=8.0, eta=eta, margin=margin).fit(samples, labels)
    assert (model.n_mistakes_, model.n_support_) == (mistakes, vectors)


@needs_compiler
def test_runs_on_digits_of_ten_classes(digits):
    assert KernelPerceptron(**DEGREE13).fit(*digits).n_mistakes_ == 468
    passive_aggressive = PassiveAggressiveKernel(**DEGREE13).fit(*digits)
    assert passive_aggressive.n_mistakes_ / 7291 == pytest.approx(0.037, abs=0.003)


def test_without_tolerance_it_is_the_perceptron_with_fewer_vectors():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(600, 2))
    labels = np.where(rng.random(600) < 0.5, 1, -1)  # about 300 mistakes
    projectron = ProjectronClassifier(gamma=0.5, eta=0.0)
    perceptron = KernelPerceptron(gamma=0.5)
    for x, y in zip(samples, labels, strict=True):
        expected = perceptron.learn_one(x, int(y))
        score = projectron.learn_one(x, int(y))
        if 0 < abs(expected) < 1e-5:
            break
        assert score == pytest.approx(expected, abs=1e-5)
    assert perceptron.t_ > 250
    assert projectron.n_support_ < 0.8 * perceptron.n_support_


def test_linear_kernel_needs_no_more_vectors_than_features():
    rng = np.random.default_rng(1)
    samples = rng.normal(size=(500, 5))
    labels = np.where(samples @ rng.normal(size=5) + rng.normal(size=500) > 0, 1, -1)
    projectron = ProjectronClassifier(kernel=Linear(), eta=0.0).fit(samples, labels)
    perceptron = KernelPerceptron(kernel=Linear()).fit(samples, labels)
    assert projectron.n_support_ <= 5 < perceptron.n_support_
    assert projectron.n_mistakes_ == perceptron.n_mistakes_
    scores = perceptron.decision_function(samples)
    np.testing.assert_allclose(projectron.decision_function(samples), scores, atol=1e-10 * np.abs(scores).max())


@pytest.mark.compiled
@pytest.mark.parametrize("factor", ["triangular", "inverse"])
def test_factor_is_that_of_the_gram_matrix(factor):
    samples, labels = rings(400)
    model = ProjectronClassifier(sigma=0.7, eta=0.05, factor=factor).fit(samples, labels)
    size = model.n_support_
    stored = model.expansion_.arrays.factors[0, :size, :size]
    gram = model.expansion_.kernel.matrix(model.support_vectors_, model.support_vectors_)
    lower = np.tril(stored)
    product = lower @ lower.T if factor == "triangular" else np.linalg.inv(stored)
    np.testing.assert_allclose(product, gram, atol=1e-10 if factor == "triangular" else 1e-6)


@pytest.mark.parametrize("margin", ["published", "experiments", "bounded"])
def test_margin_updates_never_change_the_set_and_help(margin):
    samples, labels = rings(600)
    model = ProjectronClassifier(sigma=0.7, eta=0.3, margin=margin, U=None if margin != "bounded" else 3.0)
    vectors = 0
    for x, y in zip(samples, labels, strict=True):
        mistakes, size = (model.n_mistakes_, model.n_support_) if vectors else (0, 0)
        model.learn_one(x, int(y))
        if vectors and model.n_mistakes_ == mistakes:
            assert model.n_support_ == size
        vectors = model.n_support_
    assert model.n_margin_updates_ > 20
    plain = ProjectronClassifier(sigma=0.7, eta=0.3).fit(samples, labels)
    assert model.n_mistakes_ < plain.n_mistakes_


def test_mistakes_on_separable_data_are_bounded():
    rng = np.random.default_rng(2)
    direction = np.array([0.6, 0.8])
    samples = rng.uniform(-1, 1, size=(3000, 2))
    samples = samples[np.abs(samples @ direction) > 0.1]
    samples /= np.linalg.norm(samples, axis=1).max()
    labels = np.where(samples @ direction > 0, 1, -1)
    norm = 1 / np.abs(samples @ direction).min()
    for eta in (0.0, 0.5 / norm):
        model = ProjectronClassifier(kernel=Linear(), eta=eta).fit(samples, labels)
        assert model.n_mistakes_ <= norm**2 / (1 - eta * norm) ** 2


def test_squared_eta_is_the_norm_of_its_root():
    samples, labels = rings(400)
    squared = ProjectronClassifier(sigma=0.7, eta=0.04, eta_on="squared", margin="published").fit(samples, labels)
    norm = ProjectronClassifier(sigma=0.7, eta=0.2, margin="published").fit(samples, labels)
    np.testing.assert_allclose(squared.dual_coef_, norm.dual_coef_, rtol=1e-12)


def test_factor_stays_right_where_the_inverse_fails():
    rng = np.random.default_rng(3)
    samples = rng.normal(size=(700, 2))
    labels = np.where(rng.random(700) < 0.5, 1, -1)
    model = ProjectronClassifier(gamma=0.5, eta=0.0).fit(samples, labels)
    gram = model.expansion_.kernel.matrix(model.support_vectors_, model.support_vectors_)
    factor = model.expansion_.arrays.factors[0, : model.n_support_, : model.n_support_]
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, gram, atol=1e-10)


def test_budget_bounds_the_vectors():
    samples, labels = rings(400, noise=0.2)
    model = ProjectronClassifier(sigma=0.3, eta=0.01, budget=20).fit(samples, labels)
    assert model.n_support_ == 20


def several_classes(n=500, seed=0):
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(n, 2))
    return samples, np.digitize(np.hypot(*samples.T), [0.8, 1.6])


@pytest.mark.compiled
@pytest.mark.parametrize("eta_on", ["norm", "squared"])
@pytest.mark.parametrize("margin", ["none", "published"])
def test_several_classes_equal_a_plain_loop(eta_on, margin):
    samples, labels = several_classes(250)
    kernel, eta = Gaussian(sigma=0.6), 0.3
    model = ProjectronClassifier(kernel=kernel, eta=eta, eta_on=eta_on, margin=margin)
    model.partial_fit(samples[:1], labels[:1], classes=[0, 1, 2])
    sets = {q: ([], []) for q in range(3)}
    eta2 = eta if eta_on == "squared" else eta**2

    def score(q, x):
        return sum(a * kernel.row(s[None], x)[0] for s, a in zip(*sets[q], strict=True))

    def learn(x, y):
        scores = np.array([score(q, x) for q in range(3)])
        others = [q for q in range(3) if q != y]
        rival = max(others, key=lambda q: (scores[q], -q))
        z = scores[y] - scores[rival]
        found = {}
        for q in (y, rival):
            vectors = np.array(sets[q][0]).reshape(-1, 2)
            row = kernel.row(vectors, x)
            d = np.linalg.solve(kernel.matrix(vectors, vectors), row) if len(vectors) else row
            found[q] = (d, row @ d, max(0.0, 1 - row @ d))
        pk, delta2 = (sum(found[q][i] for q in (y, rival)) for i in (1, 2))
        some = all(sets[q][0] for q in (y, rival))
        if z <= 0:
            near = delta2 <= eta2 if eta_on == "norm" else all(found[q][2] <= eta2 for q in (y, rival))
            for q, sign in ((y, 1.0), (rival, -1.0)):
                if near and some:
                    sets[q] = (sets[q][0], list(np.array(sets[q][1]) + sign * found[q][0]))
                else:
                    sets[q] = ([*sets[q][0], x], [*sets[q][1], sign])
        elif margin == "published" and z < 1 and some:
            loss, cut = 1 - z, np.sqrt(delta2 / eta2)
            if loss > cut:
                tau = min(loss / pk, 2 * (loss - cut) / pk, 1.0)
                for q, sign in ((y, 1.0), (rival, -1.0)):
                    sets[q] = (sets[q][0], list(np.array(sets[q][1]) + sign * tau * found[q][0]))
        return z

    learn(samples[0], int(labels[0]))
    for x, y in zip(samples[1:], labels[1:], strict=True):
        assert model.learn_one(x, int(y)) == pytest.approx(learn(x, int(y)), abs=1e-9)
    for x in samples[:5]:
        np.testing.assert_allclose(model.score_one(x), [score(q, x) for q in range(3)], atol=1e-9)
    assert model.n_support_ == sum(len(s[0]) for s in sets.values())
    rows = model.expansion_.kernel.row(model.support_vectors_, samples[3])
    np.testing.assert_allclose(model.dual_coef_ @ rows, model.score_one(samples[3]), atol=1e-12)


@pytest.mark.parametrize("labels", ["two", "three"])
def test_average_is_the_mean_of_all_hypotheses(labels):
    samples, y = rings(200) if labels == "two" else several_classes(200)
    model = ProjectronClassifier(sigma=0.6, eta=0.3, margin="published", average=True)
    grid = np.random.default_rng(3).normal(size=(10, 2))
    model.partial_fit(samples[:1], y[:1], classes=np.unique(y))
    total = model.expansion_.values(grid)
    for x, label in zip(samples[1:], y[1:], strict=True):
        model.learn_one(x, int(label))
        total = total + model.expansion_.values(grid)
    np.testing.assert_allclose(model.decision_function(grid), total / 200, rtol=1e-9, atol=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("model", [KernelPerceptron(), PassiveAggressiveKernel(C=0.3), ProjectronClassifier(eta=0.3)])
@pytest.mark.parametrize("kernel", [Gaussian(sigma=0.6), Polynomial(degree=2, gamma=0.5)], ids=repr)
def test_several_classes_are_the_same_compiled_and_plain(model, kernel):
    samples, labels = several_classes(200 if JIT_ENABLED else 40)
    fast = model.set_params(kernel=kernel).fit(samples, labels)
    scores, mistakes = fast.decision_function(samples), fast.n_mistakes_
    slow = model.set_params(kernel=lambda a, b: float(kernel.row(a[None], b)[0])).fit(samples, labels)
    np.testing.assert_allclose(scores, slow.decision_function(samples), atol=1e-9)
    assert mistakes == slow.n_mistakes_
    assert scores.shape == (len(samples), 3)


@pytest.mark.parametrize("evict", ["oldest", "smallest", "random"])
def test_several_classes_on_a_budget(evict):
    samples, labels = several_classes(400)
    given = {"sigma": 0.6, "budget": 30, "evict": evict, "random_state": 1}
    model = KernelPerceptron(**given).fit(samples, labels)
    assert model.n_support_ == 30
    assert model.dual_coef_.shape == (3, 30)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0, atol=1e-15)
    rows = model.expansion_.kernel.row(model.support_vectors_, samples[0])
    np.testing.assert_allclose(model.dual_coef_ @ rows, model.score_one(samples[0]), atol=1e-12)
