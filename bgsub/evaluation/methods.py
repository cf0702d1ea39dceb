"""Methods under test: a detector with its settings, or anything with an `apply` that Python can import."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bgsub._lab.specs import CONTRIB, import_factory, parse_literals, split_spec
from bgsub.config import Config
from bgsub.detectors import DETECTORS
from bgsub.errors import ConfigError
from bgsub.evaluation.pipeline_model import PipelineModel

__all__ = ["Method", "parse_method"]


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
            If the factory cannot be imported, or fails.
        DependencyError
            If it belongs to OpenCV's contributed modules and these are missing.
        """
        if self.config is not None:
            return PipelineModel(self.config.make_pipeline(self.config.make_detector(threads=threads)))
        factory = import_factory(self.factory)
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
    ValueError
        If the text has another form, there is no such detector or parameter, or a value is out of range.
    """
    name, texts = split_spec(spec)
    if name not in DETECTORS and (name in CONTRIB or ":" in name):
        return Method(spec.strip(), factory=CONTRIB.get(name, name), arguments=parse_literals(texts))
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
