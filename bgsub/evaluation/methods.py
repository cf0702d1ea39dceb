"""Methods under test: a detector with its settings, or anything with an `apply` that Python can import."""

import ast
import importlib
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bgsub.config import Config
from bgsub.detectors import DETECTORS
from bgsub.errors import ConfigError, DependencyError
from bgsub.evaluation.pipeline_model import PipelineModel

__all__ = ["BGSEGM", "Method", "parse_method", "split_spec"]

BGSEGM = {
    "cnt": "cv2.bgsegm:createBackgroundSubtractorCNT",
    "gmg": "cv2.bgsegm:createBackgroundSubtractorGMG",
    "gsoc": "cv2.bgsegm:createBackgroundSubtractorGSOC",
    "lsbp": "cv2.bgsegm:createBackgroundSubtractorLSBP",
    "mog": "cv2.bgsegm:createBackgroundSubtractorMOG",
}
"""Methods of OpenCV's contributed module, where opencv-contrib-python is installed."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method that `evaluate` can run, in another process too: it is made afresh for each sequence.

    Parameters
    ----------
    label : str
        Its name in reports, different for each method of an evaluation.
    config : Config, optional
        Detector, parameters and post-processing, for a detector of the registry.
    factory : str
        ``package.module:name`` of a callable that returns an object with `apply`, for any other.
    arguments : mapping
        Keyword arguments of the factory.
    """

    label: str
    config: Config | None = None
    factory: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def make(self, *, threads: int | None = None) -> Any:
        """Make a new model, with so many threads where it can be told.

        Raises
        ------
        ConfigError
            If the factory fails.
        DependencyError
            If its module or name is missing.
        """
        if self.config is not None:
            return PipelineModel(self.config.make_pipeline(self.config.make_detector(threads=threads)))
        factory = _import(self.factory)
        try:
            model = factory(**self.arguments)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"cannot make {self.label}: {error}; see the documentation of {self.factory}") from error
        if not callable(getattr(model, "apply", None)):
            raise ConfigError(f"{self.factory} makes {type(model).__name__}, which has no method apply(frame)")
        return model

    def settings(self) -> dict[str, Any]:
        """Return all that determines its masks, as plain values: every parameter, those left at their default too."""
        if self.config is None:
            return {"factory": self.factory, "arguments": dict(self.arguments)}
        return tomllib.loads(self.config.to_toml())


def _import(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    try:
        if str(Path.cwd()) not in sys.path:  # modules of the user's own, found last
            sys.path.append(str(Path.cwd()))
        if module_name.split(".")[0] == "cv2":
            import bgsub._opencv  # noqa: F401 - sets OpenCV up before it is imported
        module = importlib.import_module(module_name)
    except ImportError as error:
        missing = "opencv-contrib-python" if module_name == "cv2.bgsegm" else module_name.split(".")[0]
        raise DependencyError(f"cannot import {module_name} ({error}); install {missing}") from error
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ConfigError(f"{module_name} has no {attribute}; name it as package.module:Class")
        found = getattr(found, part)
    if not callable(found):
        raise ConfigError(f"{name} is not callable; name a class or a function that returns a model")
    return found


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split ``name:parameter=value,parameter=value`` into the name and the texts of the values.

    Raises
    ------
    ConfigError
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
    name, colon, rest = spec.strip().rpartition(":")
    if not colon or "=" not in rest:
        name, rest = spec.strip(), ""
    values: dict[str, str] = {}
    for item in filter(None, (item.strip() for item in rest.split(","))):
        parameter, equals, text = item.partition("=")
        if not equals or not parameter.strip() or parameter.strip() in values:
            raise ConfigError(f"{spec!r} is not of the form name:parameter=value,parameter=value")
        values[parameter.strip()] = text.strip()
    if not name:
        raise ConfigError(f"{spec!r} names no detector; write name:parameter=value")
    return name, values


def parse_method(spec: str, base: Config | None = None) -> Method:
    """Return the method that a text asks for.

    Parameters
    ----------
    spec : str
        ``name`` of a detector, ``name:parameter=value,...`` for other settings of it, ``cnt``, ``gmg``, ``gsoc``,
        ``lsbp`` or ``mog`` of opencv-contrib-python, or ``package.module:Class`` with ``:argument=value,...`` behind
        it, whose values are Python literals or text. The spec is also the label.
    base : Config, optional
        Settings beside the detector's parameters, such as post-processing and region; the defaults by default.

    Raises
    ------
    ConfigError
        If the text has another form.
    ValueError
        If there is no such detector or parameter, or a value is out of range.
    """
    name, texts = split_spec(spec)
    if name not in DETECTORS and (name in BGSEGM or ":" in name):
        return Method(spec.strip(), factory=BGSEGM.get(name, name), arguments=_literals(texts))
    base = base or Config()
    config = Config(
        detector=name,
        parameters=base.parameters if base.detector == name else {},
        postprocess=base.postprocess,
        learning_rate=base.learning_rate,
        warmup=base.warmup,
        roi=base.roi,
    )
    return Method(spec.strip(), config=config.with_parameters(texts))


def _literals(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read values as Python literals where they are some, else as text."""
    values: dict[str, Any] = {}
    for name, text in texts.items():
        try:
            values[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            values[name] = {"true": True, "false": False}.get(text.lower(), text)
    return values
