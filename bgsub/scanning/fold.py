"""From the numbers of all parts to events: quick, in order, and the same wherever the numbers were made."""

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from bgsub.events import Event, EventMachine, SceneChange
from bgsub.scanning.analyse import Analysed, Part
from bgsub.scanning.clock import parse_time, time_in_name
from bgsub.scanning.found import FileReport, FoundChange, FoundEvent
from bgsub.scanning.numbers import read_numbers
from bgsub.scanning.settings import ScanSettings

__all__ = ["Recording", "offset_after"]

_CLOCK_GAP_S = 1.0
"""Pause between two files, by their names, beyond which nothing was recorded meanwhile."""


class Recording:
    """Files whose events belong together: one, or all of a continuous recording, in their order.

    Parameters
    ----------
    settings : ScanSettings
    """

    def __init__(self, settings: ScanSettings) -> None:
        self._settings = settings
        self._machine = EventMachine(settings.rules, list(settings.regions))
        self._digest = settings.digest()
        self.files: list[FileReport] = []

    def add(self, part: Part, analysed: Analysed, numbers: bytes) -> tuple[list[FoundEvent], list[FoundChange]]:
        """Take the next part, and return what has become final."""
        self._note(part, analysed)
        report = self.files[-1]
        found: list[Event | SceneChange] = []
        last_s = -float("inf")
        file = len(self.files) - 1
        for one in read_numbers(numbers, list(self._settings.regions), file=file, offset_s=report.offset_s):
            if one.time_s > last_s:
                last_s = one.time_s
                found += self._machine.see(one)
        return self._sorted(found)

    def finish(self) -> tuple[list[FoundEvent], list[FoundChange]]:
        """Return what the end of the recording makes final."""
        return self._sorted(self._machine.finish())

    def offset_of(self, file: str) -> Callable[[float], float]:
        """Return the function that says, by the time of its first frame, how to shift the times of the next file."""
        files, clock = list(self.files), self._clock(file)
        return lambda first_s: offset_after(files, clock, first_s)

    def _note(self, part: Part, analysed: Analysed) -> None:
        if self.files and self.files[-1].file == part.file:
            report = self.files[-1]
            failures = "; ".join(filter(None, dict.fromkeys([report.failure, analysed.failure])))
            self.files[-1] = replace(
                report,
                frames=report.frames + analysed.frames,
                last_s=analysed.last_s if analysed.frames else report.last_s,
                failure=failures,
            )
            return
        clock = self._clock(part.file)
        offset_s = offset_after(self.files, clock, analysed.first_s) if self._settings.continuous else 0.0
        if clock is None and self.files and self.files[-1].clock is not None:  # it goes on from the file before
            begin = self.files[-1]
            passed_s = offset_s + analysed.first_s - begin.offset_s - begin.first_s
            clock = begin.clock + datetime.timedelta(seconds=passed_s) if begin.clock else None
        self.files.append(
            FileReport(
                part.file,
                analysed.frames,
                analysed.size,
                analysed.rate_hz,
                analysed.first_s,
                analysed.last_s,
                offset_s,
                clock,
                analysed.failure,
            )
        )

    def _clock(self, file: str) -> datetime.datetime | None:
        if self._settings.start_time is not None:
            return None if self.files else parse_time(self._settings.start_time)
        return time_in_name(file, self._settings.name_pattern)

    def _sorted(self, found: Iterable[Event | SceneChange]) -> tuple[list[FoundEvent], list[FoundChange]]:
        files = tuple(self.files)
        name = self._settings.config.detector
        events = [FoundEvent(one, files, name, self._digest) for one in found if isinstance(one, Event)]
        changes = [FoundChange(one, files) for one in found if isinstance(one, SceneChange)]
        return events, changes


def offset_after(files: Sequence[FileReport], clock: datetime.datetime | None, first_s: float) -> float:
    """Return what is to be added to the times of the file that follows, for its times in the recording.

    Files follow each other without a pause, unless their clocks say otherwise.
    """
    seen = [file for file in files if file.frames]
    if not seen:
        return 0.0
    last = seen[-1]
    begin_s = last.offset_s + last.last_s + 1 / last.rate_hz
    if clock is not None and last.clock is not None:
        passed_s = (clock - last.clock).total_seconds()
        by_clock_s = last.offset_s + last.first_s + passed_s
        if by_clock_s - begin_s > _CLOCK_GAP_S:
            begin_s = by_clock_s
    return begin_s - first_s
