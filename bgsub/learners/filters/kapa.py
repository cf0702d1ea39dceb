"""The kernel affine projection algorithm, of which normalised kernel LMS is the first order."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bgsub.learners._base.learner import scalar
from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners._checks import check_integer, check_real
from bgsub.learners._jit.filters import lms as jit
from bgsub.learners.hypotheses.expansion import KernelExpansion
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.samples import enlarged

__all__ = ["KAPARegressor"]

_LATEST = ("latest", "latest_norms", "latest_targets")


class _RecentExpansion(KernelExpansion):
    """A dictionary, and the latest samples with their kernel rows."""

    def __init__(
        self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None, order: int, dtype: str
    ) -> None:
        super().__init__(kernel, n_features, budget, outputs, dtype=dtype)
        self.latest = np.zeros((n_features, order))
        self.latest_norms, self.latest_targets = np.zeros(order), np.zeros((outputs or 1, order))
        self.rows = np.zeros((len(self.arrays.norms), order))
        self._recent: jit.Recent | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_recent": None}  # its arrays are views, which a copy would not share

    @property
    def recent(self) -> jit.Recent:
        """The whole state for compiled loops; another one after `grow`."""
        if self._recent is None:
            e, (outputs, order) = self.arrays, self.latest_targets.shape
            self._recent = jit.Recent(
                expansion=e._replace(stored=e.stored.reshape(-1, outputs), sums=e.sums.reshape(-1, outputs)),
                samples=self.latest,
                norms=self.latest_norms,
                targets=self.latest_targets,
                rows=self.rows,
                column=np.zeros(order),
                system=np.zeros((order, order + outputs)),
            )
        return self._recent

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        super().grow()
        self.rows = enlarged(self.rows, len(self.arrays.norms))
        self._recent = None

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        more = {name: getattr(self, name).copy() for name in _LATEST}
        return {**super().state(), **more, "rows": self.rows[: self.size].copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        super().restore(state)
        self.rows[: self.size] = state["rows"]
        for name in _LATEST:
            getattr(self, name)[...] = state[name]


@dataclass(kw_only=True, eq=False, repr=False)
class KAPARegressor(OnlineKernelRegressor):
    """Kernel affine projection with a coherence criterion (Richard, Bermudez, Honeine 2009); normalised kernel LMS.

    x joins the dictionary, with coefficient 0, where |k(s, x)| / sqrt(k(s, s) k(x, x)) <= coherence for all its vectors
    s. Then, with H the kernel values of the `order` latest samples (rows) with the dictionary (columns), y their
    targets and a the coefficients,

        a <- a + eta H^T (eps I + H H^T)^-1 (y - H a),

    which for eta = 1 and eps = 0 is the nearest a that fits these samples. Of order 1 it is normalised kernel LMS:
    a <- a + eta (y - f(x)) h / (eps + |h|²). Higher orders learn faster from samples that resemble each other, at
    a cost of order² times the dictionary. Its size is bounded on any bounded region; a full one takes no more vectors.
    It follows a target that drifts.

    The weight of a sample multiplies eta in the step at which it comes, up to 1.98.

    Which vectors are stored depends on the samples alone. Targets (n, Q) share them, and the system that each step
    solves, and each is learned as if it were the only one; dual_coef_ is then (Q, vectors).

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    order : int
        Number of latest samples that a step fits, at least 1.
    eta : float
        Step, in (0, 2).
    eps : float
        Regularisation of the step, positive.
    coherence : float
        Largest cosine with a vector of the dictionary with which a sample joins, in [0, 1).
    budget : int or None
        Most vectors stored; None for no limit.

    Attributes
    ----------
    n_violations_ : int
        Number of samples that joined the dictionary.
    t_, n_support_, support_vectors_, dual_coef_, intercept_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> model = KAPARegressor(sigma=0.5, order=3).fit(X, np.sin(X[:, 0]))
    >>> round(model.score_one(np.array([1.5])), 1), model.n_support_ < 30
    (1.0, True)
    """

    order: int = 1
    eta: float = 0.2
    eps: float = 0.01
    coherence: float = 0.7
    budget: int | None = 1000

    _many: ClassVar[bool] = True

    n_violations_ = scalar("violations", int, "Number of samples that joined the dictionary.")

    def _checked_parameters(self) -> jit.KAPAParameters:
        check_integer("order", self.order, "be an integer of at least 1", least=1)
        check_real("eta", self.eta, "be in (0, 2)", above=0, below=2)
        check_real("eps", self.eps, "be positive", above=0)
        check_real("coherence", self.coherence, "be in [0, 1)", least=0, below=1)
        if self.budget is not None:
            check_integer("budget", self.budget, "be None or an integer of at least 1", least=1)
        budget = -1 if self.budget is None else self.budget
        return jit.KAPAParameters(eta=self.eta, eps=self.eps, coherence=self.coherence, budget=budget)

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return _RecentExpansion(kernel, n_features, budget, outputs, self.order, self.dtype)

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        h, columns = self.expansion_.recent, targets.reshape(len(targets), -1)
        return int(jit.kapa_rows(first, self._p, self._s, h, samples, columns, importance))

    def _learn_plainly(self, x: Array, y: Any) -> None:
        expansion, p, s = self.expansion_, self._p[0], self._s[0]
        expansion.make_room()
        kernel, size = expansion.kernel, expansion.size
        row, k_tt, vectors = expansion.row(x), kernel.diag(x), expansion.arrays.vectors[:, :size].T
        lengths = np.array([kernel.diag(v) for v in vectors.astype(np.float64)], np.float64)
        cosines = np.abs(row) / np.sqrt(np.maximum(lengths * k_tt, np.finfo(np.float64).tiny))
        known = [*expansion.latest[:, : min(int(s.t), self.order)].T]
        known[int(s.t) % self.order : int(s.t) % self.order + 1] = [x]
        column = kernel.row(np.array(known), x)
        h = expansion.recent
        h.expansion.row[:size] = row
        count = jit.begin_step(s, h, x, np.atleast_1d(y))
        if k_tt > 0 and size != p.budget and cosines.max(initial=0.0) <= p.coherence:
            h.column[:count] = column
            jit.join(h, x, count)
            s.violations += 1
        jit.project_onto(p, s, h, count)
