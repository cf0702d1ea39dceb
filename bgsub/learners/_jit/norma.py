"""NORMA in compiled code: stochastic gradient descent on a loss and lam/2 |f|²."""

from dataclasses import dataclass

from bgsub._numba import shared
from bgsub.learners._jit.losses import has_sides, least_width, slope
from bgsub.learners._jit.records import State
from bgsub.learners._jit.rows import make_class_rows, make_rows
from bgsub.learners._jit.schedules import step_size
from bgsub.learners._jit.store import Expansion


@dataclass
class NORMAParameters:
    """The three kinds of NORMA."""

    eta: float
    lam: float
    schedule: int
    tau: float
    largest_step: float
    loss: int
    nu: float  # share of violations
    adapts: bool  # whether the level follows nu
    with_offset: bool
    lowest: float = -float("inf")  # of the level
    sign: float = 1.0  # of the level's steps: 1 lowers it at a violation, -1 raises it
    unit: float = 1.0  # in which f and the level of novelty detection are reported
    kappa: float = 1.0  # a sample is reported as novel below kappa times the level


@dataclass
class NORMAState(State):
    """State of NORMA."""

    level: float = 0.0  # margin rho, threshold rho, or width eps or delta
    last_violation: float = 0.0
    last_novel: float = 0.0


@shared
def norma(p: NORMAParameters, s: NORMAState, f: float, y: float, k_tt: float) -> tuple[float, float]:
    """Return the factor of all coefficients, and that of the sample, which is stored unless it is 0."""
    s.t += 1
    eta = min(step_size(p.eta, p.schedule, p.tau, s.t), p.largest_step)
    g = f + s.offset
    s.last = g
    if has_sides(p.loss) and y * g <= 0.0:
        s.mistakes += 1
    weighted = eta * s.importance
    derivative, _, violated = slope(p.loss, g, y, s.level, weighted / p.unit)
    s.last_novel = 1.0 if g < p.kappa * s.level else 0.0
    if p.adapts:
        step = p.sign * weighted / p.unit * (p.nu - violated)
        s.level = max(s.level + step, p.lowest, least_width(p.loss, weighted, k_tt))
    if p.with_offset:
        s.offset -= derivative
    s.violations += violated
    s.last_violation = violated
    return 1.0 - eta * p.lam, -derivative


@shared
def sum_offset(p: NORMAParameters, s: NORMAState, e: Expansion) -> None:
    """Let the offset count once in the average."""
    s.offset_sum += s.offset


norma_rows, norma_class_rows = make_rows(norma, sum_offset), make_class_rows(norma)
