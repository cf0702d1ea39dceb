"""Run compiled functions over bands of rows, on several threads."""

import ctypes
import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from queue import SimpleQueue
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numba.extending import overload, typeof_impl
from numpy.typing import NDArray

from bgsub._numba.atomics import has_private_names, outline
from bgsub._numba.compiler import JIT_ENABLED, PLAIN_NUMBA, compiled, part_with_arrays
from bgsub._numba.crew import HELD, LINE, YIELD, lines, serve, share
from bgsub._numba.held import unpack

__all__ = ["available_threads", "banded", "find_team", "helpers_awake", "in_bands", "run_bands"]

logger = logging.getLogger(__name__)

_Function = TypeVar("_Function", bound=Callable[..., Any])

_SHARES = JIT_ENABLED and not PLAIN_NUMBA and has_private_names()  # else all is done on the caller's thread
_MIN_PIXELS_PER_BAND = 6_000  # another thread saves no time with fewer: some five microseconds
_PIECES = 4  # per thread, so that one whose rows cost less can take more
_IDLE_S = 1e-4  # a thread without work looks for it so long before it sleeps; to wake it takes about half of that
_HELD_S = 0.01  # and so long while a step of a detector is under way


def available_threads() -> int:
    """Return the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _find_yield() -> int:
    """Return the address of the C function that lets other threads have the processor, 0 where there is none."""
    try:
        library: Any = ctypes.CDLL("kernel32" if sys.platform == "win32" else None)
        function = library.SwitchToThread if sys.platform == "win32" else library.sched_yield
    except (OSError, AttributeError) as error:
        logger.debug("threads that wait keep the processor (%s)", error)
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class _Crew:
    """Threads that help others with the rows of compiled functions; they sleep when there was nothing to do."""

    def __init__(self) -> None:
        self.size = available_threads() - 1
        memory = np.zeros(LINE * (lines(self.size + 1) + 1), np.uint8)
        self._memory = memory[-memory.ctypes.data % LINE :]
        self.address = np.uint64(self._memory.ctypes.data)
        self._number(YIELD)[0] = _find_yield()
        self._held = self._number(HELD)
        self._awake = [False] * self.size
        self._bells: list[SimpleQueue[None]] = []  # of the threads that were started
        self._lock = threading.Lock()
        serve(self.address, 1, 1, 0)  # loads the function
        turns, began = 1000, time.perf_counter()
        serve(self.address, 1, turns, 0)
        per_second = turns / max(time.perf_counter() - began, 1e-9)
        self._turns, self._held_turns = (1 + int(per_second * seconds) for seconds in (_IDLE_S, _HELD_S))

    def _number(self, line: np.uint64) -> NDArray[np.int64]:
        return self._memory[int(line) :][:8].view(np.int64)

    def wake(self, helpers: int) -> None:
        """Make so many threads look for work; they are not waited for."""
        if all(self._awake[:helpers]):
            return
        with self._lock:
            while len(self._bells) < helpers:
                member = len(self._bells)
                self._bells.append(SimpleQueue())
                name = f"bgsub-band-{member}"
                threading.Thread(target=self._help, args=(member,), name=name, daemon=True).start()
            for member in range(helpers):
                if not self._awake[member]:
                    self._awake[member] = True
                    self._bells[member].put(None)

    def hold(self, steps: int) -> None:
        """Count the steps that are under way, in which threads do not sleep at once."""
        with self._lock:
            self._held[0] += steps

    def _help(self, member: int) -> None:
        while True:
            self._bells[member].get()
            serve(self.address, member + 1, self._turns, self._held_turns)
            self._awake[member] = False


_crew: _Crew | None = None
_crew_lock = threading.Lock()


def _find_crew() -> _Crew:
    """Return the crew of this process, which all callers share."""
    global _crew
    if _crew is None:
        with _crew_lock:
            if _crew is None:
                _crew = _Crew()
    return _crew


def _forget_crew() -> None:
    """Make a forked child have a crew of its own: threads do not survive a fork."""
    global _crew, _crew_lock
    _crew, _crew_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_crew)


Team = tuple[np.uint64, int]
"""The threads that share out the rows of a compiled function: the address of the crew, and how many helpers.

