"""Numba kernels of a kernel expansion: kernel rows, values, forgetting and replacement, over plain arrays.

Support vectors lie feature by feature, (d, capacity): the inner loops then run over contiguous vectors and are
vectorised without reordering any sum. Arrays that belong to one expansion:

vectors (d, cap) f8, norms (cap,) f8 = s·s, stored (cap,) or (cap, Q) f8 = coefficients / scale,
marks (3,) i8 = size, slot of the oldest, random state, scales (2,) f8 = scale, sum of the scales of all steps,
births (cap,) f8 = that sum when the vector came, sums like stored: what averaging added up before the scale was
last set back to 1, so that a coefficient summed over all steps is sums + stored (sum of scales - birth);
kp (3,) f8 = gamma, coef0, degree of the kernel.
"""

import numpy as np

from bgsub.learners._jit.decorator import kernel

GAUSSIAN, LAPLACIAN, POLYNOMIAL, LINEAR = 0, 1, 2, 3
SIZE, HEAD, DRAW = 0, 1, 2
SCALE, TOTAL = 0, 1
OLDEST, SMALLEST, RANDOM = 0, 1, 2
NO_BUDGET = -1

SMALLEST_SCALE = 1e-6
LOWEST = -708.0  # e**-708 is above the smallest normal number
LOG2_E, ROUND = 1.4426950408889634, 1.5 * 2.0**52  # adding ROUND leaves round(y) in the low bits
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the former times 1024 is exact
TOP = np.int64(52)  # bits of the mantissa, below the exponent
C3, C4, C5, C6, C7 = 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
C8, C9, C10, C11, C12 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600
BLOCK = 1024  # sums of so many vectors stay in the first-level cache


@kernel
def power(base, degree):
    """base**degree by squaring: the library's power goes through logarithms."""
    result = 1.0
    exponent = int(degree)
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@kernel
def exp_nonpositive(y):
    """e**y for y <= 0 within 2 units in the last place, 0 below -708.

    The library's exp keeps a loop from being vectorised and takes four times as long: here are a rounding to n, the
    series of e**r with |r| <= log(2) / 2, and an addition of n to the bits of the exponent.
    """
    z = max(y, LOWEST)
    shifted = z * LOG2_E + ROUND
    n = shifted - ROUND
    r = (z - n * LN2_HIGH) - n * LN2_LOW
    p = C12 * r + C11
    p = p * r + C10
    p = p * r + C9
    p = p * r + C8
    p = p * r + C7
    p = p * r + C6
    p = p * r + C5
    p = p * r + C4
    p = p * r + C3
    p = p * r + 0.5
    p = 1.0 + (r + r * r * p)
    exponent = np.float64(shifted).view(np.int64) << TOP
    result = np.int64(np.float64(p).view(np.int64) + exponent).view(np.float64)
    return result if y >= LOWEST else 0.0


@kernel
def diagonal(kind, kp, x):
    """k(x, x)."""
    if kind == GAUSSIAN or kind == LAPLACIAN:
        return 1.0
    square = 0.0
    for j in range(x.shape[0]):
        square += x[j] * x[j]
    if kind == LINEAR:
        return square
    return power(kp[0] * square + kp[1], kp[2])


@kernel
def fill_row(kind, kp, vectors, norms, size, x, row):
    """Write k(s_i, x) of all vectors to row[:size]."""
    features = x.shape[0]
    nonzero, square = 0, 0.0
    for j in range(features):
        if x[j] != 0.0:
            nonzero += 1
            square += x[j] * x[j]
    # Where few features are not zero, |s - x|² = |s|² + |x|² - 2 s·x needs only those.
    sparse = features >= 16 and 4 * nonzero <= features
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        sums = row[start:stop]
        sums[:] = 0.0
        if kind == LAPLACIAN:
            for j in range(features):
                feature, value = vectors[j, start:stop], x[j]
                for i in range(stop - start):
                    sums[i] += abs(feature[i] - value)
        elif kind == GAUSSIAN and not sparse:
            for j in range(features):
                feature, value = vectors[j, start:stop], x[j]
                for i in range(stop - start):
                    difference = feature[i] - value
                    sums[i] += difference * difference
        else:
            for j in range(features):
                if x[j] != 0.0:
                    feature, value = vectors[j, start:stop], x[j]
                    for i in range(stop - start):
                        sums[i] += feature[i] * value
            if kind == GAUSSIAN:
                norm = norms[start:stop]
                for i in range(stop - start):
                    sums[i] = max(norm[i] + square - 2.0 * sums[i], 0.0)
        if kind == GAUSSIAN or kind == LAPLACIAN:
            for i in range(stop - start):
                sums[i] = exp_nonpositive(-kp[0] * sums[i])
        elif kind == POLYNOMIAL:
            for i in range(stop - start):
                sums[i] = power(kp[0] * sums[i] + kp[1], kp[2])


