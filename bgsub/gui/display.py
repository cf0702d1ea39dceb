"""Whether a window can be shown at all, found out before Qt would abort the process."""

import os
import subprocess
import sys

from bgsub.errors import DependencyError

__all__ = ["check_display", "release_cv2_qt"]

_OPENCV_SETS = ("QT_QPA_PLATFORM_PLUGIN_PATH", "QT_QPA_FONTDIR")
_PROBE = "from PyQt6.QtGui import QGuiApplication; QGuiApplication([])"
_REMEDY = "use `bgsub run` without a screen, or connect with ssh -X"


def release_cv2_qt() -> None:
    """Import OpenCV and remove what its wheel tells Qt: its own plugins, which are no good for PyQt6.

    What somebody else set stays.
    """
    before = {name: os.environ.get(name) for name in _OPENCV_SETS}
    from bgsub._opencv import cv2

    home = os.path.dirname(cv2.__file__)  # noqa: PTH120 - compared as text
    for name in _OPENCV_SETS:
        value = os.environ.get(name)
        if value is not None and (before[name] is None or value.startswith(home)):
            del os.environ[name]


def check_display() -> None:
    """Refuse to go on where no window can be shown.

    Without a usable display Qt aborts the process, so a child process tries first; with none at all there is no
    need to.

    Raises
    ------
    DependencyError
        If there is no display, it cannot be used, or a system library of Qt is missing.
    """
    if os.environ.get("QT_QPA_PLATFORM") or not sys.platform.startswith("linux"):
        return
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise DependencyError(f"there is no display (DISPLAY and WAYLAND_DISPLAY are not set); {_REMEDY}")
    try:
        tried = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        raise DependencyError(f"the display {_display()} does not answer; {_REMEDY}") from None
    if tried.returncode == 0:
        return
    said = " ".join(tried.stderr.split())
    if "xcb-cursor" in said or "libxcb" in said:
        raise DependencyError(
            "Qt lacks a system library; on Debian and Ubuntu run: apt-get install "
            "libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxkbcommon-x11-0"
        )
    raise DependencyError(f"the display {_display()} cannot be used; {_REMEDY}")


def _display() -> str:
    return os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or "?"
