"""How threads share out the rows of a compiled function, in compiled code: to meet takes them less than a microsecond.

Numba's own threading layer is not used: without TBB or OpenMP it is `workqueue`, where two Python threads at once abort
the process. And to hand a call to another thread through Python takes some 50 microseconds, as long as many calls.

All threads of a crew know one block of memory, of numbers that lie a cache line apart. Whoever has work makes it theirs
(`_BUSY`), describes it, opens it, and takes pieces of it as all others do. Others come only while it is open, and are
counted: when it is closed and nobody is inside, nobody will touch it again. Nobody waits for one who has not come.

Each thread has a part of the rows, the same in each work, whose data it may still have in its cache. It takes the
pieces of its own part first, then those of others.
"""

from typing import Any

import numpy as np

from bgsub._numba.atomics import add, call, call_plain, load, relax, store, swap
from bgsub._numba.compiler import compiled_views, part

__all__ = ["HELD", "LINE", "YIELD", "lines", "serve", "share"]

LINE = 64
"""Bytes from one number to the next."""
(
    _BUSY,  # 1 while someone has work
    _OPEN,  # number of the work while others may come, else 0
    _NUMBER,  # of the work
    _INSIDE,  # threads that are at work, without the one whose work it is
    _PARTS,  # of the rows; as many threads may be at work, number 0 is the one whose work it is
    _PIECES,  # of each part
    _FUNCTION,  # address
    _SHARED,  # address of its arguments
    _FIRST,  # row
    _ROWS,
    _FAILED,
    HELD,  # steps that are under way, whose next work may come soon
    YIELD,  # address of the C function that lets other threads have the processor
    _TAKEN,  # pieces of the first part; one line for each part follows
) = (np.uint64(LINE * i) for i in range(14))
_PATIENCE = 500  # turns of waiting before the processor is offered to others


def lines(threads: int) -> int:
    """Return how many lines the memory of a crew has, with the one that has work."""
    return int(_TAKEN) // LINE + threads


@part
def _work(crew: Any, member: Any) -> Any:
    """Take pieces of the present work until none is left, first those of a thread's own part."""
    function, shared = np.uint64(load(crew + _FUNCTION)), np.uint64(load(crew + _SHARED))
    first, rows, parts, pieces = load(crew + _FIRST), load(crew + _ROWS), load(crew + _PARTS), load(crew + _PIECES)
    for i in range(parts):
        each = (member + i) % parts
        taken = crew + _TAKEN + np.uint64(LINE * each)
        piece = add(taken, 1)
        while piece < pieces:
            number = each * pieces + piece
            top, bottom = rows * number // (parts * pieces), rows * (number + 1) // (parts * pieces)
            if top < bottom and call(function, shared, first + top, first + bottom) != 0:
                store(crew + _FAILED, 1)
            piece = add(taken, 1)


@part
def share(crew: Any, function: Any, shared: Any, first: Any, last: Any, pieces: Any, helpers: Any) -> Any:
    """Call a function for rows first to last - 1, in pieces, with the help of others; return 0 unless it failed.

    Parameters
    ----------
    crew : u8
        Address of its memory.
    function, shared : u8
        From `outline`.
    first, last : i8
    pieces : i8
        For each thread.
    helpers : i8
        Most other threads that may come.
    """
    if helpers == 0 or swap(crew + _BUSY, 1) != 0:  # who finds the crew at work for another does all
        return call(function, shared, first, last)
    store(crew + _FUNCTION, np.int64(function))
    store(crew + _SHARED, np.int64(shared))
    store(crew + _FIRST, first)
    store(crew + _ROWS, last - first)
    store(crew + _PARTS, helpers + 1)
    store(crew + _PIECES, pieces)
    store(crew + _FAILED, 0)
    for i in range(helpers + 1):
        store(crew + _TAKEN + np.uint64(LINE * i), 0)
    number = load(crew + _NUMBER) + 1
    store(crew + _NUMBER, number)
    store(crew + _OPEN, number)
    _work(crew, 0)
    store(crew + _OPEN, 0)
    turns = 0
    while load(crew + _INSIDE) != 0:
        relax()
        turns += 1
        if turns > _PATIENCE and load(crew + YIELD) != 0:
            call_plain(np.uint64(load(crew + YIELD)))
    failed = load(crew + _FAILED)
    store(crew + _BUSY, 0)
    return failed


@compiled_views
def serve(crew: Any, member: Any, turns: Any, held_turns: Any) -> Any:
    """Help whoever has work, until there was none for so many turns, or for so many others while a step is under way.

    `member` is the number of this thread, from 1.
    """
    idle, done = 0, np.int64(0)
    while idle < turns or (idle < held_turns and load(crew + HELD) != 0):
        number = load(crew + _OPEN)
        if number != 0 and number != done:
            # Counted before it looks again: whoever closes the work after that waits for this thread.
            add(crew + _INSIDE, 1)
            if load(crew + _OPEN) == number and member < load(crew + _PARTS):
                _work(crew, member)
            add(crew + _INSIDE, -1)
            done, idle = number, 0
        relax()
        idle += 1
