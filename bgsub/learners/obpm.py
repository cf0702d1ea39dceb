"""The online Bayes point machine (Harrington, Herbrich, Kivinen, Platt, Williamson 2003)."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bgsub.learners._base.classifier import OnlineKernelClassifier
from bgsub.learners._checks import check_choice, check_integer, check_real
from bgsub.learners._jit.perceptrons import members as jit
from bgsub.learners._jit.records import Lessons
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.members import KernelMembers, LinearMembers
from bgsub.learners.perceptrons.linear import AcceptsSparseRows, alma_parameters

__all__ = ["OBPMClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class OBPMClassifier(AcceptsSparseRows, OnlineKernelClassifier):
    """The online Bayes point machine: the mean of perceptrons that each see a part of the stream.

    Each of `n_members` learners sees a sample with probability tau, drawn for every member and sample, and updates
    itself if it is wrong (algorithm 2 of Harrington and others 2003); the decision is that of the mean weights, which
    lie near the middle of the hypotheses that agree with the data. With the linear kernel members are weight vectors,
    for dense and sparse rows; with others they share their support vectors and so each kernel row, and a sample is
    stored where any member needs it.

    The weight of a sample multiplies the steps of the members that see it.

    Parameters
    ----------
    n_members : int
        N, at least 1.
    tau : float
        Share of the samples that a member sees, in [0, 1]. Less makes members differ more, and learn more slowly.
    base : {"perceptron", "alma"}
        The rule of a member; the paper uses the perceptron with eta = 1.
    margin : float
        Value that y w·x of a perceptron must exceed, not negative.
    eta : float
        Step of a perceptron, positive; it matters only beside a margin.
    alpha, B, C
        As in `ALMAClassifier`; of ALMA only.
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`, "linear" by default. A `Linear` object asks for support vectors all the same.
    bias, unit : bool
        As in `Perceptron`; of weights only.
    renormalise : bool
        Divide the mean weights by their length where that exceeds 1, for decisions only (step 15); of weights only.
    budget : int or None
        Most support vectors, the oldest leaving first; of kernels only.
    n_jobs : int or None
        Threads for long batches of weights, members being shared out; -1 is one per CPU, None a single one.
        The result does not depend on it.
    random_state : int, RandomState or None
        Of the draws.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_ : (2,) array
        The classes, sorted.
    t_, n_mistakes_, n_violations_ : int
        Number of samples learned, of those that the mean had wrong, and of corrections of all members.
    coef_, intercept_ : (1, d) array, (1,) array
        The mean weights. Decisions are coef·x + intercept, divided by the length of (x, 1) if `unit`.
    n_support_, support_vectors_, dual_coef_
        As in `KernelPerceptron`, where there is a kernel.
    class_weight_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 20))
    >>> y = X @ np.arange(-10, 10) > 0
    >>> model = OBPMClassifier(random_state=0).fit(X[:300], y[:300])
    >>> single = OBPMClassifier(n_members=1, tau=1.0).fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > single.score(X[300:], y[300:])
    True
    """

    n_members: int = 100
    tau: float = 0.3
    base: str = "perceptron"
    margin: float = 0.0
    eta: float = 1.0
    alpha: float = 0.9
    B: float | None = None
    C: float = math.sqrt(2)
    kernel: Any = "linear"
    bias: bool = True
    unit: bool = True
    renormalise: bool = False
    budget: int | None = None
    n_jobs: int | None = None
    random_state: Any = None

    @property
    def _linear(self) -> bool:  # type: ignore[override]
        return isinstance(self.kernel, str) and self.kernel == "linear"

    @property
    def _threads(self) -> int:  # type: ignore[override]
        return 1 if self.n_jobs is None else max(self.n_jobs, 0)

    def _checked_parameters(self) -> jit.MemberParameters:
        check_integer("n_members", self.n_members, "be an integer of at least 1", least=1)
        check_real("tau", self.tau, "be in [0, 1]", least=0, most=1)
        check_choice("base", self.base, ("perceptron", "alma"))
        if self.n_jobs is not None and self.n_jobs != -1:
            check_integer("n_jobs", self.n_jobs, "be None, -1 or an integer of at least 1", least=1)
        if self.base == "alma":
            rule, numbers = jit.ALMA, asdict(alma_parameters(self.alpha, self.B, self.C))
        else:
            check_real("margin", self.margin, "not be negative", least=0)
            check_real("eta", self.eta, "be positive", above=0)
            rule, numbers = jit.PERCEPTRON, {"margin": self.margin, "eta": self.eta}
        if self.dtype != "float64" and self._linear:
            raise ValueError(f"dtype must be 'float64' where kernel is 'linear', got {self.dtype!r}")
        if self.renormalise and not self._linear:
            raise ValueError("renormalise must be False unless kernel is 'linear'")
        return jit.MemberParameters(rule=rule, tau=self.tau, bias=bool(self.bias), unit=bool(self.unit), **numbers)

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        seed = int(check_random_state(self.random_state).randint(1, 2**31 - 1)) if 0 < self.tau < 1 else 1
        if not self._linear:
            return KernelMembers(kernel, n_features, budget, self.n_members, seed, self.dtype)
        given = {"bias": bool(self.bias), "unit": bool(self.unit), "renormalise": bool(self.renormalise)}
        return LinearMembers(n_features, self.n_members, **given, seed=seed)

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        if self._linear:
            return super()._run(first, samples, targets, importance)
        return int(self.expansion_.run(first, self._p, self._s, samples, Lessons(targets, importance)))

    def _learn_plainly(self, x: Array, y: float) -> None:
        self.expansion_.step(self._p, self._s, x, y)

    def _mean(self) -> Array:
        check_is_fitted(self)
        if not self._linear:
            raise AttributeError("coef_ and intercept_ are there only where kernel is 'linear'")
        result: Array = self.expansion_.mean()
        return result

    @property
    def coef_(self) -> Array:
        """(1, d) mean weights of a sample, as it is divided by its length where `unit` says so."""
        return self._mean()[None, :-1]

    @property
    def intercept_(self) -> Array:
        """The mean weight of the constant feature: a (1,) array; 0 with a kernel."""
        check_is_fitted(self)
        return self._mean()[-1:] if self._linear else np.zeros(1)
