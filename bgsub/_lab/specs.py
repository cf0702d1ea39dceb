"""Methods named by text: `name:parameter=value,...` and `package.module:Class:argument=value,...`."""

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bgsub._opencv import cv2
from bgsub.errors import ConfigError, DependencyError

__all__ = ["CONTRIB", "import_factory", "parse_literals", "split_spec", "split_specs"]

CONTRIB = {
    name: f"cv2.bgsegm:createBackgroundSubtractor{name.upper()}" for name in ("cnt", "gmg", "gsoc", "lsbp", "mog")
}
"""Methods of OpenCV's contributed modules, where these are installed."""


def split_specs(text: str) -> list[str]:
    """Split a list of specs at the commas that do not separate parameters.

    Examples
    --------
    >>> split_specs("adaptive:slots=2,width=20,mog2,norma:slots=4")
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


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split a spec into the name and the texts of the values.

    Raises
    ------
    ValueError
        If it is not of that form.

    Examples
    --------
    >>> split_spec("adaptive:smoothing=9,width=20")
    ('adaptive', {'smoothing': '9', 'width': '20'})
    >>> split_spec("package.module:Class:history=100")
    ('package.module:Class', {'history': '100'})
    >>> split_spec("package.module:Class")
    ('package.module:Class', {})
    """
    head, _, rest = spec.strip().partition(":")
    if rest and "=" not in rest.partition(":")[0]:
        attribute, _, rest = rest.partition(":")
        head = f"{head}:{attribute}"
    values: dict[str, str] = {}
    for item in filter(None, (item.strip() for item in rest.split(","))):
        name, equals, text = item.partition("=")
        if not equals or not name.strip() or name.strip() in values:
            raise ValueError(f"detector must be like name:parameter=value,parameter=value, got {spec!r}")
        values[name.strip()] = text.strip()
    return head.strip(), values


def import_factory(path: str) -> Callable[..., Any]:
    """Return the class or function that ``package.module:name`` names.

    Raises
    ------
    ConfigError
        If it cannot be imported or called.
    DependencyError
        If it belongs to OpenCV's contributed modules and these are missing.
    """
    module, _, attribute = path.partition(":")
    if module == "cv2.bgsegm" and not hasattr(cv2, "bgsegm"):
        raise DependencyError(
            f"{attribute} belongs to OpenCV's contributed modules, which are not installed: "
            "uninstall opencv-python and install opencv-contrib-python"
        )
    here = str(Path.cwd())
    if here not in sys.path:  # modules of the user's own, found last
        sys.path.append(here)
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        raise ConfigError(f"cannot import {path}: {error}; check the name, and PYTHONPATH for its folder") from error
    if not callable(found) or inspect.isabstract(found):
        raise ConfigError(f"{path} cannot make a detector; name a class without abstract methods, or a function")
    made: Callable[..., Any] = found
    return made


def parse_literals(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read values as Python literals where they are some, else as text."""
    values: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            values[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            values[name] = {"true": True, "false": False}.get(text.lower(), text)
    return values
