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
from bgsub.learners.krls import KRLSRegressor
from bgsub.learners.lssvm import LSSVMClassifier, LSSVMRegressor
from bgsub.learners.norma import NORMAClassifier, NORMANovelty
from bgsub.learners.olk import OLKClassifier, OLKNovelty
from bgsub.learners.perceptron import KernelPerceptron, PassiveAggressiveKernel, RBPClassifier
from bgsub.learners.projectron import ProjectronClassifier
from bgsub.learners.regression import NORMARegressor, OLKRegressor
from bgsub.learners.storage import load, save

__all__ = [
    "ALMAClassifier",
    "CallableKernel",
    "ForgetronClassifier",
    "Gaussian",
    "KRLSRegressor",
    "Kernel",
    "KernelExpansion",
    "KernelPerceptron",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "Laplacian",
    "Linear",
    "NORMAClassifier",
    "NORMANovelty",
    "NORMARegressor",
    "Normalised",
    "OLKClassifier",
    "OLKNovelty",
    "OLKRegressor",
    "PassiveAggressiveKernel",
    "Polynomial",
    "Precomputed",
    "ProjectronClassifier",
    "RBPClassifier",
    "load",
    "save",
]
