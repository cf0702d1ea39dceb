"""The hypotheses of ensembles: many weight vectors, or many functions that share a kernel expansion."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from bgsub._numba import run_bands
from bgsub.learners._jit.perceptrons import members as jit
from bgsub.learners._jit.records import Lessons
from bgsub.learners._jit.store import values as expansion_values
from bgsub.learners.hypotheses.expansion import KernelExpansion
from bgsub.learners.hypotheses.kernels import Array, Kernel, Linear
from bgsub.learners.hypotheses.samples import check_width, hold_sample, one_sample, rounded, writable

__all__ = ["KernelMembers", "LinearMembers", "compressed"]

_BLOCK = 32
_GOLDEN = 0x9E3779B97F4A7C15  # of SplitMix64
_SAVED = ("factors", "counts", "norms2", "updates", "seeds")


def compressed(samples: Any) -> jit.Rows:
    """Return the rows of a CSR matrix for compiled loops."""
    return jit.Rows(
        samples.indptr.astype(np.int64), samples.indices.astype(np.int64), np.ascontiguousarray(samples.data)
    )


def make_ensemble(size: int, blocks: int, width: int, seed: int) -> jit.Ensemble:
    """Return the state of `size` members before the first sample, in blocks of `width` of which the last is padded."""
    shape = (blocks, width)
    numbers = np.arange(1, blocks * width + 1, dtype=np.uint64) * np.uint64(_GOLDEN)  # modulo 2^64
    # One sample before the first: a draw moves the generator, then reads it.
    start = (seed - size * _GOLDEN) % 2**64
    return jit.Ensemble(
        factors=np.ones(shape),
        counts=np.ones(shape),
        norms2=np.zeros(shape),
        updates=np.zeros(shape),
        seeds=(numbers + np.uint64(start)).reshape(shape),
        stride=np.array([size * _GOLDEN % 2**64], np.uint64),
        members=(np.arange(blocks * width) < size).astype(np.float64).reshape(shape),
    )


def _ensemble_state(ensemble: jit.Ensemble) -> dict[str, Array]:
    return {name: getattr(ensemble, name).copy() for name in _SAVED}


def _restore_ensemble(ensemble: jit.Ensemble, state: dict[str, Any]) -> None:
    for name in _SAVED:
        getattr(ensemble, name)[:] = state[name]


class LinearMembers:
    """The mean of N weight vectors.

    Parameters
    ----------
    n_features : int
        Length of a sample.
    size : int
        N.
    bias, unit : bool
        Whether samples get a constant feature 1, and are then divided by their length.
    renormalise : bool
        Whether the mean is divided by its length where that exceeds 1.
    seed : int
        Of the draws that say which member sees which sample.
    """

    compiled = True

    def __init__(
        self, n_features: int, size: int = 1, *, bias: bool, unit: bool, renormalise: bool = False, seed: int = 1
    ) -> None:
        blocks = -(-size // _BLOCK)
        width = -(-size // blocks)
        width = -(-width // 4) * 4 if size > 1 else 1  # whole vector registers
        self.kernel = Linear()
        self.length, self.bias, self.unit, self.renormalise = size, bias, unit, renormalise
        self.weights = np.zeros((blocks, n_features + 1, width))
        self.ensemble = make_ensemble(size, blocks, width, seed)
        self._sample = np.zeros((1, n_features))
        self._mean: Array | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    def hold(self, x: Array) -> Array:
        """Copy one sample (d,) to a (1, d) float64 array that the next call overwrites."""
        return hold_sample(self._sample, x)

    def learn(self, p: Array, s: Array, samples: Any, lessons: Lessons, threads: int) -> None:
        """Let all members learn rows (m, d), dense or CSR, in order."""
        self._mean = None
        blocks, _, width = self.weights.shape
        totals = np.zeros((blocks, len(lessons.targets)))
        shared = (p, self.weights, self.ensemble)
        if issparse(samples):
            shape = blocks, max(samples.nnz, 1) * width
            run_bands(jit.learn_sparse, shape, threads, *shared, compressed(samples), lessons, totals)
        else:
            shape = blocks, samples.size * width
            run_bands(jit.learn_dense, shape, threads, *shared, samples, lessons, totals)
        jit.count_mistakes(s, totals, lessons.targets, self.length)
        s["violations"] = self.updates

    @property
    def updates(self) -> int:
        """Number of corrections of all members together."""
        return int(self.ensemble.updates.sum())

    def each(self) -> Array:
        """Return the weights of all members, (N, d + 1), that of the constant feature last."""
        scaled = self.weights * self.ensemble.factors[:, None, :]
        result: Array = scaled.transpose(0, 2, 1).reshape(-1, self.weights.shape[1])[: self.length]
        return result

    def mean(self) -> Array:
        """Return the weights that decide, (d + 1,)."""
        if self._mean is None:
            mean = np.einsum("bdm,bm->d", self.weights, self.ensemble.factors * self.ensemble.members) / self.length
            if self.renormalise:
                mean /= max(1.0, float(np.linalg.norm(mean)))
            self._mean = mean
        return self._mean

    def value(self, x: Array, weights: Array | None = None) -> float:
        """Return the mean value at one sample (d,)."""
        return float(self.values(one_sample(x, self.weights.shape[1] - 1)[None])[0])

    def values(self, samples: Any, weights: Array | None = None) -> Array:
        """Return the mean value at each row of samples (m, d), dense or CSR, with the bits of `value`."""
        check_width(samples, self.weights.shape[1] - 1)
        out = np.zeros(samples.shape[0])
        if issparse(samples):
            jit.sparse_values(self.bias, self.unit, self.mean(), compressed(samples), out)
        else:
            rows = np.require(samples, np.float64, ["C", "W", "E"])
            jit.dense_values(self.bias, self.unit, self.mean(), rows, out)
        return out

    def state(self) -> dict[str, Any]:
        """Return the arrays that saved weights consist of."""
        return {"weights": self.weights.copy(), **_ensemble_state(self.ensemble)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an ensemble with the same parameters."""
        self.weights[:] = state["weights"]
        _restore_ensemble(self.ensemble, state)
        self._mean = None


