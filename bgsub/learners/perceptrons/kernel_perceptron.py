"""Perceptrons in kernel space: plain, with a margin, passive-aggressive, and with a random budget."""

from dataclasses import dataclass
from typing import Any, ClassVar

from bgsub.learners._base.classifier import MulticlassKernelClassifier
from bgsub.learners._base.kernel_learner import EvictionParameters
from bgsub.learners._checks import check_real
from bgsub.learners._jit.perceptrons.kernel_perceptrons import (
    PassiveAggressiveParameters,
    PerceptronParameters,
    passive_aggressive,
    passive_aggressive_class_rows,
    passive_aggressive_rows,
    perceptron,
    perceptron_class_rows,
    perceptron_rows,
)

__all__ = ["KernelPerceptron", "PassiveAggressiveKernel", "RBPClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class _Perceptron(MulticlassKernelClassifier):
    """The update of the perceptron."""

    _fades: ClassVar[bool] = True
    _rule: ClassVar[Any] = staticmethod(perceptron)
    _rows: ClassVar[Any] = staticmethod(perceptron_rows)
    _class_rows: ClassVar[Any] = staticmethod(perceptron_class_rows)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(EvictionParameters, _Perceptron):
    """The perceptron: samples that are classified wrongly are stored.

    With z = y f(x), y being -1 or 1: where z <= margin, f becomes f + eta y k(x, .). With more than two classes
    and s the best wrong class: where f_y(x) - f_s(x) <= margin, eta k(x, .) is added to f_y and subtracted from
    f_s (Crammer, Singer 2003).

    The weight of a sample multiplies eta.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    margin : float
        Value that z must exceed, not negative; 0 is the classical perceptron.
    eta : float
        Step, positive; it matters only beside a margin.
    average : bool
        Decide by the average of the hypotheses after each sample instead of the latest (Cesa-Bianchi, Conconi,
        Gentile 2004). Learning goes on as before. Vectors that a budget removed are missing from the average.
    budget : int or None
        Most support vectors.
    evict : {"oldest", "smallest", "random"}
        Which vector a full store replaces.
    random_state : int, RandomState or None
        Of the random replacement.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    classes_ : (Q,) array
        The classes, sorted.
    t_, n_mistakes_, n_violations_ : int
        Number of samples learned, of those that were wrong, and of those that were stored.
    n_support_, support_vectors_, dual_coef_, intercept_
        As in scikit-learn's SVC; one row of coefficients for two classes, one per class for more.
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
    >>> y = np.where(np.hypot(*X.T) < 1, "near", "far")
    >>> model = KernelPerceptron(sigma=1.0, average=True).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.9
    True
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]]).tolist()
    ['near', 'far']
    """

    margin: float = 0.0
    eta: float = 1.0
    average: bool = False

    def _checked_parameters(self) -> PerceptronParameters:
        check_real("margin", self.margin, "not be negative", least=0)
        check_real("eta", self.eta, "be positive", above=0)
        return PerceptronParameters(margin=self.margin, eta=self.eta)


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveKernel(EvictionParameters, MulticlassKernelClassifier):
    """PA-I: the smallest step that gives a sample the margin 1, bounded (Crammer and others 2006, section 3).

    With z = y f(x): where z < 1, f becomes f + y min(C, (1 - z) / k(x, x)) k(x, .). With more than two classes
    and s the best wrong one, z = f_y(x) - f_s(x): min(C, (1 - z) / (2 k(x, x))) k(x, .) is added to f_y and
    subtracted from f_s.

    The weight of a sample multiplies C.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype, budget, evict, random_state, average
        As in `KernelPerceptron`.
    C : float
        Largest step, positive.
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
    >>> model = PassiveAggressiveKernel(sigma=1.0, C=0.5)
    >>> model.learn_one(np.array([0.0]), 1), model.score_one(np.array([0.0]))
    (0.0, 0.5)
    """

    C: float = 1.0
    average: bool = False

    _fades: ClassVar[bool] = True
    _rule: ClassVar[Any] = staticmethod(passive_aggressive)
    _rows: ClassVar[Any] = staticmethod(passive_aggressive_rows)
    _class_rows: ClassVar[Any] = staticmethod(passive_aggressive_class_rows)

    def _checked_parameters(self) -> PassiveAggressiveParameters:
        check_real("C", self.C, "be positive", above=0)
        return PassiveAggressiveParameters(C=self.C)


@dataclass(kw_only=True, eq=False, repr=False)
class RBPClassifier(_Perceptron):
    """The randomised budget perceptron (Cesa-Bianchi, Gentile 2006).

    A perceptron whose store is full replaces a vector drawn at random. The draw happens only then, so a run with
    fewer mistakes than the budget is the perceptron's. Averaging is not offered: it would need every vector ever
    removed.

    The weight of a sample multiplies its coefficient.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    budget : int
        Number of support vectors.
    random_state : int, RandomState or None
        Of the draws.
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
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = RBPClassifier(sigma=1.0, budget=20, random_state=0).fit(X, np.hypot(*X.T) < 1)
    >>> model.n_support_, model.n_mistakes_ > 20
    (20, True)
    """

    budget: int | None = 100
    random_state: object = None

    def _eviction(self) -> str:
        return "random"

    def _checked_parameters(self) -> PerceptronParameters:
        return PerceptronParameters(margin=0.0, eta=1.0)