A plain tuple, which numba takes from Python in a third of the time of a named one, and each call has a team.
"""

_ALONE: Team = (np.uint64(0), 0)


def _share_out(team: Any, function: Any, first: Any, last: Any, pieces: Any, arguments: Any) -> Any:
    address, copied = outline(function, arguments)
    crew, helpers = team
    if share(crew, address, copied, first, last, pieces, helpers) != 0:
        raise MemoryError("a compiled function could not get its working memory")


def _do_all(team: Any, function: Any, first: Any, last: Any, pieces: Any, arguments: Any) -> None:  # noqa: ARG001
    function(first, last, *arguments)


@overload(_do_all, jit_options={"forceinline": True, "nogil": True})
def _type_do_all(team: Any, function: Any, first: Any, last: Any, pieces: Any, arguments: Any) -> Any:  # noqa: ARG001
    # Called as no argument, and inlined, so that none is left: numba keeps no code on disk that refers to functions.
    called = function.dispatcher

    def do_all(team: Any, function: Any, first: Any, last: Any, pieces: Any, arguments: Any) -> None:  # noqa: ARG001
        called(first, last, *arguments)

    return do_all


in_bands: Any = part_with_arrays(_share_out) if _SHARES else _do_all
"""In compiled code: in_bands(team, function, first, last, pieces, arguments) calls a banded `function(top, bottom,
*arguments)` for bands of the rows first to last - 1, some `pieces` for each thread of a team from `find_team`."""


def _drive(team: Any, first: Any, last: Any, pieces: Any, held: Any, *arguments: Any) -> None:
    """Share the rows of a function out; a copy is compiled for each function."""
    in_bands(team, function, first, last, pieces, unpack(held) + arguments)  # noqa: F821 - its own


class _Banded:
    """A compiled function whose rows threads can share out."""

    def __init__(self, function: Any) -> None:
        self.__name__: str = function.__name__
        functools.update_wrapper(self, function)
        self.part = part_with_arrays(function)
        names = {"in_bands": in_bands, "function": self.part, "unpack": unpack}
        code = _drive.__code__.replace(
            co_filename=function.__code__.co_filename, co_firstlineno=function.__code__.co_firstlineno
        )
        driver = FunctionType(code, names, function.__name__)
        driver.__qualname__ = function.__qualname__.split("-")[0] + "-banded"  # another entry of the cache on disk
        driver.__module__ = function.__module__
        self.drive: Any = compiled(driver)

    def __call__(self, first: int, last: int, *arguments: Any) -> None:
        self.drive(_ALONE, first, last, 1, (), *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.drive, name)  # what numba keeps of a compiled function: `stats`, `signatures` ...


@typeof_impl.register(_Banded)
def _type_of_banded(function: _Banded, context: Any) -> Any:
    return typeof_impl(function.part, context)


def banded(function: _Function) -> _Function:
    """Compile a function of (first row, last row, ...) that writes only rows first to last - 1 of its arrays.

    Python can call it, and `run_bands` lets several threads share its rows out; else it is as `compiled`.
    """
    return cast("_Function", _Banded(function)) if JIT_ENABLED else compiled(function)


def helpers_awake(shape: tuple[int, int], threads: int) -> AbstractContextManager[None]:
    """Have the threads ready that `run_bands` will need several times, for less than a millisecond in between."""
    helpers = _count_helpers(shape, threads, _MIN_PIXELS_PER_BAND) if _SHARES else 0
    return nullcontext() if helpers == 0 else _awake(helpers)


@contextmanager
def _awake(helpers: int) -> Iterator[None]:
    crew = _find_crew()
    crew.hold(1)
    try:
        crew.wake(helpers)
        yield
    finally:
        crew.hold(-1)


@functools.lru_cache(maxsize=256)  # asked for by each call
def _count_helpers(shape: tuple[int, int], threads: int, least: int) -> int:
    """Return how many threads beside this one are worth while, each for at least so many pixels."""
    rows, width = shape
    most = min(threads or 2**20, rows, rows * width // least) - 1
    return min(most, _find_crew().size) if most > 0 else 0


def find_team(shape: tuple[int, int], threads: int) -> Team:
    """Return the threads for (rows, width) of pixels, at most so many, 0 for one per CPU."""
    if not _SHARES:
        return _ALONE
    crew, helpers = _find_crew(), 0 if threads == 1 else _count_helpers(shape, threads, _MIN_PIXELS_PER_BAND)
    if helpers > 0:
        crew.wake(helpers)
    return crew.address, helpers


def run_bands(
    function: Callable[..., Any],
    shape: tuple[int, int],
    threads: int,
    *arguments: Any,
    held: Any = (),
    pieces: int = _PIECES,
) -> None:
    """Call `function(first_row, last_row, *arguments)` for all rows, in bands of rows that threads share out.

    Parameters
    ----------
    function : banded function
    shape : (rows, width)
        Size of the frame.
    threads : int
        Most threads to use; 0 for one per CPU, and never more.
    *arguments
        Passed on.
    held
        More arguments, which come before the others: what `hold` returned, or a tuple.
    pieces : int
        Bands per thread, if there are several threads: one where each band has to prepare, more where rows differ in
        cost.
    """
    if not isinstance(function, _Banded):  # plain Python
        function(0, shape[0], *unpack(held), *arguments)
        return
    function.drive(find_team(shape, threads), 0, shape[0], pieces, held, *arguments)
