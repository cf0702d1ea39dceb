"""A scan: analyse all files, in any order and anywhere, and make events of them in order."""

import datetime
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from bgsub._files import failure, lock_name, write_text
from bgsub._lab.jobs import WorkerDiedError, run_jobs
from bgsub.errors import SinkError
from bgsub.frames import VideoInfo
from bgsub.scanning.analyse import Analysed, Chain, Job, Part, analyse, find_parts
from bgsub.scanning.fold import Recording
from bgsub.scanning.found import FileReport, FoundChange, FoundEvent, ScanResult
from bgsub.scanning.inputs import find_files
from bgsub.scanning.journal import Journal, part_key, state_name
from bgsub.scanning.numbers import NumberWriter
from bgsub.scanning.outputs import ClipMode, Clips, Outputs
from bgsub.scanning.report import by_day, report_page
from bgsub.scanning.settings import ScanSettings

__all__ = ["Plan", "ScanControl", "ScanInterrupted", "make_plan", "scan", "write_scan"]

_WORK = ".scan"

_THREADS = 1
"""Of the detector: frames are small, and files or their parts are analysed in parallel instead."""

_Step = tuple[int, list[FileReport], list[FoundEvent], list[FoundChange]]
"""Number of a recording, what is known of its files, and what has become final."""


class ScanInterrupted(KeyboardInterrupt):
    """A scan was asked to stop; what is done is in its journal."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts to analyse."""

    recordings: list[list[Part]]
    """Parts of each recording, in order."""
    infos: dict[str, VideoInfo | None]
    """Description of each file; None if it cannot be opened."""
    failures: dict[str, str]
    """Why files cannot be opened."""

    @property
    def parts(self) -> list[Part]:
        """All parts."""
        return [part for parts in self.recordings for part in parts]

    @property
    def frames(self) -> int:
        """Frames to read, as far as the containers state it."""
        return sum(part.frames for part in self.parts)


def _ignore(_: Any) -> None:
    pass


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ScanControl:
    """Functions that a scan calls while it works."""

    progress: Callable[[int], None] = _ignore
    """Gets the number of frames that were read since the call before."""
    on_plan: Callable[[Plan], None] = _ignore
    """Gets the plan, once, before anything is analysed."""
    stop: Callable[[], bool] = _never
    """Asked now and then whether to end."""


def make_plan(files: Iterable[str], settings: ScanSettings) -> Plan:
    """Open all files and divide them as the settings say."""
    recordings: list[list[Part]] = []
    infos: dict[str, VideoInfo | None] = {}
    failures: dict[str, str] = {}
    for file in files:
        parts, infos[file], failed = find_parts(file, settings)
        if failed:
            failures[file] = failed
        recordings.append(parts)
    if settings.continuous:
        recordings = [[part for parts in recordings for part in parts]]
    return Plan(recordings, infos, failures)


def scan(
    places: Iterable[str | PathLike[str]],
    output: str | PathLike[str],
    settings: ScanSettings | None = None,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    resume: bool = False,
    clips: ClipMode | Clips | None = None,
    control: ScanControl | None = None,
) -> ScanResult:
    """Find the events in recordings, and write them to a folder.

    It gets events.jsonl and events.csv, to which events are added when they are final, and which are in order at the
    end; changes.jsonl, scan.json, report.html, a picture of each event, and clips if asked for. What is done is kept in
    a journal: a scan that ends for any reason goes on with `resume`, with the same results.

    Parameters
    ----------
    places : iterable of str or path
        Files, folders, which are searched with all below them, and patterns.
    output : str or path
        Folder for the outputs; created if it is missing.
    settings : ScanSettings, optional
        What an event is, and how it is found.
    jobs : int
        Processes to run at once; results do not depend on it.
    executor : Executor, optional
        Runs the analysis instead: any of `concurrent.futures`, or that of a cluster, whose workers find the files under
        the same names.
    resume : bool
        Whether to go on with the scan in the folder.
    clips : {"copy", "encode"} or Clips, optional
        Cut out clips: as they are stored, beginning with a key frame, or encoded again, exactly.
    control : ScanControl, optional
        Functions that are called while it works.

    Returns
    -------
    ScanResult

    Raises
    ------
    SourceError
        If there is nothing to scan.
    SinkError
        If the folder holds another scan, another process writes it, or it cannot be written.
    ScanInterrupted
        If `control.stop` returned True.
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import tempfile
    >>> from bgsub.scanning import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = scan(["synthetic:easy?frames=120&size=160x120"], folder)
    ...     sorted(file.name for file in Path(folder).iterdir() if file.suffix)
    ['changes.jsonl', 'events.csv', 'events.jsonl', 'report.html', 'scan.json']
    """
    settings, control = settings or ScanSettings(), control or ScanControl()
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    folder = Path(output)
    files = find_files(places, without=folder)
    if settings.start_time is not None and len(files) > 1 and not settings.continuous:
        raise ValueError(f"start_time is that of one recording; make {len(files)} files one by continuous=True")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failure(folder, error.strerror) from error
    lock = lock_name(folder / "events.jsonl", force=True)
    try:
        journal = Journal(folder / _WORK, settings, resume=resume)
        cut = Clips(clips) if isinstance(clips, str) else clips
        outputs = Outputs(folder, settings.rules, cut, control.stop)
        plan = make_plan(files, settings)
        control.on_plan(plan)
        result = _Scan(settings, journal, control).run(plan, outputs, jobs, executor)
        _write_result(result, outputs, settings)
        return result
    finally:
        lock.release()


