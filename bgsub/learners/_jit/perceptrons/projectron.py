"""The Projectron in compiled code: a perceptron that projects onto the span of its support vectors.

One set of support vectors for two classes, one for each class where there are more.

A factor holds the triangular factor of the Gram matrix below the diagonal and its transpose above: substitution in
both directions then subtracts multiples of contiguous rows, which is vectorised without reordering sums. Or, on
demand, it is the inverse of the Gram matrix.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.losses import best_wrong
from bgsub.learners._jit.records import Array, State
from bgsub.learners._jit.store import MercerKernel, combine, diagonal, fill_row

NO_MARGIN, PUBLISHED, EXPERIMENTS, BOUNDED = 0, 1, 2, 3

FACTOR_GUARD, INVERSE_GUARD = 1e-10, 1e-6


@dataclass
class ProjectronParameters:
    """The Projectron."""

    eta2: float  # squared distance up to which a sample is projected
    margin: int  # NO_MARGIN, PUBLISHED, EXPERIMENTS or BOUNDED
    inverse: bool  # whether factors are inverses
    bound: float  # U, the largest norm of the hypothesis, for BOUNDED
    budget: int  # most vectors of a set, or -1
    each: bool  # whether each function's distance counts, not the sum of both


@dataclass
class ProjectedStore(MercerKernel):
    """The kernel, and how many samples were learned."""

    steps: float = 0.0


class Projected(NamedTuple):
    """Arrays of Q functions, each with room for `cap` support vectors.

    A coefficient summed over all steps, for averaging, is sums + coefficient (steps - births).
    """

    store: Array  # (1,) record: ProjectedStore
    vectors: Array  # (Q, d, cap) f8 or f4
    norms: Array  # (Q, cap) f8: s·s
    coefficients: Array  # (Q, cap) f8
    births: Array  # (Q, cap) f8: steps when the coefficient changed last
    sums: Array  # (Q, cap) f8: sum of coefficients over the steps until then
    sizes: Array  # (Q,) i8: vectors stored
    factors: Array  # (Q, cap, cap) f8
    rows: Array  # (Q, cap) f8 scratch: kernel values with the sample at hand
    u: Array  # (Q, cap) f8 scratch: L^-1 row
    w: Array  # (Q, cap) f8 scratch: K^-1 row
    scores: Array  # (Q,) f8 scratch: values at the sample at hand


class Pair(NamedTuple):
    """The functions that a sample changes: one with two classes, else that of its class and that of the best other."""

    first: int
    second: int
    both: bool  # whether there is a second one
    sign: float  # of the first one's step


class Distances(NamedTuple):
    """Projections of a sample onto the spans of a pair."""

    norm2: float  # squared norm, summed over the pair
    delta2: float  # squared distance, summed
    largest: float  # the larger of the two


@part
def dot(a: Array, b: Array, size: int) -> float:
    """Return a·b in eight partial sums: one sum would wait for each addition."""
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = size - size % 8
    for i in range(0, whole, 8):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
    for i in range(whole, size):
        s0 += a[i] * b[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@part
def forward(factor: Array, inverse: bool, row: Array, size: int, u: Array, w: Array) -> float:
    """Prepare the projection of x with kernel values `row`; return the squared norm of the projection.

    Writes u = L^-1 row; with the inverse, w = K^-1 row.
    """
    if inverse:
        w[:size] = 0.0
        for i in range(size):
            line, value = factor[i], row[i]
            for j in range(size):
                w[j] += value * line[j]
        return dot(row, w, size)
    for i in range(size):
        u[i] = row[i]
    total = 0.0
    whole = size - size % 4
    for i in range(0, whole, 4):  # four rows of the factor at once, so that u is read and written a quarter as often
        for k in range(i, i + 4):
            u[k] /= factor[k, k]
            total += u[k] * u[k]
            for j in range(k + 1, i + 4):
                u[j] -= u[k] * factor[k, j]
        # Slices, since a loop that does not start at 0 is not vectorised: its index could be negative.
        rest, line0, line1 = u[i + 4 : size], factor[i, i + 4 : size], factor[i + 1, i + 4 : size]
        line2, line3 = factor[i + 2, i + 4 : size], factor[i + 3, i + 4 : size]
        u0, u1, u2, u3 = u[i], u[i + 1], u[i + 2], u[i + 3]
        for j in range(rest.shape[0]):
            rest[j] -= (u0 * line0[j] + u1 * line1[j]) + (u2 * line2[j] + u3 * line3[j])
    for i in range(whole, size):
        line = factor[i]
        value = u[i] / line[i]
        u[i] = value
        total += value * value
        for j in range(i + 1, size):
            u[j] -= value * line[j]
    return total


@shared
def backward(factor: Array, inverse: bool, size: int, u: Array, w: Array) -> None:
    """Write the coefficients of the projection, K^-1 row, to w."""
    if inverse:
        return
    for i in range(size):
        w[i] = u[i]
    whole = size - size % 4
    for i in range(size - 1, whole - 1, -1):
        line = factor[i]
        w[i] /= line[i]
        for j in range(i):
            w[j] -= w[i] * line[j]
    for i in range(whole - 4, -1, -4):
        for k in range(i + 3, i - 1, -1):
            w[k] /= factor[k, k]
            for j in range(i, k):
                w[j] -= w[k] * factor[k, j]
        line0, line1, line2, line3 = factor[i], factor[i + 1], factor[i + 2], factor[i + 3]
        w0, w1, w2, w3 = w[i], w[i + 1], w[i + 2], w[i + 3]
        for j in range(i):
            w[j] -= (w0 * line0[j] + w1 * line1[j]) + (w2 * line2[j] + w3 * line3[j])


@part
def extend(factor: Array, inverse: bool, size: int, u: Array, w: Array, delta2: float) -> None:
    """Add a vector at squared distance delta2 from the span to the factor."""
    if inverse:
        w[size] = -1.0
        for i in range(size + 1):
            if i == size:
                factor[i, : size + 1] = 0.0
            factor[i, size] = 0.0
        for i in range(size + 1):
            line, value = factor[i], w[i] / delta2
            for j in range(size + 1):
                line[j] += value * w[j]
        return
    for i in range(size):
        factor[i, size], factor[size, i] = u[i], u[i]
    factor[size, size] = math.sqrt(delta2)


@part
def settle(e: Projected, q: int) -> None:
    """Add up the coefficients of function q for averaging, before they change."""
    steps = e.store[0].steps
    for i in range(e.sizes[q]):
        e.sums[q, i] += e.coefficients[q, i] * (steps - e.births[q, i])
        e.births[q, i] = steps


@part
def cut_of(p: ProjectronParameters, delta2: float) -> float:
    """Return how large 1 - z must be for a margin update to pay."""
    if p.margin == EXPERIMENTS:
        return delta2 / (2.0 * p.eta2) if delta2 > 0.0 else 0.0
    return math.sqrt(delta2 / p.eta2) if delta2 > 0.0 else 0.0


@part
def margin_step(p: ProjectronParameters, loss: float, pk: float, delta2: float, largest: float) -> float:
    """Return tau of a margin update, at most `largest`, 0 for none."""
    if pk <= 0.0:
        return 0.0
    if p.margin == BOUNDED:
        tau = min(loss / pk, largest)
        return tau if 2.0 * loss - tau * pk - 2.0 * p.bound * math.sqrt(delta2) >= 0.0 else 0.0
    cut = cut_of(p, delta2)
    return min(loss / pk, 2.0 * (loss - cut) / pk, largest) if loss > cut else 0.0


@part
def choose_pair(scores: Array, y: float) -> Pair:
    """Return the functions to change; y = -1 or 1, or the number of the class."""
    if scores.shape[0] == 1:
        return Pair(0, 0, False, y)
    right = int(y)
    return Pair(right, best_wrong(scores, right), True, 1.0)


@part
def project(p: ProjectronParameters, e: Projected, pair: Pair, k_tt: float) -> Distances:
    """Prepare the projections of the sample whose kernel rows are known, and return how far it is from the spans."""
    norm2, delta2, largest = 0.0, 0.0, 0.0
    for c in range(2 if pair.both else 1):
        q = pair.first if c == 0 else pair.second
        norm = forward(e.factors[q], p.inverse, e.rows[q], e.sizes[q], e.u[q], e.w[q])
        distance = max(k_tt - norm, 0.0)
        norm2 += norm
        delta2 += distance
        largest = max(largest, distance)
    return Distances(norm2, delta2, largest)


@part
def is_near(p: ProjectronParameters, z: float, d: Distances) -> bool:
    """Whether a mistake is close enough to the span to be projected."""
    if p.margin == BOUNDED:
        return math.sqrt(d.delta2) <= (2.0 * (1.0 - z) - d.norm2 - 0.5) / (2.0 * p.bound)
    return (d.largest if p.each else d.delta2) <= p.eta2


@part
def change(p: ProjectronParameters, e: Projected, q: int, x: Array, k_tt: float, a: float, projects: bool) -> None:
    """Add a times x, or its projection, to function q; dependent vectors and a full set are always projected."""
    size = e.sizes[q]
    u, w, factor, coefficients = e.u[q], e.w[q], e.factors[q], e.coefficients[q]
    distance = k_tt
    if size > 0:
        distance = max(k_tt - (dot(e.rows[q], w, size) if p.inverse else dot(u, u, size)), 0.0)
    settle(e, q)
    guard = (INVERSE_GUARD if p.inverse else FACTOR_GUARD) * k_tt
    if size > 0 and (projects or distance < guard or size == p.budget):
        backward(factor, p.inverse, size, u, w)
        for i in range(size):
            coefficients[i] += a * w[i]
        return
    extend(factor, p.inverse, size, u, w, distance)
    norm = 0.0
    for j in range(x.shape[0]):
        e.vectors[q, j, size] = x[j]
        norm += x[j] * x[j]
    e.norms[q, size], coefficients[size], e.sums[q, size] = norm, a, 0.0
    e.births[q, size] = e.store[0].steps
    e.sizes[q] = size + 1


@shared
def step(p: ProjectronParameters, s: State, e: Projected, x: Array, k_tt: float, y: float) -> None:
    """Learn one sample whose kernel rows and scores are known; y = -1 or 1, or the number of its class."""
    s.t += 1
    pair = choose_pair(e.scores, y)
    z = e.scores[pair.first] - e.scores[pair.second] if pair.both else y * e.scores[0]
    s.last = z if pair.both else e.scores[0]
    mistake = z <= 0.0
    if mistake:
        s.mistakes += 1
    some = e.sizes[pair.first] > 0 and e.sizes[pair.second] > 0
    if k_tt > 0.0 and (mistake or (p.margin != NO_MARGIN and z < 1.0 and some)):
        distances = project(p, e, pair, k_tt)
        if mistake:
            tau, projects = s.importance, some and is_near(p, z, distances)
        else:
            tau, projects = margin_step(p, 1.0 - z, distances.norm2, distances.delta2, s.importance), True
        if tau > 0.0:
            if not mistake:
                s.violations += 1
            change(p, e, pair.first, x, k_tt, tau * pair.sign, projects)
            if pair.both:
                change(p, e, pair.second, x, k_tt, -tau, projects)
    e.store[0].steps += 1.0


@compiled_views
def projectron_rows(
    first: int, parameters: Array, state: Array, e: Projected, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) with targets and weights (m,) from row `first` on.

    Return the row reached, m unless the arrays must grow.
    """
    p, s, store = parameters[0], state[0], e.store[0]
    capacity = e.coefficients.shape[1]
    for t in range(first, len(samples)):
        x = samples[t]
        for q in range(e.scores.shape[0]):
            if e.sizes[q] == capacity and capacity != p.budget:
                return t
            fill_row(store, e.vectors[q], e.norms[q], e.sizes[q], x, e.rows[q])
            e.scores[q] = combine(e.rows[q], e.coefficients[q], e.sizes[q], 1.0)
        s.importance = importance[t]
        step(p, s, e, x, diagonal(store, x), targets[t])
    return len(samples)


@compiled_views
def projected_values(e: Projected, q: int, weights: Array, samples: Array, row: Array, out: Array) -> None:
    """Write the value of function q with coefficients weights (cap,) at each row of samples (m, d) to out (m,).

    row (cap,) f8 is scratch of the caller's own.
    """
    store = e.store[0]
    for t in range(samples.shape[0]):
        fill_row(store, e.vectors[q], e.norms[q], e.sizes[q], samples[t], row)
        out[t] = combine(row, weights, e.sizes[q], 1.0)
