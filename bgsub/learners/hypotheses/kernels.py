"""Mercer kernels: similarity of one sample to a set of support vectors."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from bgsub.learners._checks import check_integer, check_real
from bgsub.learners._jit.records import Array
from bgsub.learners._jit.store import GAUSSIAN, LAPLACIAN, LINEAR, POLYNOMIAL, MercerKernel

__all__ = [
    "Array",
    "CallableKernel",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Normalised",
    "Polynomial",
    "Precomputed",
    "resolve_kernel",
    "scale_gamma",
]


class Kernel(ABC):
    """A symmetric, positive semi-definite function k(x, x') of two samples."""

    unit_diagonal = False
    """True where k(x, x) is 1 for all x, or 0 for some, so that |k| <= 1."""

    @property
    def code(self) -> MercerKernel | None:
        """The kernel as compiled loops compute it; None where they cannot."""
        return None

    @abstractmethod
    def row(self, vectors: Array, x: Array) -> Array:
        """k(s, x) for each row s of `vectors` (n, d) and one sample x (d,): an (n,) float64 array."""

    def diag(self, x: Array) -> float:
        """k(x, x) of one sample (d,)."""
        return float(self.row(x[None, :], x)[0])

    def diagonals(self, samples: Array) -> Array:
        """k(x, x) of each row of samples (m, d): an (m,) float64 array."""
        return np.array([self.diag(x) for x in samples], np.float64)

    def matrix(self, a: Array, b: Array) -> Array:
        """Return k of each row of a (m, d) with each of b (n, d): (m, n), rows with the bits of `row`."""
        return np.array([self.row(b, x) for x in a], dtype=np.float64).reshape(len(a), len(b))


class Gaussian(Kernel):
    """k(x, x') = exp(-gamma d²) with d the Euclidean distance.

    Give exactly one of the three; the other two can be read.

    Parameters
    ----------
    gamma : float
        Factor of the squared distance.
    sigma : float
        Standard deviation of the bell: gamma = 1 / (2 sigma²).
    width : float
        Distance at which k falls to 1/e: gamma = 1 / width².

    Raises
    ------
    ValueError
        If none or several are given, or the value is not positive.

    Examples
    --------
    >>> kernel = Gaussian(width=2.0)
    >>> kernel.gamma
    0.25
    >>> kernel.row(np.array([[0.0], [2.0]]), np.array([0.0])).round(4)
    array([1.    , 0.3679])
    """

    unit_diagonal = True

    def __init__(self, *, gamma: float | None = None, sigma: float | None = None, width: float | None = None) -> None:
        given = {
            name: value for name, value in (("gamma", gamma), ("sigma", sigma), ("width", width)) if value is not None
        }
        if len(given) != 1:
            raise ValueError(f"exactly one of gamma, sigma and width must be given, got {sorted(given) or 'none'}")
        [(name, value)] = given.items()
        check_real(name, value, "be positive", above=0)
        if name == "sigma":
            value = 1 / (2 * value * value)
        elif name == "width":
            value = 1 / (value * value)
        self._gamma = float(value)

    @property
    def gamma(self) -> float:
        """Factor of the squared distance."""
        return self._gamma

    @property
    def sigma(self) -> float:
        """Standard deviation."""
        return math.sqrt(0.5 / self._gamma)

    @property
    def width(self) -> float:
        """Distance at which k is 1/e."""
        return math.sqrt(1 / self._gamma)

    @property
    def code(self) -> MercerKernel:  # noqa: D102
        return MercerKernel(GAUSSIAN, self._gamma)

    def row(self, vectors: Array, x: Array) -> Array:  # noqa: D102
        # The expanded form s.s - 2 s.x + x.x would lose all digits of small distances.
        difference = np.subtract(vectors, x, dtype=np.float64)
        squares = np.einsum("ij,ij->i", difference, difference)
        squares *= -self._gamma
        result: Array = np.exp(squares, out=squares)
        return result

    def diag(self, x: Array) -> float:  # noqa: D102
        return 1.0

    def __repr__(self) -> str:
        return f"Gaussian(gamma={self._gamma!r})"


class Laplacian(Kernel):
    """k(x, x') = exp(-gamma sum |x_j - x'_j|), with heavier tails than the Gaussian.

    Parameters
    ----------
    gamma : float
        Factor of the distance, positive.
    """

    unit_diagonal = True

    def __init__(self, *, gamma: float) -> None:
        check_real("gamma", gamma, "be positive", above=0)
        self.gamma = float(gamma)

    @property
    def code(self) -> MercerKernel:  # noqa: D102
        return MercerKernel(LAPLACIAN, self.gamma)

    def row(self, vectors: Array, x: Array) -> Array:  # noqa: D102
        distance = np.abs(np.subtract(vectors, x, dtype=np.float64)).sum(axis=1)
        result: Array = np.exp(-self.gamma * distance)
        return result

    def diag(self, x: Array) -> float:  # noqa: D102
        return 1.0

    def __repr__(self) -> str:
        return f"Laplacian(gamma={self.gamma!r})"


class Polynomial(Kernel):
    """k(x, x') = (gamma x·x' + coef0)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float
        Factor of the product, positive.
    coef0 : float
        Added to the product, not negative.
    """

    def __init__(self, *, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        check_integer("degree", degree, "be an integer of at least 1", least=1)
        check_real("gamma", gamma, "be positive", above=0)
        check_real("coef0", coef0, "not be negative", least=0)
        self.degree, self.gamma, self.coef0 = int(degree), float(gamma), float(coef0)

    @property
    def code(self) -> MercerKernel:  # noqa: D102
        return MercerKernel(POLYNOMIAL, self.gamma, self.coef0, self.degree)

    def row(self, vectors: Array, x: Array) -> Array:  # noqa: D102
        base = self.gamma * (np.asarray(vectors, np.float64) @ np.asarray(x, np.float64)) + self.coef0
        result = np.ones_like(base)
        exponent = self.degree
        while exponent:  # by squaring: numpy's power goes through logarithms
            if exponent & 1:
                result *= base
            base = base * base
            exponent >>= 1
        return result

    def __repr__(self) -> str:
        return f"Polynomial(degree={self.degree!r}, gamma={self.gamma!r}, coef0={self.coef0!r})"


class Linear(Kernel):
    """k(x, x') = x·x'."""

    @property
    def code(self) -> MercerKernel:  # noqa: D102
        return MercerKernel(LINEAR)

    def row(self, vectors: Array, x: Array) -> Array:  # noqa: D102
        result: Array = np.asarray(vectors, np.float64) @ np.asarray(x, np.float64)
        return result

    def __repr__(self) -> str:
        return "Linear()"


class CallableKernel(Kernel):
    """A Python function of two samples; it must be symmetric and positive semi-definite.

    Of that only k(x, x) >= 0 is checked.

    Parameters
    ----------
    function : callable
        Takes two (d,) arrays and returns a number.

    Examples
    --------
    >>> kernel = CallableKernel(lambda a, b: float(min(a[0], b[0])))
    >>> kernel.row(np.array([[1.0], [3.0]]), np.array([2.0]))
    array([1., 2.])
    """

    def __init__(self, function: Callable[[Array, Array], float]) -> None:
        self.function = function

    def row(self, vectors: Array, x: Array) -> Array:  # noqa: D102
        values = np.array([self.function(vector, x) for vector in vectors], dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(f"kernel must return finite numbers, got {values[~np.isfinite(values)][0]}")
        return values

    def diag(self, x: Array) -> float:  # noqa: D102
        value = super().diag(x)
        if value < 0:
            raise ValueError(f"kernel must be positive semi-definite, got k(x, x) = {value:g}")
        return value

    def __repr__(self) -> str:
        return f"CallableKernel({self.function!r})"


class Precomputed(Kernel):
    """Values that are computed beforehand; a sample is the index of a row.

    Parameters
    ----------
    matrix : (n, n) array
        k of all samples with each other, symmetric and positive semi-definite.

    Raises
    ------
    ValueError
        If the matrix is not square or not symmetric.

    Examples
    --------
    >>> kernel = Precomputed([[2.0, 0.5], [0.5, 1.0]])
    >>> kernel.row(np.array([[0], [1]]), np.array([1]))
    array([0.5, 1. ])
    """

    def __init__(self, matrix: Any) -> None:
        self.known = np.asarray(matrix, np.float64)
        square = self.known.ndim == 2 and self.known.shape[0] == self.known.shape[1]
        if not square or not np.allclose(self.known, self.known.T):
            raise ValueError(f"matrix must be square and symmetric, got an array of shape {self.known.shape}")

    def row(self, vectors: Array, x: Array) -> Array:  # noqa: D102
        result: Array = self.known[int(x[0]), np.asarray(vectors)[:, 0].astype(np.intp)]
        return result

    def __repr__(self) -> str:
        return f"Precomputed({len(self.known)} samples)"


class Normalised(Kernel):
    """k(x, x') / sqrt(k(x, x) k(x', x')) of another kernel, so that k(x, x) = 1; 0 where a diagonal is 0.

    Parameters
    ----------
    kernel : Kernel
        What is normalised.

    Examples
    --------
    >>> Normalised(Linear()).row(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([1.0, 0.0]))
    array([0.6, 0. ])
    """

    unit_diagonal = True

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def row(self, vectors: Array, x: Array) -> Array:  # noqa: D102
        norms = np.sqrt(np.array([self.kernel.diag(vector) for vector in vectors]) * self.kernel.diag(x))
        result: Array = np.divide(self.kernel.row(vectors, x), norms, out=np.zeros(len(vectors)), where=norms > 0)
        return result

    def __repr__(self) -> str:
        return f"Normalised({self.kernel!r})"


def scale_gamma(samples: Any) -> float:
    """1 / (d var(X)), the width scikit-learn calls "scale"; 1 where all samples are equal."""
    if issparse(samples):
        variance = float(samples.multiply(samples).mean() - samples.mean() ** 2)
    else:
        variance = float(np.var(samples))
    return 1 / (samples.shape[1] * variance) if variance > 0 else 1.0


def resolve_kernel(
    kernel: str | Kernel | Callable[[Array, Array], float],
    *,
    gamma: float | str | None,
    sigma: float | None,
    width: float | None,
    degree: int,
    coef0: float,
    n_features: int,
    samples: Array | None,
) -> Kernel:
    """Make the kernel an estimator's parameters ask for.

    `gamma` "auto" is 1 / n_features. "scale", which is also meant where a Gaussian or Laplacian gets no width
    at all, is computed from `samples`; without samples it is a ValueError.

    Examples
    --------
    >>> nothing = dict(gamma=None, sigma=None, width=None, degree=2, coef0=0.0, n_features=3, samples=None)
    >>> resolve_kernel("polynomial", **nothing)
    Polynomial(degree=2, gamma=1.0, coef0=0.0)
    """
    if isinstance(kernel, Kernel) or callable(kernel):
        if (gamma, sigma, width) != (None, None, None):
            raise ValueError(f"gamma, sigma and width must be None where kernel is an object, got {kernel!r} and one")
        return kernel if isinstance(kernel, Kernel) else CallableKernel(kernel)
    if kernel not in ("gaussian", "laplacian", "polynomial", "linear"):
        raise ValueError(
            f"kernel must be 'gaussian', 'laplacian', 'polynomial', 'linear', a Kernel or a callable, got {kernel!r}"
        )
    if kernel != "gaussian" and (sigma is not None or width is not None):
        raise ValueError(f"sigma and width must be None unless kernel is 'gaussian', got kernel {kernel!r}")
    if kernel == "linear":
        return Linear()
    if isinstance(gamma, str) and gamma not in ("scale", "auto"):
        raise ValueError(f"gamma must be positive, 'scale' or 'auto', got {gamma!r}")
    if kernel == "polynomial" and gamma is None:
        gamma = 1.0
    if gamma == "auto":
        gamma = 1 / n_features
    elif gamma == "scale" or (gamma is None and sigma is None and width is None):
        if samples is None:
            raise ValueError("gamma 'scale' must be computed from data: call fit first, or give gamma, sigma or width")
        gamma = scale_gamma(samples)
    if kernel == "gaussian":
        return Gaussian(gamma=gamma, sigma=sigma, width=width)  # type: ignore[arg-type]
    if kernel == "laplacian":
        return Laplacian(gamma=gamma)  # type: ignore[arg-type]
    return Polynomial(degree=degree, gamma=gamma, coef0=coef0)  # type: ignore[arg-type]
