"""Numba kernels of linear learners and of their ensembles: many learners of one kind on one stream.

Members are worked on in blocks of `width` that lie side by side in memory, so that one pass over a sample serves a
block. Blocks share nothing, so threads may take different ones. Arrays of an ensemble:

weights (blocks, d + 1, width) f8, the last row for the constant feature; scales, counts, norms2, updates (blocks,
width) f8 = factor of the weights, number of the next correction, squared norm, corrections so far; seeds (blocks,
width) u8 = states of SplitMix64, one generator for all members, whose numbers they take in turn; stride (1,) u8 =
how far a sample moves it; drawn (blocks, width) f8 = 1 for a member, 0 for padding.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from bgsub.learners._jit.decorator import kernel
from bgsub.learners._jit.rules import LAST, MISTAKES, VIOLATIONS, T
from bgsub.learners._jit.store import OLDEST, SCALE, choose_slot, diagonal, fill_row, full, multiclass_scores, place

PERCEPTRON, ALMA, LMS = 0, 1, 2

# Parameters p; FIRST to THIRD are margin and eta; alpha, B and C; eta and whether it is divided by |x|².
RULE, FIRST, SECOND, THIRD, TAU, BIAS, UNIT = 0, 1, 2, 3, 4, 5, 6

SMALLEST_SCALE = 1e-6
LONGEST_LMS = 1.98  # times 1 / |x|²; from 2 on weights grow without bound
_S11, _S27, _S30, _S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


@kernel
def draw(tau, seeds, stride, members, chosen):
    """Write 1 to `chosen` for each member that sees the sample, else 0: a fraction tau; all for tau = 1."""
    if tau >= 1.0:
        chosen[:] = members
        return
    # Array expressions: plain Python's numbers would warn where these wrap around.
    seeds += stride
    z = seeds ^ (seeds >> _S30)
    z = z * _M1
    z = z ^ (z >> _S27)
    z = z * _M2
    z = z ^ (z >> _S31)
    z = z >> _S11
    for m in range(chosen.shape[0]):
        chosen[m] = members[m] if z[m] * _UNIT < tau else 0.0


@kernel
def steps(p, y, k_tt, f, chosen, scales, counts, norms2, updates, step):
    """Write what each member adds to its unscaled weights, in units of x; f (width,) are their unscaled values.

    Return whether any does. Scales, counts, norms and updates move along.
    """
    rule, some = p[RULE], False
    for m in range(f.shape[0]):
        step[m] = 0.0
        if chosen[m] == 0.0:
            continue
        value = f[m] * scales[m]
        if rule == LMS:
            eta = p[FIRST] / (1e-12 + k_tt) if p[SECOND] > 0.0 else p[FIRST]
            if eta * k_tt > LONGEST_LMS:
                eta = LONGEST_LMS / k_tt
            step[m] = eta * (y - value)
        elif rule == PERCEPTRON:
            if y * value <= p[FIRST]:
                step[m] = p[SECOND] * y
        elif k_tt > 0.0:
            length, root = math.sqrt(k_tt), math.sqrt(counts[m])
            margin = y * value / length
            if margin <= (1.0 - p[FIRST]) * p[SECOND] / root:
                size = p[THIRD] / root
                step[m] = y * size / (length * scales[m])
                norms2[m] = max(norms2[m] + 2.0 * size * margin + size * size, 0.0)
                norm = max(1.0, math.sqrt(norms2[m]))
                norms2[m] /= norm * norm
                scales[m] /= norm
                counts[m] += 1.0
        if step[m] != 0.0:
            updates[m] += 1.0
            some = True
    return some


@kernel
def gather(bias, unit, columns, values, n_features, where, what):
    """Write places and numbers of a sample that are not zero, with the constant; return how many, and |x|²."""
    count, square = 0, 0.0
    for i in range(values.shape[0]):
        if values[i] != 0.0:
            where[count], what[count] = columns[i], values[i]
            square += values[i] * values[i]
            count += 1
    if bias > 0.0:
        where[count], what[count] = n_features, 1.0
        square += 1.0
        count += 1
    if unit > 0.0 and square > 0.0:
        length = math.sqrt(square)
        for i in range(count):
            what[i] /= length
        square = 1.0
    return count, square


@kernel
def learn_sample(
    b, p, y, k_tt, count, where, what, weights, scales, counts, norms2, updates, seeds, stride, members, f, step, chosen
):  # fmt: skip
    """Let block b learn a sample; return the sum of its members' values before."""
    block = weights[b]
    width = block.shape[1]
    f[:] = 0.0
    for i in range(count):
        line, value = block[where[i]], what[i]
        for m in range(width):
            f[m] += value * line[m]
    total = 0.0
    for m in range(width):
        total += f[m] * scales[b, m] * members[b, m]
    draw(p[TAU], seeds[b], stride, members[b], chosen)
    if steps(p, y, k_tt, f, chosen, scales[b], counts[b], norms2[b], updates[b], step):
        for i in range(count):
            line, value = block[where[i]], what[i]
            for m in range(width):
                line[m] += value * step[m]
        if p[RULE] == ALMA:
            for m in range(width):
                if scales[b, m] < SMALLEST_SCALE:
                    block[:, m] *= scales[b, m]
                    scales[b, m] = 1.0
    return total