class KernelMembers(KernelExpansion):
    """The mean of N functions that share support vectors, and so each kernel row.

    Parameters
    ----------
    kernel, n_features, budget, dtype
        As in `KernelExpansion`; the oldest vector leaves first.
    size : int
        N.
    seed : int
        As in `LinearMembers`.
    """

    def __init__(
        self, kernel: Kernel, n_features: int, budget: int | None, size: int, seed: int = 1, dtype: str = "float64"
    ) -> None:
        super().__init__(kernel, n_features, budget, size, dtype=dtype)
        self.ensemble = make_ensemble(size, 1, size, seed)
        self._work = jit.make_work(size)
        self.length = size

    def run(self, first: int, p: Array, s: Array, samples: Array, lessons: Lessons) -> int:
        """Learn rows from `first` on; return the row reached."""
        done = int(jit.kernel_rows(first, p, s, self.arrays, self.ensemble, self._work, samples, lessons))
        s["violations"] = self.updates
        return done

    def step(self, p: Array, s: Array, x: Array, y: float) -> None:
        """Learn one sample with any kernel."""
        work = self._work
        work.f[:] = self.combine(self.row(x))
        if jit.kernel_step(p[0], s[0], self.ensemble, work, y, self.kernel.diag(x)):
            self.append(x, work.step.copy())
            jit.tidy(self.arrays.stored, self.ensemble.factors, self.size)
        s["violations"] = self.updates

    @property
    def updates(self) -> int:
        """Number of corrections of all members together."""
        return int(self.ensemble.updates.sum())

    def _mean_of(self, stored: Array) -> Array:
        result: Array = stored @ (self.ensemble.factors[0] / self.length)
        return result

    def value(self, x: Array, weights: Array | None = None) -> Any:
        """Return the mean value at one sample (d,)."""
        return float(self.values(one_sample(x, len(self.arrays.vectors), self._single)[None])[0])

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return the mean value at each row of samples (m, d)."""
        mean = self._mean_of(self.arrays.stored[: self.size])
        check_width(samples, len(self.arrays.vectors))
        samples = rounded(samples, self.arrays.vectors.dtype)
        if not self.compiled:
            return np.array([self.row(x) @ mean for x in samples], np.float64)
        out = np.zeros(len(samples))
        self._fill(expansion_values, mean, 1.0, samples, out)
        return out

    def coefficients(self) -> Array:
        """Return the coefficients of the mean, oldest vector of a ring first: an (n,) array."""
        return self._mean_of(super().coefficients())

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved ensemble consists of."""
        return {**super().state(), **_ensemble_state(self.ensemble)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an ensemble with the same parameters."""
        super().restore(state)
        _restore_ensemble(self.ensemble, state)
