"""The hypothesis of SVMD: a kernel expansion, the trace of its gradients over the same vectors, and offsets."""

from typing import Any

import numpy as np

from bgsub.learners._jit import svmd as jit
from bgsub.learners._jit.records import record_type
from bgsub.learners.hypotheses.expansion import KernelExpansion
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.samples import enlarged

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
        self.kappa = np.zeros((0, 0)) if kappa is None else np.array(kappa, np.float64)
        distances = np.ones((classes, classes)) if distances is None else np.array(distances, np.float64)
        self._labels = None if outputs is None else jit.Labels(distances=distances, kappa=self.kappa)
        self.trace = np.zeros((len(self.arrays.norms), classes))
        self.offsets = np.zeros(classes, record_type(jit.Offset))
        self._work = np.zeros((len(jit.Work._fields), classes))
        self._traced: jit.Traced | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_traced": None}  # its arrays are views, which a copy would not share

    @property
    def traced(self) -> jit.Traced:
        """The whole state for compiled loops; another one after `grow`."""
        if self._traced is None:
            e, shape = self.arrays, self.trace.shape
            columns = e._replace(stored=e.stored.reshape(shape), sums=e.sums.reshape(shape))
            self._traced = jit.Traced(
                expansion=columns,
                trace=self.trace,
                offsets=self.offsets,
                labels=self._labels,
                work=self._work,
                replaced=np.zeros(len(e.vectors)),
                other=np.zeros(len(e.norms)),
            )
        return self._traced

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d) without offset: (m,) or (m, classes)."""
        return self._related(super().values(samples, weights))

    def _related(self, values: Array) -> Array:
        """Return values (..., classes) after the kernel of the labels, where there is one."""
        return values @ self.kappa if len(self.kappa) else values

    def look(self, x: Array) -> Array:
        """Write f and v at x (d,) where a step expects them, with any kernel; return the kernel row."""
        row, both = self.row(x), np.zeros((2, self.trace.shape[1]))
        both[0], both[1] = self.combine(row), row @ self.trace[: self.size]
        work = jit.Work(*self._work)
        work.f[:], work.v[:] = self._related(both)
        return row

    def step(self, p: Any, s: Any, x: Array, y: float, row: Array) -> None:
        """Learn a sample after `look`, with any kernel; p and s are the records of parameters and state."""
        k_tt, slot = self.kernel.diag(x), self.oldest
        others = None
        if self.size == self.budget and p.buffer_fix:
            # Before anything changes: a kernel that is a Python function can raise.
            others = self.row(self.arrays.vectors[:, slot].astype(np.float64))
        self.make_room()
        h, work = self.traced, jit.Work(*self._work)
        e, trace = h.expansion, h.trace
        jit.meta_step(p, s, h.labels, h.offsets, work, y, k_tt)
        jit.shrink(p, s, e, trace, h.other)
        if jit.worth_storing(work, k_tt):
            if others is not None:
                jit.forget(s, e, trace, h.labels, work, slot, others, row[slot])
            jit.put(s, e, trace, work, np.array(x, np.float64))
        self.count_step()

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        super().grow()
        self.trace = enlarged(self.trace, len(self.arrays.norms))
        self._traced = None

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        return {**super().state(), "trace": self.trace[: self.size].copy(), "offsets": self.offsets.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        super().restore(state)
        self.trace[: self.size], self.offsets[:] = state["trace"], state["offsets"]
