"""The report of a scan as one page that a browser opens from the disk: timelines, pictures, links, totals."""

import base64
import datetime
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from bgsub._lab.escape import escape_html, flatten
from bgsub.scanning.found import FileReport, FoundEvent, ScanResult
from bgsub.scanning.report.summary import by_day, clock_text, span_text
from bgsub.scanning.report.timeline import timelines
from bgsub.scanning.settings import ScanSettings

__all__ = ["report_page"]

_MOST_EMBEDDED = 20_000_000
"""Bytes of pictures that are part of the page; others are links to their files."""

_POLICY = (
    "default-src 'none'; img-src data: file: 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #777; --event: #d55e00; --change: #0072b2; --file: #8883; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1200px; margin: 0 auto; padding: 1em 1.5em 4em; }
h1 { font-size: 1.6em; margin-bottom: .2em; } h2 { font-size: 1.2em; margin-top: 2em; }
h2 { border-bottom: 1px solid var(--line); }
p.note, .quiet { color: var(--quiet); } .failed { color: #c4001d; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } .scroll { overflow-x: auto; }
th, td { padding: .2em .8em .2em 0; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 14px; }
.card { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; } .card div { padding: .4em .7em .6em; }
.card:target { outline: 3px solid var(--event); } .card img { display: block; width: 100%; height: auto; }
.card .none { padding: 3em 1em; text-align: center; color: var(--quiet); }
.card strong { font-size: 1.05em; } .card p { margin: .15em 0; overflow-wrap: anywhere; font-size: .9em; }
svg { display: block; width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
svg .file { fill: var(--file); } svg .event { fill: var(--event); } svg .change { fill: var(--change); }
svg .tick { stroke: var(--line); } svg a:hover .event { opacity: .6; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1em; } dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
.key { display: inline-block; width: 1em; height: .8em; margin: 0 .3em 0 1em; }
"""


def report_page(result: ScanResult, settings: ScanSettings, folder: Path) -> str:
    """Return the page.

    It loads nothing from elsewhere and runs no script; all names are escaped. Pictures are part of it, up to 20 MB.

    Parameters
    ----------
    result : ScanResult
    settings : ScanSettings
    folder : Path
        Where the page will be: links are relative to it.
    """
    sections = [
        _head(result),
        _days(result),
        timelines(result),
        _events(result.events, folder),
        _changes(result, folder),
        _files(result.files, folder),
        _provenance(settings),
    ]
    body = "\n".join(filter(None, sections))
    return (
        '<!DOCTYPE html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Motion events</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def link_to(file: str, folder: Path) -> str:
    """Return the address of a file, relative to a folder; empty for what is no file."""
    if file.startswith(("synthetic:", "generated:")):
        return ""
    try:
        relative = os.path.relpath(file, folder)
    except ValueError:  # on another drive
        return escape_html(Path(file).resolve().as_uri())
    return escape_html(quote(os.fsencode(Path(relative).as_posix())))


def _linked(file: str, folder: Path, text: str | None = None) -> str:
    shown = escape_html(text or Path(file).name)
    address = link_to(file, folder)
    return f'<a href="{address}">{shown}</a>' if address else shown


def _head(result: ScanResult) -> str:
    moving_s = sum(event.event.duration_s for event in result.events)
    recorded_s = sum(file.duration_s for file in result.files)
    failed = f' <span class="failed">{_count(len(result.failures), "file")} could not be read to the end.</span>'
    return (
        f"<h1>Motion events</h1><p>{_count(len(result.events), 'event')} with {span_text(moving_s)} of motion in "
        f"{span_text(recorded_s)} of recordings, {_count(len(result.files), 'file')}."
        f"{failed if result.failures else ''}</p>"
    )


def _days(result: ScanResult) -> str:
    days = by_day(result.events, result.files)
    if not any(day.date for day in days):
        return ""
    rows = [
        [day.date or "no date known", str(day.events), span_text(day.moving_s), span_text(day.recorded_s), day.busiest]
        for day in days
    ]
    return f"<h2>Days</h2>{_table(['day', 'events', 'motion', 'recorded', 'busiest hour'], rows)}"


def _events(events: Sequence[FoundEvent], folder: Path) -> str:
    if not events:
        return '<h2>Events</h2><p class="note">Nothing has moved.</p>'
    parts, left = ["<h2>Events</h2>"], _MOST_EMBEDDED
    day: str | None = None
    for event in events:
        clock = event.start.clock
        date = "" if clock is None else clock.strftime("%A, %d %B %Y")
        if date != day:
            parts.append("</div>" if day is not None else "")
            parts.append(f"<h3>{date}</h3>" if date else "")
            parts.append('<div class="cards">')
            day = date
        picture, size = _picture(event, folder, left)
        left -= size
        parts.append(_card(event, picture, folder))
    parts.append("</div>")
    return "".join(parts)


def _card(event: FoundEvent, picture: str, folder: Path) -> str:
    start, end, found = event.start, event.end, event.event
    region = f" in {escape_html(found.region)}" if found.region else ""
    clips = " ".join(
        f'<a href="{escape_html(quote(name))}">clip{f" {i + 1}" if len(event.clips) > 1 else ""}</a>'
        for i, name in enumerate(event.clips)
    )
    within = "" if start.clock is None else f" at {clock_text(None, start.time_s)}"
    return (
        f'<div class="card" id="{escape_html(event.id)}">{picture}<div>'
        f"<strong>{clock_text(start.clock, start.time_s)} to {clock_text(end.clock, end.time_s)}</strong>"
        f"<p>{span_text(found.duration_s)}{region}, {_count(found.objects, 'object')}, "
        f"{100 * found.share:.1f} % of the frame, score {found.score:.2f}</p>"
        f"<p>{_linked(start.file.file, folder)}{within} {clips}</p></div></div>"
    )


def _picture(event: FoundEvent, folder: Path, left: int) -> tuple[str, int]:
    if not event.thumbnail:
        return '<div class="none">no picture</div>', 0
    source, size = escape_html(quote(event.thumbnail)), 0
    try:
        data = (folder / event.thumbnail).read_bytes()
    except OSError:
        data = b""
    if data and len(data) <= left:
        source, size = f"data:image/jpeg;base64,{base64.b64encode(data).decode()}", len(data)
    alt = f"the frame at {clock_text(event.peak.clock, event.peak.time_s)}"
    return f'<img src="{source}" alt="{alt}" loading="lazy">', size


def _changes(result: ScanResult, folder: Path) -> str:
    if not result.changes:
        return ""
    causes = {"light": "the light has changed", "camera": "the camera was moved, or the whole scene has changed"}
    rows = [
        [
            _when(change.start.clock, change.start.time_s),
            _linked(change.start.file.file, folder),
            causes.get(change.change.cause, escape_html(change.change.cause)),
            f"{100 * change.change.share:.0f} %",
        ]
        for change in result.changes
    ]
    table = _table(["time", "file", "what", "of the frame"], rows, raw=True)
    return f"<h2>Changes of the whole scene</h2><p class='note'>These are no events.</p>{table}"


def _files(files: Sequence[FileReport], folder: Path) -> str:
    rows = []
    for file in sorted(files, key=lambda one: not one.failure):
        failed = f'<span class="failed">{escape_html(file.failure)}</span>' if file.failure else ""
        size = f"{file.size[1]}x{file.size[0]}" if file.frames else ""
        begin = "" if file.clock is None else file.clock.isoformat(" ", "seconds")
        name = _linked(file.file, folder, file.file)
        rows.append([name, begin, span_text(file.duration_s) if file.frames else "", size, failed])
    return f"<h2>Files</h2>{_table(['file', 'begins', 'length', 'size', ''], rows, raw=True)}"


def _provenance(settings: ScanSettings) -> str:
    pairs = "".join(
        f"<dt>{escape_html(name)}</dt><dd>{escape_html(value)}</dd>" for name, value in flatten(settings.to_json())
    )
    return f"<h2>Settings</h2><details><summary>Version, detector and rules</summary><dl>{pairs}</dl></details>"


def _table(heads: Iterable[str], rows: Iterable[Sequence[str]], *, raw: bool = False) -> str:
    head = "".join(f"<th>{escape_html(name)}</th>" for name in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{cell if raw else escape_html(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _when(clock: datetime.datetime | None, time_s: float) -> str:
    return clock_text(None, time_s) if clock is None else clock.isoformat(" ", "seconds")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
