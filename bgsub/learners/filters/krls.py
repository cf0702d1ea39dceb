"""Kernel recursive least squares with approximate linear dependence."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners._checks import check_integer, check_real
from bgsub.learners._jit.filters import krls as jit
from bgsub.learners._jit.perceptrons.projectron import backward
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.projected import ProjectedExpansion
from bgsub.learners.hypotheses.samples import one_sample

__all__ = ["KRLSRegressor"]


class _LeastSquares(ProjectedExpansion):
    """Functions in the basis that the factor of their Gram matrix makes; coefficients are computed on demand.

    `targets` is their number, None for a single one with plain numbers as values.
    """

    def __init__(self, kernel: Kernel, n_features: int, budget: int | None, targets: int | None, dtype: str) -> None:
        self.targets = targets
        super().__init__(kernel, n_features, budget, None, dtype)

    def _allocate(self, store: Array, sizes: Array, shape: tuple[int, int, int]) -> None:
        super()._allocate(store, sizes, shape)
        self.solution: Array | None = None
        capacity = shape[2]
        self.root = np.zeros((capacity, capacity + (self.targets or 1)))
        self._problem: jit.LeastSquares | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_problem": None}  # its arrays are views, which a copy would not share

    @property
    def problem(self) -> jit.LeastSquares:
        """The state for compiled loops; another one after `grow`."""
        if self._problem is None:
            e = self.arrays
            self._problem = jit.LeastSquares(
                kernel=e.store,
                vectors=e.vectors[0],
                norms=e.norms[0],
                sizes=e.sizes,
                factor=e.factors[0],
                root=self.root,
                row=e.rows[0],
                w=e.w[0],
                block=np.zeros((jit.BLOCK, self.root.shape[1])),
                total=np.zeros(self.root.shape),
            )
        return self._problem

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        old = self.root
        super().grow()
        self.root[: old.shape[0], : old.shape[1]] = old

    def solve(self) -> Array:
        """Return the coefficients (Q, cap), which are computed once after samples were learned.

        Into arrays of its own: several threads may find that nobody has done it yet.
        """
        known = self.solution
        if known is None:
            size, theta = int(self.arrays.sizes[0]), np.zeros(len(self.root))
            known = np.zeros((self.targets or 1, len(self.root)))
            for target, coefficients in enumerate(known):
                jit.solve(self.root, size, target, theta)
                backward(self.arrays.factors[0], False, size, theta, coefficients)
            self.solution = known
        return known

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d): (m,) or (m, Q)."""
        known = self.solve()
        if self.targets is None:
            return super().values(samples, known)
        return np.stack([super(_LeastSquares, self).values(samples, each[None]) for each in known], axis=1)

    def value(self, x: Array, weights: Array | None = None) -> Any:
        """f(x) of one sample (d,): a float, or one value for each target."""
        result = self.values(one_sample(x, self.arrays.vectors.shape[1], self._single)[None])[0]
        return result if self.targets else float(result)

    def dual(self, weights: Array | None = None) -> Array:
        """(Q, n) coefficients."""
        return self.solve()[:, : self.size]

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        return {**super().state(), "root": self.root.copy(), "targets": np.int64(self.targets or 0)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        super().restore(state)
        self.root[...] = state["root"]


@dataclass(kw_only=True, eq=False, repr=False)
class KRLSRegressor(OnlineKernelRegressor):
    """Kernel recursive least squares (Engel, Mannor, Meir 2004): all samples count, few are stored.

    With a = K^-1 k the coefficients of x's projection onto the dictionary and delta² its squared distance: where
    delta² > nu, x joins the dictionary and alpha becomes [alpha - a e / delta²; e / delta²], e = y - f(x).
    Otherwise q = P a / (1 + a·P a), P becomes P - q (P a)^T and alpha grows by K^-1 q e. The fit is then that of
    least squares over all samples, each replaced by its projection. It never forgets.

    It is computed without P and the inverse of K: the published recursion is wrong by .3 at nu = 1e-6. A triangular
    factor K = L L^T makes an orthonormal basis of the dictionary, in which a sample is L^-1 k, and the triangular
    factor of the least-squares problem in it is kept. A single sample is rotated into that factor; a batch is summed
    up between one new vector and the next, which is faster and the same up to rounding.

    The dictionary and the factors depend on the samples alone. Targets (n, Q) share them, each learned as if it were
    the only one; alpha is then (Q, vectors).

    The weight of a sample multiplies its squared error.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    nu : float
        Squared distance from which a sample is stored, not negative; 0 interpolates distinct samples.
    budget : int or None
        Most vectors stored.

    Attributes
    ----------
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
    >>> model = KRLSRegressor(sigma=1.0).fit(X, np.sin(X[:, 0]))
    >>> round(model.score_one(np.array([1.5])), 2), model.n_support_ < 20
    (1.0, True)
    """

    nu: float = 1e-3
    budget: int | None = 1000

    _many: ClassVar[bool] = True

    def _targets_in(self, arrays: dict[str, Any]) -> int | None:
        return int(arrays.get("expansion_targets", 0)) or None  # which files of a single target may lack

    def _checked_parameters(self) -> jit.KRLSParameters:
        check_real("nu", self.nu, "not be negative", least=0)
        if self.budget is not None:
            check_integer("budget", self.budget, "be None or an integer of at least 1", least=1)
        return jit.KRLSParameters(nu=self.nu, budget=-1 if self.budget is None else self.budget)

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return _LeastSquares(kernel, n_features, budget, outputs, self.dtype)

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        e = self.expansion_
        e.solution = None
        rows = targets.reshape(len(targets), -1)
        return int(jit.krls_rows(first, self._p, self._s, e.problem, samples, rows, importance))

    def _learn_plainly(self, x: Array, y: Any) -> None:
        expansion = self.expansion_
        expansion.make_room()
        expansion.fill_rows(x)
        expansion.solution = None
        jit.step(self._p[0], self._s[0], expansion.problem, x, expansion.kernel.diag(x), np.atleast_1d(y))

    @property
    def dual_coef_(self) -> Array:
        """(Q, n) coefficients of the dictionary, a row for each target."""
        result: Array = self.expansion_.dual()
        return result
