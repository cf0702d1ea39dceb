"""The hypothesis of the linear learners: one weight vector."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from bgsub.learners._jit.perceptrons import linear as jit
from bgsub.learners._jit.records import Lessons, as_record
from bgsub.learners.hypotheses.kernels import Array, Linear
from bgsub.learners.hypotheses.samples import check_width, one_sample, writable

__all__ = ["LinearWeights"]


def _compressed(samples: Any) -> tuple[Array, Array, Array]:
    """Return the rows of a CSR matrix for compiled loops."""
    starts, columns = samples.indptr.astype(np.int64), samples.indices.astype(np.int64)
    return starts, columns, np.require(samples.data, np.float64, ["C", "W", "E"])


class LinearWeights:
    """f(x) = w·x, where samples can get a constant feature and be divided by their length first.

    Parameters
    ----------
    n_features : int
        Length of a sample.
    bias, unit : bool
        Whether samples get a constant feature 1, and are then divided by their length.
    """

    compiled = True

    def __init__(self, n_features: int, *, bias: bool, unit: bool) -> None:
        self.kernel = Linear()
        self.bias, self.unit = bias, unit
        self.weights = np.zeros(n_features + 1)
        self.store = as_record(jit.LinearStore())
        self._shape = (n_features,)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    def learn(self, p: Array, s: Array, samples: Any, lessons: Lessons, threads: int) -> None:
        """Learn rows (m, d), dense or CSR, in order; one vector is learned by one thread."""
        if issparse(samples):
            jit.linear_sparse_rows(p, s, self.store, self.weights, *_compressed(samples), lessons)
        else:
            jit.linear_rows(p, s, self.store, self.weights, samples, lessons)

    def mean(self) -> Array:
        """Return the weights, (d + 1,), that of the constant feature last."""
        result: Array = self.weights * self.store["factor"][0]
        return result

    def learn_one(self, p: Array, s: Array, x: Any, y: float, importance: float) -> None:
        """Learn one sample (d,), or raise ValueError as `value` does."""
        if not jit.linear_one(p, s, self.store, self.weights, self._sample(x), y, importance):
            one_sample(x, *self._shape)

    def value(self, x: Any, weights: Array | None = None) -> float:
        """Return the score of one sample (d,).

        Raises
        ------
        ValueError
            If the sample is of another length or not finite.
        """
        score: float = jit.linear_value(self.bias, self.unit, self.store, self.weights, self._sample(x))
        if score != score:  # compiled code looks at the sample anyway, and has no words for what is wrong with it
            one_sample(x, *self._shape)
        return score

    def _sample(self, x: Any) -> Array:
        """Return one sample (d,) for compiled code: itself where that can read it, since a copy takes twice as long."""
        sample: Array = np.asarray(x, np.float64)
        if sample.shape != self._shape:
            one_sample(x, *self._shape)
        return sample if sample.flags.carray else sample.copy()

    def values(self, samples: Any, weights: Array | None = None) -> Array:
        """Return the score of each row of samples (m, d), dense or CSR, with the bits of `value`."""
        check_width(samples, len(self.weights) - 1)
        out, factor = np.empty(samples.shape[0]), self.store["factor"][0]
        if issparse(samples):
            jit.linear_sparse_values(self.bias, self.unit, factor, self.weights, *_compressed(samples), out)
        else:
            rows = np.require(samples, np.float64, ["C", "W", "E"])
            jit.linear_values(self.bias, self.unit, factor, self.weights, rows, out)
        return out

    def state(self) -> dict[str, Any]:
        """Return the arrays that saved weights consist of."""
        return {"weights": self.weights.copy(), "store": self.store.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of weights with the same parameters."""
        self.weights[:], self.store[:] = state["weights"], state["store"]
