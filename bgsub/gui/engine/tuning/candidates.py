"""Settings near others, one change at a time."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.detectors.parameters import Parameter, defaults
from bgsub.errors import BgsubError

__all__ = ["Change", "changes_of", "differences", "neighbours", "with_change"]

_FACTORS = (0.5, 0.71, 1.41, 2.0)
_MIN_AREAS = (0, 20, 80, 320)
_MEDIANS = (1, 3, 5, 9)
_FIXED = ("threads", "rate_hz", "warmup", "detect_shadows", "raw", "white")
"""Parameters that do not decide how well a mask agrees, or that say what is wanted."""

Change = tuple[str, Any]
"""Name of a parameter, or of a step of the post-processing after a dot, and its value."""


def neighbours(config: Config) -> list[Change]:
    """Return the changes of one value that may help, each allowed by itself."""
    tried = ((change, with_change(config, change)) for change in _possible(config))
    return [change for change, other in tried if other is not None and differences(config, other)]


def with_change(config: Config, change: Change) -> Config | None:
    """Return settings with one value changed; None if the detector does not allow it.

    Examples
    --------
    >>> with_change(Config("norma"), ("nu", 0.3)).parameters
    {'nu': 0.3}
    >>> with_change(Config("norma"), ("nu", -3)) is None
    True
    """
    name, value = change
    try:
        if name.startswith("."):
            return config.with_postprocess(**{name[1:]: value})
        return replace(config, parameters={**config.parameters, name: value})
    except (BgsubError, ValueError):
        return None


def changes_of(config: Config) -> dict[str, Any]:
    """Return the value of everything that `neighbours` may change, by name."""
    values = defaults(detector_class(config.detector)) | dict(config.parameters)
    post = config.with_postprocess().postprocess
    steps = {} if post is None else {".median": post.median, ".fill_holes": post.fill_holes, ".min_area": post.min_area}
    return values | steps


def differences(before: Config, after: Config) -> list[tuple[str, Any, Any]]:
    """Return name, old and new value of all that differs."""
    old, new = changes_of(before), changes_of(after)
    return [(name, old.get(name), value) for name, value in new.items() if old.get(name) != value]


def _possible(config: Config) -> Iterator[Change]:
    kind = detector_class(config.detector)
    present = changes_of(config)
    for parameter in kind.PARAMETERS:
        if parameter.group == "basic" and parameter.name not in _FIXED and not parameter.shapes_state:
            for value in _values(parameter, present[parameter.name]):
                yield parameter.name, value
    for value in _MIN_AREAS:
        yield ".min_area", value
    if not kind.own_postprocess:
        for value in _MEDIANS:
            yield ".median", value


def _values(parameter: Parameter, present: Any) -> Iterator[Any]:
    if parameter.choices:
        yield from (choice for choice in parameter.choices if choice != present)
    elif parameter.kind is bool:
        yield not present
    elif parameter.kind in (int, float) and present:
        for factor in _FACTORS:
            value = min(max(present * factor, parameter.low), parameter.high)
            if parameter.kind is float:
                yield float(f"{value:.3g}")
            else:
                whole = round(value)
                yield from {whole, whole + 1} if present % 2 and not whole % 2 else {whole}  # some must be odd
