"""Linear learners on plain or sparse rows: perceptron, passive-aggressive, ALMA and LMS."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from bgsub.learners._base.classifier import OnlineClassifier
from bgsub.learners._base.learner import OnlineLearner, scalar
from bgsub.learners._checks import check_real
from bgsub.learners._jit.perceptrons import linear as jit
from bgsub.learners._jit.perceptrons.kernel_perceptrons import ALMAParameters
from bgsub.learners._jit.records import Lessons
from bgsub.learners.hypotheses.kernels import Array
from bgsub.learners.hypotheses.weights import LinearWeights

__all__ = [
    "AcceptsSparseRows",
    "LMSClassifier",
    "LinearALMAClassifier",
    "LinearPAClassifier",
    "Perceptron",
    "alma_parameters",
]


def alma_parameters(alpha: float, B: float | None, C: float) -> ALMAParameters:  # noqa: N803
    """Check the parameters of ALMA and return them, B resolved."""
    check_real("alpha", alpha, "be in [0, 1)", least=0, below=1)
    if B is None and alpha == 0:
        raise ValueError("B must be given where alpha is 0, got None")
    factor = 1 / alpha if B is None else B
    check_real("B", factor, "be positive or None", above=0)
    check_real("C", C, "be positive", above=0)
    return ALMAParameters(alpha, factor, C)


class AcceptsSparseRows(OnlineLearner):
    """A learner of weights, whose samples can be rows of scipy's sparse matrices."""

    _linear: bool = True
    _threads: int = 1

    def _values(self, samples: Any) -> Array:
        if not self._linear:
            return super()._values(samples)
        result: Array = self.expansion_.values(samples, self._weights())
        return result

    def _learn_all(self, samples: Any, targets: Array, importance: Array) -> Self:
        if not self._linear:
            return super()._learn_all(samples, targets, importance)
        rows = samples if issparse(samples) else np.require(samples, np.float64, ["C", "W", "E"])
        lessons = Lessons(*(np.require(numbers, np.float64, ["C", "W", "E"]) for numbers in (targets, importance)))
        self.expansion_.learn(self._p, self._s, rows, lessons, self._threads)
        return self

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        self.expansion_.learn(self._p, self._s, samples, Lessons(targets, importance), 1)
        return len(samples)

    def _learn_plainly(self, x: Array, y: float) -> None:
        # Weights are always learned by the same loop.
        self._run(0, x[None], np.array([y]), np.array([self._s["importance"][0]]))


@dataclass(kw_only=True, eq=False, repr=False)
class _LinearClassifier(AcceptsSparseRows, OnlineClassifier):
    """A single linear learner."""

    bias: bool = True
    unit: bool = True

    n_violations_ = scalar("violations", int, "Number of samples that changed the weights.")

    def _begin(self, n_features: int, samples: Array | None, outputs: int | None = None) -> None:
        parameters = self._checked_parameters()
        self._adopt(LinearWeights(n_features, bias=bool(self.bias), unit=bool(self.unit)), parameters)

    def _empty(self) -> None:
        self._begin(self.n_features_in_, None)

    def _resume(self, kernel: Any, n_features: int, arrays: dict[str, Any]) -> None:
        self._begin(n_features, None)
        self._restore(n_features, arrays)
        self._name(arrays["classes_"], arrays["class_weight_"])

    def _parameters(self, rule: int, **numbers: Any) -> jit.LinearParameters:
        return jit.LinearParameters(rule=rule, bias=bool(self.bias), unit=bool(self.unit), **numbers)

    def _learn(self, x: Array, y: float, importance: float) -> None:
        self.expansion_.learn_one(self._p, self._s, x, y, importance)

    @property
    def coef_(self) -> Array:
        """(1, d) weights of a sample, as it is divided by its length where `unit` says so."""
        check_is_fitted(self)
        result: Array = self.expansion_.mean()[None, :-1]
        return result

    @property
    def intercept_(self) -> Array:
        """The weight of the constant feature: a (1,) array."""
        check_is_fitted(self)
        result: Array = self.expansion_.mean()[-1:]
        return result


@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(_LinearClassifier):
    """The linear perceptron, with a margin if wanted (Rosenblatt 1958).

    Where y w·x <= margin, w becomes w + eta y x. Rows can be dense or sparse.

    The weight of a sample multiplies eta.

    Parameters
    ----------
    margin : float
        Value that y w·x must exceed, not negative; 0 is the classical perceptron.
    eta : float
        Step, positive; it matters only beside a margin.
    bias : bool
        Whether samples get a constant feature 1.
    unit : bool
        Whether samples, with that feature, are divided by their length.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_ : (2,) array
        The classes, sorted.
    t_, n_mistakes_, n_violations_ : int
        Number of samples learned, of those that were wrong, and of those that changed w.
    coef_, intercept_ : (1, d) array, (1,) array
        The weights. Decisions are coef·x + intercept, divided by the length of (x, 1) if `unit`.
    class_weight_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = Perceptron().fit(csr_matrix(X), X[:, 0] > X[:, 1])
    >>> model.score(X, X[:, 0] > X[:, 1]) > 0.9
    True
    """

    margin: float = 0.0
    eta: float = 1.0

    def _checked_parameters(self) -> jit.LinearParameters:
        check_real("margin", self.margin, "not be negative", least=0)
        check_real("eta", self.eta, "be positive", above=0)
        return self._parameters(jit.PERCEPTRON, margin=self.margin, eta=self.eta)


