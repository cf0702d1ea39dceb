"""One tab of a session file: source, part, detectors, regions, truth, panes and pins."""

import base64
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import tomli_w

from bgsub._input.images import GREY, decode_image
from bgsub._input.tables import Table
from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.detectors import detector_class
from bgsub.errors import BgsubError, ConfigError
from bgsub.evaluation import GroundTruth
from bgsub.frames import Mask
from bgsub.gui.counting import Counting
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE, Sampling, Settings
from bgsub.gui.painted_truth import PaintedTruth
from bgsub.gui.panes import Side, find_pane, stage_panes
from bgsub.roi import Region
from bgsub.video.sources import public_name

__all__ = ["Workspace", "describe_workspace", "parse_table", "public_source"]

_MOST_PINS = 1000
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Workspace:
    """Everything that is kept of one source and what is done with it."""

    source: str = ""
    """Name of the source, without a password; empty for none."""
    position: int = 0
    """0-based index of the frame that was shown."""
    settings: Settings = field(default_factory=Settings)


def describe_workspace(workspace: Workspace) -> dict[str, Any]:
    """Return it as nested tables of plain values, which `parse_table` reads."""
    settings = workspace.settings
    values: dict[str, Any] = {"source": workspace.source, "position": workspace.position}
    if settings.truth is not None and not (isinstance(settings.truth, PaintedTruth) and not settings.truth.is_saved):
        values["truth"] = str(settings.truth.folder.resolve())
    speed = "max" if math.isinf(settings.speed) else settings.speed
    values["play"] = {"speed": speed, "loop": settings.loop, "keep_model": settings.keep_model}
    if settings.part is not None:
        values["play"]["part"] = [time_s for time_s in settings.part if not math.isinf(time_s)]
    values["panes"] = {
        "shown": [pane.id for pane in settings.panes],
        "overlay": settings.overlay_style,
        "pins": [list(pixel) for pixel in settings.pinned_pixels],
    }
    region = settings.region
    if region is not None:
        values["region"] = _describe_region(region)
    if settings.sampling != Sampling():
        values["frames"] = {name: value for name, value in asdict(settings.sampling).items() if value is not None}
    if settings.counting:
        values["counting"] = {
            "lines": {name: [list(point) for point in ends] for name, ends in settings.counting.lines.items()},
            "zones": {name: [list(point) for point in corners] for name, corners in settings.counting.zones.items()},
            "follows": settings.counting.follows,
        }
    values["frozen"] = settings.frozen
    values["detector"] = _describe_config(settings.config)
    if settings.other is not None:
        values["second"] = _describe_config(settings.other)
    return values


def parse_table(table: Table) -> Workspace:
    """Read a table of a session file.

    Raises
    ------
    ConfigError
        If an entry is wrong, or names ground truth that is not there; the message names file and entry.
    """
    source, position = table.text("source", ""), table.whole("position", 0)
    play, panes, frames = table.table("play"), table.table("panes"), table.table("frames")
    speed = play.raw("speed", 1.0)
    config, other = _config(table, "detector"), _config(table, "second") if "second" in table else None
    settings = Settings(
        config=config or Config(),
        other=other,
        frozen=table.flag("frozen", False),
        region=_region(table),
        speed=AS_FAST_AS_POSSIBLE if speed == "max" else play.number("speed", 1.0, least=0.01, most=100),
        loop=play.flag("loop", False),
        sampling=_sampling(frames),
        part=_part(play),
        keep_model=play.flag("keep_model", True),
        panes=_panes(panes, [found for found in (config, other) if found is not None]),
        overlay_style="tint" if panes.text("overlay", "contour", choices=("contour", "tint")) == "tint" else "contour",
        pinned_pixels=_pins(panes),
        truth=_truth(table),
        counting=_counting(table),
    )
    for part in (play, panes, frames, table):
        part.finish()
    return Workspace(source, position, settings)


def _describe_region(region: Region) -> dict[str, Any]:
    if region.image is None:
        return {"include": _lists(region.include), "exclude": _lists(region.exclude)}
    _, data = cv2.imencode(".png", region.image, [cv2.IMWRITE_PNG_BILEVEL, 1])
    return {"image": base64.b64encode(bytes(data)).decode()}


def _describe_config(config: Config) -> dict[str, Any]:
    values = {item.name: getattr(config, item.name) for item in fields(config)}
    values["parameters"] = {name: value for name, value in config.parameters.items() if value is not None}
    values["postprocess"] = None if config.postprocess is None else asdict(config.postprocess)
    return {name: value for name, value in values.items() if value is not None and value != ""}


def _config(table: Table, key: str) -> Config | None:
    if key not in table:
        return None
    try:
        return Config.from_toml_text(tomli_w.dumps(table.table(key).values()))
    except RecursionError:
        raise table.error(key, "is nested too deeply") from None
    except (ValueError, TypeError, OverflowError, BgsubError) as error:
        raise table.error(key, f"is wrong: {error}") from error


