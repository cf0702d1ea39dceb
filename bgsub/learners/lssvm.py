"""Least-squares support vector machines, the batch yardstick for online learners."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse

from bgsub.learners._base.classifier import KernelClassifier
from bgsub.learners._base.regressor import KernelRegressor
from bgsub.learners._checks import check_real
from bgsub.learners._jit.records import State
from bgsub.learners.hypotheses.kernels import Array

__all__ = ["LSSVMClassifier", "LSSVMRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class _LeastSquaresMachine:
    """The linear system of both machines."""

    C: float = 10.0

    def _checked_parameters(self) -> State:
        check_real("C", self.C, "be positive", above=0)
        if self.budget is not None:  # type: ignore[attr-defined]
            raise ValueError("budget must be None: every sample is a support vector")
        return State()  # no compiled rule has parameters

    def _learn_all(self, samples: Any, targets: Array, importance: Array) -> Self:
        samples = samples.toarray() if issparse(samples) else samples  # all of them are stored
        expansion = self.expansion_  # type: ignore[attr-defined]
        gram = expansion.kernel.matrix(samples, samples)
        gram[np.diag_indices_from(gram)] += 1 / (self.C * importance)
        solutions = cho_solve(cho_factor(gram, lower=True), np.column_stack([targets, np.ones(len(samples))]))
        offset = solutions[:, 0].sum() / solutions[:, 1].sum()
        for x, a in zip(samples, solutions[:, 0] - offset * solutions[:, 1], strict=True):
            expansion.append(x, a)
        state: Array = self._s  # type: ignore[attr-defined]
        state["t"], state["offset"] = len(samples), offset
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class LSSVMRegressor(_LeastSquaresMachine, KernelRegressor):
    """Least-squares support vector regression, in one batch (Suykens, Vandewalle 1999).

    Solves [0 1^T; 1 K + I / C] [b; alpha] = [0; y]; f(x) = sum of alpha_i k(x_i, x) + b. Every sample is a
    support vector, and the cost is cubic.

    The weight of a sample multiplies C.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    C : float
        Weight of the errors, positive.
    budget : None
        Nothing else: every sample is stored.

    Attributes
    ----------
    n_support_, support_vectors_, dual_coef_, intercept_
        As in scikit-learn's SVR.

    Raises
    ------
    ValueError
        From `fit` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-3, 3, 50)[:, None]
    >>> model = LSSVMRegressor(sigma=1.0, C=1000.0).fit(X, np.sin(X[:, 0]))
    >>> round(model.score_one(np.array([1.5])), 2)
    1.0
    """


@dataclass(kw_only=True, eq=False, repr=False)
class LSSVMClassifier(_LeastSquaresMachine, KernelClassifier):
    """Least-squares support vector classification, in one batch (Suykens, Vandewalle 1999).

    Solves [0 y^T; y Omega + I / C] [b; alpha] = [0; 1] with Omega_ij = y_i y_j k(x_i, x_j), which is the regression
    of the labels -1 and 1. Every sample is a support vector, and the cost is cubic.

    The weight of a sample multiplies C.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    C : float
        Weight of the errors, positive.
    budget : None
        Nothing else: every sample is stored.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_, n_support_, support_vectors_, dual_coef_, intercept_
        As in scikit-learn's SVC.
    class_weight_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> LSSVMClassifier(sigma=1.0).fit(X, np.hypot(*X.T) < 1).score(X, np.hypot(*X.T) < 1) > 0.95
    True
    """
