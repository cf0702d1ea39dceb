"""The file of `export`, read by the reader of docs/learners.md, which knows nothing of this package."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from bgsub.errors import ModelFileError
from bgsub.learners import (
    KernelPerceptron,
    Linear,
    LinearALMAClassifier,
    Normalised,
    NORMANovelty,
    OBPMClassifier,
    OLKNovelty,
    PassiveAggressiveKernel,
    Polynomial,
    export,
)
from bgsub.learners._base.kernel_learner import KernelLearner
from tests.learners.every import EVERY, MANY_CLASSES, fitted

MORE = [
    PassiveAggressiveKernel(kernel="laplacian"),
    PassiveAggressiveKernel(kernel="linear", budget=30),
    OLKNovelty(sigma=0.5, rho_rule="kkt"),
    OLKNovelty(sigma=0.5, rho_rule="fixed", score_on="f"),
]


def portable(model):
    kernel = getattr(model, "kernel", None)
    linear = isinstance(model, OBPMClassifier) and kernel == "linear"
    return isinstance(model, KernelLearner) and not isinstance(kernel, Normalised) and not linear


@pytest.fixture(scope="module")
def decide():
    """Return the function of the documentation."""
    page = (Path(__file__).parents[2] / "docs" / "learners.md").read_text(encoding="utf-8")
    text = re.search(r"^def decide\(.*?(?=^\S)", page, re.DOTALL | re.MULTILINE)[0]
    assert text.count("\n") <= 12
    namespace = {"np": np}
    exec(text, namespace)  # noqa: S102 - the documentation's own
    return namespace["decide"]


@pytest.mark.parametrize("many", [False, True], ids=["two", "many"])
def test_the_reader_of_the_documentation_decides_as_the_learner(decide, many, tmp_path):
    models = [model for model in (MANY_CLASSES if many else [*EVERY, *MORE]) if portable(model)]
    assert len(models) > (7 if many else 25)
    for model in models:
        learned, samples = fitted(model, many)
        export(learned, tmp_path / "model.npz")
        values = decide(tmp_path / "model.npz", samples)
        expected = (learned.decision_function if hasattr(learned, "decision_function") else learned.predict)(samples)
        # What is stored in single precision is compared with samples in single precision, by the learner alone.
        near = 1e-5 if getattr(learned, "dtype", "") == "float32" else 1e-9
        size = np.abs(expected).max()
        np.testing.assert_allclose(values.reshape(expected.shape), expected, atol=near * size, err_msg=repr(model))
        with np.load(tmp_path / "model.npz") as arrays:
            if many:
                assert arrays["classes"].tolist() == [0, 1, 2]
                assert (arrays["classes"][values.argmax(axis=1)] == learned.predict(samples)).all()
            assert all(arrays[name].dtype == np.float64 for name in ("support_vectors", "dual_coef", "intercept"))


def test_what_cannot_be_exported_is_said(tmp_path):
    samples, labels = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    path = tmp_path / "model.npz"
    for model, message in (
        (KernelPerceptron(), "model must be a learner with support vectors that has learned"),
        (LinearALMAClassifier().fit(samples, labels), "model must be a learner with support vectors"),
        (OBPMClassifier(n_members=3).fit(samples, labels), "model must be a learner with support vectors"),
        ("text", "model must be a learner with support vectors"),
        (KernelPerceptron(kernel=Normalised(Polynomial())).fit(samples, labels), "kernel must be Gaussian, Laplacian"),
        (KernelPerceptron(kernel=lambda a, b: float(a @ b)).fit(samples, labels), "kernel must be Gaussian, Laplacian"),
        (OLKNovelty(kernel=Linear(), rho_rule="published").fit(samples), "rho_rule must not be 'published'"),
    ):
        with pytest.raises(ValueError, match=message):
            export(model, path)
        assert not path.exists()
    with pytest.raises(ModelFileError, match="nowhere"):
        export(clone(NORMANovelty(sigma=1.0)).fit(samples), tmp_path / "nowhere" / "model.npz")
