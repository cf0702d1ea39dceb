"""Numba kernels of kernel recursive least squares, on the same factor as the Projectron's.

All is done in the orthonormal basis that the factor L of the Gram matrix makes of the dictionary: a sample is
u = L^-1 k, the function theta·u, and what the paper's P is to the rows of projections a = L^-T u, the matrix
C = L^-1 P L^-T is to the u. One substitution then does for a step where P needs four; the coefficients L^-T theta are
computed when somebody asks for them.

theta (cap,) f8, scatter (cap, cap) f8, pending (4, cap) f8 and held (1,) i8, where C = scatter - the sum of h h^T over
the first `held` rows h of pending: a step subtracts such a product, and four at once cost little more than one.
"""

import math

from bgsub.learners._compile import shared_kernel
from bgsub.learners._projectron_kernels import FACTOR_GUARD, dot, extend, forward
from bgsub.learners._rule_kernels import LAST, T
from bgsub.learners._store_kernels import diagonal, fill_row


@shared_kernel
def times(scatter, pending, held, size, u, g):
    """Write g = C u."""
    g[:size] = 0.0
    whole = size - size % 4
    for i in range(0, whole, 4):  # four rows at once, so that g is read and written a quarter as often
        line0, line1, line2, line3 = scatter[i], scatter[i + 1], scatter[i + 2], scatter[i + 3]
        u0, u1, u2, u3 = u[i], u[i + 1], u[i + 2], u[i + 3]
        for j in range(size):
            g[j] += (u0 * line0[j] + u1 * line1[j]) + (u2 * line2[j] + u3 * line3[j])
    for i in range(whole, size):
        line, value = scatter[i], u[i]
        for j in range(size):
            g[j] += value * line[j]
    for k in range(held[0]):
        h = pending[k]
        value = dot(h, u, size)
        for j in range(size):
            g[j] -= value * h[j]


@shared_kernel
def subtract(scatter, pending, held, size):
    """Subtract all four products that are pending; symmetric to the last bit."""
    p0, p1, p2, p3 = pending[0], pending[1], pending[2], pending[3]
    for i in range(size):
        line, h0, h1, h2, h3 = scatter[i], p0[i], p1[i], p2[i], p3[i]
        for j in range(size):
            line[j] -= (h0 * p0[j] + h1 * p1[j]) + (h2 * p2[j] + h3 * p3[j])
    held[0] = 0


@shared_kernel
def step(p, s, x, k_tt, y, vectors, norms, theta, sizes, factor, row, u, g, scatter, pending, held):
    """Learn one sample whose kernel row is known; p = nu, budget or -1.

    vectors (d, cap) f8, norms, row, u, g (cap,) f8, sizes (1,) i8, factor (cap, cap) f8.
    """
    size = sizes[0]
    explained = forward(factor, 0.0, row, size, u, g)
    s[T] += 1
    s[LAST] = dot(theta, u, size)
    if k_tt <= 0.0:
        return
    error, delta2 = y - s[LAST], max(k_tt - explained, 0.0)
    times(scatter, pending, held, size, u, g)
    gain = 1.0 + dot(u, g, size)
    if delta2 > max(p[0], FACTOR_GUARD * k_tt) and size != p[1]:
        delta = math.sqrt(delta2)
        for i in range(size):
            scatter[i, size], scatter[size, i] = -g[i] / delta, -g[i] / delta
        scatter[size, size], theta[size] = gain / delta2, error / delta
        pending[:, size] = 0.0
        extend(factor, 0.0, size, u, g, delta2)
        norm = 0.0
        for j in range(x.shape[0]):
            vectors[j, size] = x[j]
            norm += x[j] * x[j]
        norms[size], sizes[0] = norm, size + 1
        return
    root, h = math.sqrt(gain), pending[held[0]]
    for i in range(size):
        theta[i] += g[i] * error / gain
        h[i] = g[i] / root
    held[0] += 1
    if held[0] == pending.shape[0]:
        subtract(scatter, pending, held, size)


@shared_kernel
def krls_rows(
    first, kind, kp, p, s, vectors, norms, theta, sizes, factor, row, u, g, scatter, pending, held, samples,
    targets,
):  # fmt: skip
    """Learn samples (m, d) from row `first` on; return the row reached, m unless the arrays must grow."""
    for t in range(first, samples.shape[0]):
        size = sizes[0]
        if size == theta.shape[0] and size != p[1]:
            return t
        x = samples[t]
        fill_row(kind, kp, vectors, norms, size, x, row)
        k_tt = diagonal(kind, kp, x)
        step(p, s, x, k_tt, targets[t], vectors, norms, theta, sizes, factor, row, u, g, scatter, pending, held)
    return samples.shape[0]
