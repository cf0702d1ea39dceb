"""Banks of learners, against plain loops over the published algorithm and single learners."""

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from bgsub._numba import JIT_ENABLED
from bgsub.learners import (
    BankClassifier,
    BankRegressor,
    KernelPerceptron,
    KRLSRegressor,
    Laplacian,
    NORMAClassifier,
    NORMARegressor,
    OLKClassifier,
    OLKNovelty,
    export,
    load,
    save,
)
from bgsub.learners.meta.hedge import AdaHedge
from tests.learners.known import rings


def published(losses):
    """Return the mean losses of AdaHedge, and the gaps, as figure 1 of the paper computes them step by step."""
    n = losses.shape[1]
    totals, gap, means, gaps = [0.0] * n, 0.0, [], []
    for row in losses.tolist():
        least = min(totals)
        if gap == 0:
            leaders = [i for i in range(n) if totals[i] == least]
            mean = math.fsum(row[i] for i in leaders) / len(leaders)
            totals = [a + b for a, b in zip(totals, row, strict=True)]
            mix = min(totals) - least
        else:
            rate = math.log(n) / gap
            w = [math.exp(-rate * (total - least)) for total in totals]
            w = [each / math.fsum(w) for each in w]
            mean = math.fsum(a * b for a, b in zip(w, row, strict=True))
            mix = -math.log(math.fsum(a * math.exp(-rate * b) for a, b in zip(w, row, strict=True))) / rate
            totals = [a + b for a, b in zip(totals, row, strict=True)]
        gap += max(0.0, mean - mix)
        means.append(mean)
        gaps.append(gap)
    return np.array(means), np.array(gaps)


LOSSES = {
    "mistakes": np.random.default_rng(0).random((300, 4)) < [0.5, 0.4, 0.1, 0.3],
    "errors": np.random.default_rng(1).exponential(size=(300, 3)) * [1.0, 2.0, 0.9],
    "one is best from the first": np.outer(np.ones(40), [0.0, 1.0, 2.0]),
    "they take turns": np.stack([np.arange(200) % 2, 1 - np.arange(200) % 2], axis=1),
    "alike": np.ones((10, 3)),
    "huge": 1e9 * np.random.default_rng(2).random((100, 2)),
    "alone": np.ones((5, 1)),
}


@pytest.mark.parametrize("losses", LOSSES.values(), ids=LOSSES)
def test_weights_are_those_of_the_published_algorithm_and_keep_its_bound(losses):
    losses = losses.astype(float)
    hedge = AdaHedge(losses.shape[1])
    means, gaps = published(losses)
    for t, row in enumerate(losses):
        weights = hedge.weights()
        assert weights.sum() == pytest.approx(1.0)
        assert hedge.learn(row) == pytest.approx(weights @ row)
        assert hedge.gap == pytest.approx(gaps[t], rel=1e-6, abs=1e-12 * losses.max())
        regret = hedge.mean_total - hedge.totals.min()
        assert regret <= 2 * hedge.gap + 1e-9 * losses.sum()
    assert hedge.mean_total == pytest.approx(means.sum(), rel=1e-6)
    np.testing.assert_allclose(hedge.totals, losses.sum(axis=0))


@pytest.mark.parametrize("discount", [0.5, 0.97])
@pytest.mark.parametrize("losses", LOSSES.values(), ids=LOSSES)
def test_discounted_weights_keep_the_bound_for_discounted_losses(losses, discount):
    losses = losses.astype(float)
    hedge, means = AdaHedge(losses.shape[1], discount), []
    for t, row in enumerate(losses, 1):
        before = hedge.weights()
        means.append(before @ row)
        hedge.learn(row)
        shares = discount ** np.arange(t)[::-1]
        np.testing.assert_allclose(hedge.totals, shares @ losses[:t], rtol=1e-9, atol=1e-12)
        assert hedge.mean_total == pytest.approx(shares @ means, rel=1e-9)
        assert hedge.mean_total - hedge.totals.min() <= 2 * hedge.gap + 1e-9 * hedge.totals.max()


