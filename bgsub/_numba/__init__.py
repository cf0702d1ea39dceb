"""The only importer of numba: compiled functions, intrinsics for them, and bands of rows over threads."""

from bgsub._numba.bands import available_threads, banded, find_team, helpers_awake, in_bands, run_bands
from bgsub._numba.compiler import JIT_ENABLED, compiled, compiled_views, inlined, part, shared
from bgsub._numba.compiling import report_compiling, startup_seconds
from bgsub._numba.held import Holder, hold, unpack
from bgsub._numba.intrinsics import exp2_nonpositive, prefetch

__all__ = [
    "JIT_ENABLED",
    "Holder",
    "available_threads",
    "banded",
    "compiled",
    "compiled_views",
    "exp2_nonpositive",
    "find_team",
    "helpers_awake",
    "hold",
    "in_bands",
    "inlined",
    "part",
    "prefetch",
    "report_compiling",
    "run_bands",
    "shared",
    "startup_seconds",
    "unpack",
]
