"""Online kernel learners, one sample at a time, as scikit-learn estimators."""

from bgsub.learners.alma import ALMAClassifier
from bgsub.learners.expansion import KernelExpansion
from bgsub.learners.forgetron import ForgetronClassifier
from bgsub.learners.kernels import (
    CallableKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
)
from bgsub.learners.norma import NORMAClassifier, NORMANovelty
from bgsub.learners.olk import OLKClassifier, OLKNovelty
from bgsub.learners.perceptron import KernelPerceptron, PassiveAggressiveKernel, RBPClassifier
from bgsub.learners.projectron import ProjectronClassifier

__all__ = [
    "ALMAClassifier",
    "CallableKernel",
    "ForgetronClassifier",
    "Gaussian",
    "Kernel",
    "KernelExpansion",
    "KernelPerceptron",
    "Laplacian",
    "Linear",
    "NORMAClassifier",
    "NORMANovelty",
    "Normalised",
    "OLKClassifier",
    "OLKNovelty",
    "PassiveAggressiveKernel",
    "Polynomial",
    "Precomputed",
    "ProjectronClassifier",
    "RBPClassifier",
]
