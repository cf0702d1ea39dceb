"""Weights of samples and of classes: loops in plain numpy over each rule, and what holds for every learner."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.class_weight import compute_class_weight

from bgsub import learners as bl
from tests.learners.every import EVERY, MANY_CLASSES, task_of
from tests.learners.known import rings
from tests.marks import needs_compiler

N = 120
POINTS = rings(N)[0]
GRAM = np.exp(-((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2) / (2 * 0.5**2))
LABELS = rings(N)[1].astype(float)
TARGETS = np.sin(2 * POINTS[:, 0]) + 0.3 * POINTS[:, 1]
CLASSES = np.digitize(np.hypot(*POINTS.T), [0.8, 1.6])
WEIGHTS = np.random.default_rng(5).choice([0.25, 0.5, 1.0, 2.0, 3.5], N)


def perceptron(margin=0.3, eta=0.7):
    a = np.zeros(N)
    for t in range(N):
        if LABELS[t] * (GRAM[t] @ a) <= margin:
            a[t] = eta * WEIGHTS[t] * LABELS[t]
    return GRAM @ a


def passive_aggressive(bound=0.6):
    a = np.zeros(N)
    for t in range(N):
        a[t] = LABELS[t] * min(bound * WEIGHTS[t], max(0.0, 1 - LABELS[t] * (GRAM[t] @ a)))
    return GRAM @ a


def alma(alpha=0.5, bound=2.0, step=1.2):
    a, k = np.zeros(N), 1
    for t in range(N):
        if LABELS[t] * (GRAM[t] @ a) <= (1 - alpha) * bound / np.sqrt(k):
            a[t] = step / np.sqrt(k) * WEIGHTS[t] * LABELS[t]
            a /= max(1.0, np.sqrt(a @ GRAM @ a))
            k += 1
    return GRAM @ a


def forgetron(budget=15):
    a, kept = np.zeros(N), []
    bound = np.sqrt((budget + 1) / np.log(budget + 1)) / 4
    for t in range(N):
        if LABELS[t] * (GRAM[t] @ a) <= 0:
            a[t] = WEIGHTS[t] * LABELS[t]
            kept.append(t)
            if len(kept) > budget:
                length = np.sqrt(a @ GRAM @ a)
                a *= min((budget + 1) ** (-1 / (2 * (budget + 1))), bound / length)
                a[kept.pop(0)] = 0.0
    return GRAM @ a


def projectron(eta=0.3):
    a, kept = np.zeros(N), []
    for t in range(N):
        z = LABELS[t] * (GRAM[t] @ a)
        if z >= 1:
            continue
        rows, projection = GRAM[np.ix_(kept, kept)], np.zeros(0)
        if kept:
            projection = np.linalg.solve(rows, GRAM[kept, t])
        norm2 = float(GRAM[kept, t] @ projection)
        distance2, loss = 1 - norm2, 1 - z
        if z <= 0:
            if kept and distance2 <= eta**2:
                a[kept] += WEIGHTS[t] * LABELS[t] * projection
            else:
                a[t] = WEIGHTS[t] * LABELS[t]
                kept.append(t)
        elif loss > np.sqrt(distance2) / eta:
            tau = min(loss / norm2, 2 * (loss - np.sqrt(distance2) / eta) / norm2, WEIGHTS[t])
            a[kept] += tau * LABELS[t] * projection
    return GRAM @ a


def norma_classes(eta=0.1, lam=0.3, nu=0.3):
    a, b, rho = np.zeros(N), 0.0, 0.2
    for t in range(N):
        wrong = LABELS[t] * (GRAM[t] @ a + b) <= rho
        a *= 1 - eta * lam
        a[t] = eta * WEIGHTS[t] * LABELS[t] * wrong
        b += a[t]
        rho += eta * WEIGHTS[t] * (nu - wrong)
    return GRAM @ a + b


def norma_values(loss, eta=0.1, lam=0.1):
    a = np.zeros(N)
    for t in range(N):
        d = TARGETS[t] - GRAM[t] @ a
        size = {"squared": d, "epsilon": np.sign(d) * (abs(d) > 0.2), "huber": np.clip(d / 0.4, -1, 1)}[loss]
        a *= 1 - eta * lam
        a[t] = eta * WEIGHTS[t] * size
    return GRAM @ a


def norma_novelty(eta=0.01, lam=1.0, nu=0.3):
    a, rho = np.zeros(N), eta * nu / 2
    for t in range(N):
        novel = GRAM[t] @ a < rho
        a *= 1 - eta * lam
        a[t] = eta * WEIGHTS[t] * novel
        rho += eta * WEIGHTS[t] * (nu - novel)
    return GRAM @ a - rho


def olk_classes(r=0.05, bound=0.4):
    a = np.zeros(N)
    for t in range(N):
        alpha = np.clip(1 + r - LABELS[t] * (GRAM[t] @ a), 0, bound * WEIGHTS[t])
        a /= 1 + r
        a[t] = LABELS[t] * alpha / (1 + r)
    return GRAM @ a


def olk_values(r=0.05, bound=0.4, eps=0.1):
    a = np.zeros(N)
    for t in range(N):
        f, largest = GRAM[t] @ a, bound * WEIGHTS[t]
        up = np.clip((1 + r) * (TARGETS[t] - eps) - f, 0, largest)
        down = np.clip(f - (1 + r) * (TARGETS[t] + eps), 0, largest)
        a /= 1 + r
        a[t] = (up - down) / (1 + r)
    return GRAM @ a


def olk_novelty(r=0.01, least=0.1, bound=0.2, nu=0.3, warmup=10):
    a, theta, scores = np.zeros(N), 0.0, []
    for t in range(N):
        f = GRAM[t] @ a
        q = f / a.sum() if t else 1.0
        scores.append(q)
        if t + 1 == warmup:
            theta = np.mean(scores[1:]) / 2
        elif t >= warmup:
            step = min(max(3 / (t + 1 - warmup), 0.05), 1.0) * WEIGHTS[t]
            theta *= np.exp(min(step, 1.0) * (nu - (q < theta)))
        a /= 1 + r
        a[t] = np.clip(1 + r - f, least * WEIGHTS[t], bound * WEIGHTS[t]) / (1 + r)
    return GRAM @ a / a.sum() - theta


def least_squares(nu=0.1):
    """Weighted least squares over samples that are replaced by their projections onto the vectors there were."""
    kept, projections = [], np.zeros((N, N))
    for t in range(N):
        projection = np.linalg.solve(GRAM[np.ix_(kept, kept)], GRAM[kept, t]) if kept else np.zeros(0)
        if 1 - GRAM[kept, t] @ projection > nu:
            kept.append(t)
            projections[t, t] = 1.0
        else:
            projections[t, kept] = projection
    design = projections @ GRAM[:, kept]
    root = np.sqrt(WEIGHTS)
    return GRAM[:, kept] @ np.linalg.lstsq(root[:, None] * design, root * TARGETS, rcond=None)[0]


def batch(y, bound=3.0):
    inner = GRAM + np.diag(1 / (bound * WEIGHTS))
    system = np.block([[np.zeros((1, 1)), np.ones((1, N))], [np.ones((N, 1)), inner]])
    solution = np.linalg.solve(system, np.concatenate([[0.0], y]))
    return GRAM @ solution[1:] + solution[0]


def descent(outputs, derivative, y, c=0.01, eta=0.2, mu=0.2, lam=0.9):
    """SVMD with an adaptive step for f and for offsets b, all inner products by brute force."""
    f, v, b, trace = np.zeros((N, outputs)), np.zeros((N, outputs)), np.zeros(outputs), np.zeros(outputs)
    steps = np.full(outputs, 0.2)
    for t in range(N):
        score, at = GRAM[t] @ f + b, GRAM[t] @ v
        xi, hessian = derivative(score, y[t])
        xi, hessian = WEIGHTS[t] * xi, WEIGHTS[t] * hessian
        eta *= max(0.5, 1 - mu * (c * np.sum(f * (GRAM @ v)) + xi @ at))
        v = lam * (1 - eta * c) * v - eta * c * f
        v[t] -= eta * (xi + lam * hessian @ at)
        f = (1 - eta * c) * f
        f[t] -= eta * xi
        steps = steps * np.maximum(0.5, 1 - mu * xi * trace)
        trace = lam * trace - steps * (xi + lam * hessian @ trace)
        b = b - steps * xi
    return GRAM @ f + b


def logistic(score, y):
    p = 1 / (1 + np.exp(y * score))
    return -y * p, np.diag(p * (1 - p))


def softmax(scores, y):
    p = np.exp(scores) / np.exp(scores).sum()
    return p - np.eye(len(p))[y], np.diag(p) - np.outer(p, p)


def margin_descent(rule, c=0.1, eta=0.1, nu=0.3):
    """Online SVM with a constant step and a margin that adapts."""
    a, level, step, trace, lam = np.zeros(N), 1.0, 0.05 if rule == "log" else 1.0, 0.0, 0.9
    for t in range(N):
        wrong = LABELS[t] * (GRAM[t] @ a) < level
        a *= 1 - eta * c
        a[t] = eta * WEIGHTS[t] * LABELS[t] * wrong
        u = WEIGHTS[t] * (nu - wrong) * (1 if rule == "log" else level)
        if rule == "published":
            trace = lam * trace + step * u * (1 + lam * trace)
        level *= np.exp(np.clip(step * u, -np.log(2), np.log(2)))
    return GRAM @ a


def weights_of(rule):
    """One of the linear learners, on samples with a constant feature."""
    x = np.column_stack([POINTS, np.ones(N)])
    w, corrections = np.zeros(3), 1
    for t in range(N):
        f, square = w @ x[t], x[t] @ x[t]
        z, weight = LABELS[t] * f, WEIGHTS[t]
        if rule == "perceptron" and z <= 0.2:
            w += 0.5 * weight * LABELS[t] * x[t]
        elif rule == "passive":
            w += LABELS[t] * min(0.3 * weight, max(0.0, 1 - z) / square) * x[t]
        elif rule == "lms":
            w += min(0.1 * weight, 1.98 / square) * (LABELS[t] - f) * x[t]
        elif rule == "alma" and z / np.sqrt(square) <= 0.5 * 2 / np.sqrt(corrections):
            w += weight * LABELS[t] / np.sqrt(corrections * square) * x[t]
            w /= max(1.0, np.linalg.norm(w))
            corrections += 1
    return x @ w


def multiclass(rule):
    a = np.zeros((N, 3))
    for t, right in enumerate(CLASSES):
        scores = GRAM[t] @ a
        rival = int(np.argmax(np.where(np.arange(3) == right, -np.inf, scores)))
        lead = scores[right] - scores[rival]
        step = WEIGHTS[t] * (lead <= 0) if rule == "perceptron" else min(0.3 * WEIGHTS[t], max(0.0, 1 - lead) / 2)
        a[t, right], a[t, rival] = step, -step
    return GRAM @ a


ADAPTIVE = {"c": 0.01, "eta_0": 0.2, "mu": 0.2, "lam": 0.9, "loss": "logistic", "offset": True}
LINEAR = {"unit": False, "bias": True}
CASES = [
    (bl.KernelPerceptron(margin=0.3, eta=0.7), LABELS, perceptron()),
    (bl.RBPClassifier(budget=N, random_state=0), LABELS, perceptron(0.0, 1.0)),
    (bl.PassiveAggressiveKernel(C=0.6), LABELS, passive_aggressive()),
    (bl.ALMAClassifier(alpha=0.5, B=2.0, C=1.2), LABELS, alma()),
    (bl.ForgetronClassifier(variant="basic", budget=15), LABELS, forgetron()),
    (bl.ProjectronClassifier(eta=0.3, margin="published"), LABELS, projectron()),
    (bl.NORMAClassifier(eta=0.1, lam=0.3, nu=0.3, rho=0.2, offset=True), LABELS, norma_classes()),
    (bl.NORMARegressor(lam=0.1), TARGETS, norma_values("squared")),
    (bl.NORMARegressor(lam=0.1, loss="epsilon", eps=0.2), TARGETS, norma_values("epsilon")),
    (bl.NORMARegressor(lam=0.1, loss="huber", delta=0.4), TARGETS, norma_values("huber")),
    (bl.NORMANovelty(nu=0.3, eta=0.01, budget=None), None, norma_novelty()),
    (bl.OLKClassifier(r=0.05, C=0.4), LABELS, olk_classes()),
    (bl.OLKRegressor(r=0.05, C=0.4), TARGETS, olk_values()),
    (bl.OLKNovelty(r=0.01, nu=0.3, warmup=10), None, olk_novelty()),
    (bl.KRLSRegressor(nu=0.1), TARGETS, least_squares()),
    (bl.LSSVMRegressor(C=3.0), TARGETS, batch(TARGETS)),
    (bl.LSSVMClassifier(C=3.0), LABELS, batch(LABELS)),
    (bl.SVMDClassifier(**ADAPTIVE), LABELS, descent(1, logistic, LABELS)[:, 0]),
    (bl.SVMDClassifier(**ADAPTIVE), CLASSES, descent(3, softmax, CLASSES)),
    (bl.SVMDClassifier(c=0.1, schedule="constant", nu=0.3, eps_rule="log"), LABELS, margin_descent("log")),
    (bl.SVMDClassifier(c=0.1, schedule="constant", nu=0.3, lam=0.9, mu_eps=0.0), LABELS, margin_descent("published")),
    (bl.KernelPerceptron(), CLASSES, multiclass("perceptron")),
    (bl.PassiveAggressiveKernel(C=0.3), CLASSES, multiclass("passive")),
    (bl.Perceptron(margin=0.2, eta=0.5, **LINEAR), LABELS, weights_of("perceptron")),
    (bl.LinearPAClassifier(C=0.3, **LINEAR), LABELS, weights_of("passive")),
    (bl.LMSClassifier(eta=0.1, **LINEAR), LABELS, weights_of("lms")),
    (bl.LinearALMAClassifier(alpha=0.5, B=2.0, C=1.0, **LINEAR), LABELS, weights_of("alma")),
    (bl.OBPMClassifier(n_members=1, tau=1.0, margin=0.2, eta=0.5, **LINEAR), LABELS, weights_of("perceptron")),
    (
        bl.OBPMClassifier(n_members=3, tau=1.0, base="alma", alpha=0.5, B=2.0, C=1.2, kernel=bl.Gaussian(sigma=0.5)),
        LABELS,
        alma(),
    ),
]


@pytest.mark.compiled
@pytest.mark.parametrize(("model", "targets", "expected"), CASES, ids=lambda value: repr(value)[:60])
def test_a_weight_multiplies_what_the_docstring_says(model, targets, expected):
    given = {"sigma": 0.5} if "sigma" in model.get_params() and model.kernel == "gaussian" else {}
    model = clone(model).set_params(**given).fit(POINTS, targets, sample_weight=WEIGHTS)
    scores = model.decision_function(POINTS) if hasattr(model, "decision_function") else model.predict(POINTS)
    np.testing.assert_allclose(scores, expected, atol=1e-9)


def scores_of(model):
    read = model.decision_function if hasattr(model, "decision_function") else model.predict
    return np.asarray(read(POINTS))


BOTH = [
    *(pytest.param(model, False, id=repr(model)) for model in EVERY),
    *(pytest.param(model, True, id=f"three classes: {model!r}") for model in MANY_CLASSES),
]


@pytest.mark.parametrize(("model", "many"), BOTH)
def test_weights_of_one_change_nothing_and_of_zero_leave_a_sample_out(model, many):
    _, targets = task_of(model, N, many)
    usual = clone(model).fit(POINTS, targets)
    np.testing.assert_array_equal(
        scores_of(clone(model).fit(POINTS, targets, sample_weight=np.ones(N))), scores_of(usual)
    )
    some = np.arange(N) % 3 > 0
    parts = clone(model).fit(POINTS[some], None if targets is None else targets[some])
    left_out = clone(model).fit(POINTS, targets, sample_weight=some.astype(float))
    np.testing.assert_array_equal(scores_of(left_out), scores_of(parts))


@needs_compiler
@pytest.mark.parametrize(("model", "many"), BOTH)
def test_compiled_plain_single_and_parts_agree_on_weights(model, many):
    if not hasattr(model, "partial_fit"):
        pytest.skip("learns in one batch")
    _, targets = task_of(model, N, many)
    listed = [] if targets is None else targets.tolist()
    bulk = clone(model).fit(POINTS, targets, sample_weight=WEIGHTS)
    parts, single = clone(model), clone(model)
    named = {} if not hasattr(bulk, "classes_") else {"classes": bulk.classes_}
    for start in range(0, N, 50):
        part = slice(start, start + 50)
        given = {} if targets is None else {"y": targets[part]}
        parts.partial_fit(POINTS[part], **given, sample_weight=WEIGHTS[part], **named)
    if named:
        single.start(2, bulk.classes_)
    for t, x in enumerate(POINTS):
        single.learn_one(x, *listed[t : t + 1], sample_weight=float(WEIGHTS[t]))
    others = [parts] if "KernelPerceptron(kernel=" in repr(model) else [parts, single]  # its width is that of the data
    kernel = bl.Gaussian(sigma=0.5)
    if getattr(model, "sigma", None) and not many:
        plain = clone(model).set_params(sigma=None, kernel=lambda a, b: float(kernel.row(a[None], b)[0]))
        others.append(plain.fit(POINTS, targets, sample_weight=WEIGHTS))
    for other in others:
        np.testing.assert_allclose(scores_of(other), scores_of(bulk), atol=2e-6)


CLASSIFIERS = [
    (model, many) for model, many in (*((m, False) for m in EVERY), *((m, True) for m in MANY_CLASSES))
    if "class_weight" in model.get_params()
]  # fmt: skip


@pytest.mark.parametrize(("model", "many"), CLASSIFIERS, ids=repr)
def test_weights_of_classes_are_weights_of_their_samples(model, many, tmp_path):
    _, labels = task_of(model, N, many)
    factors = dict(zip(np.unique(labels).tolist(), [0.5, 3.0, 1.5], strict=False))
    expected = clone(model).fit(POINTS, labels, sample_weight=WEIGHTS * [factors[y] for y in labels.tolist()])
    named = clone(model).set_params(class_weight=factors).fit(POINTS, labels, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(scores_of(named), scores_of(expected))
    balanced = clone(model).set_params(class_weight="balanced").fit(POINTS, labels)
    np.testing.assert_allclose(
        balanced.class_weight_, compute_class_weight("balanced", classes=balanced.classes_, y=labels), rtol=1e-15
    )
    if not hasattr(model, "partial_fit"):
        return
    bl.save(balanced, tmp_path / "model.npz")
    again = bl.load(tmp_path / "model.npz")
    for x, y in zip(POINTS[:20], labels[:20].tolist(), strict=True):
        again.learn_one(x, y)
    balanced.partial_fit(POINTS[:20], labels[:20])
    np.testing.assert_allclose(scores_of(again), scores_of(balanced), atol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({-1: 0.0}, "class_weight must have positive values, got 0.0"),
        ({5: 1.0}, r"class_weight must name classes of \[-1, 1\], got 5"),
        ("equal", "class_weight must be a mapping of classes, 'balanced' or None, got 'equal'"),
    ],
)
def test_wrong_weights_of_classes_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        bl.KernelPerceptron(class_weight=given).fit(POINTS, LABELS.astype(int))


def test_balanced_weights_need_all_labels():
    with pytest.raises(ValueError, match="unless fit is called first"):
        bl.KernelPerceptron(class_weight="balanced").partial_fit(POINTS, LABELS)
    with pytest.raises(ValueError, match="must find samples of every class, got none of 1"):
        bl.KernelPerceptron(class_weight="balanced").fit(POINTS, LABELS, sample_weight=LABELS < 0)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_a_single_sample_needs_a_positive_weight(weight):
    for model, y in ((bl.KernelPerceptron(), (1,)), (bl.NORMARegressor(), (0.5,)), (bl.OLKNovelty(), ())):
        with pytest.raises(ValueError, match="sample_weight must be positive and finite"):
            model.learn_one(POINTS[0], *y, sample_weight=weight)
        assert not hasattr(model, "expansion_")


@pytest.mark.parametrize("weights", [np.full(N, -1.0), np.full(N, np.nan), np.zeros(N), np.ones(N - 1)])
def test_wrong_weights_change_nothing(weights):
    model = bl.KernelPerceptron(sigma=0.5).fit(POINTS, LABELS)
    before = scores_of(model)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=r"sample_weight|Sample weights|Negative values"):
            call(POINTS, LABELS, sample_weight=weights)
        np.testing.assert_array_equal(scores_of(model), before)
