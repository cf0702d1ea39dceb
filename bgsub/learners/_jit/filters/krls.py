"""Kernel recursive least squares in compiled code, on the same factor as the Projectron's.

Everything happens in the orthonormal basis that the factor L of the Gram matrix makes of the dictionary: a sample is
u = L^-1 k, and the fit is least squares of y on the u of all samples. A vector that joins is one more coordinate, 0 in
all samples before it. What is kept is the triangular factor of that problem: root (cap, cap + 1) f8 holds R, upper
triangular with R^T R = sum of u u^T, zeros below, and in the next column z with R^T z = sum of u y. The function is
theta·u with R theta = z; it and the coefficients L^-T theta are computed when somebody asks for them.

One sample is rotated into R, which loses no digits. For many samples R^T R is summed up and factorised once: a third
of the multiplications, done while they are in the first-level cache. Where that would lose digits, they are rotated
too.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.perceptrons.projectron import FACTOR_GUARD, dot, extend, forward
from bgsub.learners._jit.records import Array, State
from bgsub.learners._jit.store import diagonal, fill_row

BLOCK = 24  # samples summed up at a time
SMALLEST_PIVOT = 1e-6  # square of R's diagonal in units of the sum's: it has lost as many digits as this has zeros


@dataclass
class KRLSParameters:
    """Kernel recursive least squares."""

    nu: float  # squared distance from which a sample becomes a vector
    budget: int  # most vectors, or -1


class LeastSquares(NamedTuple):
    """Arrays of the dictionary and of the least-squares problem, with room for `cap` vectors."""

    kernel: Array  # (1,) record: MercerKernel
    vectors: Array  # (d, cap) f8 or f4
    norms: Array  # (cap,) f8: s·s
    sizes: Array  # (1,) i8: vectors stored
    factor: Array  # (cap, cap) f8: L below the diagonal, its transpose above
    root: Array  # (cap, cap + Q) f8: R, and z of each of Q targets in the columns after it
    row: Array  # (cap,) f8 scratch: kernel values with the sample at hand
    w: Array  # (cap,) f8 scratch
    block: Array  # (BLOCK, cap + Q) f8 scratch: samples that are summed up at a time
    total: Array  # (cap, cap + Q) f8 scratch: R^T R and R^T z


@part
def rotate(root: Array, size: int, width: int, u: Array) -> float:
    """Add the row u (width,) to R and z; return the weight of its remainder, which u then is.

    Plain rotations would leave u / sqrt(weight). Without the root, no row waits for that of another, and
    u[size] and those after it, which were targets, become y - theta·u with theta from before.
    """
    weight = 1.0
    whole = size - size % 2
    for i in range(0, whole, 2):  # two rows of R at once, so that u is read and written half as often
        line0, line1 = root[i], root[i + 1]
        a0, x = u[i] / line0[i], u[i + 1]
        a1 = (x - a0 * line0[i + 1]) / line1[i + 1]
        weight0 = weight + a0 * a0
        weight1 = weight0 + a1 * a1
        g0, g1 = math.sqrt(weight / weight0), math.sqrt(weight0 / weight1)
        h0, h1 = a0 * g0 / weight, a1 * g1 / weight0
        line0[i] /= g0
        line0[i + 1] = g0 * line0[i + 1] + h0 * x
        line1[i + 1] /= g1
        # Slices, since a loop that does not start at 0 is not vectorised: its index could be negative.
        rest, line0, line1 = u[i + 2 : width], line0[i + 2 : width], line1[i + 2 : width]
        for j in range(rest.shape[0]):
            x, r0, r1 = rest[j], line0[j], line1[j]
            line0[j] = g0 * r0 + h0 * x
            x -= a0 * r0
            line1[j] = g1 * r1 + h1 * x
            rest[j] = x - a1 * r1
        weight = weight1
    for i in range(whole, size):
        line = root[i]
        a = u[i] / line[i]
        after = weight + a * a
        g = math.sqrt(weight / after)
        h = a * g / weight
        line[i] /= g
        for j in range(i + 1, width):
            x = u[j]
            u[j] -= a * line[j]
            line[j] = g * line[j] + h * x
        weight = after
    return weight


@compiled_views
def solve(root: Array, size: int, target: int, theta: Array) -> None:
    """Write theta of R theta = z of one target."""
    whole, last = size - size % 4, size + target
    for i in range(size - 1, whole - 1, -1):
        line, value = root[i], root[i, last]
        for j in range(i + 1, size):
            value -= line[j] * theta[j]
        theta[i] = value / line[i]
    for i in range(whole - 4, -1, -4):  # four sums at once, since each waits for its last addition
        known = theta[i + 4 : size]
        line0, line1, line2, line3 = root[i], root[i + 1], root[i + 2], root[i + 3]
        rest0, rest1, rest2, rest3 = line0[i + 4 :], line1[i + 4 :], line2[i + 4 :], line3[i + 4 :]
        s0, s1, s2, s3 = line0[last], line1[last], line2[last], line3[last]
        for j in range(known.shape[0]):
            value = known[j]
            s0 -= rest0[j] * value
            s1 -= rest1[j] * value
            s2 -= rest2[j] * value
            s3 -= rest3[j] * value
        s3 /= line3[i + 3]
        s2 = (s2 - line2[i + 3] * s3) / line2[i + 2]
        s1 = (s1 - line1[i + 2] * s2 - line1[i + 3] * s3) / line1[i + 1]
        s0 = (s0 - line0[i + 1] * s1 - line0[i + 2] * s2 - line0[i + 3] * s3) / line0[i]
        theta[i], theta[i + 1], theta[i + 2], theta[i + 3] = s0, s1, s2, s3


@part
def count_targets(e: LeastSquares) -> int:
    """Return Q."""
    targets: int = e.root.shape[1] - e.root.shape[0]
    return targets


@part
def joins(p: KRLSParameters, size: int, k_tt: float, delta2: float) -> bool:
    """Whether a sample at squared distance delta2 becomes a vector."""
    return delta2 > max(p.nu, FACTOR_GUARD * k_tt) and size != p.budget


@part
def add_vector(e: LeastSquares, x: Array, delta2: float) -> None:
    """Make x a vector at squared distance delta2 from the span: one more coordinate, 0 in all samples before."""
    size = e.sizes[0]
    extend(e.factor, False, size, e.block[0], e.w, delta2)
    norm = 0.0
    for j in range(x.shape[0]):
        e.vectors[j, size] = x[j]
        norm += x[j] * x[j]
    e.norms[size], e.sizes[0] = norm, size + 1
    for i in range(size):
        for j in range(size + count_targets(e), size, -1):
            e.root[i, j] = e.root[i, j - 1]
        e.root[i, size] = 0.0
    e.block[0, size] = math.sqrt(delta2)


@shared
def step(p: KRLSParameters, s: State, e: LeastSquares, x: Array, k_tt: float, y: Array) -> bool:
    """Learn one sample whose kernel row is known, with targets y (Q,); return whether it joined the dictionary."""
    size, u, root = e.sizes[0], e.block[0], e.root
    explained = forward(e.factor, False, e.row, size, u, e.w)
    s.t += 1
    s.last = 0.0
    if k_tt <= 0.0:
        return False
    delta2 = max(k_tt - explained, 0.0)
    new = joins(p, size, k_tt, delta2)
    if new:
        add_vector(e, x, delta2)
    last = e.sizes[0]
    width = last + y.shape[0]
    for q in range(y.shape[0]):
        u[last + q] = y[q]
    scale = math.sqrt(s.importance)
    for j in range(width):
        u[j] *= scale
    weight = rotate(root, size, width, u)
    s.last = y[0] - u[last] / scale
    if new:
        for j in range(size):
            root[size, j] = 0.0
        for j in range(size, width):
            root[size, j] = u[j] / math.sqrt(weight)
    return new


@part
def add_products(out: Array, rows: Array, count: int, start: int, stop: int, sign: float) -> None:
    """Add sign · rows[t, start] rows[t, j] of the first `count` rows t to out[j], where start <= j < stop."""
    line = out[start:stop]
    whole = count - count % 4
    for t in range(0, whole, 4):
        x0, x1, x2, x3 = rows[t, start:stop], rows[t + 1, start:stop], rows[t + 2, start:stop], rows[t + 3, start:stop]
        c0, c1, c2, c3 = sign * x0[0], sign * x1[0], sign * x2[0], sign * x3[0]
        for j in range(line.shape[0]):
            line[j] = line[j] + c0 * x0[j] + c1 * x1[j] + c2 * x2[j] + c3 * x3[j]
    for t in range(whole, count):
        x = rows[t, start:stop]
        c = sign * x[0]
        for j in range(line.shape[0]):
            line[j] += c * x[j]


@part
def forward_rows(factor: Array, size: int, block: Array, count: int) -> None:
    """Turn the first `count` kernel rows of a block into L^-1 k."""
    whole = size - size % 4
    for i in range(0, whole, 4):
        line0, line1, line2, line3 = factor[i], factor[i + 1], factor[i + 2], factor[i + 3]
        f01, f02, f03, f12, f13, f23 = (
            line0[i + 1],
            line0[i + 2],
            line0[i + 3],
            line1[i + 2],
            line1[i + 3],
            line2[i + 3],
        )
        d0, d1, d2, d3 = 1.0 / line0[i], 1.0 / line1[i + 1], 1.0 / line2[i + 2], 1.0 / line3[i + 3]
        line0, line1, line2, line3 = line0[i + 4 : size], line1[i + 4 : size], line2[i + 4 : size], line3[i + 4 : size]
        for t in range(count):
            u = block[t]
            u0 = u[i] * d0
            u1 = (u[i + 1] - f01 * u0) * d1
            u2 = (u[i + 2] - f02 * u0 - f12 * u1) * d2
            u3 = (u[i + 3] - f03 * u0 - f13 * u1 - f23 * u2) * d3
            u[i], u[i + 1], u[i + 2], u[i + 3] = u0, u1, u2, u3
            rest = u[i + 4 : size]
            for j in range(rest.shape[0]):
                rest[j] = rest[j] - u0 * line0[j] - u1 * line1[j] - u2 * line2[j] - u3 * line3[j]
    for i in range(whole, size):
        line = factor[i]
        for t in range(count):
            u = block[t]
            u[i] /= line[i]
            for j in range(i + 1, size):
                u[j] -= u[i] * line[j]


@part
def factorise(root: Array, size: int, width: int, total: Array, diagonals: Array) -> bool:
    """Make R and z of total, which holds R^T R and R^T z above its diagonal; return False where that loses digits."""
    for i in range(size):
        diagonals[i] = total[i, i]
        line = total[i]
        add_products(line, total[:i], i, i, width, -1.0)
        if not line[i] > SMALLEST_PIVOT * diagonals[i]:
            return False
        scale = 1.0 / math.sqrt(line[i])
        for j in range(i, width):
            line[j] *= scale
    for i in range(size):
        for j in range(i, width):
            root[i, j] = total[i, j]
    return True


@part
def well_posed(root: Array, size: int, diagonals: Array) -> bool:
    """Whether R^T R would keep the digits of R."""
    diagonals[:size] = 0.0
    for i in range(size):
        line = root[i]
        for j in range(i, size):
            diagonals[j] += line[j] * line[j]
    smallest = 1.0
    for i in range(size):
        smallest = min(smallest, root[i, i] * root[i, i] / diagonals[i])
    return smallest > SMALLEST_PIVOT


@part
def absorb(
    p: KRLSParameters, e: LeastSquares, first: int, stop: int, samples: Array, targets: Array, importance: Array
) -> tuple[int, bool]:
    """Learn samples from row `first` on as one, up to `stop` or the first that joins.

    Return how many these are, and whether they were learned: not where they are few or would lose digits.
    """
    size, root, total, some = e.sizes[0], e.root, e.total, targets.shape[1]
    width = size + some
    if not well_posed(root, size, e.w):
        return 0, False
    for i in range(size):
        total[i, i:width] = 0.0
        add_products(total[i], root, i + 1, i, width, 1.0)
    start, joined = first, False
    while start < stop and not joined:
        count = min(BLOCK, stop - start)
        for t in range(count):
            fill_row(e.kernel[0], e.vectors, e.norms, size, samples[start + t], e.block[t])
        forward_rows(e.factor, size, e.block, count)
        for t in range(count):
            u, k_tt = e.block[t], diagonal(e.kernel[0], samples[start + t])
            for q in range(some):
                u[size + q] = targets[start + t, q]
            if joins(p, size, k_tt, k_tt - dot(u, u, size)):
                count, joined = t, True
                break
            scale = math.sqrt(importance[start + t])
            for j in range(width):
                u[j] *= scale
        for i in range(size):
            add_products(total[i], e.block, count, i, width, 1.0)
        start += count
    seen = start - first
    return seen, 2 * seen >= size and factorise(root, size, width, total, e.w)


@compiled_views
def krls_rows(
    first: int, parameters: Array, state: Array, e: LeastSquares, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) with targets (m, Q) and weights (m,) from row `first` on.

    Return the row reached, m unless the arrays must grow.
    """
    p, s = parameters[0], state[0]
    t, again, last = first, first, len(samples) - 1
    while t <= last:
        size = e.sizes[0]
        if size == e.norms.shape[0] and size != p.budget:
            return t
        if t >= again and last - t >= size > 0:  # the last one goes alone, since its prediction is kept
            seen, learned = absorb(p, e, t, last, samples, targets, importance)
            if learned:
                t += seen
                s.t += seen
            else:
                again = t + seen + 2 * size  # summing up did not pay: not before as many single steps
        x = samples[t]
        fill_row(e.kernel[0], e.vectors, e.norms, size, x, e.row)
        s.importance = importance[t]
        if step(p, s, e, x, diagonal(e.kernel[0], x), targets[t]):
            again = max(again, t + e.sizes[0])
        t += 1
    return len(samples)
