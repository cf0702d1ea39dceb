"""Totals of a scan, by day."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bgsub.scanning.found import FileReport, FoundEvent
from bgsub.scanning.outputs import day_of

__all__ = ["Day", "by_day", "clock_text", "span_text"]


@dataclass(frozen=True, slots=True)
class Day:
    """What happened on a day."""

    date: str
    """Such as 2026-11-22; empty for files of which no date is known."""
    events: int
    moving_s: float
    """Time of all events together."""
    recorded_s: float
    """Time of the files that begin on this day."""
    busiest: str
    """Hour with most events, such as 08:00; empty where it is not known."""


def by_day(events: Iterable[FoundEvent], files: Iterable[FileReport]) -> list[Day]:
    """Return the totals of each day on which something was recorded."""
    found: dict[str, list[FoundEvent]] = {}
    recorded: dict[str, float] = {}
    for file in files:
        if file.frames:
            day = day_of(file.clock)
            recorded[day] = recorded.get(day, 0.0) + file.duration_s
    for event in events:
        found.setdefault(day_of(event.start.clock), []).append(event)
    days = []
    for date in sorted(recorded.keys() | found.keys()):
        here = found.get(date, [])
        moving_s = sum(event.event.duration_s for event in here)
        days.append(Day(date, len(here), moving_s, recorded.get(date, 0.0), _busiest(here)))
    return days


def _busiest(events: Sequence[FoundEvent]) -> str:
    hours = [event.start.clock.hour for event in events if event.start.clock is not None]
    return f"{max(sorted(set(hours)), key=hours.count):02d}:00" if hours else ""


def span_text(seconds: float) -> str:
    """Return a length of time as a person says it.

    Examples
    --------
    >>> span_text(42.4), span_text(3725)
    ('42 s', '1:02:05')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    whole = round(seconds)
    return (
        f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
        if whole >= 3600
        else (f"{whole // 60}:{whole % 60:02d}")
    )


def clock_text(time: datetime.datetime | None, seconds: float) -> str:
    """Return a time of day, or else a time in a file."""
    if time is not None:
        return time.strftime("%H:%M:%S")
    whole = int(seconds)
    return f"{whole // 3600:d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{int(seconds * 10) % 10}"
