"""Ensembles of many learners of one kind on one stream, in compiled code.

Members are worked on in blocks of `width` that lie side by side in memory, so that one pass over a sample serves a
block. Blocks share nothing, so threads may work on different ones.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bgsub._numba import banded, compiled, compiled_views, part, shared
from bgsub.learners._jit.classes import evaluate_classes
from bgsub.learners._jit.records import Array, Lessons, State
from bgsub.learners._jit.store import Expansion, choose_slot, diagonal, full, place

PERCEPTRON, ALMA = 0, 1

SMALLEST_SCALE = 1e-6
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


@dataclass(kw_only=True)
class MemberParameters:
    """The rule of a member, and its samples."""

    rule: int  # PERCEPTRON or ALMA
    tau: float = 1.0  # share of the samples that a member sees
    bias: bool = False  # whether samples get a constant feature
    unit: bool = False  # whether samples are divided by their length
    margin: float = 0.0  # of the perceptron
    eta: float = 0.0  # step of the perceptron
    alpha: float = 0.0  # alpha, B and C of ALMA
    B: float = 0.0
    C: float = 0.0


class Ensemble(NamedTuple):
    """State of members beside their weights."""

    factors: Array  # (blocks, width) f8: of the weights, which are stored without
    counts: Array  # (blocks, width) f8: number of the next correction of ALMA
    norms2: Array  # (blocks, width) f8: squared norm of ALMA
    updates: Array  # (blocks, width) f8: corrections so far
    seeds: Array  # (blocks, width) u8: states of SplitMix64, one generator whose numbers the members use in turn
    stride: Array  # (1,) u8: how far a sample moves the generator
    members: Array  # (blocks, width) f8: 1 for a member, 0 for padding


class Work(NamedTuple):
    """Scratch of a block, (width,) f8 each."""

    f: Array  # values without factors
    step: Array  # added to the weights, in units of the sample
    chosen: Array  # 1 for a member that sees the sample
    drawn: Array  # u8
    shifted: Array  # u8


class Rows(NamedTuple):
    """Samples in compressed form, as scipy's CSR."""

    starts: Array  # (m + 1,) i8
    columns: Array  # i8
    values: Array  # f8


class Sample(NamedTuple):
    """A sample as members that are weights use it."""

    size: int  # features that are not zero, the constant one included
    square: float  # |x|²
    columns: Array  # (d + 1,) i8, of which `size` are in use
    values: Array  # (d + 1,) f8


@part
def draw(tau: float, seeds: Array, stride: Array, members: Array, work: Work) -> None:
    """Write 1 to work.chosen for each member that sees the sample, else 0: a share tau; all for tau = 1."""
    if tau >= 1.0:
        for m in range(members.shape[0]):
            work.chosen[m] = members[m]
        return
    # Functions of arrays: plain Python's numbers would warn where these wrap around.
    z, shifted = work.drawn, work.shifted
    np.add(seeds, stride, seeds)
    np.right_shift(seeds, _S30, shifted)
    np.bitwise_xor(seeds, shifted, z)
    np.multiply(z, _M1, z)
    np.right_shift(z, _S27, shifted)
    np.bitwise_xor(z, shifted, z)
    np.multiply(z, _M2, z)
    np.right_shift(z, _S31, shifted)
    np.bitwise_xor(z, shifted, z)
    np.right_shift(z, _S11, z)
    for m in range(members.shape[0]):
        work.chosen[m] = members[m] if z[m] * _UNIT < tau else 0.0


@part
def alma_step(
    p: MemberParameters, e: Ensemble, b: int, m: int, margin: float, length: float, y: float, importance: float
) -> float:
    """Return the step of a member with ALMA's rule; count, norm and factor move along."""
    root = math.sqrt(e.counts[b, m])
    if margin > (1.0 - p.alpha) * p.B / root:
        return 0.0
    size = p.C * importance / root
    step: float = y * size / (length * e.factors[b, m])
    e.norms2[b, m] = max(e.norms2[b, m] + 2.0 * size * margin + size * size, 0.0)
    norm = max(1.0, math.sqrt(e.norms2[b, m]))
    e.norms2[b, m] /= norm * norm
    e.factors[b, m] /= norm
    e.counts[b, m] += 1.0
    return step


