"""The loops over rows of all learners with one rule per sample, of two classes or targets, and of several classes.

A rule gets the parameters p and the state s of a learner, the value f of its hypothesis at a sample, the target y and
k(x, x). It changes s and returns (factor, a): all coefficients are multiplied by the factor, then x is stored with
coefficient a unless that is 0. What is left to do with an expansion e after that is done by a second function, of
(p, s, e), if there is one. Both are `shared`, the only functions that numba's cache on disk can keep in a closure.
"""

from collections.abc import Callable
from typing import Any

from bgsub._numba import compiled_views
from bgsub.learners._jit.classes import apply_pair, find_rival
from bgsub.learners._jit.records import Array
from bgsub.learners._jit.store import Expansion, apply, diagonal, evaluate, full

__all__ = ["make_class_rows", "make_rows"]

_Rule = Callable[[Any, Any, float, float, float], tuple[float, float]]
_After = Callable[[Any, Any, Expansion], None]


def make_rows(rule: _Rule, after: _After | None = None) -> Any:
    """Return the compiled loop of a rule."""

    def rows(
        first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array
    ) -> int:
        """Learn samples (m, d) with targets and weights (m,) from row `first` on.

        Return the row reached, m unless the arrays must grow.
        """
        p, s = parameters[0], state[0]
        for t in range(first, len(samples)):
            if full(e):
                return t
            s.importance = importance[t]
            f, k_tt = evaluate(e, samples[t]), diagonal(e.store[0], samples[t])
            factor, a = rule(p, s, f, targets[t], k_tt)
            apply(e, samples[t], factor, a)
            if after is not None:  # known when this is compiled, as all that a closure holds
                after(p, s, e)
        return len(samples)

    return compiled_views(_named(rows, rule, "rows"))


def make_class_rows(rule: _Rule, after: _After | None = None) -> Any:
    """Return the compiled loop of a rule for Q classes, to which the lead of the right class is a value of target 1."""

    def rows(
        first: int, parameters: Array, state: Array, e: Expansion, samples: Array, targets: Array, importance: Array,
        scores: Array,
    ) -> int:  # fmt: skip
        """Learn samples of Q classes, targets (m,) f8 = 0..Q-1; scores (Q,) f8 of the last sample are written."""
        p, s = parameters[0], state[0]
        for t in range(first, len(samples)):
            if full(e):
                return t
            s.importance = importance[t]
            right = int(targets[t])
            rival = find_rival(e, samples[t], right, scores)
            factor, a = rule(p, s, scores[right] - scores[rival], 1.0, 2.0 * diagonal(e.store[0], samples[t]))
            apply_pair(e, samples[t], right, rival, factor, a)
            if after is not None:
                after(p, s, e)
        return len(samples)

    return compiled_views(_named(rows, rule, "class_rows"))


def _named(rows: Any, rule: Any, kind: str) -> Any:
    """Name a loop by its rule, for reports and for the cache on disk."""
    rows.__name__ = rows.__qualname__ = f"{rule.__name__}_{kind}"
    return rows
