"""Quantised kernel least mean squares."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners._checks import check_integer, check_real, warn_caller
from bgsub.learners._jit.filters import lms as jit
from bgsub.learners.hypotheses.kernels import Array, Kernel

__all__ = ["QKLMSRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class QKLMSRegressor(OnlineKernelRegressor):
    """Quantised kernel LMS (Chen, Zhao, Zhu, Principe 2012): a sample near a stored one corrects that.

    With e = y - f(x) and s the stored vector nearest to x: where |x - s| <= epsilon, the coefficient of s grows by
    eta e; otherwise x is stored with coefficient eta e. epsilon = 0 is kernel LMS, which stores every sample that
    differs from all others. Samples of a bounded region fill it with vectors at least epsilon apart, so that their
    number is bounded without a budget. A store that is full all the same takes no more vectors: each sample then
    corrects its nearest one. Nothing is forgotten, but coefficients follow a target that drifts.

    Distances are Euclidean, whatever the kernel. The weight of a sample multiplies eta.

    Which vectors are stored depends on the samples alone. Targets (n, Q) share them, each learned as if it were the
    only one; dual_coef_ is then (Q, vectors).

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    eta : float
        Step, positive. It should be below 2 / k(x, x); larger ones diverge.
    epsilon : float
        Size of the quantisation, in the units of the samples, not negative.
    budget : int or None
        Most vectors stored; None for no limit.

    Attributes
    ----------
    n_violations_ : int
        Number of samples that were stored.
    t_, n_support_, support_vectors_, dual_coef_, intercept_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> model = QKLMSRegressor(sigma=0.5, epsilon=0.1).fit(X, np.sin(X[:, 0]))
    >>> round(model.score_one(np.array([1.5])), 1), model.n_support_ <= 60
    (1.0, True)
    """

    eta: float = 0.2
    epsilon: float = 0.1
    budget: int | None = 1000

    _rows: ClassVar[Any] = staticmethod(jit.qklms_rows)
    _many: ClassVar[bool] = True

    @property
    def n_violations_(self) -> int:
        """Number of samples that were stored."""
        return self.n_support_

    def _checked_parameters(self) -> jit.QKLMSParameters:
        check_real("eta", self.eta, "be positive", above=0)
        check_real("epsilon", self.epsilon, "not be negative", least=0)
        if self.budget is not None:
            check_integer("budget", self.budget, "be None or an integer of at least 1", least=1)
        return jit.QKLMSParameters(
            eta=self.eta, quantum=self.epsilon, budget=-1 if self.budget is None else self.budget
        )

    def _set_up(self, kernel: Kernel, n_features: int, outputs: int | None) -> None:
        super()._set_up(kernel, n_features, outputs)
        if kernel.unit_diagonal and self.eta >= 2:
            warn_caller(f"eta should be below 2 / k(x, x) = 2, got {self.eta:g}")

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        if targets.ndim == 1:
            return super()._run(first, samples, targets, importance)
        e, scores = self.expansion_.arrays, np.empty(targets.shape[1])
        return int(jit.qklms_target_rows(first, self._p, self._s, e, samples, targets, importance, scores))

    def _learn_plainly(self, x: Array, y: Any) -> None:
        expansion = self.expansion_
        value = expansion.combine(expansion.row(x))
        expansion.make_room()
        slot, distance2 = jit.nearest(expansion.arrays, x)
        if expansion.targets is None:
            jit.qklms(self._p[0], self._s[0], expansion.arrays, float(value), x, y, slot, distance2)
        else:
            jit.qklms_targets(self._p[0], self._s[0], expansion.arrays, value, x, y, slot, distance2)
