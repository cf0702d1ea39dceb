import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import roc_auc_score

from bgsub.learners import OLKClassifier, OLKNovelty, OLKRegressor, Polynomial

STREAM = 2 * np.sin(np.arange(1, 38))[:, None]
KNOWN = {"sigma": 1.0, "r": 0.05, "C": 0.4, "v": 0.1}


def two_clusters(n, seed):
    """N((2, 2), I) with 95 %, N((-2, -2), I) with 5 %: example 3 of Li 2013."""
    rng = np.random.default_rng(seed)
    outlier = rng.random(n) < 0.05
    return rng.normal(size=(n, 2)) + np.where(outlier, -2.0, 2.0)[:, None], outlier


@pytest.mark.compiled
def test_known_answer_of_the_quantile_rule():
    model = OLKNovelty(**KNOWN, score_on="f", nu=0.3, eta_rho=0.3, quantile_step="constant").fit(STREAM)
    assert (model.n_support_, model.n_novel_) == (37, 11)
    values = [model.value_one(np.array([0.3])), model.value_one(np.array([-1.2]))]
    np.testing.assert_allclose(values, [0.9668588697, 1.1668824859], atol=1e-8)
    assert model.theta_ == pytest.approx(1.0304545340, abs=1e-8)


@pytest.mark.compiled
def test_known_answer_of_the_published_rule():
    assert OLKNovelty(**KNOWN, rho_rule="published").fit(STREAM).n_novel_ == 5


@pytest.mark.parametrize("score_on", ["q", "f"])
def test_quantile_rate_identity_is_exact_with_a_constant_step(score_on):
    samples = np.cumsum(np.random.default_rng(0).normal(size=(2000, 2)), axis=0)
    model = OLKNovelty(width=3.0, score_on=score_on, nu=0.1, quantile_step="constant", budget=50)
    model.partial_fit(samples[:20])
    theta_0, novel_0 = (model.theta_, model.n_novel_) if score_on == "q" else (1.0, 0)
    counted = 1980 if score_on == "q" else 2000
    model.partial_fit(samples[20:])
    rate = (model.n_novel_ - novel_0) / counted
    assert rate == pytest.approx(0.1 - np.log(model.theta_ / theta_0) / (0.05 * counted), abs=1e-12)


def test_quantile_rate_is_bounded_with_the_decreasing_step():
    samples, _ = two_clusters(1500, 1)
    model = OLKNovelty(width=1.0).fit(samples[:20])
    start, thetas = model.theta_, []
    for x in samples[20:]:
        model.learn_one(x)
        thetas.append(model.theta_)
    largest = np.abs(np.log(np.array(thetas) / start)).max()
    assert abs(model.n_novel_ / 1480 - 0.05) <= 2 * largest / (0.05 * 1480)


def test_warmup_is_all_normal_and_sets_half_the_mean_score():
    model = OLKNovelty(width=1.0, warmup=10)
    scores = []
    for x in two_clusters(10, 2)[0]:
        assert not model.learn_one(x)
        scores.append(model.last_density_)
        assert (model.theta_ == 0.0) == (len(scores) < 10)
    assert scores[0] == 1.0
    assert model.theta_ == pytest.approx(0.5 * np.mean(scores[1:]))


def test_two_clusters_are_told_apart_as_in_example_3():
    areas, rates = [], []
    for seed in range(5):
        samples, _ = two_clusters(1000, seed)
        model = OLKNovelty(width=1.0, C=0.2, v=0.1, r=0.001, budget=None).fit(samples)
        fresh, outlier = two_clusters(1000, 100 + seed)
        areas.append(roc_auc_score(outlier, [-model.value_one(x) for x in fresh]))
        rates.append(model.n_novel_ / model.t_)
    assert np.mean(areas) >= 0.95
    assert 0.03 <= np.mean(rates) <= 0.09


@pytest.mark.parametrize("kernel", ["gaussian", Polynomial(degree=2)])
def test_step_minimises_the_primal(kernel):
    r, bound = 0.1, 0.6
    given = {"width": 1.0} if kernel == "gaussian" else {}
    model = OLKNovelty(kernel=kernel, **given, r=r, v=0.0, C=bound)
    for x in np.random.default_rng(11).normal(size=(40, 2)):
        value, size = model.value_one(x), len(getattr(model, "expansion_", ()))
        model.learn_one(x)
        diagonal = model.expansion_.kernel.diag(x)
        learned = model.dual_coef_[0, -1] if model.n_support_ > size else 0.0

        # The minimiser is f_t / (1 + r) + a k(x, .); terms that do not depend on a are left out.
        def primal(a, value=value, diagonal=diagonal):
            after = value / (1 + r) + a * diagonal
            return (1 + r) / 2 * a * a * diagonal + bound * max(0.0, 1 - after)

        best = minimize_scalar(primal, bounds=(-1, 1), method="bounded", options={"xatol": 1e-9}).x
        assert learned == pytest.approx(best, abs=1e-5)


