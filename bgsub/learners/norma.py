"""NORMA: stochastic gradient descent in kernel space (Kivinen, Smola, Williamson 2004)."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from bgsub.learners._base.classifier import MulticlassKernelClassifier
from bgsub.learners._base.kernel_learner import EvictionParameters, KernelLearner
from bgsub.learners._base.learner import scalar
from bgsub.learners._base.novelty import NoveltyDetector
from bgsub.learners._checks import check_choice, check_real, warn_caller
from bgsub.learners._jit.losses import NOVELTY, SOFT_MARGIN
from bgsub.learners._jit.norma import NORMAParameters, NORMAState, norma, norma_class_rows, norma_rows
from bgsub.learners._jit.schedules import SCHEDULES
from bgsub.learners.hypotheses.kernels import Kernel

__all__ = ["NORMABase", "NORMAClassifier", "NORMANovelty"]

_STEP_TIMES_LAM = 0.99  # the method needs eta_t < 1/lam
_STEPS_OF_A_CLOCK = 20  # nu / eta below which flags come at nearly regular intervals
_LONG = 10_000  # samples after which a step that shrinks should no longer be too long
_TRUNCATION = 1e-3  # change of f that budget="auto" allows, in units of its bound 1/lam


@dataclass(kw_only=True, eq=False, repr=False)
class NORMABase(EvictionParameters, KernelLearner):
    """The base class of the three kinds of NORMA: f becomes (1 - eta_t lam) f - eta_t l'(f(x), y) k(x, .)."""

    lam: float = 0.01
    schedule: str = "constant"
    tau: float = 10.0
    budget: int | str | None = 512

    _state: ClassVar[Any] = NORMAState
    _fades: ClassVar[bool] = True
    _rule: ClassVar[Any] = staticmethod(norma)
    _rows: ClassVar[Any] = staticmethod(norma_rows)

    n_violations_ = scalar("violations", int, "Number of samples that were beyond their margin, tube or threshold.")
    last_violation_ = scalar("last_violation", bool, "Whether the sample learned last was one of them.")

    def _parameters(
        self,
        eta: float,
        loss: int,
        nu: float | None,
        *,
        offset: bool = False,
        **others: float,
    ) -> NORMAParameters:
        """Check the shared parameters, and return those of the compiled rule."""
        check_real("lam", self.lam, "not be negative", least=0)
        check_choice("schedule", self.schedule, SCHEDULES)
        check_real("tau", self.tau, "be positive", above=0)
        self._eta = float(eta)
        self._largest_step = _STEP_TIMES_LAM / self.lam if self.lam > 0 else math.inf
        return NORMAParameters(
            eta=eta,
            lam=self.lam,
            schedule=SCHEDULES[self.schedule],
            tau=self.tau,
            largest_step=self._largest_step,
            loss=loss,
            nu=0.0 if nu is None else nu,
            adapts=nu is not None,
            with_offset=offset,
            **others,
        )

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