@part
def steps(p: MemberParameters, e: Ensemble, b: int, work: Work, y: float, k_tt: float, importance: float) -> bool:
    """Write the steps of all members of block b, whose values are work.f; return whether any is not zero."""
    some = False
    for m in range(work.f.shape[0]):
        work.step[m] = 0.0
        if work.chosen[m] == 0.0:
            continue
        value = work.f[m] * e.factors[b, m]
        if p.rule == PERCEPTRON:
            if y * value <= p.margin:
                work.step[m] = p.eta * importance * y
        elif k_tt > 0.0:
            length = math.sqrt(k_tt)
            work.step[m] = alma_step(p, e, b, m, y * value / length, length, y, importance)
        if work.step[m] != 0.0:
            e.updates[b, m] += 1.0
            some = True
    return some


@compiled  # not compiled_views: its callers count references, so the arrays that it returns must be counted, too
def gather(bias: bool, unit: bool, columns: Array, values: Array, n_features: int, used: Array, kept: Array) -> Sample:
    """Return the features of a sample that are not zero, written to used (d + 1,) i8 and kept (d + 1,) f8."""
    count, square = 0, 0.0
    for i in range(values.shape[0]):
        if values[i] != 0.0:
            used[count], kept[count] = columns[i], values[i]
            square += values[i] * values[i]
            count += 1
    if bias:
        used[count], kept[count] = n_features, 1.0
        square += 1.0
        count += 1
    if unit and square > 0.0:
        length = math.sqrt(square)
        for i in range(count):
            kept[i] /= length
        square = 1.0
    return Sample(count, square, used, kept)


@compiled
def make_work(width: int) -> Work:
    """Return the scratch of a block of `width` members."""
    numbers, integers = np.zeros((3, width)), np.zeros((2, width), np.uint64)
    return Work(numbers[0], numbers[1], numbers[2], integers[0], integers[1])


@part
def learn_sample(
    p: MemberParameters, weights: Array, e: Ensemble, b: int, x: Sample, y: float, importance: float, work: Work
) -> float:
    """Let block b learn a sample; return the sum of its members' values before."""
    block, f = weights[b], work.f
    width = block.shape[1]
    f[:] = 0.0
    for i in range(x.size):
        line, value = block[x.columns[i]], x.values[i]
        for m in range(width):
            f[m] += value * line[m]
    total = 0.0
    for m in range(width):
        total += f[m] * e.factors[b, m] * e.members[b, m]
    draw(p.tau, e.seeds[b], e.stride, e.members[b], work)
    if steps(p, e, b, work, y, x.square, importance):
        step = work.step
        for i in range(x.size):
            line, value = block[x.columns[i]], x.values[i]
            for m in range(width):
                line[m] += value * step[m]
        if p.rule == ALMA:
            for m in range(width):
                if e.factors[b, m] < SMALLEST_SCALE:
                    for j in range(block.shape[0]):
                        block[j, m] *= e.factors[b, m]
                    e.factors[b, m] = 1.0
    return total


@banded
def learn_dense(
    first_block: int, last_block: int, parameters: Array, weights: Array, e: Ensemble, samples: Array, lessons: Lessons,
    totals: Array,
) -> None:  # fmt: skip
    """Let some blocks learn rows (m, d); totals (blocks, m) = sums of their members' values before each.

    weights (blocks, d + 1, width) f8, the last row for the constant feature.
    """
    p, n_features, width = parameters[0], samples.shape[1], weights.shape[2]
    columns = np.arange(n_features)
    used, kept = np.zeros(n_features + 1, np.int64), np.zeros(n_features + 1)
    work = make_work(width)
    for b in range(first_block, last_block):
        for t in range(samples.shape[0]):
            x = gather(p.bias, p.unit, columns, samples[t], n_features, used, kept)
            totals[b, t] = learn_sample(p, weights, e, b, x, lessons.targets[t], lessons.importance[t], work)