def test_a_discount_follows_the_best_where_it_changes_and_survives_silence():
    losses = np.repeat([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [200, 60, 3000], axis=0)
    lasting, discounted = AdaHedge(2), AdaHedge(2, 0.9)
    for t, row in enumerate(losses):
        lasting.learn(row)
        discounted.learn(row)
        if t == 259:
            assert (discounted.weights()[1] > 0.99, lasting.weights()[1] < 0.01) == (True, True)
    assert discounted.weights().sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "model",
    [
        BankClassifier(OLKClassifier(average=True), {"sigma": [0.3, 1.0], "C": [0.1, 1.0]}),
        BankClassifier(NORMAClassifier(kernel=Laplacian(gamma=1.0)), {"eta": [0.03, 0.3]}, discount=0.95),
        BankClassifier(discount=0.9),
        BankRegressor(KRLSRegressor(), [{"sigma": [0.3]}, {"sigma": [1.0], "nu": [0.1]}]),
    ],
    ids=["olk", "norma", "default", "krls"],
)
def test_a_saved_bank_continues_with_the_same_bits_and_sparse_rows_are_the_same(model, tmp_path):
    samples, labels = rings(90)
    targets = np.sin(samples[:, 0]) if isinstance(model, BankRegressor) else np.where(labels > 0, "in", "out")
    first = clone(model).fit(csr_matrix(samples[:60]), targets[:60])
    dense = clone(model).fit(samples[:60], targets[:60])
    np.testing.assert_allclose(first.weights_, dense.weights_, rtol=1e-9)
    np.testing.assert_array_equal(first.predict(csr_matrix(samples)), first.predict(samples))
    save(dense, tmp_path / "bank.npz")
    again = load(tmp_path / "bank.npz")
    assert (type(again), repr(again.get_params())) == (type(dense), repr(dense.get_params()))
    for each in (dense, again):
        each.partial_fit(samples[60:], targets[60:])
    for name in ("weights_", "losses_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(dense, name))
    np.testing.assert_array_equal(again.predict(samples), dense.predict(samples))
    assert (again.t_, again.best_params_, again.hedge_.gap) == (90, dense.best_params_, dense.hedge_.gap)
    with pytest.raises(ValueError, match="model must not be a bank to be exported"):
        export(dense, tmp_path / "plain.npz")


def test_a_bank_that_cannot_be_saved_says_why(tmp_path):
    samples, labels = rings(30)
    with pytest.raises(ValueError, match="must have learned something"):
        save(BankClassifier(), tmp_path / "bank.npz")
    kernels = BankClassifier(grid={"kernel": [Laplacian(gamma=1.0)]}).fit(samples, labels)
    with pytest.raises(ValueError, match="grid must be a number, text or None to be saved"):
        save(kernels, tmp_path / "bank.npz")
    assert not list(tmp_path.iterdir())


def test_samples_of_weight_zero_are_not_part_of_the_stream():
    samples, labels = rings(40)
    weights = np.tile([1.0, 0.0], 20)
    whole = BankClassifier(grid={"sigma": [0.3, 1.0]}, discount=0.9).fit(samples, labels, sample_weight=weights)
    part = BankClassifier(grid={"sigma": [0.3, 1.0]}, discount=0.9).fit(samples[::2], labels[::2])
    np.testing.assert_array_equal(whole.losses_, part.losses_)
    assert whole.t_ == part.t_ == 20


def test_a_bank_of_classifiers_votes_as_its_members_do():
    samples, labels = rings(150)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, 150)
    grid = {"sigma": [0.05, 0.5, 20.0], "eta": [0.02, 0.5]}
    model = BankClassifier(NORMAClassifier(), grid).fit(samples, labels, sample_weight=weights)
    pairs = itertools.product([0.02, 0.5], grid["sigma"])
    members = [NORMAClassifier(eta=eta, sigma=sigma).start(2, [-1, 1]) for eta, sigma in pairs]
    losses = np.zeros((150, 6))
    for t, (x, y, w) in enumerate(zip(samples, labels.tolist(), weights.tolist(), strict=True)):
        losses[t] = [w * (y * member.learn_one(x, y, w) <= 0) for member in members]
    hedge = AdaHedge(6)
    for row in losses:
        hedge.learn(row)
    np.testing.assert_allclose(model.losses_, losses.sum(axis=0))
    np.testing.assert_allclose(model.weights_, hedge.weights())
    sides = np.array([np.where(member.decision_function(samples) > 0, 1, -1) for member in members])
    np.testing.assert_allclose(model.decision_function(samples), model.weights_ @ sides, atol=1e-12)
    np.testing.assert_array_equal(model.predict(samples), np.where(model.weights_ @ sides > 0, 1, -1))
    assert model.best_params_ == model.settings_[int(losses.sum(axis=0).argmin())]


def test_a_bank_of_regressors_is_the_weighted_mean():
    samples, _ = rings(150)
    targets = np.sin(2 * samples[:, 0])
    model = BankRegressor(KRLSRegressor(nu=0.01), {"sigma": [0.05, 0.7, 20.0]}).fit(samples, targets)
    members, hedge = [KRLSRegressor(nu=0.01, sigma=s) for s in (0.05, 0.7, 20.0)], AdaHedge(3)
    total = 0.0
    for x, y in zip(samples, targets.tolist(), strict=True):
        predictions = np.array([member.score_one(x) for member in members])
        total += (hedge.weights() @ predictions - y) ** 2
        hedge.learn((predictions - y) ** 2)
        for member in members:
            member.learn_one(x, y)
    np.testing.assert_allclose(model.weights_, hedge.weights(), atol=1e-9)
    expected = sum(w * member.predict(samples) for w, member in zip(hedge.weights(), members, strict=True))
    np.testing.assert_allclose(model.predict(samples), expected, atol=1e-9)
    assert total <= model.losses_.min() + 2 * model.hedge_.gap
    assert model.best_params_ == {"sigma": 0.7}


