"""OLK: each step minimises its regularised risk exactly (Li, Wen, Li, Zhang, Yang, Mao 2013)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bgsub.learners._base.classifier import MulticlassKernelClassifier
from bgsub.learners._base.kernel_learner import EvictionParameters, KernelLearner
from bgsub.learners._base.learner import scalar
from bgsub.learners._base.novelty import NoveltyDetector
from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners._checks import check_choice, check_integer, check_real
from bgsub.learners._jit.olk import (
    FIXED,
    KKT,
    PUBLISHED,
    QUANTILE,
    OLKNoveltyParameters,
    OLKNoveltyState,
    OLKParameters,
    OLKRegressionParameters,
    current_score,
    current_threshold,
    olk_classification,
    olk_classification_class_rows,
    olk_classification_rows,
    olk_novelty,
    olk_novelty_rows,
    olk_regression,
    olk_regression_rows,
)
from bgsub.learners.hypotheses.kernels import Array

__all__ = ["OLKBase", "OLKClassifier", "OLKNovelty", "OLKRegressor"]

_RULES = {"quantile": QUANTILE, "published": PUBLISHED, "fixed": FIXED, "kkt": KKT}


@dataclass(kw_only=True, eq=False, repr=False)
class OLKBase(EvictionParameters, KernelLearner):
    """The base class of OLK: all coefficients shrink by 1 / (1 + r), then x gets its own, at most C."""

    r: float = 0.001
    C: float = 0.8
    thr_sv: float = 0.0
    budget: int | None = 512

    _fades: ClassVar[bool] = True

    def _check_shared(self) -> None:
        check_real("r", self.r, "not be negative", least=0)
        check_real("C", self.C, "be positive", above=0)
        check_real("thr_sv", self.thr_sv, "not be negative", least=0)

    def _apply(self, x: Array, factor: float, coefficient: float) -> None:
        super()._apply(x, factor, coefficient)
        if self.thr_sv > 0:
            self.expansion_.drop_below(self.thr_sv)


@dataclass(kw_only=True, eq=False, repr=False)
class OLKNovelty(OLKBase, NoveltyDetector):
    """OLK_N: a forgetting kernel density of all samples, and a threshold on it.

    Every sample is stored with coefficient alpha / (1 + r), alpha = clip((1 + r - f(x)) / k(x, x), v, C),
    after all coefficients have shrunk by 1 / (1 + r) (equation 67 of the paper, with the division by k(x, x)
    that other kernels need). The density score q = f(x) / (sum of all coefficients) is in [0, 1] for Gaussian
    kernels; it means the same at every time, where f itself grows for 1 / r samples.

    The weight of a sample multiplies v and C, and the step of log(theta), which is at most 1.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    r : float
        Weight of the regularisation and so of forgetting, not negative: the memory is 1 / r samples.
    v, C : float
        Least and largest alpha, 0 <= v < C. v = 0 stores only samples not yet explained.
    rho_rule : {"quantile", "published", "kkt", "fixed"}
        When a sample is novel.

        - "quantile": score < theta, and theta moves so that a fraction nu of the samples is novel.
        - "fixed": score < level.
        - "published": f < 1 + r - C k(x, x), the paper's rule from rho = 0, where it stays for ever.
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
        With score "q", that many samples, at least 2, count as normal, and theta starts at half the mean
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

    _state: ClassVar[Any] = OLKNoveltyState
    _rule: ClassVar[Any] = staticmethod(olk_novelty)
    _rows: ClassVar[Any] = staticmethod(olk_novelty_rows)

    theta_ = scalar("theta", float, "Threshold of the quantile rule.")
    rho_ = scalar("rho", float, "Of the rule kkt.")
    n_novel_ = scalar("novel", int, "Number of samples that were novel before they were learned.")
    last_density_ = scalar("last_density", float, "q of the sample learned last, before it was learned.")

    def _checked_parameters(self) -> OLKNoveltyParameters:
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
        return OLKNoveltyParameters(
            r=self.r,
            C=self.C,
            least=self.thr_sv,
            v=self.v,
            rule=_RULES[self.rho_rule],
            on_density=self.score_on == "q",
            nu=self.nu,
            eta_rho=self.eta_rho,
            decreasing=self.quantile_step == "decreasing",
            warmup=warmup,
            level=self.level,
        )

    def _start(self) -> None:
        self._s["theta"] = 0.0 if self._p["warmup"][0] else 1.0

    def _density(self, value: float) -> float:
        mass = self.expansion_.mass()
        return value / mass if mass > 0 else 1.0

    def density_one(self, x: Array) -> float:
        """Return the density score q of one sample (d,): f(x) / sum of coefficients, or 1 if that is 0."""
        return self._density(self.expansion_.value(x)) if self._started else 1.0

    def _learn_plainly(self, x: Array, y: float) -> None:
        expansion = self.expansion_
        diagonal = expansion.kernel.diag(x)
        value = float(expansion.combine(expansion.row(x)))
        factor, coefficient = self._rule(self._p[0], self._s[0], value, expansion.mass(), diagonal)
        self._apply(x, factor, coefficient)

    def _score(self, x: Array) -> float:
        value = self.expansion_.value(x)
        diagonal = self.expansion_.kernel.diag(np.asarray(x, np.float64)) if self.rho_rule == "published" else 1.0
        return float(current_score(self._p, value, self._density(value), diagonal))

    def _scores(self, samples: Array) -> Array:
        values: Array = self.expansion_.values(samples)
        if self.rho_rule == "published":
            diagonals: Array = self.expansion_.kernel.diagonals(samples)
            return values - self.C * (1.0 - diagonals)
        if self.rho_rule == "kkt" or self.score_on == "f":
            return values
        mass = self.expansion_.mass()
        density: Array = values / mass if mass > 0 else np.ones(len(values))
        return density

    def _decision(self) -> tuple[Any, Any]:
        if self.rho_rule == "published" and not self.expansion_.kernel.unit_diagonal:
            raise ValueError(
                f"rho_rule must not be 'published' to be exported where k(x, x) varies, got {self.kernel!r}"
            )
        if self.rho_rule not in ("quantile", "fixed") or self.score_on == "f":
            return super()._decision()
        mass = self.expansion_.mass()  # positive, since the first sample is always stored
        return 1 / mass, -self._threshold()

    def _threshold(self) -> float:
        return float(current_threshold(self._p, self._s))

    def _apply(self, x: Array, factor: float, coefficient: float) -> None:
        super()._apply(x, factor, coefficient)
        if self.rho_rule == "kkt":
            self._s["rho"] = max(0.0, self.expansion_.value(x) - 1)


