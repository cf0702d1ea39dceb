"""SVMD: online support vector machines that adapt their step size (Vishwanathan, Schraudolph, Smola 2006)."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bgsub.learners._base.kernel_learner import KernelLearner
from bgsub.learners._base.learner import scalar
from bgsub.learners._base.novelty import NoveltyDetector
from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners._checks import check_choice, check_real
from bgsub.learners._jit.losses import NOVELTY, REGRESSION_LOSSES
from bgsub.learners._jit.schedules import ADAPTIVE, SCHEDULES
from bgsub.learners._jit.svmd import SVMDParameters, SVMDState, svmd_rows
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.traced import TracedExpansion

__all__ = ["MarginParameters", "OffsetParameters", "SVMDBase", "SVMDNovelty", "SVMDRegressor"]

_STEP_TIMES_C = 0.99  # the method needs eta c < 1: else f is erased, or flipped
_LOG_STEP = 0.05
_NO_STEPS = np.zeros(0)
_SCHEDULES = {"adaptive": ADAPTIVE, **SCHEDULES}


@dataclass(kw_only=True, eq=False, repr=False)
class SVMDBase(KernelLearner):
    """The base class of SVMD: f becomes (1 - eta c) f - eta xi k(x, .), and eta follows its own gradient."""

    c: float | None = None
    eta_0: float = 0.1
    mu: float = 0.1
    lam: float = 0.99
    schedule: str = "adaptive"
    tau: float = 10.0
    eta_max: float | None = None
    buffer_fix: bool = True
    record: bool = False
    budget: int | None = 512

    _state: ClassVar[Any] = SVMDState

    n_violations_ = scalar("violations", int, "Number of samples that missed their margin, tube or label.")
    step_size_ = scalar("eta", float, "The step size eta with which the latest sample was learned.")
    norm2_ = scalar("norm2", float, "Squared norm of f, carried along.")
    f_dot_v_ = scalar("f_dot_v", float, "Inner product of f and the gradient trace v, carried along.")

    def _parameters(self, loss: int, *, regression: bool = False, width: float = 0.0) -> SVMDParameters:
        """Check the shared parameters, and return those of the compiled rule."""
        nu = getattr(self, "nu", None)
        c = self._regulariser()
        check_real("c", c, "not be negative", least=0)
        check_real("eta_0", self.eta_0, "be positive", above=0)
        check_real("mu", self.mu, "not be negative", least=0)
        check_real("lam", self.lam, "be in [0, 1]", least=0, most=1)
        check_choice("schedule", self.schedule, _SCHEDULES)
        check_real("tau", self.tau, "be positive", above=0)
        largest = self.eta_max
        if largest is not None:
            check_real("eta_max", largest, "be positive or None", above=0)
            if largest * c >= 1:
                raise ValueError(f"eta_max * c must be below 1, got {largest:g} * {c:g}")
        elif c > 0:
            largest = _STEP_TIMES_C / c
        elif self.schedule == "adaptive":
            raise ValueError("eta_max must be given where c is 0 and the step adapts: nothing else bounds it")
        else:
            largest = math.inf
        return SVMDParameters(
            loss=loss,
            regression=regression,
            width=width,
            c=c,
            eta_0=self.eta_0,
            mu=self.mu,
            lam=self.lam,
            eta_max=largest,
            schedule=_SCHEDULES[self.schedule],
            tau=self.tau,
            buffer_fix=bool(self.buffer_fix),
            nu=0.0 if nu is None else nu,
            **self._margin_parameters(),
            **self._offset_parameters(),
        )

    def _regulariser(self) -> float:
        if self.c is not None:
            return self.c
        return 1e-4 if getattr(self, "nu", None) is None else 1.0

    def _margin_parameters(self) -> dict[str, Any]:
        """Check and return the parameters of a margin that adapts, where there is one."""
        return {}

    def _offset_parameters(self) -> dict[str, Any]:
        """Check and return the parameters of offsets, where there are some."""
        return {}

    def _start(self) -> None:
        self._s["eta"] = min(self.eta_0, self._p["eta_max"][0])
        self._steps: list[Array] = []

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return TracedExpansion(kernel, n_features, budget, outputs, dtype=self.dtype)

    def _learn_all(self, samples: Array, targets: Array, importance: Array) -> Self:
        self._expect(len(targets))
        super()._learn_all(samples, targets, importance)
        self._steps.append(self._latest_steps)
        return self

    def _learn(self, x: Array, y: float, importance: float) -> None:
        self._expect(1)
        super()._learn(x, y, importance)
        if self.record:
            self._steps.append(self._latest_steps)

    def _expect(self, count: int) -> None:
        """Make room for the steps of samples to come."""
        self._latest_steps = np.zeros(count) if self.record else _NO_STEPS
        self._t_before = int(self._s["t"][0])

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        h, steps = self.expansion_.traced, self._latest_steps
        if len(steps):  # of sparse rows, this is one block of several
            steps = steps[int(self._s["t"][0]) - self._t_before - first :]
        return int(svmd_rows(first, self._p, self._s, h, samples, targets, importance, steps))

    def _learn_plainly(self, x: Array, y: float) -> None:
        self.expansion_.step(self._p[0], self._s[0], x, y, self.expansion_.look(x))
        if len(self._latest_steps):
            self._latest_steps[int(self._s["t"][0]) - self._t_before - 1] = self._s["eta"][0]

    @property
    def step_sizes_(self) -> Array:
        """(t,) step sizes of all samples learned so far, where `record` is set; not kept by `save`."""
        check_is_fitted(self)
        if not self.record:
            raise AttributeError("step_sizes_ is there only where record is True")
        return np.concatenate([np.zeros(0), *self._steps])


@dataclass(kw_only=True, eq=False, repr=False)
class MarginParameters:
    """Parameters of learners whose margin adapts so that a fraction nu of the samples misses it."""

    nu: float | None = None
    eps_0: float = 1.0
    eps_rule: str = "published"
    eta_eps: float | None = None
    mu_eps: float | None = None
    lam_eps: float | None = None

    margin_ = scalar("level", float, "The margin: 1, or adapted by nu.")

    def _margin_parameters(self) -> dict[str, Any]:
        if self.nu is not None:
            check_real("nu", self.nu, "be in (0, 1) or None", above=0, below=1)
        check_real("eps_0", self.eps_0, "be positive", above=0)
        check_choice("eps_rule", self.eps_rule, ("published", "log"))
        if self.eta_eps is not None:
            check_real("eta_eps", self.eta_eps, "be positive or None", above=0)
        mu = self.mu if self.mu_eps is None else self.mu_eps  # type: ignore[attr-defined]
        lam = self.lam if self.lam_eps is None else self.lam_eps  # type: ignore[attr-defined]
        check_real("mu_eps", mu, "be None or not negative", least=0)
        check_real("lam_eps", lam, "be None or in [0, 1]", least=0, most=1)
        return {"log_rule": self.eps_rule == "log", "mu_eps": mu, "lam_eps": lam}

    def _start(self) -> None:
        super()._start()  # type: ignore[misc]
        state: Array = self._s  # type: ignore[attr-defined]
        if self.nu is not None:
            state["level"] = self.eps_0
        first = _LOG_STEP if self.eps_rule == "log" else 1.0
        state["eta_eps"] = first if self.eta_eps is None else self.eta_eps


@dataclass(kw_only=True, eq=False, repr=False)
class OffsetParameters:
    """Parameters of learners that can have an offset, and can decide by an average."""

    offset: bool = False
    eta_b: float | None = None
    mu_b: float | None = None
    lam_b: float | None = None
    average: bool = False

    def _offset_parameters(self) -> dict[str, Any]:
        if self.eta_b is not None:
            check_real("eta_b", self.eta_b, "be positive or None", above=0)
        mu = self.mu if self.mu_b is None else self.mu_b  # type: ignore[attr-defined]
        lam = self.lam if self.lam_b is None else self.lam_b  # type: ignore[attr-defined]
        check_real("mu_b", mu, "be None or not negative", least=0)
        check_real("lam_b", lam, "be None or in [0, 1]", least=0, most=1)
        return {"with_offset": bool(self.offset), "mu_b": mu, "lam_b": lam}

    def _start(self) -> None:
        super()._start()  # type: ignore[misc]
        first = self.eta_0 if self.eta_b is None else self.eta_b  # type: ignore[attr-defined]
        self.expansion_.offsets["eta"] = first  # type: ignore[attr-defined]

    def _bias(self) -> Any:
        offsets = self.expansion_.offsets  # type: ignore[attr-defined]
        if self.average:
            bias = offsets["total"] / max(float(self._s["t"][0]), 1.0)  # type: ignore[attr-defined]
        else:
            bias = offsets["b"]
        return bias if len(bias) > 1 else float(bias[0])


@dataclass(kw_only=True, eq=False, repr=False)
class SVMDNovelty(MarginParameters, SVMDBase, NoveltyDetector):
    """Novelty detection by SVMD: a sample that scores below a margin is novel, and is learned with a step that adapts.

    Where f(x) < eps, eps being 1 or adapted by nu, x is stored with coefficient eta; all coefficients shrink by
    1 - eta c (equations 27 and 35 of Vishwanathan, Schraudolph and Smola 2006). Before that the step becomes
    eta max(1/2, 1 - mu <g, v>), g being the gradient and v, the trace of past gradients, how f depends on past
    steps (equations 36 to 38). Inner products are carried from step to step, equations 48 to 52, so that a step costs
    as much as the score. Here they also follow the vectors that a full store replaces, which the paper leaves out:
    its norm of f is then several times the true one.

    With nu the margin moves by a factor exp(eta_eps eps (nu - e)), e being 1 where the sample was novel, with a second
    step that adapts as well (equations 59 to 61). The paper prints xi + nu for nu - e, which is right here but
    not for two classes, and calls nu the fraction of violations. What the rule keeps at nu is the mean of e weighted
    by eps; a small margin hardly moves. `eps_rule="log"` leaves the weight out: the share of novel samples is then
    nu - log(eps_T / eps_0) / (eta_eps T) exactly, on any data.

    The weight of a sample multiplies its loss, and so xi, the derivative, and the step of the margin.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    nu : float or None
        Fraction of novel samples, in (0, 1); None keeps the margin 1.
    c : float or None
        Weight of the regularisation and so of forgetting, not negative; None is 1e-4, or 1 where nu is given.
    eta_0 : float
        First step, positive.
    mu : float
        Step of the step size, not negative; 0 keeps the step.
    lam : float
        Memory of the trace, in [0, 1]: with 0 the step looks at the latest gradient only.
    schedule : {"adaptive", "constant", "sqrt", "tau"}
        Others than "adaptive" are the online SVM with eta_0, eta_0 / sqrt(t) or eta_0 sqrt(tau / (tau + t)).
    tau : float
        Of the schedule "tau", positive.
    eta_max : float or None
        Largest step; eta_max c must be below 1. None is 0.99 / c. Steps beyond 1 / c would flip f; the paper has no
        such limit.
    eps_0 : float
        First margin with nu, positive.
    eps_rule : {"published", "log"}
        See above.
    eta_eps : float or None
        First step of the margin, positive; None is 1, or 0.05 for the rule "log", which keeps it.
    mu_eps, lam_eps : float or None
        As mu and lam, for the step of the margin; None is the same.
    buffer_fix : bool
        False leaves vectors that a full store replaced in the inner products, as the paper does.
    record : bool
        Keep all step sizes, see `step_sizes_`.
    budget : int or None
        Most support vectors, the oldest leaving first.

    Attributes
    ----------
    step_size_ : float
        The step size.
    step_sizes_ : (t,) array
        Those of all samples, where `record` is set.
    margin_ : float
        The margin.
    norm2_, f_dot_v_ : float
        Squared norm of f, and its inner product with v.
    t_, n_violations_ : int
        Number of samples learned, and how many of them were novel.
    last_value_, last_novel_ : float, bool
        Of the sample learned last, before it was learned: f, and f < eps.
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
    >>> model = SVMDNovelty(nu=0.1, sigma=1.0, eps_rule="log", c=0.1).fit(rng.normal(size=(3000, 2)))
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    >>> round(model.n_violations_ / model.t_, 1)
    0.1
    """

    nu: float | None = 0.1

    def _checked_parameters(self) -> SVMDParameters:
        return self._parameters(NOVELTY)

    def _threshold(self) -> float:
        return float(self._s["level"][0])


@dataclass(kw_only=True, eq=False, repr=False)
class SVMDRegressor(OffsetParameters, SVMDBase, OnlineKernelRegressor):
    """Regression by SVMD: gradient descent on a squared, eps-insensitive or Huber loss with a step that adapts.

    f becomes (1 - eta c) f - eta xi k(x, .) with xi the derivative of the loss; the step follows equations 36 to 52
    of Vishwanathan, Schraudolph and Smola (2006), who name these losses without printing them. Where the loss is
    curved, its second derivative acts on the trace as equation 46 has it for the logistic loss. There the step is
    never longer than one that meets the target, 1 / (h k(x, x)) with h the second derivative.

    The weight of a sample multiplies its loss, and so xi and the second derivative.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    loss : {"squared", "epsilon", "huber"}
        As in `NORMARegressor`; "squared" makes it LMS.
    eps : float
        Half-width of the tube of the loss "epsilon", not negative.
    delta : float
        Where the loss "huber" turns linear, positive.
    c, eta_0, mu, lam, schedule, tau, eta_max, buffer_fix, record, budget
        As in `SVMDNovelty`.
    offset, eta_b, mu_b, lam_b, average
        As in `SVMDClassifier`.

    Attributes
    ----------
    step_size_, step_sizes_, norm2_, f_dot_v_
        As in `SVMDNovelty`.
    t_, n_violations_, n_support_, support_vectors_, dual_coef_, intercept_
        As in `KernelPerceptron`; violations are samples outside of eps or delta.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> model = SVMDRegressor(sigma=0.5, loss="squared").fit(X, np.sin(X[:, 0]))
    >>> round(model.score_one(np.array([1.5])), 1)
    1.0
    """

    loss: str = "squared"
    eps: float = 0.1
    delta: float = 1.0

    def _checked_parameters(self) -> SVMDParameters:
        check_choice("loss", self.loss, REGRESSION_LOSSES)
        check_real("eps", self.eps, "not be negative", least=0)
        check_real("delta", self.delta, "be positive", above=0)
        loss = REGRESSION_LOSSES[self.loss]
        return self._parameters(loss.code, regression=True, width=getattr(self, loss.width) if loss.width else 0.0)
