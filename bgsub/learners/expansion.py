"""The hypothesis of every kernel learner: a weighted sum of kernels with forgetting and a budget."""

import numpy as np

from bgsub.learners.kernels import Array, Kernel

__all__ = ["KernelExpansion"]

_FIRST_CAPACITY = 16
_SMALLEST_SCALE = 1e-6


class KernelExpansion:
    """f(x) = sum of a_i k(s_i, x) over stored support vectors s_i with coefficients a_i, in float64.

    Forgetting multiplies one scalar, not the coefficients: the real coefficient is scale · stored
    coefficient, and the stored ones are rewritten only when the scale has become small. With a budget the
    store is a ring, whose next vector takes the slot of the oldest; without, its arrays double when full.

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

    Examples
    --------
    >>> from bgsub.learners.kernels import Gaussian
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

    def __init__(self, kernel: Kernel, n_features: int, budget: int | None = None, outputs: int | None = None) -> None:
        self.kernel = kernel
        self.budget = budget
        self.size = 0
        """Number of stored vectors."""
        self.head = 0
        """Slot of the oldest vector, the next to be overwritten once the ring is full."""
        self._scale = 1.0
        capacity = _FIRST_CAPACITY if budget is None else min(budget, _FIRST_CAPACITY)
        self._vectors = np.zeros((capacity, n_features))
        self._stored = np.zeros(capacity if outputs is None else (capacity, outputs))

    def __len__(self) -> int:
        return self.size

    def row(self, x: Array) -> Array:
        """Kernel values of x (d,) with the vectors in slot order: an (n,) array."""
        return self.kernel.row(self._vectors[: self.size], x)

    def combine(self, row: Array) -> Array:
        """Return the value(s) of f at the sample whose `row` this is; lets a learner use one row twice."""
        result: Array = self._scale * (row @ self._stored[: self.size])
        return result

    def value(self, x: Array) -> float:
        """f(x) of one sample (d,), for an expansion with a single function."""
        if self.size == 0:
            return 0.0
        return float(self.combine(self.row(x)))

    def values(self, samples: Array) -> Array:
        """Return f of each row of samples (m, d), with the bits of `value`."""
        return np.array([self.value(x) for x in samples], dtype=np.float64)

    def mass(self) -> float:
        """Sum of all coefficients."""
        return self._scale * float(self._stored[: self.size].sum())

    def decay(self, factor: float) -> None:
        """Multiply all coefficients by `factor`; a factor that is not positive forgets everything."""
        if factor <= 0:
            self.clear()
            return
        self._scale *= factor
        if self._scale < _SMALLEST_SCALE:
            self._stored[: self.size] *= self._scale
            self._scale = 1.0

    def append(self, x: Array, coefficient: float | Array) -> tuple[Array, float | Array] | None:
        """Store x (d,) with its coefficient, unless that is zero.

        Returns
        -------
        (vector, coefficient) or None
            What the ring forgot to make room.
        """
        if not np.any(coefficient):
            return None
        forgotten = None
        if self.size == self.budget:
            slot = self.head
            forgotten = (self._vectors[slot].copy(), self._scale * self._stored[slot])
            self.head = (slot + 1) % self.budget
        else:
            slot = self.size
            if slot == len(self._vectors):
                self._grow()
            self.size += 1
        self._vectors[slot] = x
        self._stored[slot] = coefficient / self._scale
        return forgotten

    def drop_below(self, threshold: float) -> None:
        """Forget every vector whose coefficients are all smaller than `threshold` in size."""
        coefficients = self.coefficients()
        keep = np.abs(coefficients).reshape(self.size, -1).max(axis=1, initial=0.0) >= threshold
        if keep.all():
            return
        vectors, coefficients = self.support_vectors()[keep], coefficients[keep]
        self.clear()
        self.size = len(vectors)
        self._vectors[: self.size], self._stored[: self.size] = vectors, coefficients

    def clear(self) -> None:
        """Forget everything: f = 0."""
        self.size, self.head, self._scale = 0, 0, 1.0

    def coefficients(self) -> Array:
        """Return the coefficients, oldest vector first: an (n,) or (n, outputs) array."""
        result: Array = self._scale * self._stored[self._by_age()]
        return result

    def support_vectors(self) -> Array:
        """Return the vectors, oldest first: an (n, d) array."""
        return self._vectors[self._by_age()]

    def slots(self) -> tuple[Array, Array]:
        """Vectors and coefficients in the order of their slots, which is that of `row`."""
        return self._vectors[: self.size].copy(), self._scale * self._stored[: self.size]

    def _by_age(self) -> Array:
        return np.roll(np.arange(self.size), -self.head)

    def _grow(self) -> None:
        capacity = 2 * len(self._vectors)
        if self.budget is not None:
            capacity = min(capacity, self.budget)
        for name in ("_vectors", "_stored"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]))
            new[: self.size] = old
            setattr(self, name, new)
