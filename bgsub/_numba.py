"""The only importer of numba: compiled kernels, a fast exp2 for them, and rows run in bands over threads."""

import hashlib
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic

__all__ = [
    "JIT_ENABLED",
    "available_threads",
    "exp2_nonpositive",
    "folder_kernel",
    "kernel",
    "prefetch",
    "run_bands",
    "view_kernel",
]

JIT_ENABLED = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
"""False under NUMBA_DISABLE_JIT=1, where kernels run as plain Python."""

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Kernels may call helpers of this file, and numba's disk cache looks only at the file of the kernel itself.
# Part of every kernel's name, this digest makes a changed helper a cache miss.
_HELPERS_DIGEST = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


class _FastLower(Lower):
    """Lowering that tells LLVM two things which Python code cannot say.

    Arrays that are written overlap no other argument: without the promise every short loop begins with a comparison
    of all its arrays' addresses (10 to 25 % of the detectors' time). And vectors may have all bits of a register:
    LLVM takes 256 of the 512 bits of AVX-512, for the sake of older processors that they slow down (15 to 20 %).
    """

    def setup_function(self, fndesc: Any) -> None:
        """Declare the function."""
        fndesc.noalias = True
        super().setup_function(fndesc)  # type: ignore[no-untyped-call]
        set.add(self.function.attributes, '"prefer-vector-width"="512"')  # an attribute unknown to llvmlite


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class _FastLowering(NativeLowering):
    _name: Any = "bgsub_fast_lowering"

    @property
    def lowering_class(self) -> Any:
        return _FastLower


class _Compiler(CompilerBase):
    """Numba's compiler with the lowering above."""

    def define_pipelines(self) -> list[Any]:
        pipeline: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        pipeline.passes = [(_FastLowering if step is NativeLowering else step, why) for step, why in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


def kernel(function: _Function) -> _Function:
    """Compile a function over arrays and scalars; nogil, cached on disk where a place is writable.

    An array that the function writes must not overlap another of its arguments.
    Division follows numpy (no exception), and a multiplication with an addition may be fused (`contract`).
    No other fast-math is allowed, so results do not depend on how rows are split among threads.
    """
    return _compile(function)


def view_kernel(function: _Function) -> _Function:
    """Compile as `kernel` does, but without reference counts: a function that makes no arrays, only views of some.

    LLVM cannot remove all counts from a loop over small blocks, where they take a tenth of the time or more.
    """
    return _compile(function, _nrt=False)


def _compile(function: _Function, **more: Any) -> _Function:
    function.__qualname__ = f"{function.__qualname__}-{_HELPERS_DIGEST}"
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}, **more}
    options["pipeline_class"] = _Compiler
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no writable cache folder: the kernel works and is compiled anew in each process
        compiled = numba.njit(**options)(function)
    return cast("_Function", compiled)


