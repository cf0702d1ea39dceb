"""Several kernel expansions, each with a triangular factor of its Gram matrix: what Projectrons learn."""

from typing import Any

import numpy as np

from bgsub.learners._checks import check_choice
from bgsub.learners._jit import store
from bgsub.learners.hypotheses.expansion import DTYPES, hold_sample, rounded, writable
from bgsub.learners.hypotheses.kernels import Array, Kernel

__all__ = ["ProjectedExpansion"]

_FIRST_CAPACITY = 16


class ProjectedExpansion:
    """Q functions, each a weighted sum of kernels at its own support vectors, with projections onto their span.

    Parameters
    ----------
    kernel : Kernel
        Similarity of two samples.
    n_features : int
        Length of a sample.
    budget : int or None
        Most vectors kept a function; None for no limit.
    outputs : int or None
        Q; None for a single function whose value is a plain number.
    dtype : {"float64", "float32"}
        How vectors are stored; all arithmetic is in float64.
    """

    norms: Array
    coefficients_: Array
    births: Array
    sums: Array
    rows: Array
    u: Array
    w: Array

    def __init__(
        self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None, dtype: str = "float64"
    ) -> None:
        check_choice("dtype", dtype, DTYPES)
        self.kernel = kernel
        self.dtype = np.dtype(dtype)
        self.budget = budget
        self.single = outputs is None
        self._code = kernel.code
        self.kp = np.array((self._code or (0, 0.0, 0.0, 0.0))[1:])
        self._sample = np.zeros((1, n_features))
        capacity = _FIRST_CAPACITY if budget is None else min(budget, _FIRST_CAPACITY)
        sets = outputs or 1
        self.sizes = np.zeros(sets, np.int64)
        self.steps = np.zeros(1)
        self.scores = np.zeros(sets)
        self._allocate(sets, n_features, capacity)

    def _allocate(self, sets: int, n_features: int, capacity: int) -> None:
        self.vectors = np.zeros((sets, n_features, capacity), self.dtype)
        self.factors = np.zeros((sets, capacity, capacity))
        for name in ("norms", "coefficients_", "births", "sums", "rows", "u", "w"):
            setattr(self, name, np.zeros((sets, capacity)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    @property
    def size(self) -> int:
        """Number of stored vectors, of all functions together."""
        return int(self.sizes.sum())

    @property
    def compiled(self) -> bool:
        """Whether compiled loops know the kernel."""
        return self._code is not None

    @property
    def kind(self) -> int:
        """Number of the kernel in compiled loops."""
        return self._code[0] if self._code else -1

    def plan(self, rule: int) -> Array:
        """Return what compiled loops have to know: rule and kernel."""
        return np.array([rule, self.kind], np.int64)

    def arrays(self) -> tuple[Array, ...]:
        """Return the state in the order of the compiled loops' arguments; another one after `grow`."""
        return (
            self.vectors,
            self.norms,
            self.coefficients_,
            self.births,
            self.sums,
            self.sizes,
            self.steps,
            self.factors,
            self.rows,
            self.u,
            self.w,
        )

    def hold(self, x: Array) -> Array:
        """Return one sample (d,) as a (1, d) float64 array of our own, which the next call overwrites."""
        return hold_sample(self._sample, x, self.dtype)

    def fill_rows(self, x: Array) -> None:
        """Compute kernel rows and scores of x (d,) with any kernel."""
        for q, size in enumerate(self.sizes):
            self.rows[q, :size] = self.kernel.row(self.vectors[q, :, :size].T, x)
            self.scores[q] = self.rows[q, :size] @ self.coefficients_[q, :size]

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d): (m,) or (m, Q)."""
        used = self.coefficients_ if weights is None else weights
        rows = rounded(np.require(samples, np.float64, ["C", "W", "E"]), self.dtype)
        result = np.zeros((len(samples), len(self.sizes)))
        for q, size in enumerate(self.sizes):
            if self._code is None:
                vectors = self.vectors[q, :, :size].T
                result[:, q] = [self.kernel.row(vectors, x) @ used[q, :size] for x in rows]
            else:
                out = np.zeros(len(samples))
                store.values(
                    self.kind, self.kp, self.vectors[q], self.norms[q], size, used[q], 1.0, self.rows[q], rows, out
                )
                result[:, q] = out
        return result[:, 0] if self.single else result

    def value(self, x: Array, weights: Array | None = None) -> Any:
        """f(x) of one sample (d,): a float, or one value a function."""
        result = self.values(self.hold(x), weights)[0]
        return float(result) if self.single else result

    def averaged(self, steps: int) -> Array:
        """Coefficients (Q, cap) of the average of the hypotheses of all steps."""
        result: Array = (self.sums + self.coefficients_ * (self.steps[0] - self.births)) / max(steps, 1)
        return result

    def support_vectors(self) -> Array:
        """Return the vectors of one function after the other: an (n, d) array."""
        return np.concatenate([self.vectors[q, :, :size].T for q, size in enumerate(self.sizes)])

    def dual(self, weights: Array | None = None) -> Array:
        """(Q, n) coefficients of all functions, zero at the vectors of others."""
        used = self.coefficients_ if weights is None else weights
        result, start = np.zeros((len(self.sizes), self.size)), 0
        for q, size in enumerate(self.sizes):
            result[q, start : start + size] = used[q, :size]
            start += int(size)
        return result

    def make_room(self) -> None:
        """Grow where another vector would not fit."""
        capacity = self.coefficients_.shape[1]
        if self.sizes.max() == capacity and capacity != self.budget:
            self.grow()

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        old = {name: getattr(self, name) for name in ("vectors", "norms", "coefficients_", "births", "sums")}
        factors = self.factors
        sets, n_features, before = self.vectors.shape
        self._allocate(sets, n_features, 2 * before if self.budget is None else min(2 * before, self.budget))
        for name, values in old.items():
            getattr(self, name)[..., :before] = values
        self.factors[:, :before, :before] = factors

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        names = ("vectors", "norms", "coefficients_", "births", "sums", "sizes", "steps", "factors")
        return {name: getattr(self, name).copy() for name in names}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        self._allocate(*state["vectors"].shape)
        for name, values in state.items():
            getattr(self, name)[...] = values
