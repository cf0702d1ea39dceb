"""The hypothesis of every kernel learner: a weighted sum of kernels with forgetting and a budget."""

from typing import Any

import numpy as np

from bgsub.learners._checks import check_choice
from bgsub.learners._jit import store
from bgsub.learners.hypotheses.kernels import Array, Kernel

__all__ = ["DTYPES", "POLICIES", "KernelExpansion", "hold_sample", "rounded", "writable"]

POLICIES = {"oldest": store.OLDEST, "smallest": store.SMALLEST, "random": store.RANDOM}
"""Which vector a full store replaces, and the number by which compiled loops know the rule."""

DTYPES = ("float64", "float32")
"""How support vectors can be stored."""

_FIRST_CAPACITY = 16


def rounded(samples: Array, dtype: Any) -> Array:
    """Return float64 samples as they are when they have been stored as dtype.

    What is learned and scored is rounded as well, so that a stored sample has no distance from itself.

    Raises
    ------
    ValueError
        If a number is too large for float32.
    """
    if np.dtype(dtype) == np.float64:
        return samples
    with np.errstate(over="ignore", under="ignore"):
        result: Array = samples.astype(np.float32).astype(np.float64)
    if not np.isfinite(result).all():
        raise ValueError(f"X must be within the range of float32, got {np.abs(samples).max():g}")
    return result


def writable(state: dict[str, Any]) -> dict[str, Any]:
    """Copy what came read-only, as from joblib's memory maps: compiled loops write into their arrays."""
    return {
        name: np.array(value) if isinstance(value, np.ndarray) and not value.flags.writeable else value
        for name, value in state.items()
    }


def hold_sample(held: Array, x: Array, dtype: Any = np.float64) -> Array:
    """Write one sample (d,), rounded to dtype, to held (1, d) float64 and return that.

    Raises
    ------
    ValueError
        If the sample is of another length or not finite.
    """
    if len(x) != held.shape[1]:
        raise ValueError(f"x must have {held.shape[1]} features, got {len(x)}")
    flat = held[0]
    flat[:] = x
    if dtype == np.float32:
        with np.errstate(over="ignore", under="ignore"):
            flat[:] = flat.astype(np.float32)
    if not flat.dot(flat) < np.inf:
        raise ValueError(f"x must be finite, and so must its square, got {x}")
    return held


