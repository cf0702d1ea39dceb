"""Streams of samples in one and two dimensions: moving Gaussians, noisy sines, outliers; no Qt."""

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["STREAMS", "Kind", "Sample", "Stream"]

_OUTLIERS = 0.05


class Kind(enum.Enum):
    """Learning task."""

    CLASSES = "classes"
    REGIONS = "regions"
    NOVELTY = "novelty"
    REGRESSION = "regression"


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample."""

    x: NDArray[np.float64]
    """(2,) or, for regression, (1,)."""
    y: float
    """Class -1 or 1; one of three classes 0 to 2; 1 normal and -1 outlier; or the target."""
    truth: float
    """`y` without noise: the class, or the target without noise and outliers."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A kind of stream.

    Parameters
    ----------
    label : str
        Shown to the user.
    kind : Kind
        Learning task.
    draw : callable
        Makes sample number t with a random generator.
    extent : tuple of float
        Left, right, bottom and top of the part shown.
    """

    label: str
    kind: Kind
    draw: Callable[[int, np.random.Generator], Sample]
    extent: tuple[float, float, float, float] = (-3.0, 3.0, -3.0, 3.0)
    target: Callable[[NDArray[np.float64], int], NDArray[np.float64]] | None = None
    """Noiseless targets of a regression at points (n,) at time t."""


def _moving_gaussians(t: int, random: np.random.Generator) -> Sample:
    label = 1.0 if random.random() < 0.5 else -1.0
    angle = 2 * math.pi * t / 3000
    centre = label * 1.1 * np.array([math.cos(angle), math.sin(angle)])
    return Sample(centre + random.normal(0, 0.55, 2), label, label)


def _rings(_t: int, random: np.random.Generator) -> Sample:
    label = 1.0 if random.random() < 0.5 else -1.0
    radius = (0.8 if label > 0 else 2.0) + random.normal(0, 0.22)
    angle = random.uniform(0, 2 * math.pi)
    return Sample(radius * np.array([math.cos(angle), math.sin(angle)]), label, label)


def _switching(t: int, random: np.random.Generator) -> Sample:
    x = random.uniform(-2.5, 2.5, 2)
    label = (1.0 if x[0] * x[1] > 0 else -1.0) * (1 if (t // 1000) % 2 == 0 else -1)
    return Sample(x, label, label)


def _noisy_classes(_t: int, random: np.random.Generator) -> Sample:
    x = random.uniform(-2.8, 2.8, 2)
    truth = 1.0 if x[1] > 1.2 * math.sin(1.6 * x[0]) else -1.0
    return Sample(x, truth if random.random() > 0.1 else -truth, truth)


def _three_gaussians(t: int, random: np.random.Generator) -> Sample:
    label = int(random.integers(3))
    angle = 2 * math.pi * (label / 3 + t / 6000)
    centre = 1.4 * np.array([math.cos(angle), math.sin(angle)])
    return Sample(centre + random.normal(0, 0.6, 2), label, label)


def _outlier(random: np.random.Generator) -> NDArray[np.float64]:
    return random.uniform(-2.9, 2.9, 2)


def _ring_with_outliers(_t: int, random: np.random.Generator) -> Sample:
    if random.random() < _OUTLIERS:
        return Sample(_outlier(random), -1.0, -1.0)
    angle = random.uniform(0, 2 * math.pi)
    radius = 1.8 + random.normal(0, 0.14)
    return Sample(radius * np.array([math.cos(angle), math.sin(angle)]), 1.0, 1.0)


def _drifting_cloud(t: int, random: np.random.Generator) -> Sample:
    if random.random() < _OUTLIERS:
        return Sample(_outlier(random), -1.0, -1.0)
    angle = 2 * math.pi * t / 3000
    centre = 1.4 * np.array([math.cos(angle), math.sin(angle)])
    return Sample(centre + random.normal(0, 0.32, 2), 1.0, 1.0)


def _sine(label: str, *, drift: bool, outliers: float) -> Stream:
    def target(x: NDArray[np.float64], t: int) -> NDArray[np.float64]:
        return np.sin(2 * x + (2 * math.pi * t / 4000 if drift else 0.0))

    def draw(t: int, random: np.random.Generator) -> Sample:
        x = random.uniform(-3, 3, 1)
        truth = float(target(x, t)[0])
        far = random.random() < outliers
        noise = random.uniform(-2, 2) if far else random.normal(0, 0.15)
        return Sample(x, truth + noise, truth)

    return Stream(label, Kind.REGRESSION, draw, (-3.0, 3.0, -2.4, 2.4), target)


STREAMS = (
    Stream("Moving Gaussians", Kind.CLASSES, _moving_gaussians),
    Stream("Two rings", Kind.CLASSES, _rings),
    Stream("Wave with 10 % wrong labels", Kind.CLASSES, _noisy_classes),
    Stream("Quadrants that switch", Kind.CLASSES, _switching),
    Stream("Three moving Gaussians", Kind.REGIONS, _three_gaussians),
    Stream("Ring with outliers", Kind.NOVELTY, _ring_with_outliers),
    Stream("Drifting cloud with outliers", Kind.NOVELTY, _drifting_cloud),
    _sine("Noisy sine", drift=False, outliers=0.0),
    _sine("Noisy sine with outliers", drift=False, outliers=0.1),
    _sine("Drifting sine with outliers", drift=True, outliers=0.1),
)
"""All streams."""
