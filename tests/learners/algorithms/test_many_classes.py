"""NORMA, OLK and ALMA with more than two classes, against loops over one weight vector per class."""

import numpy as np
import pytest
from sklearn.base import clone

from bgsub.learners import (
    ALMAClassifier,
    CallableKernel,
    KernelPerceptron,
    NORMAClassifier,
    OLKClassifier,
    PassiveAggressiveKernel,
    SVMDClassifier,
    load,
    save,
)
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled

CLASSES = 4


def stream(n=120, seed=0):
    """Return samples of four classes, around the corners of a square, with some labels wrong."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=n)
    samples = np.stack([labels % 2, labels // 2], axis=1) * 2.0 - 1 + rng.normal(0, 0.6, size=(n, 2))
    return samples, np.where(rng.random(n) < 0.05, (labels + 1) % CLASSES, labels)


def pair(weights, x, right):
    """Return the best wrong class, and by how much the right one leads it."""
    scores = weights @ x
    order = np.argsort(-scores, kind="stable")
    rival = order[order != right][0]
    return rival, scores[right] - scores[rival]


def norma(samples, labels, importance, eta=0.2, lam=0.05, rho=0.5, nu=None):
    """Subgradient steps on lam/2 |W|² + max(0, rho - lead) - nu rho."""
    weights = np.zeros((CLASSES, samples.shape[1]))
    for x, y, weight in zip(samples, labels, importance, strict=True):
        rival, lead = pair(weights, x, y)
        gradient = np.zeros_like(weights)
        if lead <= rho:
            gradient[y], gradient[rival] = -x, x
        if nu is not None:
            rho -= eta * weight * ((lead <= rho) - nu)
        weights = (1 - eta * lam) * weights - eta * weight * gradient
    return weights, rho


def olk(samples, labels, importance, r=0.05, C=0.3):  # noqa: N803
    """Minimise |W - W_t|²/2 + r |W|²/2 + C max(0, 1 - lead) by its dual: a grid, then halving intervals."""
    weights = np.zeros((CLASSES, samples.shape[1]))
    for x, y, weight in zip(samples, labels, importance, strict=True):
        rival, _ = pair(weights, x, y)
        direction = np.zeros_like(weights)
        direction[y], direction[rival] = x, -x

        def lead_with(alpha, old=weights, direction=direction):
            return ((old + alpha * direction) / (1 + r) * direction).sum()

        low, high = 0.0, C * weight
        if lead_with(low) >= 1:
            high = low
        elif lead_with(high) <= 1:
            low = high
        for _ in range(60):  # the lead grows with alpha: where it is 1, the derivative of the dual is 0
            middle = (low + high) / 2
            low, high = (low, middle) if lead_with(middle) > 1 else (middle, high)
        weights = (weights + high * direction) / (1 + r)
    return weights


def alma(samples, labels, importance, alpha=0.5, B=2.0, C=1.4):  # noqa: N803
    """Gentile's loop over the samples of Kesler's construction, each of length 1."""
    w, q = np.zeros(CLASSES * samples.shape[1]), 1
    for x, y, weight in zip(samples, labels, importance, strict=True):
        rival, _ = pair(w.reshape(CLASSES, -1), x, y)
        z = np.zeros((CLASSES, len(x)))
        z[y], z[rival] = x, -x
        z = z.ravel() / np.linalg.norm(z)
        if w @ z <= (1 - alpha) * B / np.sqrt(q):
            w = w + C * weight / np.sqrt(q) * z
            w /= max(1.0, np.linalg.norm(w))
            q += 1
    return w.reshape(CLASSES, -1), q


def weights_of(model):
    return model.dual_coef_ @ model.support_vectors_


WEIGHED = [np.ones(120), np.random.default_rng(5).uniform(0.2, 2.0, 120)]


@pytest.mark.parametrize("importance", WEIGHED, ids=["alike", "weighted"])
@pytest.mark.parametrize(("eta", "lam", "nu"), [(0.2, 0.05, None), (0.2, 0.05, 0.3), (0.4, 0.5, None)])
def test_norma_follows_the_gradient_of_the_multiclass_hinge(importance, eta, lam, nu):
    samples, labels = stream()
    expected, rho = norma(samples, labels, importance, eta, lam, nu=nu)
    model = NORMAClassifier(kernel="linear", eta=eta, lam=lam, rho=0.5, nu=nu, budget=None)
    model.fit(samples, labels, sample_weight=importance)
    np.testing.assert_allclose(weights_of(model), expected, rtol=1e-9, atol=1e-12)
    assert model.rho_ == pytest.approx(rho, rel=1e-12)


@pytest.mark.parametrize("importance", WEIGHED, ids=["alike", "weighted"])
def test_olk_minimises_its_risk_at_each_step(importance):
    samples, labels = stream()
    model = OLKClassifier(kernel="linear", r=0.05, C=0.3, budget=None).fit(samples, labels, sample_weight=importance)
    np.testing.assert_allclose(weights_of(model), olk(samples, labels, importance), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("importance", WEIGHED, ids=["alike", "weighted"])
def test_alma_is_gentiles_on_kesler_s_samples(importance):
    samples, labels = stream()
    expected, q = alma(samples, labels, importance)
    model = ALMAClassifier(kernel="linear", alpha=0.5, B=2.0, C=1.4).fit(samples, labels, sample_weight=importance)
    np.testing.assert_allclose(weights_of(model), expected, rtol=1e-9, atol=1e-12)
    assert model.n_corrections_ == q - 1
    assert model.norm2_ == pytest.approx((expected**2).sum(), rel=1e-9)


ALL = [
    NORMAClassifier(sigma=0.7, eta=0.3, lam=0.02, rho=0.4),
    NORMAClassifier(sigma=0.7, eta=0.3, lam=0.02, nu=0.2, rho=0.0),
    NORMAClassifier(sigma=0.7, eta=0.3, lam=0.02, budget=20, evict="smallest"),
    NORMAClassifier(sigma=0.7, eta=0.3, schedule="sqrt", average=True),
    OLKClassifier(sigma=0.7, r=0.05),
    OLKClassifier(sigma=0.7, r=0.3, thr_sv=0.01),
    OLKClassifier(sigma=0.7, r=0.3, thr_sv=0.02, budget=15),
    ALMAClassifier(sigma=0.7, average=True),
    ALMAClassifier(sigma=0.7, budget=10),
]


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_compiled_loop_single_samples_and_plain_numpy_agree(model):
    samples, labels = stream()
    whole = clone(model).fit(samples, labels)
    single = clone(model).start(2, range(CLASSES))
    leads = [single.learn_one(x, y) for x, y in zip(samples, labels.tolist(), strict=True)]
    gauss = CallableKernel(lambda a, b: np.exp(-((a - b) ** 2).sum() / (2 * 0.7**2)))
    plain = clone(model).set_params(kernel=gauss, sigma=None).fit(samples, labels)
    for other in (single, plain):
        np.testing.assert_allclose(other.decision_function(samples), whole.decision_function(samples), atol=1e-9)
        np.testing.assert_allclose(other.support_vectors_, whole.support_vectors_)
        assert (other.n_mistakes_, other.n_violations_) == (whole.n_mistakes_, whole.n_violations_)
    assert whole.n_mistakes_ == sum(lead <= 0 for lead in leads)


@needs_compiler
@pytest.mark.parametrize("model", [ALL[0], ALL[4], ALL[7]], ids=repr)
def test_classes_are_learned(model):
    """The best possible rule is right in 86 % of the samples, where the nearest corner of the square decides."""
    samples, labels = stream(1000)
    nearest = (samples[:, 0] > 0) + 2 * (samples[:, 1] > 0)
    best = (nearest == labels)[800:].mean()
    assert clone(model).fit(samples[:800], labels[:800]).score(samples[800:], labels[800:]) > 0.9 * best


@pytest.mark.parametrize("budget", [None, 15])
def test_thresholds_drop_vectors_whose_coefficients_are_all_small(budget):
    """Those that stay keep the order of their age, with a ring that has turned as well."""
    samples, labels = stream()
    model = OLKClassifier(sigma=0.7, r=0.3, thr_sv=0.02, budget=budget).start(2, range(CLASSES))
    kept, coefficients = np.empty((0, 2)), np.empty((0, CLASSES))
    for x, y in zip(samples, labels.tolist(), strict=True):
        f = np.exp(-((kept - x) ** 2).sum(axis=1) / (2 * 0.7**2)) @ coefficients
        others = np.delete(np.arange(CLASSES), y)
        rival = others[np.argmax(f[others])]
        alpha = np.clip((1.3 - f[y] + f[rival]) / 2, 0, 0.8)
        coefficients = coefficients / 1.3
        if alpha > 0:
            row = np.zeros((1, CLASSES))
            row[0, [y, rival]] = alpha / 1.3, -alpha / 1.3
            kept, coefficients = (
                np.vstack([kept, [x]])[-(budget or 999) :],
                np.vstack([coefficients, row])[-(budget or 999) :],
            )
        large = np.abs(coefficients).max(axis=1, initial=0) >= 0.02
        kept, coefficients = kept[large], coefficients[large]
        model.learn_one(x, y)
        np.testing.assert_allclose(model.support_vectors_, kept)
        np.testing.assert_allclose(model.dual_coef_.T, coefficients, atol=1e-12)


def test_norma_is_svmd_without_its_adaptation():
    samples, labels = stream()
    model = NORMAClassifier(sigma=0.7, eta=0.2, lam=0.03, rho=1.0, budget=None).fit(samples, labels)
    other = SVMDClassifier(sigma=0.7, schedule="constant", eta_0=0.2, c=0.03, budget=None).fit(samples, labels)
    np.testing.assert_allclose(model.decision_function(samples), other.decision_function(samples), atol=1e-12)


def test_olk_without_forgetting_is_passive_aggressive_and_norma_without_margin_a_perceptron():
    samples, labels = stream()
    for model, other in (
        (OLKClassifier(sigma=0.7, r=0.0, C=0.5, budget=None), PassiveAggressiveKernel(sigma=0.7, C=0.5)),
        (NORMAClassifier(sigma=0.7, eta=1.0, lam=0.0, rho=0.0, budget=None), KernelPerceptron(sigma=0.7)),
    ):
        first, second = (each.fit(samples, labels).decision_function(samples) for each in (model, other))
        np.testing.assert_array_equal(first, second)


@needs_compiler
@pytest.mark.parametrize("kind", [NORMAClassifier, OLKClassifier])
def test_memory_is_bounded_unless_asked_otherwise(kind):
    """The order of base classes decides which default counts."""
    rng = np.random.default_rng(0)
    samples, labels = rng.normal(size=(1200, 2)), rng.integers(2, size=1200)
    assert kind(sigma=0.3).fit(samples, labels).n_support_ == kind().budget == 512
    assert kind(sigma=0.3, budget=None).fit(samples, labels).n_support_ > 512


def test_an_offset_is_of_two_classes():
    samples, labels = stream()
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        NORMAClassifier(sigma=0.7, offset=True).fit(samples, labels)


@pytest.mark.parametrize("model", [ALL[2], ALL[6], ALL[8]], ids=repr)
def test_files_continue_with_the_same_bits(model, tmp_path):
    samples, labels = stream()
    model = clone(model).fit(samples[:60], labels[:60])
    save(model, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    for each in (model, again):
        each.partial_fit(samples[60:], labels[60:])
    np.testing.assert_array_equal(model.decision_function(samples), again.decision_function(samples))


def test_a_coefficient_as_large_as_the_threshold_stays():
    """Coefficients are 1/2, then half of it at each step: the second is 1/4 when the first falls below."""
    model = OLKClassifier(kernel="linear", r=1.0, C=1.0, thr_sv=0.25).start(3, [0, 1, 2])
    model.partial_fit(np.eye(3), [0, 1, 2])
    np.testing.assert_array_equal(np.abs(model.dual_coef_).max(axis=0), [0.25, 0.5])
