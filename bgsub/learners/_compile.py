"""Compile kernels that call kernels in other files of this folder."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bgsub._numba import kernel

__all__ = ["shared_kernel"]

# Numba's disk cache looks only at the file of the kernel itself. Part of every kernel's name, this digest makes a
# change in any of these files a cache miss.
_SOURCES = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("_*_kernels.py")))
_DIGEST = hashlib.sha256(_SOURCES).hexdigest()[:12]


def shared_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile as `bgsub._numba.kernel` does, anew whenever a kernel file of this folder has changed."""
    function.__qualname__ = f"{function.__qualname__}-{_DIGEST}"
    return kernel(function)
