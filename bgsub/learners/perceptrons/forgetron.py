"""The Forgetron: a perceptron on a budget that shrinks before it forgets."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bgsub.learners._base.classifier import OnlineKernelClassifier
from bgsub.learners._base.learner import scalar
from bgsub.learners._checks import check_choice, check_integer
from bgsub.learners._jit.perceptrons.forgetron import (
    ForgetronParameters,
    ForgetronState,
    Oldest,
    forgetron,
    forgetron_rows,
)
from bgsub.learners.hypotheses.kernels import Array, Kernel

__all__ = ["ForgetronClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class ForgetronClassifier(OnlineKernelClassifier):
    """The Forgetron (Dekel, Shalev-Shwartz, Singer 2008): a full perceptron shrinks, then drops its oldest vector.

    A mistake, y f(x) <= 0, stores x with coefficient y. If that is more than the budget, all coefficients are
    multiplied by phi and the oldest vector o goes. Self-tuned, phi is the largest number in (0, 1] with

        A phi² + 2 |a_o| phi + Q <= 15/32 M,    A = a_o² - 2 |a_o| mu,    mu = sgn(a_o) f(x_o),

    where M counts mistakes and Q is the cost of all drops before; the case distinction on the sign of A
    is replaced by one formula without cancellation. The rule and its bound are stated for k(x, x) = 1: wrap other
    kernels in `Normalised`. Averaging is not offered: it would need every vector ever removed.

    The weight of a sample multiplies its coefficient; the bound on mistakes is proved for equal weights.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    variant : {"self-tuned", "basic"}
        "basic" sets phi = min((B + 1)^(-1 / (2 (B + 1))), U / |f|), U = sqrt((B + 1) / log(B + 1)) / 4. Copies
        of that rule with the sign of the exponent lost let phi exceed 1.
    budget : int
        Number of support vectors B.
    class_weight
        As in `KernelPerceptron`.

    Attributes
    ----------
    cost_ : float
        Q of the self-tuned variant, never above 15/32 of the number of mistakes.
    norm2_ : float
        Squared norm of the hypothesis.
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
    >>> model = ForgetronClassifier(sigma=1.0, budget=20).fit(X, np.hypot(*X.T) < 1)
    >>> model.n_support_, model.cost_ <= 15 / 32 * model.n_mistakes_
    (20, True)
    """

    variant: str = "self-tuned"
    budget: int = 100

    _state: ClassVar[Any] = ForgetronState

    cost_ = scalar("cost", float, "Q: the cost of all removals.")
    norm2_ = scalar("norm2", float, "Squared norm of the hypothesis.")

    def _checked_parameters(self) -> ForgetronParameters:
        check_choice("variant", self.variant, ("self-tuned", "basic"))
        check_integer("budget", self.budget, "be an integer of at least 1", least=1)
        return ForgetronParameters(self_tuned=self.variant == "self-tuned", budget=self.budget)

    def _capacity(self, kernel: Kernel) -> int | None:
        return int(self.budget)

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        e, vector = self.expansion_.arrays, np.zeros(samples.shape[1])
        return int(forgetron_rows(first, self._p, self._s, e, vector, samples, targets, importance))

    def _learn_plainly(self, x: Array, y: float) -> None:
        expansion = self.expansion_
        row = expansion.row(x)
        value = float(expansion.combine(row))
        oldest = Oldest()
        if y * value <= 0 and expansion.size == expansion.budget:
            slot = expansion.oldest
            vectors, coefficients = expansion.slots()
            oldest_value = expansion.value(vectors[slot]) + self._s["importance"][0] * y * float(row[slot])
            oldest = Oldest(True, float(coefficients[slot]), oldest_value, expansion.kernel.diag(vectors[slot]))
        factor, a = forgetron(self._p[0], self._s[0], value, y, expansion.kernel.diag(x), oldest)
        self._apply(x, factor, a)
