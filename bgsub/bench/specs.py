"""Detectors to measure, named by text with their parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bgsub._lab.specs import CONTRIB, import_factory, parse_literals, split_spec
from bgsub._opencv import cv2
from bgsub.detectors import DETECTORS, Detector, detector_class
from bgsub.frames import Frame, Mask

__all__ = ["YARDSTICK", "DetectorSpec", "default_specs", "parse"]

YARDSTICK = "mog2"
"""The detector whose time is the unit of all others."""

_OPENCV = {"mog2": "createBackgroundSubtractorMOG2", "knn": "createBackgroundSubtractorKNN"}
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
    contrib = [name for name in ("cnt", "gsoc") if hasattr(cv2, "bgsegm")]
    return [parse(name) for name in (*_DEFAULTS, *contrib)]


def parse(text: str) -> DetectorSpec:
    """Find the detector that a specification names.

    Parameters
    ----------
    text : str
        ``name[:parameter=value[,parameter=value...]]``. The name is one of `DETECTORS`; cnt, gmg, gsoc, lsbp or mog,
        from OpenCV's contributed modules; or ``package.module:Class``, a detector class or anything that returns an
        object with a method ``apply(frame)``. `mog2` and `knn` are OpenCV's own objects, without the interface of
        this package.

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
    head, assignments = split_spec(text)
    if ":" in head:
        if head.partition(":")[0] in DETECTORS:
            raise ValueError(f"detector must be like name:parameter=value,parameter=value, got {text!r}")
        factory = import_factory(head)
        if not (isinstance(factory, type) and issubclass(factory, Detector)):
            return DetectorSpec(text, factory, parse_literals(assignments))
        return DetectorSpec(text, factory, _parse_parameters(factory, assignments), fills_mask=True)
    if head in CONTRIB and head not in DETECTORS:
        return DetectorSpec(text, import_factory(CONTRIB[head]), parse_literals(assignments), fills_mask=True)
    if head not in DETECTORS:
        known = ", ".join(dict.fromkeys([*DETECTORS, *CONTRIB]))
        raise ValueError(f"detector must be one of {known}, or package.module:Class, got {head!r}")
    kind = detector_class(head)
    parameters = _parse_parameters(kind, assignments)
    if head not in _OPENCV:
        return DetectorSpec(text, kind, parameters, fills_mask=True)
    # OpenCV's functions take history, threshold and whether to look for shadows, in this order.
    values = kind.check_parameters(parameters)
    return DetectorSpec(text, partial(getattr(cv2, _OPENCV[head]), *list(values.values())[:3]), fills_mask=True)


def _parse_parameters(kind: type[Detector], assignments: Mapping[str, str]) -> dict[str, Any]:
    known = {parameter.name: parameter for parameter in kind.PARAMETERS}
    parsed = {name: known[name].parse(value) if name in known else value for name, value in assignments.items()}
    kind.check_parameters(parsed)  # which also reports those that do not exist
    return parsed