@dataclass(kw_only=True, eq=False, repr=False)
class NORMANovelty(NORMABase, NoveltyDetector):
    """Novelty detection by NORMA with a threshold rho that lets a fraction nu of the samples be novel.

    It reports the wanted share; to find the outliers, `OLKNovelty` is better. This is the one-class SVM, learned
    online: it stores novel samples only, so that outliers which resemble each other soon support f where they lie.
    With the constants of the paper, nu = .01 and eta_t = 1 / sqrt(t), the flags hardly depend on the samples: they come
    at nearly regular intervals. The defaults are a small step and a wide kernel, with which it finds about as many
    planted outliers as scikit-learn's OneClassSVM in batch does (docs/learners.md has the table).

    A sample is novel to the update where f(x) < rho. It is then stored with coefficient eta, and rho moves by
    eta (nu - 1); otherwise rho moves by eta nu. All coefficients shrink by 1 - eta lam a sample. With a
    constant step, on any data and with any budget, the share of novel samples among T is nu - (rho_T - rho_0)
    / (eta T) exactly, unless `rho_min` was met.

    The weight of a sample multiplies eta in its coefficient and in the step of rho; forgetting stays.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "polynomial", "linear"}, Kernel or callable
        Similarity of two samples.
    gamma, sigma, width : float or None
        Width of the kernel, at most one of them; `Gaussian` explains them. gamma "scale" is 1 / (d var(X)) of the
        first data. None of them is a width of four times that, or, where the first data are a single sample, four
        times that of features of variance 1.
    degree, coef0 : int, float
        Of the polynomial kernel.
    dtype : {"float64", "float32"}
        How support vectors are stored; samples are rounded to that first, and all else is float64.
    nu : float
        Fraction of novel samples, in (0, 1).
    eta : float or None
        Step, positive; None is nu / 50. Beyond nu / 20 there is a warning: the rate is still right, but one vector
        outweighs all others, so that the detector flags samples at nearly regular intervals.
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
        Most support vectors, the oldest leaving first; "auto" is so many that forgetting the oldest changes f
        by less than 0.001 / lam (constant step and a kernel with k(x, x) = 1 only).
    evict : {"oldest", "smallest", "random"}
        Which vector a full store replaces.
    random_state : int, RandomState or None
        Of the random replacement.

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
    >>> model = NORMANovelty(nu=0.1).fit(rng.normal(size=(9000, 2)))
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    >>> model.learn_one(np.array([6.0, 6.0]))    # novel, and now known a little
    True
    >>> round(model.n_violations_ / model.t_, 2)
    0.1
    """

    nu: float = 0.1
    eta: float | None = None
    lam: float = 1.0
    kappa: float = 1.0
    rho_0: float | None = None
    rho_min: float | None = None
    rho_sign: str = "gradient"
    normalise: bool = False

    _usual_width: ClassVar[float] = 4.0

    rho_ = scalar("level", float, "The threshold.")

    def _checked_parameters(self) -> NORMAParameters:
        check_real("nu", self.nu, "be in (0, 1)", above=0, below=1)
        if self.eta is not None:
            check_real("eta", self.eta, "be positive or None", above=0)
        check_real("kappa", self.kappa, "be positive", above=0)
        for name in ("rho_0", "rho_min"):
            if getattr(self, name) is not None:
                check_real(name, getattr(self, name), "be a finite number or None")
        check_choice("rho_sign", self.rho_sign, ("gradient", "printed"))
        eta = self.nu / 50 if self.eta is None else float(self.eta)
        unit = float(self.nu) if self.normalise else 1.0
        parameters = self._parameters(
            eta,
            NOVELTY,
            self.nu,
            lowest=-math.inf if self.rho_min is None else self.rho_min / unit,
            sign=-1.0 if self.rho_sign == "printed" else 1.0,
            unit=unit,
            kappa=self.kappa,
        )
        most = self.nu / _STEPS_OF_A_CLOCK
        shrunk = {"constant": 1.0, "sqrt": _LONG**-0.5, "tau": math.sqrt(self.tau / (self.tau + _LONG))}
        settled = min(eta * shrunk[self.schedule], parameters.largest_step)
        if settled > most * (1 + 1e-9):
            late = "" if self.schedule == "constant" else f" after {_LONG} samples"
            warn_caller(
                f"eta should be at most nu / {_STEPS_OF_A_CLOCK} = {most:g}, got {settled:g}{late}: the detector then "
                "flags samples at nearly regular intervals, whatever they are"
            )
        return parameters

    def _start(self) -> None:
        first = self._eta * self.nu / 2 if self.rho_0 is None else self.rho_0
        self._s["level"] = float(first) / (self.nu if self.normalise else 1.0)

    def _threshold(self) -> float:
        return float(self.kappa * self._s["level"][0])


