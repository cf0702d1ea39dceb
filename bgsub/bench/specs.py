"""Detectors to measure, named by text with their parameters."""

import ast
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bgsub._opencv import cv2
from bgsub.detectors import DETECTORS, Detector, detector_class
from bgsub.errors import ConfigError, DependencyError
from bgsub.frames import Frame, Mask

__all__ = ["YARDSTICK", "DetectorSpec", "default_specs", "parse", "split"]

YARDSTICK = "mog2"
"""The detector whose time is the unit of all others."""

_OPENCV = {"mog2": "createBackgroundSubtractorMOG2", "knn": "createBackgroundSubtractorKNN"}
_CONTRIB = {"cnt": "createBackgroundSubtractorCNT", "gsoc": "createBackgroundSubtractorGSOC"}
_DEFAULTS = ("adaptive", "norma", "norma:learn_every=1", "olk:slots=8", *_OPENCV)


@dataclass(frozen=True, slots=True)
class DetectorSpec:
    """A detector with its parameters, from which models are made."""

    name: str
    """The text that names it."""
    factory: Callable[..., Any]
    """A class or a function that returns a model with a method `apply`."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    fills_mask: bool = False
    """Whether `apply` takes a mask to fill as its second argument, as those of OpenCV and of this package do."""

    @property
    def detector(self) -> type[Detector] | None:
        """The class, if models are detectors of this package's kind."""
        if isinstance(self.factory, type) and issubclass(self.factory, Detector):
            return self.factory
        return None

    def make(self, *, threads: int, rate_hz: float | None) -> Any:
        """Make a model; threads and frame rate are for those that have these parameters and were given no others.

        Raises
        ------
        ValueError
            If the result has no method `apply`.
        """
        kind = self.detector
        known = {parameter.name for parameter in kind.PARAMETERS} if kind is not None else set()
        given = {"threads": threads, "rate_hz": rate_hz}
        extra = {name: value for name, value in given.items() if name in known and value is not None}
        model = self.factory(**{**extra, **self.parameters})
        if not callable(getattr(model, "apply", None)):
            raise ValueError(f"detector must have a method apply(frame), got {self.name!r} without one")
        return model

    def step(self, model: Any, mask: Mask) -> Callable[[Frame], object]:
        """Return the function that shows a model a frame; `mask`, (H, W) uint8, is filled where that is possible."""
        return (lambda frame: model.apply(frame, mask)) if self.fills_mask else model.apply


def default_specs() -> list[DetectorSpec]:
    """Return the detectors measured if none are chosen, with those of OpenCV's contrib modules where installed."""
    contrib = [name for name, function in _CONTRIB.items() if _contrib_function(function) is not None]
    return [parse(name) for name in (*_DEFAULTS, *contrib)]


def split(text: str) -> list[str]:
    """Split a list of specifications at the commas that do not separate parameters.

    Examples
    --------
    >>> split("adaptive:slots=2,width=20,mog2,norma:slots=4")
    ['adaptive:slots=2,width=20', 'mog2', 'norma:slots=4']
    """
    specs: list[str] = []
    for piece in map(str.strip, text.split(",")):
        is_parameter = "=" in piece and ":" not in piece.partition("=")[0]
        if is_parameter and specs and "=" in specs[-1]:
            specs[-1] += f",{piece}"
        elif piece:
            specs.append(piece)
    return specs


def parse(text: str) -> DetectorSpec:
    """Find the detector that a specification names.

    Parameters
    ----------
    text : str
        ``name[:parameter=value[,parameter=value...]]``. The name is one of `DETECTORS`; cnt or gsoc, from OpenCV's
        contrib modules; or ``package.module:Class``, a detector class or anything that returns an object with a
        method ``apply(frame)``. `mog2` and `knn` are OpenCV's own objects, without the interface of this package.

    Returns
    -------
    DetectorSpec

    Raises
    ------
    ValueError
        If there is no such detector or parameter, or a value is out of range.
    ConfigError
        If a class cannot be imported.
    DependencyError
        If the detector needs a package that is not installed.

    Examples
    --------
    >>> parse("adaptive:slots=2").make(threads=1, rate_hz=None).slots
    2
    """
    head, assignments = _split_assignments(text)
    if ":" in head:
        if head.partition(":")[0] in DETECTORS:
            raise ValueError(f"detector must be like name:parameter=value,parameter=value, got {text!r}")
        factory = _import(head)
        if not (isinstance(factory, type) and issubclass(factory, Detector)):
            values = {name: _literal(value) for name, value in assignments.items()}
            return DetectorSpec(text, factory, values)
        return DetectorSpec(text, factory, _parse_parameters(factory, assignments), fills_mask=True)
    if head in _CONTRIB and head not in DETECTORS:
        if assignments:
            raise ValueError(f"{head} must stand alone, it takes no parameters here, got {text!r}")
        return DetectorSpec(text, _need_contrib(head), fills_mask=True)
    if head not in DETECTORS:
        known = ", ".join(dict.fromkeys([*DETECTORS, *_CONTRIB]))
        raise ValueError(f"detector must be one of {known}, or package.module:Class, got {head!r}")
    kind = detector_class(head)
    parameters = _parse_parameters(kind, assignments)
    if head not in _OPENCV:
        return DetectorSpec(text, kind, parameters, fills_mask=True)
    # OpenCV's functions take history, threshold and whether to look for shadows, in this order.
    values = kind.check_parameters(parameters)
    return DetectorSpec(text, partial(getattr(cv2, _OPENCV[head]), *list(values.values())[:3]), fills_mask=True)


def _split_assignments(text: str) -> tuple[str, dict[str, str]]:
    """Split a specification into the name and the texts of its parameters."""
    head, _, rest = text.strip().partition(":")
    if rest and "=" not in rest.partition(":")[0]:
        attribute, _, rest = rest.partition(":")
        head = f"{head}:{attribute}"
    assignments: dict[str, str] = {}
    for assignment in filter(None, rest.split(",")):
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"detector must be like name:parameter=value,parameter=value, got {text!r}")
        assignments[name.strip()] = value.strip()
    return head, assignments


def _parse_parameters(kind: type[Detector], assignments: Mapping[str, str]) -> dict[str, Any]:
    known = {parameter.name: parameter for parameter in kind.PARAMETERS}
    parsed = {name: known[name].parse(value) if name in known else value for name, value in assignments.items()}
    kind.check_parameters(parsed)  # which also reports those that do not exist
    return parsed


def _literal(text: str) -> Any:
    """Return a Python literal, or the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _import(path: str) -> Callable[..., Any]:
    module, _, attribute = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        raise ConfigError(f"cannot import {path}: {error}; check the name, and PYTHONPATH for its folder") from error
    if not callable(found) or inspect.isabstract(found):
        raise ConfigError(f"{path} cannot make a detector; name a class without abstract methods, or a function")
    made: Callable[..., Any] = found
    return made


def _contrib_function(name: str) -> Any:
    return getattr(getattr(cv2, "bgsegm", None), name, None)


def _need_contrib(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] | None = _contrib_function(_CONTRIB[name])
    if found is None:
        raise DependencyError(
            f"{name} belongs to OpenCV's contrib modules, which are not installed: "
            "uninstall opencv-python and install opencv-contrib-python"
        )
    return found
