"""How the viewer starts, and its error where it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PyQt6.QtCore import QObject

from bgsub.errors import DependencyError
from bgsub.gui import app, qt_process
from bgsub.gui.qt_process import MemoryReturner, short_turns
from tests.gui.conftest import EASY

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="displays are named so on Linux only")


def view(*arguments: str, path: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    clean.pop("QT_QPA_PLATFORM", None)
    if path is not None:
        clean["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, "-m", "bgsub", "view", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=clean | environment,
    )


def test_no_display_is_one_line_and_exit_code_1():
    done = view(EASY)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("bgsub: error: there is no display")
    assert "bgsub run" in done.stderr


def test_a_display_that_is_not_there_is_one_line_and_exit_code_1():
    done = view(EASY, DISPLAY=":987")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("bgsub: error: ")
    assert ":987 cannot be used" in done.stderr or "apt-get install" in done.stderr


def test_pyqt_missing_is_one_line_with_the_command(tmp_path):
    (tmp_path / "PyQt6.py").write_text("raise ImportError(\"No module named 'PyQt6'\")\n")
    done = view(EASY, path=tmp_path, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert "pip install 'bgsub[gui]'" in done.stderr


def test_a_system_library_missing_is_one_line_with_the_packages(tmp_path):
    (tmp_path / "PyQt6.py").write_text("raise ImportError('libEGL.so.1: cannot open shared object file')\n")
    done = view(EASY, path=tmp_path, QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 1
    assert "apt-get install libegl1" in done.stderr


def test_pyqtgraph_missing_is_one_line_with_the_command(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DependencyError, match="needs pyqtgraph; run: pip install"):
        app.run_viewer()


def test_wrong_options_are_reported_before_any_window():
    done = view("--set", "slots=-1", QT_QPA_PLATFORM="offscreen")
    assert done.returncode == 2
    assert "slots must be" in done.stderr


def test_opencv_s_variables_are_removed_and_others_stay(monkeypatch):
    from bgsub._opencv import cv2

    home = os.path.dirname(cv2.__file__)  # noqa: PTH120
    monkeypatch.setenv("QT_QPA_PLATFORM_PLUGIN_PATH", f"{home}/qt/plugins")
    monkeypatch.setenv("QT_QPA_FONTDIR", "/usr/share/fonts")
    qt_process.release_cv2_qt()
    assert "QT_QPA_PLATFORM_PLUGIN_PATH" not in os.environ
    assert os.environ["QT_QPA_FONTDIR"] == "/usr/share/fonts"


_SCRIPT = """
import sys
from pathlib import Path
from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication
from bgsub.gui import app

def look():
    window = next(w for w in QApplication.allWidgets() if w.objectName() == "bgsub")
    if window.session.view.processed == 40:
        if {broken}:
            window.deleted = True
            QTimer.singleShot(0, lambda: 1 / 0)
            QTimer.singleShot(200, lambda: print(window.notices.label.text()) or window.window().close())
        else:
            print(window.session.view.runs[0].name, window.session.view.processed, f"{{sys.getswitchinterval():g}}")
            window.window().close()
        timer.stop()

application = QApplication([])
timer = QTimer()
timer.timeout.connect(look)
timer.start(20)
from bgsub.config import Config
code = app.run_viewer({source!r}, config=Config("norma"), settings_file=Path({kept!r}))
print("exit", code)
"""


@pytest.mark.slow
@pytest.mark.parametrize("broken", [False, True])
def test_the_viewer_starts_shows_and_ends_even_with_a_slot_that_raises(tmp_path, broken):
    script = _SCRIPT.format(source=EASY, kept=str(tmp_path / "kept.ini"), broken=broken)
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "exit 0"
    if broken:
        assert "Unexpected ZeroDivisionError" in done.stdout
        assert "Traceback" in done.stderr
    else:
        assert done.stdout.startswith("norma 40 0.0005\n")  # worker and window wait for each other for moments only
        assert done.stderr.replace("This plugin does not support propagateSizeHints()\n", "") == ""


def test_turns_of_threads_are_short_for_a_while_only():
    before = sys.getswitchinterval()
    with short_turns():
        assert sys.getswitchinterval() == pytest.approx(5e-4)
    assert sys.getswitchinterval() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc keeps what was freed")
def test_memory_that_was_freed_goes_back_to_the_system(qapp):
    owner = QObject()
    returner = MemoryReturner(owner)
    if not hasattr(returner._libc, "mallinfo2"):
        pytest.skip("needs glibc 2.33")
    returner.look()  # from here on it counts what more could be returned
    returner.finish()
    blocks = [bytearray(100_000) for _ in range(2000)]  # below the size from which glibc returns each by itself
    kept = blocks[::50]
    blocks.clear()
    held = returner._held()
    returner.look()
    returner.finish()
    assert held - returner._held() > 100 * 2**20
    assert len(kept) == 40
    owner.deleteLater()
