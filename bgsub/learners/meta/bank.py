"""Widths of the kernel, and steps, chosen online: a bank of learners whose predictions are weighted by their losses."""

import math
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from bgsub.learners._base.classifier import OnlineKernelClassifier
from bgsub.learners._base.learner import all_or_nothing, check_weight
from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners.hypotheses.kernels import Array
from bgsub.learners.hypotheses.samples import one_sample
from bgsub.learners.meta.experts import Bank
from bgsub.learners.norma import NORMAClassifier
from bgsub.learners.norma_regressor import NORMARegressor

__all__ = ["BankClassifier", "BankRegressor"]


class BankClassifier(ClassifierMixin, Bank):  # type: ignore[misc]
    """Classifiers of different widths or other parameters, that vote with weights which follow their mistakes.

    All learn every sample. The loss of each is 1 for a mistake before the sample was learned, times the weight of the
    sample, and AdaHedge (de Rooij and others 2014) makes weights of the losses: no rate, number of samples or other
    constant is to be chosen. The expected mistakes of one drawn by the weights exceed those of the best by at most
    twice `hedge_.gap`, and the majority's are at most twice the expected ones. It costs as much as all of them.

    Parameters
    ----------
    learner : classifier with a kernel, or None
        What is copied; None is `NORMAClassifier()`.
    grid : mapping, list of mappings, or None
        Parameters and the values to try, as for scikit-learn's `ParameterGrid`: {"sigma": [0.5, 2], "eta": [0.1, 1]}.
        None tries a quarter, half, once, twice and four times the usual width, that of gamma "scale" in the first data,
        or for features of variance 1 where these are a single sample. That usual width is also that of a grid and a
        learner without one.
    discount : float
        Factor of past losses for each sample that is learned, in (0, 1]. 1 counts all samples the same; with less the
        weights, `losses_` and the bound are about the last 1 / (1 - discount), so that another learner can take over
        where the stream drifts.

    Attributes
    ----------
    experts_ : list of classifiers
        Those that learn.
    settings_ : list of dict
        The parameters of each.
    weights_ : (experts,) array
        Weights of the next vote; they sum to 1.
    losses_ : (experts,) array
        Mistakes of each, times the weights of the samples.
    best_params_ : dict
        The parameters with the fewest.
    hedge_ : AdaHedge
        What makes the weights; `gap` is its bound.
    classes_ : array
        The labels, sorted.
    t_ : int
        Number of samples learned.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where the learner or the grid is wrong.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = np.hypot(*X.T) < 1
    >>> model = BankClassifier(grid={"sigma": [0.01, 0.5, 50.0], "eta": [0.01, 0.3]}).fit(X, y)
    >>> model.best_params_["sigma"], model.score(X, y) > 0.9
    (0.5, True)
    """

    _kind: ClassVar[Any] = OnlineKernelClassifier

    def _usual(self) -> Any:
        return NORMAClassifier()

    def _loss(self, expert: Any, x: Array, y: Any, weight: float) -> float:
        before = expert.n_mistakes_
        expert.learn_one(x, y, weight)
        return float(expert.n_mistakes_ - before)

    def _start(self, n_features: int, samples: Array | None, classes: Array) -> None:
        self._begin(n_features, samples)
        for expert in self.experts_:
            expert.start(n_features, classes)
        self.classes_ = self.experts_[0].classes_

    @all_or_nothing
    def start(self, n_features: int, classes: Any) -> Self:
        """Forget everything and name the classes, for `learn_one` with others than -1 and +1.

        Parameters
        ----------
        n_features : int
            Length of a sample.
        classes : array
            All classes.

        Returns
        -------
        self
        """
        self._start(n_features, None, np.asarray(classes))
        return self

    @all_or_nothing
    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:  # noqa: N803
        """Forget everything, then learn each row of X (n, d) with its class y (n,) in order.

        `sample_weight` (n,), not negative, multiplies the losses, and in the experts what their docstring says. Returns
        self.
        """
        return self._fit(X, y, None, sample_weight, reset=True)

    @all_or_nothing
    def partial_fit(
        self,
        X: Array,  # noqa: N803
        y: Array,
        classes: Array | None = None,
        sample_weight: Array | None = None,
    ) -> Self:
        """Learn each row of X (n, d) with its class y (n,) in order, continuing from the present state.

        `classes` are all classes, on the first call, where y does not hold them all. Returns self.
        """
        return self._fit(X, y, classes, sample_weight, reset=not hasattr(self, "experts_"))

    def _fit(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, reset: bool) -> Self:  # noqa: N803
        samples, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
        check_classification_targets(labels)
        importance = self._importance(sample_weight, samples)
        if reset:
            self._start(samples.shape[1], samples, np.unique(labels if classes is None else classes))
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(f"y must hold only the classes {self.classes_} of the first call, got {unknown[0]!r}")
        return self._learn_rows(samples, labels.tolist(), importance)

    def learn_one(self, x: Array, y: Any, sample_weight: float = 1.0) -> float:
        """Learn one sample x (d,) of class y, -1 or +1 unless others were named before; return the weighted loss.

        That is the share of the weights that was wrong before it was learned, times the weight of the sample.

        Raises
        ------
        ValueError
            If x is not finite or of another length, y not known or the weight not positive; nothing is learned then.
        """
        check_weight(sample_weight)
        sample = one_sample(x, getattr(self, "n_features_in_", None))
        if not hasattr(self, "experts_"):
            self.start(len(sample), [-1, 1])
        if y not in self.classes_:
            raise ValueError(f"y must be one of {self.classes_.tolist()}, got {y!r}")
        return self._learn_sample(sample, y, sample_weight)

    def decision_function(self, X: Array) -> Array:  # noqa: N803
        """Return the votes for each row of X (n, d).

        Of two classes (n,), the weights of those for the second less those for the first, in [-1, 1]; of more
        (n, classes), the weights for each.
        """
        samples = self._rows(X)
        votes = np.zeros((samples.shape[0], len(self.classes_)))
        for weight, expert in zip(self.hedge_.weights(), self.experts_, strict=True):
            scores = expert.decision_function(samples)
            chosen = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
            votes[np.arange(len(votes)), chosen] += weight
        return votes if len(self.classes_) > 2 else votes[:, 1] - votes[:, 0]

    def predict(self, X: Array) -> Array:  # noqa: N803
        """Class of each row of X (n, d) with the largest weight: an (n,) array."""
        votes = self.decision_function(X)
        result: Array = self.classes_[votes.argmax(axis=1) if votes.ndim == 2 else (votes > 0).astype(np.intp)]
        return result

    def predict_one(self, x: Array) -> Any:
        """Return the class of one sample (d,)."""
        return self.predict(np.asarray(x)[None])[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = self._usual() if self.learner is None else self.learner
        if isinstance(learner, OnlineKernelClassifier):
            tags.classifier_tags.multi_class = learner.__sklearn_tags__().classifier_tags.multi_class
        return tags


class BankRegressor(RegressorMixin, Bank):  # type: ignore[misc]
    """Regressors of different parameters, such as widths and steps, averaged with weights that follow their errors.

    All learn every sample. The loss of each is the squared error before the sample was learned, times the weight of the
    sample, and AdaHedge (de Rooij and others 2014) makes weights of the losses: no rate, number of samples or range is
    to be chosen. The squared errors of the average exceed those of the best by at most twice `hedge_.gap`. It costs as
    much as all of them.

    Parameters
    ----------
    learner : regressor with a kernel, or None
        What is copied; None is `NORMARegressor()`.
    grid : mapping, list of mappings, or None
        Parameters and the values to try, as for scikit-learn's `ParameterGrid`: {"sigma": [0.5, 2], "eta": [0.1, 1]}.
        None tries a quarter, half, once, twice and four times the usual width, that of gamma "scale" in the first data,
        or for features of variance 1 where these are a single sample. That usual width is also that of a grid and a
        learner without one.
    discount : float
        Factor of past losses for each sample that is learned, in (0, 1]. 1 counts all samples the same; with less the
        weights, `losses_` and the bound are about the last 1 / (1 - discount), so that another learner can take over
        where the stream drifts.

    Attributes
    ----------
    experts_ : list of regressors
        Those that learn.
    settings_ : list of dict
        The parameters of each.
    weights_ : (experts,) array
        Weights of the next average; they sum to 1.
    losses_ : (experts,) array
        Squared errors of each, times the weights of the samples.
    best_params_ : dict
        The parameters with the least.
    hedge_ : AdaHedge
        What makes the weights; `gap` is its bound.
    t_ : int
        Number of samples learned.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where the learner or the grid is wrong.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> model = BankRegressor(grid={"sigma": [0.01, 0.5, 50.0]}).fit(X, np.sin(2 * X[:, 0]))
    >>> model.best_params_, model.score(X, np.sin(2 * X[:, 0])) > 0.9
    ({'sigma': 0.5}, True)
    """

    _kind: ClassVar[Any] = OnlineKernelRegressor

    def _usual(self) -> Any:
        return NORMARegressor()

    def _loss(self, expert: Any, x: Array, y: float, weight: float) -> float:
        return (y - float(expert.learn_one(x, y, weight))) ** 2

    @all_or_nothing
    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:  # noqa: N803
        """Forget everything, then learn each row of X (n, d) with its target y (n,) in order.

        `sample_weight` (n,), not negative, multiplies the losses, and in the experts what their docstring says. Returns
        self.
        """
        return self._fit(X, y, sample_weight, reset=True)

    @all_or_nothing
    def partial_fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:  # noqa: N803
        """Learn each row of X (n, d) with its target y (n,) in order, continuing from the present state.

        Returns self.
        """
        return self._fit(X, y, sample_weight, reset=not hasattr(self, "experts_"))

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Self:  # noqa: N803
        samples, targets = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, reset=reset)
        importance = self._importance(sample_weight, samples)
        if reset:
            self._begin(samples.shape[1], samples)
        return self._learn_rows(samples, targets.astype(np.float64).tolist(), importance)

    def learn_one(self, x: Array, y: float, sample_weight: float = 1.0) -> float:
        """Learn one sample x (d,) with its target; return the weighted mean of the squared errors before.

        Raises
        ------
        ValueError
            If x or y is not finite, x of another length or the weight not positive; nothing is learned then.
        """
        check_weight(sample_weight)
        if not math.isfinite(y):
            raise ValueError(f"y must be finite, got {y}")
        sample = one_sample(x, getattr(self, "n_features_in_", None))
        if not hasattr(self, "experts_"):
            self._begin(len(sample), None)
        return self._learn_sample(sample, float(y), sample_weight)

    def predict(self, X: Array) -> Array:  # noqa: N803
        """Return the weighted mean of the predictions for each row of X (n, d): an (n,) array."""
        samples = self._rows(X)
        result: Array = sum(
            weight * expert.predict(samples)
            for weight, expert in zip(self.hedge_.weights(), self.experts_, strict=True)
        )
        return result

    def predict_one(self, x: Array) -> float:
        """Return the prediction for one sample (d,)."""
        return float(self.predict(np.asarray(x)[None])[0])