def _region(table: Table) -> Region | None:
    if "region" not in table:
        return None
    inner = table.table("region")
    if "image" in inner:
        image = _image(inner)
        inner.finish()
        return Region(image=image)
    include, exclude = inner.raw("include", []), inner.raw("exclude", [])
    inner.finish()
    try:
        included, excluded = (
            tuple(tuple((float(x), float(y)) for x, y in polygon) for polygon in group) for group in (include, exclude)
        )
        return Region(included, excluded)
    except (TypeError, ValueError, OverflowError) as error:
        raise table.error("region", f"must hold lists of corners x, y ({error})") from error


def _image(inner: Table) -> Mask:
    text = inner.text("image")
    try:
        image = decode_image("it", base64.b64decode(text, validate=True), GREY, ConfigError)
    except (ValueError, ConfigError) as error:
        raise inner.error("image", f"must be an image, as PNG in base64 ({error})") from error
    return np.where(image > 0, np.uint8(255), np.uint8(0))


def _sampling(frames: Table) -> Sampling:
    largest_px = frames.whole("largest_px", least=16, most=2**15) if frames.raw("largest_px") is not None else None
    rate_hz = frames.number("rate_hz", least=0.1, most=1000) if frames.raw("rate_hz") is not None else None
    return Sampling(frames.number("scale", 1.0, least=1e-3, most=1.0), largest_px, rate_hz)


def _part(play: Table) -> tuple[float, float] | None:
    ends = play.raw("part")
    if ends is None:
        return None
    numbers = isinstance(ends, list) and all(type(value) in (int, float) and 0 <= value <= _MOST for value in ends)
    if not numbers or len(ends) not in (1, 2) or sorted(set(ends)) != ends:
        raise play.error("part", "must be one or two rising times in seconds", ends)
    return float(ends[0]), float(ends[1]) if len(ends) > 1 else math.inf


def _panes(table: Table, configs: list[Config]) -> tuple[Any, ...]:
    for side, config in zip(Side, configs, strict=False):
        stage_panes(detector_class(config.detector), side)  # so that they can be found
    names = table.raw("shown", [])
    if not isinstance(names, list) or len(names) > 4 or not all(isinstance(name, str) for name in names):
        raise table.error("shown", "must be a list of up to four ids of panes", names)
    found = tuple(pane for pane in map(find_pane, names) if pane is not None)  # another version may have others
    return found or Settings().panes


def _pins(table: Table) -> tuple[tuple[int, int], ...]:
    pins = table.raw("pins", [])
    if not isinstance(pins, list) or len(pins) > _MOST_PINS:
        raise table.error("pins", "must be a list of pairs row, column", pins)
    for pin in pins:
        if not (isinstance(pin, list) and len(pin) == 2 and all(type(v) is int and 0 <= v <= _MOST for v in pin)):
            raise table.error("pins", "must be a list of pairs row, column", pin)
    return tuple(dict.fromkeys((pin[0], pin[1]) for pin in pins))


def _counting(table: Table) -> Counting:
    inner = table.table("counting")
    found: list[dict[str, Any]] = []
    for kind, least, most in (("lines", 2, 2), ("zones", 3, _MOST_PINS)):
        parts = inner.table(kind).values()
        try:
            points = {name: tuple((float(x), float(y)) for x, y in part) for name, part in parts.items()}
        except (TypeError, ValueError, OverflowError) as error:
            raise inner.error(kind, f"must hold lists of points x, y ({error})") from error
        for name, part in points.items():
            if not least <= len(part) <= most or len(set(part)) < least or not all(map(_is_near, part)):
                raise inner.error(kind, f"must have at least {least} different points within the frame", name)
        found.append(points)
    follows = inner.flag("follows", False)
    inner.finish()
    return Counting(MappingProxyType(found[0]), MappingProxyType(found[1]), follows)


def _is_near(point: tuple[float, float]) -> bool:
    return all(abs(value) <= _MOST for value in point)


def _truth(table: Table) -> GroundTruth | None:
    folder = table.text("truth", "")
    if not folder:
        return None
    try:
        return GroundTruth(folder)
    except BgsubError as error:
        raise table.error("truth", f"cannot be used: {error}") from error


def _lists(polygons: tuple[Any, ...]) -> list[list[list[float]]]:
    return [[[float(x), float(y)] for x, y in polygon] for polygon in polygons]


def public_source(text: str) -> str:
    """Return a source's name as a session file may keep it: the whole path of a file, an address without secrets."""
    if not text:
        return ""
    path = Path(text)
    if "://" not in text and path.exists():
        return str(path.resolve())
    return public_name(text) if "://" in text else text
