"""Single steps of the compiled rules at their edges: ties, floors, guards and clamps, by hand or in plain numpy."""

import numpy as np
import pytest

from bgsub.learners import (
    ALMAClassifier,
    KernelPerceptron,
    Linear,
    LinearALMAClassifier,
    LinearPAClassifier,
    LMSClassifier,
    NORMAClassifier,
    NORMARegressor,
    OBPMClassifier,
    OLKNovelty,
    PassiveAggressiveKernel,
    Perceptron,
    ProjectronClassifier,
    SVMDClassifier,
)
from bgsub.learners._jit import losses, svmd
from bgsub.learners._jit.norma import norma_class_rows, norma_rows
from bgsub.learners._jit.perceptrons import members
from bgsub.learners._jit.perceptrons.linear import LinearStore, settle_factor
from bgsub.learners._jit.records import as_record, record_type
from bgsub.learners._jit.schedules import SCHEDULES
from tests.learners.known import rings

pytestmark = pytest.mark.compiled


def svmd_parameters(**given):
    usual = {"loss": losses.HINGE, "regression": False, "width": 0.0, "c": 0.1, "eta_0": 0.1, "mu": 0.1, "lam": 0.9}
    more = {"eta_max": 1.0, "schedule": svmd.ADAPTIVE, "tau": 10.0, "buffer_fix": True}
    return as_record(svmd.SVMDParameters(**{**usual, **more, **given}))[0]


@pytest.mark.parametrize(
    ("loss", "at_the_margin"), [(losses.HINGE, 0.0), (losses.SOFT_MARGIN, 1.0), (losses.NOVELTY, 0.0)]
)
def test_a_sample_exactly_on_its_margin(loss, at_the_margin):
    assert losses.slope(loss, 0.5, 1.0, 0.5, 1.0)[2] == at_the_margin
    assert losses.slope(loss, np.nextafter(0.5, 0), 1.0, 0.5, 1.0)[2] == 1.0
    assert losses.slope(loss, np.nextafter(0.5, 1), 1.0, 0.5, 1.0)[2] == 0.0


@pytest.mark.parametrize("loss", [losses.EPSILON, losses.HUBER])
def test_a_sample_exactly_on_the_edge_of_the_tube_is_inside(loss):
    assert losses.slope(loss, 1.5, 1.0, 0.5, 1.0)[2] == 0.0
    assert losses.slope(loss, np.nextafter(1.5, 2), 1.0, 0.5, 1.0)[2] == 1.0


def test_softmax_of_large_scores_does_not_overflow():
    xi = np.zeros(3)
    curvature, violated = losses.class_slope(
        losses.SOFTMAX, np.array([1000.0, 999.0, -1000.0]), 1, np.ones((3, 3)), 1, xi
    )
    p = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(xi, [p, -p, 0.0], rtol=1e-12, atol=1e-300)
    assert (curvature, violated) == (1.0, 1.0)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_mistakes_of_many_classes_are_counted_and_ties_are_mistakes(loss):
    samples = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.digitize(samples[:, 0], [-0.4, 0.4])
    model = SVMDClassifier(sigma=0.7, loss=loss).start(2, [0, 1, 2])
    mistakes = 0
    for x, y in zip(samples, labels.tolist(), strict=True):
        scores = np.array(model.score_one(x))
        mistakes += scores[y] <= np.delete(scores, y).max()
        lead = model.learn_one(x, y)
        assert lead == pytest.approx(scores[y] - np.delete(scores, y).max(), abs=1e-12)
        assert model.n_mistakes_ == mistakes
    assert 5 < mistakes < 50


def test_the_quantile_rule_takes_steps_of_three_over_j():
    warmup, nu, least = 5, 0.3, 0.05
    model = OLKNovelty(width=1.0, warmup=warmup, nu=nu, eta_rho=least)
    scores, theta, steps = [], 0.0, set()
    for t, x in enumerate(np.random.default_rng(1).normal(size=(120, 1)), 1):
        q = model.density_one(x)
        model.learn_one(x)
        if t <= warmup:
            scores.append(q)
            theta = 0.5 * np.mean(scores[1:]) if t == warmup else 0.0
        else:
            step = np.clip(3 / (t - warmup), least, 1.0)
            steps.add(float(step))
            theta *= np.exp(step * (nu - (q < theta)))
        assert model.theta_ == pytest.approx(theta, rel=1e-9)
    assert {1.0, 0.75, least} <= steps


