import numpy as np
import pytest

from bgsub.learners import CallableKernel, Gaussian, Laplacian, Linear, Normalised, Polynomial
from bgsub.learners._jit.store import exp_nonpositive
from bgsub.learners.hypotheses.kernels import resolve_kernel

KERNELS = {
    "gaussian": Gaussian(sigma=1.3),
    "laplacian": Laplacian(gamma=0.4),
    "polynomial": Polynomial(degree=5, gamma=0.5, coef0=0.3),
    "linear": Linear(),
    "callable": CallableKernel(lambda a, b: float(a @ b) ** 2),
    "normalised": Normalised(Polynomial(degree=2)),
}


@pytest.fixture
def samples() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_matrix_is_symmetric_positive_and_agrees_with_row_and_diag(kernel, samples):
    matrix = kernel.matrix(samples, samples)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12, atol=1e-15)
    scale = np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix).min() >= -1e-10 * len(samples) * scale
    np.testing.assert_array_equal(matrix[3], kernel.row(samples, samples[3]))
    np.testing.assert_allclose([kernel.diag(x) for x in samples], np.diag(matrix), rtol=1e-12)
    if kernel.unit_diagonal:
        assert np.abs(matrix).max() <= 1 + 1e-12


def test_three_widths_of_the_gaussian_agree(samples):
    forms = [Gaussian(gamma=0.02), Gaussian(sigma=5.0), Gaussian(width=np.sqrt(50.0))]
    for form in forms:
        np.testing.assert_allclose([form.gamma, form.sigma, form.width], [0.02, 5.0, np.sqrt(50.0)], rtol=1e-13)
        np.testing.assert_allclose(form.row(samples, samples[0]), forms[0].row(samples, samples[0]), rtol=1e-13)


def test_polynomial_by_squaring_equals_numpys_power(samples):
    expected = (0.5 * samples @ samples[0] + 0.3) ** 5
    np.testing.assert_allclose(KERNELS["polynomial"].row(samples, samples[0]), expected, rtol=1e-12)


def test_integer_rows_do_not_wrap():
    colours = np.array([[0, 0, 0], [255, 255, 255]], np.uint8)
    np.testing.assert_allclose(Gaussian(width=255.0).row(colours, colours[0]), [1.0, np.exp(-3)])
    np.testing.assert_allclose(Linear().row(colours, colours[1]), [0.0, 3 * 255.0**2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(), "exactly one of gamma, sigma and width must be given, got none"),
        (lambda: Gaussian(gamma=1.0, width=1.0), "exactly one of gamma, sigma and width"),
        (lambda: Gaussian(width=-1.0), "width must be positive, got -1.0"),
        (lambda: Laplacian(gamma=0.0), "gamma must be positive, got 0.0"),
        (lambda: Polynomial(degree=0), "degree must be an integer of at least 1, got 0"),
        (lambda: Polynomial(coef0=-1.0), "coef0 must not be negative, got -1.0"),
    ],
)
def test_wrong_kernel_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def resolve(kernel, samples=None, **given):
    defaults = {"gamma": None, "sigma": None, "width": None, "degree": 3, "coef0": 1.0, "n_features": 4}
    return resolve_kernel(kernel, **{**defaults, **given}, samples=samples)


def test_estimator_parameters_become_kernels(samples):
    assert resolve("gaussian", width=2.0).gamma == 0.25
    assert resolve("gaussian", samples).gamma == 1 / (4 * samples.var())
    assert resolve("gaussian", samples, gamma="scale").gamma == 1 / (4 * samples.var())
    assert resolve("laplacian", np.ones((5, 2))).gamma == 1.0
    assert resolve("gaussian", gamma="auto").gamma == 0.25
    assert resolve("polynomial", degree=2).degree == 2
    assert isinstance(resolve("linear"), Linear)
    assert resolve(KERNELS["gaussian"]) is KERNELS["gaussian"]
    assert isinstance(resolve(lambda a, b: float(a @ b)), CallableKernel)


@pytest.mark.parametrize(
    ("kernel", "given", "message"),
    [
        ("cosine", {}, "kernel must be"),
        ("gaussian", {}, "gamma 'scale' must be computed from data"),
        ("gaussian", {"gamma": "wide"}, "gamma must be positive, 'scale' or 'auto', got 'wide'"),
        ("linear", {"sigma": 1.0}, "sigma and width must be None"),
        (Linear(), {"gamma": 1.0}, "must be None where kernel is an object"),
    ],
)
def test_wrong_estimator_parameters_are_named(kernel, given, message):
    with pytest.raises(ValueError, match=message):
        resolve(kernel, **given)


@pytest.mark.compiled
def test_compiled_exp_is_right_to_the_last_two_bits():
    y = -np.concatenate([np.linspace(0, 2, 501), np.geomspace(1e-20, 707, 501), [707.9, 708.0]])
    values = np.array([exp_nonpositive(number) for number in y.tolist()])
    assert (np.abs(values - np.exp(y)) <= 2 * np.spacing(np.exp(y))).all()
    assert [exp_nonpositive(number) for number in (0.0, -708.1, -1e9, -1e300)] == [1.0, 0.0, 0.0, 0.0]
