"""Numba kernels that learn many samples in a row: the loop around rule and store."""

import numpy as np

from bgsub.learners._jit.decorator import kernel
from bgsub.learners._jit.rules import (
    FORGETRON,
    LAST,
    MISTAKES,
    OFFSET,
    OFFSET_SUM,
    OLK_N,
    VIOLATIONS,
    T,
    forgetron,
    update,
)
from bgsub.learners._jit.store import (
    HEAD,
    SCALE,
    SIZE,
    SMALLEST,
    TOTAL,
    choose_slot,
    combine,
    decay,
    diagonal,
    fill_row,
    full,
    multiclass_scores,
    place,
)


@kernel
def learn_rows(first, plan, p, s, kp, vectors, norms, stored, births, sums, marks, scales, row, samples, targets):
    """Learn samples (m, d) from row `first` on; return the row reached, m unless the arrays must grow.

    plan (4,) i8 = rule, kind of kernel, budget or -1, policy; row (cap,) f8 scratch; the rest as in the files of
    the store and of the rules.
    """
    rule, kind, budget, policy = plan[0], plan[1], plan[2], plan[3]
    for t in range(first, samples.shape[0]):
        if full(stored, marks, budget):
            return t
        x, y, size = samples[t], targets[t], marks[SIZE]
        fill_row(kind, kp, vectors, norms, size, x, row)
        f = combine(row, stored, size, scales[SCALE])
        k_tt = diagonal(kind, kp, x)
        if rule == FORGETRON:
            factor, a = forget_oldest(plan, p, s, kp, vectors, norms, stored, marks, scales, row, f, y, k_tt)
        else:
            mass = 0.0
            if rule == OLK_N:
                for i in range(size):
                    mass += stored[i]
                mass *= scales[SCALE]
            factor, a = update(rule, p, s, f, y, k_tt, mass)
        if factor != 1.0:
            decay(stored, births, sums, marks, scales, factor)
        if a != 0.0:
            slot = choose_slot(stored, marks, budget, policy)
            place(vectors, norms, births, sums, scales, slot, x)
            stored[slot] = a / scales[SCALE]
        scales[TOTAL] += scales[SCALE]
        s[OFFSET_SUM] += s[OFFSET]
    return samples.shape[0]


@kernel
def forget_oldest(plan, p, s, kp, vectors, norms, stored, marks, scales, row, f, y, k_tt):
    """Look at the oldest vector where it has to go, then apply the rule of the Forgetron."""
    s[T] += 1
    s[LAST] = f
    size, head, scale = marks[SIZE], marks[HEAD], scales[SCALE]
    if y * f > 0.0 or size != plan[2]:
        return forgetron(p, s, f, y, k_tt, False, 0.0, 0.0, 0.0)
    oldest = vectors[:, head].astype(np.float64)
    new_value = y * row[head]
    fill_row(plan[1], kp, vectors, norms, size, oldest, row)
    value = combine(row, stored, size, scale) + new_value
    return forgetron(p, s, f, y, k_tt, True, scale * stored[head], value, row[head])


@kernel
def learn_rows_multiclass(
    first, plan, p, s, kp, vectors, norms, stored, births, sums, marks, scales, row, samples, targets, scores
):
    """Learn samples of Q classes, targets (m,) f8 = 0..Q-1; stored (cap, Q), scores (Q,) f8 of the last sample.

    p = margin, eta, C: a perceptron (Crammer and Singer's: one wrong class is pushed down) where C is 0, else PA-I.
    """
    kind, budget, policy = plan[1], plan[2], plan[3]
    classes = stored.shape[1]
    for t in range(first, samples.shape[0]):
        if full(stored, marks, budget):
            return t
        x, y, size = samples[t], int(targets[t]), marks[SIZE]
        fill_row(kind, kp, vectors, norms, size, x, row)
        multiclass_scores(row, stored, size, scales[SCALE], scores)
        rival = 1 if y == 0 else 0
        for q in range(classes):
            if q != y and scores[q] > scores[rival]:
                rival = q
        a = multiclass_step(p, s, scores[y] - scores[rival], diagonal(kind, kp, x))
        if a != 0.0:
            if policy == SMALLEST and size == budget:
                for i in range(size):
                    row[i] = 0.0
                    for q in range(classes):
                        row[i] = max(row[i], abs(stored[i, q]))
            slot = choose_slot(row, marks, budget, policy)
            place(vectors, norms, births, sums, scales, slot, x)
            stored[slot] = 0.0
            stored[slot, y] = a / scales[SCALE]
            stored[slot, rival] = -a / scales[SCALE]
        scales[TOTAL] += scales[SCALE]
    return samples.shape[0]


@kernel
def multiclass_step(p, s, z, k_tt):
    """Return the coefficient for the class, and with the other sign for its rival; z is their difference."""
    s[T] += 1
    s[LAST] = z
    if z <= 0.0:
        s[MISTAKES] += 1
    a = 0.0
    if p[2] > 0.0:
        if z < 1.0 and k_tt > 0.0:
            a = min(p[2], (1.0 - z) / (2.0 * k_tt))
    elif z <= p[0]:
        a = p[1]
    if a != 0.0:
        s[VIOLATIONS] += 1
    return a
