"""Charts as SVG text, to be part of a page: lines and points over two axes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bgsub._lab.escape import escape_html

__all__ = ["Series", "chart", "colour"]

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d00", "#666666")
"""Based on those of Okabe and Ito (2008), which colour-blind readers distinguish."""

_LARGEST = 1e15
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 10, 40


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one colour."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    """Values; NaN interrupts a line."""
    colour: str
    line: bool = True
    """Whether a line joins the points; otherwise each is a dot with the name beside it."""


def colour(index: int) -> str:
    """Return the colour of a model by its index; after eight come further hues."""
    return _COLOURS[index] if index < len(_COLOURS) else f"hsl({index * 137 % 360} 60% 40%)"


def chart(
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    x_log: bool = False,
    y_range: tuple[float, float] | None = None,
    size: tuple[int, int] = (240, 640),
) -> str:
    """Return a chart as an SVG element.

    Parameters
    ----------
    series : sequence of Series
        Points that are not finite or beyond 1e15, and those at which a logarithmic x is not positive, are left out.
    x_label, y_label : str
        Titles of the axes.
    x_log : bool
        Whether the x axis is logarithmic.
    y_range : (float, float), optional
        Ends of the y axis; otherwise those of the values.
    size : (int, int)
        Height and width in pixels.

    Returns
    -------
    str
        ``<svg ...>``, with all names escaped; empty if no point can be drawn.

    Examples
    --------
    >>> chart([Series("a < b", [1, 2], [0.5, 0.75], colour(0))], x_label="frame", y_label="F")[:17]
    '<svg xmlns="http:'
    """
    points = [(x, y) for each in series for x, y in zip(each.x, each.y, strict=True) if _drawable(x, y, x_log)]
    if not points:
        return ""
    x_limits = _limits((math.log10(x) if x_log else x) for x, _ in points)
    axes = _Axes(size, x_limits, y_range or _limits(y for _, y in points), x_log)
    height, width = size
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="11">',
        f"<title>{escape_html(y_label)} over {escape_html(x_label)}</title>",
        *axes.draw(escape_html(x_label), escape_html(y_label)),
    ]
    for each in series:
        positions = [
            axes.position(x, y) if _drawable(x, y, x_log) else None for x, y in zip(each.x, each.y, strict=True)
        ]
        parts += _line(each, positions) if each.line else _dots(each, positions, width)
    return "".join([*parts, "</svg>"])


@dataclass(frozen=True, slots=True)
class _Axes:
    """Where values lie in a chart."""

    size: tuple[int, int]
    x_limits: tuple[float, float]
    """Their logarithms, if x is logarithmic."""
    y_limits: tuple[float, float]
    x_log: bool

    def position(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixel of a point; beyond the ends of y it is on the edge."""
        (height, width), (x_low, x_high), (y_low, y_high) = self.size, self.x_limits, self.y_limits
        along = ((math.log10(x) if self.x_log else x) - x_low) / (x_high - x_low)
        up = min(max((y - y_low) / (y_high - y_low), 0), 1)
        return _LEFT + along * (width - _LEFT - _RIGHT), height - _BOTTOM - up * (height - _TOP - _BOTTOM)

    def draw(self, x_label: str, y_label: str) -> list[str]:
        """Return grid, numbers and titles; the titles are escaped already."""
        height, width = self.size
        right, bottom = width - _RIGHT, height - _BOTTOM
        parts = []
        for value in _log_ticks(*self.x_limits) if self.x_log else _ticks(*self.x_limits):
            x, _ = self.position(value, self.y_limits[0])
            parts.append(f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>')
            parts.append(f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{value:g}</text>')
        for value in _ticks(*self.y_limits):
            y = self.position(1, value)[1]
            parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
            parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        middle, turned = (_LEFT + right) / 2, f"14 {(_TOP + bottom) / 2}"
        parts.append(f'<text x="{middle}" y="{height - 8}" text-anchor="middle">{x_label}</text>')
        parts.append(f'<text transform="translate({turned}) rotate(-90)" text-anchor="middle">{y_label}</text>')
        return parts


def _drawable(x: float, y: float, x_log: bool) -> bool:
    """Return whether a point is finite, and so small that differences of such numbers are finite, too."""
    return abs(x) < _LARGEST and abs(y) < _LARGEST and (x > 1 / _LARGEST or not x_log)


def _limits(values: Iterable[float]) -> tuple[float, float]:
    """Return an interval around the values that is not empty."""
    values = list(values)
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers between two."""
    raw = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next((factor * unit for factor in (1, 2, 5) if factor * unit >= raw), 10 * unit)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two powers of ten: powers of ten, with 2 and 5 times these if the range is short."""
    factors = (1,) if high - low > 3 else (1, 2, 5)
    found = [factor * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for factor in factors]
    inside = [value for value in found if low <= math.log10(value) <= high]
    return inside if len(inside) > 1 else [value for value in _ticks(10**low, 10**high) if value > 0]


def _line(series: Series, positions: list[tuple[float, float] | None]) -> list[str]:
    """Return the unbroken pieces of a line, a single point as a dot."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for point in positions:
        if point is not None:
            pieces[-1].append(point)
        elif pieces[-1]:
            pieces.append([])
    parts = []
    for piece in filter(None, pieces):
        if len(piece) == 1:
            parts.append(f'<circle cx="{piece[0][0]:.1f}" cy="{piece[0][1]:.1f}" r="2" fill="{series.colour}"/>')
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in piece)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{series.colour}" stroke-width="1.5"/>')
    return parts


def _dots(series: Series, positions: list[tuple[float, float] | None], width: int) -> list[str]:
    """Return dots, each with the name of the series on the side that has room."""
    parts = []
    for point in filter(None, positions):
        x, y = point
        left = x > width * 0.7
        offset, anchor = (-7, "end") if left else (7, "start")
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{series.colour}"/>')
        parts.append(
            f'<text x="{x + offset:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{escape_html(series.name)}</text>'
        )
    return parts
