"""Sparse rows in learners with kernels: the results of dense rows, in blocks of which none is large."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix, random_array
from sklearn.base import clone

from bgsub.learners import CallableKernel, KernelPerceptron, KRLSTRegressor, NORMAClassifier, SVMDClassifier
from bgsub.learners._base.kernel_learner import KernelLearner
from bgsub.learners.hypotheses import samples as blocks
from tests.learners.every import EVERY, MANY_CLASSES, task_of


@pytest.fixture
def small_blocks(monkeypatch):
    """Let a block have 7 rows of two features, or one row of many."""
    monkeypatch.setattr(blocks, "_BLOCK_NUMBERS", 14)


def rows_like(samples):
    """Return samples of which many numbers are 0."""
    return np.where(np.abs(samples) < 0.4, 0.0, samples)


def output(model, samples):
    return (model.decision_function if hasattr(model, "decision_function") else model.predict)(samples)


KERNELS = [m for m in EVERY if isinstance(m, KernelLearner) and not getattr(m, "_linear", False)]
PAIRS = [(model, False) for model in KERNELS] + [(model, True) for model in MANY_CLASSES]


LATER = [pytest.param(pair, marks=pytest.mark.slow) for pair in PAIRS[1:]]


@pytest.mark.parametrize("pair", [PAIRS[0], *LATER], ids=repr)
def test_sparse_rows_are_the_same_as_dense_ones(pair, small_blocks):
    model, many = pair
    samples, targets = task_of(model, 60, many)
    samples = rows_like(samples)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    weights[5] = 0.0
    given = () if targets is None else (targets,)
    dense = clone(model).fit(samples, *given, sample_weight=weights)
    for kind in (csr_matrix, csc_matrix, csr_array):
        sparse = clone(model).fit(kind(samples), *given, sample_weight=weights)
        np.testing.assert_allclose(output(sparse, kind(samples)), output(dense, samples), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(sparse.predict(kind(samples)), sparse.predict(samples))
        assert sparse.n_support_ == dense.n_support_
    if hasattr(model, "partial_fit"):
        whole, parts = clone(model), clone(model)
        for n in (60, 20):
            whole.partial_fit(samples[:n], *(part[:n] for part in given))
            parts.partial_fit(csr_matrix(samples[:n]), *(part[:n] for part in given))
        np.testing.assert_allclose(output(parts, samples), output(whole, samples), rtol=1e-9, atol=1e-12)


def test_no_block_is_large():
    """80 MB of rows, of which 4 MB lie dense at a time."""
    rng = np.random.default_rng(0)
    rows = random_array((500, 20000), density=0.001, format="csr", rng=rng)
    labels = np.where(rng.random(500) < 0.5, -1, 1)
    model = NORMAClassifier(sigma=1.0, budget=5).fit(rows[:50], labels[:50])
    tracemalloc.start()
    model.partial_fit(rows, labels)
    model.decision_function(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_the_usual_width_is_that_of_dense_rows():
    samples = rows_like(np.random.default_rng(0).normal(size=(50, 4)))
    dense, sparse = (KernelPerceptron().fit(rows, np.arange(50) % 2) for rows in (samples, csr_matrix(samples)))
    assert sparse.expansion_.kernel.gamma == pytest.approx(dense.expansion_.kernel.gamma, rel=1e-12)
    assert KernelPerceptron().fit(csr_matrix((4, 3)), [0, 1, 0, 1]).expansion_.kernel.gamma == 1.0


def test_steps_are_recorded_in_order(small_blocks):
    samples, labels = task_of(SVMDClassifier(), 50)
    dense, sparse = (SVMDClassifier(sigma=0.5, record=True) for _ in range(2))
    for part in (slice(0, 30), slice(30, 50)):
        dense.partial_fit(samples[part], labels[part])
        sparse.partial_fit(csr_matrix(samples[part]), labels[part])
    np.testing.assert_array_equal(sparse.step_sizes_, dense.step_sizes_)


def test_deviations_of_predictions_come_of_sparse_rows(small_blocks):
    samples, targets = task_of(KRLSTRegressor(), 40)
    model = KRLSTRegressor(sigma=0.5).fit(samples, targets)
    for dense, sparse in zip(
        model.predict(samples, return_std=True), model.predict(csr_matrix(samples), return_std=True), strict=True
    ):
        np.testing.assert_array_equal(dense, sparse)


def test_what_is_wrong_in_sparse_rows_is_said_and_nothing_learned(small_blocks):
    samples, labels = task_of(KernelPerceptron(), 40)
    model = KernelPerceptron(sigma=0.5).fit(samples, labels)
    before = model.decision_function(samples)
    for bad, message in (
        (csr_matrix([[np.nan, 0.0]]), "NaN"),
        (csr_matrix([[1e200, 0.0]]), "X must be scaled"),
        (csr_matrix([[1.0, 0.0, 0.0]]), "3 features"),
    ):
        for call in (lambda rows: model.partial_fit(rows, [1]), model.predict):
            with pytest.raises(ValueError, match=message):
                call(bad)
    np.testing.assert_array_equal(model.decision_function(samples), before)
    with pytest.raises(ValueError, match="range of float32"):
        KernelPerceptron(sigma=0.5, dtype="float32").fit(csr_matrix(samples * 1e100), labels)


def test_a_kernel_that_raises_in_a_later_block_changes_nothing(small_blocks):
    samples, labels = task_of(KernelPerceptron(), 40)
    calls = []

    def kernel(a, b):
        calls.append(a)
        if len(calls) == 100:
            raise ArithmeticError
        return float(np.exp(-((a - b) ** 2).sum()))

    model = KernelPerceptron(kernel=CallableKernel(kernel)).fit(samples[:5], labels[:5])
    before = model.dual_coef_.copy(), model.t_
    with pytest.raises(ArithmeticError):
        model.partial_fit(csr_matrix(samples), labels)
    np.testing.assert_array_equal(model.dual_coef_, before[0])
    assert model.t_ == before[1]
