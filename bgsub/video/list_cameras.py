"""The cameras of this computer."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from bgsub._opencv import cv2

__all__ = ["FoundCamera", "list_cameras"]

_MOST = 8  # numbers to try where the system does not list its cameras


class FoundCamera(NamedTuple):
    """A camera that is present."""

    device: int
    """Its number: `camera:0` opens device 0."""
    name: str
    """Name given by the system."""


def list_cameras(root: Path = Path("/sys/class/video4linux")) -> list[FoundCamera]:
    """List the cameras present; outside Linux each number is tried in turn, which takes seconds.

    Parameters
    ----------
    root : Path
        Folder in which Linux describes its video devices.

    Returns
    -------
    list of FoundCamera
        By number.
    """
    if sys.platform.startswith("linux"):
        return _listed(root)
    found = []
    for device in range(_MOST):
        capture = cv2.VideoCapture(device)
        opened = capture.isOpened()
        capture.release()
        if not opened:
            break
        found.append(FoundCamera(device, f"Camera {device}"))
    return found


def _listed(root: Path) -> list[FoundCamera]:
    """Read the devices that Linux describes; a camera has several, of which the first delivers frames."""
    found = []
    for folder in root.glob("video*"):
        number = re.fullmatch(r"video(\d+)", folder.name)
        try:
            index = (folder / "index").read_text().strip()
            name = (folder / "name").read_text().strip()
        except OSError:
            continue
        if number is not None and index == "0":
            found.append(FoundCamera(int(number[1]), name or f"Camera {number[1]}"))
    return sorted(found)
