"""SVMD against a plain loop that keeps every inner product by brute force, and what the paper and its errata say."""

import numpy as np
import pytest
from sklearn.base import clone

from bgsub._numba import JIT_ENABLED
from bgsub.learners import (
    CallableKernel,
    Gaussian,
    NORMAClassifier,
    Polynomial,
    SVMDClassifier,
    SVMDNovelty,
    SVMDRegressor,
)
from bgsub.learners.hypotheses.labels import taxonomy_distances
from tests.learners.known import STREAM, rings, slope_of

TREE = {0: "low", 1: "low", 2: "high", 3: "high", "low": "all", "high": "all"}
LOSSES = {
    "hinge": (SVMDClassifier, {}),
    "logistic": (SVMDClassifier, {"loss": "logistic"}),
    "nu": (SVMDClassifier, {"nu": 0.3, "c": 0.2}),
    "novelty": (SVMDNovelty, {"nu": None}),
    "nu novelty": (SVMDNovelty, {"nu": 0.3}),
    "squared": (SVMDRegressor, {"loss": "squared", "eta_0": 0.3}),
    "epsilon": (SVMDRegressor, {"loss": "epsilon", "eps": 0.2}),
    "huber": (SVMDRegressor, {"loss": "huber", "delta": 0.5}),
    "multiclass": (SVMDClassifier, {}),
    "nu multiclass": (SVMDClassifier, {"nu": 0.2, "c": 0.2}),
    "softmax": (SVMDClassifier, {"loss": "logistic"}),
    "graph": (SVMDClassifier, {"taxonomy": TREE}),
    "graph and label kernel": (SVMDClassifier, {"taxonomy": TREE, "label_kernel": "taxonomy"}),
    "softmax and label kernel": (SVMDClassifier, {"loss": "logistic", "taxonomy": None, "label_kernel": "array"}),
}
MANY = {"multiclass", "nu multiclass", "softmax", "graph", "graph and label kernel", "softmax and label kernel"}
KAPPA = np.array([[2.0, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])


def made(name, **given):
    kind, parameters = LOSSES[name]
    parameters = {"sigma": 0.7, "c": 0.02, "eta_0": 0.2, "mu": 0.4, "lam": 0.95, **parameters}
    if parameters.get("label_kernel") == "array":
        parameters["label_kernel"] = KAPPA
    return kind(**{**parameters, **given})


def stream(name, n):
    samples, labels = rings(n)
    radius = np.hypot(*samples.T)
    if name in MANY:
        return samples, np.digitize(radius, [0.7, 1.2, 1.7])
    return samples, radius if LOSSES[name][0] is SVMDRegressor else labels


def begin(model, name, samples, targets):
    """Name the classes, so that single samples can follow."""
    if isinstance(model, SVMDClassifier):
        return model.start(samples.shape[1], np.unique(targets))
    return model


def learn(model, x, y):
    return model.learn_one(x) if isinstance(model, SVMDNovelty) else model.learn_one(x, y)


def brute_force(model):
    """Return |f|² and <f, v> from all coefficients."""
    e = model.expansion_
    vectors, a = e.slots()
    a, b = a.reshape(e.size, e.trace.shape[1]), e.trace[: e.size]
    square = (vectors**2).sum(axis=1)
    gram = np.exp(-np.maximum(square[:, None] + square - 2 * vectors @ vectors.T, 0) / (2 * 0.7**2))
    kappa = e.kappa if len(e.kappa) else np.eye(a.shape[1])
    return float(np.sum((gram @ a @ kappa) * a)), float(np.sum((gram @ a @ kappa) * b))


@pytest.mark.compiled
@pytest.mark.parametrize("lam", [0.0, 0.95, 1.0])
@pytest.mark.parametrize("budget", [None, 40 if JIT_ENABLED else 10, 1])
@pytest.mark.parametrize("name", LOSSES)
def test_inner_products_equal_brute_force(name, budget, lam):
    """Over a thousand steps; errors would add up, so not every step has to be checked."""
    steps = 1000 if JIT_ENABLED else 30
    samples, targets = stream(name, steps)
    model = begin(made(name, budget=budget, lam=lam), name, samples, targets)
    for t, (x, y) in enumerate(zip(samples, targets.tolist(), strict=True), 1):
        learn(model, x, y)
        assert model.step_size_ > 0
        if t % (200 if budget is None else 20) == 0 or t < 5:
            norm2, product = brute_force(model)
            scale = max(norm2, abs(product), 1e-3)
            assert model.norm2_ == pytest.approx(norm2, abs=1e-10 * scale)
            assert model.f_dot_v_ == pytest.approx(product, abs=1e-10 * scale)


def reference(name, samples, targets, *, c, eta, mu, lam, budget, nu=0.0, offset=False, lam_b=0.9, mu_b=0.3):
    """Return steps and scores of SVMD, by the paper's definitions: no product is carried, nothing is scaled lazily."""
    many, parameters = name in MANY, LOSSES[name][1]
    classes = 4 if many else 1
    kappa = np.eye(classes)
    if name == "graph and label kernel":
        kappa = np.array([[3.0, 2, 1, 1], [2, 3, 1, 1], [1, 1, 3, 2], [1, 1, 2, 3]])
    elif name == "softmax and label kernel":
        kappa = KAPPA
    distance = np.ones((4, 4))
    if name.startswith("graph"):
        distance = np.array([[0.0, 1, 2, 2], [1, 0, 2, 2], [2, 2, 0, 1], [2, 2, 1, 0]])
    vectors, a, b = np.zeros((0, 2)), np.zeros((0, classes)), np.zeros((0, classes))
    eps, eta_eps, v_eps = 1.0, 1.0, 0.0
    bias, eta_b, v_b = np.zeros(classes), np.full(classes, eta), np.zeros(classes)
    steps, scores, margins = [], [], []
    for x, y in zip(samples, targets, strict=True):
        gram = np.exp(-((vectors[:, None] - vectors[None]) ** 2).sum(axis=2) / (2 * 0.7**2))
        k = np.exp(-((vectors - x) ** 2).sum(axis=1) / (2 * 0.7**2))
        f, v = kappa @ (k @ a), kappa @ (k @ b)
        score = f + bias
        hessian = np.zeros((classes, classes))
        if "softmax" in name:
            p = np.exp(score - score.max())
            p /= p.sum()
            xi, violated = p - np.eye(4)[y], float(np.argmax(score) != y)
            hessian = np.diag(p) - np.outer(p, p)
        elif many:
            bracket = eps * distance[y] + score
            bracket[y] = -np.inf
            worst = int(np.argmax(bracket))
            violated = float(bracket[worst] > score[y])
            xi = violated * (np.eye(4)[worst] - np.eye(4)[y])
        elif name in ("squared", "epsilon", "huber"):
            xi, violated = np.atleast_1d(slope_of(name, score, y, 0.2 if name == "epsilon" else 0.5)), 0.0
            if name == "squared" or (name == "huber" and abs(score[0] - y) <= 0.5):
                hessian[:] = 1.0 if name == "squared" else 2.0
        elif name == "logistic":
            p = 1 / (1 + np.exp(y * score))
            xi, violated = -y * p, 0.0
            hessian[:] = p * (1 - p)
        else:
            sign = 1.0 if "novelty" in name else y
            violated = float(sign * score[0] < eps)
            xi = np.array([-sign * violated])
        f_v = float(np.sum((gram @ a @ kappa) * b))
        eta = min(eta * max(0.5, 1 - mu * (c * f_v + xi @ v)), 0.99 / c)
        if name in ("squared", "huber") and hessian[0, 0] > 0:
            eta = min(eta, 1 / hessian[0, 0])
        w = xi + lam * hessian @ v
        b = np.vstack([(1 - eta * c) * lam * b - eta * c * a, -eta * w])
        a = np.vstack([(1 - eta * c) * a, -eta * xi])
        vectors = np.vstack([vectors, x])
        stored = np.any(a != 0, axis=1) | np.any(b != 0, axis=1)
        vectors, a, b = (values[stored][-budget:] for values in (vectors, a, b))
        if offset:
            eta_b = eta_b * np.maximum(0.5, 1 - mu_b * xi * v_b)
            v_b = lam_b * v_b - eta_b * (xi + lam_b * hessian @ v_b)
            bias = bias - eta_b * xi
        if parameters.get("nu"):
            nu = parameters["nu"]
            u = eps * (nu - violated)
            eta_eps *= max(0.5, 1 + mu * v_eps * u)
            v_eps = lam * v_eps + eta_eps * u * (1 + lam * v_eps)
            eps *= np.exp(np.clip(eta_eps * u, -np.log(2), np.log(2)))
        steps.append(eta)
        scores.append(score)
        margins.append(eps)
    return np.array(steps), np.array(scores), np.array(margins)


@pytest.mark.compiled
@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("budget", [200, 20, 1])
@pytest.mark.parametrize("name", LOSSES)
def test_equals_a_plain_loop(name, budget, offset):
    if offset and "novelty" in name:
        pytest.skip("novelty has no offset")
    samples, targets = stream(name, 90 if JIT_ENABLED else 30)
    given = {"offset": True, "lam_b": 0.9, "mu_b": 0.3} if offset else {}
    model = begin(made(name, budget=budget, **given), name, samples, targets)
    parameters = model.get_params()
    constants = {key: parameters[key] for key in ("c", "mu", "lam", "budget")}
    constants["c"] = 1.0 if constants["c"] is None else constants["c"]
    expected = reference(name, samples, targets, eta=parameters["eta_0"], offset=offset, **constants)
    for x, y, step, score, margin in zip(samples, targets.tolist(), *expected, strict=True):
        np.testing.assert_allclose(
            model.value_one(x) + model._bias() if model._started else 0.0,
            score if score.size > 1 else score[0],
            atol=1e-9,
        )
        learn(model, x, y)
        assert model.step_size_ == pytest.approx(step, rel=1e-9)
        if "nu" in name.split():
            assert model.margin_ == pytest.approx(margin, rel=1e-9)


@pytest.mark.compiled
def test_known_answer_of_novelty():
    model = SVMDNovelty(sigma=1.0, c=1.0, eta_0=0.3, mu=0.5, lam=0.9, nu=0.3, budget=None).fit(STREAM)
    assert (model.n_support_, model.n_violations_) == (16, 16)
    values = [model.value_one(np.array([0.3])), model.value_one(np.array([-1.2]))]
    np.testing.assert_allclose(values, [0.1413666849, 0.1753198368], atol=1e-8)
    state = [model.step_size_, model.f_dot_v_, model.norm2_, model.margin_]
    np.testing.assert_allclose(state, [0.1652028671, -0.0081421122, 0.0435257193, 0.1109369833], atol=1e-8)


@pytest.mark.parametrize("schedule", ["constant", "sqrt", "tau"])
def test_without_meta_step_it_is_norma(schedule):
    samples, labels = rings(200)
    given = {"sigma": 0.7, "schedule": schedule, "tau": 5.0, "budget": 50}
    norma = NORMAClassifier(eta=0.2, lam=0.05, rho=1.0, **given).fit(samples, labels)
    svmd = SVMDClassifier(eta_0=0.2, c=0.05, **given).fit(samples, labels)
    still = SVMDClassifier(eta_0=0.2, c=0.05, mu=0.0, sigma=0.7, budget=50).fit(samples, labels)
    np.testing.assert_allclose(svmd.dual_coef_, norma.dual_coef_, rtol=1e-12)
    assert svmd.n_violations_ == norma.n_violations_
    if schedule == "constant":
        np.testing.assert_array_equal(still.dual_coef_, svmd.dual_coef_)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("budget", [None, 9])
def test_compiled_loop_equals_numpy_and_parts_equal_the_whole(name, budget):
    samples, targets = stream(name, 120)
    kernel = Gaussian(sigma=0.7)
    plain = CallableKernel(lambda a, b: float(kernel.row(a[None], b)[0]))
    given = {"sigma": None, "budget": budget, "record": True}
    if "novelty" not in name:
        given |= {"offset": True, "average": True}
    fast, slow, parts = (made(name, kernel=used, **given) for used in (kernel, plain, kernel))
    fast.fit(samples, targets)
    slow.fit(samples, targets)
    np.testing.assert_allclose(fast.step_sizes_, slow.step_sizes_, rtol=1e-8)
    np.testing.assert_allclose(fast.dual_coef_, slow.dual_coef_, rtol=1e-8, atol=1e-12)
    assert fast.step_sizes_[-1] == fast.step_size_
    assert fast.step_sizes_.shape == (120,)
    parts.fit(samples[:50], targets[:50]) if name not in MANY else parts.partial_fit(
        samples[:50], targets[:50], classes=np.unique(targets)
    )
    for x, y in zip(samples[50:70], targets[50:70].tolist(), strict=True):
        learn(parts, x, y)
    parts.partial_fit(samples[70:], targets[70:])
    np.testing.assert_array_equal(parts.step_sizes_, fast.step_sizes_)
    np.testing.assert_array_equal(parts.dual_coef_, fast.dual_coef_)
    np.testing.assert_array_equal(parts._bias(), fast._bias())


def test_average_is_the_mean_of_all_hypotheses():
    samples, labels = rings(80)
    labels = np.digitize(np.hypot(*samples.T), [0.8, 1.5])
    model = SVMDClassifier(sigma=0.7, offset=True, average=True, loss="logistic", budget=None).start(2, [0, 1, 2])
    latest = clone(model).set_params(average=False).start(2, [0, 1, 2])
    total = np.zeros((5, 3))
    for x, y in zip(samples, labels.tolist(), strict=True):
        model.learn_one(x, y)
        latest.learn_one(x, y)
        total += latest.decision_function(samples[:5])
    np.testing.assert_allclose(model.decision_function(samples[:5]), total / 80, rtol=1e-10)


def test_logarithmic_margin_rule_keeps_its_rate_exactly():
    rng = np.random.default_rng(3)
    samples = np.cumsum(rng.normal(size=(1000, 2)), axis=0)
    model = SVMDNovelty(sigma=2.0, nu=0.2, eps_rule="log", c=0.3, budget=60).fit(samples)
    assert model.n_violations_ / 1000 == pytest.approx(0.2 - np.log(model.margin_) / (0.05 * 1000), abs=1e-12)


def test_published_margin_rule_keeps_a_weighted_rate():
    samples, labels = rings(400)
    model = SVMDClassifier(sigma=0.7, nu=0.3, mu_eps=0.0, eta_eps=0.3, budget=60)
    total, before = 0.0, 0
    for x, y in zip(samples, labels.tolist(), strict=True):
        margin = model.margin_ if model._started else 1.0
        model.learn_one(x, y)
        total += 0.3 * margin * (0.3 - (model.n_violations_ - before))
        before = model.n_violations_
    assert total == pytest.approx(np.log(model.margin_), abs=1e-9)


def test_carried_norm_of_the_paper_forgets_what_left_the_buffer():
    samples, labels = rings(600)
    given = {"sigma": 0.5, "c": 1e-3, "eta_0": 0.2, "budget": 20}
    fixed = SVMDClassifier(**given).fit(samples, labels)
    printed = SVMDClassifier(**given, buffer_fix=False).fit(samples, labels)

    def ratio(model):
        vectors, a = model.expansion_.slots()
        return model.norm2_ / float(a @ model.expansion_.kernel.matrix(vectors, vectors) @ a)

    assert ratio(fixed) == pytest.approx(1.0, abs=1e-9)
    assert ratio(printed) > 1.5


def test_steps_never_erase_or_flip_f():
    samples, labels = rings(300)
    model = SVMDClassifier(sigma=0.7, c=1.0, eta_0=50.0, mu=10.0, record=True).fit(samples, labels)
    assert (model.step_sizes_ <= 0.99).all()
    assert (model.step_sizes_ > 0).all()
    capped = SVMDClassifier(sigma=0.7, c=0.0, eta_0=0.5, mu=10.0, eta_max=2.0, record=True).fit(samples, labels)
    assert capped.step_sizes_.max() <= 2.0
    wild = SVMDRegressor(kernel="polynomial", eta_0=100.0, mu=5.0, record=True)
    wild.fit(samples * 100, samples[:, 0] * 1e4)
    assert np.isfinite(wild.predict(samples)).all()


def test_margins_by_tree_distance_make_mistakes_less_grave():
    rng = np.random.default_rng(0)
    leaves = np.arange(30)  # so many distinct labels in a sample would make scikit-learn warn
    tree = {
        **{leaf: f"group {leaf // 3}" for leaf in leaves.tolist()},
        **{f"group {g}": f"part {g // 5}" for g in range(10)},
        **{f"part {p}": "all" for p in range(2)},
    }
    parts, groups, own = (scale * rng.normal(size=(n, 20)) for scale, n in ((1.5, 2), (1.0, 10), (0.7, 30)))
    labels = rng.integers(0, 30, 1600)
    samples = parts[labels // 15] + groups[labels // 3] + own[labels] + 1.5 * rng.normal(size=(1600, 20))
    results = []
    for given in ({}, {"taxonomy": tree}):
        model = SVMDClassifier(sigma=6.0, c=1e-4, **given).start(20, leaves)
        guess = model.partial_fit(samples[:1200], labels[:1200]).predict(samples[1200:])
        costs = taxonomy_distances(tree, leaves.tolist())[guess, labels[1200:]]
        results.append((np.mean(guess != labels[1200:]), costs.mean()))
    assert results[1][1] < 0.9 * results[0][1]
    assert results[1][0] < results[0][0] + 0.05


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": -1.0}, "c must not be negative, got -1.0"),
        ({"c": 0.0}, "eta_max must be given where c is 0"),
        ({"eta_0": 0.0}, "eta_0 must be positive, got 0.0"),
        ({"mu": -0.1}, "mu must not be negative, got -0.1"),
        ({"lam": 1.5}, r"lam must be in \[0, 1\], got 1.5"),
        ({"schedule": "slow"}, "schedule must be one of 'adaptive', 'constant'"),
        ({"tau": 0.0}, "tau must be positive"),
        ({"eta_max": 0.0}, "eta_max must be positive or None, got 0.0"),
        ({"eta_max": 100.0, "c": 0.01}, r"eta_max \* c must be below 1, got 100 \* 0.01"),
        ({"budget": 0}, "budget must be None or an integer of at least 1, got 0"),
        ({"nu": 0.0}, r"nu must be in \(0, 1\) or None, got 0.0"),
        ({"nu": 0.5, "loss": "logistic"}, "nu must be None where loss is 'logistic', which has no margin, got 0.5"),
        ({"eps_0": 0.0}, "eps_0 must be positive"),
        ({"eps_rule": "best"}, "eps_rule must be one of 'published', 'log'"),
        ({"eta_eps": -1.0}, "eta_eps must be positive or None, got -1.0"),
        ({"mu_eps": -1.0}, "mu_eps must be None or not negative, got -1.0"),
        ({"lam_eps": 2.0}, r"lam_eps must be None or in \[0, 1\], got 2.0"),
        ({"eta_b": 0.0}, "eta_b must be positive or None, got 0.0"),
        ({"mu_b": -1.0}, "mu_b must be None or not negative"),
        ({"lam_b": -1.0}, "lam_b must be None or in"),
        ({"loss": "cubic"}, "loss must be one of 'hinge', 'logistic', got 'cubic'"),
        ({"taxonomy": TREE, "label_graph": []}, "taxonomy and label_graph must not both be given"),
        ({"taxonomy": TREE, "loss": "logistic"}, "must be None where loss is 'logistic', which has no margin"),
        ({"taxonomy": [0, 1]}, "taxonomy must be a mapping from node to parent, got list"),
        ({"taxonomy": {0: 9, 1: 9, 2: 9}}, "taxonomy must contain every label, lacks 3"),
        ({"taxonomy": {0: 9, 1: 9, 2: 8, 3: 8}}, "taxonomy must be connected, with one root, got 2 nodes"),
        ({"taxonomy": {0: 9, 1: 9, 2: 9, 3: 5, 5: 6, 6: 5}}, "taxonomy must be a tree, got a cycle through"),
        ({"taxonomy": {0: ["a"], 1: 9, 2: 9, 3: 9}}, r"taxonomy must have hashable labels, got \['a'\]"),
        ({"label_graph": [(0, 1), (1, 2)]}, "label_graph must contain every label, lacks 3"),
        ({"label_graph": [(0, 1), (2, 3)]}, "label_graph must be connected, got no path from 0 to 2"),
        ({"label_graph": [(0, 1), (1, [2])]}, r"label_graph must have hashable labels, got \[2\]"),
        ({"label_graph": [(0, 1), (1, 2), (2, 3, -1.0)]}, "label_graph's weight must be positive, got -1.0"),
        ({"label_graph": ["01", "12", "23"]}, "label_graph must be edges"),
        ({"label_graph": [(0, 1, 1.0, 2.0)]}, "label_graph must be edges"),
        ({"label_kernel": "tree"}, "label_kernel must be one of 'delta', 'taxonomy', got 'tree'"),
        ({"label_kernel": "taxonomy"}, "taxonomy must be given where label_kernel is 'taxonomy'"),
        ({"label_kernel": np.eye(3)}, "label_kernel must be a symmetric matrix of 4 x 4"),
        ({"label_kernel": -np.eye(4)}, "label_kernel must be positive semi-definite"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    samples, labels = stream("graph", 40)
    model = SVMDClassifier(sigma=1.0, **parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(samples, labels)
    assert not hasattr(model, "expansion_")


def test_steps_are_kept_only_on_demand():
    model = SVMDRegressor(sigma=1.0).fit(STREAM, STREAM[:, 0])
    with pytest.raises(AttributeError, match="only where record is True"):
        _ = model.step_sizes_


def test_paths_in_a_graph_are_the_margins():
    samples, labels = stream("graph", 300)
    chain = SVMDClassifier(sigma=0.7, label_graph=[(0, 1), (1, 2, 0.5), (2, 3), (0, "x"), ("x", 3, 0.1)])
    distances = chain.fit(samples, labels).expansion_.traced.labels.distances
    expected = [[0, 1, 1.5, 1.1], [1, 0, 0.5, 1.5], [1.5, 0.5, 0, 1], [1.1, 1.5, 1, 0]]
    np.testing.assert_allclose(distances, expected)
    with_kernel = SVMDClassifier(kernel=Polynomial(degree=2), label_kernel=KAPPA).fit(samples, labels)
    scores = with_kernel.decision_function(samples[:3])
    raw = with_kernel.expansion_.kernel.matrix(samples[:3], with_kernel.support_vectors_) @ with_kernel.dual_coef_.T
    np.testing.assert_allclose(scores, raw @ KAPPA, rtol=1e-9)
    np.testing.assert_allclose(with_kernel.score_one(samples[0]), scores[0], rtol=1e-9)


@pytest.mark.parametrize("many", [False, True])
def test_the_logistic_loss_gives_probabilities(many):
    samples, labels = rings(1500, noise=0.2)
    if many:
        labels = np.digitize(np.hypot(*samples.T), [0.8, 1.6])
    model = SVMDClassifier(sigma=0.6, loss="logistic", budget=None).fit(samples[:1000], labels[:1000])
    probabilities, scores = model.predict_proba(samples[1000:]), model.decision_function(samples[1000:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(samples[1000:]))
    expected = np.exp(scores) if many else np.column_stack([np.exp(-scores), np.ones(len(scores))])
    np.testing.assert_allclose(probabilities, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose([model.predict_proba_one(x) for x in samples[1000:1020]], probabilities[:20], rtol=1e-12)
    loss = -np.log(probabilities[np.arange(500), np.searchsorted(model.classes_, labels[1000:])]).mean()
    assert loss < np.log(len(model.classes_))  # that of knowing nothing
    with pytest.raises(ValueError, match="x must be finite"):
        model.predict_proba_one(np.array([0.0, np.nan]))


def test_other_losses_give_no_probabilities():
    samples, labels = rings(20)
    model = SVMDClassifier(sigma=0.6).fit(samples, labels)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba_one(samples[0])
