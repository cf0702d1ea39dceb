"""Loss functions of a score and a target, with their derivatives with respect to the score."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from bgsub.learners.hypotheses.kernels import Array

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "Novelty",
    "Softmax",
    "Squared",
]


class Loss(ABC):
    """A convex loss; all methods take arrays of scores and targets that broadcast."""

    @abstractmethod
    def value(self, score: Array, target: Array) -> Array:
        """Return the loss."""

    @abstractmethod
    def gradient(self, score: Array, target: Array) -> Array:
        """Return the derivative with respect to the score; one of the subgradients at a kink."""


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, rho - y f) - nu rho for y = -1 or 1.

    Examples
    --------
    >>> float(Hinge().value(0.25, -1)), float(Hinge().gradient(0.25, -1))
    (1.25, 1.0)
    """

    rho: float = 1.0
    nu: float = 0.0

    def value(self, score: Array, target: Array) -> Array:  # noqa: D102
        return np.maximum(0.0, self.rho - np.multiply(target, score)) - self.nu * self.rho

    def gradient(self, score: Array, target: Array) -> Array:  # noqa: D102
        return -np.where(np.multiply(target, score) <= self.rho, target, 0.0)

    def gradient_rho(self, score: Array, target: Array) -> Array:
        """Return the derivative with respect to the margin; NORMA with nu descends along it."""
        return np.where(np.multiply(target, score) <= self.rho, 1.0, 0.0) - self.nu


@dataclass(frozen=True)
class Novelty(Loss):
    """max(0, rho - f) - nu rho; the target is not looked at."""

    rho: float = 1.0
    nu: float = 0.0

    def value(self, score: Array, target: Array = 0.0) -> Array:  # type: ignore[assignment]  # noqa: D102
        return np.maximum(0.0, self.rho - np.asarray(score)) - self.nu * self.rho

    def gradient(self, score: Array, target: Array = 0.0) -> Array:  # type: ignore[assignment]  # noqa: D102
        return np.where(np.asarray(score) < self.rho, -1.0, 0.0)


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y f)) for y = -1 or 1, without overflow."""

    def value(self, score: Array, target: Array) -> Array:  # noqa: D102
        result: Array = np.logaddexp(0.0, -np.multiply(target, score))
        return result

    def gradient(self, score: Array, target: Array) -> Array:  # noqa: D102
        margin = np.multiply(target, score)
        small = np.exp(-np.abs(margin))
        result: Array = -np.asarray(target) * np.where(margin > 0, small, 1.0) / (1 + small)
        return result


@dataclass(frozen=True)
class Squared(Loss):
    """(y - f)² / 2."""

    def value(self, score: Array, target: Array) -> Array:  # noqa: D102
        result: Array = np.square(np.subtract(target, score)) / 2
        return result

    def gradient(self, score: Array, target: Array) -> Array:  # noqa: D102
        return np.subtract(score, target)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(0, |y - f| - eps) + nu eps."""

    eps: float = 0.1
    nu: float = 0.0

    def value(self, score: Array, target: Array) -> Array:  # noqa: D102
        return np.maximum(0.0, np.abs(np.subtract(target, score)) - self.eps) + self.nu * self.eps

    def gradient(self, score: Array, target: Array) -> Array:  # noqa: D102
        difference = np.subtract(target, score)
        return -np.where(np.abs(difference) > self.eps, np.sign(difference), 0.0)


@dataclass(frozen=True)
class Huber(Loss):
    """|d| - sigma / 2 where |d| > sigma, else d² / (2 sigma), for d = y - f."""

    sigma: float = 1.0

    def value(self, score: Array, target: Array) -> Array:  # noqa: D102
        size = np.abs(np.subtract(target, score))
        return np.where(size > self.sigma, size - self.sigma / 2, np.square(size) / (2 * self.sigma))

    def gradient(self, score: Array, target: Array) -> Array:  # noqa: D102
        return -np.clip(np.subtract(target, score) / self.sigma, -1.0, 1.0)


def _rest(scores: Array, targets: Array) -> Array:
    """Return the scores (n, Q) with that of the target at minus infinity."""
    rest = np.array(scores, np.float64)
    rest[np.arange(len(rest)), targets] = -np.inf
    return rest


@dataclass(frozen=True)
class MulticlassHinge(Loss):
    """max(0, margin + best wrong score - right score) of scores (n, Q) and targets (n,) in 0..Q-1."""

    margin: float = 1.0

    def value(self, score: Array, target: Array) -> Array:  # noqa: D102
        lead = score[np.arange(len(score)), target] - _rest(score, target).max(axis=1)
        result: Array = np.maximum(0.0, self.margin - lead)
        return result

    def gradient(self, score: Array, target: Array) -> Array:  # noqa: D102
        rows, result = np.arange(len(score)), np.zeros(np.shape(score))
        wrong = self.value(score, target) > 0
        result[rows, target] = np.where(wrong, -1.0, 0.0)
        result[rows, _rest(score, target).argmax(axis=1)] = np.where(wrong, 1.0, 0.0)
        return result


@dataclass(frozen=True)
class Softmax(Loss):
    """log(sum of exp f) - f_y of scores (n, Q) and targets (n,) in 0..Q-1, without overflow."""

    def value(self, score: Array, target: Array) -> Array:  # noqa: D102
        right = score[np.arange(len(score)), target]
        result: Array = np.logaddexp.reduce(score, axis=1) - right
        return result

    def gradient(self, score: Array, target: Array) -> Array:  # noqa: D102
        result: Array = np.exp(score - np.logaddexp.reduce(score, axis=1)[:, None])
        result[np.arange(len(score)), target] -= 1.0
        return result
