"""OLK: each step minimises its regularised risk exactly (Li, Wen, Li, Zhang, Yang, Mao 2013)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bgsub.learners._base.classifier import ClassifierLearner
from bgsub.learners._base.kernel_learner import Evicting, KernelLearner
from bgsub.learners._base.learner import scalar
from bgsub.learners._base.novelty import NoveltyLearner
from bgsub.learners._checks import check_choice, check_integer, check_real
from bgsub.learners._jit import rules
from bgsub.learners.hypotheses.kernels import Array

__all__ = ["OLKClassifier", "OLKLearner", "OLKNovelty"]

_RULES = {"quantile": rules.QUANTILE, "published": rules.PUBLISHED, "fixed": rules.FIXED, "kkt": rules.KKT}


@dataclass(kw_only=True, eq=False, repr=False)
class OLKLearner(Evicting, KernelLearner):
    """What the three kinds of OLK share: all coefficients shrink by 1 / (1 + r), then x gets its own, at most C."""

    r: float = 0.001
    C: float = 0.8
    thr_sv: float = 0.0
    budget: int | None = 512

    def _check_shared(self) -> None:
        check_real("r", self.r, "not be negative", least=0)
        check_real("C", self.C, "be positive", above=0)
        check_real("thr_sv", self.thr_sv, "not be negative", least=0)

    def _compiled(self) -> bool:
        return super()._compiled() and self.thr_sv == 0

    def _apply(self, x: Array, factor: float, coefficient: float) -> None:
        super()._apply(x, factor, coefficient)
        if self.thr_sv > 0:
            self.expansion_.drop_below(self.thr_sv)


@dataclass(kw_only=True, eq=False, repr=False)
class OLKNovelty(OLKLearner, NoveltyLearner):
    """OLK_N: a forgetting kernel density of all samples, and a threshold on it.

    Every sample is stored with coefficient alpha / (1 + r), alpha = clip((1 + r - f(x)) / k(x, x), v, C),
    after all coefficients have shrunk by 1 / (1 + r) (equation 67 of the paper, with the division by k(x, x)
    that other kernels need). The density score q = f(x) / (sum of all coefficients) is in [0, 1] for Gaussian
    kernels; it means the same at every time, where f itself grows for 1 / r samples.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
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
          half of all samples and is there to show why.
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
        Most support vectors.
    evict : {"oldest", "smallest", "random"}
        Which vector a full store replaces.
    random_state : int, RandomState or None
        Of the random replacement.

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

    v: float = 0.1
    C: float = 0.2
    rho_rule: str = "quantile"
    score_on: str = "q"
    nu: float = 0.05
    eta_rho: float = 0.05
    quantile_step: str = "decreasing"
    warmup: int = 20
    level: float = 0.1

    _rule: ClassVar[int] = rules.OLK_N

    theta_ = scalar(rules.EXTRA, float, "Threshold of the quantile rule.")
    rho_ = scalar(rules.LEVEL, float, "Of the rule kkt.")
    n_novel_ = scalar(rules.NOVEL, int, "Number of samples that were novel before they were learned.")
    last_density_ = scalar(rules.LAST_DENSITY, float, "q of the sample learned last, before it was learned.")

    def _prepare(self) -> list[float]:
        self._check_shared()
        check_real("v", self.v, f"be in [0, C) with C = {self.C}", least=0, below=self.C)
        check_choice("rho_rule", self.rho_rule, _RULES)
        check_choice("score_on", self.score_on, ("q", "f"))
        check_real("nu", self.nu, "be in (0, 1)", above=0, below=1)
        check_real("eta_rho", self.eta_rho, "be in (0, 1]", above=0, most=1)
        check_choice("quantile_step", self.quantile_step, ("decreasing", "constant"))
        check_integer("warmup", self.warmup, "be an integer of at least 2", least=2)
        check_real("level", self.level, "be positive", above=0)
        warmup = self.warmup if (self.rho_rule, self.score_on) == ("quantile", "q") else 0
        return [
            self.r, self.C, self.v, 0.0, _RULES[self.rho_rule], self.score_on == "q", self.nu, self.eta_rho,
            self.quantile_step == "decreasing", warmup, self.level,
        ]  # fmt: skip

    def _start(self) -> None:
        self._s[rules.EXTRA] = 0.0 if self._p[rules.WARMUP] else 1.0
        self._s[rules.LAST_DENSITY] = 1.0

    def _density(self, value: float) -> float:
        mass = self.expansion_.mass()
        return value / mass if mass > 0 else 1.0

    def density_one(self, x: Array) -> float:
        """Return the density score q of one sample (d,): f(x) / sum of coefficients, or 1 if that is 0."""
        return self._density(self.expansion_.value(x)) if self._started else 1.0

    def _score_of(self, x: Array, value: float) -> float:
        diagonal = self.expansion_.kernel.diag(x) if self.rho_rule == "published" else 1.0
        return float(rules.olk_score(self._p, value, self._density(value), diagonal))

    def _score(self, x: Array) -> float:
        return self._score_of(x, self.expansion_.value(x))

    def _scores(self, samples: Array) -> Array:
        values = self.expansion_.values(samples)
        return np.array([self._score_of(x, float(f)) for x, f in zip(samples, values, strict=True)], np.float64)

    def _threshold(self) -> float:
        return float(rules.olk_threshold(self._p, self._s))

    def _compiled(self) -> bool:
        return super()._compiled() and self.rho_rule != "kkt"  # which needs f once more, after the step

    def _apply(self, x: Array, factor: float, coefficient: float) -> None:
        super()._apply(x, factor, coefficient)
        if self.rho_rule == "kkt":
            self._s[rules.LEVEL] = max(0.0, self.expansion_.value(x) - 1)


@dataclass(kw_only=True, eq=False, repr=False)
class OLKClassifier(OLKLearner, ClassifierLearner):
    """OLK_C: each step minimises |f - f_t|²/2 + r |f|²/2 + C max(0, 1 - y f(x)) exactly.

    All coefficients shrink by 1 / (1 + r), and x gets the coefficient y alpha / (1 + r) with
    alpha = clip((1 + r - y f(x)) / k(x, x), 0, C): equations 30 and 33 of the paper, which prints k(x, x) = 1.
    With r = 0 this is `PassiveAggressiveKernel`.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype, budget, evict, random_state
        As in `NORMANovelty`.
    r : float
        Weight of the regularisation and so of forgetting, not negative: the memory is 1 / r samples.
    C : float
        Largest alpha, positive.
    thr_sv : float
        A vector is forgotten once its coefficient is below this in size, not negative.
    average : bool
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_, t_, n_mistakes_, n_violations_, n_support_, support_vectors_, dual_coef_, intercept_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> model = OLKClassifier(width=1.0, C=5.0, r=0.1)
    >>> score = model.learn_one(np.array([0.0]), 1)
    >>> model.score_one(np.array([0.0]))    # a step that C does not bound reaches the margin
    1.0
    """

    average: bool = False

    _rule: ClassVar[int] = rules.OLK_C

    def _prepare(self) -> list[float]:
        self._check_shared()
        return [self.r, self.C]
