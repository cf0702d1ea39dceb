"""The compiler of the learners' kernels."""

from collections.abc import Callable
from typing import Any

from bgsub import _numba

__all__ = ["kernel"]

kernel: Callable[[Callable[..., Any]], Callable[..., Any]] = _numba.kernel
