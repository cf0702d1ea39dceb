"""Least-mean-square filters in compiled code: quantised kernel LMS, and the kernel affine projection algorithm."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.classes import evaluate_classes
from bgsub.learners._jit.perceptrons.linear import LONGEST_LMS
from bgsub.learners._jit.records import Array, State
from bgsub.learners._jit.store import (
    GAUSSIAN,
    LAPLACIAN,
    LINEAR,
    Expansion,
    MercerKernel,
    combine,
    diagonal,
    evaluate,
    fill_row,
    full,
    place,
    power,
)


@dataclass
class QKLMSParameters:
    """Quantised kernel LMS."""

    eta: float
    quantum: float  # distance up to which a sample counts as the vector nearest to it
    budget: int  # most vectors, or -1


@dataclass
class KAPAParameters:
    """The kernel affine projection algorithm."""

    eta: float
    eps: float  # added to the diagonal of the system
    coherence: float  # a sample joins where its largest cosine with a vector is at most this
    budget: int  # most vectors, or -1


class Recent(NamedTuple):
    """The dictionary, and the latest samples that a step is for."""

    expansion: Expansion  # its coefficients are columns (cap, Q), of a single target as well
    samples: Array  # (d, p) f8: the latest samples, a ring
    norms: Array  # (p,) f8: their squared lengths
    targets: Array  # (Q, p) f8
    rows: Array  # (cap, p) f8: their kernel values with the dictionary
    column: Array  # (p,) f8 scratch: kernel values of a new vector with them
    system: Array  # (p, p + Q) f8 scratch: a matrix, and a right side for each target


@shared
def nearest(e: Expansion, x: Array) -> tuple[int, float]:
    """Return the slot of the vector nearest to x (d,), and its squared distance; -1 and infinity of none."""
    size, sums = e.store[0].count, e.row
    sums[:size] = 0.0
    for j in range(x.shape[0]):
        feature, value = e.vectors[j], x[j]
        for i in range(size):
            difference = feature[i] - value
            sums[i] += difference * difference
    slot, least = -1, math.inf
    for i in range(size):
        if sums[i] < least:
            slot, least = i, sums[i]
    return slot, least


@shared
def qklms(
    p: QKLMSParameters, s: State, e: Expansion, f: float, x: Array, y: float, slot: int, distance2: float
) -> None:
    """Learn x, at which the function is f, and whose nearest vector is known; there must be room."""
    s.t += 1
    s.last = f
    step, store = p.eta * s.importance * (y - f), e.store[0]
    if slot >= 0 and (distance2 <= p.quantum * p.quantum or store.count == p.budget):
        e.stored[slot] += step
        return
    place(e, store.count, x)
    e.stored[store.count] = step
    store.count += 1
    s.violations += 1


@compiled_views
def qklms_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) with targets and weights (m,) from row `first` on; return the row reached."""
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        slot, distance2 = nearest(e, samples[t])
        qklms(p, s, e, evaluate(e, samples[t]), samples[t], targets[t], slot, distance2)
    return len(samples)


@shared
def qklms_targets(
    p: QKLMSParameters, s: State, e: Expansion, scores: Array, x: Array, y: Array, slot: int, distance2: float
) -> None:
    """Learn x with targets y (Q,), at which the functions are scores (Q,), as `qklms` does each."""
    s.t += 1
    store, joins = e.store[0], slot < 0 or distance2 > p.quantum * p.quantum
    joins = joins and store.count != p.budget
    if joins:
        slot = store.count
        place(e, slot, x)
        e.stored[slot] = 0.0
        store.count += 1
        s.violations += 1
    for q in range(y.shape[0]):
        e.stored[slot, q] += p.eta * s.importance * (y[q] - scores[q])