def test_the_bounded_projectron_equals_a_plain_loop():
    samples, labels = rings(150, noise=0.1)
    bound, gamma = 3.0, 2.0
    model = ProjectronClassifier(gamma=gamma, margin="bounded", U=bound)
    vectors, a, projected = np.zeros((0, 2)), np.zeros(0), 0
    for x, y in zip(samples, labels.tolist(), strict=True):
        k = np.exp(-gamma * ((vectors - x) ** 2).sum(axis=1))
        f = a @ k
        assert model.score_one(x) == pytest.approx(f, abs=1e-9)
        model.learn_one(x, y)
        z = y * f
        if z < 1 and (len(a) or z <= 0):
            gram = np.exp(-gamma * ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2))
            d = np.linalg.solve(gram, k) if len(a) else np.zeros(0)
            norm2 = float(k @ d)
            distance = np.sqrt(max(1 - norm2, 0))
            if z <= 0:
                if len(a) and distance <= (2 * (1 - z) - norm2 - 0.5) / (2 * bound):
                    a, projected = a + y * d, projected + 1
                else:
                    vectors, a = np.vstack([vectors, x]), np.append(a, y)
            else:
                tau = min((1 - z) / norm2, 1.0)
                if 2 * (1 - z) - tau * norm2 - 2 * bound * distance >= 0:
                    a = a + y * tau * d
        np.testing.assert_array_equal(model.support_vectors_, vectors)
        np.testing.assert_allclose(model.dual_coef_[0], a, atol=1e-7)
    assert projected > 3
    assert len(a) > 3


@pytest.mark.parametrize(
    ("factor", "distance2", "vectors"),
    [("inverse", 1e-5, 2), ("inverse", 1e-8, 1), ("triangular", 1e-8, 2), ("triangular", 1e-11, 1)],
)
def test_a_vector_that_the_others_nearly_span_is_projected(factor, distance2, vectors):
    model = ProjectronClassifier(sigma=1.0, eta=0.0, factor=factor)
    model.learn_one(np.array([0.0]), 1)
    model.learn_one(np.array([np.sqrt(distance2)]), -1)
    assert (model.n_support_, model.n_mistakes_) == (vectors, 2)


def offsets_after(xi, trace, t, **given):
    """Return the offsets after one step, for a derivative and a trace of one function."""
    offsets = np.zeros(1, record_type(svmd.Offset))
    offsets["eta"], offsets["v"], offsets["b"] = 0.3, trace, 1.0
    rows = np.zeros((len(svmd.Work._fields), 1))
    rows[2] = xi
    state = as_record(svmd.SVMDState(t=t))[0]
    svmd.move_offsets(svmd_parameters(with_offset=True, **given), state, None, offsets, svmd.Work(*rows), 0.0, 1.0)
    return offsets[0]


def test_the_step_of_an_offset_is_at_most_halved():
    halved = offsets_after(1.0, 100.0, 5.0, mu_b=0.5, lam_b=0.9)
    assert halved["eta"] == 0.15
    assert halved["b"] == pytest.approx(1.0 - 0.15)
    assert halved["v"] == pytest.approx(0.9 * 100.0 - 0.15)
    assert offsets_after(1.0, 0.2, 5.0, mu_b=0.5, lam_b=0.9)["eta"] == pytest.approx(0.3 * 0.9)


def test_the_step_of_an_offset_follows_the_schedule():
    for t in (1.0, 4.0, 9.0):
        after = offsets_after(1.0, 0.2, t, mu_b=0.5, lam_b=0.9, schedule=SCHEDULES["sqrt"])
        assert after["b"] == pytest.approx(1.0 - 0.3 / np.sqrt(t))
        assert after["eta"] == 0.3


def test_the_step_of_a_margin_is_at_most_halved():
    for trace, expected in ((-100.0, 0.1), (-0.2, 0.2 * (1 - 0.5 * 0.2 * 0.3))):
        state = as_record(svmd.SVMDState(level=1.0, eta_eps=0.2, v_eps=trace))
        svmd.move_margin(svmd_parameters(nu=0.3, mu_eps=0.5, lam_eps=0.9), state[0], 0.0)
        assert state["eta_eps"][0] == pytest.approx(expected, rel=1e-12)


