"""Numba kernels of SVMD: gradient descent in kernel space whose step size descends as well.

One step on Q functions that share support vectors (Q = 1 but for several classes). Beside the arrays of a kernel
expansion, here with stored (cap, Q) f8, there are

trace (cap, Q) f8 = coefficients of the gradient trace v, unscaled; offsets (4, Q) f8 = b, its steps, its traces, sum
of b over all steps; distances (Q, Q) f8 of the labels, kappa (Q, Q) f8 = kernel of the labels, or (0, 0) for the
identity; work (6, Q) f8 = the rows F to SCORES below.
Equation numbers are those of Vishwanathan, Schraudolph, Smola 2006.
"""
# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np

from bgsub.learners._jit.decorator import kernel
from bgsub.learners._jit.projectron import dot as partial_sums
from bgsub.learners._jit.rules import LAST, LAST_NOVEL, LEVEL, MISTAKES, NORM2, STATE_SIZE, VIOLATIONS, T
from bgsub.learners._jit.store import (
    HEAD,
    OLDEST,
    SCALE,
    SIZE,
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

HINGE, LOGISTIC, NOVELTY, SQUARED, EPSILON, HUBER, MULTICLASS, SOFTMAX = 0, 1, 2, 3, 4, 5, 6, 7
ADAPTIVE, CONSTANT, SQUARE_ROOT, DELAYED = 0, 1, 2, 3

# Parameters p; WIDTH is eps or delta of a regression.
LOSS, C, ETA_0, MU, LAM, ETA_MAX, SCHEDULE, TAU, NU, LOG_RULE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
WITH_OFFSET, MU_B, LAM_B, MU_EPS, LAM_EPS, WIDTH, FIX = 10, 11, 12, 13, 14, 15, 16
# State s beyond that of all learners; NORM2 is |f|², LEVEL the margin.
ETA, PI, ETA_EPS, V_EPS = STATE_SIZE, STATE_SIZE + 1, STATE_SIZE + 2, STATE_SIZE + 3
SVMD_STATE_SIZE = STATE_SIZE + 4
# Rows of work and of offsets.
F, V, XI, CHI, W, SCORES = 0, 1, 2, 3, 4, 5
B, ETA_B, V_B, SUM_B = 0, 1, 2, 3

LOG_2 = math.log(2.0)


@kernel
def dot(a, b):
    """Return a·b of short arrays."""
    total = 0.0
    for q in range(a.shape[0]):
        total += a[q] * b[q]
    return total


@kernel
def form(kappa, a, b):
    """Return a·kappa b, a·b where kappa is empty."""
    if kappa.shape[0] == 0:
        return dot(a, b)
    total = 0.0
    for q in range(a.shape[0]):
        if a[q] != 0.0:
            total += a[q] * dot(kappa[q], b)
    return total


@kernel
def smear(kappa, values, scratch):
    """Replace values by kappa values."""
    if kappa.shape[0] > 0:
        for q in range(values.shape[0]):
            scratch[q] = dot(kappa[q], values)
        values[:] = scratch


@kernel
def differentiate(p, s, y, scores, distances, xi):
    """Write the derivative of the loss (table 1) to xi; return the violation flag and the second derivative.

    That of softmax is a matrix made of xi, see `bend`.
    """
    loss, level = p[LOSS], s[LEVEL]
    score = scores[0]
    xi[:] = 0.0
    if loss == MULTICLASS or loss == SOFTMAX:
        return differentiate_classes(loss, level, s, int(y), scores, distances, xi)
    s[LAST] = score
    violated, bend_by = 0.0, 0.0
    if loss == HINGE or loss == LOGISTIC:
        z = y * score
        if z <= 0.0:
            s[MISTAKES] += 1
        if loss == HINGE:
            violated = 1.0 if z < level else 0.0
            xi[0] = -y * violated
        else:
            violated = 1.0 if z <= 0.0 else 0.0
            small = math.exp(-abs(z))  # without overflow
            p_wrong = (small if z > 0.0 else 1.0) / (1.0 + small)
            xi[0], bend_by = -y * p_wrong, p_wrong * (1.0 - p_wrong)
    elif loss == NOVELTY:
        violated = 1.0 if score < level else 0.0
        xi[0] = -violated
        s[LAST_NOVEL] = violated
    else:
        difference = score - y
        if loss == SQUARED:
            violated, xi[0], bend_by = 1.0, difference, 1.0
        else:
            violated = 1.0 if abs(difference) > p[WIDTH] else 0.0
            if violated > 0.0:
                xi[0] = 1.0 if difference > 0.0 else -1.0
            elif loss == HUBER:
                xi[0], bend_by = difference / p[WIDTH], 1.0 / p[WIDTH]
    return violated, bend_by


@kernel
def differentiate_classes(loss, level, s, right, scores, distances, xi):
    """Do the same for several classes: (20), (24) and (29)."""
    classes = scores.shape[0]
    rival = 1 if right == 0 else 0
    for q in range(classes):
        if q != right and scores[q] > scores[rival]:
            rival = q
    s[LAST] = scores[right] - scores[rival]
    wrong = 1.0 if s[LAST] <= 0.0 else 0.0
    s[MISTAKES] += wrong
    if loss == SOFTMAX:
        highest, total = max(scores[right], scores[rival]), 0.0
        for q in range(classes):
            xi[q] = math.exp(scores[q] - highest)
            total += xi[q]
        for q in range(classes):
            xi[q] /= total
        xi[right] -= 1.0
        return wrong, 1.0
    worst = 1 if right == 0 else 0
    for q in range(classes):
        if q != right and level * distances[right, q] + scores[q] > level * distances[right, worst] + scores[worst]:
            worst = q
    if level * distances[right, worst] + scores[worst] - scores[right] <= 0.0:
        return 0.0, 0.0
    xi[right], xi[worst] = -1.0, 1.0
    return 1.0, 0.0


@kernel
def bend(loss, bend_by, right, xi, values, result):
    """Write R values to result, R being the second derivative of the loss: (46) and (47)."""
    if loss != SOFTMAX:
        for q in range(values.shape[0]):
            result[q] = bend_by * values[q]
        return
    mean = values[right]
    for q in range(values.shape[0]):
        mean += xi[q] * values[q]
    for q in range(values.shape[0]):
        p_q = xi[q] + 1.0 if q == right else xi[q]
        result[q] = p_q * (values[q] - mean)


@kernel
def scheduled(p, t):
    """Return the part of the first step that a schedule leaves at sample t: (62)."""
    if p[SCHEDULE] == SQUARE_ROOT:
        return 1.0 / math.sqrt(t)
    if p[SCHEDULE] == DELAYED:
        return math.sqrt(p[TAU] / (p[TAU] + t))
    return 1.0


@kernel
def meta_step(p, s, y, k_tt, distances, kappa, offsets, work):
    """Adapt the step size and all scalars to one sample at which work[F] and work[V] are f and v; fill XI and W.

    The new coefficients of f and v are -eta xi and -eta w; those before shrink as `shrink` does.
    """
    f, v, xi, chi, w, scores = work[F], work[V], work[XI], work[CHI], work[W], work[SCORES]
    c, lam, loss = p[C], p[LAM], p[LOSS]
    right = int(y) if loss == SOFTMAX else 0
    s[T] += 1
    for q in range(f.shape[0]):
        scores[q] = f[q] + offsets[B, q]
    violated, bend_by = differentiate(p, s, y, scores, distances, xi)
    s[VIOLATIONS] += violated
    eta = p[ETA_0] * scheduled(p, s[T])
    if p[SCHEDULE] == ADAPTIVE:
        eta = s[ETA] * max(0.5, 1.0 - p[MU] * (c * s[PI] + dot(xi, v)))  # (36), (48)
    eta = min(eta, p[ETA_MAX])
    if (loss == SQUARED or loss == HUBER) and bend_by > 0.0 and k_tt > 0.0:
        eta = min(eta, 1.0 / (bend_by * k_tt))  # a longer step overshoots its own target, and may diverge
    s[ETA] = eta
    if bend_by > 0.0:
        bend(loss, bend_by, right, xi, v, chi)
    else:
        chi[:] = 0.0
    for q in range(f.shape[0]):
        w[q] = xi[q] + lam * chi[q]
    shrink_by, xi_f = 1.0 - eta * c, dot(xi, f)
    fg = c * s[NORM2] + xi_f  # (51)
    fv = shrink_by * lam * s[PI] - eta * fg - eta * lam * dot(chi, f)  # (50), with the second derivative
    # v after the step at the sample, times xi: no other pass over the vectors is needed for it.
    xi_v = shrink_by * lam * dot(xi, v) - eta * c * xi_f - eta * k_tt * form(kappa, xi, w)
    s[PI] = shrink_by * fv - eta * xi_v  # (49)
    s[NORM2] = shrink_by * shrink_by * s[NORM2] - 2.0 * eta * shrink_by * xi_f + eta * eta * k_tt * form(kappa, xi, xi)
    if p[WITH_OFFSET] > 0.0:
        if bend_by > 0.0:
            bend(loss, bend_by, right, xi, offsets[V_B], chi)
        for q in range(f.shape[0]):
            eta_b = offsets[ETA_B, q]
            if p[SCHEDULE] == ADAPTIVE:
                eta_b *= max(0.5, 1.0 - p[MU_B] * xi[q] * offsets[V_B, q])  # (54)
                offsets[ETA_B, q] = eta_b
            else:
                eta_b *= scheduled(p, s[T])
            offsets[V_B, q] = p[LAM_B] * offsets[V_B, q] - eta_b * (xi[q] + p[LAM_B] * chi[q])  # (55)
            offsets[B, q] -= eta_b * xi[q]
            offsets[SUM_B, q] += offsets[B, q]
    if p[NU] > 0.0:
        move_margin(p, s, violated)


@kernel
def move_margin(p, s, violated):
    """Equations (59) to (61) with nu - e for xi + nu, and a bounded exponent."""
    if p[LOG_RULE] > 0.0:
        s[LEVEL] *= math.exp(min(max(s[ETA_EPS] * (p[NU] - violated), -LOG_2), LOG_2))
        return
    u = s[LEVEL] * (p[NU] - violated)
    if p[SCHEDULE] == ADAPTIVE:
        s[ETA_EPS] *= max(0.5, 1.0 + p[MU_EPS] * s[V_EPS] * u)
    s[V_EPS] = p[LAM_EPS] * s[V_EPS] + s[ETA_EPS] * u * (1.0 + p[LAM_EPS] * s[V_EPS])
    s[LEVEL] *= math.exp(min(max(s[ETA_EPS] * u, -LOG_2), LOG_2))


@kernel
def shrink(p, s, stored, births, sums, marks, scales, trace):
    """Equations (43) and (35) for the coefficients there are: v takes from f, then f shrinks."""
    eta_c = s[ETA] * p[C]
    count = marks[SIZE] * trace.shape[1]
    keep, take = (1.0 - eta_c) * p[LAM], eta_c * scales[SCALE]
    old, flat = stored.reshape(stored.size), trace.reshape(trace.size)
    for i in range(count):
        flat[i] = keep * flat[i] - take * old[i]
    decay(stored, births, sums, marks, scales, 1.0 - eta_c)


@kernel
def values_of_both(row, stored, trace, size, scale, work):
    """Write f and v, before the label kernel."""
    if stored.shape[1] > 1:
        multiclass_scores(row, stored, size, scale, work[F])
        multiclass_scores(row, trace, size, 1.0, work[V])
        return
    # f with the bits of `value`, v in partial sums that do not wait for each other.
    work[F, 0] = combine(row, stored.reshape(stored.size), size, scale)
    work[V, 0] = partial_sums(row, trace.reshape(trace.size), size)


@kernel
def forget(s, stored, trace, scale, size, slot, others, new, kappa, work):
    """Take the vector at `slot` out of |f|² and <f, v>; the new one counts, being there already.

    others (size,) = its kernel values with all, itself among them; new = that with the new vector.
    """
    xi, w, fo, vo, a, b = work[XI], work[W], work[F], work[V], work[CHI], work[SCORES]
    eta = s[ETA]
    if stored.shape[1] > 1:
        values_of_both(others, stored, trace, size, scale, work)
    else:
        fo[0] = scale * partial_sums(others, stored.reshape(stored.size), size)
        vo[0] = partial_sums(others, trace.reshape(trace.size), size)
    for q in range(fo.shape[0]):
        fo[q] -= eta * new * xi[q]
        vo[q] -= eta * new * w[q]
        a[q], b[q] = scale * stored[slot, q], trace[slot, q]
    own = others[slot]
    s[PI] += own * form(kappa, a, b) - form(kappa, a, vo) - form(kappa, b, fo)
    s[NORM2] = max(s[NORM2] + own * form(kappa, a, a) - 2.0 * form(kappa, a, fo), 0.0)


@kernel
def put(s, stored, trace, scale, slot, work):
    """Write the coefficients of the new vector."""
    for q in range(stored.shape[1]):
        stored[slot, q] = -s[ETA] * work[XI, q] / scale
        trace[slot, q] = -s[ETA] * work[W, q]


@kernel
def worth_storing(work, k_tt):
    """Whether the sample changes f or v."""
    if k_tt > 0.0:
        for q in range(work.shape[1]):
            if work[XI, q] != 0.0 or work[W, q] != 0.0:
                return True
    return False


@kernel
def svmd_rows(
    first, plan, p, s, kp, vectors, norms, stored, births, sums, marks, scales, row, other, trace, offsets,
    distances, kappa, work, samples, targets, steps,
):  # fmt: skip
    """Learn samples (m, d) from row `first` on, and write their steps unless `steps` is empty; return the row reached.

    That is m unless the arrays must grow. other (cap,) f8 scratch.
    """
    kind, budget = plan[1], plan[2]
    for t in range(first, samples.shape[0]):
        if full(stored, marks, budget):
            return t
        x, size = samples[t], marks[SIZE]
        fill_row(kind, kp, vectors, norms, size, x, row)
        values_of_both(row, stored, trace, size, scales[SCALE], work)
        smear(kappa, work[F], work[CHI])
        smear(kappa, work[V], work[CHI])
        k_tt = diagonal(kind, kp, x)
        meta_step(p, s, targets[t], k_tt, distances, kappa, offsets, work)
        shrink(p, s, stored, births, sums, marks, scales, trace)
        if worth_storing(work, k_tt):
            slot = marks[HEAD]
            if size == budget and p[FIX] > 0.0:
                oldest = vectors[:, slot].astype(np.float64)
                fill_row(kind, kp, vectors, norms, size, oldest, other)
                forget(s, stored, trace, scales[SCALE], size, slot, other, row[slot], kappa, work)
            slot = choose_slot(norms, marks, budget, OLDEST)
            place(vectors, norms, births, sums, scales, slot, x)
            put(s, stored, trace, scales[SCALE], slot, work)
        scales[TOTAL] += scales[SCALE]
        if steps.shape[0] > 0:
            steps[t] = s[ETA]
    return samples.shape[0]
