"""Conditions of a measurement: versions, processor, load."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from bgsub import __version__
from bgsub._numba import available_threads
from bgsub._opencv import cv2

__all__ = ["provenance"]


def provenance() -> dict[str, Any]:
    """Return time, machine, load and versions, for JSON; unknown values are None."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "bgsub": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": _version("numba"),
        "opencv": cv2.__version__,
        "av": _version("av"),
        "system": platform.platform(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "usable_cpus": available_threads(),
        "load_1min": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "plain_numba": os.environ.get("BGSUB_PLAIN_NUMBA") == "1",
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
