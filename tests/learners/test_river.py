"""The adapter to river, which is tested where river is installed."""

import doctest
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from bgsub.learners import (
    KernelPerceptron,
    LinearPAClassifier,
    LMSClassifier,
    NORMAClassifier,
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


class PlantedOutliers:
    """Stands for river's CreditCard, which is a download: one sample in forty is far from the others."""

    def take(self, count):
        rows = np.random.default_rng(0).normal(size=(count, 5))
        rows[::40] *= 4
        return [(dict(zip("abcde", row.tolist(), strict=True)), i % 40 == 0) for i, row in enumerate(rows)]


@pytest.mark.parametrize("name", ["RiverClassifier", "RiverRegressor", "RiverAnomalyDetector"])
def test_river_accepts(name, monkeypatch):
    kind = getattr(adapters(), name)
    from river import checks, datasets

    monkeypatch.setattr(datasets, "CreditCard", PlantedOutliers)
    done = set()
    for parameters in kind._unit_test_params():
        model = kind(**parameters)
        for check in checks.yield_checks(model):
            if check.__name__ not in model._unit_test_skips():
                check(model.clone())
                done.add(check.__name__)
    assert len(done) > 10
    assert ("check_roc_auc" in done) == (name == "RiverAnomalyDetector")


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


def rows_of(samples):
    return [{"a": float(a), "b": float(b)} for a, b in samples]


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("many", [False, True])
def test_the_most_probable_class_is_the_predicted_one(calibrate, many):
    module = adapters()
    samples, labels = rings(300)
    if many:
        labels = np.digitize(np.hypot(*samples.T), [0.8, 1.6])
    classes = np.unique(labels).tolist()
    model = module.RiverClassifier(ProjectronClassifier(sigma=0.6), classes=classes, calibrate=calibrate)
    assert model.predict_proba_one({"a": 0.0, "b": 0.0}) == dict.fromkeys(classes, 1 / len(classes))
    for row, y in zip(rows_of(samples), labels.tolist(), strict=True):
        probabilities = model.predict_proba_one(row)
        assert list(probabilities) == classes
        assert sum(probabilities.values()) == pytest.approx(1.0)
        assert model.predict_one(row) in (None, max(probabilities, key=probabilities.get))
        model.learn_one(row, y)


def test_calibrated_probabilities_have_the_smaller_log_loss():
    module = adapters()
    from river import metrics

    samples, labels = rings(3000, noise=0.2)
    losses = []
    for calibrate in (False, True):
        model, loss = (
            module.RiverClassifier(KernelPerceptron(sigma=0.4, eta=20.0), [-1, 1], calibrate=calibrate),
            metrics.LogLoss(),
        )
        for row, y in zip(rows_of(samples), labels.tolist(), strict=True):
            loss.update(y == 1, model.predict_proba_one(row)[1])
            model.learn_one(row, y)
        losses.append(loss.get())
    assert losses[1] < np.log(2) < losses[0]  # log 2 is what knowing nothing costs


def test_metrics_of_probabilities_and_ensembles_of_river_work():
    module = adapters()
    from river import ensemble, evaluate, metrics

    samples, labels = rings(500)
    stream = list(zip(rows_of(samples), (labels == 1).tolist(), strict=True))
    area = evaluate.progressive_val_score(stream, module.RiverClassifier(NORMAClassifier(sigma=0.6)), metrics.ROCAUC())
    assert area.get() > 0.8
    bag = ensemble.BaggingClassifier(module.RiverClassifier(NORMAClassifier(sigma=0.6)), n_models=3, seed=0)
    assert evaluate.progressive_val_score(stream, bag, metrics.Accuracy()).get() > 0.75


def test_data_frames_are_learned_as_their_rows_one_by_one():
    module, frame = adapters(), pytest.importorskip("pandas").DataFrame
    samples, labels = rings(200)
    table = frame({"b": samples[:, 1], "c": 0.0, "a": samples[:, 0]}, index=range(7, 207))
    one, many = (module.RiverClassifier(KernelPerceptron(sigma=0.6), [-1, 1], features=["a", "b"]) for _ in range(2))
    assert many.predict_proba_many(table).to_numpy().tolist() == [[0.5, 0.5]] * 200
    for start in (0, 60):
        part = slice(start, start + 60)
        many.learn_many(table[part], table[part].index.to_series().map(dict(zip(table.index, labels, strict=True))))
    for row, y in zip(rows_of(samples[:120]), labels.tolist(), strict=False):
        one.learn_one(row, y)
    probabilities = many.predict_proba_many(table)
    assert probabilities.index.equals(table.index)
    assert probabilities.to_dict("records") == [one.predict_proba_one(row) for row in rows_of(samples)]
    assert many.predict_many(table).tolist() == [one.predict_one(row) for row in rows_of(samples)]

    single, bulk = (module.RiverRegressor(NORMARegressor(sigma=0.6)) for _ in range(2))
    assert bulk.predict_many(table[["a", "b"]]).tolist() == [0.0] * 200
    bulk.learn_many(table[["a", "b"]], samples[:, 0])
    for row, x in zip(rows_of(samples), samples, strict=True):
        single.learn_one(row, x[0])
    assert bulk.predict_many(table[["a"]]).tolist() == [single.predict_one({"a": row["a"]}) for row in rows_of(samples)]

    alone, rows = (module.RiverAnomalyDetector(NORMANovelty(sigma=0.6)) for _ in range(2))
    rows.learn_many(table[["a", "b"]])
    for row in rows_of(samples):
        alone.learn_one(row)
    assert rows.score_one({"a": 1.0, "b": 2.0}) == alone.score_one({"a": 1.0, "b": 2.0})


def test_learners_without_a_width_learn_from_a_stream():
    module = adapters()
    samples, labels = rings(300)
    for learner, target in ((KernelPerceptron(), labels == 1), (LinearPAClassifier(), samples[:, 0] > 0.3)):
        model = module.RiverClassifier(learner)
        right = 0
        for row, y in zip(rows_of(samples), target.tolist(), strict=True):
            right += model.predict_one(row) == y
            model.learn_one(row, y)
        assert right > 220


def weighted_pairs(module):
    """Return a learner, an adapter of it, and targets, for all kinds."""
    samples, labels = rings(120)
    return samples, [
        (NORMAClassifier(sigma=0.6), lambda m: module.RiverClassifier(m, [-1, 1]), labels),
        (NORMAClassifier(sigma=0.6), lambda m: module.RiverClassifier(m, [-1, 1], calibrate=True), labels),
        (KernelPerceptron(sigma=0.6), lambda m: module.RiverClassifier(m, [-1, 0, 1], calibrate=True), labels),
        (NORMARegressor(sigma=0.6), module.RiverRegressor, samples[:, 0]),
        (NORMANovelty(sigma=0.6), module.RiverAnomalyDetector, None),
    ]


WEIGHTS = np.random.default_rng(1).uniform(0.1, 3.0, 120)


def test_weights_of_single_samples_reach_the_learner():
    samples, pairs = weighted_pairs(adapters())
    for learner, adapt, target in pairs:
        plain, model = clone(learner), adapt(learner)
        if target is not None and hasattr(model, "classes"):
            plain.start(2, model.classes)
        for i, row in enumerate(rows_of(samples)):
            given = () if target is None else (target[i].item(),)
            model.learn_one(row, *given, w=WEIGHTS[i])
            plain.learn_one(samples[i], *given, sample_weight=WEIGHTS[i])
        np.testing.assert_array_equal(model._model.expansion_.values(samples), plain.expansion_.values(samples))
        with pytest.raises(ValueError, match="sample_weight must be positive"):
            model.learn_one({"a": 0.0, "b": 0.0}, *given, w=0.0)


def test_weights_of_data_frames_are_those_of_their_rows():
    module, frame = adapters(), pytest.importorskip("pandas").DataFrame
    samples, pairs = weighted_pairs(module)
    table = frame(samples, columns=["a", "b"])
    for learner, adapt, target in pairs:
        for weights in (table["a"] * 0 + WEIGHTS, 2.0):
            single, bulk = adapt(learner), adapt(learner)
            for i, row in enumerate(rows_of(samples)):
                given = () if target is None else (target[i].item(),)
                single.learn_one(row, *given, w=weights if np.isscalar(weights) else weights[i])
            bulk.learn_many(table, *(() if target is None else (target,)), w=weights)
            first, second = (model._model.expansion_.values(samples) for model in (single, bulk))
            np.testing.assert_array_equal(first, second)
