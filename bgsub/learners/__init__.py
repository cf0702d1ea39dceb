"""Online kernel learners, one sample at a time, as scikit-learn estimators."""

from bgsub.learners._base import learner as _learner  # noqa: F401 - first, as it says what to install without scikit-learn
from bgsub.learners.filters.kapa import KAPARegressor
from bgsub.learners.filters.krls import KRLSRegressor
from bgsub.learners.filters.krls_t import KRLSTRegressor
from bgsub.learners.filters.qklms import QKLMSRegressor
from bgsub.learners.hypotheses.expansion import KernelExpansion
from bgsub.learners.hypotheses.kernels import (
    CallableKernel,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
)
from bgsub.learners.lssvm import LSSVMClassifier, LSSVMRegressor
from bgsub.learners.meta.bank import BankClassifier, BankRegressor
from bgsub.learners.meta.drift import DriftAware
from bgsub.learners.norma import NORMAClassifier, NORMANovelty
from bgsub.learners.norma_regressor import NORMARegressor
from bgsub.learners.obpm import OBPMClassifier
from bgsub.learners.olk import OLKClassifier, OLKNovelty, OLKRegressor
from bgsub.learners.perceptrons.alma import ALMAClassifier
from bgsub.learners.perceptrons.forgetron import ForgetronClassifier
from bgsub.learners.perceptrons.kernel_perceptron import KernelPerceptron, PassiveAggressiveKernel, RBPClassifier
from bgsub.learners.perceptrons.linear import LinearALMAClassifier, LinearPAClassifier, LMSClassifier, Perceptron
from bgsub.learners.perceptrons.projectron import ProjectronClassifier
from bgsub.learners.storage import export, load, save
from bgsub.learners.svmd import SVMDNovelty, SVMDRegressor
from bgsub.learners.svmd_classifier import SVMDClassifier

__all__ = [
    "ALMAClassifier",
    "BankClassifier",
    "BankRegressor",
    "CallableKernel",
    "DriftAware",
    "ForgetronClassifier",
    "Gaussian",
    "KAPARegressor",
    "KRLSRegressor",
    "KRLSTRegressor",
    "Kernel",
    "KernelExpansion",
    "KernelPerceptron",
    "LMSClassifier",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "Laplacian",
    "Linear",
    "LinearALMAClassifier",
    "LinearPAClassifier",
    "NORMAClassifier",
    "NORMANovelty",
    "NORMARegressor",
    "Normalised",
    "OBPMClassifier",
    "OLKClassifier",
    "OLKNovelty",
    "OLKRegressor",
    "PassiveAggressiveKernel",
    "Perceptron",
    "Polynomial",
    "Precomputed",
    "ProjectronClassifier",
    "QKLMSRegressor",
    "RBPClassifier",
    "SVMDClassifier",
    "SVMDNovelty",
    "SVMDRegressor",
    "export",
    "load",
    "save",
]
