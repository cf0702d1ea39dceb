"""Measure the viewer: latency from capture to paint and from a changed setting to its picture, paints, memory, start.

    python bench/viewer.py latency --size 640x480 --rate 30 [--file VIDEO]
    python bench/viewer.py tuning --size 640x480 [--file VIDEO]
    python bench/viewer.py paints --size 1920x1080 [--file VIDEO]
    python bench/viewer.py memory --minutes 10 [--file VIDEO]
    python bench/viewer.py start [--file VIDEO]

Needs a display, such as `xvfb-run`, or QT_QPA_PLATFORM=offscreen, which paints the same but shows nothing. Without
--file a clip is generated.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from bgsub.gui.qt_process import release_cv2_qt, short_turns

release_cv2_qt()

from PyQt6.QtCore import QEvent, QSettings, QTimer
from PyQt6.QtWidgets import QApplication

from bgsub.config import Config
from bgsub.frames import Packet, VideoInfo
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE, Settings
from bgsub.gui.panes import MASK, OVERLAY
from bgsub.gui.session import Session
from bgsub.gui.widgets.theme import Theme
from bgsub.gui.window.main_window import MainWindow
from bgsub.video.sources import open_source
from bgsub.video.sources.base import FrameSource
from bgsub.video.sources.synthetic.scene import SyntheticScene


def write_clip(path: Path, size: tuple[int, int], rate: int, frames: int) -> None:
    """Generate a video."""
    scene = SyntheticScene(size=size, frames=frames, rate_hz=rate, seed=1)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate, options={"preset": "veryfast", "crf": "23"})
        stream.height, stream.width, stream.pix_fmt = *size, "yuv420p"
        for index in range(frames):
            frame = av.VideoFrame.from_ndarray(scene.frame(index)[0], format="bgr24")
            frame.pts, frame.time_base = index, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


class Paced(FrameSource):
    """A file that behaves like a camera: each frame is decoded, and arrives at its time, ready or not."""

    def __init__(self, path: str, rate_hz: float, captured_s: dict[int, float]) -> None:
        self._path, self._rate_hz, self._captured_s = path, rate_hz, captured_s
        self._source = open_source(path)
        self._stop = threading.Event()
        self._begin_s: float | None = None
        self._number = 0

    @property
    def info(self) -> VideoInfo:
        return VideoInfo(self._path, self._source.info.size, self._rate_hz, None, live=True)

    def read(self) -> Packet | None:
        packet = self._source.read()
        if packet is None:
            self._source.close()
            self._source = open_source(self._path)
            packet = self._source.read()
        if packet is None or self._stop.is_set():
            return None
        now = time.perf_counter()
        self._begin_s = now if self._begin_s is None else self._begin_s
        if self._stop.wait(max(0.0, self._begin_s + self._number / self._rate_hz - now)):
            return None
        self._number += 1
        self._captured_s[self._number] = time.perf_counter()
        return Packet(self._number - 1, self._number / self._rate_hz, packet.frame, self._number)

    def interrupt(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._source.close()


_windows: list[MainWindow] = []  # deleted before the application, in order, and not by the garbage collector


def show(session: Session) -> MainWindow:
    """Show the window in its default layout."""
    kept = QSettings(str(Path(tempfile.mkdtemp()) / "kept.ini"), QSettings.Format.IniFormat)
    window = MainWindow(session, Theme(QApplication.instance()), kept)
    _windows.append(window)
    window.show()
    return window


def run_until(done: Callable[[], bool], timeout_s: float, interval_ms: int = 5) -> None:
    """Let Qt run until a condition holds."""
    deadline = time.perf_counter() + timeout_s
    timer = QTimer()
    timer.timeout.connect(
        lambda: QApplication.exit() if done() or time.perf_counter() > deadline else None  # type: ignore[func-returns-value]
    )
    timer.start(interval_ms)
    QApplication.exec()


def latency(path: str, rate_hz: float, seconds: float) -> None:
    captured_s: dict[int, float] = {}
    painted_s: dict[int, float] = {}
    model_ms: dict[int, float] = {}
    session = Session(opener=lambda text, /, *, start: Paced(text, rate_hz, captured_s))
    window = show(session)

    def painted() -> None:
        result = session.view.result
        if result is not None and result.packet.number not in painted_s:
            painted_s[result.packet.number] = time.perf_counter()
            model_ms[result.packet.number] = result.timings.total_ms

    window.grid.views[0].painted.connect(painted)
    window.open(path)
    run_until(lambda: session.view.processed > 2 * rate_hz, 120)  # by then kernels are compiled and a model is learned
    first, dropped = session.view.result.packet.number, session.view.dropped
    session.history.clear()
    run_until(lambda: False, seconds)
    last = session.view.result.packet.number
    waits = [1e3 * (painted_s[number] - captured_s[number]) for number in painted_s if first < number <= last]
    model = float(np.median([model_ms[number] for number in painted_s if first < number <= last]))
    size = session.size
    window.close()
    frame_ms = 1e3 / rate_hz
    print(
        f"{size[1]}x{size[0]} at {rate_hz:g} frames/s, {last - first} frames captured, {len(waits)} painted, "
        f"{session.view.dropped - dropped} dropped before the model\n"
        f"capture to paint: median {np.median(waits):.1f} ms, 95 % {np.percentile(waits, 95):.1f} ms, "
        f"largest {max(waits):.1f} ms; model median {model:.1f} ms, frame time {frame_ms:.1f} ms, "
        f"sum {model + frame_ms:.1f} ms"
    )


def tuning(path: str, changes: int = 100) -> None:
    """Change a setting on a held frame, and wait until what it makes of the frame is painted."""
    session = Session(settings=Settings(config=Config("adaptive")))
    window = show(session)
    window.lookout.enable(False)
    window.open(path)
    run_until(lambda: session.view.processed > 60, 120)
    session.pause()
    run_until(lambda: not session.view.playing, 30)
    run_until(lambda: False, 1)
    painted_s: dict[int, float] = {}
    paint_ms: list[float] = []
    window.grid.choose((OVERLAY, MASK))
    mask = window.grid.views[1]
    mask.painted.connect(lambda: painted_s.setdefault(session.view.serial, time.perf_counter()))
    waits, frame_ms = [], []
    for index in range(changes):
        before = session.view.result
        begin = time.perf_counter()
        session.configure(Config("adaptive", {"threshold": 0.1 + 0.01 * (index % 9)}), saved=False)
        run_until(lambda before=before: session.view.result is not before and session.view.serial in painted_s, 30, 1)
        waits.append(1e3 * (painted_s[session.view.serial] - begin))
        frame_ms.append(session.view.result.timings.total_ms)
        run_until(lambda: False, 0.05)
        begin = time.perf_counter()
        mask.repaint()
        paint_ms.append(1e3 * (time.perf_counter() - begin))
    size = session.size
    window.end()
    print(
        f"{size[1]}x{size[0]}, {changes} changes of a held frame, change to paint: smallest {min(waits):.1f} ms, "
        f"median {np.median(waits):.1f} ms, 95 % {np.percentile(waits, 95):.1f} ms, largest {max(waits):.1f} ms; frame "
        f"{np.median(frame_ms):.1f} ms, paint of a pane {np.median(paint_ms):.1f} ms, two frames and a paint "
        f"{2 * np.median(frame_ms) + np.median(paint_ms):.1f} ms; load {os.getloadavg()[0]:.1f}"
    )


def paints(path: str, seconds: float) -> None:
    session = Session(settings=Settings(speed=AS_FAST_AS_POSSIBLE, loop=True))
    window = show(session)
    window.open(path)
    run_until(lambda: session.view.processed > 20, 120)
    times: list[float] = []
    window.grid.views[0].painted.connect(lambda: times.append(time.perf_counter()))
    moving = QTimer()
    moving.timeout.connect(window.grid.refresh)  # as if the user moved the image all the time
    moving.start(16)
    before = session.view.processed
    begin = time.perf_counter()
    run_until(lambda: False, seconds)
    gone = time.perf_counter() - begin
    gaps = np.diff(times) * 1e3
    processed = session.view.processed - before
    size = session.size
    window.close()
    print(
        f"{size[1]}x{size[0]}: {processed / gone:.1f} frames/s processed, {len(times) / gone:.1f} paints/s of each "
        f"pane, longest gap {gaps.max():.0f} ms, 99 % {np.percentile(gaps, 99):.0f} ms"
    )


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(path: str, minutes: float) -> None:
    session = Session(settings=Settings(loop=True, speed=4.0))
    window = show(session)
    window.open(path)
    window.click(100, 100)
    begin = time.perf_counter()
    step_s = max(5.0, minutes * 60 / 12)
    while time.perf_counter() - begin < minutes * 60:
        run_until(lambda: False, step_s)
        print(
            f"{time.perf_counter() - begin:5.0f} s: {resident_mib():.1f} MiB, {session.view.processed} frames",
            flush=True,
        )
    window.close()


_START = """
import sys, time
from bgsub.gui.app import run_viewer
from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication
application = QApplication(["bgsub"])
seen = {}
def look():
    for widget in application.topLevelWidgets():
        if widget.objectName() == "bgsub" and widget.isVisible():
            seen.setdefault("window", time.time())
            if widget.grid.views[0].image is not None:
                seen.setdefault("image", time.time())
                widget.close()
