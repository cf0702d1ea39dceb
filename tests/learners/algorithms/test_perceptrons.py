"""Perceptron, PA-I, RBP, Forgetron, ALMA: known relations, invariants and published runs."""

import numpy as np
import pytest
from scipy.optimize import brentq

from bgsub._numba import JIT_ENABLED
from bgsub.learners import (
    ALMAClassifier,
    ForgetronClassifier,
    KernelPerceptron,
    NORMAClassifier,
    OLKClassifier,
    PassiveAggressiveKernel,
    RBPClassifier,
)
from tests.learners.files import adult, german, learning_file
from tests.learners.known import rings
from tests.marks import needs_compiler


@pytest.fixture(scope="module", name="adult")
def load_adult():
    return adult()


@pytest.fixture(scope="module", name="german")
def load_german():
    return german()


@pytest.mark.parametrize(
    ("data", "model", "mistakes", "vectors"),
    [
        ("adult", KernelPerceptron(gamma=0.04), 6691, 6691),
        ("adult", KernelPerceptron(gamma=0.01), 6887, 6887),
        ("adult", PassiveAggressiveKernel(gamma=0.04), 5759, 12515),
        ("adult", ForgetronClassifier(gamma=0.04, variant="basic"), 11003, 100),
        ("german", KernelPerceptron(sigma=8.0), 329, 329),
        ("german", PassiveAggressiveKernel(sigma=8.0), 293, 660),
        ("german", ForgetronClassifier(sigma=8.0), 367, 100),
        ("german", ForgetronClassifier(sigma=8.0, variant="basic"), 416, 100),
    ],
    ids=repr,
)
def test_known_runs(data, model, mistakes, vectors, request):
    if data == "adult" and not JIT_ENABLED:
        pytest.skip("plain Python kernels are slow")
    model.fit(*request.getfixturevalue(data))
    assert (model.n_mistakes_, model.n_support_) == (mistakes, vectors)


@needs_compiler
def test_self_tuned_forgetron_on_adult_depends_on_the_last_bits_of_the_kernel(adult):
    """A change of gamma by 1e-15 moves the count; runs of other programs are among these."""
    counts = {ForgetronClassifier(gamma=0.04 * (1 + k * 1e-15)).fit(*adult).n_mistakes_ for k in range(-4, 5)}
    assert 8020 <= min(counts) < max(counts) <= 8120


@needs_compiler
@pytest.mark.parametrize(
    ("model", "mistakes"),
    [(KernelPerceptron(), 7078), (PassiveAggressiveKernel(), 6072), (ForgetronClassifier(), 7632)],
)
def test_runs_on_german_in_the_published_orders(model, mistakes):
    data = np.load(learning_file("german_permutations.npz"))
    samples, labels = data["x_raw"].astype(float), data["y"].astype(int)
    model.set_params(sigma=8.0)
    assert sum(model.fit(samples[order], labels[order]).n_mistakes_ for order in data["permutations"]) == mistakes


def test_norma_without_forgetting_is_the_perceptron():
    samples, labels = rings()
    for margin, eta in ((0.0, 1.0), (0.4, 0.2)):
        norma = NORMAClassifier(sigma=0.6, eta=eta, lam=0.0, rho=margin, budget=None).fit(samples, labels)
        perceptron = KernelPerceptron(sigma=0.6, margin=margin, eta=eta).fit(samples, labels)
        np.testing.assert_array_equal(norma.dual_coef_, perceptron.dual_coef_)


def test_olk_without_forgetting_is_passive_aggressive():
    samples, labels = rings()
    olk = OLKClassifier(sigma=0.6, r=0.0, C=0.3, budget=None).fit(samples, labels)
    np.testing.assert_array_equal(
        olk.dual_coef_, PassiveAggressiveKernel(sigma=0.6, C=0.3).fit(samples, labels).dual_coef_
    )


def test_passive_aggressive_step_reaches_the_margin_or_its_bound():
    samples, labels = rings()
    model = PassiveAggressiveKernel(sigma=0.6, C=0.5)
    for x, y in zip(samples, labels, strict=True):
        before = y * model.learn_one(x, int(y))
        after = y * model.score_one(x)
        assert after == pytest.approx(max(before, min(1.0, before + 0.5)), abs=1e-12)


