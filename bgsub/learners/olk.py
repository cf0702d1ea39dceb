"""OLK: each step minimises its regularised risk exactly (Li, Wen, Li, Zhang, Yang, Mao 2013)."""

import math
from typing import Any

from bgsub.learners._checks import check_choice, check_integer, check_real
from bgsub.learners.base import NoveltyLearner
from bgsub.learners.kernels import Array

__all__ = ["OLKNovelty"]


class OLKNovelty(NoveltyLearner):
    """OLK_N: a forgetting kernel density of all samples, and a threshold on it.

    Every sample is stored with coefficient alpha / (1 + r), alpha = clip((1 + r - f(x)) / k(x, x), v, C),
    after all coefficients have shrunk by 1 / (1 + r) (equation 67 of the paper, with the division by k(x, x)
    that other kernels need). The density score q = f(x) / (sum of all coefficients) is in [0, 1] for Gaussian
    kernels; it means the same at every time, where f itself grows for 1 / r samples.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0
        As in `NORMANovelty`.
    r : float
        Weight of the regularisation and so of forgetting, not negative: the memory is 1 / r samples.
    v, C : float
        Least and largest alpha, 0 <= v < C. v = 0 stores only samples not yet explained.
    rho_rule : {"quantile", "published", "kkt", "fixed"}
        What is novel.

        - "quantile": score < theta, and theta moves so that a fraction nu of the samples is novel.
        - "fixed": score < level.
        - "published": f < 1 + r - C k(x, x), which is what the paper's rule does from rho = 0: it stays 0 for
          ever.
        - "kkt": f < 1 + rho with rho = max(0, f(x) - 1) of the sample before, after its step; flags about
          half of
          all samples and is there to show why.
    score_on : {"q", "f"}
        The score of the rules "quantile" and "fixed".
    nu : float
        Fraction of novel samples of the rule "quantile", in (0, 1).
    eta_rho : float
        Least step of log(theta), in (0, 1].
    quantile_step : {"decreasing", "constant"}
        Step j of log(theta): clip(3 / j, eta_rho, 1), or always eta_rho. With a constant step, on any data,
        the rate over T samples is nu - log(theta_T / theta_0) / (eta_rho T) exactly.
    warmup : int
        With score "q", that many samples, at least 2, are taken as normal, and theta starts at half the mean
        score of all but the first. With score "f" there is no warm-up and theta starts at 1.
    level : float
        Threshold of the rule "fixed", positive.
    thr_sv : float
        A vector is forgotten once its coefficient is below this, not negative.
    budget : int or None
        Most support vectors, the oldest leaving first.

    Attributes
    ----------
    theta_ : float
        Threshold of the rule "quantile"; 0, so that nothing is novel, during warm-up.
    rho_ : float
        Of the rule "kkt"; 0 otherwise.
    t_, n_novel_ : int
        Number of samples learned, and how many of them were novel.
    last_value_, last_density_, last_novel_ : float, float, bool
        f, q and decision of the sample learned last, before it was learned.
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
    >>> model = OLKNovelty(width=1.0).fit(rng.normal(size=(500, 2)))
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    >>> model.density_one(np.array([6.0, 6.0])) < model.theta_ < model.density_one(np.array([0.0, 0.0]))
    True
    """

    theta_: float
    rho_: float
    n_novel_: int
    last_value_: float
    last_density_: float

    def __init__(
        self,
        *,
        kernel: Any = "gaussian",
        gamma: float | str | None = None,
        sigma: float | None = None,
        width: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        r: float = 0.001,
        v: float = 0.1,
        C: float = 0.2,  # noqa: N803
        rho_rule: str = "quantile",
        score_on: str = "q",
        nu: float = 0.05,
        eta_rho: float = 0.05,
        quantile_step: str = "decreasing",
        warmup: int = 20,
        level: float = 0.1,
        thr_sv: float = 0.0,
        budget: int | None = 512,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.width = width
        self.degree = degree
        self.coef0 = coef0
        self.r = r
        self.v = v
        self.C = C
        self.rho_rule = rho_rule
        self.score_on = score_on
        self.nu = nu
        self.eta_rho = eta_rho
        self.quantile_step = quantile_step
        self.warmup = warmup
        self.level = level
        self.thr_sv = thr_sv
        self.budget = budget

    def _prepare(self) -> None:
        check_real("r", self.r, "not be negative", least=0)
        check_real("C", self.C, "be positive", above=0)
        check_real("v", self.v, f"be in [0, C) with C = {self.C}", least=0, below=self.C)
        check_choice("rho_rule", self.rho_rule, ("quantile", "published", "kkt", "fixed"))
        check_choice("score_on", self.score_on, ("q", "f"))
        check_real("nu", self.nu, "be in (0, 1)", above=0, below=1)
        check_real("eta_rho", self.eta_rho, "be in (0, 1]", above=0, most=1)
        check_choice("quantile_step", self.quantile_step, ("decreasing", "constant"))
        check_integer("warmup", self.warmup, "be an integer of at least 2", least=2)
        check_real("level", self.level, "be positive", above=0)
        check_real("thr_sv", self.thr_sv, "not be negative", least=0)
        self._warmup = int(self.warmup) if (self.rho_rule, self.score_on) == ("quantile", "q") else 0

    def _start(self) -> None:
        self.theta_ = 0.0 if self._warmup else 1.0
        self.rho_ = 0.0
        self.n_novel_ = 0
        self._warmup_sum = 0.0
        self.last_value_, self.last_density_, self.last_novel_ = 0.0, 1.0, False

    def _density(self, value: float) -> float:
        mass = self.expansion_.mass()
        return value / mass if mass > 0 else 1.0

    def density_one(self, x: Array) -> float:
        """Return the density score q of one sample (d,): f(x) / sum of coefficients, or 1 if that is 0."""
        return self._density(self.expansion_.value(x)) if self._started else 1.0

    def _score_of(self, x: Array, value: float, density: float) -> float:
        if self.rho_rule == "published":
            # The threshold depends on k(x, x); moved into the score, it is a constant for all samples.
            return value - self.C * (1 - self.expansion_.kernel.diag(x))
        return value if self.rho_rule == "kkt" or self.score_on == "f" else density

    def _score(self, x: Array) -> float:
        value = self.expansion_.value(x)
        return self._score_of(x, value, self._density(value))

    def _threshold(self) -> float:
        match self.rho_rule:
            case "published":
                return 1 + self.r - self.C
            case "kkt":
                return 1 + self.rho_
            case "fixed":
                return self.level
        return self.theta_

    def _learn(self, x: Array) -> bool:
        self.t_ += 1
        value = self.expansion_.value(x)
        density = self._density(value)
        score = self._score_of(x, value, density)
        novel = score < self._threshold()

        alpha = min(max((1 + self.r - value) / self._diag(x), self.v), self.C)
        self.expansion_.decay(1 / (1 + self.r))
        self.expansion_.append(x, alpha / (1 + self.r))
        if self.thr_sv > 0:
            self.expansion_.drop_below(self.thr_sv)

        if self.rho_rule == "quantile":
            self._move_theta(score, novel)
        elif self.rho_rule == "kkt":
            self.rho_ = max(0.0, self.expansion_.value(x) - 1)
        self.n_novel_ += novel
        self.last_value_, self.last_density_, self.last_novel_ = value, density, novel
        return novel

    def _diag(self, x: Array) -> float:
        diagonal = self.expansion_.kernel.diag(x)
        return diagonal if diagonal > 0 else math.inf  # k(x, .) = 0 changes nothing: alpha is v

    def _move_theta(self, score: float, novel: bool) -> None:
        if self.t_ <= self._warmup:
            if self.t_ > 1:  # the first score is 1 for want of anything to compare with
                self._warmup_sum += score
            if self.t_ == self._warmup:
                self.theta_ = 0.5 * self._warmup_sum / (self._warmup - 1)
            return
        step = self.eta_rho
        if self.quantile_step == "decreasing":
            step = min(max(3 / (self.t_ - self._warmup), step), 1.0)
        self.theta_ *= math.exp(step * (self.nu - novel))
