"""Times of a camera: seconds that only rise, whatever its stream and the clock of the computer do, and times of day."""

import datetime
from collections import OrderedDict

from bgsub.scanning.clock import time_in_name
from bgsub.scanning.found import FileReport

__all__ = ["Clocks"]

_MOST_KEPT = 4096
_STEP_S = 2.0
"""Difference between the times of a stream and the clock of the computer beyond which one of both has jumped."""


class Clocks:
    """Gives the frames of successive pieces times that rise, and remembers when each stretch of them began.

    A stretch is a piece, or the part of it during which its times went on with the clock of the computer.
    """

    def __init__(self) -> None:
        self._reports: OrderedDict[int, FileReport] = OrderedDict()
        self._number = -1
        self._offset_s = 0.0
        self._piece: tuple[str, bool, tuple[int, int], float, str] | None = None
        self._fresh = False
        self.last_s = float("-inf")
        """Time of the last frame."""
        self._last_clock: datetime.datetime | None = None
        self._last_rate_hz = 25.0

    @property
    def stretch(self) -> int:
        """Number of the present stretch."""
        return self._number

    def begin(self, name: str, *, live: bool, size: tuple[int, int], rate_hz: float, path: str | None) -> None:
        """Begin a piece; its frames follow."""
        self._piece = name, live, size, rate_hz, path or ""
        self._fresh = True

    def see(self, time_s: float, now: datetime.datetime) -> float | None:
        """Return the time of a frame in the recording; None for one that goes back in time.

        Parameters
        ----------
        time_s : float
            Time in the piece.
        now : datetime
            Time of day, with its zone, at which the frame arrived; counts for live pieces.
        """
        if self._piece is None:
            return None
        name, live, size, rate_hz, path = self._piece
        if self._fresh:
            self._fresh = False
            clock = now if live else time_in_name(path or name)
            self._offset_s = self._follow(time_s, clock, rate_hz)
            self._add(FileReport(name, 1, size, rate_hz, time_s, float("inf"), self._offset_s, clock))
        elif live:
            report = self._reports[self._number]
            if report.clock is not None:
                expected = report.clock + datetime.timedelta(seconds=time_s - report.first_s)
                if abs((now - expected).total_seconds()) > _STEP_S:
                    self._add(FileReport(name, 1, size, rate_hz, time_s, float("inf"), self._offset_s, now))
        shifted_s = time_s + self._offset_s
        if shifted_s <= self.last_s:
            return None
        self.last_s, self._last_rate_hz = shifted_s, rate_hz
        self._last_clock = self._clock_of(time_s)
        return shifted_s

    def report(self, stretch: int) -> FileReport:
        """Return a stretch, or the oldest that is remembered."""
        return self._reports.get(stretch) or next(iter(self._reports.values()))

    def _follow(self, time_s: float, clock: datetime.datetime | None, rate_hz: float) -> float:
        """Return the offset with which a piece goes on after the one before, with the pause that the clocks show."""
        if self._last_clock is None and self.last_s == float("-inf"):
            return 0.0
        pause_s = 1 / self._last_rate_hz
        comparable = clock is not None and self._last_clock is not None
        if comparable and (clock.tzinfo is None) == (self._last_clock.tzinfo is None):  # type: ignore[union-attr]
            pause_s = max(pause_s, (clock - self._last_clock).total_seconds())  # type: ignore[operator]
        return self.last_s + pause_s - time_s

    def _clock_of(self, time_s: float) -> datetime.datetime | None:
        report = self._reports[self._number]
        return None if report.clock is None else report.clock + datetime.timedelta(seconds=time_s - report.first_s)

    def _add(self, report: FileReport) -> None:
        self._number += 1
        self._reports[self._number] = report
        while len(self._reports) > _MOST_KEPT:
            self._reports.popitem(last=False)
