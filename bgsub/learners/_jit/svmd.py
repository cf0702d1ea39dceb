"""SVMD in compiled code: gradient descent in kernel space whose step size descends as well.

One step on Q functions that share support vectors (Q = 1 but for several classes). Equation numbers are those of
Vishwanathan, Schraudolph, Smola 2006.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.classes import decay_columns, multiclass_scores
from bgsub.learners._jit.losses import (
    bend_softmax,
    best_wrong,
    class_slope,
    has_sides,
    slope,
)
from bgsub.learners._jit.perceptrons.projectron import dot as partial_sums
from bgsub.learners._jit.records import Array, State
from bgsub.learners._jit.schedules import ADAPTIVE, step_size
from bgsub.learners._jit.store import (
    Expansion,
    Store,
    choose_slot,
    combine,
    diagonal,
    fill_row,
    full,
    place,
)

LOG_2 = math.log(2.0)


@dataclass(kw_only=True)
class SVMDParameters:
    """The three kinds of SVMD."""

    loss: int
    regression: bool  # whether targets are numbers to be met, which a step must not overshoot
    width: float  # of the loss of a regression
    c: float
    eta_0: float
    mu: float
    lam: float
    eta_max: float
    schedule: int
    tau: float
    buffer_fix: bool
    nu: float = 0.0  # share of violations; 0 keeps the margin
    log_rule: bool = False
    mu_eps: float = 0.0
    lam_eps: float = 0.0
    with_offset: bool = False
    mu_b: float = 0.0
    lam_b: float = 0.0


@dataclass
class SVMDState(State):
    """State of SVMD."""

    eta: float = 0.0  # step size
    f_dot_v: float = 0.0  # <f, v>, pi in the paper
    norm2: float = 0.0  # |f|²
    level: float = 1.0  # the margin
    eta_eps: float = 0.0  # step of the margin
    v_eps: float = 0.0  # trace of the margin
    last_novel: float = 0.0


@dataclass
class Offset:
    """The constant b of one function."""

    b: float = 0.0
    eta: float = 0.0  # its step
    v: float = 0.0  # trace of its gradients
    total: float = 0.0  # sum of b over all steps, for averaging


class Labels(NamedTuple):
    """What several classes have to each other."""

    distances: Array  # (Q, Q) f8: margin that each wrong label has to keep from each right one
    kappa: Array  # (Q, Q) f8: kernel of the labels, or (0, 0) for the identity


class Traced(NamedTuple):
    """Arrays of Q functions f with their gradient traces v over the same support vectors."""

    expansion: Expansion  # with stored and sums (cap, Q)
    trace: Array  # (cap, Q) f8: coefficients of v, unscaled
    offsets: Array  # (Q,) records: Offset
    labels: Labels | None  # None of one function: what is for several is then not compiled
    work: Array  # (6, Q) f8 scratch: the rows of `Work`
    replaced: Array  # (d,) f8 scratch: the vector that a sample replaces
    other: Array  # (cap,) f8 scratch: kernel values with it


class Work(NamedTuple):
    """Values of a step at the sample at hand, (Q,) f8 each."""

    f: Array  # f without offset
    v: Array  # the trace
    xi: Array  # derivative of the loss
    chi: Array  # second derivative of the loss times v
    w: Array  # xi + lam chi
    scores: Array  # f with offset


@part
def rows_of(work: Array) -> Work:
    """Return the rows of scratch (6, Q) by name."""
    return Work(work[0], work[1], work[2], work[3], work[4], work[5])


@part
def dot(a: Array, b: Array) -> float:
    """Return a·b of short arrays."""
    total = 0.0
    for q in range(a.shape[0]):
        total += a[q] * b[q]
    return total


@part
def form(labels: Labels | None, a: Array, b: Array) -> float:
    """Return a·kappa b, a·b where kappa is the identity."""
    if labels is None:
        return dot(a, b)
    kappa, total = labels.kappa, 0.0
    if kappa.shape[0] == 0:
        return dot(a, b)
    for q in range(a.shape[0]):
        if a[q] != 0.0:
            total += a[q] * dot(kappa[q], b)
    return total


@part
def smear(labels: Labels | None, values: Array, scratch: Array) -> None:
    """Replace values (Q,) by kappa values."""
    if labels is None:
        return
    kappa = labels.kappa
    if kappa.shape[0] > 0:
        for q in range(values.shape[0]):
            scratch[q] = dot(kappa[q], values)
        for q in range(values.shape[0]):
            values[q] = scratch[q]


@part
def differentiate(p: SVMDParameters, s: SVMDState, labels: Labels | None, work: Work, y: float) -> tuple[float, float]:
    """Write the derivative of the weighted loss to work.xi; return its second derivative and the violation."""
    if labels is not None:
        right = int(y)
        curvature, violated = class_slope(p.loss, work.scores, right, labels.distances, s.level, work.xi)
        s.last = work.scores[right] - work.scores[best_wrong(work.scores, right)]
        if s.last <= 0.0:
            s.mistakes += 1
    else:
        s.last = work.scores[0]
        level = p.width if p.regression else s.level
        work.xi[0], curvature, violated = slope(p.loss, s.last, y, level, 1.0)
        if has_sides(p.loss) and y * s.last <= 0.0:
            s.mistakes += 1
        s.last_novel = violated
    for q in range(work.xi.shape[0]):
        work.xi[q] *= s.importance
    return curvature * s.importance, violated


@part
def adapt_step(p: SVMDParameters, s: SVMDState, work: Work, curvature: float, k_tt: float) -> None:
    """Set the step size for the sample."""
    if p.schedule == ADAPTIVE:
        eta = s.eta * max(0.5, 1.0 - p.mu * (p.c * s.f_dot_v + dot(work.xi, work.v)))  # (36), (48)
    else:
        eta = p.eta_0 * step_size(1.0, p.schedule, p.tau, s.t)  # (62)
    eta = min(eta, p.eta_max)
    if p.regression and curvature > 0.0 and k_tt > 0.0:
        eta = min(eta, 1.0 / (curvature * k_tt))  # a longer step overshoots its own target, and may diverge
    s.eta = eta


@part
def carry_products(p: SVMDParameters, s: SVMDState, labels: Labels | None, work: Work, k_tt: float) -> None:
    """Move |f|² and <f, v> to where they are after the step."""
    f, v, xi, chi, w = work.f, work.v, work.xi, work.chi, work.w
    c, lam, eta = p.c, p.lam, s.eta
    shrink_by, xi_f = 1.0 - eta * c, dot(xi, f)
    fg = c * s.norm2 + xi_f  # (51)
    fv = shrink_by * lam * s.f_dot_v - eta * fg - eta * lam * dot(chi, f)  # (50), with the second derivative
    # v after the step at the sample, times xi: no other pass over the vectors is needed for it.
    xi_v = shrink_by * lam * dot(xi, v) - eta * c * xi_f - eta * k_tt * form(labels, xi, w)
    s.f_dot_v = shrink_by * fv - eta * xi_v  # (49)
    s.norm2 = shrink_by * shrink_by * s.norm2 - 2.0 * eta * shrink_by * xi_f + eta * eta * k_tt * form(labels, xi, xi)


@part
def bend(s: SVMDState, labels: Labels | None, work: Work, curvature: float, y: float) -> None:
    """Write the second derivative of the loss times work.v to work.chi."""
    if labels is not None:
        bend_softmax(s.importance, int(y), work.xi, work.v, work.chi)  # the only curved loss of classes
    else:
        work.chi[0] = curvature * work.v[0]


@shared
def move_offsets(
    p: SVMDParameters, s: SVMDState, labels: Labels | None, offsets: Array, work: Work, curvature: float, y: float
) -> None:
    """Take a step of the offsets and of their own step sizes."""
    xi, chi = work.xi, work.chi
    if curvature > 0.0:
        for q in range(xi.shape[0]):
            work.v[q] = offsets[q].v  # the trace of f is not needed any more
        bend(s, labels, work, curvature, y)
    for q in range(xi.shape[0]):
        offset = offsets[q]
        eta = offset.eta
        if p.schedule == ADAPTIVE:
            eta *= max(0.5, 1.0 - p.mu_b * xi[q] * offset.v)  # (54)
            offset.eta = eta
        else:
            eta *= step_size(1.0, p.schedule, p.tau, s.t)
        offset.v = p.lam_b * offset.v - eta * (xi[q] + p.lam_b * chi[q])  # (55)
        offset.b -= eta * xi[q]
        offset.total += offset.b


@shared
def move_margin(p: SVMDParameters, s: SVMDState, violated: float) -> None:
    """Equations (59) to (61) with nu - e for xi + nu, and a bounded exponent."""
    if p.log_rule:
        s.level *= math.exp(min(max(s.eta_eps * s.importance * (p.nu - violated), -LOG_2), LOG_2))
        return
    u = s.level * s.importance * (p.nu - violated)
    if p.schedule == ADAPTIVE:
        s.eta_eps *= max(0.5, 1.0 + p.mu_eps * s.v_eps * u)
    s.v_eps = p.lam_eps * s.v_eps + s.eta_eps * u * (1.0 + p.lam_eps * s.v_eps)
    s.level *= math.exp(min(max(s.eta_eps * u, -LOG_2), LOG_2))


@shared
def meta_step(
    p: SVMDParameters, s: SVMDState, labels: Labels | None, offsets: Array, work: Work, y: float, k_tt: float
) -> None:
    """Adapt the step size and all scalars to one sample whose f and v are known; fill xi and w.

    The new coefficients of f and v are -eta xi and -eta w; those before shrink as `shrink` does.
    """
    s.t += 1
    for q in range(work.f.shape[0]):
        work.scores[q] = work.f[q] + offsets[q].b
    curvature, violated = differentiate(p, s, labels, work, y)
    s.violations += violated
    adapt_step(p, s, work, curvature, k_tt)
    if curvature > 0.0:
        bend(s, labels, work, curvature, y)
    else:
        work.chi[:] = 0.0
    for q in range(work.f.shape[0]):
        work.w[q] = work.xi[q] + p.lam * work.chi[q]
    carry_products(p, s, labels, work, k_tt)
    if p.with_offset:
        move_offsets(p, s, labels, offsets, work, curvature, y)
    if p.nu > 0.0:
        move_margin(p, s, violated)


@shared
def shrink(p: SVMDParameters, s: SVMDState, e: Expansion, trace: Array, scratch: Array) -> None:
    """Equations (43) and (35) for the coefficients there are: v loses a share of f, then f shrinks."""
    store, stored = e.store[0], e.stored
    eta_c = s.eta * p.c
    count = store.count * trace.shape[1]
    keep, lose = (1.0 - eta_c) * p.lam, eta_c * store.scale
    old, flat = stored.reshape(stored.size), trace.reshape(trace.size)
    for i in range(count):
        flat[i] = keep * flat[i] - lose * old[i]
    decay_columns(store, stored, e.births, e.sums, 1.0 - eta_c, scratch)


@part
def values_of_both(
    labels: Labels | None, store: Store, stored: Array, trace: Array, row: Array, f: Array, v: Array
) -> None:
    """Write f and v (Q,), before the label kernel, at the sample or vector whose kernel values are row (cap,)."""
    if labels is not None:
        multiclass_scores(row, stored, store.count, store.scale, f)
        multiclass_scores(row, trace, store.count, 1.0, v)
        return
    # f with the bits of `evaluate`, v in partial sums that do not wait for each other.
    f[0] = combine(row, stored.reshape(stored.size), store.count, store.scale)
    v[0] = partial_sums(row, trace.reshape(trace.size), store.count)


@shared
def forget(
    s: SVMDState, e: Expansion, trace: Array, labels: Labels | None, work: Work, slot: int, others: Array, new: float
) -> None:
    """Subtract the vector at `slot` from |f|² and <f, v>; the new one counts, its step being done.

    others (size,) = kernel values of the vector with all, itself among them; new = that with the new vector.
    """
    store, stored = e.store[0], e.stored
    xi, w, fo, vo, a, b = work.xi, work.w, work.f, work.v, work.chi, work.scores
    eta, scale = s.eta, store.scale
    if labels is not None:
        values_of_both(labels, store, stored, trace, others, fo, vo)
    else:
        fo[0] = scale * partial_sums(others, stored.reshape(stored.size), store.count)
        vo[0] = partial_sums(others, trace.reshape(trace.size), store.count)
    for q in range(fo.shape[0]):
        fo[q] -= eta * new * xi[q]
        vo[q] -= eta * new * w[q]
        a[q], b[q] = scale * stored[slot, q], trace[slot, q]
    own = others[slot]
    s.f_dot_v += own * form(labels, a, b) - form(labels, a, vo) - form(labels, b, fo)
    s.norm2 = max(s.norm2 + own * form(labels, a, a) - 2.0 * form(labels, a, fo), 0.0)


@shared
def put(s: SVMDState, e: Expansion, trace: Array, work: Work, x: Array) -> None:
    """Store x (d,) with the coefficients of the step; there must be room."""
    store = e.store[0]
    slot = choose_slot(store, e.norms)
    place(e, slot, x)
    for q in range(trace.shape[1]):
        e.stored[slot, q] = -s.eta * work.xi[q] / store.scale
        trace[slot, q] = -s.eta * work.w[q]


@shared
def worth_storing(work: Work, k_tt: float) -> bool:
    """Whether the sample changes f or v."""
    if k_tt > 0.0:
        for q in range(work.xi.shape[0]):
            if work.xi[q] != 0.0 or work.w[q] != 0.0:
                return True
    return False


@compiled_views
def svmd_rows(
    first: int, parameters: Array, state: Array, h: Traced, samples: Array, targets: Array, importance: Array,
    steps: Array,
) -> int:  # fmt: skip
    """Learn samples (m, d) with targets and weights (m,) from row `first` on.

    Their steps are written unless `steps` is empty. Return the row reached, m unless the arrays must grow.
    """
    p, s, e = parameters[0], state[0], h.expansion
    store, work = e.store[0], rows_of(h.work)
    for t in range(first, len(samples)):
        if full(e):
            return t
        x, size = samples[t], store.count
        s.importance = importance[t]
        fill_row(store, e.vectors, e.norms, size, x, e.row)
        values_of_both(h.labels, store, e.stored, h.trace, e.row, work.f, work.v)
        smear(h.labels, work.f, work.chi)
        smear(h.labels, work.v, work.chi)
        k_tt = diagonal(store, x)
        meta_step(p, s, h.labels, h.offsets, work, targets[t], k_tt)
        shrink(p, s, e, h.trace, h.other)
        if worth_storing(work, k_tt):
            if size == store.budget and p.buffer_fix:
                oldest = store.oldest
                for j in range(len(h.replaced)):
                    h.replaced[j] = e.vectors[j, oldest]
                fill_row(store, e.vectors, e.norms, size, h.replaced, h.other)
                forget(s, e, h.trace, h.labels, work, oldest, h.other, e.row[oldest])
            put(s, e, h.trace, work, x)
        store.scale_sum += store.scale
        if steps.shape[0] > 0:
            steps[t] = s.eta
    return len(samples)
