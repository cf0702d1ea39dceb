"""Compile functions with numba's `njit`, made faster by two promises to LLVM where this version of numba allows it.

The promises need private names of numba and llvmlite. Where one has moved, or under BGSUB_PLAIN_NUMBA=1, they are
compiled by plain `njit` instead: the same results, more slowly, and one line of the log says so.
"""

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba.extending import typeof_impl

from bgsub._numba.cache import enable_cache
from bgsub._numba.fast_compiler import forget_literals, make_fast_compiler, warn_of_plain_numba

__all__ = ["JIT_ENABLED", "PLAIN_NUMBA", "compiled", "compiled_views", "inlined", "part", "part_with_arrays", "shared"]

JIT_ENABLED = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
"""False under NUMBA_DISABLE_JIT=1, where compiled functions run as plain Python."""

PLAIN_NUMBA = os.environ.get("BGSUB_PLAIN_NUMBA", "0") != "0"
"""True where functions are to be compiled as in a version of numba without the private names."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _choose_options() -> dict[str, Any]:
    """Return the options of `njit` for every compiled function; wrappers for calls from C are never used."""
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"contract"},
        "no_cfunc_wrapper": True,
    }
    if PLAIN_NUMBA:
        return options
    try:
        options["pipeline_class"] = make_fast_compiler()
    except (ImportError, AttributeError, TypeError) as error:
        warn_of_plain_numba(str(error))
    return options


_OPTIONS = _choose_options()


@functools.cache
def _digest(folder: Path) -> str:
    """Digest all that a compiled function in a folder `_jit` may call, and how it is compiled.

    Numba's disk cache looks only at the file of the function itself; as a part of its name, the digest turns
    a changed helper into a cache miss. Where the sources are not shipped, numba has no cache either.
    """
    here = Path(__file__).parent
    try:
        names = ("atomics.py", "bands.py", "compiler.py", "crew.py", "fast_compiler.py", "held.py", "intrinsics.py")
        paths = [here / name for name in names]
        sources = [path.read_bytes() for path in (*paths, *sorted(folder.rglob("*.py")))]
    except OSError:
        sources = []
    return hashlib.sha256(b"".join([*sources, repr(sorted(_OPTIONS)).encode()])).hexdigest()[:12]


def compiled(function: _Function) -> _Function:
    """Compile a function over arrays and scalars; nogil, cached on disk where a place is writable.

    Such functions stand in folders called `_jit`, or below, and call only others there and those of `bgsub._numba`.
    An array that the function writes must not overlap another of its arguments.
    Division follows numpy (no exception), and a multiplication with an addition may be fused (`contract`).
    No other fast-math is allowed, so results do not depend on how rows are split among threads.
    """
    return _compile(function)


def compiled_views(function: _Function) -> _Function:
    """Compile as `compiled` does, but without reference counting: the function must not allocate arrays.

    LLVM cannot remove all counts from a loop over small blocks, where they take a tenth of the time or more.
    """
    return _compile(function, _nrt=False)


def part(function: _Function) -> _Function:
    """Compile a part of other compiled functions, as `compiled_views` does, that Python itself never calls.

    It becomes machine code, and is kept on disk, with the functions that call it. The wrapper through which Python
    calls a function takes a tenth of a second to compile.
    """
    return _compile(function, _nrt=False, no_cpython_wrapper=True)


def part_with_arrays(function: _Function) -> _Function:
    """Compile as `part` does, but with reference counting: the function may allocate arrays."""
    return _compile(function, no_cpython_wrapper=True)


class _Shared:
    """A part of compiled functions that Python calls through a wrapper, compiled when it first does."""

    def __init__(self, function: Any) -> None:
        self.__name__: str = function.__name__
        functools.update_wrapper(self, function)
        self._called = FunctionType(function.__code__, function.__globals__, function.__name__)
        self._called.__qualname__ = f"{function.__qualname__}-called"  # another entry of the cache on disk
        self.part = part(function)

    @functools.cached_property
    def _for_python(self) -> Any:
        return compiled_views(self._called)

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)

    def __reduce__(self) -> str:
        return self.__name__  # by name, so that the cache on disk knows again a function that has this one in a closure


@typeof_impl.register(_Shared)
def _type_of_shared(function: _Shared, context: Any) -> Any:
    return typeof_impl(function.part, context)


def shared(function: _Function) -> _Function:
    """Compile as `part` does for compiled callers and, only where Python calls it, as `compiled_views` does.

    This is for steps that compiled loops take, and Python where it has a kernel that only it can compute.
    """
    return cast("_Function", _Shared(function)) if JIT_ENABLED else function


def inlined(function: _Function) -> _Function:
    """Compile a small part into each function that calls it, where the call would cost more than what it does.

    This is so for blocks of pixels, since a call passes every array of a named tuple. LLVM inlines it: where numba
    does, it compiles a copy for every call.
    """
    return _compile(function, _nrt=False, no_cpython_wrapper=True, forceinline=True)


def _compile(function: _Function, **more: Any) -> _Function:
    folder = Path(function.__code__.co_filename).parent
    root = next((parent for parent in (folder, *folder.parents) if parent.name == "_jit"), folder)
    function.__qualname__ = f"{function.__qualname__}-{_digest(root)}"
    dispatcher = numba.njit(**_OPTIONS, **more)(function)
    if JIT_ENABLED and not PLAIN_NUMBA:
        forget_literals(dispatcher)
    if JIT_ENABLED and "no_cpython_wrapper" not in more:
        enable_cache(dispatcher)
    return cast("_Function", dispatcher)