class KernelExpansion:
    """f(x) = sum of a_i k(s_i, x) over stored support vectors s_i with coefficients a_i.

    Forgetting multiplies one scalar, not the coefficients: the real coefficient is scale · stored
    coefficient, and the stored ones are rewritten only when the scale has become small. With a budget a full
    store replaces one of its vectors; without, its arrays double when full.

    Parameters
    ----------
    kernel : Kernel
        Similarity of two samples.
    n_features : int
        Length of a sample.
    budget : int or None
        Most vectors kept; None for no limit.
    outputs : int or None
        Number of functions that share the support vectors, one column of coefficients each; None for a single
        function with plain numbers.
    policy : {"oldest", "smallest", "random"}
        Which vector a full store replaces: the store is a ring, or the coefficient of smallest size goes, or any.
    seed : int
        Of the random replacement, in [1, 2147483646].
    dtype : {"float64", "float32"}
        How vectors are stored; all arithmetic is in float64.

    Examples
    --------
    >>> from bgsub.learners.hypotheses.kernels import Gaussian
    >>> f = KernelExpansion(Gaussian(width=1.0), n_features=1, budget=2)
    >>> for x in (0.0, 5.0, 9.0):
    ...     f.decay(0.5)
    ...     forgotten = f.append(np.array([x]), 1.0)
    >>> f.support_vectors().ravel(), f.coefficients()
    (array([5., 9.]), array([0.5, 1. ]))
    >>> forgotten[0], float(forgotten[1])
    (array([0.]), 0.25)
    >>> round(f.value(np.array([9.0])), 9)
    1.000000056
    """

    def __init__(
        self,
        kernel: Kernel,
        n_features: int,
        budget: int | None = None,
        outputs: int | None = None,
        policy: str = "oldest",
        seed: int = 1,
        dtype: str = "float64",
    ) -> None:
        check_choice("policy", policy, POLICIES)
        check_choice("dtype", dtype, DTYPES)
        self.kernel = kernel
        self.budget = budget
        self.policy = policy
        self._budget = store.NO_BUDGET if budget is None else int(budget)
        self._code = kernel.code
        self._kp = np.array((self._code or (0, 0.0, 0.0, 0.0))[1:])
        self._marks = np.array([0, 0, seed], np.int64)
        self._scales = np.array([1.0, 0.0])
        self._sample = np.zeros((1, n_features))
        capacity = _FIRST_CAPACITY if budget is None else min(self._budget, _FIRST_CAPACITY)
        self._vectors = np.zeros((n_features, capacity), dtype)
        self._norms, self._births, self._row = np.zeros(capacity), np.zeros(capacity), np.zeros(capacity)
        self._stored = np.zeros(capacity if outputs is None else (capacity, outputs))
        self._sums = np.zeros_like(self._stored)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    def __len__(self) -> int:
        return self.size

    @property
    def size(self) -> int:
        """Number of stored vectors."""
        return int(self._marks[store.SIZE])

    @property
    def head(self) -> int:
        """Slot of the oldest vector of a ring, the next to be overwritten once it is full."""
        return int(self._marks[store.HEAD])

    @property
    def compiled(self) -> bool:
        """Whether compiled loops know the kernel."""
        return self._code is not None

    def plan(self, rule: int) -> Array:
        """Return what compiled loops have to know: rule, kernel, budget, policy."""
        return np.array([rule, self._code[0] if self._code else -1, self._budget, POLICIES[self.policy]], np.int64)

    def arrays(self) -> tuple[Array, ...]:
        """Return the whole state in the order of the compiled loops' arguments; another one after `grow`."""
        return (
            self._kp,
            self._vectors,
            self._norms,
            self._stored,
            self._births,
            self._sums,
            self._marks,
            self._scales,
            self._row,
        )

    def hold(self, x: Array) -> Array:
        """Return one sample (d,) as a (1, d) float64 array of our own, which the next call overwrites.

        Raises
        ------
        ValueError
            If the sample is of another length or not finite.
        """
        return hold_sample(self._sample, x, self._vectors.dtype)

    def row(self, x: Array) -> Array:
        """Kernel values of x (d,) with the vectors in slot order: an (n,) array."""
        return self.kernel.row(self._vectors[:, : self.size].T, x)

    def combine(self, row: Array) -> Array:
        """Return the value(s) of f at the sample whose `row` this is; lets a learner use one row twice."""
        result: Array = self._scales[store.SCALE] * (row @ self._stored[: self.size])
        return result

    def value(self, x: Array, weights: Array | None = None) -> Any:
        """f(x) of one sample (d,): a float, or one value an output.

        `weights`, in slot order, take the place of the coefficients.
        """
        if self._stored.ndim == 2:
            return self.values(np.asarray(x)[None], weights)[0]
        size = self.size
        if size == 0:
            return 0.0
        if len(x) != len(self._vectors):
            raise ValueError(f"x must have {len(self._vectors)} features, got {len(x)}")
        held = self._sample[0]
        held[:] = x if self._vectors.dtype == np.float64 else rounded(np.asarray(x, np.float64), self._vectors.dtype)
        if self._code is None:
            row = self.row(held)
            return float(self.combine(row) if weights is None else row @ weights)
        return float(store.value(*self._store(weights), self._row, held))

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d), with the bits of `value`: (m,) or (m, outputs)."""
        outputs = self._stored.shape[1:]
        samples = rounded(samples, self._vectors.dtype)
        if self._code is None:
            used = self._scales[store.SCALE] * self._stored[: self.size] if weights is None else weights
            return np.array([self.row(x) @ used for x in samples], np.float64).reshape(len(samples), *outputs)
        out = np.zeros((len(samples), *outputs))
        rows = np.require(samples, np.float64, ["C", "W", "E"])
        (store.multiclass_values if outputs else store.values)(*self._store(weights), self._row, rows, out)
        return out

    def _store(self, weights: Array | None) -> tuple[Any, ...]:
        """Return what compiled values need; `weights` take the place of the coefficients."""
        used, scale = (self._stored, float(self._scales[store.SCALE])) if weights is None else (weights, 1.0)
        kind = self._code[0] if self._code else -1
        return kind, self._kp, self._vectors, self._norms, self.size, used, scale

    def mass(self) -> float:
        """Sum of all coefficients."""
        return float(self._scales[store.SCALE] * self._stored[: self.size].sum())

    def decay(self, factor: float) -> None:
        """Multiply all coefficients by `factor`; a factor that is not positive forgets everything."""
        scales, size = self._scales, self.size
        if factor <= 0:
            self._marks[[store.SIZE, store.HEAD]], scales[store.SCALE] = 0, 1.0
            return
        scales[store.SCALE] *= factor
        if scales[store.SCALE] < store.SMALLEST_SCALE:
            self._sums[:size] += self._since_birth()
            self._stored[:size] *= scales[store.SCALE]
            self._births[:size], scales[store.TOTAL], scales[store.SCALE] = 0.0, 0.0, 1.0

    def append(self, x: Array, coefficient: float | Array) -> tuple[Array, float | Array] | None:
        """Store x (d,) with its coefficient, unless that is zero.

        Returns
        -------
        (vector, coefficient) or None
            What was forgotten to make room.
        """
        if not np.any(coefficient):
            return None
        if store.full(self._stored, self._marks, self._budget):
            self.grow()
        crowded = self.size == self.budget
        weights = self._stored if self._stored.ndim == 1 else np.abs(self._stored).max(axis=1)
        slot = int(store.choose_slot(weights, self._marks, self._budget, POLICIES[self.policy]))
        scale = self._scales[store.SCALE]
        forgotten = (self._vectors[:, slot].copy(), scale * self._stored[slot]) if crowded else None
        held = self._sample[0]
        held[:] = x
        store.place(self._vectors, self._norms, self._births, self._sums, self._scales, slot, held)
        self._stored[slot] = coefficient / scale
        return forgotten

    def count_step(self) -> None:
        """Let the present hypothesis count once in the average."""
        self._scales[store.TOTAL] += self._scales[store.SCALE]

    def averaged(self, steps: int) -> Array:
        """Coefficients of the average of the hypotheses of all counted steps, in slot order (Cesa-Bianchi 2004).

        What was forgotten to make room is not part of it.
        """
        result: Array = (self._sums[: self.size] + self._since_birth()) / max(steps, 1)
        return result

    def _since_birth(self) -> Array:
        lived = self._scales[store.TOTAL] - self._births[: self.size]
        result: Array = (self._stored[: self.size].T * lived).T
        return result

    def drop_below(self, threshold: float) -> None:
        """Forget every vector whose coefficients are all smaller than `threshold` in size."""
        order = self._by_age()
        sizes = np.abs(self._scales[store.SCALE] * self._stored[order]).reshape(len(order), self._stored[0].size)
        order = order[sizes.max(axis=1, initial=0.0) >= threshold]
        if len(order) == self.size:
            return
        for values in (self._vectors.T, self._norms, self._stored, self._births, self._sums):
            values[: len(order)] = values[order]
        self._marks[store.SIZE], self._marks[store.HEAD] = len(order), 0

    def clear(self) -> None:
        """Forget everything: f = 0."""
        self.decay(0.0)

    def coefficients(self) -> Array:
        """Return the coefficients, oldest vector of a ring first: an (n,) or (n, outputs) array."""
        result: Array = self._scales[store.SCALE] * self._stored[self._by_age()]
        return result

    def support_vectors(self) -> Array:
        """Return the vectors, oldest of a ring first: an (n, d) array."""
        return self._vectors[:, self._by_age()].T

    def by_age(self, values: Array) -> Array:
        """Put what is in slot order, like `row`, in the order of `coefficients`."""
        result: Array = values[self._by_age()]
        return result

    def slots(self) -> tuple[Array, Array]:
        """Vectors and coefficients in the order of their slots, which is that of `row`."""
        return self._vectors[:, : self.size].T.copy(), self._scales[store.SCALE] * self._stored[: self.size]

    def _by_age(self) -> Array:
        return np.roll(np.arange(self.size), -self.head)

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        capacity = 2 * len(self._norms)
        if self.budget is not None:
            capacity = min(capacity, self._budget)
        for name in ("_norms", "_births", "_row", "_stored", "_sums"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]))
            new[: len(old)] = old
            setattr(self, name, new)
        vectors = np.zeros((len(self._vectors), capacity), self._vectors.dtype)
        vectors[:, : self._vectors.shape[1]] = self._vectors
        self._vectors = vectors

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        size = self.size
        return {
            "vectors": self._vectors[:, :size].copy(),
            "norms": self._norms[:size].copy(),
            "stored": self._stored[:size].copy(),
            "births": self._births[:size].copy(),
            "sums": self._sums[:size].copy(),
            "marks": self._marks.copy(),
            "scales": self._scales.copy(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        size = int(state["marks"][store.SIZE])
        while len(self._norms) < size:
            self.grow()
        self._vectors[:, :size] = state["vectors"]
        for name in ("norms", "stored", "births", "sums"):
            getattr(self, f"_{name}")[:size] = state[name]
        self._marks[:], self._scales[:] = state["marks"], state["scales"]
