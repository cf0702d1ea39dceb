"""Parameter checks: a ValueError that names parameter, rule and value."""

import math
import sys
import warnings
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

__all__ = ["check_choice", "check_integer", "check_real", "warn_caller"]


def check_real(
    name: str,
    value: Any,
    rule: str,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
) -> None:
    """Require a finite number with above < value < below and least <= value <= most.

    Examples
    --------
    >>> check_real("nu", 1.5, "be in (0, 1)", above=0, below=1)
    Traceback (most recent call last):
    ValueError: nu must be in (0, 1), got 1.5
    """
    number = not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    if not number or not (above < value < below and least <= value <= most):
        raise ValueError(f"{name} must {rule}, got {value!r}")


def check_integer(name: str, value: Any, rule: str, *, least: int) -> None:
    """Require an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must {rule}, got {value!r}")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Require one of a few names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def warn_caller(message: str) -> None:
    """Warn of a doubtful parameter, at the line outside of this package that made a learner use it."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bgsub.learners"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
