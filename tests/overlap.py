"""A check of the promise by which compiled functions are optimised: what is written overlaps nothing else."""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bgsub._numba import compiler


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled function, as plain Python, that fails after it has written to arguments that share memory."""
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        arrays = [each for name, value in zip(names, arguments, strict=False) for each in _arrays(name, value)]
        shared = [
            (name + " and " + other_name, one, one.copy(), other, other.copy())
            for (name, one), (other_name, other) in itertools.combinations(arrays, 2)
            if np.shares_memory(one, other)
        ]
        result = function(*arguments)
        for pair, one, one_before, other, other_before in shared:
            same = one.tobytes() == one_before.tobytes() and other.tobytes() == other_before.tobytes()
            assert same, f"{function.__qualname__}: {pair} overlap and are written"
        return result

    return run


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