def write_scan(result: ScanResult, output: str | PathLike[str], settings: ScanSettings) -> ScanResult:
    """Write what was found otherwise as `scan` does: tables, pictures, summary and page, without a journal.

    Parameters
    ----------
    result : ScanResult
        What was found.
    output : str or path
        Folder for the outputs; created if it is missing.
    settings : ScanSettings
        How it was found.

    Returns
    -------
    ScanResult
        With the names of the pictures.

    Raises
    ------
    SinkError
        If the folder holds a scan, another process writes it, or it cannot be written.
    SourceError
        If the source cannot be read again for the pictures.
    """
    folder = Path(output)
    if (folder / "events.jsonl").exists():
        raise SinkError(f"{folder} holds a scan already; choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failure(folder, error.strerror) from error
    lock = lock_name(folder / "events.jsonl", force=True)
    try:
        outputs = Outputs(folder, settings.rules)
        result = replace(result, events=outputs.render(result.events))
        _write_result(result, outputs, settings)
        return result
    finally:
        lock.release()


def _write_result(result: ScanResult, outputs: Outputs, settings: ScanSettings) -> None:
    outputs.write(result.events, result.changes)
    outputs.write_summary(_summary(result, settings))
    write_text(outputs.folder / "report.html", report_page(result, settings, outputs.folder))


_Found = TypeVar("_Found", FoundEvent, FoundChange)


def _in_order(found: Sequence[tuple[int, _Found]]) -> list[_Found]:
    """Return what was found by time of day where it is known, then by recording and time."""
    none = datetime.datetime.min

    def key(one: tuple[int, _Found]) -> tuple[Any, ...]:
        clock = one[1].start.clock
        return clock is None, clock or none, one[0], one[1].start_s, one[1].region

    return [one for _, one in sorted(found, key=key)]


def _summary(result: ScanResult, settings: ScanSettings) -> dict[str, Any]:
    """Return what scan.json holds."""
    return {
        "settings": settings.digest(),
        "values": settings.to_json(),
        "events": len(result.events),
        "scene_changes": len(result.changes),
        "days": [asdict(day) for day in by_day(result.events, result.files)],
        "files": [file.to_json() for file in result.files],
    }


def _absolute(file: str) -> str:
    """Return the whole path of a file; a source that is made, not read, has none."""
    return str(Path(file).absolute()) if Path(file).exists() else file


class _Scan:
    """One scan: which parts are done, and what they hold."""

    def __init__(self, settings: ScanSettings, journal: Journal, control: ScanControl) -> None:
        self._settings, self._journal = settings, journal
        self._progress, self._stop = control.progress, control.stop

    def run(self, plan: Plan, outputs: Outputs, jobs: int, executor: Executor | None) -> ScanResult:
        events: list[tuple[int, FoundEvent]] = []
        changes: list[tuple[int, FoundChange]] = []
        files: dict[int, list[FileReport]] = {}
        outputs.begin()
        if self._settings.continuous:
            steps = self._run_in_turn(plan.recordings[0])
        else:
            steps = self._run_anywhere(plan, jobs, executor)
        for index, reports, found, other in steps:
            made = outputs.render(found)
            outputs.append(made)
            events += [(index, event) for event in made]
            changes += [(index, change) for change in other]
            files[index] = reports
            self._check_stop()
        reports = [report for index in sorted(files) for report in files[index]]
        return ScanResult(_in_order(events), _in_order(changes), reports, outputs.left_out, outputs.failures)

    def _check_stop(self) -> None:
        if self._stop():
            raise ScanInterrupted

    def _run_in_turn(self, parts: Sequence[Part]) -> Iterator[_Step]:
        """Analyse the parts of one recording with one model; each goes on where the one before has ended."""
        recording = Recording(self._settings)
        chain: Chain | None = None
        key = kept = ""
        for part in parts:
            before, key = key, part_key(part, key)
            analysed = self._journal.find(key)
            if analysed is None:
                if chain is None:
                    chain = Chain(self._settings, _THREADS)
                    if kept:
                        chain.restore(self._journal.folder, kept)
                analysed = chain.analyse(part, self._progress, self._stop, offset=recording.offset_of(part.file))
                self._check_stop()
                name = state_name(key)
                chain.save(self._journal.folder, name)
                self._journal.add(key, analysed)
                if before:
                    self._journal.drop_state(state_name(before))
            else:
                self._progress(part.frames)
            kept = state_name(key)
            yield 0, recording.files, *recording.add(part, analysed, self._journal.numbers(key))
        yield 0, recording.files, *recording.finish()

    def _run_anywhere(self, plan: Plan, jobs: int, executor: Executor | None) -> Iterator[_Step]:
        """Analyse all parts, and make events of each recording when its last part is done."""
        where = [(index, part) for index, parts in enumerate(plan.recordings) for part in parts]
        keys = [part_key(part) for _, part in where]
        results = {position: found for position, key in enumerate(keys) if (found := self._journal.find(key))}
        left = [position for position in range(len(where)) if position not in results]
        open_parts = {index: len(parts) for index, parts in enumerate(plan.recordings)}
        members: dict[int, list[int]] = {}
        for position, (index, _) in enumerate(where):
            members.setdefault(index, []).append(position)
        for position in results:
            open_parts[where[position][0]] -= 1
            self._progress(where[position][1].frames)
        for index, count in open_parts.items():
            if count == 0:
                yield self._fold(index, members[index], where, keys, results)
        alone = executor is None and jobs == 1
        work: Callable[[Job], Analysed] = analyse
        if alone:
            work = functools.partial(analyse, progress=self._progress, stop=self._stop)
        parts = [where[position][1] for position in left]
        if executor is not None:  # its workers may have another working directory
            parts = [replace(part, file=_absolute(part.file)) for part in parts]
        todo = [Job(part, self._settings, _THREADS) for part in parts]
        for number, result in run_jobs(work, todo, jobs, executor=executor, stop=self._stop):
            self._check_stop()
            position = left[number]
            index, part = where[position]
            if isinstance(result, Analysed):  # in the user's words
                result = replace(result, failure=result.failure.replace(parts[number].file, part.file))
            if isinstance(result, WorkerDiedError):  # which is not written down, so that resuming tries again
                results[position] = Analysed(NumberWriter(list(self._settings.regions)).to_bytes(), failure=str(result))
            elif isinstance(result, BaseException):
                raise result
            elif result.failure and not result.frames:  # it may be there, or readable, by the time it is resumed
                results[position] = result
            else:
                self._journal.add(keys[position], result)
                results[position] = replace(result, numbers=b"")
            if not alone:
                self._progress(part.frames)
            open_parts[index] -= 1
            if open_parts[index] == 0:
                yield self._fold(index, members[index], where, keys, results)
        self._check_stop()

    def _fold(
        self,
        index: int,
        positions: Sequence[int],
        where: Sequence[tuple[int, Part]],
        keys: Sequence[str],
        results: dict[int, Analysed],
    ) -> _Step:
        recording = Recording(self._settings)
        events: list[FoundEvent] = []
        changes: list[FoundChange] = []
        for position in positions:
            analysed = results.pop(position)
            numbers = analysed.numbers or self._journal.numbers(keys[position])
            found, other = recording.add(where[position][1], analysed, numbers)
            events += found
            changes += other
        found, other = recording.finish()
        return index, recording.files, [*events, *found], [*changes, *other]
