"""The learners that the page compares, for each kind of stream; no Qt."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bgsub.gui.learners_page.streams import Kind
from bgsub.learners import (
    ALMAClassifier,
    BankClassifier,
    BankRegressor,
    DriftAware,
    ForgetronClassifier,
    KernelPerceptron,
    KRLSRegressor,
    KRLSTRegressor,
    NORMAClassifier,
    NORMANovelty,
    NORMARegressor,
    OLKClassifier,
    OLKNovelty,
    OLKRegressor,
    PassiveAggressiveKernel,
    ProjectronClassifier,
    RBPClassifier,
    SVMDClassifier,
    SVMDNovelty,
    SVMDRegressor,
)

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True, slots=True)
class Method:
    """One learner to compare."""

    id: str
    label: str
    make: Callable[[float], Any]
    """Makes the learner for a width sigma of the Gaussian kernel."""


def _by_id(*methods: Method) -> dict[str, Method]:
    return {method.id: method for method in methods}


def _bank(learner: Any, sigma: float) -> dict[str, Any]:
    """Return learner, grid and discount of a bank: widths around sigma, judged by about the last 200 samples."""
    return {"learner": learner, "grid": {"sigma": [sigma / 4, sigma, 4 * sigma]}, "discount": 0.995}


def _drift_aware(sigma: float) -> DriftAware:
    detector = import_module("river.drift").ADWIN(delta=0.01)
    return DriftAware(PassiveAggressiveKernel(sigma=sigma, C=0.1, budget=200), detector)


METHODS: dict[Kind, dict[str, Method]] = {
    Kind.CLASSES: _by_id(
        Method("norma", "NORMA", lambda sigma: NORMAClassifier(sigma=sigma, eta=0.2, lam=0.05, budget=200)),
        Method("olk", "OLK", lambda sigma: OLKClassifier(sigma=sigma, r=0.01, budget=200)),
        Method("perceptron", "Perceptron", lambda sigma: KernelPerceptron(sigma=sigma, budget=200)),
        Method("pa-1", "PA-I", lambda sigma: PassiveAggressiveKernel(sigma=sigma, C=0.5, budget=200)),
        Method("projectron", "Projectron", lambda sigma: ProjectronClassifier(sigma=sigma)),
        Method("forgetron", "Forgetron", lambda sigma: ForgetronClassifier(sigma=sigma, budget=100)),
        Method("rbp", "RBP", lambda sigma: RBPClassifier(sigma=sigma, budget=100, random_state=0)),
        Method("alma", "ALMA", lambda sigma: ALMAClassifier(sigma=sigma, budget=200)),
        Method("svmd", "SVMD", lambda sigma: SVMDClassifier(sigma=sigma, lam=0.05, budget=200)),
        Method(
            "bank",
            "Bank of NORMA",
            lambda sigma: BankClassifier(**_bank(NORMAClassifier(eta=0.2, lam=0.05, budget=200), sigma)),
        ),
        *([Method("drift", "PA-I, ADWIN", _drift_aware)] if find_spec("river") else []),
    ),
    Kind.REGIONS: _by_id(
        Method("norma", "NORMA", lambda sigma: NORMAClassifier(sigma=sigma, eta=0.2, lam=0.05, budget=200)),
        Method("olk", "OLK", lambda sigma: OLKClassifier(sigma=sigma, r=0.01, budget=200)),
        Method("alma", "ALMA", lambda sigma: ALMAClassifier(sigma=sigma, budget=200)),
        Method("perceptron", "Perceptron", lambda sigma: KernelPerceptron(sigma=sigma, budget=200)),
        Method("projectron", "Projectron", lambda sigma: ProjectronClassifier(sigma=sigma)),
        Method("svmd", "SVMD", lambda sigma: SVMDClassifier(sigma=sigma, lam=0.05, budget=200)),
    ),
    Kind.NOVELTY: _by_id(
        Method("norma", "NORMA", lambda sigma: NORMANovelty(sigma=sigma, nu=0.07, budget=300)),
        Method("olk-n", "OLK_N", lambda sigma: OLKNovelty(sigma=sigma, nu=0.07, r=0.004, budget=300)),
        Method("svmd", "SVMD", lambda sigma: SVMDNovelty(sigma=sigma, nu=0.07, budget=300)),
    ),
    Kind.REGRESSION: _by_id(
        Method("norma", "NORMA", lambda sigma: NORMARegressor(sigma=sigma, eta=0.3, lam=0.01, budget=200)),
        Method(
            "norma-huber",
            "NORMA, Huber",
            lambda sigma: NORMARegressor(sigma=sigma, loss="huber", eta=0.1, delta=0.4, lam=0.02, budget=200),
        ),
        Method("olk", "OLK", lambda sigma: OLKRegressor(sigma=sigma, C=0.2, r=0.004, budget=200)),
        Method("krls", "KRLS", lambda sigma: KRLSRegressor(sigma=sigma, nu=0.01)),
        Method("krls-t", "KRLS-T", lambda sigma: KRLSTRegressor(sigma=sigma, lam=0.999, noise=0.1, budget=60)),
        Method("svmd", "SVMD", lambda sigma: SVMDRegressor(sigma=sigma, lam=0.02, budget=200)),
        Method(
            "bank",
            "Bank of NORMA",
            lambda sigma: BankRegressor(**_bank(NORMARegressor(eta=0.3, lam=0.01, budget=200), sigma)),
        ),
    ),
}
"""Methods for each kind of stream, by id."""
