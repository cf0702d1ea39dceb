"""Options and parameter types that several commands share."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bgsub.config import Config

__all__ = ["Assignment", "Size", "auth_option", "config_options", "detector_options", "find_auth", "make_config"]

_Command = TypeVar("_Command", bound=click.Command | Callable[..., Any])

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic, where it is run, only since click 8.4


class Assignment(_ParamType):
    """`name=value`, as a pair."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split at the first equals sign."""
        name, equals, text = value.partition("=")
        if not equals or not name:
            self.fail(f"{value!r} is not of the form name=value", param, ctx)
        return name.strip(), text


class Size(_ParamType):
    """`WIDTHxHEIGHT`, as (height, width)."""

    name = "WIDTHxHEIGHT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Read two whole numbers."""
        width, _, height = str(value).lower().partition("x")
        if not (width.isdigit() and height.isdigit() and int(width) and int(height)):
            self.fail(f"{value!r} is not of the form 640x480", param, ctx)
        return int(height), int(width)


def detector_options(command: _Command) -> _Command:
    """Add the options that make a `Config`."""
    option = click.option(
        "--detector", "-d", help="Name of the detector; `bgsub detectors` describes all.  [default: adaptive]"
    )
    return option(config_options(command))


def config_options(command: _Command) -> _Command:
    """Add the options that make a `Config`, but for the detector."""
    options = [
        click.option("--set", "assignments", type=Assignment(), multiple=True, help="Set a parameter of the detector."),
        click.option("--config", type=click.Path(path_type=Path), help="TOML file of settings; options win over it."),
        click.option("--roi", help="Region of interest: '10,10 310,10 160,230', a .json of polygons, or an image."),
        click.option(
            "--median",
            type=int,
            help="Side of a median filter on the mask, odd; 1 for none.  [default: 5; 1 for adaptive]",
        ),
        click.option("--min-area", type=int, help="Drop foreground regions of fewer pixels.  [default: 0]"),
        click.option("--fill-holes/--keep-holes", default=None, help="Fill background that foreground encloses."),
        click.option("--raw", is_flag=True, help="Raw masks, without any post-processing."),
        click.option(
            "--learning-rate",
            type=float,
            help="-1 automatic, 0 frozen, else the share of the model that one frame replaces.",
        ),
        click.option("--warmup", type=int, help="First frames to learn from without foreground."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def auth_option(command: _Command) -> _Command:
    """Add the option for credentials of a stream."""
    text = "Credentials for an address without: a file that holds user:password, or env:NAME. [default: env:BGSUB_AUTH]"
    return click.option("--auth", metavar="FILE", help=text)(command)


def find_auth(options: Mapping[str, Any]) -> str | None:
    """Return the credentials that `--auth` names; None without it."""
    from bgsub.video._credentials import read_auth

    return read_auth(options["auth"]) if options["auth"] else None


def make_config(options: Mapping[str, Any]) -> "Config":
    """Build the `Config`: defaults, then the file, then the options."""
    from bgsub.config import Config
    from bgsub.detectors import detector_class
    from bgsub.detectors.parameters import defaults
    from bgsub.postprocess import RAW

    config = Config.from_toml(options["config"]) if options["config"] else Config()
    if options["detector"] and options["detector"] != config.detector:
        config = replace(config, detector=options["detector"], parameters={})
    config = config.with_parameters(dict(options["assignments"]))
    names = ("median", "min_area", "fill_holes")
    post = {name: options[name] for name in names if options[name] is not None}
    if options["raw"] and post:
        raise click.UsageError("--raw excludes --median, --min-area and --fill-holes")
    if options["raw"]:
        config = replace(config, postprocess=RAW)
        if "raw" in defaults(detector_class(config.detector)):  # the detector cleans its masks itself
            config = config.with_parameters({"raw": "true"})
    elif post:
        config = config.with_postprocess(**post)
    given = {name: options[name] for name in ("roi", "learning_rate", "warmup") if options[name] is not None}
    return replace(config, **given)
