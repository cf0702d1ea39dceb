"""NORMA: stochastic gradient descent in kernel space (Kivinen, Smola, Williamson 2004)."""

import math
import warnings
from typing import Any

from bgsub.learners._checks import check_choice, check_real
from bgsub.learners.base import NoveltyLearner
from bgsub.learners.kernels import Array, Kernel

__all__ = ["NORMANovelty"]

_STEP_TIMES_LAM = 0.99  # the method needs eta_t < 1/lam
_TRUNCATION = 1e-3  # what budget="auto" allows f to lose, in units of its bound 1/lam


class NORMANovelty(NoveltyLearner):
    """Novelty detection by NORMA with a threshold rho that lets a fraction nu of the samples be novel.

    A sample is novel to the update where f(x) < rho. It is then stored with coefficient eta, and rho moves by
    eta (nu - 1); otherwise rho moves by eta nu. All coefficients shrink by 1 - eta lam a sample. With a
    constant step, on any data and with any budget, the share of novel samples among T is nu - (rho_T - rho_0)
    / (eta T) exactly, unless `rho_min` was met.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "polynomial", "linear"}, Kernel or callable
        Similarity of two samples.
    gamma, sigma, width : float or None
        Width of the kernel, at most one of them; `Gaussian` tells what they mean. None of them, or
        gamma "scale", is 1 / (d var(X)) of the first data.
    degree, coef0 : int, float
        Of the polynomial kernel.
    nu : float
        Fraction of novel samples, in (0, 1).
    eta : float or None
        Step, positive; None is nu / 20. Beyond nu / 5, with a constant step, the rate is still right, but the
        detector merely counts time: one vector then outweighs the score all others give.
    lam : float
        Weight of the regularisation and so of forgetting, not negative. 1 in the paper.
    schedule : {"constant", "sqrt", "tau"}
        eta_t = eta, eta / sqrt(t), or eta sqrt(tau / (tau + t)); never above 0.99 / lam.
    tau : float
        Of the schedule "tau", positive.
    kappa : float
        A sample is reported as novel where f < kappa rho, positive. 1 is the paper; less separates the alarm
        from the update, which always uses rho.
    rho_0 : float or None
        First threshold; None is eta nu / 2, which avoids the ties of a threshold that returns to exact zero.
    rho_min : float or None
        Lowest threshold. Unless None, the identity above no longer holds: at 0, rates grow severalfold.
    rho_sign : {"gradient", "printed"}
        "printed" moves rho as the paper's formula says, against the gradient of its own loss: every or no
        sample is then novel, and rho grows without bound. For comparison only.
    normalise : bool
        Report f and rho divided by nu; decisions are the same. `rho_0` and `rho_min` are given undivided.
    budget : int, None or "auto"
        Most support vectors, the oldest leaving first; "auto" keeps as many as change f by less than 0.001 /
        lam (constant step and a kernel with k(x, x) = 1 only).

    Attributes
    ----------
    rho_ : float
        The threshold.
    t_ : int
        Number of samples learned.
    n_violations_ : int
        How many of them were novel to the update, f < rho.
    last_value_, last_violation_, last_novel_ : float, bool, bool
        Of the sample learned last, before it was learned: f, f < rho, and f < kappa rho.
    expansion_ : KernelExpansion
        f itself.
    offset_, n_support_, support_vectors_, dual_coef_
        As in scikit-learn's OneClassSVM.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> model = NORMANovelty(nu=0.1, sigma=1.0).fit(rng.normal(size=(2000, 2)))
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    >>> model.learn_one(np.array([6.0, 6.0]))    # novel, and now known a little
    True
    >>> round(model.n_violations_ / model.t_, 2)
    0.1
    """

    rho_: float
    n_violations_: int
    last_value_: float
    last_violation_: bool

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        gamma: float | str | None = None,
        sigma: float | None = None,
        width: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        nu: float = 0.1,
        eta: float | None = None,
        lam: float = 1.0,
        schedule: str = "constant",
        tau: float = 10.0,
        kappa: float = 1.0,
        rho_0: float | None = None,
        rho_min: float | None = None,
        rho_sign: str = "gradient",
        normalise: bool = False,
        budget: int | str | None = 512,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.eta = eta
        self.lam = lam
        self.schedule = schedule
        self.tau = tau
        self.kappa = kappa
        self.rho_0 = rho_0
        self.rho_min = rho_min
        self.rho_sign = rho_sign
        self.normalise = normalise
        self.budget = budget

    def _prepare(self) -> None:
        check_real("nu", self.nu, "be in (0, 1)", above=0, below=1)
        if self.eta is not None:
            check_real("eta", self.eta, "be positive or None", above=0)
        check_real("lam", self.lam, "not be negative", least=0)
        check_choice("schedule", self.schedule, ("constant", "sqrt", "tau"))
        check_real("tau", self.tau, "be positive", above=0)
        check_real("kappa", self.kappa, "be positive", above=0)
        for name in ("rho_0", "rho_min"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), "be a finite number or None")
        check_choice("rho_sign", self.rho_sign, ("gradient", "printed"))
        self._eta = self.nu / 20 if self.eta is None else float(self.eta)
        if self.schedule == "constant" and self._eta > self.nu / 5 * (1 + 1e-9):
            warnings.warn(
                f"eta should be at most nu / 5 = {self.nu / 5:g}, got {self._eta:g}, which counts time",
                UserWarning,
                stacklevel=3,
            )
        self._unit = float(self.nu) if self.normalise else 1.0
        self._rho_step = -1.0 if self.rho_sign == "printed" else 1.0
        self._largest_step = _STEP_TIMES_LAM / self.lam if self.lam > 0 else math.inf
        self._lowest = -math.inf if self.rho_min is None else self.rho_min / self._unit

    def _start(self) -> None:
        first = self._eta * self.nu / 2 if self.rho_0 is None else self.rho_0
        self.rho_ = float(first) / self._unit
        self.n_violations_ = 0
        self.last_value_, self.last_violation_, self.last_novel_ = 0.0, False, False

    def _capacity(self, kernel: Kernel) -> int | None:
        if not isinstance(self.budget, str):
            return super()._capacity(kernel)
        if self.budget != "auto":
            raise ValueError(f"budget must be an integer of at least 1, None or 'auto', got {self.budget!r}")
        if self.schedule != "constant" or self.lam == 0 or not kernel.unit_diagonal:
            raise ValueError(
                "budget must be given unless schedule is constant, lam positive and k(x, x) = 1, got 'auto'"
            )
        step = min(self._eta, self._largest_step)
        return math.ceil(math.log(1 / _TRUNCATION) / -math.log1p(-step * self.lam))

    def _learn(self, x: Array) -> bool:
        self.t_ += 1
        step = self._eta
        if self.schedule == "sqrt":
            step /= math.sqrt(self.t_)
        elif self.schedule == "tau":
            step *= math.sqrt(self.tau / (self.tau + self.t_))
        step = min(step, self._largest_step)

        value = self.expansion_.value(x)
        violation = value < self.rho_
        novel = value < self.kappa * self.rho_
        self.expansion_.decay(1 - step * self.lam)
        if violation:
            self.expansion_.append(x, step / self._unit)
        self.rho_ = max(self.rho_ + self._rho_step * step / self._unit * (self.nu - violation), self._lowest)
        self.n_violations_ += violation
        self.last_value_, self.last_violation_, self.last_novel_ = value, violation, novel
        return novel

    def _threshold(self) -> float:
        return self.kappa * self.rho_