@kernel
def learn_dense(
    first_block, last_block, p, weights, scales, counts, norms2, updates, seeds, stride, members, samples, targets,
    totals,
):  # fmt: skip
    """Let some blocks learn rows (m, d); totals (blocks, m) = sums of their members' values before each."""
    n_features, width = samples.shape[1], weights.shape[2]
    columns = np.arange(n_features)
    where, what = np.zeros(n_features + 1, np.int64), np.zeros(n_features + 1)
    f, step, chosen = np.zeros(width), np.zeros(width), np.zeros(width)
    for b in range(first_block, last_block):
        for t in range(samples.shape[0]):
            count, k_tt = gather(p[BIAS], p[UNIT], columns, samples[t], n_features, where, what)
            totals[b, t] = learn_sample(
                b, p, targets[t], k_tt, count, where, what, weights, scales, counts, norms2, updates, seeds, stride,
                members, f, step, chosen,
            )  # fmt: skip


@kernel
def learn_sparse(
    first_block, last_block, p, weights, scales, counts, norms2, updates, seeds, stride, members, starts, columns,
    values, targets, totals,
):  # fmt: skip
    """Do the same for rows in compressed form: starts (m + 1,), columns and values as in scipy's CSR."""
    n_features, width = weights.shape[1] - 1, weights.shape[2]
    where, what = np.zeros(n_features + 1, np.int64), np.zeros(n_features + 1)
    f, step, chosen = np.zeros(width), np.zeros(width), np.zeros(width)
    for b in range(first_block, last_block):
        for t in range(targets.shape[0]):
            row = slice(starts[t], starts[t + 1])
            count, k_tt = gather(p[BIAS], p[UNIT], columns[row], values[row], n_features, where, what)
            totals[b, t] = learn_sample(
                b, p, targets[t], k_tt, count, where, what, weights, scales, counts, norms2, updates, seeds, stride,
                members, f, step, chosen,
            )  # fmt: skip


@kernel
def count_mistakes(s, totals, targets, size):
    """Count what the mean of all members got wrong."""
    for t in range(targets.shape[0]):
        mean = 0.0
        for b in range(totals.shape[0]):
            mean += totals[b, t]
        s[LAST] = mean / size
        s[T] += 1
        if targets[t] * s[LAST] <= 0.0:
            s[MISTAKES] += 1


@kernel
def dense_values(bias, unit, mean, samples, out):
    """Write the value of the weights mean (d + 1,) at each row of samples (m, d)."""
    n_features = samples.shape[1]
    columns = np.arange(n_features)
    where, what = np.zeros(n_features + 1, np.int64), np.zeros(n_features + 1)
    for t in range(samples.shape[0]):
        count, _ = gather(bias, unit, columns, samples[t], n_features, where, what)
        out[t] = weighted(count, where, what, mean)


@kernel
def sparse_values(bias, unit, mean, starts, columns, values, out):
    """Do the same for rows in compressed form."""
    n_features = mean.shape[0] - 1
    where, what = np.zeros(n_features + 1, np.int64), np.zeros(n_features + 1)
    for t in range(out.shape[0]):
        row = slice(starts[t], starts[t + 1])
        count, _ = gather(bias, unit, columns[row], values[row], n_features, where, what)
        out[t] = weighted(count, where, what, mean)


@kernel
def weighted(count, where, what, mean):
    """Return the sum of what times mean at where."""
    total = 0.0
    for i in range(count):
        total += what[i] * mean[where[i]]
    return total


@kernel
def kernel_rows(
    first, plan, p, s, kp, vectors, norms, stored, births, sums, marks, store_scales, row, scales, counts, norms2,
    updates, seeds, stride, members, f, step, chosen, samples, targets,
):  # fmt: skip
    """Learn samples (m, d) in kernel form: stored (cap, N), one kernel row for all members, one block of them.

    Return the row reached, m unless the arrays must grow.
    """
    kind, budget = plan[1], plan[2]
    for t in range(first, samples.shape[0]):
        if full(stored, marks, budget):
            return t
        x, size = samples[t], marks[0]
        fill_row(kind, kp, vectors, norms, size, x, row)
        multiclass_scores(row, stored, size, store_scales[SCALE], f)
        k_tt = diagonal(kind, kp, x)
        if kernel_step(
            p, s, targets[t], k_tt, f, scales, counts, norms2, updates, seeds, stride, members, step, chosen
        ):
            slot = choose_slot(norms, marks, budget, OLDEST)
            place(vectors, norms, births, sums, store_scales, slot, x)
            stored[slot] = step
            tidy(stored, scales, marks[0])
    return samples.shape[0]


@kernel
def kernel_step(p, s, y, k_tt, f, scales, counts, norms2, updates, seeds, stride, members, step, chosen):
    """Let all members learn a sample at which they are f; return whether it has to be stored."""
    total = 0.0
    for m in range(f.shape[0]):
        total += f[m] * scales[0, m]
    s[LAST] = total / f.shape[0]
    s[T] += 1
    if y * s[LAST] <= 0.0:
        s[MISTAKES] += 1
    draw(p[TAU], seeds[0], stride, members[0], chosen)
    some = steps(p, y, k_tt, f, chosen, scales[0], counts[0], norms2[0], updates[0], step)
    if some:
        s[VIOLATIONS] += 1
    return some and k_tt > 0.0


@kernel
def tidy(stored, scales, size):
    """Set small scales back to 1."""
    for m in range(stored.shape[1]):
        if scales[0, m] < SMALLEST_SCALE:
            for i in range(size):
                stored[i, m] *= scales[0, m]
            scales[0, m] = 1.0
