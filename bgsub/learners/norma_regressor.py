"""Online regression by NORMA, with any loss of a regression."""

from dataclasses import dataclass
from typing import Any

from bgsub.learners._base.learner import scalar
from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners._checks import check_choice, check_real, warn_caller
from bgsub.learners._jit.losses import REGRESSION_LOSSES
from bgsub.learners._jit.norma import NORMAParameters
from bgsub.learners.norma import NORMABase

__all__ = ["NORMARegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class NORMARegressor(NORMABase, OnlineKernelRegressor):
    """Regression by NORMA: stochastic gradient descent on a squared, eps-insensitive or Huber loss.

    With g = f + b and d = y - g(x), x is stored with coefficient

    - squared: eta_t d (with lam = 0 this is kernel LMS);
    - epsilon: eta_t sgn(d) where |d| > eps, else nothing;
    - huber: eta_t sgn(d) where |d| > delta, else eta_t d / delta,

    after all coefficients have shrunk by 1 - eta_t lam. With nu, eps or delta moves by eta_t (e - nu), e being 1
    where |d| was larger: with a constant step the share of such samples among T is nu + (eps_T - eps_0) / (eta T)
    exactly. For Huber the paper presents this as descent on the loss, which it is not: it tracks the (1 - nu)
    quantile of |d|. delta is kept above eta k(x, x), so that no step overshoots.

    The weight of a sample multiplies eta in its coefficient and in the steps of b, eps and delta; forgetting stays.

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
        Share of samples outside, in (0, 1); None keeps eps and delta. Only for a loss that has one of them.
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

    level_ = scalar("level", float, "Half-width of the tube, or where the loss turns linear.")

    def _checked_parameters(self) -> NORMAParameters:
        check_choice("loss", self.loss, REGRESSION_LOSSES)
        loss = REGRESSION_LOSSES[self.loss]
        check_real("eta", self.eta, "be positive", above=0)
        check_real("eps", self.eps, "not be negative", least=0)
        check_real("delta", self.delta, "be positive", above=0)
        if self.nu is not None:
            check_real("nu", self.nu, "be in (0, 1) or None", above=0, below=1)
            if not loss.width:
                raise ValueError(f"nu must be None where loss is {self.loss!r}, which has no width, got {self.nu!r}")
        parameters = self._parameters(
            self.eta,
            loss.code,
            self.nu,
            offset=bool(self.offset),
            sign=-1.0,  # a wider tube has fewer violations
        )
        if self.schedule == "constant" and self.eta * self.lam >= 1:
            raise ValueError(f"eta * lam must be below 1 with a constant step, got {self.eta:g} * {self.lam:g}")
        return parameters

    def _start(self) -> None:
        self._s["level"] = getattr(self, REGRESSION_LOSSES[self.loss].width or "eps")
        if self.loss == "squared" and self.expansion_.kernel.unit_diagonal and self.eta >= 2:
            warn_caller(f"eta should be below 2 / k(x, x) = 2, got {self.eta:g}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # one pass of small steps over scikit-learn's 200 samples
        return tags
