"""Scans of whole archives: from recordings to events, wherever the work is done."""

from bgsub.scanning.found import FileReport, FoundChange, FoundEvent, ScanResult
from bgsub.scanning.inputs import find_files
from bgsub.scanning.outputs import Clips
from bgsub.scanning.run import ScanControl, ScanInterrupted, make_plan, scan, write_scan
from bgsub.scanning.settings import QUICK, ScanSettings

__all__ = [
    "QUICK",
    "Clips",
    "FileReport",
    "FoundChange",
    "FoundEvent",
    "ScanControl",
    "ScanInterrupted",
    "ScanResult",
    "ScanSettings",
    "find_files",
    "make_plan",
    "scan",
    "write_scan",
]
