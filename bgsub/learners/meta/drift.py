"""A learner that starts again, or fades, where a drift detector finds that its errors have changed."""

from typing import Any

from sklearn.base import BaseEstimator, clone

from bgsub.learners._base.classifier import OnlineClassifier
from bgsub.learners._base.learner import OnlineLearner
from bgsub.learners._base.novelty import NoveltyDetector
from bgsub.learners._checks import check_real
from bgsub.learners.hypotheses.kernels import Array

__all__ = ["DriftAware"]


class DriftAware(BaseEstimator):  # type: ignore[misc]
    """A learner of single samples that reacts to drift.

    After each sample the detector gets its loss before it was learned: 1 or 0 of a classifier, for wrong or right; the
    size of the error of a regressor; 1 or 0 of a novelty detector, for novel or usual. Where the detector then reports
    drift, the learner forgets everything and learns the latest sample again (`keep` 0), or multiplies its coefficients
    by `keep`, so that what comes weighs more than what was. Detectors of river start again by themselves.

    Parameters
    ----------
    learner : learner
        Any of this package that learns sample by sample; it is copied.
    detector : object
        With a method `update(loss)` and an attribute `drift_detected`, such as `river.drift.ADWIN()`,
        `river.drift.PageHinkley()` or, of classifiers, `river.drift.binary.DDM()`. It is used as it is.
    keep : float
        By what coefficients are multiplied at a drift, in [0, 1). Above 0, the learner must have `fade`.

    Attributes
    ----------
    learner_ : learner
        The copy that learns.
    t_ : int
        Number of samples learned.
    drifts_ : list of int
        Numbers of the samples, from 1, at which drift was reported.

    Raises
    ------
    ValueError
        From `learn_one` where `keep` is out of range or the learner cannot fade.

    Examples
    --------
    Page's test on the mean of the losses, as an example of a detector.

    >>> import numpy as np
    >>> class PageTest:
    ...     total = lowest = 0.0
    ...     drift_detected = False
    ...     def update(self, loss):
    ...         self.total += loss - 0.3
    ...         self.lowest = min(self.lowest, self.total)
    ...         self.drift_detected = self.total - self.lowest > 5
    ...         if self.drift_detected:
    ...             self.total = self.lowest = 0.0
    >>> from bgsub.learners import KernelPerceptron
    >>> model, rng = DriftAware(KernelPerceptron(sigma=1.0), PageTest()), np.random.default_rng(0)
    >>> for t in range(400):
    ...     x = rng.normal(size=2)
    ...     model.learn_one(x, 1 if (x[0] > 0) == (t < 200) else -1)    # the classes change places
    >>> model.drifts_
    [220]
    """

    def __init__(self, learner: Any, detector: Any, *, keep: float = 0.0) -> None:
        self.learner = learner
        self.detector = detector
        self.keep = keep

    def start(self, n_features: int, classes: Any) -> "DriftAware":
        """Forget everything and name the classes, for a classifier with others than -1 and +1.

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
        self._begin()
        self.learner_.start(n_features, classes)
        return self

    def _begin(self) -> None:
        check_real("keep", self.keep, "be in [0, 1)", least=0, below=1)
        if not (isinstance(self.learner, OnlineLearner) and hasattr(self.learner, "learn_one")):
            raise ValueError(f"learner must be one of bgsub.learners that has learn_one, got {self.learner!r}")
        if self.keep:
            self.learner.check_fades()
        self.learner_: Any = clone(self.learner)
        self.t_ = 0
        self.drifts_: list[int] = []

    def learn_one(self, x: Array, y: Any = None, sample_weight: float = 1.0) -> None:
        """Learn one sample, and look whether the errors have changed.

        Parameters
        ----------
        x : (d,) array
            One sample.
        y : label or float
            Its class or target; nothing for novelty detectors.
        sample_weight : float
            Its weight, positive; its loss counts once.

        Raises
        ------
        ValueError
            If x is not finite or of another length, y not known or the weight not positive (nothing is learned), or a
            parameter is wrong at the first sample.
        """
        if not hasattr(self, "learner_"):
            self._begin()
        self.detector.update(self._learn(x, y, sample_weight))
        self.t_ += 1
        if self.detector.drift_detected:
            self.drifts_.append(self.t_)
            if self.keep:
                self.learner_.fade(self.keep)
            else:
                self.learner_.restart()
                self._learn(x, y, sample_weight)

    def _learn(self, x: Array, y: Any, sample_weight: float) -> float:
        """Learn a sample; return its loss before."""
        model = self.learner_
        if isinstance(model, NoveltyDetector):
            return float(model.learn_one(x, sample_weight=sample_weight))
        if not isinstance(model, OnlineClassifier):
            return abs(float(y) - float(model.learn_one(x, y, sample_weight)))
        before = model.n_mistakes_ if hasattr(model, "n_mistakes_") else 0
        model.learn_one(x, y, sample_weight)
        return float(model.n_mistakes_ - before)

    def score_one(self, x: Array) -> Any:
        """Return the score of one sample (d,), as the learner does; 0 before the first one was learned."""
        return self.learner_.score_one(x) if hasattr(self, "learner_") else 0.0

    def predict_one(self, x: Array) -> Any:
        """Return the class or the prediction of one sample (d,)."""
        return self._known().predict_one(x)

    def predict(self, X: Array) -> Array:  # noqa: N803
        """Return classes or predictions of the rows of X (n, d)."""
        result: Array = self._known().predict(X)
        return result

    def _known(self) -> Any:
        return self.learner_ if hasattr(self, "learner_") else self.learner
