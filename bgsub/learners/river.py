"""Learners as models of river, whose samples are dictionaries. Nothing else here needs river."""
# mypy: no-warn-unused-ignores

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from bgsub.errors import DependencyError
from bgsub.learners._base.novelty import NoveltyDetector
from bgsub.learners.calibration import OnlineTemperature
from bgsub.learners.hypotheses.kernels import Array
from bgsub.learners.norma import NORMANovelty
from bgsub.learners.norma_regressor import NORMARegressor
from bgsub.learners.perceptrons.kernel_perceptron import KernelPerceptron

try:
    from river import base

    try:
        from river.base import AnomalyDetector
    except ImportError:  # before river 0.24
        from river.anomaly.base import AnomalyDetector  # type: ignore[no-redef]
except ImportError as error:
    raise DependencyError(f"bgsub.learners.river needs river ({error}); run: pip install river") from error

__all__ = ["RiverAnomalyDetector", "RiverClassifier", "RiverRegressor"]


class _Adapter:
    """Dictionaries, or data frames, to rows: by name, in any order."""

    learner: Any
    features: Sequence[Any] | None
    missing: float

    def _set_up(self, learner: Any, features: Sequence[Any] | None, missing: float) -> None:
        self.learner = learner
        self.features = features
        self.missing = missing
        self._model = clone(learner)  # river clones the argument, which must stay unchanged
        self._names: list[Any] | None = None
        self._pick: Callable[[Any], Any] | None = None
        if features is not None:
            self._name(features)

    def _name(self, names: Any) -> None:
        self._names = list(names)
        if len(self._names) > 1:  # of one name, it would return a number
            self._pick = operator.itemgetter(*self._names)

    def _row(self, x: dict[Any, float]) -> Array:
        if self._pick is not None:
            try:
                return np.fromiter(self._pick(x), np.float64)  # a third of the time of looking up each name here
            except KeyError:
                pass  # a feature is missing
        names = self._names if self._names is not None else list(x)
        return np.array([x.get(name, self.missing) for name in names], np.float64)

    def _row_to_learn(self, x: dict[Any, float]) -> Array:
        if self._names is None:
            self._name(sorted(x, key=str))
        return self._row(x)

    def _rows(self, frame: Any) -> Array:
        """Return the rows of a data frame, with columns in the order that was learned."""
        names = self._names if self._names is not None else sorted(frame.columns, key=str)
        result: Array = frame.reindex(columns=names, fill_value=self.missing).to_numpy(np.float64)
        return result

    def _rows_to_learn(self, frame: Any) -> Array:
        if self._names is None:
            self._name(sorted(frame.columns, key=str))
        return self._rows(frame)


def _weights(w: Any) -> Any:
    """Return weights as the learners take them: a number for all rows, or an array."""
    return w if np.isscalar(w) else np.asarray(w, np.float64)


class RiverClassifier(_Adapter, base.MiniBatchClassifier):  # type: ignore[misc]
    """A classifier of this package for river.

    Parameters
    ----------
    learner : classifier
        Any classifier that learns sample by sample. Without a width its kernel is for features of variance 1.
    classes : sequence
        All labels.
    features : sequence, optional
        Names of the features. By default those of the first sample; others in later samples are ignored.
    missing : float
        Value of a feature that a sample lacks.
    calibrate : bool
        Learn by which factor scores become probabilities (`bgsub.learners.calibration.OnlineTemperature`), from the
        scores before learning, at the cost of a microsecond per sample and, of more than two classes, of a score.
        False takes scores as they are, as river's own linear models do: right for a logistic loss only.

    Examples
    --------
    >>> from bgsub.learners import KernelPerceptron
    >>> model = RiverClassifier(KernelPerceptron(sigma=1.0), classes=["no", "yes"])
    >>> model.learn_one({"a": 0.0, "b": 1.0}, "yes")
    >>> model.predict_one({"b": 1.0, "a": 0.0})
    'yes'
    >>> model.predict_proba_one({"b": 1.0, "a": 0.0})["yes"] > 0.5
    True
    """

    def __init__(
        self,
        learner: Any,
        classes: Sequence[Any] = (False, True),
        features: Any = None,
        missing: float = 0.0,
        calibrate: bool = False,
    ) -> None:
        self.classes = classes
        self.calibrate = calibrate
        self._set_up(learner, features, missing)
        self._labels: list[Any] = []
        self._scale = OnlineTemperature()

    @property
    def _multiclass(self) -> bool:
        return len(self.classes) > 2

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"learner": KernelPerceptron(sigma=1.0)}

    def _start(self, n_features: int) -> None:
        self._model.start(n_features, list(self.classes))
        self._labels = self._model.classes_.tolist()

    def learn_one(self, x: dict[Any, float], y: Any, w: float = 1.0) -> None:
        """Learn one sample of weight w, positive; the scale of probabilities counts each once."""
        row = self._row_to_learn(x) if self._names is None else self._row(x)
        if not self._labels:
            self._start(len(row))
        if not self.calibrate:
            self._model.learn_one(row, y, w)
        elif len(self._labels) == 2:
            self._scale.learn_two(self._model.learn_one(row, y, w), y == self._labels[1])
        else:
            scores = self._model.score_one(row)
            self._model.learn_one(row, y, w)
            self._scale.learn_many(scores, self._labels.index(y))

    def predict_one(self, x: dict[Any, float]) -> Any:  # type: ignore[override]
        """Return the class of one sample; None before the first one was learned."""
        if not self._labels:
            return None
        score = self._model.score_one(self._row(x))
        return self._labels[int(score > 0) if len(self._labels) == 2 else int(score.argmax())]

    def predict_proba_one(self, x: dict[Any, float]) -> dict[Any, float]:  # type: ignore[override]
        """Return the probability of each class; the same for all before the first sample was learned."""
        if not self._labels:
            return dict.fromkeys(self.classes, 1 / len(self.classes))
        score = self._model.score_one(self._row(x))
        if len(self._labels) > 2:
            return dict(zip(self._labels, self._scale.probabilities(score).tolist(), strict=True))
        second = self._scale.probability(score)
        return {self._labels[0]: 1 - second, self._labels[1]: second}

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:  # noqa: N803
        """Learn the rows of a data frame in order, in one compiled loop; the scale of probabilities stays.

        w is the weight of all rows, or a series of theirs; rows of weight 0 are left out.
        """
        rows = self._rows_to_learn(X)
        if not self._labels:
            self._start(rows.shape[1])
        self._model.partial_fit(rows, np.asarray(y), sample_weight=_weights(w))

    def predict_proba_many(self, X: Any) -> Any:  # noqa: N803
        """Return the probability of each class, a column each, for the rows of a data frame."""
        if not self._labels:
            return type(X)(1 / len(self.classes), index=X.index, columns=list(self.classes))
        scores = self._model.decision_function(self._rows(X))
        if len(self._labels) == 2:
            second = np.array([self._scale.probability(score) for score in scores.tolist()], np.float64)
            table = np.column_stack([1 - second, second])
        else:
            table = self._scale.probabilities(scores)
        return type(X)(table, index=X.index, columns=self._labels)


