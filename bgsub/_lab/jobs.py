"""Run independent jobs, here or in several processes, where the death of one process costs one job."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from bgsub.errors import BgsubError

__all__ = ["WorkerDiedError", "run_jobs"]

Job = TypeVar("Job")


class WorkerDiedError(BgsubError):
    """The process of a job died, as for lack of memory."""


def run_jobs(
    function: Callable[[Job], Any], jobs: Sequence[Job], processes: int = 1
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

    Yields
    ------
    (index, result)
        Position of the job and what it returned, or the exception that it raised: a `BgsubError` or `ValueError`, or
        `WorkerDiedError`. Any other is a defect and raised at once.
    """
    if processes == 1:
        for index, job in enumerate(jobs):
            yield index, _attempt(function, job)
        return
    pools = _Pools()
    # Threads wait for the processes: each has a pool of one, so that one which dies takes no other job with it.
    with ThreadPoolExecutor(min(processes, max(1, len(jobs)))) as threads:
        futures = {threads.submit(pools.run, function, job): index for index, job in enumerate(jobs)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()
            pools.close()


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

    def run(self, function: Callable[[Job], Any], job: Job) -> Any | BaseException:
        pool = self._pool()
        try:
            return pool.submit(_attempt, function, job).result()
        except BrokenProcessPool:
            self._local.pool = None
            return WorkerDiedError("its process died, perhaps for lack of memory; try fewer jobs at once")

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
