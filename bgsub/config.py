"""Settings of a run: a frozen dataclass, its TOML file, and the detector and pipeline made of it."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

import tomli_w

from bgsub._input.texts import read_text
from bgsub.detectors import Detector, create, detector_class, load
from bgsub.detectors.parameters import defaults
from bgsub.errors import ConfigError
from bgsub.pipeline import Pipeline, default_postprocess
from bgsub.postprocess import RAW, Postprocess
from bgsub.roi import open_region

__all__ = ["Config"]

_MOST_BYTES = 2**20  # of a settings file: thousands of times what one needs


@dataclass(frozen=True, slots=True)
class Config:
    r"""Everything that determines the results of a run; sources and outputs are not part of it.

    Parameters
    ----------
    detector : str
        Name of the detector.
    parameters : mapping
        Keyword parameters of the detector; those left out have its defaults.
    postprocess : Postprocess, optional
        From the raw to the final mask; what suits the detector if None.
    learning_rate : float
        -1 the detector's own pace, 0 frozen, as `Detector.apply`.
    warmup : int, optional
        First frames to learn from without foreground; the detector's own number if None.
    roi : str
        Region of interest as `open_region` reads it; empty for the whole frame.

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> Config.from_toml_text('detector = "olk"\n[parameters]\nslots = 16').parameters
    {'slots': 16}
    """

    detector: str = "adaptive"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    postprocess: Postprocess | None = None
    learning_rate: float = -1.0
    warmup: int | None = None
    roi: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.detector, str):
            raise ValueError(f"detector must be a name, got {self.detector!r}")
        detector_class(self.detector).check_parameters(self.parameters)
        if isinstance(self.learning_rate, bool) or not isinstance(self.learning_rate, int | float):
            raise ValueError(f"learning_rate must be a number, got {self.learning_rate!r}")
        if not (self.learning_rate == -1 or 0 <= self.learning_rate <= 1):
            raise ValueError(f"learning_rate must be -1 (automatic) or in [0, 1], got {self.learning_rate}")
        if self.warmup is not None and (type(self.warmup) is not int or self.warmup < 0):
            raise ValueError(f"warmup must be a whole number of frames, at least 0, got {self.warmup!r}")
        if not isinstance(self.roi, str):
            raise ValueError(f"roi must be text, got {self.roi!r}")

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read a settings file.

        Raises
        ------
        ConfigError
            If the file is missing or wrong; the message names the file.
        """
        try:
            return cls.from_toml_text(read_text(path, _MOST_BYTES))
        except OSError as error:
            raise ConfigError(
                f"cannot read the settings {path}: {error.strerror or error}; `bgsub config` prints such a file"
            ) from error
        except (UnicodeDecodeError, ValueError, TypeError) as error:
            raise ConfigError(f"{path} is not a valid settings file: {error}; `bgsub config` prints one") from error

    @classmethod
    def from_toml_text(cls, text: str) -> Self:
        """Read settings from text.

        Raises
        ------
        ValueError
            If the text is no TOML, or names or values are wrong.
        """
        try:
            values = tomllib.loads(text)
        except RecursionError:
            raise ValueError("its values are nested too deeply") from None
        _only_known("settings", values, {item.name for item in fields(cls)})
        post = values.pop("postprocess", None)
        if not isinstance(post, dict | None) or not isinstance(values.get("parameters", {}), dict):
            raise ValueError("[parameters] and [postprocess] must be tables")
        if post is None:
            return cls(**values)
        _only_known("[postprocess]", post, {item.name for item in fields(Postprocess)})
        return cls(**values).with_postprocess(**post)

    def to_toml(self) -> str:
        """Return the settings as TOML, with every parameter of the detector; `from_toml_text` reads it back.

        The frame rate appears only if it was given; otherwise it is that of the source.
        """
        every = defaults(detector_class(self.detector))
        every.pop("rate_hz", None)
        every.update(self.parameters)
        values: dict[str, Any] = {"detector": self.detector, "learning_rate": float(self.learning_rate)}
        if self.warmup is not None:
            values["warmup"] = self.warmup
        values["roi"] = self.roi
        values["parameters"] = {name: value for name, value in every.items() if value is not None}
        values["postprocess"] = asdict(self.with_postprocess().postprocess or RAW)
        return tomli_w.dumps(values)

    def to_arguments(self) -> list[str]:
        """Return the options of `bgsub run` that lead to these settings; defaults are left out.

        Examples
        --------
        >>> Config("norma", {"nu": 0.3, "slots": 8}, Postprocess(median=7)).to_arguments()
        ['--detector', 'norma', '--set', 'nu=0.3', '--median', '7']
        """
        kind = detector_class(self.detector)
        usual = defaults(kind)
        arguments = ["--detector", self.detector]
        for name, value in self.parameters.items():
            if value != usual[name]:
                arguments += ["--set", f"{name}={_argument(value)}"]
        suits, chosen = asdict(default_postprocess(kind)), asdict(self.with_postprocess().postprocess or RAW)
        for name in ("median", "min_area"):
            if chosen[name] != suits[name]:
                arguments += [f"--{name.replace('_', '-')}", str(chosen[name])]
        if chosen["fill_holes"] != suits["fill_holes"]:
            arguments.append("--fill-holes" if chosen["fill_holes"] else "--keep-holes")
        if self.learning_rate != -1:
            arguments += ["--learning-rate", f"{self.learning_rate:g}"]
        if self.warmup is not None:
            arguments += ["--warmup", str(self.warmup)]
        return [*arguments, "--roi", self.roi] if self.roi else arguments

    def with_postprocess(self, **changed: Any) -> Self:
        """Return settings with post-processing spelled out, and some of its steps changed.

        Raises
        ------
        ValueError
            If a value is wrong.
        """
        present = self.postprocess or default_postprocess(detector_class(self.detector))
        return replace(self, postprocess=replace(present, **changed))

    def with_parameters(self, texts: Mapping[str, str]) -> Self:
        """Return settings with some of the detector's parameters changed, given as text.

        Raises
        ------
        ValueError
            If the detector has no such parameter or the value is wrong.
        """
        known = {parameter.name: parameter for parameter in detector_class(self.detector).PARAMETERS}
        for name in texts:
            if name not in known:
                raise ValueError(f"{self.detector} has no parameter {name!r}; it has {', '.join(known)}")
        parsed = {name: known[name].parse(text) for name, text in texts.items()}
        return replace(self, parameters={**self.parameters, **parsed})

    def make_detector(
        self, *, rate_hz: float | None = None, threads: int | None = None, model: str | Path | None = None
    ) -> Detector:
        """Make the detector, or load its model.

        Parameters
        ----------
        rate_hz : float, optional
            Frame rate of the source, for detectors that need it, unless their parameters give it.
        threads : int, optional
            Threads for detectors that ask for it.
        model : path, optional
            A saved model; it brings its own detector and parameters. Only whether masks are raw is decided by
            the run, as post-processing is.

        Returns
        -------
        Detector
            Ready for the first frame.

        Raises
        ------
        ModelFileError
            If the model cannot be read.
        """
        if model is not None:
            loaded = load(model)
            changed = {"threads": threads, "raw": bool(self.parameters.get("raw", False))}
            loaded.change(
                **{name: value for name, value in changed.items() if name in loaded.parameters and value is not None}
            )
            return loaded
        known = {parameter.name for parameter in detector_class(self.detector).PARAMETERS}
        given = {"rate_hz": rate_hz, "threads": threads, "warmup": self.warmup}
        extra = {name: value for name, value in given.items() if value is not None and name in known}
        if "rate_hz" in self.parameters:
            extra.pop("rate_hz", None)
        return create(self.detector, **{**self.parameters, **extra})

    def make_pipeline(self, detector: Detector, *, want_score: bool = False) -> Pipeline:
        """Put the pipeline around a detector.

        Raises
        ------
        ConfigError
            If the region of interest cannot be read.
        """
        return Pipeline(
            detector,
            postprocess=self.postprocess,
            learning_rate=self.learning_rate,
            region=open_region(self.roi) if self.roi else None,
            warmup=self.warmup or 0,
            want_score=want_score,
        )


def _argument(value: Any) -> str:
    """Write a value as `Parameter.parse` reads it."""
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _only_known(where: str, values: Mapping[str, Any], known: set[str]) -> None:
    for name in values:
        if name not in known:
            raise ValueError(f"{where} has no entry {name!r}; there are {', '.join(sorted(known))}")