timer = QTimer(); timer.timeout.connect(look); timer.start(5)
from pathlib import Path
run_viewer(sys.argv[1], settings_file=Path(sys.argv[2]))
print(seen["window"], seen["image"])
"""


def start(path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("cold", "warm", "warm", "warm"):
            environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/numba"}
            begin = time.time()
            done = subprocess.run(
                [sys.executable, "-c", _START, path, f"{folder}/kept.ini"],
                capture_output=True,
                text=True,
                check=True,
                env=environment,
            )
            window, image = (float(word) - begin for word in done.stdout.split()[-2:])
            print(f"{cache}: window after {window:.2f} s, first mask after {image:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["latency", "tuning", "paints", "memory", "start"])
    parser.add_argument("--size", default="640x480")
    parser.add_argument("--rate", type=float, default=30)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--file", help="a video; otherwise one is generated")
    given = parser.parse_args()
    width, height = (int(word) for word in given.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        path = given.file
        if path is None:
            path = f"{folder}/clip.mp4"
            write_clip(Path(path), (height, width), round(given.rate), 150)
        if given.what == "start":
            start(path)
            return
        with short_turns():
            _measure(given, path)


def _measure(given: argparse.Namespace, path: str) -> None:
    application = QApplication(["bgsub"])
    if given.what == "latency":
        latency(path, given.rate, given.seconds)
    elif given.what == "tuning":
        tuning(path)
    elif given.what == "paints":
        paints(path, given.seconds)
    else:
        memory(path, given.minutes)
    for window in _windows:
        window.end()
        window.deleteLater()
    application.sendPostedEvents(None, QEvent.Type.DeferredDelete)


if __name__ == "__main__":
    main()