@compiled_views
def qklms_target_rows(
    first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array,
    scores: Array,
) -> int:  # fmt: skip
    """Learn samples (m, d) with targets (m, Q) and weights (m,) from row `first` on; scores (Q,) f8 is scratch.

    Return the row reached.
    """
    p, s = parameters[0], state[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        s.importance = importance[t]
        slot, distance2 = nearest(e, samples[t])
        evaluate_classes(e, samples[t], scores)
        qklms_targets(p, s, e, scores, samples[t], targets[t], slot, distance2)
    return len(samples)


@part
def diagonal_of(k: MercerKernel, square: float) -> float:
    """k(s, s) of a vector with squared length `square`."""
    if k.kind == GAUSSIAN or k.kind == LAPLACIAN:
        return 1.0
    return square if k.kind == LINEAR else power(k.gamma * square + k.coef0, k.degree)


@part
def largest_cosine(e: Expansion, row: Array, k_tt: float) -> float:
    """Return the largest |k(s, x)| / sqrt(k(s, s) k(x, x)); row (cap,) = kernel values of x."""
    store, largest = e.store[0], 0.0
    for i in range(store.count):
        length2 = diagonal_of(store, e.norms[i]) * k_tt
        if length2 > 0.0:
            largest = max(largest, abs(row[i]) / math.sqrt(length2))
    return largest


@part
def solve_in_place(system: Array, size: int) -> None:
    """Solve `size` equations of a positive definite matrix, the first p columns of system (p, p + Q).

    The others are right sides, which the solutions replace.
    """
    order, width = system.shape
    for i in range(size):
        for k in range(i + 1, size):
            factor = system[k, i] / system[i, i]
            for j in range(i + 1, size):
                system[k, j] -= factor * system[i, j]
            for j in range(order, width):
                system[k, j] -= factor * system[i, j]
    for q in range(order, width):
        for i in range(size - 1, -1, -1):
            for j in range(i + 1, size):
                system[i, q] -= system[i, j] * system[j, q]
            system[i, q] /= system[i, i]


@part
def remember(h: Recent, slot: int, x: Array, y: Array) -> None:
    """Make x with targets y (Q,), whose kernel row is in the scratch of the expansion, one of the latest samples."""
    norm = 0.0
    for j in range(x.shape[0]):
        h.samples[j, slot] = x[j]
        norm += x[j] * x[j]
    h.norms[slot] = norm
    for q in range(y.shape[0]):
        h.targets[q, slot] = y[q]
    for i in range(h.expansion.store[0].count):
        h.rows[i, slot] = h.expansion.row[i]


@shared
def project_onto(p: KAPAParameters, s: State, h: Recent, size: int) -> None:
    """Move the coefficients towards the intersection of the `size` latest samples' hyperplanes."""
    e, system, count = h.expansion, h.system, h.expansion.store[0].count
    outputs, order = h.targets.shape
    for a in range(size):
        for q in range(outputs):
            f = 0.0
            for i in range(count):
                f += h.rows[i, a] * e.stored[i, q]
            system[a, order + q] = h.targets[q, a] - f
        for b in range(size):
            system[a, b] = p.eps if a == b else 0.0
            for i in range(count):
                system[a, b] += h.rows[i, a] * h.rows[i, b]
    solve_in_place(system, size)
    eta = min(p.eta * s.importance, LONGEST_LMS)
    for i in range(count):
        for q in range(outputs):
            for a in range(size):
                e.stored[i, q] += eta * system[a, order + q] * h.rows[i, a]


@shared
def join(h: Recent, x: Array, size: int) -> None:
    """Add x to the dictionary with coefficients 0; h.column (p,) = its kernel values with the `size` latest samples."""
    store = h.expansion.store[0]
    place(h.expansion, store.count, x)
    h.expansion.stored[store.count] = 0.0
    for a in range(size):
        h.rows[store.count, a] = h.column[a]
    store.count += 1


@shared
def begin_step(s: State, h: Recent, x: Array, y: Array) -> int:
    """Count a sample whose kernel row is known, remember it with targets y (Q,); return how many are remembered."""
    e = h.expansion
    s.last = combine(e.row, e.stored[:, 0], e.store[0].count, 1.0)
    order: int = h.targets.shape[1]
    remember(h, int(s.t) % order, x, y)
    s.t += 1
    return min(int(s.t), order)


@compiled_views
def kapa_rows(
    first: int, parameters: Array, state: Array, h: Recent, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) with targets (m, Q) and weights (m,) from row `first` on; return the row reached."""
    p, s, e = parameters[0], state[0], h.expansion
    store = e.store[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        x = samples[t]
        s.importance = importance[t]
        k_tt = diagonal(store, x)
        fill_row(store, e.vectors, e.norms, store.count, x, e.row)
        new = store.count != p.budget and k_tt > 0.0 and largest_cosine(e, e.row, k_tt) <= p.coherence
        size = begin_step(s, h, x, targets[t])
        if new:
            fill_row(store, h.samples, h.norms, size, x, h.column)
            join(h, x, size)
            s.violations += 1
        project_onto(p, s, h, size)
    return len(samples)