def test_interior_step_puts_the_sample_on_the_level_one():
    model = OLKNovelty(width=1.0, v=0.0, C=5.0, r=0.2)
    for x in np.random.default_rng(12).normal(size=(30, 2)):
        before = model.value_one(x)
        model.learn_one(x)
        if before < 1.2:
            assert model.value_one(x) == pytest.approx(1.0, abs=1e-12)


def test_published_rule_is_a_fixed_level_on_f_for_unit_kernels():
    samples, _ = two_clusters(400, 3)
    published = OLKNovelty(width=1.0, rho_rule="published")
    fixed = OLKNovelty(width=1.0, rho_rule="fixed", score_on="f", level=1 + 0.001 - 0.2)
    novel = [published.learn_one(x) for x in samples]
    assert novel == [fixed.learn_one(x) for x in samples]
    assert 0 < sum(novel) < len(novel)


@pytest.mark.compiled
def test_published_rule_divides_by_the_diagonal():
    model = OLKNovelty(kernel=Polynomial(degree=2), rho_rule="published", C=0.2, r=0.01)
    for x in np.random.default_rng(13).normal(size=(50, 2)):
        expected = model.value_one(x) < 1 + 0.01 - 0.2 * (1 + x @ x) ** 2
        assert model.learn_one(x) == expected


def test_kkt_rule_flags_about_half():
    samples, _ = two_clusters(1000, 4)
    model = OLKNovelty(width=1.0, rho_rule="kkt").fit(samples)
    assert 0.3 < model.n_novel_ / model.t_ < 0.7
    assert model.rho_ == pytest.approx(max(0.0, model.value_one(samples[-1]) - 1), rel=1e-12)


def test_density_score_is_the_share_of_the_mass():
    samples, _ = two_clusters(200, 5)
    model = OLKNovelty(width=1.0, budget=30).fit(samples)
    weights = model.dual_coef_[0]
    kernel = np.exp(-np.sum((model.support_vectors_ - samples[0]) ** 2, axis=1))
    assert model.density_one(samples[0]) == pytest.approx(weights @ kernel / weights.sum(), rel=1e-12)
    assert OLKNovelty(width=1.0).density_one(samples[0]) == 1.0


def test_small_coefficients_are_forgotten():
    samples, _ = two_clusters(300, 6)
    model = OLKNovelty(width=1.0, r=0.05, thr_sv=0.05, budget=None).fit(samples)
    coefficients = model.dual_coef_[0]
    assert coefficients.min() >= 0.05
    # ln(C / thr) / ln(1 + r) steps suffice for the largest coefficient
    assert model.n_support_ <= np.log(0.2 / 0.05) / np.log(1.05) + 1


def test_without_least_step_only_unexplained_samples_are_stored():
    samples, _ = two_clusters(1000, 7)
    sparse = OLKNovelty(width=1.0, v=0.0, budget=None).fit(samples)
    assert sparse.n_support_ < 500
    assert sparse.score_samples(samples).max() <= 1.0


def gaussian(a, b):
    """Return exp(-d²), which as a Python function keeps learners out of compiled loops."""
    return float(np.exp(-np.sum((a - b) ** 2)))