def test_the_width_of_a_huber_loss_stays_above_the_longest_step():
    assert losses.least_width(losses.HUBER, 0.1, 4.0) == pytest.approx(0.4)
    model = NORMARegressor(kernel="linear", loss="huber", nu=0.5, eta=0.02, delta=0.5, lam=0.0)
    for _ in range(100):
        model.learn_one(np.array([3.0]), 0.0)  # always inside: the width shrinks
    assert model.level_ == pytest.approx(0.02 * 9)


@pytest.mark.parametrize("factor", [1e-7, 2e-6])
def test_a_factor_that_has_become_small_is_multiplied_into_what_it_scales(factor):
    store, weights = as_record(LinearStore(factor=factor)), np.array([3.0, -2.0])
    settle_factor(store[0], weights)
    assert store["factor"][0] == (1.0 if factor < 1e-6 else factor)
    np.testing.assert_allclose(weights * store["factor"][0], [3 * factor, -2 * factor], rtol=1e-15)

    stored, factors = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[factor, 1.0]])
    members.tidy(stored, factors, 2)
    assert factors.tolist() == [[1.0 if factor < 1e-6 else factor, 1.0]]
    np.testing.assert_allclose(stored[:2] * factors, [[factor, 2.0], [3 * factor, 4.0]], rtol=1e-15)
    assert stored[2].tolist() == [5.0, 6.0]


def test_an_ensemble_with_small_factors_goes_on_as_the_single_learner_does():
    samples, labels = rings(60)
    ensemble = OBPMClassifier(n_members=1, tau=1.0, base="alma", kernel=Linear()).fit(samples[:40], labels[:40])
    single = ALMAClassifier(kernel="linear").fit(samples[:40], labels[:40])
    state = ensemble.expansion_
    state.arrays.stored[:] *= state.ensemble.factors[0, 0] / 1e-9
    state.ensemble.factors[:] = 1e-9
    ensemble.partial_fit(samples[40:], labels[40:])
    single.partial_fit(samples[40:], labels[40:])
    assert ensemble.expansion_.ensemble.factors.min() > 1e-6
    np.testing.assert_allclose(
        ensemble.decision_function(samples), single.decision_function(samples), rtol=1e-9, atol=1e-12
    )


