"""Scans of whole archives: from recordings to events, wherever the work is done."""

from bgsub.scanning.found import FileReport, FoundChange, FoundEvent, ScanResult
from bgsub.scanning.inputs import find_files
from bgsub.scanning.run import ScanInterrupted, make_plan, scan
from bgsub.scanning.settings import QUICK, ScanSettings

__all__ = [
    "QUICK",
    "FileReport",
    "FoundChange",
    "FoundEvent",
    "ScanInterrupted",
    "ScanResult",
    "ScanSettings",
    "find_files",
    "make_plan",
    "scan",
]