@pytest.mark.parametrize("many", [False, True])
def test_rows_parts_and_single_samples_learn_the_same(many):
    samples, labels = rings(90)
    if many:
        labels = np.digitize(np.hypot(*samples.T), [0.8, 1.6])
    models = [BankClassifier(OLKClassifier(), {"sigma": [0.3, 1.0], "C": [0.1, 1.0]}) for _ in range(3)]
    models[0].fit(samples, labels)
    models[1].start(2, np.unique(labels))
    wrong = 0.0
    for x, y in zip(samples, labels.tolist(), strict=True):
        wrong += models[1].learn_one(x, y)
    for part in (slice(0, 40), slice(40, 90)):
        models[2].partial_fit(samples[part], labels[part], classes=np.unique(labels))
    for model in models[1:]:
        np.testing.assert_array_equal(model.weights_, models[0].weights_)
        np.testing.assert_array_equal(model.decision_function(samples), models[0].decision_function(samples))
        assert model.t_ == 90
    assert wrong == pytest.approx(models[0].hedge_.mean_total)
    assert models[1].predict_one(samples[0]) == models[0].predict(samples)[0]
    again = pickle.loads(pickle.dumps(models[0]))  # noqa: S301
    np.testing.assert_array_equal(again.predict(samples), models[0].predict(samples))


def test_without_a_grid_the_width_is_found_that_was_not_given():
    """The usual width is 20 times too large for these samples, that of features of variance 1 as well."""
    rng = np.random.default_rng(0)
    samples = rng.uniform(-1, 1, size=(600, 2))
    labels = (np.floor(4 * samples[:, 0]) + np.floor(4 * samples[:, 1])) % 2
    bank = BankClassifier(KernelPerceptron()).fit(samples, labels)
    assert [round(s["gamma"] / bank.settings_[2]["gamma"], 9) for s in bank.settings_] == [16.0, 4.0, 1.0, 0.25, 0.0625]
    assert bank.settings_[2]["gamma"] == pytest.approx(1 / (2 * samples.var()))
    assert bank.best_params_ == bank.settings_[0]
    assert bank.score(samples, labels) > KernelPerceptron().fit(samples, labels).score(samples, labels)
    stream = BankRegressor().partial_fit(samples[:1], samples[:1, 0])
    assert stream.settings_[2]["gamma"] == 0.5
    laplacian = BankRegressor(NORMARegressor(kernel="laplacian", eta=0.1)).fit(samples, samples[:, 0])
    assert [s["gamma"] / laplacian.settings_[2]["gamma"] for s in laplacian.settings_] == [4.0, 2.0, 1.0, 0.5, 0.25]
    steps = BankClassifier(grid={"eta": [0.1, 1.0]}).fit(samples, labels)
    assert {s["gamma"] for s in steps.settings_} == {1 / (2 * samples.var())}
    given = BankClassifier(NORMAClassifier(sigma=0.3), {"eta": [0.1, 1.0]}).fit(samples, labels)
    assert given.settings_ == [{"eta": 0.1}, {"eta": 1.0}]


def test_wrong_arguments_change_nothing():
    samples, labels = rings(30)
    for model, message in (
        (BankClassifier(OLKNovelty()), "learner must be a OnlineKernelClassifier or None"),
        (BankRegressor(KernelPerceptron()), "learner must be a OnlineKernelRegressor or None"),
        (BankClassifier(KernelPerceptron(kernel="linear")), "grid must be given where the kernel has no width"),
        (BankClassifier(grid={"sigma": [-1.0]}), "sigma must be positive"),
        (BankClassifier(discount=0.0), r"discount must be in \(0, 1\], got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(samples, labels)
        assert not hasattr(model, "experts_")
    model = BankClassifier(grid={"sigma": [0.5, 1.0]}).fit(samples, labels)
    before = pickle.dumps(model)
    for bad, message in (
        (lambda: model.learn_one([0.0], 1), "x must have 2 features"),
        (lambda: model.learn_one([0.0, np.nan], 1), "x must be finite"),
        (lambda: model.learn_one([0.0, 0.0], 7), r"y must be one of \[-1, 1\], got 7"),
        (lambda: model.learn_one([0.0, 0.0], 1, 0.0), "sample_weight must be positive"),
        (lambda: model.partial_fit(samples, labels + 5), "y must hold only the classes"),
        (lambda: model.partial_fit(samples, labels, sample_weight=np.zeros(30)), "zero"),
        (lambda: model.predict([[0.0]]), "features"),
    ):
        with pytest.raises(ValueError, match=message):
            bad()
        assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="y must be finite"):
        BankRegressor().learn_one([0.0], np.nan)


def reasons(estimator):
    order = "samples are learned in order: one step of weight 2 is not two steps, as for scikit-learn's SGD"
    return {f"check_sample_weight_equivalence_on_{kind}_data": order for kind in ("dense", "sparse")}


@pytest.mark.slow
@parametrize_with_checks([BankClassifier(), BankRegressor()], expected_failed_checks=reasons)
def test_scikit_learn_accepts(estimator, check):
    if not JIT_ENABLED and ("train" in str(check) or "non_transformer" in str(check)):
        pytest.skip("plain Python kernels are slow")
    check(clone(estimator))
