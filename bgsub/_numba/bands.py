"""Run compiled functions over bands of rows, on several threads."""

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np

from bgsub._numba.intrinsics import Bands

__all__ = ["available_threads", "run_bands", "run_claimed"]


def available_threads() -> int:
    """Return the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Work:
    """Calls to make, each once, by the thread that needs them and by workers, until none is left."""

    def __init__(self, calls: Iterable[Callable[[], None]]) -> None:
        self.calls = deque(calls)
        self.begun: list[int] = []
        self.ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def take(self) -> None:
        while self.calls:
            try:
                call = self.calls.popleft()
            except IndexError:  # another thread was quicker
                return
            call()

    def help(self) -> None:
        self.begun.append(1)  # before a call is taken: a thread that finds none left knows all that are at work
        error = None
        try:
            self.take()
        except BaseException as caught:  # noqa: BLE001 - raised again by the caller
            error = caught
        self.ended.put(error)

    def wait(self) -> list[BaseException]:
        """Wait until no thread is at work, so that nothing writes the caller's arrays any more; return the errors."""
        self.calls.clear()
        errors: list[BaseException | None] = []
        # Counted again each time: one that begins only now finds nothing to do, and ends before one that is at work.
        while len(errors) < len(self.begun):
            errors.append(self.ended.get())
        return [error for error in errors if error is not None]


# An executor's futures and locks take as long as a small call (8 % of the adaptive bank's time at 640x480).
_jobs: SimpleQueue[_Work] | None = None
_jobs_lock = threading.Lock()


def _workers() -> SimpleQueue[_Work]:
    """Return the job queue of the worker threads (one per CPU), which are started on first use."""
    global _jobs
    with _jobs_lock:
        if _jobs is None:
            _jobs = SimpleQueue()
            for index in range(available_threads()):
                threading.Thread(target=_serve, args=(_jobs,), name=f"bgsub-band-{index}", daemon=True).start()
        return _jobs


def _serve(jobs: SimpleQueue[_Work]) -> None:
    while True:
        jobs.get().help()


def _forget_workers() -> None:
    """Make a forked child start its own workers: threads do not survive a fork."""
    global _jobs, _jobs_lock
    _jobs, _jobs_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)

_MIN_PIXELS_PER_BAND = 20_000  # with fewer, waking another thread (some 50 microseconds) costs more than it saves


def run_bands(
    function: Callable[..., Any],
    shape: tuple[int, int],
    threads: int,
    *arguments: Any,
    light: int = 1,
) -> None:
    """Call `function(first_row, last_row, *arguments)` over all rows, in bands of rows over threads.

    Numba's own threading layer is not used: without TBB or OpenMP it is `workqueue`, where two Python threads at
    once abort the process. Workers are shared by all callers; each waits only for bands of its own.

    Parameters
    ----------
    function : compiled function
        Writes only rows first_row to last_row - 1 of its arrays.
    shape : (height, width)
        Size of the frame.
    threads : int
        Most threads to use; 0 for one per CPU.
    *arguments
        Passed on.
    light : int
        How many times cheaper a pixel is than in most functions; that many times more of them justify another thread.
    """
    workers = _count_workers(shape, threads, light)
    if workers == 1:
        function(0, shape[0], *arguments)
        return
    edges = [shape[0] * band // workers for band in range(workers + 1)]
    _share([partial(function, first, last, *arguments) for first, last in itertools.pairwise(edges)])


def run_claimed(
    function: Callable[..., Any], shape: tuple[int, int], threads: int, *arguments: Any, pieces: int = 4
) -> None:
    """Call `function(bands, *arguments)` once on each of several threads, which share all rows out among themselves.

    For functions whose rows differ in cost, so that a thread that is done can take more. The bands are claimed in
    compiled code: each call from Python unpacks all arguments again, one thread at a time.

    Parameters
    ----------
    function : compiled function
        Processes rows first to last - 1 for each `first, last = claim(bands)` until they are equal, and writes only
        these rows of its arrays.
    shape : (rows, width)
    threads : int
        Most threads to use; 0 for one per CPU.
    *arguments
        Passed on.
    pieces : int
        Bands per thread, if there are several threads.
    """
    workers = _count_workers(shape, threads)
    bands = Bands(np.zeros(1, np.int64), shape[0], 1 if workers == 1 else min(workers * pieces, shape[0]))
    if workers == 1:
        function(bands, *arguments)
        return
    _share([partial(function, bands, *arguments)] * workers)


def _count_workers(shape: tuple[int, int], threads: int, light: int = 1) -> int:
    height, width = shape
    return min(threads or available_threads(), height, max(1, height * width // (_MIN_PIXELS_PER_BAND * light)))


def _share(calls: Sequence[Callable[[], None]]) -> None:
    """Make the calls, on this thread and on those workers that come in time."""
    work, jobs = _Work(calls), _workers()
    for _ in range(len(calls) - 1):
        jobs.put(work)
    try:
        work.take()
    finally:
        errors = work.wait()
    if errors:
        raise errors[0]
