"""Options of objects: limits, named regions, lines to count across."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bgsub.cli.shared.options import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from bgsub.objects import Line, ObjectFinder

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType

__all__ = ["AreaRange", "count_text", "make_finder", "object_options"]

_AGE = 3
"""Default of `--object-age`: specks that flicker are no objects to count."""

_Command = TypeVar("_Command", bound="click.Command | Callable[..., Any]")


class AreaRange(_ParamType):
    """`LEAST:MOST`, as a pair of limits for `ObjectLimits`; a side may be left out."""

    name = "least:most"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | float, int | float | None]:
        """Read numbers of pixels, or percentages of the image."""
        if isinstance(value, tuple):
            return value
        least, _, most = value.partition(":")
        try:
            return _area(least) if least else 0, _area(most) if most else None
        except ValueError:
            self.fail(f"{value!r} is not of the form 50:20000, or 0.1%:20%; each side may be empty", param, ctx)


def _area(text: str) -> int | float:
    text = text.strip()
    return float(text[:-1]) / 100 if text.endswith("%") else int(text)


def object_options(command: _Command) -> _Command:
    """Add the options that make an `ObjectFinder`."""
    options = [
        click.option(
            "--object-area",
            type=AreaRange(),
            help="Least and greatest area of objects, in pixels or percent of the image: 50:20000, 0.1%:20%.",
        ),
        click.option(
            "--object-age",
            type=click.IntRange(min=1),
            help="Frames in which an object must be seen to count.  [default: 3]",
        ),
        click.option(
            "--region",
            "named_regions",
            type=Assignment(),
            multiple=True,
            help="Name a region, given as for --roi, that objects are in, enter and leave: door='10,10 90,10 50,80'.",
        ),
        click.option(
            "--count-line",
            "count_lines",
            type=Assignment(),
            multiple=True,
            help="Count objects that cross a line, by direction: gate=160,240,160,0, from x1,y1 to x2,y2.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def make_finder(options: Mapping[str, Any], *, wanted: bool) -> "ObjectFinder | None":
    """Return what finds the objects of a run; None if nothing needs them.

    Parameters
    ----------
    options : mapping
        As `object_options` adds them.
    wanted : bool
        Whether an output needs objects.

    Raises
    ------
    ConfigError
        If a region cannot be read.
    click.UsageError
        If an option has no effect, or a name is used twice.
    """
    given = bool(options["named_regions"] or options["count_lines"])
    if not (wanted or given):
        for name in ("object_area", "object_age"):
            if options[name] is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} needs --objects, --region or --count-line")
        return None
    from bgsub.objects import ObjectFinder, ObjectLimits
    from bgsub.roi import open_region

    least, most = options["object_area"] or (0, None)
    limits = ObjectLimits(min_area=least, max_area=most, min_age=options["object_age"] or _AGE)
    regions = {name: open_region(text) for name, text in _by_name("region", options["named_regions"]).items()}
    lines = {name: _line(name, text) for name, text in _by_name("count-line", options["count_lines"]).items()}
    return ObjectFinder(limits=limits, regions=regions, lines=lines)


def _by_name(option: str, pairs: list[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, text in pairs:
        if name in found:
            raise click.UsageError(f"--{option} {name} is given twice; choose another name")
        found[name] = text
    return found


def _line(name: str, text: str) -> "Line":
    from bgsub.objects import Line

    try:
        x1, y1, x2, y2 = (float(number) for number in text.replace(" ", ",").split(","))
    except ValueError:
        x1 = y1 = x2 = y2 = math.nan
    if not all(map(math.isfinite, (x1, y1, x2, y2))) or (x1, y1) == (x2, y2):
        raise click.UsageError(f"--count-line {name}={text} is not of the form {name}=160,240,160,0: x1,y1,x2,y2")
    return Line((x1, y1), (x2, y2))


def count_text(counts: Mapping[str, Any]) -> str:
    """Return the counts of a finder as lines for people."""
    lines = [f"{counts['tracks']} objects"]
    for name, numbers in (*counts["lines"].items(), *counts["regions"].items()):
        lines.append(f"{name}: " + ", ".join(f"{number} {word.replace('_', ' ')}" for word, number in numbers.items()))
    return "\n".join(lines)
