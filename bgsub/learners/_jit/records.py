"""Scalars as structured arrays of one element: compiled code and Python share them, and both call them by name.

A dataclass lists the numbers and `as_record` makes the array. Kernels get the array's element, a record whose fields
read and write the array. For a call, numba unpacks such an array in a fifth of the time that a tuple of as many numbers
needs.
"""

import functools
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Lessons", "State", "as_record", "record_type"]

Array = NDArray[Any]

_TYPES: dict[Any, Any] = {float: np.float64, int: np.int64, bool: np.int64}  # eight bytes each, so all are aligned


class Lessons(NamedTuple):
    """What is to be learned of samples."""

    targets: Array  # (m,) f8
    importance: Array  # (m,) f8: weights of the samples, positive


@dataclass
class State:
    """What every learner counts and carries from sample to sample."""

    t: float = 0.0  # samples learned
    mistakes: float = 0.0  # samples with a wrong sign, or none, before they were learned
    violations: float = 0.0  # samples that missed their margin, tube or threshold
    offset: float = 0.0  # b
    offset_sum: float = 0.0  # sum of b over all steps, for averaging
    last: float = 0.0  # score of the latest sample before it was learned
    importance: float = 1.0  # weight of the sample at hand


@functools.cache
def record_type(kind: Any) -> np.dtype[Any]:
    """Return the type of records with the fields of a dataclass of numbers.

    In reverse order, so that no record begins as one of a base class does: numba would use a kernel compiled for the
    shorter one, with a warning.
    """
    return np.dtype((np.record, [(field.name, _TYPES[field.type]) for field in reversed(fields(kind))]))


def as_record(numbers: Any) -> Array:
    """Return the numbers of a dataclass as a structured array of one element."""
    kind: Any = type(numbers)
    dtype = record_type(kind)
    return np.array([tuple(getattr(numbers, name) for name in dtype.names or ())], dtype)