@dataclass(kw_only=True, eq=False, repr=False)
class OLKClassifier(MulticlassKernelClassifier, OLKBase):
    """OLK_C: each step minimises |f - f_t|²/2 + r |f|²/2 + C max(0, 1 - y f(x)) exactly.

    All coefficients shrink by 1 / (1 + r), and x gets the coefficient y alpha / (1 + r) with
    alpha = clip((1 + r - y f(x)) / k(x, x), 0, C): equations 30 and 33 of the paper, which prints k(x, x) = 1.
    With r = 0 this is `PassiveAggressiveKernel`.

    With more than two classes and s the best wrong one, y f(x) becomes f_y(x) - f_s(x) in the loss (Crammer and others
    2006): x gets alpha / (1 + r) in f_y and the negative of that in f_s, with
    alpha = clip((1 + r - (f_y(x) - f_s(x))) / (2 k(x, x)), 0, C).

    The weight of a sample multiplies C.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype, budget, evict, random_state
        As in `NORMANovelty`.
    r : float
        Weight of the regularisation and so of forgetting, not negative: the memory is 1 / r samples.
    C : float
        Largest alpha, positive.
    thr_sv : float
        A vector is forgotten once its coefficient, or each of its coefficients, is below this in size, not negative.
    average : bool
        As in `KernelPerceptron`.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_, t_, n_mistakes_, n_violations_, n_support_, support_vectors_, dual_coef_, intercept_
        As in `KernelPerceptron`.
    class_weight_
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

    budget: int | None = 512  # again, since the fields of classifiers come after those of OLKBase
    average: bool = False

    _rule: ClassVar[Any] = staticmethod(olk_classification)
    _rows: ClassVar[Any] = staticmethod(olk_classification_rows)
    _class_rows: ClassVar[Any] = staticmethod(olk_classification_class_rows)

    def _checked_parameters(self) -> OLKParameters:
        self._check_shared()
        return OLKParameters(r=self.r, C=self.C, least=self.thr_sv)


@dataclass(kw_only=True, eq=False, repr=False)
class OLKRegressor(OLKBase, OnlineKernelRegressor):
    """OLK_R: each step minimises |f - f_t|²/2 + r |f|²/2 + C max(0, |y - f(x)| - eps) exactly.

    All coefficients shrink by 1 / (1 + r), and x gets the coefficient (alpha - alpha~) / (1 + r) with

        alpha  = clip(((1 + r) (y - eps) - f(x)) / k(x, x), 0, C)
        alpha~ = clip((f(x) - (1 + r) (y + eps)) / k(x, x), 0, C),

    equations 42 and 48 of the paper, which prints k(x, x) = 1. Its equation 52 has the sign of the difference
    reversed, which diverges: on the paper's own example the error is then several hundred times as large. At most one
    of the two is positive. With r = 0 this is passive-aggressive regression.

    The weight of a sample multiplies C.

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

    _rule: ClassVar[Any] = staticmethod(olk_regression)
    _rows: ClassVar[Any] = staticmethod(olk_regression_rows)

    n_violations_ = scalar("violations", int, "Number of samples that were stored.")

    def _checked_parameters(self) -> OLKRegressionParameters:
        self._check_shared()
        check_real("eps", self.eps, "not be negative", least=0)
        return OLKRegressionParameters(r=self.r, C=self.C, least=self.thr_sv, eps=self.eps)
