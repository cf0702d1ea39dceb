"""The base classes of classifiers: labels and scikit-learn's interface; two classes or many."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bgsub.learners._base.class_weights import class_weights
from bgsub.learners._base.kernel_learner import KernelLearner
from bgsub.learners._base.learner import OnlineLearner, all_or_nothing, check_weight, scalar
from bgsub.learners.hypotheses.kernels import Array, Kernel

__all__ = ["Classifier", "KernelClassifier", "MulticlassKernelClassifier", "OnlineClassifier", "OnlineKernelClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class Classifier(ClassifierMixin, OnlineLearner):  # type: ignore[misc]
    """A classifier of two classes: the second one in sorted order where f(x) + b > 0."""

    class_weight: Any = None

    _many: ClassVar[bool] = False

    @all_or_nothing
    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:  # noqa: N803
        """Forget everything, then learn each row of X in order.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        y : (n,) array
            Their classes.
        sample_weight : (n,) array, optional
            Weights of the samples, not negative; the docstring of the class says what they multiply. A sample of
            weight 0 is left out.

        Returns
        -------
        self
        """
        valid = self._valid_pair(X, y, reset=True)
        known = self._known_classes(valid[1])
        samples, labels, importance = self._weighed(*valid, sample_weight)
        self._begin_classes(samples.shape[1], samples, known, labels)
        return self._learn_labels(samples, self._targets(labels), importance)

    def _learn_labels(self, samples: Array, targets: Array, importance: Array) -> Self:
        """Learn rows with the weights of their classes."""
        numbers = targets if len(self.classes_) > 2 else targets > 0
        return self._learn_all(samples, targets, importance * self.class_weight_[numbers.astype(np.intp)])

    def _known_classes(self, labels: Array, *, named: bool = False) -> Array:
        """Return the classes of labels, or those that the user named."""
        if not named:
            check_classification_targets(labels)
        classes = np.unique(column_or_1d(labels))
        name = type(self).__name__
        if len(classes) < 2:
            raise ValueError(f"{name} needs at least 2 classes, got 1 class only: {classes[0]!r}; name all as classes")
        if len(classes) > 2 and not self._takes_many():
            kind = type_of_target(labels, input_name="y")
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}. "
                f"For more classes use sklearn.multiclass.OneVsRestClassifier({name}())"
            )
        return classes

    def _takes_many(self) -> bool:
        """Whether there may be more than two classes."""
        return self._many

    def _targets(self, labels: Array, classes: Array | None = None) -> Array:
        """Return -1 and +1, or the index of the class where there are more than two."""
        known = self.classes_ if classes is None else classes
        unknown = np.setdiff1d(labels, known)
        if len(unknown):
            raise ValueError(f"y must hold only the classes {known} of the first call, got {unknown[0]!r} as well")
        numbers = np.searchsorted(known, labels).astype(np.float64)
        return 2 * numbers - 1 if len(known) == 2 else numbers

    def _begin_classes(
        self, n_features: int, samples: Array | None, classes: Array, labels: Array | None = None
    ) -> None:
        """Make the empty state; the labels of all samples are known where the call is `fit`."""
        weights = class_weights(self.class_weight, classes, labels)
        self._begin(n_features, samples, len(classes) if len(classes) > 2 else None)
        self._name(classes, weights)

    def _name(self, classes: Array, weights: Array) -> None:
        self.classes_, self.class_weight_ = classes, weights
        numbers = range(len(classes)) if len(classes) > 2 else (-1, 1)
        self._target_of = dict(zip(classes.tolist(), map(float, numbers), strict=True))
        self._weight_of = dict(zip(self._target_of.values(), weights.tolist(), strict=True))

    def score_one(self, x: Array) -> Any:
        """Return the value of `decision_function` for one sample (d,).

        Before the first sample was learned it is 0.

        Raises
        ------
        ValueError
            If x is of another length or not finite; nothing else is checked.
        """
        try:
            expansion = self.expansion_
        except AttributeError:  # asking whether there is one takes a tenth of the time of a linear learner
            self._sample(x)
            return 0.0
        return expansion.value(x, self._weights()) + self._bias()

    def predict_one(self, x: Array) -> Any:
        """Return the class of one sample (d,).

        Raises
        ------
        ValueError
            If x is of another length or not finite; nothing else is checked.
        """
        try:
            classes = self.classes_
        except AttributeError:
            check_is_fitted(self)  # for its message
            raise
        score = self.score_one(x)
        return classes[int(np.argmax(score)) if len(classes) > 2 else int(score > 0)]

    def decision_function(self, X: Array) -> Array:  # noqa: N803
        """Score of each row of X (n, d), positive for the second class: (n,), or (n, classes) of more than two."""
        check_is_fitted(self)
        result: Array = self._values(self._valid(X, reset=False)) + self._bias()
        return result

    def predict(self, X: Array) -> Array:  # noqa: N803
        """Class of each row of X (n, d): an (n,) array."""
        scores = self.decision_function(X)
        result: Array = self.classes_[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)]
        return result

    @property
    def intercept_(self) -> Array:
        """The constant b that is added to f: a (1,) array, or one number per class."""
        check_is_fitted(self)
        return np.atleast_1d(np.asarray(self._bias(), np.float64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_many()
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class KernelClassifier(Classifier, KernelLearner):
    """A classifier whose f is a kernel expansion."""

    def _resume(self, kernel: Kernel, n_features: int, arrays: dict[str, Any]) -> None:
        super()._resume(kernel, n_features, arrays)
        self._name(arrays["classes_"], arrays["class_weight_"])


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineClassifier(Classifier):
    """A classifier that learns sample by sample."""

    n_mistakes_ = scalar("mistakes", int, "Number of samples that were wrong, or tied, before they were learned.")
    n_violations_ = scalar("violations", int, "Number of samples that missed their margin and changed f.")

    def _refresh(self) -> None:
        super()._refresh()
        if self.class_weight != "balanced":  # which is that of the data of `fit`
            self._name(self.classes_, class_weights(self.class_weight, self.classes_, None))

    @all_or_nothing
    def partial_fit(
        self,
        X: Array,  # noqa: N803
        y: Array,
        classes: Array | None = None,
        sample_weight: Array | None = None,
    ) -> Self:
        """Learn each row of X in order, continuing from the present state; nothing where anything is wrong.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        y : (n,) array
            Their classes.
        classes : array, optional
            All classes, on the first call, where y does not hold them all.
        sample_weight : (n,) array, optional
            Weights of the samples, not negative; the docstring of the class says what they multiply. A sample of
            weight 0 is left out.

        Returns
        -------
        self
        """
        samples, labels = self._valid_pair(X, y, reset=not self._started)
        check_classification_targets(labels)
        if self._started:
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(f"classes must be those of the first call, {self.classes_}, got {classes}")
            targets = self._targets(labels)
            self._refresh()
            return self._learn_labels(*self._weighed(samples, targets, sample_weight))
        known = self._known_classes(labels if classes is None else np.asarray(classes), named=classes is not None)
        targets = self._targets(labels, known)
        samples, targets, importance = self._weighed(samples, targets, sample_weight)
        self._begin_classes(samples.shape[1], samples, known)
        return self._learn_labels(samples, targets, importance)

    def learn_one(self, x: Array, y: Any, sample_weight: float = 1.0) -> float:
        """Learn one sample; fast, without scikit-learn's checks.

        Where nothing was learned before, the classes are -1 and +1.

        Parameters
        ----------
        x : (d,) array
            One sample.
        y : label
            Its class.
        sample_weight : float
            Its weight, positive.

        Returns
        -------
        float
            The score before learning: that of `score_one` without averaging, or with more than two classes the
            lead of the class y over the best other one.

        Raises
        ------
        ValueError
            If x is not finite or of another length, y not known or the weight not positive (nothing is learned), or
            a parameter is wrong at the first sample.
        """
        check_weight(sample_weight)
        try:
            target = self._target_of[y]
        except (AttributeError, KeyError, TypeError):  # nothing learned, another label, or none that can be hashed
            self._learn_first(x, self._first_target(y), sample_weight)
        else:
            self._learn(x, target, sample_weight * self._weight_of[target])
        return float(self._s["last"][0])

    def _first_target(self, y: Any) -> float:
        """Return the target of the first sample of all, or raise where y is not known."""
        if self._started:
            raise ValueError(f"y must be one of {list(self._target_of)}, got {y!r}")
        if not isinstance(y, Hashable) or y not in (-1, 1):
            raise ValueError(f"y must be -1 or 1 unless classes are named in partial_fit, got {y!r}")
        return float(y)

    @all_or_nothing
    def _learn_first(self, x: Array, y: float, sample_weight: float) -> None:
        n_features = len(self._sample(x))
        self._begin_classes(n_features, None, np.array([-1, 1]))
        self.n_features_in_ = n_features
        self._learn(x, y, sample_weight * self._weight_of[y])

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
        self._begin_classes(n_features, None, self._known_classes(np.asarray(classes), named=True))
        self.n_features_in_ = n_features
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineKernelClassifier(OnlineClassifier, KernelClassifier):
    """A classifier that learns a kernel expansion sample by sample."""


@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassKernelClassifier(OnlineKernelClassifier):
    """A classifier with an update for any number of classes.

    With more than two, the score of the right class goes up and that of the best wrong one goes down: the rule of two
    classes learns a sample of target 1, of the lead of the one over the other and of squared length 2 k(x, x).
    """

    _many: ClassVar[bool] = True
    # The compiled loop for more than two classes.
    _class_rows: ClassVar[Any] = None

    def _set_up(self, kernel: Kernel, n_features: int, outputs: int | None) -> None:
        super()._set_up(kernel, n_features, outputs)
        self._scores = np.zeros(outputs or 0)

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        if not len(self._scores):
            return super()._run(first, samples, targets, importance)
        e = self.expansion_.arrays
        return int(self._class_rows(first, self._p, self._s, e, samples, targets, importance, self._scores))

    def _learn_plainly(self, x: Array, y: float) -> None:
        if not len(self._scores):
            super()._learn_plainly(x, y)
            return
        scores, right = self.expansion_.combine(self.expansion_.row(x)), int(y)
        others = scores.copy()
        others[right] = -np.inf
        rival = int(np.argmax(others))
        lead = float(scores[right] - scores[rival])
        factor, a = self._rule(self._p[0], self._s[0], lead, 1.0, 2.0 * self.expansion_.kernel.diag(x))
        coefficient = np.zeros(len(scores))
        coefficient[right], coefficient[rival] = a, -a
        self._apply(x, factor, coefficient)
