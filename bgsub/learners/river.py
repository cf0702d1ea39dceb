"""Learners as models of river, whose samples are dictionaries. Nothing else here needs river."""
# mypy: no-warn-unused-ignores

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from bgsub.errors import DependencyError
from bgsub.learners._base.novelty import NoveltyDetector
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
    """Dictionaries to rows: by name, in any order."""

    learner: Any
    features: Sequence[Any] | None
    missing: float

    def _set_up(self, learner: Any, features: Sequence[Any] | None, missing: float) -> None:
        self.learner = learner
        self.features = features
        self.missing = missing
        self._model = clone(learner)  # river clones the argument, which must stay unchanged
        self._names = None if features is None else list(features)

    def _row(self, x: dict[Any, float]) -> Array:
        names = self._names if self._names is not None else list(x)
        return np.array([x.get(name, self.missing) for name in names], np.float64)

    def _row_to_learn(self, x: dict[Any, float]) -> Array:
        if self._names is None:
            self._names = sorted(x, key=str)
        return self._row(x)


class RiverClassifier(_Adapter, base.Classifier):  # type: ignore[misc]
    """A classifier of this package for river.

    Parameters
    ----------
    learner : classifier
        Any classifier that learns sample by sample, with a given width: "scale" cannot be known from a stream.
    classes : sequence
        All labels.
    features : sequence, optional
        Names of the features. By default those of the first sample; others in later samples are ignored.
    missing : float
        Value of a feature that a sample lacks.

    Examples
    --------
    >>> from bgsub.learners import KernelPerceptron
    >>> model = RiverClassifier(KernelPerceptron(sigma=1.0), classes=["no", "yes"])
    >>> model.learn_one({"a": 0.0, "b": 1.0}, "yes")
    >>> model.predict_one({"b": 1.0, "a": 0.0})
    'yes'
    """

    def __init__(
        self, learner: Any, classes: Sequence[Any] = (False, True), features: Any = None, missing: float = 0.0
    ) -> None:
        self.classes = classes
        self._set_up(learner, features, missing)

    @property
    def _multiclass(self) -> bool:
        return len(self.classes) > 2

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"learner": KernelPerceptron(sigma=1.0)}

    def learn_one(self, x: dict[Any, float], y: Any) -> None:
        """Learn one sample."""
        row = self._row_to_learn(x)
        if not self._model._started:
            self._model.start(len(row), list(self.classes))
        self._model.learn_one(row, y)

    def predict_one(self, x: dict[Any, float]) -> Any:  # type: ignore[override]
        """Return the class of one sample; None before the first one was learned."""
        if not self._model._started:
            return None
        label = self._model.predict_one(self._row(x))
        return label.item() if isinstance(label, np.generic) else label


class RiverRegressor(_Adapter, base.Regressor):  # type: ignore[misc]
    """A regressor of this package for river.

    Parameters
    ----------
    learner : regressor
        Any regressor that learns sample by sample, with a given width.
    features, missing
        As in `RiverClassifier`.

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

    def learn_one(self, x: dict[Any, float], y: float) -> None:
        """Learn one sample."""
        self._model.learn_one(self._row_to_learn(x), float(y))

    def predict_one(self, x: dict[Any, float]) -> float:
        """Return the prediction for one sample; 0 before the first one was learned."""
        return float(self._model.score_one(self._row(x)))


class RiverAnomalyDetector(_Adapter, AnomalyDetector):  # type: ignore[misc]
    """A novelty learner of this package for river.

    Parameters
    ----------
    learner : NoveltyDetector
        With a given width.
    features, missing
        As in `RiverClassifier`.

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

    def learn_one(self, x: dict[Any, float]) -> None:
        """Learn one sample."""
        self._model.learn_one(self._row_to_learn(x))

    def score_one(self, x: dict[Any, float]) -> float:
        """Return how far one sample is below the threshold, positive where it is novel; changes nothing."""
        return -float(self._model.score_one(self._row(x)))
