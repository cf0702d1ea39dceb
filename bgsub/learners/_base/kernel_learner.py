"""Learners whose hypothesis is a kernel expansion."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bgsub.learners._base.learner import OnlineLearner
from bgsub.learners._checks import check_choice, check_integer
from bgsub.learners.hypotheses.expansion import POLICIES, KernelExpansion
from bgsub.learners.hypotheses.kernels import Array, Kernel, resolve_kernel, scale_gamma
from bgsub.learners.hypotheses.samples import dense_blocks, rounded

__all__ = ["EvictionParameters", "KernelLearner"]


@dataclass(kw_only=True, eq=False, repr=False)
class EvictionParameters:
    """Parameters of learners that can choose which vector a full store replaces."""

    evict: str = "oldest"
    random_state: Any = None


@dataclass(kw_only=True, eq=False, repr=False)
class KernelLearner(OnlineLearner):
    """A learner whose state is a kernel expansion and a few scalars."""

    kernel: Any = "gaussian"
    gamma: float | str | None = None
    sigma: float | None = None
    width: float | None = None
    degree: int = 3
    coef0: float = 1.0
    dtype: str = "float64"
    budget: Any = None

    # Compiled code of the learner: its rule for one sample, and the loop over samples.
    _rule: ClassVar[Any] = None
    _rows: ClassVar[Any] = None
    # Width of the kernel where none is given, in units of that of gamma "scale".
    _usual_width: ClassVar[float] = 1.0

    def _eviction(self) -> str:
        evict = getattr(self, "evict", "oldest")
        check_choice("evict", evict, POLICIES)
        return str(evict)

    def _capacity(self, kernel: Kernel) -> int | None:
        """Most support vectors to keep, or None."""
        if self.budget is None:
            return None
        check_integer("budget", self.budget, "be None or an integer of at least 1", least=1)
        return int(self.budget)

    def _begin(self, n_features: int, samples: Array | None, outputs: int | None = None) -> None:
        """Make the empty state; nothing is set where a parameter is wrong."""
        kernel = resolve_kernel(
            self.kernel,
            gamma=self._gamma(n_features, samples),
            sigma=self.sigma,
            width=self.width,
            degree=self.degree,
            coef0=self.coef0,
            n_features=n_features,
            samples=samples,
        )
        self._set_up(kernel, n_features, outputs)

    def _gamma(self, n_features: int, samples: Array | None) -> Any:
        """Return the parameter gamma, or the usual one of a kernel that has a width and was given none."""
        squared = {"gaussian": True, "laplacian": False}
        if not isinstance(self.kernel, str) or self.kernel not in squared:
            return self.gamma
        if (self.gamma, self.sigma, self.width) != (None, None, None):
            return self.gamma
        # A stream that begins with one sample shows no variance: 1 / d is "scale" for features of variance 1.
        usual = 1 / n_features if samples is None or samples.shape[0] < 2 else scale_gamma(samples)
        return usual / self._usual_width ** (2 if squared[self.kernel] else 1)

    def _set_up(self, kernel: Kernel, n_features: int, outputs: int | None) -> None:
        parameters = self._checked_parameters()
        expansion = self._expansion(kernel, n_features, self._capacity(kernel), outputs)
        self._adopt(expansion, parameters)

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return KernelExpansion(kernel, n_features, budget, outputs, self._eviction(), self._seed(), self.dtype)

    def _empty(self) -> None:
        classes = vars(self).get("classes_", ())
        self._set_up(self.expansion_.kernel, self.n_features_in_, len(classes) if len(classes) > 2 else None)

    def _resume(self, kernel: Kernel, n_features: int, arrays: dict[str, Any]) -> None:
        """Continue from a saved state."""
        classes = arrays.get("classes_")
        self._set_up(kernel, n_features, None if classes is None or len(classes) == 2 else len(classes))
        self._restore(n_features, arrays)

    def _seed(self) -> int:
        given = getattr(self, "random_state", None)
        # A learner that draws nothing must not disturb a generator that others use.
        return int(check_random_state(given).randint(1, 2**31 - 1)) if self._eviction() == "random" else 1

    def _bounded(self, samples: Any) -> Any:
        samples, dtype = super()._bounded(samples), "float32" if self.dtype == "float32" else "float64"
        if not issparse(samples):
            return rounded(samples, dtype)
        return csr_matrix((rounded(samples.data, dtype), samples.indices, samples.indptr), samples.shape)

    def _learn_all(self, samples: Any, targets: Array, importance: Array) -> Self:
        if not issparse(samples):
            return super()._learn_all(samples, targets, importance)
        # Of compiled loops none can raise; a kernel that is a Python function can, in any block.
        known = None if self._compiled() else self.expansion_.state()
        state = self._s.copy()
        try:
            for part, rows in dense_blocks(samples):
                super()._learn_all(rows, targets[part], importance[part])
        except BaseException:
            if known is not None:
                self.expansion_.restore(known)
                self._s[:] = state
            raise
        return self

    def _values(self, samples: Any) -> Array:
        """Return f of each row, with the coefficients that decide: (m,), or (m, classes)."""
        weights = self._weights()
        return np.concatenate([self.expansion_.values(rows, weights) for _, rows in dense_blocks(samples)])

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        return int(self._rows(first, self._p, self._s, self.expansion_.arrays, samples, targets, importance))

    def _learn_plainly(self, x: Array, y: float) -> None:
        expansion = self.expansion_
        diagonal = expansion.kernel.diag(x)
        value = float(expansion.combine(expansion.row(x)))
        factor, coefficient = self._rule(self._p[0], self._s[0], value, y, diagonal)
        self._apply(x, factor, coefficient)

    def _apply(self, x: Array, factor: float, coefficient: Any) -> None:
        """Forget by `factor`, then store x with `coefficient`."""
        self.expansion_.decay(factor)
        self.expansion_.append(x, coefficient)
        self.expansion_.count_step()
        self._s["offset_sum"] += self._s["offset"]

    @property
    def _averaging(self) -> bool:
        return bool(getattr(self, "average", False))

    def _weights(self) -> Array | None:
        """Coefficients that decide, in slot order; None for those of the latest hypothesis."""
        return self.expansion_.averaged(int(self._s["t"][0])) if self._averaging else None

    def _bias(self) -> float:
        """Return the constant that is added to the expansion where it decides."""
        if self._averaging:
            return float(self._s["offset_sum"][0] / max(self._s["t"][0], 1))
        return float(self._s["offset"][0])

    def _decision(self) -> tuple[Any, Any]:
        """Return by what `dual_coef_` is multiplied, and what is added to the values, where the learner decides."""
        return 1.0, self._bias()

    @property
    def n_support_(self) -> int:
        """Number of stored support vectors."""
        check_is_fitted(self)
        return int(self.expansion_.size)

    @property
    def support_vectors_(self) -> Array:
        """(n, d) support vectors, oldest first (in no order where not the oldest are replaced)."""
        check_is_fitted(self)
        result: Array = self.expansion_.support_vectors()
        return result

    @property
    def dual_coef_(self) -> Array:
        """(1, n) coefficients of the support vectors that decide, one row per class where several share them."""
        check_is_fitted(self)
        weights = self._weights()
        decide: Array = self.expansion_.coefficients() if weights is None else self.expansion_.by_age(weights)
        return decide[None, :] if decide.ndim == 1 else decide.T

    def value_one(self, x: Array) -> float:
        """Return the hypothesis f(x) at one sample (d,), without offset; 0 before the first one was learned.

        Raises
        ------
        ValueError
            If x is of another length or not finite.
        """
        if not self._started:
            self._sample(x)
            return 0.0
        value: float = self.expansion_.value(x)
        return value
