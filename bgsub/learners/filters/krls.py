"""Kernel recursive least squares with approximate linear dependence."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners._checks import check_integer, check_real
from bgsub.learners._jit.filters import krls as jit
from bgsub.learners._jit.perceptrons.projectron import backward
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.projected import ProjectedExpansion

__all__ = ["KRLSRegressor"]


class _LeastSquares(ProjectedExpansion):
    """A function in the basis that the factor of its Gram matrix makes; coefficients are computed on demand."""

    def _allocate(self, store: Array, sizes: Array, shape: tuple[int, int, int]) -> None:
        super()._allocate(store, sizes, shape)
        self.solution: Array | None = None
        capacity = shape[2]
        self.root = np.zeros((capacity, capacity + 1))
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
        """Return the coefficients (1, cap), which are computed once after samples were learned.

        Into arrays of its own: several threads may find that nobody has done it yet.
        """
        known = self.solution
        if known is None:
            size, theta = int(self.arrays.sizes[0]), np.zeros(len(self.root))
            known = np.zeros((1, len(self.root)))
            jit.solve(self.root, size, theta)
            backward(self.arrays.factors[0], False, size, theta, known[0])
            self.solution = known
        return known

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d): (m,)."""
        return super().values(samples, self.solve())

    def dual(self, weights: Array | None = None) -> Array:
        """(1, n) coefficients."""
        return super().dual(self.solve())

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        return {**super().state(), "root": self.root.copy()}

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
        return int(jit.krls_rows(first, self._p, self._s, e.problem, samples, targets, importance))

    def _learn_plainly(self, x: Array, y: float) -> None:
        expansion = self.expansion_
        expansion.make_room()
        expansion.fill_rows(x)
        expansion.solution = None
        jit.step(self._p[0], self._s[0], expansion.problem, x, expansion.kernel.diag(x), y)

    @property
    def dual_coef_(self) -> Array:
        """(1, n) coefficients of the dictionary."""
        result: Array = self.expansion_.dual()
        return result
