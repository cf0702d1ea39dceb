"""Numba kernels of kernel recursive least squares, on the same factor as the Projectron's."""

from bgsub.learners._compile import shared_kernel
from bgsub.learners._projectron_kernels import FACTOR_GUARD, backward, dot, extend, forward
from bgsub.learners._rule_kernels import LAST, T
from bgsub.learners._store_kernels import combine, diagonal, fill_row

TIDY_EVERY = 100  # steps between averaging P with its transpose, which rounding sets apart


@shared_kernel
def step(p, s, x, k_tt, y, f, vectors, norms, alpha, sizes, factor, row, u, w, covariance, pa, q):
    """Learn one sample whose kernel row and value f are known; p = nu, budget or -1.

    vectors (d, cap) f8, norms, alpha, row, u, w, pa, q (cap,) f8, sizes (1,) i8, factor and covariance P (cap, cap).
    """
    s[T] += 1
    s[LAST] = f
    size, error = sizes[0], y - f
    if k_tt <= 0.0:
        return
    delta2 = max(k_tt - forward(factor, 0.0, row, size, u, w), 0.0)
    backward(factor, 0.0, size, u, w)
    if delta2 > max(p[0], FACTOR_GUARD * k_tt) and size != p[1]:
        for i in range(size):
            alpha[i] -= w[i] * error / delta2
            covariance[i, size], covariance[size, i] = 0.0, 0.0
        extend(factor, 0.0, size, u, w, delta2)
        norm = 0.0
        for j in range(x.shape[0]):
            vectors[j, size] = x[j]
            norm += x[j] * x[j]
        norms[size], alpha[size], covariance[size, size], sizes[0] = norm, error / delta2, 1.0, size + 1
        return
    if size == 0:
        return
    pa[:size] = 0.0
    for i in range(size):
        line, value = covariance[i], w[i]
        for j in range(size):
            pa[j] += value * line[j]
    gain = 1.0 + dot(w, pa, size)
    for i in range(size):
        q[i] = pa[i] / gain
    for i in range(size):
        line, value = covariance[i], q[i]
        for j in range(size):
            line[j] -= value * pa[j]
    forward(factor, 0.0, q, size, u, w)
    backward(factor, 0.0, size, u, w)
    for i in range(size):
        alpha[i] += w[i] * error
    if s[T] % TIDY_EVERY == 0:
        for i in range(size):
            for j in range(i):
                mean = 0.5 * (covariance[i, j] + covariance[j, i])
                covariance[i, j], covariance[j, i] = mean, mean


@shared_kernel
def krls_rows(
    first, kind, kp, p, s, vectors, norms, alpha, sizes, factor, row, u, w, covariance, pa, q, samples, targets
):  # fmt: skip
    """Learn samples (m, d) from row `first` on; return the row reached, m unless the arrays must grow."""
    for t in range(first, samples.shape[0]):
        size = sizes[0]
        if size == alpha.shape[0] and size != p[1]:
            return t
        x = samples[t]
        fill_row(kind, kp, vectors, norms, size, x, row)
        f = combine(row, alpha, size, 1.0)
        k_tt = diagonal(kind, kp, x)
        step(p, s, x, k_tt, targets[t], f, vectors, norms, alpha, sizes, factor, row, u, w, covariance, pa, q)
    return samples.shape[0]
