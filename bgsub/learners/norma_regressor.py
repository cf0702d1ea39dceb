"""Online regression: NORMA with four losses, and OLK_R."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

from bgsub.learners._base.learner import scalar
from bgsub.learners._base.regressor import RegressorLearner
from bgsub.learners._checks import check_choice, check_real
from bgsub.learners._jit import rules
from bgsub.learners.norma import NORMALearner
from bgsub.learners.olk import OLKLearner

__all__ = ["NORMARegressor", "OLKRegressor"]

_LOSSES = {"squared": rules.SQUARED, "epsilon": rules.EPSILON, "huber": rules.HUBER}


@dataclass(kw_only=True, eq=False, repr=False)
class NORMARegressor(NORMALearner, RegressorLearner):
    """Regression by NORMA: stochastic gradient descent on a squared, eps-insensitive or Huber loss.

    With g = f + b and d = y - g(x), x is stored with coefficient

    - squared: eta_t d (with lam = 0 this is kernel LMS);
    - epsilon: eta_t sgn(d) where |d| > eps, else nothing;
    - huber: eta_t sgn(d) where |d| > delta, else eta_t d / delta,

    after all coefficients have shrunk by 1 - eta_t lam. With nu, eps or delta moves by eta_t (e - nu), e being 1
    where |d| was larger: with a constant step the share of such samples among T is nu + (eps_T - eps_0) / (eta T)
    exactly. For Huber the paper presents this as descent on the loss, which it is not: it tracks the (1 - nu)
    quantile of |d|. delta is kept above eta k(x, x), so that no step overshoots.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    loss : {"squared", "epsilon", "huber"}
        See above.
    eta : float
        Step, positive. With the squared loss it should be below 2 / k(x, x).
    lam : float
        Weight of the regularisation and so of forgetting, not negative.
    eps : float
        Half-width of the tube of the loss "epsilon", not negative; with nu the first one.
    delta : float
        Where the loss "huber" turns linear, positive; with nu the first one.
    nu : float or None
        Share of samples outside, in (0, 1); None keeps eps and delta.
    offset : bool
        Whether to learn a constant b.
    schedule, tau, budget, evict, random_state
        As in `NORMANovelty`.
    average : bool
        As in `KernelPerceptron`.

    Attributes
    ----------
    level_ : float
        eps or delta.
    n_violations_ : int
        Number of samples outside.
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
    >>> model = NORMARegressor(sigma=0.5, lam=1e-4, budget=None).fit(X, np.sin(X[:, 0]))
    >>> round(model.score_one(np.array([1.5])), 1)
    1.0
    """

    loss: str = "squared"
    eta: float = 0.1
    eps: float = 0.1
    delta: float = 1.0
    nu: float | None = None
    offset: bool = False
    average: bool = False

    level_ = scalar(rules.LEVEL, float, "Half-width of the tube, or where the loss turns linear.")

    def _prepare(self) -> list[float]:
        check_choice("loss", self.loss, _LOSSES)
        check_real("eta", self.eta, "be positive", above=0)
        check_real("eps", self.eps, "not be negative", least=0)
        check_real("delta", self.delta, "be positive", above=0)
        if self.nu is not None:
            check_real("nu", self.nu, "be in (0, 1) or None", above=0, below=1)
            if self.loss == "squared":
                raise ValueError(f"nu must be None where loss is 'squared', got {self.nu!r}")
        parameters = self._parameters(
            self.eta,
            _LOSSES[self.loss],
            0.0 if self.nu is None else self.nu,
            adapt=self.nu is not None,
            offset=bool(self.offset),
        )
        if self.schedule == "constant" and self.eta * self.lam >= 1:
            raise ValueError(f"eta * lam must be below 1 with a constant step, got {self.eta:g} * {self.lam:g}")
        return parameters

    def _start(self) -> None:
        self._s[rules.LEVEL] = self.delta if self.loss == "huber" else self.eps
        if self.loss == "squared" and self.expansion_.kernel.unit_diagonal and self.eta >= 2:
            warnings.warn(f"eta should be below 2 / k(x, x) = 2, got {self.eta:g}", UserWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # one pass of small steps over scikit-learn's 200 samples
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class OLKRegressor(OLKLearner, RegressorLearner):
    """OLK_R: each step minimises |f - f_t|²/2 + r |f|²/2 + C max(0, |y - f(x)| - eps) exactly.

    All coefficients shrink by 1 / (1 + r), and x gets the coefficient (alpha - alpha~) / (1 + r) with

        alpha  = clip(((1 + r) (y - eps) - f(x)) / k(x, x), 0, C)
        alpha~ = clip((f(x) - (1 + r) (y + eps)) / k(x, x), 0, C),

    equations 42 and 48 of the paper, which prints k(x, x) = 1. Its equation 52 has the sign of the difference
    reversed, which diverges: on the paper's own example the error is then several hundred times as large. At most one
    of the two is positive. With r = 0 this is passive-aggressive regression.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype, budget, evict, random_state
        As in `NORMANovelty`.
    r : float
        Weight of the regularisation and so of forgetting, not negative: the memory is 1 / r samples.
    C : float
        Largest alpha, positive.
    eps : float
        Error that costs nothing, not negative.
    thr_sv : float
        A vector is forgotten once its coefficient is below this in size, not negative.
    average : bool
        As in `KernelPerceptron`.

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
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> model = OLKRegressor(width=0.5, budget=None).fit(X, np.sin(X[:, 0]))
    >>> round(model.score_one(np.array([1.5])), 1), model.n_support_ < 200
    (0.9, True)
    """

    C: float = 1.0
    eps: float = 0.1
    average: bool = False

    _rule: ClassVar[int] = rules.OLK_R

    n_violations_ = scalar(rules.VIOLATIONS, int, "Number of samples that were stored.")

    def _prepare(self) -> list[float]:
        self._check_shared()
        check_real("eps", self.eps, "not be negative", least=0)
        return [self.r, self.C, 0.0, self.eps]