@dataclass(kw_only=True, eq=False, repr=False)
class LinearALMAClassifier(_LinearClassifier):
    """ALMA with p = 2 on weights, as `ALMAClassifier` with a linear kernel: cheaper, and for sparse rows.

    The weight of a sample multiplies its step.

    Parameters
    ----------
    alpha, B, C
        As in `ALMAClassifier`; `LinearALMAClassifier.obpm(B, C)` is the reading of the tables of Harrington and
        others (2003).
    bias, unit
        As in `Perceptron`.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_, t_, n_mistakes_, n_violations_, coef_, intercept_
        As in `Perceptron`.
    class_weight_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = LinearALMAClassifier().fit(X, X[:, 0] > X[:, 1])
    >>> model.score(X, X[:, 0] > X[:, 1]) > 0.9, float(np.linalg.norm(model.coef_)) <= 1
    (True, True)
    """

    alpha: float = 0.9
    B: float | None = None
    C: float = math.sqrt(2)

    @classmethod
    def obpm(cls, B: float, C: float, **parameters: Any) -> Self:  # noqa: N803
        """Make one whose thresholds are B / sqrt(q), as the tables of Harrington and others (2003) have it."""
        return cls(alpha=0.0, B=B, C=C, **parameters)

    def _checked_parameters(self) -> jit.LinearParameters:
        return self._parameters(jit.ALMA, **asdict(alma_parameters(self.alpha, self.B, self.C)))


@dataclass(kw_only=True, eq=False, repr=False)
class LinearPAClassifier(_LinearClassifier):
    """PA-I on weights: the smallest step that gives a sample the margin 1, bounded (Crammer and others 2006).

    Where y w·x < 1, w becomes w + y min(C, (1 - y w·x) / |x|²) x. Rows can be dense or sparse. This is
    `PassiveAggressiveKernel` with a linear kernel, without the support vectors.

    The weight of a sample multiplies C.

    Parameters
    ----------
    C : float
        Largest step, positive.
    bias : bool
        Whether samples get a constant feature 1.
    unit : bool
        Whether samples, with that feature, are divided by their length.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_ : (2,) array
        The classes, sorted.
    t_, n_mistakes_, n_violations_ : int
        Number of samples learned, of those that were wrong, and of those that changed w.
    coef_, intercept_ : (1, d) array, (1,) array
        The weights. Decisions are coef·x + intercept, divided by the length of (x, 1) if `unit`.
    class_weight_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> LinearPAClassifier().fit(X, X[:, 0] > X[:, 1]).score(X, X[:, 0] > X[:, 1]) > 0.95
    True
    """

    C: float = 1.0

    def _checked_parameters(self) -> jit.LinearParameters:
        check_real("C", self.C, "be positive", above=0)
        return self._parameters(jit.PASSIVE_AGGRESSIVE, C=self.C)


@dataclass(kw_only=True, eq=False, repr=False)
class LMSClassifier(_LinearClassifier):
    """Least mean squares: regression of the labels -1 and 1, whose sign is the class (Widrow, Hoff 1960).

    Each sample moves w by eta (y - w·x) x. For unit samples eta must be below 2, or w diverges; the step of samples
    that are not is shortened to 1.98 / |x|² where it is longer.

    The weight of a sample multiplies eta.

    Parameters
    ----------
    eta : float
        Step, positive.
    normalised : bool
        Divide the step by 1e-12 + |x|²: NLMS.
    bias, unit
        As in `Perceptron`.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_, t_, n_mistakes_, n_violations_, coef_, intercept_
        As in `Perceptron`.
    class_weight_
        As in `KernelPerceptron`.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range; a step of 2 or more diverges
        where it is not divided by |x|².

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> LMSClassifier(eta=0.1).fit(X, X[:, 0] > X[:, 1]).score(X, X[:, 0] > X[:, 1]) > 0.9
    True
    """

    eta: float = 0.5
    normalised: bool = False

    def _checked_parameters(self) -> jit.LinearParameters:
        check_real("eta", self.eta, "be positive", above=0)
        if (self.unit or self.normalised) and self.eta >= 2:
            raise ValueError(f"eta must be below 2 / |x|², got {self.eta:g}, with which weights grow without bound")
        return self._parameters(jit.LMS, eta=self.eta, normalised=bool(self.normalised))
