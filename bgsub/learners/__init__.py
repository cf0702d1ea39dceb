"""Online kernel learners, one sample at a time, as scikit-learn estimators."""

from bgsub.learners.expansion import KernelExpansion
from bgsub.learners.kernels import CallableKernel, Gaussian, Kernel, Laplacian, Linear, Normalised, Polynomial
from bgsub.learners.norma import NORMANovelty
from bgsub.learners.olk import OLKNovelty

__all__ = [
    "CallableKernel",
    "Gaussian",
    "Kernel",
    "KernelExpansion",
    "Laplacian",
    "Linear",
    "NORMANovelty",
    "Normalised",
    "OLKNovelty",
    "Polynomial",
]