@banded
def learn_sparse(
    first_block: int, last_block: int, parameters: Array, weights: Array, e: Ensemble, rows: Rows, lessons: Lessons,
    totals: Array,
) -> None:  # fmt: skip
    """Let some blocks learn rows in compressed form, as `learn_dense` does."""
    p, n_features, width = parameters[0], weights.shape[1] - 1, weights.shape[2]
    used, kept = np.zeros(n_features + 1, np.int64), np.zeros(n_features + 1)
    work = make_work(width)
    for b in range(first_block, last_block):
        for t in range(lessons.targets.shape[0]):
            row = slice(rows.starts[t], rows.starts[t + 1])
            x = gather(p.bias, p.unit, rows.columns[row], rows.values[row], n_features, used, kept)
            totals[b, t] = learn_sample(p, weights, e, b, x, lessons.targets[t], lessons.importance[t], work)


@compiled_views
def count_mistakes(state: Array, totals: Array, targets: Array, size: int) -> None:
    """Count the samples that the mean of all members got wrong; totals (blocks, m)."""
    s = state[0]
    for t in range(targets.shape[0]):
        mean = 0.0
        for b in range(totals.shape[0]):
            mean += totals[b, t]
        s.last = mean / size
        s.t += 1
        if targets[t] * s.last <= 0.0:
            s.mistakes += 1


@compiled
def dense_values(bias: bool, unit: bool, mean: Array, samples: Array, out: Array) -> None:
    """Write the value of the weights mean (d + 1,) at each row of samples (m, d)."""
    n_features = samples.shape[1]
    columns = np.arange(n_features)
    used, kept = np.zeros(n_features + 1, np.int64), np.zeros(n_features + 1)
    for t in range(samples.shape[0]):
        out[t] = weighted(gather(bias, unit, columns, samples[t], n_features, used, kept), mean)


@compiled
def sparse_values(bias: bool, unit: bool, mean: Array, rows: Rows, out: Array) -> None:
    """Write the value of the weights mean (d + 1,) at each row in compressed form."""
    n_features = mean.shape[0] - 1
    used, kept = np.zeros(n_features + 1, np.int64), np.zeros(n_features + 1)
    for t in range(out.shape[0]):
        row = slice(rows.starts[t], rows.starts[t + 1])
        out[t] = weighted(gather(bias, unit, rows.columns[row], rows.values[row], n_features, used, kept), mean)


@part
def weighted(x: Sample, mean: Array) -> float:
    """Return the value of the weights mean (d + 1,) at a sample."""
    total = 0.0
    for i in range(x.size):
        total += x.values[i] * mean[x.columns[i]]
    return total


@compiled_views
def kernel_rows(
    first: int, parameters: Array, state: Array, e: Expansion, ensemble: Ensemble, work: Work, samples: Array,
    lessons: Lessons,
) -> int:  # fmt: skip
    """Learn samples (m, d) in kernel form: e.stored (cap, N), one kernel row for all members, one block of them.

    Return the row reached, m unless the arrays must grow.
    """
    p, s, store = parameters[0], state[0], e.store[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        evaluate_classes(e, samples[t], work.f)
        s.importance = lessons.importance[t]
        if kernel_step(p, s, ensemble, work, lessons.targets[t], diagonal(store, samples[t])):
            slot = choose_slot(store, e.norms)
            place(e, slot, samples[t])
            for m in range(work.step.shape[0]):
                e.stored[slot, m] = work.step[m]
            tidy(e.stored, ensemble.factors, store.count)
    return len(samples)


@shared
def kernel_step(p: MemberParameters, s: State, e: Ensemble, work: Work, y: float, k_tt: float) -> bool:
    """Let all members learn a sample at which they are work.f; return whether it has to be stored."""
    f, total = work.f, 0.0
    for m in range(f.shape[0]):
        total += f[m] * e.factors[0, m]
    s.last = total / f.shape[0]
    s.t += 1
    if y * s.last <= 0.0:
        s.mistakes += 1
    draw(p.tau, e.seeds[0], e.stride, e.members[0], work)
    some = steps(p, e, 0, work, y, k_tt, s.importance)
    if some:
        s.violations += 1
    return some and k_tt > 0.0


@shared
def tidy(stored: Array, factors: Array, size: int) -> None:
    """Set small factors of the one block back to 1."""
    for m in range(stored.shape[1]):
        if factors[0, m] < SMALLEST_SCALE:
            for i in range(size):
                stored[i, m] *= factors[0, m]
            factors[0, m] = 1.0
