"""When something moved, as drawings: a row for each day, or for each file without a time of day."""

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bgsub._lab.escape import escape_html
from bgsub.scanning.found import FileReport, FoundChange, FoundEvent, ScanResult
from bgsub.scanning.report.summary import clock_text

__all__ = ["timelines"]

_LEFT, _WIDTH, _ROW, _TOP = 150, 1000, 26, 20
_MOST_ROWS = 400
_DAY_S = 86400.0
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


@dataclass(frozen=True, slots=True)
class _Bar:
    start_s: float
    end_s: float
    kind: str
    title: str
    target: str = ""


def timelines(result: ScanResult) -> str:
    """Return the section with a row for each day, and for each file of which no time of day is known."""
    days: dict[str, list[_Bar]] = {}
    for file in result.files:
        if file.frames and file.clock is not None:
            _add(days, file.clock, file.duration_s, "file", file.file)
    for change in result.changes:
        if (clock := change.start.clock) is not None:
            _add(days, clock, _length(change), "change", f"{clock:%H:%M:%S} change of the scene")
    for event in result.events:
        if (clock := event.start.clock) is not None:
            _add(days, clock, event.event.duration_s, "event", _title(event), event.id)
    parts = []
    if days:
        rows = [(name, days[name]) for name in sorted(days)]
        span = _span(rows) if len(rows) == 1 else (0.0, _DAY_S)
        parts.append(_drawing(rows, *span, clock=True))
    undated = [file for file in result.files if file.frames and file.clock is None]
    if undated:
        rows = [(Path(file.file).name, _bars_of(file, result)) for file in undated[:_MOST_ROWS]]
        end_s = max(file.duration_s for file in undated)
        parts.append(_drawing(rows, 0.0, max(end_s, 1.0), clock=False))
        if len(undated) > _MOST_ROWS:
            parts.append(f'<p class="note">{len(undated) - _MOST_ROWS} more files are left out here.</p>')
    key = (
        '<p class="quiet"><span class="key" style="background:var(--file)"></span>recorded'
        '<span class="key" style="background:var(--event)"></span>event'
        '<span class="key" style="background:var(--change)"></span>change of the whole scene</p>'
    )
    return f"<h2>Timeline</h2>{''.join(parts)}{key}" if parts else ""


def _title(event: FoundEvent) -> str:
    start, end = event.start, event.end
    region = f" {event.event.region}" if event.event.region else ""
    return f"{clock_text(start.clock, start.time_s)} to {clock_text(end.clock, end.time_s)}{region}"


def _length(change: FoundChange) -> float:
    return change.change.end.time_s - change.change.start.time_s


def _add(
    days: dict[str, list[_Bar]], start: datetime.datetime, length_s: float, kind: str, title: str, target: str = ""
) -> None:
    """Add a bar to its day, and what is beyond midnight to the days after."""
    left_s = length_s
    while True:
        midnight = datetime.datetime.combine(start.date(), datetime.time())
        begin_s = (start - midnight).total_seconds()
        end_s = min(_DAY_S, begin_s + left_s)
        days.setdefault(start.date().isoformat(), []).append(_Bar(begin_s, end_s, kind, title, target))
        if end_s < _DAY_S:
            return
        left_s -= end_s - begin_s
        start = midnight + datetime.timedelta(days=1)


def _bars_of(file: FileReport, result: ScanResult) -> list[_Bar]:
    """Return the bars of one file, in its own time; what goes on in the next file ends here."""
    bars = [_Bar(0.0, file.duration_s, "file", file.file)]
    begin_s, end_s = file.offset_s + file.first_s, file.offset_s + file.first_s + file.duration_s
    bars += [
        _Bar(one.change.start.time_s - begin_s, one.change.end.time_s - begin_s, "change", "change of the scene")
        for one in result.changes
        if file in one.files
    ]
    for event in result.events:
        if file in event.files and event.event.start.time_s <= end_s and event.event.end.time_s >= begin_s:
            start_s = event.event.start.time_s - begin_s
            bars.append(_Bar(start_s, event.event.end.time_s - begin_s, "event", _title(event), event.id))
    return [
        _Bar(max(0.0, bar.start_s), min(file.duration_s, bar.end_s), bar.kind, bar.title, bar.target)
        for bar in bars
        if bar.start_s <= file.duration_s and bar.end_s >= 0
    ]


def _span(rows: Iterable[tuple[str, Sequence[_Bar]]]) -> tuple[float, float]:
    """Return the whole hours, or minutes, around all bars."""
    bars = [bar for _, row in rows for bar in row]
    low, high = min(bar.start_s for bar in bars), max(bar.end_s for bar in bars)
    step = 3600.0 if high - low > 1800 else 60.0
    return math.floor(low / step) * step, min(_DAY_S, max(math.ceil(high / step) * step, low + step))


def _drawing(rows: Sequence[tuple[str, Sequence[_Bar]]], first_s: float, last_s: float, *, clock: bool) -> str:
    def x_of(time_s: float) -> float:
        return _LEFT + (time_s - first_s) / (last_s - first_s) * _WIDTH

    height = _TOP + _ROW * len(rows) + 4
    parts = [f'<svg viewBox="0 0 {_LEFT + _WIDTH + 20} {height}" role="img" aria-label="timeline">']
    step = next((step for step in _STEPS_S if (last_s - first_s) / step <= 12), _STEPS_S[-1])
    for i in range(math.ceil(first_s / step), math.floor(last_s / step) + 1):
        x, time_s = x_of(i * step), i * step
        text = f"{time_s // 3600:.0f}:{time_s // 60 % 60:02.0f}" if clock else clock_text(None, time_s)[:-2]
        parts.append(f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 4}" y2="{height}"/>')
        parts.append(f'<text x="{x:.1f}" y="12" text-anchor="middle">{text}</text>')
    for number, (name, bars) in enumerate(rows):
        y = _TOP + _ROW * number
        shown = name if len(name) <= 24 else f"{name[:11]}…{name[-12:]}"
        parts.append(f'<text x="0" y="{y + 15}">{escape_html(shown)}<title>{escape_html(name)}</title></text>')
        parts += [_bar(bar, x_of(bar.start_s), x_of(bar.end_s), y) for bar in bars]
    return "".join(parts) + "</svg>"


def _bar(bar: _Bar, start: float, end: float, y: float) -> str:
    inset = 0 if bar.kind == "file" else 3
    drawn = (
        f'<rect class="{bar.kind}" x="{start:.1f}" y="{y + inset}" width="{max(end - start, 2):.1f}" '
        f'height="{_ROW - 6 - 2 * inset}"><title>{escape_html(bar.title)}</title></rect>'
    )
    return f'<a href="#{escape_html(bar.target)}">{drawn}</a>' if bar.target else drawn
