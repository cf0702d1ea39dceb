"""Settings to try: all of a grid, or random ones."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bgsub._lab.specs import split_spec
from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.detectors.parameters import Parameter
from bgsub.evaluation.methods import Method, parse_method

__all__ = ["grid", "sample_settings"]

_SPREAD = 4.0  # random numbers lie within this factor of the default
_TRIES = 200  # values that exclude each other are drawn again, so many times per setting


def grid(spec: str, values: Mapping[str, Sequence[str]], base: Config | None = None) -> list[Method]:
    """Return the methods of all combinations of values.

    Parameters
    ----------
    spec : str
        Detector, and settings that all have in common; see `parse_method`.
    values : mapping of str to sequence of str
        Values to try by parameter, as text.
    base : Config, optional
        Settings beside the detector's parameters.

    Raises
    ------
    ValueError
        If the spec has another form, or a parameter or value is wrong.

    Examples
    --------
    >>> [method.label for method in grid("norma:slots=4", {"nu": ["0.3", "0.5"], "width": ["20"]})]
    ['norma:slots=4,nu=0.3,width=20', 'norma:slots=4,nu=0.5,width=20']
    """
    name, common = split_spec(spec)
    for parameter, texts in values.items():
        if not texts:
            raise ValueError(f"the grid must have values for {parameter}, got none")
    combinations = itertools.product(*values.values())
    return [
        parse_method(_join(name, common | dict(zip(values, combination, strict=True))), base)
        for combination in combinations
    ]


def sample_settings(
    spec: str, count: int, *, seed: int = 0, over: Sequence[str] = (), base: Config | None = None
) -> list[Method]:
    """Return the given settings and others drawn at random.

    A number is drawn within a factor of four of its default and within its range, evenly on a logarithmic scale; a
    choice or switch evenly among all.

    Parameters
    ----------
    spec : str
        A detector, and settings that stay fixed; see `parse_method`.
    count : int
        Number of settings, the given one included.
    seed : int
        Of the random numbers.
    over : sequence of str
        Parameters to vary; by default all basic ones but those of the spec.
    base : Config, optional
        Settings beside the detector's parameters.

    Raises
    ------
    ValueError
        If the spec has another form, there is no such detector or parameter, or nothing to vary.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    name, common = split_spec(spec)
    kind = detector_class(name)
    known = {parameter.name: parameter for parameter in kind.PARAMETERS}
    for parameter in over:
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r}; it has {', '.join(known)}")
    varied = [known[parameter] for parameter in over] if over else _basic(kind.PARAMETERS, common)
    if not varied:
        raise ValueError(f"over must name parameters of {name}, which has none that can be varied")
    random = np.random.default_rng(seed)
    methods = {spec.strip(): parse_method(spec, base)}
    for _ in range(_TRIES * count):
        if len(methods) == count:
            break
        texts = common | {parameter.name: _draw(parameter, random) for parameter in varied}
        label = _join(name, texts)
        try:
            methods.setdefault(label, parse_method(label, base))
        except ValueError:  # values that exclude each other
            continue
    return list(methods.values())


def _join(name: str, texts: Mapping[str, str]) -> str:
    return f"{name}:" + ",".join(f"{parameter}={text}" for parameter, text in texts.items()) if texts else name


def _basic(parameters: Sequence[Parameter], fixed: Mapping[str, Any]) -> list[Parameter]:
    return [
        parameter
        for parameter in parameters
        if parameter.group == "basic" and parameter.name not in fixed and _can_vary(parameter)
    ]


def _can_vary(parameter: Parameter) -> bool:
    if parameter.choices or parameter.kind is bool:
        return True
    return parameter.kind in (int, float) and bool(parameter.default)


def _draw(parameter: Parameter, random: np.random.Generator) -> str:
    """Return a random value of a parameter as text."""
    if parameter.choices:
        return str(random.choice(parameter.choices))
    if parameter.kind is bool:
        return str(random.choice(["true", "false"]))
    if not parameter.default:
        raise ValueError(f"{parameter.name} has no default to draw values around; give its values as a grid")
    low = max(parameter.default / _SPREAD, parameter.low)
    high = min(parameter.default * _SPREAD, parameter.high)
    value = math.exp(random.uniform(math.log(low), math.log(high)))
    return str(round(value)) if parameter.kind is int else f"{value:.3g}"
