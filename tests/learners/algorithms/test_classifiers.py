"""What holds for every classifier, and their known answers."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from bgsub._numba import JIT_ENABLED
from bgsub.learners import (
    ALMAClassifier,
    CallableKernel,
    ForgetronClassifier,
    Gaussian,
    KernelPerceptron,
    Laplacian,
    Linear,
    NORMAClassifier,
    OLKClassifier,
    PassiveAggressiveKernel,
    Polynomial,
    ProjectronClassifier,
    RBPClassifier,
    SVMDClassifier,
)
from tests.learners.known import LABELS, STREAM, answers, rings

KNOWN = [
    (KernelPerceptron(), 5, [0.8426425230, -0.5350104972], {"n_mistakes_": 5}),
    (PassiveAggressiveKernel(C=0.5), 14, [0.5334648906, -1.2462257576], {}),
    (NORMAClassifier(eta=0.2, lam=0.1, rho=1.0), 27, [0.2984957406, -1.3030944651], {"n_violations_": 27}),
    (
        NORMAClassifier(eta=0.2, lam=0.1, rho=1.0, offset=True),
        27,
        [0.0882545413, -1.5050448748],
        {"intercept_": -0.2},
    ),
    (NORMAClassifier(eta=0.2, lam=0.1, rho=1.0, schedule="sqrt"), 37, [0.1503066454, -0.6852780839], {}),
    (
        NORMAClassifier(eta=0.2, nu=0.3, lam=1.0, offset=True, rho=0.0),
        11,
        [-0.2195889476, -0.3447572064],
        {"rho_": 0.02, "intercept_": -0.2, "n_violations_": 11},
    ),
    (
        ALMAClassifier.projectron(),
        11,
        [0.2222624427, -0.4469134746],
        {"n_corrections_": 11, "norm2_": 0.9515239969},
    ),
    (ALMAClassifier(), 6, [0.2459381348, -0.5925481359], {"n_corrections_": 6, "norm2_": 1.0}),
    (ForgetronClassifier(budget=3), 3, [-0.0556787825, -0.4714450179], {"n_mistakes_": 6, "cost_": 2.8125}),
    (
        ForgetronClassifier(variant="basic", budget=3),
        3,
        [0.0876318255, -0.3653393100],
        {"n_mistakes_": 5, "norm2_": 0.1859329395},
    ),
    (OLKClassifier(r=0.05, C=0.6), 29, [0.2656120322, -1.0889055132], {}),
    (ProjectronClassifier(eta=0.4), 4, [-0.1161769340, -0.7572188727], {"n_mistakes_": 6}),
    (
        ProjectronClassifier(eta=0.4, margin="published"),
        4,
        [0.2268453338, -1.2045210368],
        {"n_mistakes_": 6, "n_margin_updates_": 3},
    ),
    (
        SVMDClassifier(c=0.1, eta_0=0.3, mu=0.5, lam=0.9),
        21,
        [0.3618013307, -1.2800020450],
        {"step_size_": 0.2574430715, "f_dot_v_": 0.0089436246, "norm2_": 3.1108778955},
    ),
    (
        SVMDClassifier(loss="logistic", c=0.1, eta_0=0.3, mu=0.5, lam=0.9),
        37,
        [0.2937226164, -0.9880522970],
        {"step_size_": 0.3753471814, "f_dot_v_": 0.2002102913, "norm2_": 2.0442017085},
    ),
    (
        SVMDClassifier(c=0.1, eta_0=0.3, mu=0.5, lam=0.9, budget=4),
        4,
        [0.2095504974, -1.0788341902],
        {"step_size_": 0.7131506291, "f_dot_v_": 1.4230761188, "norm2_": 2.2472332435},
    ),
    (
        ProjectronClassifier(eta=0.16, eta_on="squared", margin="experiments"),
        4,
        [0.2617704539, -1.1880506847],
        {"n_mistakes_": 5, "n_margin_updates_": 4},
    ),
]
BUDGETED = [ForgetronClassifier(budget=7), ForgetronClassifier(variant="basic", budget=7), RBPClassifier(budget=7)]
PLAIN = [
    KernelPerceptron(),
    KernelPerceptron(margin=0.5, eta=0.3),
    PassiveAggressiveKernel(C=0.3),
    NORMAClassifier(),
    NORMAClassifier(nu=0.2, lam=1.0, offset=True),
    ALMAClassifier(),
    OLKClassifier(),
    ProjectronClassifier(),
    ProjectronClassifier(margin="published", factor="inverse"),
    SVMDClassifier(),
    SVMDClassifier(nu=0.2, c=0.1),
    SVMDClassifier(loss="logistic", offset=True),
]
ALL = [*PLAIN, *BUDGETED]


def state_of(model):
    """Return what a learner knows, as bytes."""
    arrays = [*model.expansion_.state().values(), model.classes_, model._s]
    return [array.tobytes() for array in arrays], model.n_features_in_, model.t_


def set_kernel(model, kernel):
    return clone(model).set_params(kernel=kernel, **({"random_state": 3} if hasattr(model, "random_state") else {}))


@pytest.mark.compiled
@pytest.mark.parametrize(("model", "size", "values", "state"), KNOWN, ids=repr)
@pytest.mark.parametrize("kernel", [Gaussian(sigma=1.0), CallableKernel(lambda a, b: np.exp(-((a - b) @ (a - b)) / 2))])
def test_known_answers(model, size, values, state, kernel):
    budget = model.budget if isinstance(model, ForgetronClassifier) or model.budget == 4 else None
    model = clone(model).set_params(kernel=kernel, budget=budget).fit(STREAM, LABELS)
    assert model.n_support_ == size
    np.testing.assert_allclose(answers(model), values, atol=1e-8)
    for name, expected in state.items():
        assert getattr(model, name) == pytest.approx(expected, abs=1e-8)


@pytest.mark.compiled
@pytest.mark.parametrize("budget", [None, 9])
@pytest.mark.parametrize("model", ALL, ids=repr)
@pytest.mark.parametrize(
    "kernel", [Gaussian(sigma=0.7), Laplacian(gamma=0.5), Polynomial(degree=2, gamma=0.5), Linear()], ids=repr
)
def test_compiled_loop_equals_numpy(model, kernel, budget):
    samples, labels = rings(120 if JIT_ENABLED else 25)
    plain = CallableKernel(lambda a, b: float(kernel.row(a[None], b)[0]))
    both = []
    for used in (kernel, plain):
        fitted = set_kernel(model, used)
        if budget and not isinstance(model, tuple(type(m) for m in BUDGETED)):
            fitted.set_params(budget=budget)
        both.append(fitted.fit(samples, labels))
    compiled, slow = both
    assert compiled.expansion_.compiled
    assert not slow.expansion_.compiled
    assert (compiled.n_mistakes_, compiled.n_violations_) == (slow.n_mistakes_, slow.n_violations_)
    np.testing.assert_array_equal(compiled.support_vectors_, slow.support_vectors_)
    np.testing.assert_allclose(compiled.dual_coef_, slow.dual_coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(compiled.decision_function(samples), slow.decision_function(samples), atol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("evict", ["oldest", "smallest", "random"])
def test_eviction_is_the_same_in_both_ways(evict):
    samples, labels = rings(200 if JIT_ENABLED else 60)
    kernel = Gaussian(sigma=0.7)
    given = {"budget": 8, "evict": evict, "random_state": 5}
    fast = PassiveAggressiveKernel(kernel=kernel, **given).fit(samples, labels)
    slow = PassiveAggressiveKernel(kernel=lambda a, b: float(kernel.row(a[None], b)[0]), **given).fit(samples, labels)
    np.testing.assert_array_equal(fast.support_vectors_, slow.support_vectors_)
    again = clone(fast).fit(samples, labels)
    np.testing.assert_array_equal(fast.dual_coef_, again.dual_coef_)


@pytest.mark.parametrize("model", ALL, ids=repr)
def test_sample_by_sample_equals_bulk_and_parts(model):
    samples, labels = rings(150)
    kernel = Gaussian(sigma=0.7)
    bulk = set_kernel(model, kernel).fit(samples, labels)
    single, parts = set_kernel(model, kernel), set_kernel(model, kernel)
    mistakes = 0
    for x, y in zip(samples, labels, strict=True):
        expected = single.score_one(x)
        assert single.learn_one(x, int(y)) == expected
        mistakes += y * expected <= 0
    parts.partial_fit(samples[:1], labels[:1], classes=[-1, 1])
    for start in range(1, 150, 40):
        parts.partial_fit(samples[start : start + 40], labels[start : start + 40])
    for other in (single, parts, pickle.loads(pickle.dumps(bulk))):  # noqa: S301
        assert (other.t_, other.n_mistakes_) == (150, mistakes)
        np.testing.assert_array_equal(bulk.dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(bulk.support_vectors_, other.support_vectors_)
    np.testing.assert_array_equal(bulk.decision_function(samples), [single.score_one(x) for x in samples])
    np.testing.assert_array_equal(bulk.predict(samples), [single.predict_one(x) for x in samples])
    assert single.predict_one(samples[0]) in (-1, 1)


@pytest.mark.parametrize("model", [KernelPerceptron(), NORMAClassifier(eta=0.1), SVMDClassifier()], ids=repr)
def test_input_that_is_wrong_raises_and_changes_nothing(model):
    samples, labels = rings(60)
    model = clone(model).set_params(sigma=1.0).fit(samples, labels)
    before = state_of(model)
    good = samples[0]
    for bad, words in [
        (lambda: model.learn_one(np.array([0.0, np.nan]), 1), "finite"),
        (lambda: model.learn_one(np.zeros(3), 1), "x must have 2 features, got 3"),
        (lambda: model.learn_one(good, 7), r"y must be one of \[-1, 1\], got 7"),
        (lambda: model.partial_fit([[0.0, np.inf]], [1]), "infinity"),
        (lambda: model.partial_fit([[0.0, 1e200]], [1]), "must be scaled"),
        (lambda: model.partial_fit([[0.0, 1.0, 2.0]], [1]), "3 features"),
        (lambda: model.partial_fit([good, good], [1, 7]), "y must hold only the classes"),
        (lambda: model.partial_fit([good], [1], classes=[1, 2]), "classes must be those of the first call"),
        (lambda: model.partial_fit(np.zeros((0, 2)), []), "0 sample"),
        (lambda: model.partial_fit([good, good], [1]), "inconsistent"),
        (lambda: model.set_params(sigma=-1.0).fit(samples, labels), "sigma must be positive"),
    ]:
        with pytest.raises(ValueError, match=words):
            bad()
        assert state_of(model) == before


def test_one_class_is_not_enough_and_classes_can_be_named():
    samples, _ = rings(60)
    with pytest.raises(ValueError, match="needs at least 2 classes, got 1 class only"):
        KernelPerceptron().fit(samples, np.ones(60))
    with pytest.raises(ValueError, match="name all as classes"):
        KernelPerceptron().partial_fit(samples, np.ones(60))
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        ForgetronClassifier().fit(samples, np.arange(60) % 3)
    with pytest.raises(ValueError, match="y must be -1 or 1 unless classes are named"):
        KernelPerceptron(sigma=1.0).learn_one(samples[0], "near")
    model = KernelPerceptron(sigma=1.0).partial_fit(samples[:5], ["near"] * 5, classes=["near", "far"])
    model.learn_one(samples[6], "far")
    assert model.classes_.tolist() == ["far", "near"]
    assert model.predict_one(samples[0]) in ("far", "near")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelPerceptron(margin=-1.0), "margin must not be negative, got -1.0"),
        (KernelPerceptron(eta=0), "eta must be positive, got 0"),
        (KernelPerceptron(evict="newest"), "evict must be one of 'oldest', 'smallest', 'random', got 'newest'"),
        (KernelPerceptron(budget=0), "budget must be None or an integer of at least 1, got 0"),
        (PassiveAggressiveKernel(C=0), "C must be positive, got 0"),
        (RBPClassifier(budget=0.5), "budget must be None or an integer"),
        (ForgetronClassifier(budget=None), "budget must be an integer of at least 1, got None"),
        (ForgetronClassifier(variant="best"), "variant must be one of"),
        (ALMAClassifier(alpha=1.0), r"alpha must be in \[0, 1\), got 1.0"),
        (ALMAClassifier(alpha=0.0), "B must be given where alpha is 0"),
        (ALMAClassifier(B=-1.0), "B must be positive or None, got -1.0"),
        (NORMAClassifier(nu=1.0), r"nu must be in \(0, 1\) or None, got 1.0"),
        (NORMAClassifier(eta=0.0), "eta must be positive or None, got 0.0"),
        (NORMAClassifier(eta=2.0, lam=0.5), r"eta \* lam must be below 1 with a constant step, got 2 \* 0.5"),
        (NORMAClassifier(rho="one"), "rho must be a finite number, got 'one'"),
        (NORMAClassifier(schedule="slow"), "schedule must be one of"),
        (ProjectronClassifier(eta=-1.0), "eta must not be negative, got -1.0"),
        (ProjectronClassifier(eta_on="cube"), "eta_on must be one of"),
        (ProjectronClassifier(margin="wide"), "margin must be one of"),
        (ProjectronClassifier(factor="qr"), "factor must be one of"),
        (ProjectronClassifier(budget=0), "budget must be None or an integer of at least 1, got 0"),
        (ProjectronClassifier(margin="bounded"), "U must be given where margin is 'bounded'"),
        (ProjectronClassifier(margin="bounded", U=0), "U must be positive or None, got 0"),
        (OLKClassifier(r=-1), "r must not be negative, got -1"),
        (OLKClassifier(thr_sv=-1), "thr_sv must not be negative, got -1"),
    ],
)
def test_wrong_parameters_are_named(model, message):
    samples, labels = rings(10)
    with pytest.raises(ValueError, match=message):
        model.set_params(sigma=1.0).fit(samples, labels)
    assert not hasattr(model, "expansion_")


@pytest.mark.parametrize(
    "model",
    [KernelPerceptron(), ForgetronClassifier(budget=5), ProjectronClassifier(), SVMDClassifier(budget=5)],
    ids=repr,
)
def test_a_kernel_that_fails_halfway_changes_nothing(model):
    samples, labels = rings(60)
    broken = samples[40]

    def kernel(a, b):
        if np.array_equal(b, broken):
            return np.nan
        return float(np.exp(-((a - b) @ (a - b))))

    model = clone(model).set_params(kernel=kernel).fit(samples[:20], labels[:20])
    before = state_of(model)
    with pytest.raises(ValueError, match="kernel must return finite numbers, got nan"):
        model.partial_fit(samples[20:], labels[20:])
    assert state_of(model) == before
    model.partial_fit(samples[20:40], labels[20:40])
    assert model.t_ == 40


def test_a_kernel_that_is_not_positive_is_refused():
    samples, labels = rings(10)
    with pytest.raises(ValueError, match="kernel must be positive semi-definite"):
        KernelPerceptron(kernel=lambda a, b: -float(a @ b)).fit(samples, labels)


def test_a_margin_out_of_reach_is_warned_of():
    with pytest.warns(UserWarning, match="rho should be at most"):
        NORMAClassifier(sigma=1.0, rho=3.0, lam=1.0).fit(*rings(10))


def test_tuned_parameters_keep_the_bound_for_a_drifting_target():
    rng = np.random.default_rng(0)
    angles = np.cumsum(rng.normal(0, 0.01, 3000))
    targets = 5.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    samples = rng.normal(size=(3000, 2))
    samples /= np.linalg.norm(samples, axis=1, keepdims=True)
    scores = np.einsum("ij,ij->i", samples, targets)
    keep = np.abs(scores) > 1
    samples, labels, targets = samples[keep], np.sign(scores[keep]).astype(int), targets[keep]
    steps = np.linalg.norm(np.diff(targets, axis=0), axis=1)
    path, path2, n, norm = steps.sum(), (steps**2).sum(), len(samples), 5.0
    model = NORMAClassifier.tuned(
        n_samples=n, margin=1.0, norm=norm, path=path, path2=path2, kernel=Linear(), budget=None
    ).fit(samples, labels)
    cost = (norm**2 + norm * (np.sqrt(n * path2) + path)) / 4
    assert model.n_mistakes_ <= model.n_violations_ <= (np.sqrt(cost) + np.sqrt(cost)) ** 2
    assert model.n_mistakes_ < 0.2 * n


def test_truncation_is_bounded():
    samples, labels = rings(1500)
    whole = NORMAClassifier(sigma=0.7, eta=0.1, lam=0.2, budget=None).fit(samples, labels)
    ring = NORMAClassifier(sigma=0.7, eta=0.1, lam=0.2, budget="auto").fit(samples, labels)
    assert ring.n_support_ < whole.n_support_
    gap = np.abs(ring.decision_function(samples) - whole.decision_function(samples)).max()
    assert gap < 0.98**ring.expansion_.budget / 0.2 <= 1e-3 / 0.2
    assert np.abs(whole.decision_function(samples)).max() <= 1 / 0.2


def test_labels_that_cannot_be_hashed_are_refused():
    model = SVMDClassifier(sigma=1.0)
    with pytest.raises(ValueError, match="y must be -1 or 1 unless classes are named"):
        model.learn_one(STREAM[0], [1])
    model.fit(STREAM, LABELS)
    with pytest.raises(ValueError, match=r"y must be one of \[-1, 1\], got \[1\]"):
        model.learn_one(STREAM[0], [1])
    with pytest.raises(ValueError, match=r"."):
        model.fit(STREAM, [[label] * 2 for label in LABELS])
    assert model.t_ == 37
