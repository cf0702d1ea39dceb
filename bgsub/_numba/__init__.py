"""The only importer of numba: compiled kernels, functions for them, and bands of rows over threads."""

from bgsub._numba.bands import available_threads, run_bands
from bgsub._numba.compiler import JIT_ENABLED, inlined, kernel, part, view_kernel
from bgsub._numba.compiling import report_compiling, startup_seconds
from bgsub._numba.intrinsics import exp2_nonpositive, prefetch

__all__ = [
    "JIT_ENABLED",
    "available_threads",
    "exp2_nonpositive",
    "inlined",
    "kernel",
    "part",
    "prefetch",
    "report_compiling",
    "run_bands",
    "startup_seconds",
    "view_kernel",
]
