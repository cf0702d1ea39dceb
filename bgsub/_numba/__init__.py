"""The only importer of numba: compiled functions, intrinsics for them, and bands of rows over threads."""

from bgsub._numba.bands import available_threads, run_bands, run_claimed
from bgsub._numba.compiler import JIT_ENABLED, compiled, compiled_views, inlined, part, shared
from bgsub._numba.compiling import report_compiling, startup_seconds
from bgsub._numba.intrinsics import Bands, claim, exp2_nonpositive, prefetch

__all__ = [
    "JIT_ENABLED",
    "Bands",
    "available_threads",
    "claim",
    "compiled",
    "compiled_views",
    "exp2_nonpositive",
    "inlined",
    "part",
    "prefetch",
    "report_compiling",
    "run_bands",
    "run_claimed",
    "shared",
    "startup_seconds",
]
