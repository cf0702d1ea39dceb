"""Compile functions with numba's `njit`, made faster by two promises to LLVM where this version of numba allows it.

The promises need private names of numba and llvmlite. Where one has moved, or under BGSUB_PLAIN_NUMBA=1, they are
compiled by plain `njit` instead: the same results, more slowly, and one line of the log says so.
"""

import functools
import gc
import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba.extending import typeof_impl

from bgsub._numba.cache import enable_cache

__all__ = ["JIT_ENABLED", "compiled", "compiled_views", "inlined", "part", "shared", "warn_of_plain_numba"]

logger = logging.getLogger(__name__)

JIT_ENABLED = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
"""False under NUMBA_DISABLE_JIT=1, where compiled functions run as plain Python."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


@functools.cache
def warn_of_plain_numba(missing: str) -> None:
    """Log, once, that a private name of numba or llvmlite is missing and compiled functions are slower without it."""
    logger.warning("this version of numba (%s) lacks %s: results are the same, but slower", numba.__version__, missing)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Pause garbage collection: it looks again and again at all that numba keeps, for a fifth of the time to compile.

    Numba's compiler lock lets one thread at a time in here.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _make_fast_compiler() -> Any:
    """Return a compiler class whose lowering makes LLVM two promises that Python code cannot express.

    Arrays that are written overlap no other argument: without the promise every short loop begins with a comparison
    of all its arrays' addresses (10 to 25 % of the detectors' time). And vectors may have all bits of a register:
    LLVM takes 256 of the 512 bits of AVX-512, for the sake of older processors that they slow down (15 to 20 %).

    Every use of a private name stands here, and each may fail in another version of numba.
    """
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.lowering import Lower
    from numba.core.typed_passes import NativeLowering

    class FastLower(Lower):
        def setup_function(self, fndesc: Any) -> None:
            fndesc.noalias = True
            super().setup_function(fndesc)  # type: ignore[no-untyped-call]
            try:
                # llvmlite does not know this attribute, and its own `add` refuses what it does not know
                set.add(self.function.attributes, '"prefer-vector-width"="512"')
            except (AttributeError, TypeError) as error:
                warn_of_plain_numba(str(error))

    @register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
    class FastLowering(NativeLowering):
        _name: Any = "bgsub_fast_lowering"

        @property
        def lowering_class(self) -> Any:
            return FastLower

    class FastCompiler(CompilerBase):
        def compile_extra(self, func: Any) -> Any:
            with _collection_paused():
                return super().compile_extra(func)  # type: ignore[no-untyped-call]

        def define_pipelines(self) -> list[Any]:
            pipeline: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
            steps = [(FastLowering if step is NativeLowering else step, why) for step, why in pipeline.passes]
            if all(step is not FastLowering for step, _ in steps):
                warn_of_plain_numba("the lowering pass")
            pipeline.passes = steps
            pipeline.finalize()
            return [pipeline]

    return FastCompiler


def _choose_options() -> dict[str, Any]:
    """Return the options of `njit` for every compiled function; wrappers for calls from C are never used."""
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"contract"},
        "no_cfunc_wrapper": True,
    }
    if os.environ.get("BGSUB_PLAIN_NUMBA", "0") != "0":
        return options
    try:
        options["pipeline_class"] = _make_fast_compiler()
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
        sources = [
            path.read_bytes() for path in (here / "compiler.py", here / "intrinsics.py", *sorted(folder.rglob("*.py")))
        ]
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

    The wrapper through which Python calls a function takes a tenth of a second to compile.
    """
    return _compile(function, _nrt=False, no_cpython_wrapper=True)


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

    This is so for blocks of pixels, since a call passes every array of a named tuple.
    """
    return _compile(function, _nrt=False, inline="always")


def _compile(function: _Function, **more: Any) -> _Function:
    folder = Path(function.__code__.co_filename).parent
    root = next((parent for parent in (folder, *folder.parents) if parent.name == "_jit"), folder)
    function.__qualname__ = f"{function.__qualname__}-{_digest(root)}"
    dispatcher = numba.njit(**_OPTIONS, **more)(function)
    if JIT_ENABLED:
        enable_cache(dispatcher)
    return cast("_Function", dispatcher)
