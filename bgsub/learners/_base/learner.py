"""The base class of all learners: a hypothesis and a few scalars behind scikit-learn's interface."""

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from scipy.sparse import csr_matrix, issparse

from bgsub.errors import DependencyError
from bgsub.learners._base.docstrings import completed
from bgsub.learners._checks import check_real
from bgsub.learners._jit.records import State, as_record
from bgsub.learners.hypotheses.kernels import Array
from bgsub.learners.hypotheses.samples import one_sample, writable

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError as error:
    raise DependencyError(f"the learners need scikit-learn ({error}); run: pip install 'bgsub[learners]'") from error

__all__ = ["OnlineLearner", "all_or_nothing", "check_weight", "scalar"]

_Method = TypeVar("_Method", bound=Callable[..., Any])


def scalar(field: str, kind: type, text: str) -> Any:
    """Make a read-only attribute of a field of the state of a learner."""

    def read(self: "OnlineLearner") -> Any:
        check_is_fitted(self)
        return kind(self._s[field][0])

    return property(read, doc=text)


def check_weight(sample_weight: float) -> None:
    """Require the weight of a single sample to be positive."""
    if not 0 < sample_weight < math.inf:
        raise ValueError(f"sample_weight must be positive and finite, got {sample_weight}")


@contextmanager
def _unchanged_by_errors(learner: "OnlineLearner") -> Iterator[None]:
    # What begins makes objects of its own, and scikit-learn's checks set attributes before they raise: the attributes
    # are all there is to put back.
    before = vars(learner).copy()
    try:
        yield
    except BaseException:
        learner.__dict__.clear()
        learner.__dict__.update(before)
        raise