class RiverRegressor(_Adapter, base.MiniBatchRegressor):  # type: ignore[misc]
    """A regressor of this package for river.

    Parameters
    ----------
    learner : regressor
        Any regressor that learns sample by sample. Without a width its kernel is for features of variance 1.
    features : sequence, optional
        Names of the features. By default those of the first sample; others in later samples are ignored.
    missing : float
        Value of a feature that a sample lacks.

    Examples
    --------
    >>> from bgsub.learners import OLKRegressor
    >>> model = RiverRegressor(OLKRegressor(width=1.0, eps=0.0))
    >>> model.learn_one({"a": 0.0}, 0.5)
    >>> round(model.predict_one({"a": 0.0}), 3)
    0.5
    """

    def __init__(self, learner: Any, features: Any = None, missing: float = 0.0) -> None:
        self._set_up(learner, features, missing)

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"learner": NORMARegressor(sigma=1.0, budget=100)}

    def learn_one(self, x: dict[Any, float], y: float, w: float = 1.0) -> None:
        """Learn one sample of weight w, positive."""
        self._model.learn_one(self._row_to_learn(x), float(y), w)

    def predict_one(self, x: dict[Any, float]) -> float:
        """Return the prediction for one sample; 0 before the first one was learned."""
        return float(self._model.score_one(self._row(x)))

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:  # noqa: N803
        """Learn the rows of a data frame in order, in one compiled loop.

        w is the weight of all rows, or a series of theirs; rows of weight 0 are left out.
        """
        self._model.partial_fit(self._rows_to_learn(X), np.asarray(y, np.float64), sample_weight=_weights(w))

    def predict_many(self, X: Any) -> Any:  # noqa: N803
        """Return the predictions for the rows of a data frame, as a series; 0 before the first one was learned."""
        values = self._model.predict(self._rows(X)) if self._model._started else np.zeros(len(X))
        return type(X.index.to_series())(values, index=X.index)


class RiverAnomalyDetector(_Adapter, AnomalyDetector):  # type: ignore[misc]
    """A novelty learner of this package for river.

    Parameters
    ----------
    learner : NoveltyDetector
        Any novelty learner. Without a width its kernel is for features of variance 1.
    features : sequence, optional
        Names of the features. By default those of the first sample; others in later samples are ignored.
    missing : float
        Value of a feature that a sample lacks.

    Examples
    --------
    >>> from bgsub.learners import OLKNovelty
    >>> model = RiverAnomalyDetector(OLKNovelty(width=1.0))
    >>> for _ in range(50):
    ...     model.learn_one({"a": 0.0})
    >>> model.score_one({"a": 9.0}) > 0 > model.score_one({"a": 0.0})
    True
    """

    learner: NoveltyDetector

    def __init__(self, learner: NoveltyDetector, features: Any = None, missing: float = 0.0) -> None:
        self._set_up(learner, features, missing)

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"learner": NORMANovelty(sigma=1.0)}

    def learn_one(self, x: dict[Any, float], w: float = 1.0) -> None:
        """Learn one sample of weight w, positive."""
        self._model.learn_one(self._row_to_learn(x), sample_weight=w)

    def learn_many(self, X: Any, w: Any = 1.0) -> None:  # noqa: N803
        """Learn the rows of a data frame in order, in one compiled loop.

        w is the weight of all rows, or a series of theirs; rows of weight 0 are left out.
        """
        self._model.partial_fit(self._rows_to_learn(X), sample_weight=_weights(w))

    def score_one(self, x: dict[Any, float]) -> float:
        """Return how far one sample is below the threshold, positive where it is novel; changes nothing."""
        return -float(self._model.score_one(self._row(x)))