@kernel
def combine(row, stored, size, scale):
    """Return scale · sum of row_i stored_i."""
    total = 0.0
    for i in range(size):
        total += row[i] * stored[i]
    return scale * total


@kernel
def value(kind, kp, vectors, norms, size, weights, scale, row, x):
    """Return f(x), with the bits that learning gives it."""
    fill_row(kind, kp, vectors, norms, size, x, row)
    return combine(row, weights, size, scale)


@kernel
def values(kind, kp, vectors, norms, size, weights, scale, row, samples, out):
    """Write f of each row of samples (m, d) to out (m,)."""
    for t in range(samples.shape[0]):
        fill_row(kind, kp, vectors, norms, size, samples[t], row)
        out[t] = combine(row, weights, size, scale)


@kernel
def multiclass_scores(row, stored, size, scale, scores):
    """Write the value of each class to scores (Q,)."""
    scores[:] = 0.0
    for i in range(size):
        for q in range(stored.shape[1]):
            scores[q] += row[i] * stored[i, q]
    scores *= scale


@kernel
def multiclass_values(kind, kp, vectors, norms, size, weights, scale, row, samples, out):
    """Write the values of all classes at each row of samples (m, d) to out (m, Q)."""
    for t in range(samples.shape[0]):
        fill_row(kind, kp, vectors, norms, size, samples[t], row)
        multiclass_scores(row, weights, size, scale, out[t])


@kernel
def decay(stored, births, sums, marks, scales, factor):
    """Multiply all coefficients by factor; one that is not positive forgets everything."""
    if factor <= 0.0:
        marks[SIZE], marks[HEAD], scales[SCALE] = 0, 0, 1.0
        return
    scales[SCALE] *= factor
    if scales[SCALE] < SMALLEST_SCALE:
        for i in range(marks[SIZE]):
            sums[i] += stored[i] * (scales[TOTAL] - births[i])
            stored[i] *= scales[SCALE]
            births[i] = 0.0
        scales[TOTAL] = 0.0
        scales[SCALE] = 1.0


@kernel
def choose_slot(weights, marks, budget, policy):
    """Return the slot for a new vector, and count it where the store has room; weights (cap,) say what is small."""
    size = marks[SIZE]
    if size != budget:
        marks[SIZE] += 1
        return size
    if policy == RANDOM:
        # Lehmer's generator fits into a saved integer and is the same with and without a compiler.
        marks[DRAW] = marks[DRAW] * 48271 % 2147483647
        return marks[DRAW] % budget
    if policy == SMALLEST:
        slot = 0
        for i in range(size):
            if abs(weights[i]) < abs(weights[slot]):
                slot = i
        return slot
    slot = marks[HEAD]
    marks[HEAD] = (slot + 1) % budget
    return slot


@kernel
def place(vectors, norms, births, sums, scales, slot, x):
    """Write a vector to its slot."""
    norm = 0.0
    for j in range(x.shape[0]):
        vectors[j, slot] = x[j]
        norm += x[j] * x[j]
    norms[slot] = norm
    births[slot] = scales[TOTAL]
    sums[slot] = 0.0


@kernel
def full(stored, marks, budget):
    """Whether the arrays must grow before another vector can come."""
    return marks[SIZE] == stored.shape[0] and stored.shape[0] != budget
