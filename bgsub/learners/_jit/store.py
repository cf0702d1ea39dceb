"""A kernel expansion in compiled code: kernel rows, values, forgetting and replacement, over plain arrays.

Support vectors lie feature by feature, (d, capacity): the inner loops then run over contiguous vectors and are
vectorised without reordering any sum.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.records import Array

UNKNOWN, GAUSSIAN, LAPLACIAN, POLYNOMIAL, LINEAR = -1, 0, 1, 2, 3
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


@dataclass
class MercerKernel:
    """A kernel as compiled code computes it; the meaning of the numbers is that of the class of the same name."""

    kind: int = UNKNOWN
    gamma: float = 0.0
    coef0: float = 0.0
    degree: float = 0.0


@dataclass
class Store(MercerKernel):
    """The kernel of an expansion, its rules of replacement, and the state that changes as it learns."""

    budget: int = NO_BUDGET  # most vectors kept
    policy: int = OLDEST  # which vector a full store replaces
    draw: int = 1  # state of the random replacement
    count: int = 0  # vectors stored
    oldest: int = 0  # slot of the oldest vector of a full ring, the next to be replaced
    scale: float = 1.0  # a coefficient is scale · stored
    scale_sum: float = 0.0  # sum of the scales of all steps since the scale was last set back to 1


class Expansion(NamedTuple):
    """Arrays of a kernel expansion with room for `cap` support vectors, of which the first `count` are in use.

    A coefficient summed over all steps, for averaging, is sums + stored (scale_sum - births).
    """

    store: Array  # (1,) record: Store
    vectors: Array  # (d, cap) f8 or f4
    norms: Array  # (cap,) f8: s·s
    stored: Array  # (cap,) or, for Q functions, (cap, Q) f8: coefficients / scale
    births: Array  # (cap,) f8: scale_sum when the vector came
    sums: Array  # like stored: sums over the steps before the scale was last set back to 1
    row: Array  # (cap,) f8 scratch: kernel values with the sample at hand


@part
def power(base: float, degree: float) -> float:
    """base**degree by squaring: the library's power goes through logarithms."""
    result = 1.0
    exponent = int(degree)
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@shared
def exp_nonpositive(y: float) -> float:
    """e**y for y <= 0 within 2 units in the last place, 0 below -708.

    The library's exp keeps a loop from being vectorised and needs four times as long: here are a rounding to n, the
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


@part
def diagonal(k: MercerKernel, x: Array) -> float:
    """k(x, x)."""
    if k.kind == GAUSSIAN or k.kind == LAPLACIAN:
        return 1.0
    square = 0.0
    for j in range(x.shape[0]):
        square += x[j] * x[j]
    if k.kind == LINEAR:
        return square
    return power(k.gamma * square + k.coef0, k.degree)


@part
def fill_row(k: MercerKernel, vectors: Array, norms: Array, size: int, x: Array, row: Array) -> None:
    """Write k(s_i, x) of the first `size` vectors to row."""
    kind, gamma, coef0, degree = k.kind, k.gamma, k.coef0, k.degree
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
                sums[i] = exp_nonpositive(-gamma * sums[i])
        elif kind == POLYNOMIAL:
            for i in range(stop - start):
                sums[i] = power(gamma * sums[i] + coef0, degree)


@part
def combine(row: Array, weights: Array, size: int, scale: float) -> float:
    """Return scale · sum of row_i weights_i."""
    total = 0.0
    for i in range(size):
        total += row[i] * weights[i]
    return scale * total


@part
def evaluate(e: Expansion, x: Array) -> float:
    """Fill the kernel row of x (d,) and return f(x)."""
    store = e.store[0]
    fill_row(store, e.vectors, e.norms, store.count, x, e.row)
    return combine(e.row, e.stored, store.count, store.scale)


@compiled_views
def value(store: Array, vectors: Array, norms: Array, weights: Array, scale: float, row: Array, x: Array) -> float:
    """Return the value at x (d,) with coefficients scale · weights (cap,), for calls from Python.

    Those of an expansion as single arrays, since numba unpacks a tuple of them in twice the time.
    """
    fill_row(store[0], vectors, norms, store[0].count, x, row)
    return combine(row, weights, store[0].count, scale)


@compiled_views
def values(
    store: Array, vectors: Array, norms: Array, weights: Array, scale: float, samples: Array, row: Array, out: Array
) -> None:
    """Write the value with coefficients scale · weights (cap,) at each row of samples (m, d) to out (m,).

    row (cap,) f8 is scratch of the caller's own: that of the expansion belongs to whoever learns.
    """
    for t in range(samples.shape[0]):
        fill_row(store[0], vectors, norms, store[0].count, samples[t], row)
        out[t] = combine(row, weights, store[0].count, scale)


@part
def mass(e: Expansion) -> float:
    """Return the sum of all coefficients."""
    store = e.store[0]
    total: float = 0.0
    for i in range(store.count):
        total += e.stored[i]
    return total * float(store.scale)


@part
def decay(e: Expansion, factor: float) -> None:
    """Multiply all coefficients (cap,) by factor; one that is not positive forgets everything."""
    store = e.store[0]
    if factor <= 0.0:
        store.count, store.oldest, store.scale = 0, 0, 1.0
        return
    store.scale *= factor
    if store.scale < SMALLEST_SCALE:
        for i in range(store.count):
            e.sums[i] += e.stored[i] * (store.scale_sum - e.births[i])
            e.stored[i] *= store.scale
            e.births[i] = 0.0
        store.scale_sum = 0.0
        store.scale = 1.0


@shared
def choose_slot(store: Store, weights: Array) -> int:
    """Return the slot for a new vector, and count it where there is room; weights (cap,) say which is smallest."""
    size = store.count
    if size != store.budget:
        store.count += 1
        return size
    if store.policy == RANDOM:
        # Lehmer's generator fits into a saved integer and is the same with and without a compiler.
        store.draw = store.draw * 48271 % 2147483647
        return store.draw % store.budget
    if store.policy == SMALLEST:
        slot = 0
        for i in range(size):
            if abs(weights[i]) < abs(weights[slot]):
                slot = i
        return slot
    slot = store.oldest
    store.oldest = (slot + 1) % store.budget
    return slot


@shared
def place(e: Expansion, slot: int, x: Array) -> None:
    """Write a vector to its slot; its coefficient is written by the caller."""
    norm = 0.0
    for j in range(x.shape[0]):
        e.vectors[j, slot] = x[j]
        norm += x[j] * x[j]
    e.norms[slot] = norm
    e.births[slot] = e.store[0].scale_sum
    e.sums[slot] = 0.0


@shared
def full(e: Expansion) -> bool:
    """Whether the arrays must grow before another vector can come."""
    store, capacity = e.store[0], e.stored.shape[0]
    is_full: bool = store.count == capacity and capacity != store.budget
    return is_full


@part
def apply(e: Expansion, x: Array, factor: float, a: float) -> None:
    """Multiply all coefficients by factor, store x (d,) with coefficient a unless that is 0, and count the step."""
    store = e.store[0]
    if factor != 1.0:
        decay(e, factor)
    if a != 0.0:
        slot = choose_slot(store, e.stored)
        place(e, slot, x)
        e.stored[slot] = a / store.scale
    store.scale_sum += store.scale


@part
def move(e: Expansion, source: int, target: int) -> None:
    """Copy the vector of one slot, with what belongs to it (one function), to another slot."""
    for j in range(e.vectors.shape[0]):
        e.vectors[j, target] = e.vectors[j, source]
    for values in (e.norms, e.stored, e.births, e.sums):
        values[target] = values[source]


@part
def exchange(e: Expansion, a: int, b: int) -> None:
    """Let the vectors of two slots, with what belongs to them (one function), change places."""
    for j in range(e.vectors.shape[0]):
        e.vectors[j, a], e.vectors[j, b] = e.vectors[j, b], e.vectors[j, a]
    for values in (e.norms, e.stored, e.births, e.sums):
        values[a], values[b] = values[b], values[a]


@part
def reverse(e: Expansion, first: int, last: int) -> None:
    """Reverse the order of the slots from first to last."""
    while first < last:
        exchange(e, first, last)
        first, last = first + 1, last - 1


@part
def drop_below(e: Expansion, threshold: float) -> None:
    """Forget every vector of one function whose coefficient is smaller than threshold in size.

    Those that stay keep their order of age, the oldest in the first slot.
    """
    store = e.store[0]
    size, scale, small = store.count, store.scale, False
    for i in range(size):
        small = small or abs(scale * e.stored[i]) < threshold
    if not small:
        return
    if store.oldest > 0:  # a rotation is three reversals
        reverse(e, 0, store.oldest - 1)
        reverse(e, store.oldest, size - 1)
        reverse(e, 0, size - 1)
        store.oldest = 0
    kept = 0
    for i in range(size):
        if abs(scale * e.stored[i]) >= threshold:
            if kept != i:
                move(e, i, kept)
            kept += 1
    store.count = kept
