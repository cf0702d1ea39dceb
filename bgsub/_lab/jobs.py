"""Run independent jobs, here, in several processes, or on any executor; a worker that dies costs a second try."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from bgsub.errors import BgsubError

__all__ = ["WorkerDiedError", "run_jobs"]

Job = TypeVar("Job")


class WorkerDiedError(BgsubError):
    """The process of a job died twice, as for lack of memory."""


_TRIES = 2
"""A job whose worker dies is tried once more: the memory may have been taken by others."""

_POLL_S = 0.2

_AHEAD = 64
"""Jobs handed to an executor before the first of them are done: their results wait in memory."""


def run_jobs(
    function: Callable[[Job], Any],
    jobs: Sequence[Job],
    processes: int = 1,
    *,
    executor: Executor | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[int, Any | BaseException]]:
    """Call a function for each job and return results as they come.

    Parameters
    ----------
    function : callable
        A function of a module, so that other processes can import it; jobs and results can be pickled.
    jobs : sequence
        Its arguments.
    processes : int
        How many at once; with 1 everything runs in this process, in order.
    executor : Executor, optional
        Runs them instead; it stays open. Its workers need this package.
    stop : callable, optional
        Asked several times a second while jobs run elsewhere; when it returns True, there are no more results.

    Yields
    ------
    (index, result)
        Position of the job and what it returned, or the exception that it raised: a `BgsubError` or `ValueError`, or
        `WorkerDiedError`. Any other is a defect and raised at once.
    """
    if executor is not None:
        yield from _run_on(executor, function, jobs, stop)
        return
    if processes == 1:
        for index, job in enumerate(jobs):
            yield index, _attempt(function, job)
        return
    pools = _Pools()
    # Threads wait for the processes: each has a pool of one, so that one which dies takes no other job with it.
    with ThreadPoolExecutor(min(processes, max(1, len(jobs)))) as threads:
        futures = {threads.submit(pools.run, function, job): index for index, job in enumerate(jobs)}
        try:
            while futures and not stop():
                for future in wait(futures, _POLL_S, FIRST_COMPLETED).done:
                    yield futures.pop(future), future.result()
        finally:
            for future in futures:
                future.cancel()
            pools.close()


def _run_on(
    executor: Executor, function: Callable[[Job], Any], jobs: Sequence[Job], stop: Callable[[], bool]
) -> Iterator[tuple[int, Any | BaseException]]:
    """Run jobs on an executor of the caller's."""
    running: dict[Future[Any], tuple[int, int]] = {}
    left = iter(range(len(jobs)))

    def submit(index: int, tries: int) -> None:
        try:
            running[executor.submit(_attempt, function, jobs[index])] = index, tries
        except (BrokenExecutor, RuntimeError) as error:
            raise WorkerDiedError(f"the executor takes no more jobs ({error}); start it again and resume") from error

    try:
        for index in left:
            submit(index, 1)
            if len(running) >= _AHEAD:
                break
        while running and not stop():
            for future in wait(running, _POLL_S, FIRST_COMPLETED).done:
                index, tries = running.pop(future)
                try:
                    result = future.result()
                except (BrokenExecutor, CancelledError) as error:
                    result = _died(error)
                except Exception as error:
                    if not _is_death(error):
                        raise
                    result = _died(error)
                if isinstance(result, WorkerDiedError) and tries < _TRIES:
                    submit(index, tries + 1)
                    continue
                yield index, result
                for following in left:
                    submit(following, 1)
                    break
    finally:
        for future in running:
            future.cancel()


def _is_death(error: Exception) -> bool:
    """Return whether an engine reports so that the worker of a job is gone; each has exceptions of its own."""
    return type(error).__name__ in ("KilledWorker", "CommClosedError", "FutureCancelledError")


def _died(error: BaseException) -> WorkerDiedError:
    return WorkerDiedError(f"its worker died ({type(error).__name__}), perhaps for lack of memory; try fewer at once")


def _attempt(function: Callable[[Job], Any], job: Job) -> Any | BaseException:
    try:
        return function(job)
    except (BgsubError, ValueError) as error:
        return error


class _Pools:
    """One pool of one process for each thread that asks."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._lock = threading.Lock()
        self._all: list[ProcessPoolExecutor] = []
        self._closing = False

    def run(self, function: Callable[[Job], Any], job: Job) -> Any | BaseException:
        for _ in range(_TRIES):
            try:
                return self._pool().submit(_attempt, function, job).result()
            except BrokenProcessPool:
                self._local.pool = None
                if self._closing:
                    break
        return WorkerDiedError("its process died twice, perhaps for lack of memory; try fewer jobs at once")

    def _pool(self) -> ProcessPoolExecutor:
        pool: ProcessPoolExecutor | None = getattr(self._local, "pool", None)
        if pool is None:
            # Not fork: this process may have threads, whose locks a forked child would wait for.
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(1, mp_context=context, initializer=_start_worker, initargs=(os.getpid(),))
            with self._lock:
                self._all.append(pool)
            self._local.pool = pool
        return pool

    def close(self) -> None:
        self._closing = True
        with self._lock:
            for pool in self._all:
                for process in list((pool._processes or {}).values()):  # a job that nobody waits for any more
                    process.terminate()
                pool.shutdown(wait=True, cancel_futures=True)


def _start_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it is gone."""
    import signal
    import time

    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
