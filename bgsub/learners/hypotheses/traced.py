"""The hypothesis of SVMD: a kernel expansion, the trace of its gradients over the same vectors, and offsets."""

from typing import Any

import numpy as np

from bgsub.learners._jit import store
from bgsub.learners._jit import svmd as kernels
from bgsub.learners.hypotheses.expansion import KernelExpansion
from bgsub.learners.hypotheses.kernels import Array, Kernel

__all__ = ["TracedExpansion"]


class TracedExpansion(KernelExpansion):
    """f and the gradient trace v over one ring of support vectors, with offsets.

    Parameters
    ----------
    kernel, n_features, budget, outputs, dtype
        As in `KernelExpansion`.
    distances : (Q, Q) array or None
        Margin that each wrong label has to keep from each right one; None for 1.
    kappa : (Q, Q) array or None
        Kernel of the labels; None for the identity.
    """

    def __init__(
        self,
        kernel: Kernel,
        n_features: int,
        budget: int | None,
        outputs: int | None,
        distances: Array | None = None,
        kappa: Array | None = None,
        dtype: str = "float64",
    ) -> None:
        super().__init__(kernel, n_features, budget, outputs, dtype=dtype)
        classes = outputs or 1
        self.distances = np.ones((classes, classes)) if distances is None else np.array(distances, np.float64)
        self.kappa = np.zeros((0, 0)) if kappa is None else np.array(kappa, np.float64)
        self.trace = np.zeros((len(self._norms), classes))
        self.offsets = np.zeros((4, classes))
        self._other = np.zeros(len(self._norms))
        self.work = np.zeros((6, classes))

    def arrays(self) -> tuple[Array, ...]:
        """Return the whole state in the order of the compiled loop's arguments; another one after `grow`."""
        stored, sums = (values.reshape(self.trace.shape) for values in (self._stored, self._sums))
        return (
            self._kp, self._vectors, self._norms, stored, self._births, sums, self._marks, self._scales, self._row,
            self._other, self.trace, self.offsets, self.distances, self.kappa, self.work,
        )  # fmt: skip

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d) without offset: (m,) or (m, classes)."""
        result = super().values(samples, weights)
        return result @ self.kappa if len(self.kappa) else result

    def look(self, x: Array) -> Array:
        """Write f and v at x (d,) where a step expects them, with any kernel; return the kernel row."""
        row, size = self.row(x), self.size
        self.work[kernels.F] = self.combine(row)
        self.work[kernels.V] = row @ self.trace[:size]
        if len(self.kappa):
            self.work[[kernels.F, kernels.V]] = self.work[[kernels.F, kernels.V]] @ self.kappa
        return row

    def step(self, p: Array, s: Array, x: Array, y: float, row: Array) -> None:
        """Learn a sample that was looked at, with any kernel."""
        _, _, _, stored, births, sums, marks, scales, *_ = self.arrays()
        k_tt, size, slot = self.kernel.diag(x), self.size, self.head
        others = None
        if size == self.budget and p[kernels.FIX] > 0:
            # Before anything changes: a kernel that is a Python function can raise.
            others = self.row(self._vectors[:, slot].astype(np.float64))
        kernels.meta_step(p, s, y, k_tt, self.distances, self.kappa, self.offsets, self.work)
        kernels.shrink(p, s, stored, births, sums, marks, scales, self.trace)
        if kernels.worth_storing(self.work, k_tt):
            if others is not None:
                scale = float(scales[store.SCALE])
                kernels.forget(s, stored, self.trace, scale, size, slot, others, row[slot], self.kappa, self.work)
            if store.full(self._stored, self._marks, self._budget):
                self.grow()
                _, _, _, stored, births, sums, marks, scales, *_ = self.arrays()
            slot = int(store.choose_slot(self._norms, marks, self._budget, store.OLDEST))
            store.place(self._vectors, self._norms, births, sums, scales, slot, np.array(x, np.float64))
            kernels.put(s, stored, self.trace, float(scales[store.SCALE]), slot, self.work)
        self.count_step()

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        super().grow()
        capacity = len(self._norms)
        self.trace = np.concatenate([self.trace, np.zeros((capacity - len(self.trace), self.trace.shape[1]))])
        self._other = np.zeros(capacity)

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        return {**super().state(), "trace": self.trace[: self.size].copy(), "offsets": self.offsets.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        super().restore(state)
        self.trace[: self.size], self.offsets[:] = state["trace"], state["offsets"]
