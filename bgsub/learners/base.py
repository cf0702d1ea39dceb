"""What all learners share: a kernel expansion behind scikit-learn's interface."""

import math
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from bgsub.errors import DependencyError
from bgsub.learners._checks import check_integer
from bgsub.learners.expansion import KernelExpansion
from bgsub.learners.kernels import Array, Kernel, resolve_kernel

try:
    from sklearn.base import BaseEstimator, OutlierMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise DependencyError(f"the learners need scikit-learn ({error}); run: pip install 'bgsub[learners]'") from error

__all__ = ["KernelLearner", "NoveltyLearner"]


class KernelLearner(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator whose state is a kernel expansion and a few scalars.

    Subclasses take the parameters `kernel`, `gamma`, `sigma`, `width`, `degree`, `coef0` and `budget` besides
    their own. Parameters are stored unchecked and resolved when learning starts; what `set_params` changes
    counts from the next `partial_fit` on, the kernel and the budget from the next `fit`.
    """

    expansion_: KernelExpansion
    t_: int
    n_features_in_: int

    kernel: Any
    gamma: Any
    sigma: Any
    width: Any
    degree: int
    coef0: float
    budget: Any

    @abstractmethod
    def _prepare(self) -> None:
        """Check the learner's own parameters and resolve them into attributes with a leading underscore."""

    @abstractmethod
    def _start(self) -> None:
        """Set the learner's own state as it is before the first sample."""

    def _capacity(self, kernel: Kernel) -> int | None:
        """Most support vectors to keep, or None."""
        if self.budget is None:
            return None
        check_integer("budget", self.budget, "be None or an integer of at least 1", least=1)
        return int(self.budget)

    @property
    def _started(self) -> bool:
        return "expansion_" in self.__dict__

    def _begin(self, n_features: int, samples: Array | None) -> None:
        """Make the empty state; nothing of it is set where a parameter is wrong."""
        kernel = resolve_kernel(
            self.kernel,
            gamma=self.gamma,
            sigma=self.sigma,
            width=self.width,
            degree=self.degree,
            coef0=self.coef0,
            samples=samples,
        )
        self._prepare()
        self.expansion_ = KernelExpansion(kernel, n_features, self._capacity(kernel))
        self.t_ = 0
        self._start()

    @property
    def n_support_(self) -> int:
        """Number of stored support vectors."""
        check_is_fitted(self)
        return self.expansion_.size

    @property
    def support_vectors_(self) -> Array:
        """(n, d) support vectors, oldest first."""
        check_is_fitted(self)
        return self.expansion_.support_vectors()

    @property
    def dual_coef_(self) -> Array:
        """(1, n) coefficients of the support vectors."""
        check_is_fitted(self)
        return self.expansion_.coefficients()[None, :]

    def value_one(self, x: Array) -> float:
        """Return the hypothesis f(x) at one sample (d,); 0 before the first one was learned."""
        return self.expansion_.value(x) if self._started else 0.0


class NoveltyLearner(OutlierMixin, KernelLearner):  # type: ignore[misc]
    """An online outlier detector: a sample is novel where its score falls below a threshold that adapts."""

    last_novel_: bool
    """Whether the sample learned last was novel, judged before it was learned."""

    @abstractmethod
    def _learn(self, x: Array) -> bool:
        """Judge a sample, then learn it; True if it was novel."""

    @abstractmethod
    def _threshold(self) -> float:
        """Return the score below which a sample is novel."""

    def _score(self, x: Array) -> float:
        """Return the score of a sample: f(x) unless a subclass knows better."""
        return self.expansion_.value(x)

    def fit(self, X: Array, y: object = None) -> Self:  # noqa: N803
        """Forget everything, then learn each row of X in order.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        y : ignored
            Present for scikit-learn's interface.

        Returns
        -------
        self
        """
        samples = validate_data(self, X, dtype=np.float64)
        self._begin(samples.shape[1], samples)
        return self._learn_all(samples)

    def partial_fit(self, X: Array, y: object = None) -> Self:  # noqa: N803
        """Learn each row of X in order, on top of what is known.

        Where X is not finite or of another width, nothing of it is learned. The first call resolves
        `gamma="scale"`.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        y : ignored
            Present for scikit-learn's interface.

        Returns
        -------
        self
        """
        samples = validate_data(self, X, dtype=np.float64, reset=not self._started)
        if self._started:
            self._prepare()
        else:
            self._begin(samples.shape[1], samples)
        return self._learn_all(samples)

    def _learn_all(self, samples: Array) -> Self:
        for x in samples:
            self._learn(x)
        return self

    def learn_one(self, x: Array) -> bool:
        """Judge one sample, then learn it; the fast way, which checks neither type nor length.

        Parameters
        ----------
        x : (d,) array
            One sample.

        Returns
        -------
        bool
            True if the sample was novel to what was known before it.

        Raises
        ------
        ValueError
            If x is not finite (nothing is learned), or a parameter is wrong at the first sample.
        """
        if not math.isfinite(np.dot(x, x)):
            raise ValueError(f"x must be finite, got {x}")
        if not self._started:
            self._begin(len(x), None)
            self.n_features_in_ = len(x)
        return self._learn(x)

    def score_one(self, x: Array) -> float:
        """Return what `decision_function` gives for one sample (d,), without checks: negative is novel.

        Before the first sample was learned it is 0.
        """
        return self._score(x) - self._threshold() if self._started else 0.0

    def score_samples(self, X: Array) -> Array:  # noqa: N803
        """Score of each row of X (n, d), higher is more normal; an (n,) float64 array."""
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        return np.array([self._score(x) for x in samples], dtype=np.float64)

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
