"""Numba kernels of the Projectron: a perceptron that projects onto the span of its support vectors.

One set of support vectors for two classes, one a class for more. Arrays, for Q sets of at most cap vectors:

vectors (Q, d, cap) f8, norms (Q, cap) f8 = s·s, coefficients (Q, cap) f8, sizes (Q,) i8, factors (Q, cap, cap) f8,
births and sums (Q, cap) f8 for averaging: a coefficient summed over all steps is sums + coefficient (steps - birth),
steps (1,) f8, rows, u, w (Q, cap) f8 scratch, scores (Q,) f8.

A factor holds the triangular factor of the Gram matrix below the diagonal and its transpose above: substitution in
both directions then subtracts multiples of contiguous rows, which is vectorised without reordering sums. Or, on
demand, it is the inverse of the Gram matrix.
"""

import math

from bgsub.learners._jit.decorator import kernel
from bgsub.learners._jit.rules import LAST, MISTAKES, VIOLATIONS, T
from bgsub.learners._jit.store import combine, diagonal, fill_row

# Parameters p.
ETA2, MARGIN, INVERSE, BOUND, BUDGET, EACH = 0, 1, 2, 3, 4, 5
NO_MARGIN, PUBLISHED, EXPERIMENTS, BOUNDED = 0, 1, 2, 3

FACTOR_GUARD, INVERSE_GUARD = 1e-10, 1e-6


@kernel
def dot(a, b, size):
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


@kernel
def forward(factor, inverse, row, size, u, w):
    """Prepare the projection of x with kernel values `row`; return the squared norm of the projection.

    Writes u = L^-1 row; with the inverse, w = K^-1 row.
    """
    if inverse > 0.0:
        w[:size] = 0.0
        for i in range(size):
            line, value = factor[i], row[i]
            for j in range(size):
                w[j] += value * line[j]
        return dot(row, w, size)
    u[:size] = row[:size]
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


@kernel
def backward(factor, inverse, size, u, w):
    """Write the coefficients of the projection, K^-1 row, to w."""
    if inverse > 0.0:
        return
    w[:size] = u[:size]
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


@kernel
def extend(factor, inverse, size, u, w, delta2):
    """Take one more vector into the factor, at squared distance delta2 from the span."""
    if inverse > 0.0:
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


@kernel
def settle(coefficients, births, sums, size, steps):
    """Add up coefficients for averaging, before they change."""
    for i in range(size):
        sums[i] += coefficients[i] * (steps - births[i])
        births[i] = steps


@kernel
def cut_of(p, delta2):
    """Return how large 1 - z must be for a margin update to pay."""
    if p[MARGIN] == EXPERIMENTS:
        return delta2 / (2.0 * p[ETA2]) if delta2 > 0.0 else 0.0
    return math.sqrt(delta2 / p[ETA2]) if delta2 > 0.0 else 0.0


@kernel
def margin_step(p, loss, pk, delta2):
    """Return tau of a margin update, 0 for none."""
    if p[MARGIN] == BOUNDED:
        tau = min(loss / pk, 1.0)
        return tau if 2.0 * loss - tau * pk - 2.0 * p[BOUND] * math.sqrt(delta2) >= 0.0 else 0.0
    cut = cut_of(p, delta2)
    return min(loss / pk, 2.0 * (loss - cut) / pk, 1.0) if loss > cut else 0.0


@kernel
def step(
    p, s, x, k_tt, y, scores, vectors, norms, coefficients, births, sums, sizes, steps, factors, rows, u, w
):  # fmt: skip
    """Learn one sample whose kernel rows and scores are known; y = -1 or 1, or the number of its class."""
    s[T] += 1
    first, second, count, sign = 0, 0, 1, y
    z = y * scores[0]
    if scores.shape[0] > 1:
        first, second, count, sign = int(y), 1 if y == 0 else 0, 2, 1.0
        for q in range(scores.shape[0]):
            if q != first and scores[q] > scores[second]:
                second = q
        z = scores[first] - scores[second]
    s[LAST] = scores[0] if count == 1 else z
    mistake = z <= 0.0
    if mistake:
        s[MISTAKES] += 1
    some = sizes[first] > 0 and sizes[second] > 0
    if k_tt > 0.0 and (mistake or (p[MARGIN] != NO_MARGIN and z < 1.0 and some)):
        guard = (INVERSE_GUARD if p[INVERSE] > 0.0 else FACTOR_GUARD) * k_tt
        pk, delta2, largest = 0.0, 0.0, 0.0
        for c in range(count):
            q = first if c == 0 else second
            norm = forward(factors[q], p[INVERSE], rows[q], sizes[q], u[q], w[q])
            distance = max(k_tt - norm, 0.0)
            pk += norm
            delta2 += distance
            largest = max(largest, distance)
        if not mistake:
            tau = margin_step(p, 1.0 - z, pk, delta2) if pk > 0.0 else 0.0
            project = True
        else:
            tau = 1.0
            near = (largest if p[EACH] > 0.0 else delta2) <= p[ETA2]
            if p[MARGIN] == BOUNDED:
                near = math.sqrt(delta2) <= (2.0 * (1.0 - z) - pk - 0.5) / (2.0 * p[BOUND])
            project = some and near
        if tau > 0.0:
            if not mistake:
                s[VIOLATIONS] += 1
            for c in range(count):
                q = first if c == 0 else second
                a = tau * sign if c == 0 else -tau
                size = sizes[q]
                distance = k_tt
                if size > 0:
                    distance = max(
                        k_tt - (dot(u[q], u[q], size) if p[INVERSE] == 0.0 else dot(rows[q], w[q], size)), 0.0
                    )
                settle(coefficients[q], births[q], sums[q], size, steps[0])
                if size > 0 and (project or distance < guard or size == p[BUDGET]):
                    backward(factors[q], p[INVERSE], size, u[q], w[q])
                    for i in range(size):
                        coefficients[q, i] += a * w[q, i]
                else:
                    extend(factors[q], p[INVERSE], size, u[q], w[q], distance)
                    norm = 0.0
                    for j in range(x.shape[0]):
                        vectors[q, j, size] = x[j]
                        norm += x[j] * x[j]
                    norms[q, size], coefficients[q, size], sums[q, size] = norm, a, 0.0
                    births[q, size] = steps[0]
                    sizes[q] = size + 1
    steps[0] += 1.0


@kernel
def projectron_rows(
    first, kind, kp, p, s, vectors, norms, coefficients, births, sums, sizes, steps, factors, rows, u, w, scores,
    samples, targets,
):  # fmt: skip
    """Learn samples (m, d) from row `first` on; return the row reached, m unless the arrays must grow."""
    capacity = coefficients.shape[1]
    for t in range(first, samples.shape[0]):
        x = samples[t]
        for q in range(scores.shape[0]):
            if sizes[q] == capacity and capacity != p[BUDGET]:
                return t
            fill_row(kind, kp, vectors[q], norms[q], sizes[q], x, rows[q])
            scores[q] = combine(rows[q], coefficients[q], sizes[q], 1.0)
        k_tt = diagonal(kind, kp, x)
        step(
            p, s, x, k_tt, targets[t], scores, vectors, norms, coefficients, births, sums, sizes, steps, factors,
            rows, u, w,
        )  # fmt: skip
    return samples.shape[0]
