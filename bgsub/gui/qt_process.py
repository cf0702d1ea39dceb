"""Whether a window can be shown at all, found out before Qt would abort the process."""

import os
import subprocess
import sys

from bgsub.errors import DependencyError

__all__ = ["DisplayProbe", "release_cv2_qt"]

_OPENCV_SETS = ("QT_QPA_PLATFORM_PLUGIN_PATH", "QT_QPA_FONTDIR")
_PROBE = "from PyQt6.QtGui import QGuiApplication; QGuiApplication([])"
_XCB = "libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxkbcommon-x11-0"
_LONGEST_S = 30
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


class DisplayProbe:
    """Finds out, while other things are imported, whether a window can be shown.

    Without a usable display Qt aborts the process, so a child process tries first.

    Raises
    ------
    DependencyError
        If there is no display at all; then there is nothing to try.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        if os.environ.get("QT_QPA_PLATFORM") or not sys.platform.startswith("linux"):
            return
        if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            raise DependencyError(f"there is no display (DISPLAY and WAYLAND_DISPLAY are not set); {_REMEDY}")
        self._child = subprocess.Popen(
            [sys.executable, "-c", _PROBE], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def check(self) -> None:
        """Wait for the answer.

        Raises
        ------
        DependencyError
            If the display cannot be used, or a system library of Qt is missing.
        """
        if self._child is None:
            return
        try:
            _, said = self._child.communicate(timeout=_LONGEST_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.communicate()
            raise DependencyError(f"the display {_display()} does not answer; {_REMEDY}") from None
        if self._child.returncode == 0:
            return
        if "xcb-cursor" in said or "libxcb" in said:
            raise DependencyError(f"Qt lacks a system library; on Debian and Ubuntu run: apt-get install {_XCB}")
        raise DependencyError(f"the display {_display()} cannot be used; {_REMEDY}")


def _display() -> str:
    return os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or "?"
