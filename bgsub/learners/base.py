"""What all learners share: a kernel expansion and a few scalars behind scikit-learn's parameters."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bgsub.errors import DependencyError
from bgsub.learners import _rule_kernels as rules
from bgsub.learners._checks import check_choice, check_integer
from bgsub.learners._stream_kernels import learn_rows
from bgsub.learners.expansion import POLICIES, KernelExpansion, writable
from bgsub.learners.kernels import Array, Kernel, resolve_kernel

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise DependencyError(f"the learners need scikit-learn ({error}); run: pip install 'bgsub[learners]'") from error

__all__ = ["Evicting", "KernelLearner", "scalar"]


def scalar(index: int, kind: type, text: str) -> Any:
    """Make a read-only attribute out of a place in the state of a learner."""

    def read(self: "KernelLearner") -> Any:
        check_is_fitted(self)
        return kind(self._s[index])

    return property(read, doc=text)


@dataclass(kw_only=True, eq=False, repr=False)
class Evicting:
    """Parameters of learners that can choose which vector a full store replaces."""

    evict: str = "oldest"
    random_state: Any = None


@dataclass(kw_only=True, eq=False, repr=False)
class KernelLearner(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator whose state is a kernel expansion and a few scalars.

    Parameters are stored unchecked and resolved when learning starts; what `set_params` changes counts from
    the next `partial_fit` on, the kernel, the budget and what a full store replaces from the next `fit`.
    """

    kernel: Any = "gaussian"
    gamma: float | str | None = None
    sigma: float | None = None
    width: float | None = None
    degree: int = 3
    coef0: float = 1.0
    budget: Any = None

    _rule: ClassVar[int]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(writable(state))

    @abstractmethod
    def _prepare(self) -> list[float]:
        """Check the learner's own parameters and return what its update rule needs of them."""

    def _start(self) -> None:
        """Set the learner's own state as it is before the first sample; all zeros already."""

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

    @property
    def _started(self) -> bool:
        return "expansion_" in self.__dict__

    def _begin(self, n_features: int, samples: Array | None, outputs: int | None = None) -> None:
        """Make the empty state; nothing of it is set where a parameter is wrong."""
        kernel = resolve_kernel(
            self.kernel,
            gamma=self.gamma,
            sigma=self.sigma,
            width=self.width,
            degree=self.degree,
            coef0=self.coef0,
            n_features=n_features,
            samples=samples,
        )
        self._set_up(kernel, n_features, outputs)

    def _set_up(self, kernel: Kernel, n_features: int, outputs: int | None) -> None:
        parameters = np.array(self._prepare(), np.float64)
        expansion = self._expansion(kernel, n_features, self._capacity(kernel), outputs)
        self._p, self._s = parameters, np.zeros(rules.STATE_SIZE)
        self.expansion_: Any = expansion
        self._plan = expansion.plan(self._rule)
        self._target = np.zeros(1)
        self._start()

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return KernelExpansion(kernel, n_features, budget, outputs, self._eviction(), self._seed())

    def _resume(self, kernel: Kernel, n_features: int, arrays: dict[str, Any]) -> None:
        """Go on with a saved state."""
        classes = arrays.get("classes_")
        self._set_up(kernel, n_features, None if classes is None or len(classes) == 2 else len(classes))
        self._s[:] = arrays["scalars"]
        prefix = "expansion_"
        self.expansion_.restore({k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)})
        self.n_features_in_ = n_features
        if "feature_names_in_" in arrays:
            self.feature_names_in_ = arrays["feature_names_in_"].astype(object)

    def _seed(self) -> int:
        given = getattr(self, "random_state", None)
        # A learner that draws nothing must not disturb a generator that others use.
        return int(check_random_state(given).randint(1, 2**31 - 1)) if self._eviction() == "random" else 1

    def _refresh(self) -> None:
        """Take parameters that were changed since learning started."""
        self._p = np.array(self._prepare(), np.float64)

    def _valid(self, X: Any, *, reset: bool) -> Array:  # noqa: N803
        """Return finite float64 rows."""
        return self._bounded(validate_data(self, X, dtype=np.float64, reset=reset))

    def _valid_pair(self, X: Any, y: Any, *, reset: bool, **checks: Any) -> tuple[Array, Array]:  # noqa: N803
        """Return finite float64 rows and their targets."""
        samples, targets = validate_data(self, X, y, dtype=np.float64, reset=reset, **checks)
        return self._bounded(samples), targets

    def _bounded(self, samples: Array) -> Array:
        if not np.isfinite(np.einsum("ij,ij->i", samples, samples)).all():
            raise ValueError("X must be scaled: the square of a row is infinity")
        return samples

    def _learn_all(self, samples: Array, targets: Array) -> Self:
        """Learn rows in order, in one compiled loop where the kernel allows."""
        if not self._compiled():
            self._learn_all_plainly(samples, targets)
            return self
        rows = np.require(samples, np.float64, ["C", "W", "E"])
        wanted = np.require(targets, np.float64, ["C", "W", "E"])
        done = self._run(0, rows, wanted)
        while done < len(rows):
            self.expansion_.grow()
            done = self._run(done, rows, wanted)
        return self

    def _learn_all_plainly(self, samples: Array, targets: Array) -> None:
        known, state = self.expansion_.state(), self._s.copy()
        try:
            for x, y in zip(samples, targets, strict=True):
                self._learn_plainly(x, float(y))
        except BaseException:  # a kernel that is a Python function can raise at any sample
            self.expansion_.restore(known)
            self._s = state
            raise

    def _compiled(self) -> bool:
        return bool(self.expansion_.compiled)

    def _run(self, first: int, samples: Array, targets: Array) -> int:
        return int(learn_rows(first, self._plan, self._p, self._s, *self.expansion_.arrays(), samples, targets))

    def _learn(self, x: Array, y: float) -> None:
        """Learn one sample."""
        held = self.expansion_.hold(x)
        if self._compiled():
            self._target[0] = y
            if not self._run(0, held, self._target):
                self.expansion_.grow()
                self._run(0, held, self._target)
        else:
            self._learn_plainly(held[0].copy(), y)

    def _learn_plainly(self, x: Array, y: float) -> None:
        """Learn one sample by numpy alone, with any kernel; the reference for the compiled loop."""
        expansion = self.expansion_
        diagonal = expansion.kernel.diag(x)
        value = float(expansion.combine(expansion.row(x)))
        factor, coefficient = rules.update(self._rule, self._p, self._s, value, y, diagonal, expansion.mass())
        self._apply(x, factor, coefficient)

    def _apply(self, x: Array, factor: float, coefficient: Any) -> None:
        """Forget by `factor`, then store x with `coefficient`."""
        self.expansion_.decay(factor)
        self.expansion_.append(x, coefficient)
        self.expansion_.count_step()
        self._s[rules.OFFSET_SUM] += self._s[rules.OFFSET]

    def _begin_one(self, x: Array) -> None:
        """Begin with the first of single samples."""
        if not np.isfinite(x).all():
            raise ValueError(f"x must be finite, got {x}")
        self._begin(len(x), None)
        self.n_features_in_ = len(x)

    @property
    def _averaging(self) -> bool:
        return bool(getattr(self, "average", False))

    def _weights(self) -> Array | None:
        """Coefficients that decide, in slot order; None for those of the latest hypothesis."""
        return self.expansion_.averaged(int(self._s[rules.T])) if self._averaging else None

    def _bias(self) -> float:
        """Return the constant that is added to the expansion where it decides."""
        if self._averaging:
            return float(self._s[rules.OFFSET_SUM] / max(self._s[rules.T], 1))
        return float(self._s[rules.OFFSET])

    @property
    def t_(self) -> int:
        """Number of samples learned."""
        check_is_fitted(self)
        return int(self._s[rules.T])

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
        """(1, n) coefficients of the support vectors that decide, one row a class where several share them."""
        check_is_fitted(self)
        weights = self._weights()
        decide: Array = self.expansion_.coefficients() if weights is None else self.expansion_.by_age(weights)
        return decide[None, :] if decide.ndim == 1 else decide.T

    def value_one(self, x: Array) -> float:
        """Return the hypothesis f(x) at one sample (d,), without offset; 0 before the first one was learned."""
        return self.expansion_.value(x) if self._started else 0.0

    def __sklearn_is_fitted__(self) -> bool:
        return self._started
