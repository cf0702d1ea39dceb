"""The base classes of regressors: targets and scikit-learn's interface."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bgsub.learners._base.kernel_learner import KernelLearner
from bgsub.learners._base.learner import all_or_nothing, check_weight
from bgsub.learners.hypotheses.kernels import Array, Kernel

__all__ = ["KernelRegressor", "OnlineKernelRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRegressor(RegressorMixin, KernelLearner):  # type: ignore[misc]
    """A regressor f(x) + b."""

    _many: ClassVar[bool] = False  # whether there may be several targets

    @all_or_nothing
    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:  # noqa: N803
        """Forget everything, then learn each row of X in order.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        y : (n,) array
            Their targets, finite; (n, Q) for `KRLSRegressor`, `QKLMSRegressor` and `KAPARegressor`.
        sample_weight : (n,) array, optional
            Weights of the samples, not negative; the docstring of the class says what they multiply. A sample of
            weight 0 is left out.

        Returns
        -------
        self
        """
        valid = self._valid_pair(X, y, reset=True, y_numeric=True, multi_output=self._many)
        samples, targets, importance = self._weighed(*valid, sample_weight)
        self._begin(samples.shape[1], samples, targets.shape[1] if targets.ndim == 2 else None)
        return self._learn_all(samples, targets, importance)

    def predict(self, X: Array) -> Array:  # noqa: N803
        """Return f(x) + b of each row of X (n, d): an (n,) float64 array, or (n, Q) of Q targets."""
        check_is_fitted(self)
        result: Array = self._values(self._valid(X, reset=False)) + self._bias()
        return result

    def score_one(self, x: Array) -> Any:
        """Return the value of `predict` for one sample (d,); 0 before the first one was learned.

        Raises
        ------
        ValueError
            If x is of another length or not finite; nothing else is checked.
        """
        if not self._started:
            self._sample(x)
            return 0.0
        return self.expansion_.value(x, self._weights()) + self._bias()

    def predict_one(self, x: Array) -> Any:
        """Return the same as `score_one`."""
        return self.score_one(x)

    @property
    def intercept_(self) -> Array:
        """The constant b that is added to f: a (1,) array."""
        check_is_fitted(self)
        return np.array([self._bias()])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._many
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineKernelRegressor(KernelRegressor):
    """A regressor that learns sample by sample."""

    @all_or_nothing
    def partial_fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:  # noqa: N803
        """Learn each row of X in order, continuing from the present state; nothing where anything is wrong.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        y : (n,) array
            Their targets, finite; (n, Q) for `KRLSRegressor`, `QKLMSRegressor` and `KAPARegressor`.
        sample_weight : (n,) array, optional
            Weights of the samples, not negative; the docstring of the class says what they multiply. A sample of
            weight 0 is left out.

        Returns
        -------
        self
        """
        valid = self._valid_pair(X, y, reset=not self._started, y_numeric=True, multi_output=self._many)
        samples, targets, importance = self._weighed(*valid, sample_weight)
        outputs = targets.shape[1] if targets.ndim == 2 else None
        if self._started:
            self._check_targets(outputs)
            self._refresh()
        else:
            self._begin(samples.shape[1], samples, outputs)
        return self._learn_all(samples, targets, importance)

    def _empty(self) -> None:
        self._set_up(self.expansion_.kernel, self.n_features_in_, self.expansion_.targets)

    def _resume(self, kernel: Kernel, n_features: int, arrays: dict[str, Any]) -> None:
        self._set_up(kernel, n_features, self._targets_in(arrays))
        self._restore(n_features, arrays)

    def _targets_in(self, arrays: dict[str, Any]) -> int | None:
        """Return the number of targets that saved arrays are of, None for a single one."""
        stored = arrays["expansion_stored"]
        return stored.shape[1] if stored.ndim == 2 else None

    def _check_targets(self, outputs: int | None) -> None:
        """Require as many targets as were learned before."""
        known = getattr(self.expansion_, "targets", None)
        if outputs != known:
            raise ValueError(f"y must have as many targets as before, {known or 1}, got {outputs or 1}")

    def learn_one(self, x: Array, y: Any, sample_weight: float = 1.0) -> Any:
        """Learn one sample; fast, without scikit-learn's checks.

        Parameters
        ----------
        x : (d,) array
            One sample.
        y : float
            Its target; a (Q,) array for `KRLSRegressor`, `QKLMSRegressor` and `KAPARegressor`.
        sample_weight : float
            Its weight, positive.

        Returns
        -------
        float
            The prediction before learning, without averaging; of Q targets a (Q,) array.

        Raises
        ------
        ValueError
            If x or y is not finite, x of another length or the weight not positive (nothing is learned), or a
            parameter is wrong at the first sample.
        """
        check_weight(sample_weight)
        if self._many and np.ndim(y):
            return self._learn_several(x, np.asarray(y, np.float64), sample_weight)
        if not math.isfinite(y):
            raise ValueError(f"y must be finite, got {y}")
        if self._many and self._started:
            self._check_targets(None)
        if not self._started:
            self._learn_first(x, y, sample_weight)
        else:
            self._learn(x, y, sample_weight)
        return float(self._s["last"][0])

    @all_or_nothing
    def _learn_several(self, x: Array, y: Array, sample_weight: float) -> Array:
        """Learn one sample of several targets; return their predictions before."""
        if y.ndim != 1 or not np.isfinite(y).all():
            raise ValueError(f"y must be a finite number, or an array of them, got {y}")
        if self._started:
            self._check_targets(len(y))
        else:
            self.n_features_in_ = len(self._sample(x))
            self._begin(self.n_features_in_, None, len(y))
        before = self.expansion_.value(x)
        self._learn_all(self.expansion_.hold(x), y[None], np.array([sample_weight]))
        return np.asarray(before)

    @all_or_nothing
    def _learn_first(self, x: Array, y: float, sample_weight: float) -> None:
        self._begin_one(x)
        self._learn(x, y, sample_weight)
