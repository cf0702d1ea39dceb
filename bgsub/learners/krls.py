"""Kernel recursive least squares with approximate linear dependence."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bgsub.learners._base.regressor import RegressorLearner
from bgsub.learners._checks import check_integer, check_real
from bgsub.learners._jit import krls as kernels
from bgsub.learners._jit import rules
from bgsub.learners._jit.projectron import backward
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.projected import ProjectedExpansion

__all__ = ["KRLSRegressor"]


class _LeastSquares(ProjectedExpansion):
    """A function in the basis that the factor of its Gram matrix makes; coefficients are computed on demand."""

    root: Array

    def _allocate(self, sets: int, n_features: int, capacity: int) -> None:
        super()._allocate(sets, n_features, capacity)
        self.solved = False
        self.root, self.total = np.zeros((capacity, capacity + 1)), np.zeros((capacity, capacity + 1))
        self.block = np.zeros((kernels.BLOCK, capacity + 1))

    def grow(self) -> None:
        """Double the arrays, up to the budget."""
        old = self.root
        super().grow()
        self.root[: old.shape[0], : old.shape[1]] = old

    def parts(self) -> tuple[Array, ...]:
        """Return the state in the order of the compiled loop's arguments."""
        return (
            self.vectors[0], self.norms[0], self.sizes, self.factors[0], self.rows[0], self.w[0], self.root, self.block,
            self.total,
        )  # fmt: skip

    def solve(self) -> None:
        """Compute the coefficients."""
        size = int(self.sizes[0])
        kernels.solve(self.root, size, self.u[0])
        backward(self.factors[0], 0.0, size, self.u[0], self.w[0])
        self.coefficients_[0, :size] = self.w[0, :size]
        self.solved = True

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d): (m,)."""
        if not self.solved:
            self.solve()
        return super().values(samples, weights)

    def dual(self, weights: Array | None = None) -> Array:
        """(1, n) coefficients."""
        if not self.solved:
            self.solve()
        return super().dual(weights)

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        return {**super().state(), "root": self.root.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        super().restore(state)
        self.solved = False


@dataclass(kw_only=True, eq=False, repr=False)
class KRLSRegressor(RegressorLearner):
    """Kernel recursive least squares (Engel, Mannor, Meir 2004): all samples count, few are stored.

    With a = K^-1 k the coefficients of x's projection onto the dictionary and delta² its squared distance: where
    delta² > nu, x joins the dictionary and alpha becomes [alpha - a e / delta²; e / delta²], e = y - f(x).
    Otherwise q = P a / (1 + a·P a), P becomes P - q (P a)^T and alpha grows by K^-1 q e. The fit is then that of
    least squares over all samples, each taken as its projection. It never forgets.

    It is computed without P and the inverse of K, which as published is wrong by .3 at nu = 1e-6. A triangular factor
    K = L L^T makes an orthonormal basis of the dictionary, in which a sample is L^-1 k, and the triangular factor of
    the least-squares problem in it is kept. A single sample is rotated into that factor; a batch is summed up between
    one new vector and the next, which is quicker and the same up to rounding.

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

    _rule: ClassVar[int] = rules.KRLS

    def _prepare(self) -> list[float]:
        check_real("nu", self.nu, "not be negative", least=0)
        if self.budget is not None:
            check_integer("budget", self.budget, "be None or an integer of at least 1", least=1)
        return [self.nu, -1 if self.budget is None else self.budget]

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return _LeastSquares(kernel, n_features, budget, outputs, self.dtype)

    def _run(self, first: int, samples: Array, targets: Array) -> int:
        e = self.expansion_
        e.solved = False
        return int(kernels.krls_rows(first, e.kind, e.kp, self._p, self._s, *e.parts(), samples, targets))

    def _learn_plainly(self, x: Array, y: float) -> None:
        expansion = self.expansion_
        expansion.make_room()
        expansion.fill_rows(x)
        expansion.solved = False
        kernels.step(self._p, self._s, x, expansion.kernel.diag(x), y, *expansion.parts()[:-1])

    @property
    def dual_coef_(self) -> Array:
        """(1, n) coefficients of the dictionary."""
        result: Array = self.expansion_.dual()
        return result
