"""The circumstances of an evaluation, with which its numbers can be traced."""

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bgsub import __version__
from bgsub._numba import available_threads
from bgsub._opencv import cv2
from bgsub.evaluation.methods import Method

__all__ = ["describe_run"]


def describe_run(methods: Iterable[Method], **options: Any) -> dict[str, Any]:
    """Return versions, machine, the settings of each method and the given options as plain values."""
    return {
        "bgsub": __version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": {name: found for name in ("numpy", "numba", "av") if (found := _version(name))},
        "opencv": cv2.__version__,
        "system": platform.platform(),
        "processor": _processor(),
        "cpus": available_threads(),
        "methods": {method.label: method.settings() for method in methods},
        **options,
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    """Return the name of the processor; Python's own function knows it on few systems."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