def all_or_nothing(method: _Method) -> _Method:
    """Let a method that begins from an empty state leave the learner as it was where it raises."""

    @functools.wraps(method)
    def guarded(self: "OnlineLearner", *arguments: Any, **named: Any) -> Any:
        with _unchanged_by_errors(self):
            return method(self, *arguments, **named)

    return cast(_Method, guarded)


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLearner(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator that learns sample by sample: a hypothesis, `expansion_`, and a few scalars.

    Parameters are stored unchecked and resolved when learning starts. Changes by `set_params` take effect with the
    next `partial_fit`; those that shape the hypothesis, with the next `fit`.
    """

    _state: ClassVar[type[State]] = State
    _fades: ClassVar[bool] = False  # whether coefficients can be multiplied between two samples

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        if cls.__doc__:
            cls.__doc__ = completed(cls.__doc__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(writable(state))

    @abstractmethod
    def _checked_parameters(self) -> Any:
        """Check the learner's own parameters and return the dataclass of those that its update rule needs."""

    @abstractmethod
    def _begin(self, n_features: int, samples: Array | None, outputs: int | None = None) -> None:
        """Make the empty state; nothing is set where a parameter is wrong."""

    @abstractmethod
    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        """Learn rows from `first` on in a compiled loop; return the row reached, an earlier one if arrays must grow."""

    def _values(self, samples: Any) -> Array:
        """Return f of each row: (m,), or (m, classes)."""
        result: Array = self.expansion_.values(samples, self._weights())
        return result

    @abstractmethod
    def _learn_plainly(self, x: Array, y: Any) -> None:
        """Learn one sample by numpy alone, with any kernel; its weight is in the state."""

    def _start(self) -> None:
        """Set the fields of the state that do not start at their defaults."""

    def _adopt(self, hypothesis: Any, parameters: Any) -> None:
        """Start from an empty hypothesis."""
        self._p, self._s = as_record(parameters), as_record(self._state())
        self.expansion_: Any = hypothesis
        self._target, self._importance = np.zeros(1), np.ones(1)
        self._start()

    def _restore(self, n_features: int, arrays: dict[str, Any]) -> None:
        """Go on with a saved state, after an empty one was made."""
        self._s[:] = arrays["scalars"]
        prefix = "expansion_"
        self.expansion_.restore({k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)})
        self.n_features_in_ = n_features
        if "feature_names_in_" in arrays:
            self.feature_names_in_ = arrays["feature_names_in_"].astype(object)

    def _refresh(self) -> None:
        """Apply parameters that were changed since learning started."""
        self._p = as_record(self._checked_parameters())

    @property
    def _started(self) -> bool:
        return "expansion_" in self.__dict__

    @abstractmethod
    def _empty(self) -> None:
        """Make the empty state once more."""

    @all_or_nothing
    def restart(self) -> Self:
        """Forget what was learned; the resolved kernel, the classes and the parameters stay.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._empty()
        return self

    def check_fades(self) -> None:
        """Raise ValueError where `fade` is not for this learner."""
        if not self._fades:
            raise ValueError(f"keep must be 0 for {type(self).__name__}, whose coefficients cannot fade")
        if getattr(self, "average", False):
            raise ValueError("average must be False for coefficients to fade, got True")

    def fade(self, keep: float) -> None:
        """Multiply all coefficients by `keep`, so that samples to come weigh more than those learned.

        Parameters
        ----------
        keep : float
            The factor, in (0, 1].

        Raises
        ------
        ValueError
            If it is out of range, or the state of the learner is more than its coefficients.
        """
        check_is_fitted(self)
        self.check_fades()
        check_real("keep", keep, "be in (0, 1]", above=0, most=1)
        self.expansion_.decay(keep)

    def _valid(self, X: Any, *, reset: bool) -> Any:  # noqa: N803
        """Return finite float64 rows, an array or a CSR matrix."""
        return self._bounded(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset))

    def _valid_pair(self, X: Any, y: Any, *, reset: bool, **checks: Any) -> tuple[Any, Array]:  # noqa: N803
        """Return finite float64 rows, an array or a CSR matrix, and their targets."""
        samples, targets = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset, **checks)
        return self._bounded(samples), targets

    def _weighed(self, samples: Any, targets: Array, sample_weight: Any) -> tuple[Any, Array, Array]:
        """Return samples, targets and weights of those whose weight is not 0."""
        if sample_weight is None:
            return samples, targets, np.ones(len(targets))
        weights = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        kept = weights > 0
        if not kept.any():
            raise ValueError("sample_weight must have an element that is not zero, got zeros only")
        return (samples, targets, weights) if kept.all() else (samples[kept], targets[kept], weights[kept])

    def _bounded(self, samples: Any) -> Any:
        if not issparse(samples):
            squares = np.einsum("ij,ij->i", samples, samples)
        else:
            if not samples.has_canonical_format:
                samples = csr_matrix(samples, copy=True)
                samples.sum_duplicates()
            squares = samples.multiply(samples).sum(axis=1)
        if not np.isfinite(squares).all():
            raise ValueError("X must be scaled: the square of a row is infinity")
        return samples

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _learn_all(self, samples: Array, targets: Array, importance: Array) -> Self:
        """Learn rows in order, in one compiled loop where the kernel allows; `importance` (n,) are their weights."""
        if not self._compiled():
            self._learn_all_plainly(samples, targets, importance)
            return self
        rows = np.require(samples, np.float64, ["C", "W", "E"])
        wanted = np.require(targets, np.float64, ["C", "W", "E"])
        weights = np.require(importance, np.float64, ["C", "W", "E"])
        done = self._run(0, rows, wanted, weights)
        while done < len(rows):
            self.expansion_.grow()
            done = self._run(done, rows, wanted, weights)
        return self

    def _learn_all_plainly(self, samples: Array, targets: Array, importance: Array) -> None:
        known, state = self.expansion_.state(), self._s.copy()
        try:
            for x, y, weight in zip(samples, targets, importance, strict=True):
                self._s["importance"] = weight
                self._learn_plainly(x, y if targets.ndim == 2 else float(y))
        except BaseException:  # a kernel that is a Python function can raise at any sample
            self.expansion_.restore(known)
            self._s[:] = state  # in place, since a caller may put the old attributes back
            raise

    def _compiled(self) -> bool:
        return bool(self.expansion_.compiled)

    def _learn(self, x: Array, y: float, importance: float) -> None:
        """Learn one sample of a weight that was checked."""
        held = self.expansion_.hold(x)
        if self._compiled():
            self._target[0], self._importance[0] = y, importance
            if not self._run(0, held, self._target, self._importance):
                self.expansion_.grow()
                self._run(0, held, self._target, self._importance)
        else:
            self._s["importance"] = importance
            self._learn_plainly(held[0].copy(), y)

    def _begin_one(self, x: Array) -> None:
        """Begin with the first of single samples."""
        n_features = len(self._sample(x))
        self._begin(n_features, None)
        self.n_features_in_ = n_features

    def _sample(self, x: Any) -> Array:
        """Return a finite sample of any length, where nothing was learned yet."""
        return one_sample(x, None, getattr(self, "dtype", "") == "float32")

    def _weights(self) -> Array | None:
        """Coefficients that decide, in slot order; None for those of the latest hypothesis."""
        return None

    def _bias(self) -> Any:
        """Return the constant that is added to the hypothesis where it decides."""
        return 0.0

    @property
    def t_(self) -> int:
        """Number of samples learned."""
        check_is_fitted(self)
        return int(self._s["t"][0])

    def __sklearn_is_fitted__(self) -> bool:
        return self._started
