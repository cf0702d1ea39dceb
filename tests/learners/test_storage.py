"""Saving and loading, one learner of every kind."""

import numpy as np
import pytest
from sklearn.base import clone

from bgsub.errors import ModelFileError
from bgsub.learners import (
    ALMAClassifier,
    ForgetronClassifier,
    Gaussian,
    KernelPerceptron,
    KRLSRegressor,
    LinearALMAClassifier,
    LMSClassifier,
    LSSVMClassifier,
    LSSVMRegressor,
    NORMAClassifier,
    Normalised,
    NORMANovelty,
    NORMARegressor,
    OBPMClassifier,
    OLKClassifier,
    OLKNovelty,
    OLKRegressor,
    PassiveAggressiveKernel,
    Perceptron,
    Polynomial,
    ProjectronClassifier,
    RBPClassifier,
    SVMDClassifier,
    SVMDNovelty,
    SVMDRegressor,
    load,
    save,
)
from tests.learners.known import rings

MODELS = [
    ALMAClassifier(average=True),
    ForgetronClassifier(budget=20),
    KernelPerceptron(budget=20),
    KRLSRegressor(),
    LSSVMClassifier(),
    LSSVMRegressor(),
    NORMAClassifier(nu=0.2, offset=True, average=True, lam=5.0),
    NORMANovelty(),
    NORMARegressor(loss="huber", nu=0.1),
    OLKClassifier(),
    OLKNovelty(budget=30),
    OLKRegressor(),
    PassiveAggressiveKernel(),
    ProjectronClassifier(margin="published", average=True),
    RBPClassifier(budget=10, random_state=3),
    SVMDClassifier(nu=0.2, offset=True, average=True, budget=20),
    SVMDNovelty(nu=0.2),
    SVMDRegressor(loss="huber", offset=True),
    OBPMClassifier(base="alma", random_state=3),
    OBPMClassifier(n_members=5, kernel="gaussian", budget=20, random_state=3),
    Perceptron(),
    LinearALMAClassifier(),
    LMSClassifier(),
]
TREE = {"near": "inside", "middle": "inside", "inside": "all", "far": "all", 0: 9, 1: 9, 9: 10, 2: 10, 10: "all"}
MANY = [
    KernelPerceptron(),
    PassiveAggressiveKernel(average=True),
    ProjectronClassifier(),
    RBPClassifier(budget=30),
    SVMDClassifier(taxonomy=TREE, label_kernel="taxonomy", budget=30, offset=True),
    SVMDClassifier(loss="logistic", label_kernel=np.eye(3)),
    SVMDClassifier(label_graph=[("near", "middle"), ["middle", "far", 2.0], (0, 1), (1, 2), ("near", 0)]),
]


def scores(model, samples):
    name = "decision_function" if hasattr(model, "decision_function") else "predict"
    return getattr(model, name)(samples)


def check_round_trip(model, samples, labels, path):
    model.fit(samples[:150], labels[:150])
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    np.testing.assert_array_equal(scores(model, samples), scores(again, samples))
    if hasattr(model, "partial_fit"):
        for learner in (model, again):
            learner.partial_fit(samples[150:], labels[150:])
    np.testing.assert_array_equal(scores(model, samples), scores(again, samples))
    assert (model.t_, model.n_violations_ if hasattr(model, "n_violations_") else 0) == (
        again.t_,
        again.n_violations_ if hasattr(again, "n_violations_") else 0,
    )
    assert repr(model.get_params()) == repr(again.get_params()) or "label_graph" in model.get_params()
    if hasattr(model, "kernel") and model.kernel != "linear":
        assert model.n_support_ == again.n_support_


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_loaded_learner_goes_on_with_the_same_bits(model, tmp_path):
    check_round_trip(clone(model), *rings(300), tmp_path / "model.npz")


@pytest.mark.parametrize("model", MANY, ids=repr)
@pytest.mark.parametrize("text", [False, True])
def test_several_classes_and_their_names_are_kept(model, text, tmp_path):
    samples, _ = rings(300)
    labels = np.digitize(np.hypot(*samples.T), [0.8, 1.6])
    names = np.array(["near", "middle", "far"], dtype=object)
    check_round_trip(clone(model), samples, names[labels] if text else labels, tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").predict_one(samples[0]) in (list(names) if text else [0, 1, 2])


def test_kernel_objects_of_numbers_are_kept(tmp_path):
    samples, labels = rings(60)
    model = KernelPerceptron(kernel=Normalised(Polynomial(degree=2))).fit(samples, labels)
    save(model, tmp_path / "model.npz")
    assert repr(load(tmp_path / "model.npz").kernel) == repr(model.kernel)


def test_what_cannot_be_saved_says_so(tmp_path):
    samples, labels = rings(60)
    with pytest.raises(ValueError, match="model must have learned something"):
        save(KernelPerceptron(), tmp_path / "model.npz")
    with pytest.raises(ValueError, match="kernel must be one that bgsub"):
        save(KernelPerceptron(kernel=lambda a, b: float(a @ b)).fit(samples, labels), tmp_path / "model.npz")
    model = RBPClassifier(kernel=Gaussian(gamma=1.0), budget=5, random_state=np.random.RandomState(0))
    with pytest.raises(ValueError, match="random_state must be a number"):
        save(model.fit(samples, labels), tmp_path / "model.npz")
    with pytest.raises(ModelFileError, match="cannot write the model"):
        save(KernelPerceptron().fit(samples, labels), tmp_path / "nowhere" / "model.npz")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_learner_are_refused(tmp_path):
    path = tmp_path / "model.npz"
    with pytest.raises(ModelFileError, match="no such file"):
        load(path)
    for content in (b"", b"text", b"PK\x05\x06" + b"\0" * 18):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="not a learner saved by bgsub"):
            load(path)
    save(KernelPerceptron().fit(*rings(60)), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelFileError, match="not a learner"):
        load(path)
    np.savez(path, bgsub_learner=np.int64(9), header=np.str_("{}"))
    with pytest.raises(ModelFileError, match="another version"):
        load(path)
