"""Parameters of detectors: each is declared once, and signature, checks, help and forms follow from it."""

import inspect
import math
import re
import textwrap
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Union, dataclass_transform, get_args, get_origin

__all__ = ["Group", "Parameter", "Parametrized", "defaults", "param", "template"]

Group = Literal["basic", "expert"]

_INTERVAL = re.compile(r"([\[(])\s*(\S+)\s*,\s*(\S+)\s*([\])])")
_SECTION = re.compile(r"^[ ]*(?=(Raises|Attributes|Notes|Examples)\n[ ]*-+$)", re.MULTILINE)

_LEAST_SIZE = 1e-15  # so that squares, reciprocals and products of two parameters are finite
_MOST_WHOLE = 2**31 - 1  # OpenCV takes no larger integers


@dataclass(frozen=True, slots=True)
class Parameter:
    """One keyword parameter of a detector, made of its declaration by `param`.

    As a class attribute it is itself; on a detector it is the present value, which only `Detector.change` sets.
    """

    name: str
    kind: type
    """int, float, bool or str."""
    meaning: str
    default: Any = None
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    unit: str = ""
    note: str = ""
    """What else there is to know, in whole sentences."""
    choices: tuple[str, ...] = ()
    optional: bool = False
    """Whether None is allowed."""
    shapes_state: bool = False
    """Whether another value needs a new model, because the state has another shape with it."""
    group: Group = "basic"
    """Where a form shows it: among the first things to try, or for experts."""

    def __get__(self, detector: Any, owner: type | None = None) -> Any:
        return self if detector is None else detector._parameters[self.name]

    def __set__(self, detector: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} is changed by change({self.name}={value!r}), which checks the value")

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
        >>> Parameter("nu", float, "share of novel samples", low=0, high=1, low_open=True).check(2)
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
        try:
            number = float(value)
        except OverflowError:
            raise self._error(value) from None
        above = number > self.low if self.low_open else number >= self.low
        below = number < self.high if self.high_open else number <= self.high
        if not (above and below and math.isfinite(number)) or (self.kind is int and number != int(number)):
            raise self._error(value)
        least, most = (1, _MOST_WHOLE) if self.kind is int else (_LEAST_SIZE, 1 / _LEAST_SIZE)
        if number != 0 and not least <= abs(number) <= most:
            raise ValueError(f"{self.name} must be 0 or from {least:g} to {most:.10g} in size, got {value!r}")
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


@dataclass(frozen=True, slots=True)
class _Declaration:
    """What `param` notes until the class body is complete and name and type are known."""

    default: Any
    meaning: str
    options: dict[str, Any] = field(default_factory=dict)


def param(
    default: Any,
    meaning: str,
    interval: str = "",
    *,
    note: str = "",
    unit: str = "",
    shapes_state: bool = False,
    group: Group = "basic",
) -> Any:
    """Declare a parameter in the body of a detector class, which becomes a keyword of its constructor.

    The annotation gives the type: int, float, bool, str, `Literal["a", "b"]` for a choice, and `float | None` where
    None is allowed. Type checkers know the constructor's keywords from these declarations.

    Parameters
    ----------
    default
        Its default value.
    meaning : str
        A phrase for help and forms, without a full stop.
    interval : str
        The allowed numbers as in mathematics, such as ``"(0, 1]"`` or ``"[1, inf)"``; every number by default.
    note : str
        What else there is to know, in whole sentences, for the documentation.
    unit : str
        Of the value, such as ``"s"``.
    shapes_state : bool
        Whether another value needs a new model.
    group : {"basic", "expert"}
        Where a form shows it.

    Examples
    --------
    >>> from bgsub.detectors import Detector
    >>> class Sketch(Detector):
    ...     name = "sketch"
    ...     threshold: float = param(20.0, "difference that counts as foreground", "(0, inf)", unit="grey levels")
    >>> Sketch.threshold.range_text
    '(0, inf)'
    """
    low, high, low_open, high_open = _parse_interval(interval)
    numbers = {"low": low, "high": high, "low_open": low_open, "high_open": high_open}
    return _Declaration(
        default, meaning, numbers | {"note": note, "unit": unit, "shapes_state": shapes_state, "group": group}
    )


def template(meaning: str, interval: str = "", **options: Any) -> Callable[[Any], Any]:
    """Declare a parameter that several classes have with different defaults; call it with the default."""
    shared = param(None, meaning, interval, **options)
    return lambda default: replace(shared, default=default)


@dataclass_transform(kw_only_default=True, frozen_default=True)  # each declaration is a default, whatever made it
class Parametrized:
    """A class whose constructor takes the parameters that its body declares with `param`.

    Signature, checks and the section `Parameters` of the class's documentation are made of these declarations.
    """

    name: ClassVar[str]
    """How the class is called in messages."""
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()
    """The parameters that the class declares, its own first, then those of its bases."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.PARAMETERS = _collect(cls)
        cls.__signature__ = _make_signature(cls.PARAMETERS)  # type: ignore[attr-defined]
        cls.__doc__ = _document(cls.__dict__.get("__doc__"), cls.PARAMETERS)

    def __init__(self, **parameters: Any) -> None:
        self._parameters = self.check_parameters(parameters)

    @classmethod
    def check_parameters(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Check values of parameters without making an object.

        Parameters
        ----------
        values : mapping
            Some or all of the parameters, by name.

        Returns
        -------
        dict
            All parameters, those left out with their defaults.

        Raises
        ------
        ValueError
            If there is no parameter of a name, a value is out of range, or two values exclude each other.
        """
        checked = _check_values(cls.name, cls.PARAMETERS, values)
        cls._check_combination(checked)
        return checked

    @classmethod
    def _check_combination(cls, values: dict[str, Any]) -> None:
        """Raise ValueError for values that are allowed each, but not together."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as given, or their defaults."""
        return dict(self._parameters)


