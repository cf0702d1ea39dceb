"""The Forgetron in compiled code: its rule, and the look at the vector that has to go."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.records import Array, State
from bgsub.learners._jit.store import Expansion, apply, combine, diagonal, evaluate, fill_row, full


@dataclass
class ForgetronParameters:
    """The Forgetron."""

    self_tuned: bool
    budget: float


@dataclass
class ForgetronState(State):
    """State of the Forgetron."""

    cost: float = 0.0  # Q: the cost of all removals
    norm2: float = 0.0  # |f|²


class Oldest(NamedTuple):
    """The oldest vector x_o, where the store is full and a sample has to replace it."""

    leaves: bool = False
    coefficient: float = 0.0
    value: float = 0.0  # f(x_o), the new vector counted
    diagonal: float = 0.0  # k(x_o, x_o)


@shared
def forgetron(
    p: ForgetronParameters, s: ForgetronState, f: float, y: float, k_tt: float, oldest: Oldest
) -> tuple[float, float]:
    """Return the factor of all coefficients, and that of the sample, which is stored unless it is 0."""
    s.t += 1
    s.last = f
    z = y * f
    if z > 0.0:
        return 1.0, 0.0
    s.mistakes += 1
    s.violations += 1
    w = s.importance
    s.norm2 += 2.0 * w * z + w * w * k_tt
    if not oldest.leaves:
        return 1.0, w * y
    a_o = oldest.coefficient
    if p.self_tuned:
        size = abs(a_o)
        mu = oldest.value if a_o > 0.0 else -oldest.value
        a = size * size - 2.0 * size * mu
        b = 2.0 * size
        c = s.cost - 15.0 / 32.0 * s.mistakes
        phi = 1.0
        if a + b + c > 0.0:  # the largest phi in (0, 1] with a phi² + b phi + c <= 0, without cancellation
            phi = -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c))
        s.cost += a * phi * phi + b * phi
    else:
        bound = 0.25 * math.sqrt((p.budget + 1.0) / math.log(p.budget + 1.0))
        phi = min((p.budget + 1.0) ** (-1.0 / (2.0 * (p.budget + 1.0))), bound / math.sqrt(s.norm2))
    s.norm2 = phi * phi * (s.norm2 - 2.0 * a_o * oldest.value + a_o * a_o * oldest.diagonal)
    return phi, phi * w * y


@part
def look_at_oldest(e: Expansion, f: float, y: float, importance: float, vector: Array) -> Oldest:
    """Evaluate the oldest vector if it has to go; overwrite e.row, the kernel values of the sample, and vector (d,)."""
    store = e.store[0]
    if y * f > 0.0 or store.count != store.budget:
        return Oldest(False, 0.0, 0.0, 0.0)
    for j in range(len(vector)):
        vector[j] = e.vectors[j, store.oldest]  # in double precision
    new_value = importance * y * e.row[store.oldest]
    fill_row(store, e.vectors, e.norms, store.count, vector, e.row)
    value = combine(e.row, e.stored, store.count, store.scale) + new_value
    return Oldest(True, store.scale * e.stored[store.oldest], value, e.row[store.oldest])


@compiled_views
def forgetron_rows(
    first: int, parameters: Array, state: Array, e: Expansion, vector: Array, samples: Array, targets: Array,
    importance: Array,
) -> int:  # fmt: skip
    """Learn samples (m, d) with targets and weights (m,) from row `first` on; vector (d,) f8 is scratch.

    Return the row reached, m unless the arrays must grow.
    """
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        f, k_tt = evaluate(e, samples[t]), diagonal(e.store[0], samples[t])
        oldest = look_at_oldest(e, f, targets[t], s.importance, vector)
        factor, a = forgetron(p, s, f, targets[t], k_tt, oldest)
        apply(e, samples[t], factor, a)
    return len(samples)
