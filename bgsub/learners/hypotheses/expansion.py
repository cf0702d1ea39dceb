"""The hypothesis of every kernel learner: a weighted sum of kernels with forgetting and a budget."""

from dataclasses import asdict
from typing import Any

import numpy as np

from bgsub.learners._checks import check_choice
from bgsub.learners._jit import store as jit
from bgsub.learners._jit.classes import multiclass_values
from bgsub.learners._jit.records import as_record
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.samples import check_width, enlarged, hold_sample, one_sample, rounded, writable

__all__ = ["DTYPES", "POLICIES", "KernelExpansion"]

POLICIES = {"oldest": jit.OLDEST, "smallest": jit.SMALLEST, "random": jit.RANDOM}
"""Which vector a full store replaces, and the number by which compiled loops know the rule."""

DTYPES = ("float64", "float32")
"""How support vectors can be stored."""

_FIRST_CAPACITY = 16


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
        self.budget = None if budget is None else int(budget)
        self.policy = policy
        self.compiled = kernel.code is not None
        self._sample = np.zeros((1, n_features))
        self._single = dtype == "float32"
        capacity = _FIRST_CAPACITY if self.budget is None else min(self.budget, _FIRST_CAPACITY)
        store = jit.Store(
            **asdict(kernel.code or jit.MercerKernel()),
            budget=jit.NO_BUDGET if self.budget is None else self.budget,
            policy=POLICIES[policy],
            draw=seed,
        )
        shape = (capacity,) if outputs is None else (capacity, outputs)
        self.arrays = jit.Expansion(
            store=as_record(store),
            vectors=np.zeros((n_features, capacity), dtype),
            norms=np.zeros(capacity),
            stored=np.zeros(shape),
            births=np.zeros(capacity),
            sums=np.zeros(shape),
            row=np.zeros(capacity),
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(writable(state))

    def __len__(self) -> int:
        return self.size

    @property
    def size(self) -> int:
        """Number of stored vectors."""
        return int(self.arrays.store["count"][0])

    @property
    def targets(self) -> int | None:
        """Number of functions that share the vectors; None for a single one with plain numbers as values."""
        return self.arrays.stored.shape[1] if self.arrays.stored.ndim == 2 else None

    @property
    def oldest(self) -> int:
        """Slot of the oldest vector of a ring, the next to be overwritten once it is full."""
        return int(self.arrays.store["oldest"][0])

    @property
    def scale(self) -> float:
        """Factor of the stored coefficients."""
        return float(self.arrays.store["scale"][0])

    def hold(self, x: Array) -> Array:
        """Copy one sample (d,) to a (1, d) float64 array that the next call overwrites.

        Raises
        ------
        ValueError
            If the sample is of another length or not finite.
        """
        return hold_sample(self._sample, x, self._single)

    def row(self, x: Array) -> Array:
        """Kernel values of x (d,) with the vectors in slot order: an (n,) array."""
        return self.kernel.row(self.arrays.vectors[:, : self.size].T, x)

    def combine(self, row: Array) -> Array:
        """Return the value(s) of f at the sample whose `row` this is; lets a learner use one row twice."""
        result: Array = self.scale * (row @ self.arrays.stored[: self.size])
        return result

    def value(self, x: Array, weights: Array | None = None) -> Any:
        """f(x) of one sample (d,): a float, or one value for each output.

        `weights`, in slot order, replace the coefficients.

        Raises
        ------
        ValueError
            If the sample is of another length or not finite.
        """
        e = self.arrays
        sample = one_sample(x, len(e.vectors), self._single)
        if e.stored.ndim == 2:
            return self.values(sample[None], weights)[0]
        if not self.compiled:
            row = self.row(sample)
            return float(self.combine(row) if weights is None else row @ weights)
        used, scale = (e.stored, e.store["scale"][0]) if weights is None else (weights, 1.0)
        return float(jit.value(e.store, e.vectors, e.norms, used, scale, np.empty(len(e.norms)), sample))

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d), with the bits of `value`: (m,) or (m, outputs)."""
        e = self.arrays
        outputs = e.stored.shape[1:]
        check_width(samples, len(e.vectors))
        samples = rounded(samples, e.vectors.dtype)
        if not self.compiled:
            used = self.scale * e.stored[: self.size] if weights is None else weights
            return np.array([self.row(x) @ used for x in samples], np.float64).reshape(len(samples), *outputs)
        used, scale = (e.stored, self.scale) if weights is None else (weights, 1.0)
        out = np.zeros((len(samples), *outputs))
        self._fill(multiclass_values if outputs else jit.values, used, scale, samples, out)
        return out

    def _fill(self, function: Any, weights: Array, scale: float, samples: Array, out: Array) -> None:
        """Call a compiled loop over samples with scratch of its own: any number of threads may ask for values."""
        e = self.arrays
        rows = np.require(samples, np.float64, ["C", "W", "E"])
        function(e.store, e.vectors, e.norms, weights, scale, rows, np.empty(len(e.norms)), out)

    def mass(self) -> float:
        """Sum of all coefficients."""
        return float(self.scale * self.arrays.stored[: self.size].sum())

    def decay(self, factor: float) -> None:
        """Multiply all coefficients by `factor`; a factor that is not positive forgets everything."""
        e, store, size = self.arrays, self.arrays.store[0], self.size
        if factor <= 0:
            store.count, store.oldest, store.scale = 0, 0, 1.0
            return
        store.scale *= factor
        if store.scale < jit.SMALLEST_SCALE:
            e.sums[:size] += self._since_birth()
            e.stored[:size] *= store.scale
            e.births[:size], store.scale_sum, store.scale = 0.0, 0.0, 1.0

    def append(self, x: Array, coefficient: float | Array) -> tuple[Array, float | Array] | None:
        """Store x (d,) with its coefficient, unless that is zero.

        Returns
        -------
        (vector, coefficient) or None
            The vector that was forgotten to make room.
        """
        sample = one_sample(x, len(self.arrays.vectors))
        if not np.any(coefficient):
            return None
        self.make_room()
        e, scale = self.arrays, self.scale
        crowded = self.size == self.budget
        weights = e.stored if e.stored.ndim == 1 else np.abs(e.stored).max(axis=1)
        slot = int(jit.choose_slot(e.store[0], weights))
        forgotten = (e.vectors[:, slot].copy(), scale * e.stored[slot]) if crowded else None
        jit.place(e, slot, sample)
        e.stored[slot] = coefficient / scale
        return forgotten

    def count_step(self) -> None:
        """Let the present hypothesis count once in the average."""
        self.arrays.store["scale_sum"] += self.arrays.store["scale"]

    def averaged(self, steps: int) -> Array:
        """Coefficients of the average of the hypotheses of all counted steps, in slot order (Cesa-Bianchi 2004).

        Vectors that were forgotten to make room are not part of it.
        """
        result: Array = (self.arrays.sums[: self.size] + self._since_birth()) / max(steps, 1)
        return result

    def _since_birth(self) -> Array:
        e, size = self.arrays, self.size
        lived = e.store["scale_sum"] - e.births[:size]
        result: Array = (e.stored[:size].T * lived).T
        return result

    def drop_below(self, threshold: float) -> None:
        """Forget every vector whose coefficients are all smaller than `threshold` in size."""
        e, order = self.arrays, self._by_age()
        sizes = np.abs(self.scale * e.stored[order]).reshape(len(order), e.stored[0].size)
        order = order[sizes.max(axis=1, initial=0.0) >= threshold]
        if len(order) == self.size:
            return
        for values in (e.vectors.T, e.norms, e.stored, e.births, e.sums):
            values[: len(order)] = values[order]
        e.store["count"], e.store["oldest"] = len(order), 0

    def clear(self) -> None:
        """Forget everything: f = 0."""
        self.decay(0.0)

    def coefficients(self) -> Array:
        """Return the coefficients, oldest vector of a ring first: an (n,) or (n, outputs) array."""
        result: Array = self.scale * self.arrays.stored[self._by_age()]
        return result

    def support_vectors(self) -> Array:
        """Return the vectors, oldest of a ring first: an (n, d) array."""
        return self.arrays.vectors[:, self._by_age()].T

    def by_age(self, values: Array) -> Array:
        """Put values in slot order, like `row`, in the order of `coefficients`."""
        result: Array = values[self._by_age()]
        return result

    def slots(self) -> tuple[Array, Array]:
        """Vectors and coefficients in the order of their slots, which is that of `row`."""
        e, size = self.arrays, self.size
        return e.vectors[:, :size].T.copy(), self.scale * e.stored[:size]

    def _by_age(self) -> Array:
        return np.roll(np.arange(self.size), -self.oldest)

    def make_room(self) -> None:
        """Grow where another vector would not fit."""
        if jit.full(self.arrays):
            self.grow()

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        e, capacity = self.arrays, 2 * len(self.arrays.norms)
        if self.budget is not None:
            capacity = min(capacity, self.budget)
        self.arrays = jit.Expansion(
            store=e.store,
            vectors=np.ascontiguousarray(enlarged(e.vectors.T, capacity).T),
            **{name: enlarged(getattr(e, name), capacity) for name in ("norms", "stored", "births", "sums", "row")},
        )

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        e, size = self.arrays, self.size
        return {
            "store": e.store.copy(),
            "vectors": e.vectors[:, :size].copy(),
            **{name: getattr(e, name)[:size].copy() for name in ("norms", "stored", "births", "sums")},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        size = int(state["store"]["count"][0])
        while len(self.arrays.norms) < size:
            self.grow()
        e = self.arrays
        e.vectors[:, :size] = state["vectors"]
        for name in ("norms", "stored", "births", "sums"):
            getattr(e, name)[:size] = state[name]
        e.store[:] = state["store"]
