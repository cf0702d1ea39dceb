"""One of each learner, and of each setting that takes another way through the code."""

import numpy as np

from bgsub import learners as bl
from bgsub.learners._base.learner import OnlineLearner
from tests.learners.known import rings

EVERY = [
    bl.KernelPerceptron(sigma=0.5),
    bl.KernelPerceptron(sigma=0.5, average=True, dtype="float32"),
    bl.KernelPerceptron(kernel="polynomial"),
    bl.KernelPerceptron(kernel=bl.Normalised(bl.Laplacian(gamma=2.0))),
    bl.PassiveAggressiveKernel(sigma=0.5),
    bl.RBPClassifier(sigma=0.5, budget=50, random_state=0),
    bl.ForgetronClassifier(sigma=0.5, budget=50),
    bl.ALMAClassifier(sigma=0.5),
    bl.ProjectronClassifier(sigma=0.5),
    bl.NORMAClassifier(sigma=0.5, offset=True),
    bl.OLKClassifier(sigma=0.5),
    bl.SVMDClassifier(sigma=0.5),
    bl.SVMDClassifier(sigma=0.5, loss="logistic", offset=True, average=True),
    bl.OBPMClassifier(n_members=7, random_state=0),
    bl.OBPMClassifier(n_members=7, kernel=bl.Gaussian(sigma=0.5), random_state=0),
    bl.Perceptron(),
    bl.LinearALMAClassifier(),
    bl.LinearPAClassifier(),
    bl.LMSClassifier(),
    bl.LSSVMClassifier(sigma=0.5),
    bl.NORMARegressor(sigma=0.5),
    bl.OLKRegressor(sigma=0.5),
    bl.KRLSRegressor(sigma=0.5),
    bl.QKLMSRegressor(sigma=0.5),
    bl.KAPARegressor(sigma=0.5),
    bl.KAPARegressor(sigma=0.5, order=4),
    bl.KRLSTRegressor(sigma=0.5, budget=40),
    bl.SVMDRegressor(sigma=0.5),
    bl.LSSVMRegressor(sigma=0.5),
    bl.NORMANovelty(sigma=0.5),
    bl.OLKNovelty(sigma=0.5),
    bl.OLKNovelty(sigma=0.5, rho_rule="published"),
    bl.SVMDNovelty(sigma=0.5),
]

MANY_CLASSES = [
    bl.KernelPerceptron(sigma=0.5),
    bl.PassiveAggressiveKernel(sigma=0.5, average=True),
    bl.RBPClassifier(sigma=0.5, budget=50, random_state=0),
    bl.ProjectronClassifier(sigma=0.5, budget=50),
    bl.ALMAClassifier(sigma=0.5),
    bl.NORMAClassifier(sigma=0.5),
    bl.OLKClassifier(sigma=0.5, budget=50, evict="smallest"),
    bl.SVMDClassifier(sigma=0.5),
    bl.SVMDClassifier(
        sigma=0.5, taxonomy={0: "few", 1: "few", 2: "all", "few": "all"}, label_kernel="taxonomy", offset=True
    ),
]
"""Learners of three classes."""


def task_of(model, n=400, many=False):
    """Return samples, and what a learner of its kind learns of them: targets (n,), or None."""
    samples, labels = rings(n)
    if isinstance(model, bl.NORMANovelty | bl.OLKNovelty | bl.SVMDNovelty):
        return samples, None
    if many:
        return samples, np.digitize(np.hypot(*samples.T), [0.8, 1.6])
    return samples, labels if hasattr(model, "predict_one") and "Regressor" not in type(model).__name__ else samples[
        :, 0
    ]


def fitted(model, many=False):
    """Fit a copy of a learner; return it and the samples."""
    from sklearn.base import clone

    samples, targets = task_of(model, many=many)
    return clone(model).fit(samples, targets), samples


def kinds(base=OnlineLearner):
    """Return all public classes of learners."""
    found = {kind for kind in vars(bl).values() if isinstance(kind, type) and issubclass(kind, base)}
    return sorted(found, key=lambda kind: kind.__name__)
