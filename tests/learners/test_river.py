"""The adapter to river, which is tested where river is installed."""

import doctest
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from bgsub.learners import (
    KernelPerceptron,
    LMSClassifier,
    NORMANovelty,
    NORMARegressor,
    OBPMClassifier,
    ProjectronClassifier,
    SVMDClassifier,
    SVMDNovelty,
    SVMDRegressor,
)
from tests.learners.known import rings


def adapters():
    pytest.importorskip("river")
    from bgsub.learners import river as module

    return module


def test_without_river_the_import_says_what_to_install():
    code = "import sys; sys.modules['river'] = None; import bgsub.learners.river"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = run.stderr.splitlines()[-1]
    assert last.startswith("bgsub.errors.DependencyError: bgsub.learners.river needs river")
    assert last.endswith("run: pip install river")


def test_examples():
    assert doctest.testmod(adapters()).failed == 0


@pytest.mark.parametrize("name", ["RiverClassifier", "RiverRegressor", "RiverAnomalyDetector"])
def test_river_accepts(name, monkeypatch):
    kind = getattr(adapters(), name)
    from river import checks, datasets

    monkeypatch.setattr(
        datasets, "CreditCard", datasets.Phishing
    )  # the former is a download, the latter in the package
    for parameters in kind._unit_test_params():
        model = kind(**parameters)
        for check in checks.yield_checks(model):
            if check.__name__ in {*model._unit_test_skips(), "check_roc_auc"}:  # Phishing has no outliers
                continue
            check(model.clone())


def test_classifier_is_the_learner_whatever_the_order_of_the_features():
    module = adapters()
    samples, labels = rings(200)
    plain = KernelPerceptron(sigma=0.6)
    model = module.RiverClassifier(KernelPerceptron(sigma=0.6), classes=[-1, 1])
    assert model.predict_one({"a": 0.0}) is None
    for i, (x, y) in enumerate(zip(samples, labels, strict=True)):
        row = {"a": x[0], "b": x[1]} if i % 2 else {"b": x[1], "a": x[0]}
        if i:
            assert model.predict_one(row) == plain.predict_one(x)
        model.learn_one(row, int(y))
        plain.learn_one(x, int(y))
    assert isinstance(model.predict_one({"a": 0.0}), int)
    assert model.predict_one({"a": 0.3}) == plain.predict_one(np.array([0.3, 0.0]))
    assert model.predict_one({"a": 0.3, "c": 5.0}) == model.predict_one({"a": 0.3})
    assert not hasattr(model.learner, "expansion_")
    assert model.clone().predict_one({"a": 0.0}) is None


def test_several_classes():
    module = adapters()
    samples, _ = rings(200)
    names = np.array(["near", "middle", "far"])
    labels = names[np.digitize(np.hypot(*samples.T), [0.8, 1.6])]
    model = module.RiverClassifier(ProjectronClassifier(sigma=0.6), classes=sorted(names))
    for x, y in zip(samples, labels, strict=True):
        model.learn_one({0: x[0], 1: x[1]}, str(y))
    assert model._multiclass
    assert np.mean([model.predict_one({0: x[0], 1: x[1]}) == y for x, y in zip(samples, labels, strict=True)]) > 0.8


@pytest.mark.parametrize(
    "learner", [SVMDClassifier(sigma=0.6), OBPMClassifier(n_members=5, random_state=0), LMSClassifier()], ids=repr
)
def test_learners_of_all_kinds_are_wrapped(learner):
    module = adapters()
    samples, labels = rings(100)
    plain, model = clone(learner), module.RiverClassifier(learner, classes=[-1, 1])
    assert model.predict_one({"a": 0.0}) is None
    for x, y in zip(samples, labels.tolist(), strict=True):
        model.learn_one({"a": x[0], "b": x[1]}, y)
        plain.learn_one(x, y)
        assert model.predict_one({"b": x[1], "a": x[0]}) == plain.predict_one(x)


@pytest.mark.parametrize("kinds", [(NORMARegressor, NORMANovelty), (SVMDRegressor, SVMDNovelty)])
def test_regressor_and_detector_are_the_learners(kinds):
    module = adapters()
    samples, labels = rings(100)
    plain, regressor = kinds[0](sigma=0.6), module.RiverRegressor(kinds[0](sigma=0.6))
    novelty, detector = kinds[1](sigma=0.6), module.RiverAnomalyDetector(kinds[1](sigma=0.6))
    for x, y in zip(samples, labels, strict=True):
        row = {"a": x[0], "b": x[1]}
        assert regressor.predict_one(row) == plain.score_one(x)
        assert detector.score_one(row) == detector.score_one(row) == -novelty.score_one(x)
        regressor.learn_one(row, float(y))
        plain.learn_one(x, float(y))
        detector.learn_one(row)
        novelty.learn_one(x)
