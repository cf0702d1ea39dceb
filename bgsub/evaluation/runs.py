"""Evaluations of many methods on many sequences: in several processes, resumable, with the masks kept."""

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

from bgsub import __version__
from bgsub._files import failure
from bgsub._lab.jobs import run_jobs
from bgsub._lab.machine import describe_machine
from bgsub._opencv import cv2
from bgsub.errors import BgsubError, DatasetError, SinkError
from bgsub.evaluation.datasets.sequence import Sequence
from bgsub.evaluation.methods import Method
from bgsub.evaluation.protocol import measure
from bgsub.evaluation.reports.report import Report, Row
from bgsub.evaluation.rows_file import RowsFile
from bgsub.frames import Mask
from bgsub.video._images import write_image

__all__ = ["Failure", "RunOptions", "evaluate_methods"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What an evaluation does beside counting pixels."""

    threads: int | None = None
    """Threads of each model, 0 for one per CPU; by default all, or 1 where several run at once."""
    roc: bool = False
    """Whether to compute ROC curves."""
    samples: int = 0
    """Frames of each sequence to keep for sheets."""
    results: Path | None = None
    """Folder for the masks of all frames, in the layout in which changedetection.net takes results; with several
    methods each has a folder in it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A sequence that could not be evaluated."""

    method: str
    sequence: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Job:
    method: Method
    sequence: Sequence
    options: RunOptions

    def key(self, digest: str) -> tuple[str, ...]:
        """Return all that determines the scores."""
        settings = json.dumps(self.method.settings(), sort_keys=True, default=str)
        settings = hashlib.sha256(settings.encode()).hexdigest()[:16]
        return self.method.label, settings, self.sequence.identity, digest, __version__


Progress = Callable[[int], None]


def evaluate_methods(
    sequences: Iterable[Sequence],
    methods: Iterable[Method],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    options: RunOptions | None = None,
    rows: RowsFile | None = None,
    keep_going: bool = False,
    progress: Progress | None = None,
) -> tuple[Report, list[Failure]]:
    """Run methods over sequences as `evaluate` does.

    Parameters
    ----------
    sequences : iterable of Sequence
        With different identities.
    methods : iterable of Method
        With different labels.
    jobs : int
        Processes, each of which runs one method on one sequence at a time.
    executor : Executor, optional
        Runs them instead, as workers of a cluster do; they find the files of the sequences by the same paths.
    options : RunOptions, optional
    rows : RowsFile, optional
        Receives each row when it is measured. Rows that it has are not measured again, if neither curves nor samples
        are asked for.
    keep_going : bool
        Whether a sequence that fails is left out, instead of ending the evaluation.
    progress : callable, optional
        Called with the number of frames that have been done since the call before.

    Returns
    -------
    report : Report
        The rows by method and sequence, in the order given, however they came.
    failures : list of Failure
        Empty without `keep_going`.

    Raises
    ------
    BgsubError
        If a sequence cannot be read or a method cannot be made, without `keep_going`.
    ValueError
        If two sequences or methods have one name.
    """
    sequences, methods, options = list(sequences), list(methods), options or RunOptions()
    _check_different("sequences", [sequence.identity for sequence in sequences])
    _check_different("methods", [method.label for method in methods])
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    here = jobs == 1 and executor is None
    if not here and options.threads is None:
        options = replace(options, threads=1)
    todo = [
        _Job(method, sequence, _with_folder(options, method, alone=len(methods) == 1))
        for method in methods
        for sequence in sequences
    ]
    found: dict[int, Row] = {}
    if rows is not None and not options.roc and not options.samples:
        found = _find_rows(todo, rows)
    if progress is not None:
        for index in found:
            progress(len(todo[index].sequence.numbers))
    failures: list[Failure] = []
    left = [index for index in range(len(todo)) if index not in found]
    run = functools.partial(_run, progress=progress) if here else _run
    for position, result in run_jobs(run, [todo[index] for index in left], jobs, executor=executor):
        index = left[position]
        job = todo[index]
        if isinstance(result, BaseException):
            if not keep_going:
                raise result
            failures.append(Failure(job.method.label, job.sequence.identity, str(result)))
            continue
        found[index] = result
        if rows is not None:
            rows.add(job.key(result.data), result)
        if progress is not None and not here:
            progress(len(job.sequence.numbers))
    provenance = describe_machine() | {
        "methods": {method.label: method.settings() for method in methods},
        "jobs": jobs,
        "threads": options.threads,
    }
    report = Report([found[index] for index in sorted(found)], provenance=provenance)
    return report, failures


def _check_different(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{what} must have different names, got {name!r} twice")


def _find_rows(jobs: list[_Job], rows: RowsFile) -> dict[int, Row]:
    """Return the rows that are there already, by the position of their job."""
    found: dict[int, Row] = {}
    digests: dict[str, str] = {}
    for index, job in enumerate(jobs):
        identity = job.sequence.identity
        if identity not in digests:
            digests[identity] = _digest(job.sequence) if rows.has(identity) else ""
        row = rows.find(job.key(digests[identity]))
        if row is not None:
            found[index] = row
    return found


def _digest(sequence: Sequence) -> str:
    try:
        return sequence.digest()
    except DatasetError:  # reported when it is run
        return ""


def _with_folder(options: RunOptions, method: Method, *, alone: bool) -> RunOptions:
    if options.results is None or alone:
        return options
    return replace(options, results=options.results / re.sub(r"[^\w.=+-]+", "_", method.label))


def _run(job: _Job, progress: Progress | None = None) -> Row:
    """Run a method on a sequence; in a process of its own unless there is only one."""
    sequence, options = job.sequence, job.options
    digest = sequence.digest()  # this also reads all files once, so that no method waits for the disk
    before = cv2.getNumThreads()
    if options.threads is not None:
        cv2.setNumThreads(options.threads)
    try:
        row = measure(
            job.method.label,
            job.method.make(threads=options.threads),
            sequence,
            roc=options.roc,
            samples=options.samples,
            on_mask=None if options.results is None else _MaskFolder(options.results, sequence).write,
            on_frame=None if progress is None else functools.partial(progress, 1),
        )
    except (BgsubError, ValueError):
        raise
    except Exception as error:  # a method of somebody else may raise anything
        raise BgsubError(f"{job.method.label} failed on {sequence.identity}: {error!r}") from error
    finally:
        cv2.setNumThreads(before)
    return replace(row, data=digest, parameters=job.method.settings())


class _MaskFolder:
    """The masks of a sequence: CATEGORY/NAME/bin000001.png, numbered as its frames."""

    def __init__(self, results: Path, sequence: Sequence) -> None:
        self.folder = results / sequence.category / sequence.name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for old in self.folder.glob("bin[0-9]*.png"):  # of a run that was interrupted
                old.unlink()
        except OSError as error:
            raise failure(self.folder, error.strerror or str(error)) from error

    def write(self, number: int, mask: Mask) -> None:
        write_image(self.folder / f"bin{number:06d}.png", mask, sync=False)


def check_results_folder(path: Path, *, resume: bool) -> None:
    """Refuse a folder for results that has contents, unless they are to be completed.

    Raises
    ------
    SinkError
        If it has contents, or is none.
    """
    try:
        if path.exists() and not resume and any(path.iterdir()):
            raise SinkError(f"cannot write the results {path}: the folder is not empty; resume or choose another")
    except OSError as error:
        raise failure(path, error.strerror or str(error)) from error
