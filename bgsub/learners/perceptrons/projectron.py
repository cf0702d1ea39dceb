"""The Projectron and Projectron++: a perceptron that projects samples onto its support vectors where it can."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bgsub.learners._base.classifier import OnlineKernelClassifier
from bgsub.learners._checks import check_choice, check_integer, check_real
from bgsub.learners._jit.perceptrons import projectron as jit
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.projected import ProjectedExpansion

__all__ = ["ProjectronClassifier"]

_MARGINS = {
    "none": jit.NO_MARGIN,
    "published": jit.PUBLISHED,
    "experiments": jit.EXPERIMENTS,
    "bounded": jit.BOUNDED,
}


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectronClassifier(OnlineKernelClassifier):
    """The Projectron (Orabona, Keshet, Caputo 2008, 2009): few support vectors, nearly a perceptron's mistakes.

    On a mistake, y f(x) <= 0, let P k(x, .) be the projection of k(x, .) onto the span of the support vectors,
    and delta the distance. Where delta <= eta, f becomes f + y P k(x, .), which changes coefficients only;
    otherwise x is stored with coefficient y. With a margin this is Projectron++: a sample that is right with
    0 < y f(x) < 1 and loss l = 1 - y f(x) above a cut is projected with tau y,
    tau = min(l / |P k|², 2 (l - cut) / |P k|², 1). eta = 0 is a perceptron that stores no dependent vector.

    With more than two classes each has its own support vectors; y and the best wrong class s are changed
    together, with opposite signs, and distances and norms are those of the pair.

    Where the papers are wrong or silent:

    - The pseudo-code compares delta with eta; the published numbers and the authors' program compare delta²
      with eta. `eta_on="squared"` is that.
    - The published curves of Projectron++ come from neither the printed cut delta / eta ("published", figure 5
      of 2009) nor the program's; delta² / (2 eta²) fits them ("experiments"). Read from figures, not proven.
    - The inverse of the Gram matrix that the papers carry loses all digits for small eta: with Gaussian kernels
      and distances below 1e-4 the hypothesis is off by more than its own size. A triangular factor stays right;
      `factor="inverse"` is the papers' way, with a guard.

    The weight of a sample multiplies its step where it was wrong, and bounds the step where it missed the margin.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    eta : float
        How far from the span a sample may be and still be projected, not negative.
    eta_on : {"norm", "squared"}
        Whether eta bounds delta or delta².
    margin : {"none", "published", "experiments", "bounded"}
        Which rule decides about samples that are right but close: see above. "bounded" is the form of 2008 for a
        hypothesis of norm at most U.
    U : float or None
        Of "bounded", positive; None is sqrt((B + 1) / log(B + 1)) / 4 for a budget of B.
    factor : {"triangular", "inverse"}
        Form in which the Gram matrix is kept.
    budget : int or None
        Most support vectors, of each class where there are more than two; beyond, everything is projected.
    average : bool
        As in `KernelPerceptron`.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    n_margin_updates_ : int
        Number of samples that were right and changed f all the same.
    n_support_, support_vectors_, dual_coef_
        As in scikit-learn's SVC; with more than two classes, vectors and coefficients of one class follow those
        of the other.
    classes_, t_, n_mistakes_, intercept_
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
    >>> from bgsub.learners import KernelPerceptron
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = ProjectronClassifier(sigma=1.0, eta=0.1, margin="experiments").fit(X, y)
    >>> perceptron = KernelPerceptron(sigma=1.0).fit(X, y)
    >>> model.n_support_ < perceptron.n_support_, model.n_mistakes_ < perceptron.n_mistakes_
    (True, True)
    """

    eta: float = 0.1
    eta_on: str = "norm"
    margin: str = "none"
    U: float | None = None
    factor: str = "triangular"
    average: bool = False

    _rows: ClassVar[Any] = staticmethod(jit.projectron_rows)
    _many: ClassVar[bool] = True

    def _checked_parameters(self) -> jit.ProjectronParameters:
        check_real("eta", self.eta, "not be negative", least=0)
        check_choice("eta_on", self.eta_on, ("norm", "squared"))
        check_choice("margin", self.margin, _MARGINS)
        check_choice("factor", self.factor, ("triangular", "inverse"))
        if self.budget is not None:
            check_integer("budget", self.budget, "be None or an integer of at least 1", least=1)
        bound = self.U
        if bound is not None:
            check_real("U", bound, "be positive or None", above=0)
        elif self.margin == "bounded":
            if self.budget is None:
                raise ValueError("U must be given where margin is 'bounded' and budget None, got None")
            bound = math.sqrt((self.budget + 1) / math.log(self.budget + 1)) / 4
        squared = self.eta_on == "squared"
        return jit.ProjectronParameters(
            eta2=self.eta if squared else self.eta**2,
            margin=_MARGINS[self.margin],
            inverse=self.factor == "inverse",
            bound=bound or 0.0,
            budget=-1 if self.budget is None else self.budget,
            each=squared,
        )

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return ProjectedExpansion(kernel, n_features, budget, outputs, self.dtype)

    def _learn_plainly(self, x: Array, y: float) -> None:
        expansion = self.expansion_
        expansion.make_room()
        expansion.fill_rows(x)
        jit.step(self._p[0], self._s[0], expansion.arrays, x, expansion.kernel.diag(x), y)

    @property
    def n_margin_updates_(self) -> int:
        """Number of samples that were right and changed f all the same."""
        return int(self.n_violations_)

    @property
    def dual_coef_(self) -> Array:
        """(1, n) or (classes, n) coefficients of the support vectors that decide."""
        result: Array = self.expansion_.dual(self._weights())
        return result
