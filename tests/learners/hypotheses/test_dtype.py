"""Support vectors in single precision."""

import numpy as np
import pytest
from sklearn.base import clone

from bgsub.learners import (
    ALMAClassifier,
    ForgetronClassifier,
    KernelPerceptron,
    KRLSRegressor,
    LSSVMClassifier,
    LSSVMRegressor,
    NORMAClassifier,
    NORMANovelty,
    NORMARegressor,
    OBPMClassifier,
    OLKClassifier,
    OLKNovelty,
    OLKRegressor,
    PassiveAggressiveKernel,
    ProjectronClassifier,
    RBPClassifier,
    SVMDClassifier,
    SVMDNovelty,
    SVMDRegressor,
    load,
    save,
)
from tests.learners.known import quick_first, rings

LEARNERS = [
    KernelPerceptron(budget=20, evict="smallest"),
    ALMAClassifier(),
    ForgetronClassifier(budget=20),
    KRLSRegressor(nu=0.01),
    LSSVMClassifier(),
    LSSVMRegressor(),
    NORMAClassifier(),
    NORMANovelty(),
    NORMARegressor(),
    OBPMClassifier(n_members=5, kernel="gaussian", random_state=0),
    OLKClassifier(budget=20),
    OLKNovelty(),
    OLKRegressor(),
    PassiveAggressiveKernel(),
    ProjectronClassifier(margin="published"),
    RBPClassifier(budget=20, random_state=0),
    SVMDClassifier(budget=20),
    SVMDNovelty(budget=20),
    SVMDRegressor(budget=20),
]


def scores(model, samples):
    name = "decision_function" if hasattr(model, "decision_function") else "predict"
    return getattr(model, name)(samples)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("model", quick_first(LEARNERS), ids=repr)
def test_only_what_is_stored_is_rounded(model, compiled):
    """On samples that float32 can hold, both ways do the same to the last bit; others are rounded first."""
    samples, labels = rings(150)
    exact = samples.astype(np.float32).astype(np.float64)
    given = {"sigma": 0.7} if compiled else {"kernel": lambda a, b: float(np.exp(-((a - b) @ (a - b))))}
    double = clone(model).set_params(**given).fit(exact, labels)
    single = clone(model).set_params(**given, dtype="float32").fit(samples, labels)
    assert single.support_vectors_.dtype == np.float32
    np.testing.assert_array_equal(single.support_vectors_, double.support_vectors_)
    np.testing.assert_array_equal(single.dual_coef_, double.dual_coef_)
    np.testing.assert_array_equal(scores(single, samples), scores(double, exact))
    np.testing.assert_allclose([single.score_one(x) for x in samples[:9]], scores(single, samples[:9]), atol=1e-14)


SAVED = [KernelPerceptron(), KRLSRegressor(), SVMDClassifier(), NORMANovelty()]


@pytest.mark.parametrize("model", quick_first(SAVED), ids=repr)
def test_files_and_single_samples_keep_the_precision(model, tmp_path):
    samples, labels = rings(100)
    bulk = clone(model).set_params(sigma=0.7, dtype="float32").fit(samples[:60], labels[:60])
    save(bulk, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.support_vectors_.dtype == np.float32
    bulk.partial_fit(samples[60:], labels[60:])
    for x, y in zip(samples[60:], labels[60:].tolist(), strict=True):
        again.learn_one(*([x] if isinstance(model, NORMANovelty) else [x, y]))
    np.testing.assert_array_equal(scores(bulk, samples), scores(again, samples))


def test_what_float32_cannot_hold_is_refused():
    samples, labels = rings(20)
    model = KernelPerceptron(sigma=0.7, dtype="float32").fit(samples, labels)
    before = model.dual_coef_.tobytes(), model.t_
    with pytest.raises(ValueError, match="X must be within the range of float32, got 1e\\+39"):
        model.partial_fit([[0.0, 1e39]], [1])
    with pytest.raises(ValueError, match="x must be finite"):
        model.learn_one(np.array([0.0, 1e39]), 1)
    assert (model.dual_coef_.tobytes(), model.t_) == before
    with pytest.raises(ValueError, match="dtype must be one of 'float64', 'float32', got 'float16'"):
        KernelPerceptron(sigma=0.7, dtype="float16").fit(samples, labels)
    with pytest.raises(ValueError, match="dtype must be one of"):
        ProjectronClassifier(sigma=0.7, dtype=None).fit(samples, labels)
