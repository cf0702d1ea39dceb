"""Versions and machine, with which numbers can be traced."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bgsub import __version__
from bgsub._numba import available_threads
from bgsub._opencv import cv2

__all__ = ["describe_machine"]


def describe_machine() -> dict[str, Any]:
    """Return time, machine, load and versions as plain values; unknown ones are None."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "bgsub": __version__,
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "numba": _version("numba"),
        "opencv": cv2.__version__,
        "av": _version("av"),
        "system": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "usable_cpus": available_threads(),
        "load_1min": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str | None:
    """Return the processor's name; Linux has it in a file, elsewhere Python may know it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine() or None
