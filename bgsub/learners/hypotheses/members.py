"""The hypotheses of linear learners, single or in ensembles, and of ensembles that share a kernel expansion."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from bgsub._numba import run_bands
from bgsub.learners._jit import members as kernels
from bgsub.learners._jit import store
from bgsub.learners.hypotheses.expansion import KernelExpansion, hold_sample, rounded, writable
from bgsub.learners.hypotheses.kernels import Array, Kernel, Linear

__all__ = ["KernelMembers", "LinearMembers", "compressed"]

_BLOCK = 32
_GOLDEN = 0x9E3779B97F4A7C15  # of SplitMix64
_MEMBER_ARRAYS = ("factors", "counts", "norms2", "updates", "seeds")


def compressed(samples: Any) -> tuple[Array, Array, Array]:
    """Return starts, columns and values of a CSR matrix as compiled loops want them."""
    return samples.indptr.astype(np.int64), samples.indices.astype(np.int64), np.ascontiguousarray(samples.data)


class _Members:
    """What each member keeps beside its weights, and the numbers that say which member sees which sample."""

    def __init__(self, size: int, blocks: int, width: int, seed: int) -> None:
        self.factors, self.counts = np.ones((blocks, width)), np.ones((blocks, width))
        self.norms2, self.updates = np.zeros((blocks, width)), np.zeros((blocks, width))
        numbers = np.arange(1, blocks * width + 1, dtype=np.uint64) * np.uint64(_GOLDEN)  # modulo 2^64
        # One sample before the first: a draw moves the generator, then reads it.
        start = (seed - size * _GOLDEN) % 2**64
        self.seeds = (numbers + np.uint64(start)).reshape(blocks, width)
        self.stride = np.array([size * _GOLDEN % 2**64], np.uint64)
        self.drawn = (np.arange(blocks * width) < size).astype(np.float64).reshape(blocks, width)

    def arrays(self) -> tuple[Array, ...]:
        """Return the state in the order of the compiled loops' arguments."""
        return self.factors, self.counts, self.norms2, self.updates, self.seeds, self.stride, self.drawn

    def state(self) -> dict[str, Array]:
        return {name: getattr(self, name).copy() for name in _MEMBER_ARRAYS}

    def restore(self, state: dict[str, Any]) -> None:
        for name in _MEMBER_ARRAYS:
            getattr(self, name)[:] = state[name]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))


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
        self.length, self.bias, self.unit, self.renormalise = size, float(bias), float(unit), renormalise
        self.weights = np.zeros((blocks, n_features + 1, width))
        self.members = _Members(size, blocks, width, seed)
        self._sample = np.zeros((1, n_features))
        self._mean: Array | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    def plan(self, rule: int) -> Array:
        """Return the number of the rule."""
        return np.array([rule], np.int64)

    def hold(self, x: Array) -> Array:
        """Return one sample (d,) as a (1, d) float64 array of our own, which the next call overwrites."""
        return hold_sample(self._sample, x)

    def learn(self, p: Array, s: Array, samples: Any, targets: Array, threads: int) -> None:
        """Let all members learn rows (m, d), dense or CSR, in order."""
        self._mean = None
        blocks, _, width = self.weights.shape
        totals = np.zeros((blocks, len(targets)))
        shared = (p, self.weights, *self.members.arrays())
        if issparse(samples):
            shape = blocks, max(samples.nnz, 1) * width
            run_bands(kernels.learn_sparse, shape, threads, *shared, *compressed(samples), targets, totals)
        else:
            shape = blocks, samples.size * width
            run_bands(kernels.learn_dense, shape, threads, *shared, samples, targets, totals)
        kernels.count_mistakes(s, totals, targets, self.length)

    @property
    def updates(self) -> int:
        """Number of corrections of all members together."""
        return int(self.members.updates.sum())

    def each(self) -> Array:
        """Return the weights of all members, (N, d + 1), that of the constant feature last."""
        scaled = self.weights * self.members.factors[:, None, :]
        result: Array = scaled.transpose(0, 2, 1).reshape(-1, self.weights.shape[1])[: self.length]
        return result

    def mean(self) -> Array:
        """Return the weights that decide, (d + 1,)."""
        if self._mean is None:
            mean = np.einsum("bdm,bm->d", self.weights, self.members.factors * self.members.drawn) / self.length
            if self.renormalise:
                mean /= max(1.0, float(np.linalg.norm(mean)))
            self._mean = mean
        return self._mean

    def value(self, x: Array, weights: Array | None = None) -> float:
        """Return the mean value at one sample (d,)."""
        return float(self.values(self.hold(x))[0])

    def values(self, samples: Any, weights: Array | None = None) -> Array:
        """Return the mean value at each row of samples (m, d), dense or CSR, with the bits of `value`."""
        out = np.zeros(samples.shape[0])
        if issparse(samples):
            kernels.sparse_values(self.bias, self.unit, self.mean(), *compressed(samples), out)
        else:
            rows = np.require(samples, np.float64, ["C", "W", "E"])
            kernels.dense_values(self.bias, self.unit, self.mean(), rows, out)
        return out

    def state(self) -> dict[str, Any]:
        """Return the arrays that saved weights consist of."""
        return {"weights": self.weights.copy(), **self.members.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an ensemble with the same parameters."""
        self.weights[:] = state["weights"]
        self.members.restore(state)
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
        self.members = _Members(size, 1, size, seed)
        self._work = np.zeros((3, size))
        self.length = size

    def run(self, first: int, plan: Array, p: Array, s: Array, samples: Array, targets: Array) -> int:
        """Learn rows from `first` on; return the row reached."""
        return int(
            kernels.kernel_rows(
                first, plan, p, s, *self.arrays(), *self.members.arrays(), *self._work, samples, targets
            )
        )

    def step(self, p: Array, s: Array, x: Array, y: float) -> None:
        """Learn one sample with any kernel."""
        f, step, chosen = self._work
        f[:] = self.combine(self.row(x))
        if kernels.kernel_step(p, s, y, self.kernel.diag(x), f, *self.members.arrays(), step, chosen):
            self.append(x, step.copy())
            kernels.tidy(self._stored, self.members.factors, self.size)

    @property
    def updates(self) -> int:
        """Number of corrections of all members together."""
        return int(self.members.updates.sum())

    def _mean_of(self, stored: Array) -> Array:
        result: Array = stored @ (self.members.factors[0] / self.length)
        return result

    def value(self, x: Array, weights: Array | None = None) -> Any:
        """Return the mean value at one sample (d,)."""
        return float(self.values(np.asarray(x)[None])[0])

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return the mean value at each row of samples (m, d)."""
        mean = self._mean_of(self._stored[: self.size])
        samples = rounded(samples, self._vectors.dtype)
        if self._code is None:
            return np.array([self.row(x) @ mean for x in samples], np.float64)
        out, rows = np.zeros(len(samples)), np.require(samples, np.float64, ["C", "W", "E"])
        store.values(*self._store(mean), self._row, rows, out)
        return out

    def coefficients(self) -> Array:
        """Return the coefficients of the mean, oldest vector of a ring first: an (n,) array."""
        return self._mean_of(super().coefficients())

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved ensemble consists of."""
        return {**super().state(), **self.members.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an ensemble with the same parameters."""
        super().restore(state)
        self.members.restore(state)
