"""What a detector can be told: named parameters with kind, range, unit and meaning, checked in one place."""

import inspect
import math
from dataclasses import dataclass
from typing import Any

__all__ = ["Parameter", "check_parameters", "defaults"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One keyword parameter of a detector; its default stands in the constructor's signature."""

    name: str
    kind: type
    """int, float, bool or str."""
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    unit: str = ""
    choices: tuple[str, ...] = ()
    optional: bool = False
    """Whether None is allowed."""
    shapes_state: bool = False
    """Whether another value needs a new model, because the state has another shape with it."""

    @property
    def range_text(self) -> str:
        """The allowed values as text, such as `(0, 1]` or `one of fixed, published`."""
        if self.choices:
            text = "one of " + ", ".join(self.choices)
        elif self.kind is bool:
            text = "true or false"
        elif self.kind is str:
            text = "text"
        else:
            left = "(" if self.low_open or math.isinf(self.low) else "["
            right = ")" if self.high_open or math.isinf(self.high) else "]"
            text = f"{left}{_number(self.low)}, {_number(self.high)}{right}"
        return text + (" or none" if self.optional else "")

    def check(self, value: Any) -> Any:
        """Return the value in its own kind.

        Raises
        ------
        ValueError
            Naming the parameter, what is allowed and the value.

        Examples
        --------
        >>> Parameter("nu", float, "share of novel samples", 0, 1, low_open=True).check(2)
        Traceback (most recent call last):
        ValueError: nu must be a number in (0, 1], got 2
        """
        if value is None and self.optional:
            return None
        if self.choices:
            if value not in self.choices:
                raise self._error(value)
            return value
        if self.kind is bool or self.kind is str:
            if not isinstance(value, self.kind):
                raise self._error(value)
            return value
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise self._error(value)
        number = float(value)
        above = number > self.low if self.low_open else number >= self.low
        below = number < self.high if self.high_open else number <= self.high
        if not (above and below and math.isfinite(number)) or (self.kind is int and number != int(number)):
            raise self._error(value)
        return self.kind(value)

    def parse(self, text: str) -> Any:
        """Turn text, as given on a command line, into a checked value."""
        lowered = text.strip().lower()
        if self.optional and lowered in ("none", ""):
            return None
        if self.kind is bool:
            if lowered not in ("true", "false", "yes", "no", "on", "off", "1", "0"):
                raise self._error(text)
            return lowered in ("true", "yes", "on", "1")
        if self.kind is str:
            return self.check(text.strip())
        try:
            number = int(lowered) if self.kind is int else float(lowered)
        except ValueError:
            raise self._error(text) from None
        return self.check(number)

    def _error(self, value: Any) -> ValueError:
        noun = {int: "a whole number in ", float: "a number in "}.get(self.kind, "") if not self.choices else ""
        return ValueError(f"{self.name} must be {noun}{self.range_text}, got {value!r}")


def defaults(detector: type) -> dict[str, Any]:
    """Return the keyword parameters of a constructor with their default values."""
    signature = inspect.signature(detector)
    return {name: parameter.default for name, parameter in signature.parameters.items()}


def check_parameters(specifications: tuple[Parameter, ...], values: dict[str, Any]) -> dict[str, Any]:
    """Check every value against its specification and return them in the specifications' order.

    Raises
    ------
    ValueError
        For the first value that is out of range or has no specification.
    """
    known = {specification.name: specification for specification in specifications}
    for name in values:
        if name not in known:
            raise ValueError(f"unknown parameter {name!r}; there are {', '.join(known)}")
    return {name: known[name].check(value) for name, value in values.items()}


def _number(value: float) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:g}"
