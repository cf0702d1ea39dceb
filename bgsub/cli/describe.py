"""`bgsub detectors`, `bgsub sources`, `bgsub config` and `bgsub sample`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bgsub.cli.shared.options import Size, detector_options, make_config

if TYPE_CHECKING:
    from bgsub.detectors import Detector

__all__ = ["detectors", "sample", "show_config", "sources"]


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def detectors(names: tuple[str, ...], as_json: bool) -> None:
    """List all detectors, or those NAMES, with their parameters, ranges and defaults."""
    from bgsub.detectors import DETECTORS, detector_class

    kinds = {name: detector_class(name) for name in names} or dict(DETECTORS.items())
    if as_json:
        click.echo(json.dumps({name: _describe(kind) for name, kind in kinds.items()}))
        return
    for name, kind in kinds.items():
        click.echo(f"{name}: {_summary(kind)}")
        for item in kind.PARAMETERS:
            default = "none" if item.default is None else f"{str(item.default).lower()} {item.unit}".rstrip()
            click.echo(f"  {item.name:<16} {default:<16} {item.range_text:<38} {item.meaning}")


def _summary(kind: "type[Detector]") -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0]


def _describe(kind: "type[Detector]") -> dict[str, Any]:
    parameters = {
        item.name: {
            "default": item.default,
            "range": item.range_text,
            "unit": item.unit,
            "meaning": item.meaning,
            "note": item.note,
            "group": item.group,
        }
        for item in kind.PARAMETERS
    }
    return {"summary": _summary(kind), "parameters": parameters}


@click.command()
def sources() -> None:
    """List the kinds of sources, each with the form in which it is given."""
    from bgsub.video.sources import SOURCES

    for name, kind in SOURCES.items():
        click.echo(f"{name}: {kind.text_form}")


@click.command("config")
@detector_options
def show_config(**options: Any) -> None:
    """Print the settings that the given options lead to, as TOML for --config."""
    click.echo(make_config(options).to_toml(), nl=False)


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--scene", default="walkers", show_default=True, help="walkers (everything), water, tree, light, stop or easy."
)
@click.option("--frames", type=click.IntRange(1), default=400, show_default=True)
@click.option("--size", type=Size(), default="320x240", show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--force", "-f", is_flag=True, help="Overwrite an existing folder.")
def sample(out: Path, scene: str, frames: int, size: tuple[int, int], seed: int, force: bool) -> None:
    """Write a generated clip with its ground truth to the folder OUT, in the change-detection layout."""
    from bgsub.video.sources.synthetic import open_synthetic, write_sample

    height, width = size
    made = open_synthetic(f"{scene}?frames={frames}&size={width}x{height}&seed={seed}").scene
    write_sample(out, made, force=force)
    click.echo(f"{frames} frames of {width}x{height}: {out}")