@dataclass(kw_only=True, eq=False, repr=False)
class NORMAClassifier(NORMABase, MulticlassKernelClassifier):
    """Classification by NORMA with a soft margin, fixed or chosen so that a fraction nu of the samples misses it.

    With g = f + b: where y g(x) <= rho, x is stored with coefficient eta_t y and b, if wanted, moves by the same.
    All coefficients shrink by 1 - eta_t lam a sample. With nu, rho moves by eta_t (nu - 1) on such a margin error
    and by eta_t nu otherwise; with a constant step the share of margin errors among T is then
    nu - (rho_T - rho_0) / (eta T) exactly, on any data.

    With more than two classes and s the best wrong one, the loss is max(0, rho - (f_y(x) - f_s(x))) (Crammer, Singer
    2001): where f_y(x) - f_s(x) <= rho, x is stored with eta_t in f_y and -eta_t in f_s.

    The paper prints the update of rho with the opposite sign, against the gradient of its own loss;
    `rho_sign="printed"` reproduces it.

    With lam = rho = 0 and eta = 1 this is the kernel perceptron, with lam = 0 < rho the perceptron with margin.
    `NORMAClassifier.tuned` sets step and forgetting by the paper's theorem on drifting targets.

    The weight of a sample multiplies eta in its coefficient and in the steps of b and rho; forgetting stays.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    eta : float or None
        Step, positive; None is 0.1, or nu / 5 where nu is given. Times lam it must be below 1 if constant.
    lam : float
        Weight of the regularisation and so of forgetting, not negative. The paper uses 1 with nu.
    rho : float
        Margin, or with nu the first one. Without offset it should not exceed k(x, x) / lam: |f| cannot.
    nu : float or None
        Fraction of margin errors, in (0, 1); None keeps rho.
    offset : bool
        Whether to learn a constant b; of two classes only.
    rho_sign : {"gradient", "printed"}
        See above.
    schedule, tau, budget, evict, random_state
        As in `NORMANovelty`.
    average : bool
        As in `KernelPerceptron`.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    rho_ : float
        The margin.
    classes_, t_, n_mistakes_, n_violations_, n_support_, support_vectors_, dual_coef_, intercept_
        As in `KernelPerceptron`; violations are margin errors.
    class_weight_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = NORMAClassifier(sigma=0.5, eta=0.02, lam=0.1, nu=0.2, rho=0.0, offset=True).fit(X, y)
    >>> model.score(X, y) > 0.9, round(model.n_violations_ / model.t_, 2)
    (True, 0.2)
    """

    eta: float | None = None
    rho: float = 1.0
    nu: float | None = None
    offset: bool = False
    rho_sign: str = "gradient"
    average: bool = False

    _class_rows: ClassVar[Any] = staticmethod(norma_class_rows)

    rho_ = scalar("level", float, "The margin.")

    @classmethod
    def tuned(
        cls,
        *,
        n_samples: int,
        margin: float,
        norm: float = 1.0,
        path: float = 0.0,
        path2: float = 0.0,
        loss: float = 0.0,
        rho: float = 0.0,
        x_norm: float = 1.0,
        **parameters: Any,
    ) -> Self:
        """Make one for a target that drifts: step and forgetting that its mistake bound is proved for.

        Parameters
        ----------
        n_samples : int
            Number of samples m to come.
        margin : float
            Margin of the drifting comparators, above rho.
        norm : float
            Largest norm B of a comparator.
        path, path2 : float
            Sum of the norms, and of the squared norms, of the comparator's steps.
        loss : float
            Total hinge loss K of the comparators at that margin, an upper bound; 0 if they separate the data.
        rho : float
            Margin of the learner.
        x_norm : float
            Largest sqrt(k(x, x)).
        **parameters
            Other parameters of the classifier.

        Examples
        --------
        >>> NORMAClassifier.tuned(n_samples=1000, margin=1.0, norm=2.0, path=1.0, path2=0.01, sigma=1.0).eta
        0.998...
        """
        check_real("margin", margin, f"exceed rho = {rho}", above=rho)
        check_real("n_samples", n_samples, "be positive", above=0)
        check_real("norm", norm, "be positive", above=0)
        gap = margin - rho
        cost = x_norm**2 / 4 * (norm**2 + norm * (math.sqrt(n_samples * path2) + path))
        half = gap / 2
        if loss > 0:
            ratio = cost / loss
            half = math.sqrt(ratio) * (math.sqrt(gap + ratio) - math.sqrt(ratio))
        step = 2 * half / x_norm**2
        lam = math.sqrt(path2 / n_samples) / (norm * step)
        return cls(eta=step / (1 + step * lam), lam=lam, rho=rho, **parameters)

    def _checked_parameters(self) -> NORMAParameters:
        if self.nu is not None:
            check_real("nu", self.nu, "be in (0, 1) or None", above=0, below=1)
        if self.eta is not None:
            check_real("eta", self.eta, "be positive or None", above=0)
        check_real("rho", self.rho, "be a finite number")
        check_choice("rho_sign", self.rho_sign, ("gradient", "printed"))
        eta = float(self.eta) if self.eta is not None else 0.1 if self.nu is None else self.nu / 5
        parameters = self._parameters(
            eta,
            SOFT_MARGIN,
            self.nu,
            offset=bool(self.offset),
            sign=-1.0 if self.rho_sign == "printed" else 1.0,
        )
        if self.nu is None and self.schedule == "constant" and eta * self.lam >= 1:
            raise ValueError(f"eta * lam must be below 1 with a constant step, got {eta:g} * {self.lam:g}")
        return parameters

    def _takes_many(self) -> bool:
        return not self.offset

    def _start(self) -> None:
        self._s["level"] = self.rho
        if self.expansion_.kernel.unit_diagonal and not self.offset and self.lam * self.rho > 1:
            warn_caller(
                f"rho should be at most k(x, x) / lam = {1 / self.lam:g}, got {self.rho:g}: |f| cannot reach it"
            )
