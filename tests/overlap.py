"""A check of the promise by which compiled functions are optimised: what is written overlaps nothing else."""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bgsub._numba
from bgsub._numba import compiler


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled function, as plain Python, that fails after it has written to arguments that share memory."""
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        arrays: list[np.ndarray] = []
        for value in arguments:
            _collect(value, arrays)
        if not any(np.shares_memory(one, other) for one, other in itertools.combinations(arrays, 2)):
            return function(*arguments)
        named = [each for name, value in zip(names, arguments, strict=False) for each in _arrays(name, value)]
        shared = [
            (name + " and " + other_name, one, one.copy(), other, other.copy())
            for (name, one), (other_name, other) in itertools.combinations(named, 2)
            if np.shares_memory(one, other)
        ]
        result = function(*arguments)
        for pair, one, one_before, other, other_before in shared:
            same = one.tobytes() == one_before.tobytes() and other.tobytes() == other_before.tobytes()
            assert same, f"{function.__qualname__}: {pair} overlap and are written"
        return result

    return run


def _collect(value: Any, arrays: list[np.ndarray]) -> None:
    """Add the arrays in an argument, without their names, which half a million calls would put together for nothing."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
    elif isinstance(value, tuple):
        for part in value:
            _collect(part, arrays)


def _arrays(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Return the arrays in an argument, with their names: itself, or the fields of a tuple."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, tuple):
        for field, part in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            yield from _arrays(f"{name}.{field}", part)


def check_plain_functions() -> None:
    """Have every compiled function checked, in a process of plain Python; call it before any is imported."""
    make = compiler._compile
    compiler._compile = lambda function, **options: checked(make(function, **options))
    # Boxes and fresh widths ask for the same powers again and again: a fifth of the time of the detectors.
    bgsub._numba.exp2_nonpositive = functools.lru_cache(2**16, typed=True)(bgsub._numba.exp2_nonpositive)
