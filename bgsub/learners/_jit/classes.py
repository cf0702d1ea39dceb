"""Several functions that share support vectors, one for each class, in compiled code.

A sample changes those of its class and of its rival, the best of the others (Crammer and Singer 2003). A rule for two
classes is one for many: with lead = f_right(x) - f_rival(x), it learns one sample, k(x, .) in the one function and
-k(x, .) in the other, of target 1 and squared length 2 k(x, x) (Kesler's construction).
"""

from bgsub._numba import compiled_views, part
from bgsub.learners._jit.losses import best_wrong
from bgsub.learners._jit.records import Array
from bgsub.learners._jit.store import SMALLEST, SMALLEST_SCALE, Expansion, Store, choose_slot, fill_row, place


@part
def multiclass_scores(row: Array, weights: Array, size: int, scale: float, scores: Array) -> None:
    """Write the value of each class, with coefficients scale · weights (cap, Q), to scores (Q,)."""
    scores[:] = 0.0
    for i in range(size):
        for q in range(weights.shape[1]):
            scores[q] += row[i] * weights[i, q]
    scores *= scale


@part
def evaluate_classes(e: Expansion, x: Array, scores: Array) -> None:
    """Fill the kernel row of x (d,) and write the value of each class to scores (Q,)."""
    store = e.store[0]
    fill_row(store, e.vectors, e.norms, store.count, x, e.row)
    multiclass_scores(e.row, e.stored, store.count, store.scale, scores)


@compiled_views
def multiclass_values(
    store: Array, vectors: Array, norms: Array, weights: Array, scale: float, samples: Array, row: Array, out: Array
) -> None:
    """Write the values with coefficients scale · weights (cap, Q) at each row of samples (m, d) to out (m, Q)."""
    for t in range(samples.shape[0]):
        fill_row(store[0], vectors, norms, store[0].count, samples[t], row)
        multiclass_scores(row, weights, store[0].count, scale, out[t])


@part
def decay_columns(store: Store, stored: Array, births: Array, sums: Array, factor: float, scratch: Array) -> None:
    """Multiply all coefficients (cap, Q) by factor, as `decay` does; scratch (cap,) f8."""
    if factor <= 0.0:
        store.count, store.oldest, store.scale = 0, 0, 1.0
        return
    store.scale *= factor
    if store.scale < SMALLEST_SCALE:
        for q in range(stored.shape[1]):
            # Two loops: a product that is added in the same one is not rounded in between, unlike numpy's.
            for i in range(store.count):
                scratch[i] = stored[i, q] * (store.scale_sum - births[i])
            for i in range(store.count):
                sums[i, q] += scratch[i]
                stored[i, q] *= store.scale
        for i in range(store.count):
            births[i] = 0.0
        store.scale_sum = 0.0
        store.scale = 1.0


@part
def find_rival(e: Expansion, x: Array, right: int, scores: Array) -> int:
    """Fill the kernel row of x (d,), write the value of each class to scores (Q,), and return the best wrong one."""
    evaluate_classes(e, x, scores)
    return best_wrong(scores, right)


@part
def largest_of_each(e: Expansion) -> None:
    """Write the size of the largest stored coefficient of each vector to e.row."""
    for i in range(e.store[0].count):
        e.row[i] = 0.0
        for q in range(e.stored.shape[1]):
            e.row[i] = max(e.row[i], abs(e.stored[i, q]))


@part
def apply_pair(e: Expansion, x: Array, right: int, rival: int, factor: float, a: float) -> None:
    """Multiply all coefficients by factor, store x (d,) with a for its class and -a for the rival, and count the step.

    x is not stored where a is 0.
    """
    store = e.store[0]
    if factor != 1.0:
        decay_columns(store, e.stored, e.births, e.sums, factor, e.row)
    if a != 0.0:
        if store.policy == SMALLEST and store.count == store.budget:
            largest_of_each(e)
        slot = choose_slot(store, e.row)
        place(e, slot, x)
        e.stored[slot] = 0.0
        e.stored[slot, right] = a / store.scale
        e.stored[slot, rival] = -a / store.scale
    store.scale_sum += store.scale


@part
def exchange(e: Expansion, a: int, b: int) -> None:
    """Let the vectors of two slots, with what belongs to them, change places."""
    for j in range(e.vectors.shape[0]):
        e.vectors[j, a], e.vectors[j, b] = e.vectors[j, b], e.vectors[j, a]
    for values in (e.norms, e.births):
        values[a], values[b] = values[b], values[a]
    for columns in (e.stored, e.sums):
        for q in range(columns.shape[1]):
            columns[a, q], columns[b, q] = columns[b, q], columns[a, q]


@part
def reverse_columns(e: Expansion, first: int, last: int) -> None:
    """Reverse the order of the slots from first to last."""
    while first < last:
        exchange(e, first, last)
        first, last = first + 1, last - 1


@part
def drop_below_columns(e: Expansion, threshold: float) -> None:
    """Forget every vector whose coefficients (Q,) are all smaller than threshold in size, as `drop_below` does."""
    store = e.store[0]
    size, scale, small = store.count, store.scale, False
    largest_of_each(e)
    for i in range(size):
        small = small or scale * e.row[i] < threshold
    if not small:
        return
    if store.oldest > 0:
        reverse_columns(e, 0, store.oldest - 1)
        reverse_columns(e, store.oldest, size - 1)
        reverse_columns(e, 0, size - 1)
        store.oldest = 0
        largest_of_each(e)
    kept = 0
    for i in range(size):
        if scale * e.row[i] >= threshold:
            if kept != i:
                exchange(e, i, kept)
            kept += 1
    store.count = kept
