"""The kernel recursive least-squares tracker in compiled code: a Gaussian process on a dictionary, with forgetting."""

from dataclasses import dataclass
from typing import NamedTuple

from bgsub._numba import compiled_views, part, shared
from bgsub.learners._jit.perceptrons.projectron import dot
from bgsub.learners._jit.records import Array, State
from bgsub.learners._jit.store import Expansion, diagonal, fill_row, full, move, place

GUARD = 1e-6  # share of k(x, x) outside the span from which a sample can join the dictionary


@dataclass
class TrackerParameters:
    """The tracker."""

    lam: float  # forgetting factor
    to_prior: bool  # whether it goes back to the prior, else uncertainty is injected
    noise: float  # variance of the noise in units of that of the function
    budget: int  # most vectors


@dataclass
class TrackerState(State):
    """State of the tracker."""

    squares: float = 0.0  # forgetting sum of squared errors in units of their variance
    count: float = 0.0  # forgetting number of samples


class Tracker(NamedTuple):
    """The posterior of f at the dictionary: mean and covariance, in units of the function's variance."""

    expansion: Expansion
    gram: Array  # (cap, cap) f8: K
    inverse: Array  # (cap, cap) f8: K^-1
    mean: Array  # (cap,) f8
    covariance: Array  # (cap, cap) f8
    q: Array  # (cap,) f8 scratch: K^-1 k
    h: Array  # (cap,) f8 scratch: covariance q


@part
def multiply(matrix: Array, vector: Array, size: int, out: Array) -> None:
    """Write the product of the leading part of a symmetric matrix with a vector to out."""
    for i in range(size):
        out[i] = dot(matrix[i], vector, size)


@part
def add_outer(matrix: Array, factor: float, vector: Array, size: int) -> None:
    """Add factor · vector vector^T to the leading part of a matrix."""
    for i in range(size):
        line, value = matrix[i], factor * vector[i]
        for j in range(size):
            line[j] += value * vector[j]


@part
def forget(p: TrackerParameters, h: Tracker, size: int) -> None:
    """Let the posterior grow uncertain for one step of time."""
    for i in range(size):
        line, prior = h.covariance[i], h.gram[i]
        for j in range(size):
            line[j] = p.lam * line[j] + (1.0 - p.lam) * prior[j] if p.to_prior else line[j] / p.lam
        if p.to_prior:
            h.mean[i] *= p.lam**0.5


@part
def extend(h: Tracker, size: int, k_tt: float, apart: float, variance: float) -> None:
    """Make the sample at hand a vector; q and h are known and get one more element each."""
    row = h.expansion.row
    h.q[size] = -1.0
    for i in range(size):
        h.gram[i, size], h.gram[size, i] = row[i], row[i]
        h.covariance[i, size], h.covariance[size, i] = h.h[i], h.h[i]
        h.inverse[i, size], h.inverse[size, i] = 0.0, 0.0
    h.gram[size, size], h.covariance[size, size], h.inverse[size, size] = k_tt, variance, 0.0
    add_outer(h.inverse, 1.0 / apart, h.q, size + 1)
    h.h[size] = variance


@part
def prune(h: Tracker) -> None:
    """Leave out the vector whose loss changes the mean least; the last one takes its slot."""
    e, store = h.expansion, h.expansion.store[0]
    size = store.count
    slot, least = 0, 0.0
    for i in range(size):
        error = abs(dot(h.inverse[i], h.mean, size) / h.inverse[i, i])
        if i == 0 or error < least:
            slot, least = i, error
    for i in range(size):
        h.q[i] = h.inverse[i, slot]
    add_outer(h.inverse, -1.0 / h.q[slot], h.q, size)
    last = size - 1
    move(e, last, slot)
    h.mean[slot] = h.mean[last]
    for matrix in (h.gram, h.inverse, h.covariance):
        own = matrix[last, last]
        for i in range(last):
            matrix[i, slot] = matrix[i, last]
            matrix[slot, i] = matrix[last, i]
        matrix[slot, slot] = own
    store.count = last


@shared
def track(p: TrackerParameters, s: TrackerState, h: Tracker, x: Array, k_tt: float, y: float) -> None:
    """Learn one sample whose kernel row is known; there must be room."""
    store, row = h.expansion.store[0], h.expansion.row
    size = store.count
    forget(p, h, size)
    multiply(h.inverse, row, size, h.q)
    multiply(h.covariance, h.q, size, h.h)
    f = dot(h.q, h.mean, size)
    apart = max(k_tt - dot(row, h.q, size), 0.0)
    variance = apart + max(dot(h.q, h.h, size), 0.0)
    total = variance + p.noise / s.importance
    s.t += 1
    s.last = f
    s.squares = p.lam * (s.squares + (y - f) * (y - f) / total)
    s.count = p.lam * (s.count + 1.0)
    if k_tt <= 0.0:
        return
    new = apart > GUARD * k_tt
    if new:
        extend(h, size, k_tt, apart, variance)
        h.mean[size] = f
        place(h.expansion, size, x)
        store.count = size + 1
    for i in range(store.count):
        h.mean[i] += (y - f) / total * h.h[i]
    add_outer(h.covariance, -1.0 / total, h.h, store.count)
    if store.count > p.budget:
        prune(h)


@compiled_views
def track_rows(
    first: int, parameters: Array, state: Array, h: Tracker, samples: Array, targets: Array, importance: Array
) -> int:
    """Learn samples (m, d) with targets and weights (m,) from row `first` on; return the row reached."""
    p, s, e = parameters[0], state[0], h.expansion
    store = e.store[0]
    for t in range(first, len(samples)):
        if full(e):
            return t
        x = samples[t]
        s.importance = importance[t]
        fill_row(store, e.vectors, e.norms, store.count, x, e.row)
        track(p, s, h, x, diagonal(store, x), targets[t])
    return len(samples)


@compiled_views
def coefficients(h: Tracker, out: Array) -> None:
    """Write K^-1 mean to out (cap,)."""
    multiply(h.inverse, h.mean, h.expansion.store[0].count, out)


@shared
def function_variance(h: Tracker, row: Array, k_tt: float, q: Array, product: Array) -> float:
    """Return the variance of f at a sample with kernel values row (cap,); q and product (cap,) are scratch."""
    size = h.expansion.store[0].count
    multiply(h.inverse, row, size, q)
    multiply(h.covariance, q, size, product)
    return max(k_tt - dot(row, q, size), 0.0) + max(dot(q, product, size), 0.0)


@compiled_views
def function_variances(h: Tracker, samples: Array, row: Array, q: Array, product: Array, out: Array) -> None:
    """Write the variance of f at each row of samples (m, d) to out (m,); row, q, product (cap,) are the caller's."""
    e, store = h.expansion, h.expansion.store[0]
    for t in range(samples.shape[0]):
        fill_row(store, e.vectors, e.norms, store.count, samples[t], row)
        out[t] = function_variance(h, row, diagonal(store, samples[t]), q, product)