@pytest.mark.compiled
@pytest.mark.parametrize("thr_sv", [0.0, 0.02, 0.15, 5.0])
@pytest.mark.parametrize(("budget", "evict"), [(None, "oldest"), (9, "oldest"), (9, "smallest"), (9, "random")])
@pytest.mark.parametrize("kind", [OLKNovelty, OLKClassifier, OLKRegressor])
def test_forgetting_small_coefficients_is_the_same_in_compiled_code(kind, thr_sv, budget, evict):
    samples = np.random.default_rng(20).normal(size=(80, 2))
    targets = () if kind is OLKNovelty else (np.where(samples[:, 0] > 0, 1, -1),)
    given = {"thr_sv": thr_sv, "budget": budget, "evict": evict, "random_state": 0, "r": 0.04}
    if kind is OLKNovelty:
        given["rho_rule"] = "kkt"
    fast = kind(width=1.0, **given).fit(samples, *targets)
    slow = kind(kernel=gaussian, **given).fit(samples, *targets)
    assert fast._compiled() > slow._compiled()
    assert fast.n_support_ == slow.n_support_
    assert (fast.n_support_ == 0) == (thr_sv == 5.0)
    np.testing.assert_array_equal(fast.support_vectors_, slow.support_vectors_)
    np.testing.assert_allclose(fast.dual_coef_, slow.dual_coef_, rtol=1e-12)
    if kind is OLKNovelty:
        assert (fast.rho_, fast.n_novel_) == (pytest.approx(slow.rho_, abs=1e-12), slow.n_novel_)
        np.testing.assert_allclose(fast.score_samples(samples), slow.score_samples(samples), atol=1e-12)


@pytest.mark.compiled
def test_forgetting_small_coefficients_equals_a_plain_loop():
    r, bound, eps, least, budget = 0.05, 0.6, 0.1, 0.12, 6
    samples = np.random.default_rng(21).uniform(-3, 3, size=(200, 1))
    targets = np.sin(2 * samples[:, 0])
    model = OLKRegressor(width=1.0, r=r, C=bound, eps=eps, thr_sv=least, budget=budget)
    vectors, coefficients, dropped, full = np.zeros(0), np.zeros(0), 0, 0
    for x, y in zip(samples[:, 0], targets, strict=True):
        f = coefficients @ np.exp(-((vectors - x) ** 2))
        model.learn_one(np.array([x]), y)
        up = np.clip((1 + r) * (y - eps) - f, 0, bound)
        down = np.clip(f - (1 + r) * (y + eps), 0, bound)
        coefficients = coefficients / (1 + r)
        if up != down:
            full += len(vectors) == budget
            vectors = np.append(vectors, x)[-budget:]
            coefficients = np.append(coefficients, (up - down) / (1 + r))[-budget:]
        kept = np.abs(coefficients) >= least
        dropped += (~kept).sum()
        vectors, coefficients = vectors[kept], coefficients[kept]
        np.testing.assert_array_equal(model.support_vectors_[:, 0], vectors)
        np.testing.assert_allclose(model.dual_coef_[0], coefficients, rtol=1e-12)
    assert dropped > 20
    assert full > 5


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [OLKClassifier, OLKRegressor])
def test_each_violation_is_counted_and_stored(kind):
    samples = np.random.default_rng(23).normal(size=(120, 2))
    model = kind(width=1.0, budget=None).fit(samples, np.sign(samples[:, 0]))
    assert 20 < model.n_violations_ == model.n_support_ < 120


@pytest.mark.compiled
@pytest.mark.parametrize("budget", [None, 20])
def test_kkt_rule_equals_a_plain_loop(budget):
    r, v, bound = 0.05, 0.1, 0.2
    samples = np.random.default_rng(22).normal(size=60)
    model = OLKNovelty(width=1.0, r=r, v=v, C=bound, rho_rule="kkt", budget=budget).fit(samples[:, None])
    vectors, coefficients, rho, novel, positive = [], np.zeros(0), 0.0, 0, 0
    for x in samples:
        f = coefficients @ np.exp(-((np.array(vectors) - x) ** 2)) if vectors else 0.0
        novel += f < 1 + rho
        coefficients = np.append(coefficients / (1 + r), np.clip(1 + r - f, v, bound) / (1 + r))
        vectors.append(x)
        if budget:
            vectors, coefficients = vectors[-budget:], coefficients[-budget:]
        rho = max(0.0, coefficients @ np.exp(-((np.array(vectors) - x) ** 2)) - 1)
        positive += rho > 0
    assert model.n_novel_ == novel
    assert model.rho_ == pytest.approx(rho, abs=1e-12)
    assert positive > 5


@pytest.mark.compiled
def test_a_sample_without_length_gets_the_least_coefficient():
    """k(x, .) = 0 changes f nowhere, but counts in the sum of the coefficients."""
    model = OLKNovelty(kernel="linear", r=0.0, v=0.1, C=0.2).fit([[1.0], [0.0], [2.0]])
    np.testing.assert_allclose(model.dual_coef_[0], [0.2, 0.1, 0.15])
    weighted = OLKNovelty(kernel="linear", r=0.0, v=0.1, C=0.2).fit([[0.0]], sample_weight=[3.0])
    np.testing.assert_allclose(weighted.dual_coef_[0], [0.3])
