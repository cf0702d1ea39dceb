"""Learners that start again, or fade, where a detector reports drift."""

import numpy as np
import pytest
from sklearn.base import clone

from bgsub.learners import (
    ALMAClassifier,
    DriftAware,
    KernelPerceptron,
    KRLSRegressor,
    LSSVMRegressor,
    NORMANovelty,
    NORMARegressor,
    OLKNovelty,
    PassiveAggressiveKernel,
    QKLMSRegressor,
)
from tests.learners.every import EVERY, MANY_CLASSES, task_of
from tests.learners.known import rings


class Script:
    """Reports drift at samples that are known beforehand, and notes the losses."""

    def __init__(self, *times):
        self.times, self.losses, self.drift_detected = times, [], False

    def update(self, loss):
        self.losses.append(loss)
        self.drift_detected = len(self.losses) in self.times


@pytest.mark.compiled
@pytest.mark.parametrize("keep", [0.0, 0.25])
def test_a_perceptron_fades_or_starts_again_as_a_plain_loop(keep):
    samples, labels = rings(120)
    detector = Script(40, 90)
    model = DriftAware(KernelPerceptron(sigma=0.5), detector, keep=keep)
    kept, coefficients, losses = np.empty((0, 2)), np.empty(0), []
    for t, (x, y) in enumerate(zip(samples, labels.tolist(), strict=True), 1):
        model.learn_one(x, y)
        for attempt in range(2):
            f = coefficients @ np.exp(-((kept - x) ** 2).sum(axis=1) / 0.5)
            if attempt == 0:
                losses.append(float(y * f <= 0))
            if y * f <= 0:
                kept, coefficients = np.vstack([kept, x]), np.append(coefficients, y)
            if t not in (40, 90) or attempt:
                break
            if keep:
                coefficients = coefficients * keep
                break
            kept, coefficients = np.empty((0, 2)), np.empty(0)
        np.testing.assert_allclose(model.learner_.dual_coef_[0], coefficients)
    np.testing.assert_allclose(model.learner_.support_vectors_, kept)
    assert (detector.losses, model.drifts_, model.t_) == (losses, [40, 90], 120)
    assert model.predict(samples).tolist() == [model.predict_one(x) for x in samples]
    assert model.score_one(samples[0]) == model.learner_.score_one(samples[0])


def test_losses_are_errors_of_regressors_and_flags_of_detectors():
    samples = rings(60)[0]
    for learner, targets in ((NORMARegressor(sigma=0.5), samples[:, 0]), (OLKNovelty(sigma=0.5), None)):
        plain, detector = clone(learner), Script()
        model = DriftAware(learner, detector)
        assert model.score_one(samples[0]) == 0.0
        expected = []
        for t, x in enumerate(samples):
            if targets is None:
                expected.append(float(plain.learn_one(x)))
                model.learn_one(x)
            else:
                expected.append(abs(targets[t] - plain.learn_one(x, targets[t])))
                model.learn_one(x, targets[t])
        assert detector.losses == expected
        assert model.drifts_ == []


def test_a_detector_of_river_finds_classes_that_change_places():
    river = pytest.importorskip("river.drift")
    samples, _ = rings(2000)
    labels = np.where((np.arange(2000) < 1000) == (samples[:, 0] > 0), "left", "right").tolist()
    mistakes = {}
    for name, model in (
        ("restart", DriftAware(PassiveAggressiveKernel(sigma=1.0, C=0.1), river.ADWIN())),
        ("fade", DriftAware(PassiveAggressiveKernel(sigma=1.0, C=0.1), river.ADWIN(), keep=0.01)),
    ):
        model.start(2, ["left", "right"])
        plain = clone(model.learner).start(2, ["left", "right"])
        wrong = np.zeros((2, 2000), bool)
        for t, (x, y) in enumerate(zip(samples, labels, strict=True)):
            wrong[:, t] = t > 0 and model.predict_one(x) != y, t > 0 and plain.predict_one(x) != y
            model.learn_one(x, y)
            plain.learn_one(x, y)
        assert [1000 < t < 1200 for t in model.drifts_] == [True]
        mistakes[name] = wrong[:, 1000:].sum(axis=1)
        assert mistakes[name][0] < 0.5 * mistakes[name][1]  # 66 and 65 of 200, most before the detector is sure


ONLINE = [(model, False) for model in EVERY if hasattr(model, "learn_one")] + [(model, True) for model in MANY_CLASSES]


@pytest.mark.compiled
@pytest.mark.parametrize(
    "pair", [ONLINE[0], *(pytest.param(pair, marks=pytest.mark.slow) for pair in ONLINE[1:])], ids=repr
)
def test_every_learner_starts_again_as_if_new(pair):
    """With the kernel that was resolved, which does not depend on later data."""
    model, many = pair
    samples, targets = task_of(model, 80, many)
    given = (samples,) if targets is None else (samples, targets)
    first = clone(model).fit(*given)
    expected = first.predict(samples)
    again = first.restart().partial_fit(*given)
    np.testing.assert_array_equal(again.predict(samples), expected)
    assert again.t_ == 80


def test_a_width_that_came_from_the_first_data_stays():
    samples, labels = rings(50)
    model = KernelPerceptron().fit(10 * samples, labels)
    gamma = model.expansion_.kernel.gamma
    assert model.restart().expansion_.kernel.gamma == gamma
    assert model.n_support_ == 0
    assert model.learn_one(samples[0], int(labels[0])) == 0.0


@pytest.mark.compiled
def test_fading_alma_keeps_its_norm():
    samples, labels = rings(100)
    model = ALMAClassifier(sigma=0.5).fit(samples, labels)
    model.fade(0.3)
    a, vectors = model.dual_coef_[0], model.support_vectors_
    gram = np.exp(-((vectors[:, None] - vectors) ** 2).sum(axis=2) / 0.5)
    assert model.norm2_ == pytest.approx(a @ gram @ a, rel=1e-9)


def test_wrong_arguments_are_named_before_anything_is_learned():
    x = np.zeros(2)
    for learner, keep, message in (
        (KernelPerceptron(), 1.0, r"keep must be in \[0, 1\), got 1.0"),
        (KRLSRegressor(), 0.5, "keep must be 0 for KRLSRegressor, whose coefficients cannot fade"),
        (QKLMSRegressor(), 0.5, "keep must be 0 for QKLMSRegressor"),
        (PassiveAggressiveKernel(average=True), 0.5, "average must be False for coefficients to fade"),
        (LSSVMRegressor(), 0.0, "learner must be one of bgsub.learners that has learn_one"),
        ("text", 0.0, "learner must be one of bgsub.learners"),
    ):
        detector = Script()
        with pytest.raises(ValueError, match=message):
            DriftAware(learner, detector, keep=keep).learn_one(x, 1.0)
        assert detector.losses == []
    model = NORMANovelty(sigma=1.0).fit([[0.0], [1.0]])
    for keep in (0.0, 1.5, np.nan):
        with pytest.raises(ValueError, match=r"keep must be in \(0, 1\]"):
            model.fade(keep)
    with pytest.raises(ValueError, match="not fitted"):
        KernelPerceptron().restart()
