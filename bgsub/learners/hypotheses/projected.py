"""Several kernel expansions, each with a triangular factor of its Gram matrix, for Projectrons."""

from dataclasses import asdict
from typing import Any

import numpy as np

from bgsub.learners._checks import check_choice
from bgsub.learners._jit.perceptrons import projectron as jit
from bgsub.learners._jit.records import as_record
from bgsub.learners._jit.store import MercerKernel
from bgsub.learners.hypotheses.expansion import DTYPES
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.samples import check_width, hold_sample, one_sample, rounded, writable

__all__ = ["ProjectedExpansion"]

_FIRST_CAPACITY = 16
_STATE = ("store", "sizes", "vectors", "norms", "coefficients", "births", "sums", "factors")


class ProjectedExpansion:
    """Q functions, each a weighted sum of kernels at its own support vectors, with projections onto their span.

    Parameters
    ----------
    kernel : Kernel
        Similarity of two samples.
    n_features : int
        Length of a sample.
    budget : int or None
        Most vectors kept per function; None for no limit.
    outputs : int or None
        Q; None for a single function whose value is a plain number.
    dtype : {"float64", "float32"}
        How vectors are stored; all arithmetic is in float64.
    """

    def __init__(
        self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None, dtype: str = "float64"
    ) -> None:
        check_choice("dtype", dtype, DTYPES)
        self.kernel = kernel
        self.dtype = np.dtype(dtype)
        self.budget = budget
        self.single = outputs is None
        self.compiled = kernel.code is not None
        self._sample = np.zeros((1, n_features))
        self._single = dtype == "float32"
        capacity = _FIRST_CAPACITY if budget is None else min(budget, _FIRST_CAPACITY)
        store = as_record(jit.ProjectedStore(**asdict(kernel.code or MercerKernel())))
        sets = outputs or 1
        self._allocate(store, np.zeros(sets, np.int64), (sets, n_features, capacity))

    def _allocate(self, store: Array, sizes: Array, shape: tuple[int, int, int]) -> None:
        sets, _, capacity = shape
        scratch = ("norms", "coefficients", "births", "sums", "rows", "u", "w")
        self.arrays = jit.Projected(
            store=store,
            sizes=sizes,
            vectors=np.zeros(shape, self.dtype),
            factors=np.zeros((sets, capacity, capacity)),
            scores=np.zeros(sets),
            **{name: np.zeros((sets, capacity)) for name in scratch},
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    @property
    def size(self) -> int:
        """Number of stored vectors, of all functions together."""
        return int(self.arrays.sizes.sum())

    def hold(self, x: Array) -> Array:
        """Copy one sample (d,) to a (1, d) float64 array that the next call overwrites."""
        return hold_sample(self._sample, x, self._single)

    def fill_rows(self, x: Array) -> None:
        """Compute kernel rows and scores of x (d,) with any kernel."""
        e = self.arrays
        for q, size in enumerate(e.sizes):
            e.rows[q, :size] = self.kernel.row(e.vectors[q, :, :size].T, x)
            e.scores[q] = e.rows[q, :size] @ e.coefficients[q, :size]

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d): (m,) or (m, Q)."""
        e = self.arrays
        used = e.coefficients if weights is None else weights
        check_width(samples, e.vectors.shape[1])
        rows = rounded(np.require(samples, np.float64, ["C", "W", "E"]), self.dtype)
        result, row = np.zeros((len(samples), len(e.sizes))), np.empty(e.norms.shape[1])
        for q, size in enumerate(e.sizes):
            if self.compiled:
                out = np.zeros(len(samples))
                jit.projected_values(e, q, used[q], rows, row, out)
                result[:, q] = out
            else:
                vectors = e.vectors[q, :, :size].T
                result[:, q] = [self.kernel.row(vectors, x) @ used[q, :size] for x in rows]
        return result[:, 0] if self.single else result

    def value(self, x: Array, weights: Array | None = None) -> Any:
        """f(x) of one sample (d,): a float, or one value for each function."""
        result = self.values(one_sample(x, self.arrays.vectors.shape[1], self._single)[None], weights)[0]
        return float(result) if self.single else result

    def averaged(self, steps: int) -> Array:
        """Coefficients (Q, cap) of the average of the hypotheses of all steps."""
        e = self.arrays
        result: Array = (e.sums + e.coefficients * (e.store["steps"] - e.births)) / max(steps, 1)
        return result

    def support_vectors(self) -> Array:
        """Return the vectors of one function after the other: an (n, d) array."""
        return np.concatenate([self.arrays.vectors[q, :, :size].T for q, size in enumerate(self.arrays.sizes)])

    def dual(self, weights: Array | None = None) -> Array:
        """(Q, n) coefficients of all functions, zero at the vectors of others."""
        used, sizes = self.arrays.coefficients if weights is None else weights, self.arrays.sizes
        result, start = np.zeros((len(sizes), self.size)), 0
        for q, size in enumerate(sizes):
            result[q, start : start + size] = used[q, :size]
            start += int(size)
        return result

    def make_room(self) -> None:
        """Grow where another vector would not fit."""
        capacity = self.arrays.coefficients.shape[1]
        if self.arrays.sizes.max() == capacity and capacity != self.budget:
            self.grow()

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        old = self.arrays
        sets, n_features, before = old.vectors.shape
        after = 2 * before if self.budget is None else min(2 * before, self.budget)
        self._allocate(old.store, old.sizes, (sets, n_features, after))
        for name in ("vectors", "norms", "coefficients", "births", "sums"):
            getattr(self.arrays, name)[..., :before] = getattr(old, name)
        self.arrays.factors[:, :before, :before] = old.factors

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        return {name: getattr(self.arrays, name).copy() for name in _STATE}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        self._allocate(self.arrays.store, self.arrays.sizes, state["vectors"].shape)
        for name in _STATE:
            getattr(self.arrays, name)[...] = state[name]
