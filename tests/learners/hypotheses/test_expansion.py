import numpy as np
import pytest

from bgsub.learners import Gaussian, KernelExpansion


def slow_value(vectors, coefficients, x):
    return sum(a * np.exp(-np.sum((s - x) ** 2)) for s, a in zip(vectors, coefficients, strict=True))


def test_lazy_decay_equals_eager_scaling():
    rng = np.random.default_rng(1)
    expansion = KernelExpansion(Gaussian(gamma=1.0), 2, budget=50)
    vectors, coefficients = [], []
    for _ in range(100_000):
        factor = rng.uniform(0.9, 1.0)
        expansion.decay(factor)
        coefficients = [a * factor for a in coefficients]
        if rng.random() < 0.02:
            x, a = rng.normal(size=2), rng.normal()
            expansion.append(x, a)
            vectors, coefficients = [*vectors, x][-50:], [*coefficients, a][-50:]
    np.testing.assert_array_equal(expansion.support_vectors(), vectors)
    np.testing.assert_allclose(expansion.coefficients(), coefficients, rtol=1e-10, atol=0)
    assert expansion.mass() == pytest.approx(sum(coefficients), rel=1e-10)


@pytest.mark.compiled
@pytest.mark.parametrize("budget", [None, 1, 7, 16, 40])
def test_ring_forgets_the_oldest_and_growing_arrays_forget_nothing(budget):
    rng = np.random.default_rng(2)
    expansion = KernelExpansion(Gaussian(gamma=1.0), 3, budget)
    samples, weights = rng.normal(size=(60, 3)), rng.normal(size=60)
    for i, (x, a) in enumerate(zip(samples, weights, strict=True)):
        forgotten = expansion.append(x, a)
        if budget is None or i < budget:
            assert forgotten is None
        else:
            np.testing.assert_array_equal(forgotten[0], samples[i - budget])
            assert forgotten[1] == weights[i - budget]
    kept = 60 if budget is None else budget
    assert len(expansion) == kept
    np.testing.assert_array_equal(expansion.support_vectors(), samples[-kept:])
    np.testing.assert_array_equal(expansion.coefficients(), weights[-kept:])
    vectors, coefficients = expansion.slots()
    x = rng.normal(size=3)
    assert expansion.row(x) @ coefficients == pytest.approx(slow_value(vectors, coefficients, x), rel=1e-12)
    assert expansion.value(x) == pytest.approx(slow_value(samples[-kept:], weights[-kept:], x), rel=1e-12)
    np.testing.assert_array_equal(expansion.values(x[None]), [expansion.value(x)])


def test_zero_coefficients_are_not_stored():
    expansion = KernelExpansion(Gaussian(gamma=1.0), 1)
    assert expansion.append(np.zeros(1), 0.0) is None
    assert len(expansion) == 0


def test_decay_to_nothing_forgets_everything():
    expansion = KernelExpansion(Gaussian(gamma=1.0), 1)
    expansion.append(np.zeros(1), 1.0)
    expansion.decay(0.0)
    assert (len(expansion), expansion.value(np.zeros(1)), expansion.mass()) == (0, 0.0, 0.0)


def test_nothing_can_be_dropped_from_nothing():
    expansion = KernelExpansion(Gaussian(gamma=1.0), 1)
    expansion.drop_below(1.0)
    assert len(expansion) == 0


def test_small_coefficients_are_dropped_and_the_ring_keeps_its_order():
    expansion = KernelExpansion(Gaussian(gamma=1.0), 1, budget=4)
    for x, a in enumerate([9.0, 0.1, -2.0, 0.2, 3.0, 0.05]):
        expansion.append(np.array([float(x)]), a)
    expansion.drop_below(0.15)
    np.testing.assert_array_equal(expansion.support_vectors().ravel(), [2.0, 3.0, 4.0])
    np.testing.assert_array_equal(expansion.coefficients(), [-2.0, 0.2, 3.0])
    for x in (6.0, 7.0):
        expansion.append(np.array([x]), x)
    np.testing.assert_array_equal(expansion.support_vectors().ravel(), [3.0, 4.0, 6.0, 7.0])


@pytest.mark.compiled
def test_several_outputs_share_the_vectors():
    expansion = KernelExpansion(Gaussian(gamma=1.0), 1, budget=2, outputs=3)
    expansion.append(np.zeros(1), np.zeros(3))
    for x in (0.0, 1.0, 2.0):
        expansion.decay(0.5)
        expansion.append(np.array([x]), np.array([x, 0.0, -1.0]))
    np.testing.assert_array_equal(expansion.coefficients(), [[0.5, 0, -0.5], [2, 0, -1]])
    np.testing.assert_allclose(
        expansion.combine(expansion.row(np.array([2.0]))), [2 + 0.5 * np.exp(-1), 0, -1 - 0.5 * np.exp(-1)]
    )