def test_carried_products_are_right_where_samples_have_different_lengths():
    samples, labels = rings(60)
    model = SVMDClassifier(kernel="linear", c=0.1, eta_0=0.05, mu=0.3, lam=0.9, budget=20)
    for x, y in zip(samples, labels.tolist(), strict=True):
        model.learn_one(3 * x, y)
        vectors, a = model.expansion_.slots()
        gram, trace = vectors @ vectors.T, model.expansion_.trace[: len(a), 0]
        assert model.norm2_ == pytest.approx(a @ gram @ a, rel=1e-9, abs=1e-12)
        assert model.f_dot_v_ == pytest.approx(a @ gram @ trace, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize(
    "model",
    [KernelPerceptron(sigma=0.7, average=True), NORMAClassifier(sigma=0.7, eta=0.3, lam=0.2, average=True)],
    ids=repr,
)
def test_the_average_is_the_mean_of_all_hypotheses(model):
    samples, labels = rings(40)
    grid, total = samples[:5] * 1.5, np.zeros(5)
    for t, (x, y) in enumerate(zip(samples, labels.tolist(), strict=True), 1):
        model.learn_one(x, y)
        total += [model.value_one(point) for point in grid]
        np.testing.assert_allclose(model.decision_function(grid), total / t, atol=1e-12)


@pytest.mark.parametrize("kind", [KernelPerceptron, PassiveAggressiveKernel])
def test_the_first_sample_of_many_classes_is_a_tie_and_so_a_mistake(kind):
    model = kind(sigma=1.0).start(1, [0, 1, 2])
    assert model.learn_one(np.array([0.0]), 1) == 0.0
    assert model.n_mistakes_ == 1


@pytest.mark.parametrize("margin", ["experiments", "published"])
def test_a_sample_within_the_span_is_projected_even_without_tolerance(margin):
    model = ProjectronClassifier(kernel="linear", eta=0.0, margin=margin)
    model.learn_one(np.array([0.5]), 1)
    model.learn_one(np.array([0.5]), 1)  # right by .25, and exactly on the one vector
    assert (model.n_support_, model.n_mistakes_, model.n_margin_updates_) == (1, 1, 1)
    assert model.score_one(np.array([0.5])) == pytest.approx(0.5)


def test_loops_are_named_by_their_rules():
    assert (norma_rows.__name__, norma_class_rows.__name__) == ("norma_rows", "norma_class_rows")


def test_the_first_sample_of_norma_is_a_tie_and_so_a_mistake():
    model = NORMAClassifier(sigma=1.0)
    assert model.learn_one(np.array([0.0]), 1) == 0.0
    assert model.n_mistakes_ == 1


def test_a_step_of_lms_is_shortened_where_it_would_overshoot():
    for eta, expected in ((0.6, 1.98 / 4), (0.4, 0.4)):
        model = LMSClassifier(eta=eta, bias=False, unit=False)
        model.learn_one(np.array([2.0]), 1)
        assert model.coef_[0, 0] == pytest.approx(2 * expected)


def test_passive_aggressive_steps_of_many_classes_equal_a_plain_loop():
    samples = np.random.default_rng(5).normal(size=(60, 2))
    labels = np.digitize(samples[:, 0], [-0.4, 0.4])
    model, vectors, a = (
        PassiveAggressiveKernel(sigma=0.7, C=0.4).start(2, [0, 1, 2]),
        np.zeros((0, 2)),
        np.zeros((0, 3)),
    )
    for x, y in zip(samples, labels.tolist(), strict=True):
        f = np.exp(-((vectors - x) ** 2).sum(axis=1) / (2 * 0.7**2)) @ a
        np.testing.assert_allclose(model.score_one(x), f, atol=1e-12)
        model.learn_one(x, y)
        rival = int(np.argmax(np.where(np.arange(3) == y, -np.inf, f)))
        lead = f[y] - f[rival]
        if lead < 1:
            step = min(0.4, (1 - lead) / 2)
            vectors, a = np.vstack([vectors, x]), np.vstack([a, step * (np.eye(3)[y] - np.eye(3)[rival])])
    assert 0 < (np.abs(a).max(axis=1) < 0.39).sum() < len(a)


@pytest.mark.parametrize(
    "model", [Perceptron(), LinearPAClassifier(), LinearALMAClassifier(), LMSClassifier()], ids=repr
)
def test_linear_learners_count_the_samples_that_change_their_weights(model):
    samples, labels = rings(60)
    model.start(2, [-1, 1])
    changes, before = 0, np.zeros(3)
    for x, y in zip(samples, labels.tolist(), strict=True):
        model.learn_one(x, y)
        weights = np.append(model.coef_[0], model.intercept_)
        changes, before = changes + (weights != before).any(), weights
        assert model.n_violations_ == changes
    assert changes > 5


def test_the_averaged_offset_is_the_mean_of_all_offsets():
    samples, labels = rings(40)
    model, offsets = NORMAClassifier(sigma=0.7, eta=0.3, offset=True, average=True), []
    latest = NORMAClassifier(sigma=0.7, eta=0.3, offset=True)
    for x, y in zip(samples, labels.tolist(), strict=True):
        model.learn_one(x, y)
        latest.learn_one(x, y)
        offsets.append(latest.intercept_[0])
        assert model.intercept_[0] == pytest.approx(np.mean(offsets), abs=1e-12)
    assert np.ptp(offsets) > 0.1


@pytest.mark.parametrize("classes", [2, 3])
def test_averages_stay_right_where_the_scale_is_set_back(classes):
    """Coefficients halve at each step: after twenty the common factor is multiplied into them."""
    samples, _ = rings(60)
    labels = np.digitize(np.hypot(*samples.T), [1.0, 1.6][: classes - 1])
    given = {"sigma": 0.5, "eta": 1.0, "lam": 0.5}
    latest = NORMAClassifier(**given).start(2, range(classes))
    total = 0.0
    for x, y in zip(samples, labels.tolist(), strict=True):
        latest.learn_one(x, y)
        total = total + latest.decision_function(samples)
    averaged = NORMAClassifier(**given, average=True).fit(samples, labels)
    np.testing.assert_allclose(averaged.decision_function(samples), total / 60, atol=1e-12)
