"""The viewer ends on signals as if its window were closed: recordings are complete, the layout is kept."""

import os
import signal
import subprocess
import sys
import time

import pytest
from PyQt6.QtWidgets import QApplication, QWidget

from bgsub.gui.app import _handled_signals
from bgsub.video.sources import open_source

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has other signals and displays"),
]

SCRIPT = """
import sys
from pathlib import Path
from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication, QMessageBox
import bgsub.gui.app as app
from bgsub.gui.engine.recorder import Outputs

def look():
    window = next(w for w in QApplication.allWidgets() if w.objectName() == "bgsub")
    if window.session.view.processed and not window.session.is_recording:
        files = {"mask": Path("m.mkv"), "overlay": Path("o.mp4"), "stats": Path("s.csv")}
        window.session.record(Outputs(files))
        timer.stop()
        if DIALOG:
            QTimer.singleShot(0, lambda: QMessageBox.information(window, "bgsub", "A dialog that waits."))

application = QApplication([])
timer = QTimer()
timer.timeout.connect(look)
timer.start(20)
run_viewer = app.run_viewer
app.run_viewer = lambda *a, **k: run_viewer(*a, **k, settings_file=Path("kept.ini"))
sys.argv[1:] = ["view", "synthetic:easy?frames=100000&size=64x48", "-d", "norma"]
timer.start(20)
from bgsub.cli import main
sys.exit(main())
"""


class Painted(QWidget):
    """Receives a signal in the middle of a paint."""

    def __init__(self, happened: list[str]) -> None:
        super().__init__()
        self.happened = happened

    def paintEvent(self, a0: object) -> None:
        if not self.happened:
            self.happened.append("paints")
            signal.raise_signal(signal.SIGTERM)
            self.happened.append("has painted")


def test_a_signal_closes_no_window_that_is_being_painted(qtbot):
    happened: list[str] = []
    widget = Painted(happened)
    with _handled_signals(QApplication.instance(), lambda: happened.append("closes")) as received:
        widget.show()
        qtbot.waitUntil(lambda: "closes" in happened)
    widget.close()
    assert received == [signal.SIGTERM]
    assert happened == ["paints", "has painted", "closes"]


@pytest.mark.parametrize(("name", "dialog"), [("SIGINT", True), ("SIGTERM", False), ("SIGHUP", True)])
def test_signal_ends_the_viewer_properly(tmp_path, name, dialog):
    number = getattr(signal, name)
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT.replace("DIALOG", str(dialog))],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        deadline = time.monotonic() + 60
        table = tmp_path / "s.csv"
        while not (table.exists() and table.read_text().count("\n") > 20):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        _, error = process.communicate(timeout=40)
    finally:
        process.kill()
    assert process.returncode == 128 + number, error
    assert "Traceback" not in error
    count = table.read_text().count("\n") - 1
    for video in ("m.mkv", "o.mp4"):
        with open_source(tmp_path / video) as written:
            assert len(list(written)) == count
    assert "geometry" in (tmp_path / "kept.ini").read_text()