def defaults(detector: Any) -> dict[str, Any]:
    """Return the parameters of a detector class with their default values."""
    return {parameter.name: parameter.default for parameter in detector.PARAMETERS}


def _collect(owner: type) -> tuple[Parameter, ...]:
    """Turn the declarations in a class body into class attributes and return them with those of its bases.

    Raises
    ------
    TypeError
        If a declaration's annotation is missing or of no kind that a parameter can have.
    """
    own = [name for name, value in vars(owner).items() if isinstance(value, _Declaration)]
    for name, value in vars(owner).items():
        hidden = next((vars(base)[name] for base in owner.__mro__[1:] if name in vars(base)), None)
        if isinstance(hidden, Parameter) and not isinstance(value, _Declaration):
            raise TypeError(f"{owner.__name__}.{name} hides a parameter; declare it again with param(...)")
        if isinstance(value, _Declaration) and hidden is not None and not isinstance(hidden, Parameter):
            raise TypeError(f"{owner.__name__}.{name} cannot be a parameter: every detector has a {name} of its own")
    if own:
        annotations = inspect.get_annotations(owner, eval_str=True)
        for name in own:
            setattr(owner, name, _make(owner, name, vars(owner)[name], annotations.get(name)))
    found: dict[str, Parameter] = {}
    for base in owner.__mro__:
        for name, value in vars(base).items():
            if isinstance(value, Parameter):
                found.setdefault(name, value)
    return tuple(found.values())


def _make_signature(parameters: tuple[Parameter, ...]) -> inspect.Signature:
    """Return the signature of a constructor that takes these parameters by name."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    kinds = [item.kind | None if item.optional else item.kind for item in parameters]
    return inspect.Signature(
        [
            inspect.Parameter(item.name, keyword, default=item.default, annotation=kind)
            for item, kind in zip(parameters, kinds, strict=True)
        ]
    )


def _document(text: str | None, parameters: tuple[Parameter, ...]) -> str | None:
    """Put the section on parameters into the documentation of a class, before its first other section."""
    if text is None or not parameters:
        return text
    text = inspect.cleandoc(text)  # as Python does itself since 3.13
    indent = "    "
    lines = ["Parameters", "----------"]
    for item in parameters:
        kind = " | ".join(f'"{choice}"' for choice in item.choices) or item.kind.__name__
        numbers = "" if item.choices or item.kind in (bool, str) else item.range_text.removesuffix(" or none")
        extent = " ".join(part for part in (numbers, item.unit) if part)
        sentence = f"{item.meaning[0].upper()}{item.meaning[1:]}{f' ({extent})' if extent else ''}."
        lines.append(f"{item.name} : {kind}{' or None' if item.optional else ''}, default {item.default!r}")
        lines += textwrap.wrap(f"{sentence} {item.note}".strip(), 110, initial_indent=indent, subsequent_indent=indent)
    section = "\n".join(lines)
    match = _SECTION.search(text)
    position = match.start() if match else len(text.rstrip())
    return f"{text[:position].rstrip()}\n\n{section}\n\n{text[position:]}"


def _check_values(owner: str, parameters: tuple[Parameter, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """Complete values by defaults and check each.

    Raises
    ------
    ValueError
        For a name that is no parameter, and for the first value that is out of range.
    """
    known = [parameter.name for parameter in parameters]
    for name in values:
        if name not in known:
            raise ValueError(f"{owner} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
    return {parameter.name: parameter.check(values.get(parameter.name, parameter.default)) for parameter in parameters}


def _make(owner: type, name: str, declaration: _Declaration, annotation: Any) -> Parameter:
    optional = get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation)
    if optional:
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    kind = str if choices else annotation
    if kind not in (int, float, bool, str):
        raise TypeError(
            f"{owner.__name__}.{name} must be annotated as int, float, bool, str or Literal of texts, "
            f"each with or without None, got {annotation!r}"
        )
    parameter = Parameter(
        name, kind, declaration.meaning, declaration.default, choices=choices, optional=optional, **declaration.options
    )
    if not declaration.meaning:
        raise TypeError(f"{owner.__name__}.{name} must have a meaning, for help and forms")
    try:
        parameter.check(declaration.default)
    except ValueError as error:
        raise TypeError(f"{owner.__name__}: the default of {error}") from error
    return parameter


def _parse_interval(text: str) -> tuple[float, float, bool, bool]:
    if not text:
        return -math.inf, math.inf, False, False
    match = _INTERVAL.fullmatch(text)
    if match is None:
        raise ValueError(f"interval must be like '(0, 1]' or '[1, inf)', got {text!r}")
    try:
        low, high = float(match[2]), float(match[3])
    except ValueError:
        raise ValueError(f"interval must hold two numbers, got {text!r}") from None
    if not low < high:
        raise ValueError(f"interval must begin below its end, got {text!r}")
    return low, high, match[1] == "(", match[4] == ")"


def _number(value: float) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:g}"