def test_random_budget_perceptron_is_the_perceptron_until_full():
    samples, labels = rings()
    plain = KernelPerceptron(sigma=0.6).fit(samples[:100], labels[:100])
    room = RBPClassifier(sigma=0.6, budget=plain.n_support_ + 1, random_state=0).fit(samples[:100], labels[:100])
    np.testing.assert_array_equal(plain.dual_coef_, room.dual_coef_)
    runs = [RBPClassifier(sigma=0.6, budget=10, random_state=s).fit(samples, labels).dual_coef_ for s in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()
    assert set(np.unique(runs)) == {-1.0, 1.0}


def gram(model):
    return model.expansion_.kernel.matrix(model.support_vectors_, model.support_vectors_)


@pytest.mark.parametrize("alma", [ALMAClassifier(), ALMAClassifier.projectron(), ALMAClassifier.obpm(2.0, 1.4)])
def test_alma_stays_in_the_unit_ball_and_knows_its_norm(alma):
    samples, labels = rings(150)
    alma.set_params(kernel="polynomial", degree=2, gamma=0.3)
    for start in range(0, 150, 10):
        alma.partial_fit(samples[start : start + 10], labels[start : start + 10], classes=[-1, 1])
        a = alma.dual_coef_[0]
        assert alma.norm2_ == pytest.approx(a @ gram(alma) @ a, rel=1e-9, abs=1e-12)
        assert alma.norm2_ <= 1 + 1e-12


def test_alma_skips_samples_that_say_nothing():
    model = ALMAClassifier(kernel="linear")
    model.learn_one(np.zeros(2), 1)
    assert (model.n_support_, model.t_, model.n_corrections_) == (0, 1, 0)


@pytest.mark.parametrize("variant", ["self-tuned", "basic"])
def test_forgetron_shrinks_as_little_as_it_may(variant):
    samples, labels = rings(300, noise=0.2)
    model = ForgetronClassifier(sigma=0.6, budget=8, variant=variant)
    removals = 0
    for x, y in zip(samples, labels, strict=True):
        full = model.n_support_ == 8 if hasattr(model, "expansion_") else False
        before = model.dual_coef_[0].copy() if full else None
        vectors = model.support_vectors_.copy() if full else None
        mistakes, cost = (model.n_mistakes_, model.cost_) if full else (0, 0.0)
        model.learn_one(x, int(y))
        a = model.dual_coef_[0]
        assert model.norm2_ == pytest.approx(a @ gram(model) @ a, rel=1e-9)
        assert model.n_support_ <= 8
        if not full or model.n_mistakes_ == mistakes:
            continue
        removals += 1
        phi = a[-1] * y
        assert 0 < phi <= 1
        np.testing.assert_allclose(a[:-1], phi * before[1:], rtol=1e-12)
        if variant == "basic":
            continue
        row = model.expansion_.kernel.row(np.vstack([vectors, x]), vectors[0])
        mu = np.sign(before[0]) * float(row @ np.append(before, y))
        size = abs(before[0])

        def excess(p, size=size, mu=mu, cost=cost):
            return (size**2 - 2 * size * mu) * p * p + 2 * size * p + cost - 15 / 32 * model.n_mistakes_

        grid = np.linspace(0, 1, 4001)[1:]
        allowed = grid[[excess(p) <= 1e-12 for p in grid]]
        assert allowed.max() == pytest.approx(phi, abs=3e-4)
        if phi < 1 - 1e-9:
            assert brentq(excess, 0, 1) == pytest.approx(phi, abs=1e-9)
        assert model.cost_ <= 15 / 32 * model.n_mistakes_ + 1e-9
    assert removals > 20


@pytest.mark.parametrize(
    "model",
    [
        KernelPerceptron(),
        PassiveAggressiveKernel(),
        ALMAClassifier(),
        OLKClassifier(r=0.1),
        NORMAClassifier(eta=0.3, lam=1.0, offset=True),
    ],
    ids=repr,
)
def test_average_is_the_mean_of_all_hypotheses(model):
    samples, labels = rings(300)
    model.set_params(sigma=0.6, average=True, budget=None)
    grid = np.random.default_rng(3).normal(size=(10, 2))
    total = np.zeros(10)
    for t, (x, y) in enumerate(zip(samples, labels, strict=True), 1):
        model.learn_one(x, int(y))
        total += model.expansion_.values(grid) + model._s["offset"]
        if t % 60 == 0:
            np.testing.assert_allclose(model.decision_function(grid), total / t, rtol=1e-9, atol=1e-10)
    assert model.score_one(grid[0]) == pytest.approx(total[0] / 300, rel=1e-8)
    assert model.dual_coef_[0] @ model.expansion_.kernel.row(model.support_vectors_, grid[1]) + model.intercept_[
        0
    ] == pytest.approx(total[1] / 300, rel=1e-8)


def test_nu_is_the_share_of_margin_errors():
    samples, labels = rings(3000)
    model = NORMAClassifier(sigma=0.6, nu=0.25, eta=0.02, lam=1.0, rho=0.0, offset=True).fit(samples, labels)
    assert model.n_violations_ / 3000 == pytest.approx(0.25 - model.rho_ / (0.02 * 3000), abs=1e-12)
    printed = NORMAClassifier(sigma=0.6, nu=0.25, eta=0.02, lam=1.0, rho=0.0, rho_sign="printed").fit(samples, labels)
    assert printed.n_violations_ / 3000 < 0.01 or printed.n_violations_ / 3000 > 0.99
