"""Prepare the process for Qt: a usable display, no plugins of OpenCV, garbage collection on the right thread."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bgsub.errors import DependencyError

if TYPE_CHECKING:
    from PyQt6.QtCore import QObject

__all__ = ["DisplayProbe", "GarbageCollector", "MemoryReturner", "release_cv2_qt", "short_turns"]

_OPENCV_SETS = ("QT_QPA_PLATFORM_PLUGIN_PATH", "QT_QPA_FONTDIR")
_PROBE = "from PyQt6.QtGui import QGuiApplication; QGuiApplication([])"
_XCB = "libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxkbcommon-x11-0"
_TIMEOUT_S = 30
_REMEDY = "use `bgsub run` without a screen, or connect with ssh -X"
_TURN_S = 5e-4
_COLLECT_INTERVAL_MS = 1000
_RETURN_INTERVAL_MS = 10_000
_MOST_FREE_BYTES = 64 * 2**20
_MALLINFO = ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]


def release_cv2_qt() -> None:
    """Import OpenCV and remove the variables by which its wheel makes Qt load plugins that do not suit PyQt6.

    Variables set by anybody else stay.
    """
    before = {name: os.environ.get(name) for name in _OPENCV_SETS}
    from bgsub._opencv import cv2

    home = os.path.dirname(cv2.__file__)  # noqa: PTH120 - compared as text
    for name in _OPENCV_SETS:
        value = os.environ.get(name)
        if value is not None and (before[name] is None or value.startswith(home)):
            del os.environ[name]


@contextmanager
def short_turns() -> Iterator[None]:
    """Let a thread that waits for Python's lock have it after half a millisecond, instead of five.

    Window and worker need it for moments only, but each moment may come while the other one has it: with five
    milliseconds a changed setting showed on a held frame 1 to 3 ms later, and 5 ms later in one of twenty cases.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class DisplayProbe:
    """Finds out whether a window can be shown, while the caller imports other things.

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
            _, stderr = self._child.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.communicate()
            raise DependencyError(f"the display {_display()} does not answer; {_REMEDY}") from None
        if self._child.returncode == 0:
            return
        if "xcb-cursor" in stderr or "libxcb" in stderr:
            raise DependencyError(f"Qt lacks a system library; on Debian and Ubuntu run: apt-get install {_XCB}")
        raise DependencyError(f"the display {_display()} cannot be used; {_REMEDY}")


def _display() -> str:
    return os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or "?"


class GarbageCollector:
    """Collects garbage on the thread of the window only, until it is stopped.

    Python looks for unreachable cycles on whichever thread happens to allocate. On the worker's that would destroy
    items of a plot while the window paints them, which crashes. So automatic collection is switched off, and a timer
    does the same, by Python's own thresholds, on the thread of the window. Objects that libraries keep for good, which
    take a tenth of a second to look through, are left out.

    Several windows may have one each: the last one that stops switches automatic collection on again.

    Parameters
    ----------
    parent : QObject
        Owns the timer.
    """

    _at_work = 0
    _was_enabled = _has_frozen_imports = False

    def __init__(self, parent: "QObject") -> None:
        from PyQt6.QtCore import QTimer  # only here: the rest of this module runs before PyQt6 is known to be there

        if GarbageCollector._at_work == 0:
            GarbageCollector._was_enabled = gc.isenabled()
            GarbageCollector._has_frozen_imports = False
            gc.disable()
            gc.freeze()
        GarbageCollector._at_work += 1
        self._timer = QTimer(parent)
        self._timer.timeout.connect(self.collect)
        self._timer.start(_COLLECT_INTERVAL_MS)

    def collect(self) -> None:
        """Collect the generations whose thresholds are reached."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if counts[generation] > thresholds[generation]:
                gc.collect(generation)
                if generation == 2 and not GarbageCollector._has_frozen_imports:
                    GarbageCollector._has_frozen_imports = True
                    gc.freeze()  # by now everything is imported and compiled
                return

    @staticmethod
    def collect_all() -> None:
        """Collect everything that is unreachable, also what was left out; takes a tenth of a second or two."""
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def stop(self) -> None:
        """Switch automatic collection on again."""
        self._timer.stop()
        GarbageCollector._at_work -= 1
        if GarbageCollector._at_work:
            return
        gc.unfreeze()
        if GarbageCollector._was_enabled:
            gc.enable()


class _Malloc(ctypes.Structure):
    """What `mallinfo2` of glibc reports, in bytes."""

    _fields_ = [(name, ctypes.c_size_t) for name in _MALLINFO]


class MemoryReturner:
    """Gives memory back to the system that was freed, but is held by glibc between what is still in use.

    Copies of models and frames come and go at several megabytes each, on several threads, which left holes of 180 to
    260 MiB after some minutes. Returning them takes 40 to 80 ms, so it happens on a thread of its own, and only when
    64 MiB more than the last time could be returned. Elsewhere than with glibc nothing is done.

    Parameters
    ----------
    parent : QObject
        Owns the timer.
    """

    def __init__(self, parent: "QObject") -> None:
        from PyQt6.QtCore import QTimer  # only here: the rest of this module runs before PyQt6 is known to be there

        library: Any = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
        self._libc = library
        self._held_bytes: int | None = None
        self._thread: threading.Thread | None = None
        if not (hasattr(self._libc, "mallinfo2") and hasattr(self._libc, "malloc_trim")):
            return
        self._libc.mallinfo2.restype = _Malloc
        self._timer = QTimer(parent)
        self._timer.timeout.connect(self.look)
        self._timer.start(_RETURN_INTERVAL_MS)

    def look(self) -> None:
        """Begin to return memory if much is free."""
        if self._thread is not None and self._thread.is_alive():
            return
        if self._held_bytes is None or self._held() > self._held_bytes + _MOST_FREE_BYTES:
            self._thread = threading.Thread(target=self._return, name="bgsub-memory", daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """Wait until the thread has ended."""
        if self._thread is not None:
            self._thread.join()

    def _held(self) -> int:
        """Return the bytes in memory that no C allocation uses; some are Python's own or machine code."""
        resident, shared = (int(word) for word in Path("/proc/self/statm").read_text().split()[1:3])
        used = self._libc.mallinfo2()
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE") - int(used.uordblks + used.hblkhd)

    def _return(self) -> None:
        self._libc.malloc_trim(0)
        self._held_bytes = self._held()
