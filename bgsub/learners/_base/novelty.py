"""The base class of novelty detectors."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from bgsub.learners._base.kernel_learner import KernelLearner
from bgsub.learners._base.learner import all_or_nothing, check_weight, scalar
from bgsub.learners.hypotheses.kernels import Array
from bgsub.learners.hypotheses.samples import dense_blocks

__all__ = ["NoveltyDetector"]


@dataclass(kw_only=True, eq=False, repr=False)
class NoveltyDetector(OutlierMixin, KernelLearner):  # type: ignore[misc]
    """An online outlier detector: a sample is novel where its score falls below a threshold that adapts."""

    last_value_ = scalar("last", float, "f of the sample learned last, before it was learned.")
    last_novel_ = scalar("last_novel", bool, "Whether the sample learned last was novel, before it was learned.")

    @abstractmethod
    def _threshold(self) -> float:
        """Return the score below which a sample is novel."""

    def _score(self, x: Array) -> float:
        """Return the score of a sample: f(x), unless a subclass has another."""
        return float(self.expansion_.value(x))

    def _scores(self, samples: Array) -> Array:
        result: Array = self.expansion_.values(samples)
        return result

    @all_or_nothing
    def fit(self, X: Array, y: object = None, sample_weight: Array | None = None) -> Self:  # noqa: N803
        """Forget everything, then learn each row of X in order.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        y : ignored
            Present for scikit-learn's interface.
        sample_weight : (n,) array, optional
            Weights of the samples, not negative; the docstring of the class says what they multiply. A sample of
            weight 0 is left out.

        Returns
        -------
        self
        """
        valid = self._valid(X, reset=True)
        samples, targets, importance = self._weighed(valid, np.zeros(valid.shape[0]), sample_weight)
        self._begin(samples.shape[1], samples)
        return self._learn_all(samples, targets, importance)

    @all_or_nothing
    def partial_fit(self, X: Array, y: object = None, sample_weight: Array | None = None) -> Self:  # noqa: N803
        """Learn each row of X in order, continuing from the present state.

        Where X is not finite or of another width, nothing is learned. The first call resolves
        `gamma="scale"`.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        y : ignored
            Present for scikit-learn's interface.
        sample_weight : (n,) array, optional
            Weights of the samples, not negative; the docstring of the class says what they multiply. A sample of
            weight 0 is left out.

        Returns
        -------
        self
        """
        valid = self._valid(X, reset=not self._started)
        samples, targets, importance = self._weighed(valid, np.zeros(valid.shape[0]), sample_weight)
        if self._started:
            self._refresh()
        else:
            self._begin(samples.shape[1], samples)
        return self._learn_all(samples, targets, importance)

    def learn_one(self, x: Array, *, sample_weight: float = 1.0) -> bool:
        """Decide whether one sample is novel, then learn it; fast, without scikit-learn's checks.

        Parameters
        ----------
        x : (d,) array
            One sample.
        sample_weight : float
            Its weight, positive.

        Returns
        -------
        bool
            True if the sample was novel before it was learned.

        Raises
        ------
        ValueError
            If x is not finite or of another length or the weight not positive (nothing is learned), or a parameter
            is wrong at the first sample.
        """
        check_weight(sample_weight)
        if not self._started:
            self._learn_first(x, sample_weight)
        else:
            self._learn(x, 0.0, sample_weight)
        return bool(self._s["last_novel"][0])

    @all_or_nothing
    def _learn_first(self, x: Array, sample_weight: float) -> None:
        self._begin_one(x)
        self._learn(x, 0.0, sample_weight)

    def score_one(self, x: Array) -> float:
        """Return the value of `decision_function` for one sample (d,): negative is novel.

        Before the first sample was learned it is 0.

        Raises
        ------
        ValueError
            If x is of another length or not finite; nothing else is checked.
        """
        if not self._started:
            self._sample(x)
            return 0.0
        return self._score(x) - self._threshold()

    def score_samples(self, X: Array) -> Array:  # noqa: N803
        """Score of each row of X (n, d), higher is more normal; an (n,) float64 array."""
        check_is_fitted(self)
        samples = self._valid(X, reset=False)
        return np.concatenate([self._scores(rows) for _, rows in dense_blocks(samples)])

    def _decision(self) -> tuple[Any, Any]:
        return 1.0, -self._threshold()

    @property
    def offset_(self) -> float:
        """The threshold: `decision_function` is `score_samples` minus this."""
        check_is_fitted(self)
        return self._threshold()

    def decision_function(self, X: Array) -> Array:  # noqa: N803
        """Score of each row of X (n, d) above the threshold: negative is novel; an (n,) float64 array."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Array) -> Array:  # noqa: N803
        """+1 for each normal, -1 for each novel row of X (n, d); an (n,) integer array."""
        return np.where(self.decision_function(X) < 0, -1, 1)