def folder_kernel(
    folder: Path, compiler: Callable[..., Any] = kernel
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return `kernel`, or another compiler, for functions that use what other kernel files of a folder define.

    Numba's disk cache looks only at the file of the kernel itself; these are compiled anew whenever any of the
    folder's files of kernels has changed.
    """
    sources = b"".join(path.read_bytes() for path in sorted(folder.glob("_*_kernel*.py")))
    digest = hashlib.sha256(sources).hexdigest()[:12]

    def compile_anew(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__qualname__ = f"{function.__qualname__}-{digest}"
        return cast("Callable[..., Any]", compiler(function))

    return compile_anew


_ROUND = np.float32(1.5 * 2**23)  # adding it leaves round(y) in the low bits of a float32
# A product of 2**-100 and a coefficient is still above 2**-126; numbers below take a processor a hundred times longer.
_LOWEST = np.float32(-100.0)
_TOP = np.int32(23)  # bits of the mantissa, below the exponent
# Minimax polynomial of 2**f on [-0.5, 0.5], relative error 7.5e-8.
_C0, _C1, _C2 = np.float32(1.0000000716546795), np.float32(0.6931469670646155), np.float32(0.240221197238557)
_C3, _C4, _C5 = (
    np.float32(0.05550713273734449),
    np.float32(0.009675541333816356),
    np.float32(0.00132764719159073),
)


@numba.njit(nogil=True, error_model="numpy", fastmath={"contract"})
def exp2_nonpositive(y: np.float32) -> np.float32:
    """2**y for float32 y <= 0, relative error below 5e-6; 2**-100 where y < -100.

    libm's exp2 keeps a loop from being vectorised; this is a rounding, a polynomial of the fraction and an
    integer addition to the exponent bits.
    """
    y = max(y, _LOWEST)
    shifted = np.float32(y + _ROUND)
    f = np.float32(y - np.float32(shifted - _ROUND))
    p = np.float32(_C5 * f + _C4)
    p = np.float32(p * f + _C3)
    p = np.float32(p * f + _C2)
    p = np.float32(p * f + _C1)
    p = np.float32(p * f + _C0)
    exponent = np.int32(shifted.view(np.int32) << _TOP)
    return np.int32(p.view(np.int32) + exponent).view(np.float32)


_CACHE_LINE = 64  # bytes


def _prefetch(typing: Any, row: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        start = builder.bitcast(array.data, byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
        for offset in range(0, 8 * signature.args[0].dtype.bitwidth, _CACHE_LINE):
            line = builder.gep(start, [ir.IntType(64)(offset)])
            builder.call(function, [line, number(0), number(3), number(1)])  # for reading, to stay, data
        return context.get_dummy_value()

    return types.void(row), generate


def _no_prefetch(row: Any) -> None:
    pass


prefetch: Any = intrinsic(_prefetch) if JIT_ENABLED else _no_prefetch
"""In a kernel: ask for the first 64 numbers of a contiguous row to be brought to the cache, as they are needed soon."""


def available_threads() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Work:
    """Bands of one call, which its caller and some workers take until none is left."""

    def __init__(self, call: Callable[[int, int], None], bands: Iterable[tuple[int, int]]) -> None:
        self.call, self.bands = call, deque(bands)
        self.begun: list[int] = []
        self.ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def take(self) -> None:
        while self.bands:
            try:
                first, last = self.bands.popleft()
            except IndexError:  # another thread was quicker
                return
            self.call(first, last)

    def help(self) -> None:
        self.begun.append(1)  # before a band is taken: who has none left to take knows all that are at work
        error = None
        try:
            self.take()
        except BaseException as caught:  # noqa: BLE001 - raised anew by the caller
            error = caught
        self.ended.put(error)

    def wait(self) -> list[BaseException]:
        """Wait until no thread is at work: the caller's arrays must not be written after that; return the errors."""
        self.bands.clear()
        errors: list[BaseException | None] = []
        # Counted anew each time: one that begins only now finds nothing to do, and ends before one that is at work.
        while len(errors) < len(self.begun):
            errors.append(self.ended.get())
        return [error for error in errors if error is not None]


# An executor's futures and locks take as long as a small kernel (8 % of the adaptive bank's time at 640x480).
_jobs: SimpleQueue[_Work] | None = None
_jobs_lock = threading.Lock()


def _workers() -> SimpleQueue[_Work]:
    """Return the queue that the workers, as many as processors, are served from; start them with the first call."""
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
    """Let a forked child start its own workers: threads do not survive a fork."""
    global _jobs, _jobs_lock
    _jobs, _jobs_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)

_MIN_PIXELS_PER_BAND = 20_000  # below, waking another thread, some 50 microseconds, costs more than it saves


def run_bands(
    function: Callable[..., Any],
    shape: tuple[int, int],
    threads: int,
    *arguments: Any,
    pieces: int = 1,
    light: int = 1,
) -> None:
    """Call `function(first_row, last_row, *arguments)` over all rows, in bands of rows over threads.

    Numba's own threading layer is not used: without TBB or OpenMP it is `workqueue`, where two Python threads at
    once abort the process. Workers are shared by all callers; each waits only for bands of its own.

    Parameters
    ----------
    function : kernel
        Writes only rows first_row to last_row - 1 of its arrays.
    shape : (height, width)
        Size of the frame.
    threads : int
        Most threads to use; 0 for one a processor.
    *arguments
        Passed on.
    pieces : int
        Bands a thread; more than one where rows differ in what they cost, for a thread that is done takes another.
    light : int
        How many times cheaper than in most kernels a pixel is: how many times more of them wake another thread.
    """
    height, width = shape
    workers = min(threads or available_threads(), height, max(1, height * width // (_MIN_PIXELS_PER_BAND * light)))
    if workers == 1:
        function(0, height, *arguments)
        return
    count = min(workers * pieces, height)
    edges = [height * band // count for band in range(count + 1)]
    work = _Work(lambda first, last: function(first, last, *arguments), itertools.pairwise(edges))
    jobs = _workers()
    for _ in range(workers - 1):
        jobs.put(work)
    try:
        work.take()
    finally:
        errors = work.wait()
    if errors:
        raise errors[0]
