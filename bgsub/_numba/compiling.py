"""The time that compiled code takes before it runs, which is no part of the time per frame, and reports of it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["begin", "end", "report_compiling", "report_miss", "startup_seconds"]

Report = Callable[[str], None]

_begun: list[float] = []
_total_s = 0.0
_reports: list[Report] = []


def startup_seconds() -> float:
    """Return the seconds that this process has spent compiling code, or loading it from the cache on disk."""
    return _total_s


@contextmanager
def report_compiling(report: Report) -> Iterator[None]:
    """Call `report` with the name of each function that is compiled, before it is, on the thread that compiles it."""
    _reports.append(report)
    try:
        yield
    finally:
        _reports.remove(report)


# Numba holds its compiler lock while it calls what follows, so that only one thread at a time is here. A function may
# need others, which are loaded or compiled between its own beginning and end.


def begin() -> None:
    """Note that a function is wanted."""
    _begun.append(time.perf_counter())


def report_miss(name: str) -> None:
    """Note that the function is not in the cache and will be compiled."""
    for report in _reports:
        report(name)


def end() -> None:
    """Note that the function for which `begin` was called last is there."""
    global _total_s
    begun = _begun.pop()
    if not _begun:
        _total_s += time.perf_counter() - begun
