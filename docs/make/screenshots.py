"""Render docs/viewer-*.png, the images of the viewer, and those of its guide to tuning, on the bundled clip.

Run from anywhere, with the extras gui and learners: QT_QPA_PLATFORM=offscreen python docs/make/screenshots.py
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import cv2
from PyQt6.QtCore import QElapsedTimer, QEvent, QSettings, QSize, Qt, QThread
from PyQt6.QtGui import QImage
from PyQt6.QtWidgets import QApplication, QWidget

import bgsub
from bgsub.evaluation import GroundTruth
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE, Settings
from bgsub.gui.panes import BACKGROUND, MASK, OVERLAY, SCORE, STEPS
from bgsub.gui.qt_process import release_cv2_qt
from bgsub.gui.session import Session
from bgsub.gui.tabs.camera_grid import CameraGrid
from bgsub.gui.tabs.tab_window import TabWindow
from bgsub.gui.widgets.theme import Theme, ThemeChoice
from bgsub.gui.window.main_window import MainWindow, PanelId

ROOT = Path(__file__).resolve().parents[2]
CLIP = ROOT / "samples" / "walkers.mp4"
GUIDE = ROOT / "bgsub" / "gui" / "help"
_GUIDE_PX, _SMOOTH = 520, Qt.TransformationMode.SmoothTransformation
SHOWN = 131  # 0-based frame
CAMERAS = f"""
output = "watched"
[cameras.yard]
source = "{CLIP}"
[cameras.path]
source = "synthetic:walkers?frames=1500&seed=7"
roi = "0,90 320,90 320,240 0,240"
[cameras.pond]
source = "synthetic:walkers?frames=1500&size=480x270&seed=4"
[cameras.gate]
source = "rtsp://127.0.0.1:9/live"
"""
INSPECTED = (135, 30)  # row and column of a pixel on the nearest walker


def write_labels(folder: Path) -> None:
    """Unpack the labels of the clip into numbered images."""
    with bgsub.open_source(ROOT / "samples" / "walkers_truth.mkv") as source:
        for packet in source:
            cv2.imwrite(str(folder / f"gt{packet.number:06d}.png"), packet.frame)


def wait_until(application: QApplication, done: Callable[[], bool], longest_ms: int = 60_000) -> None:
    """Let the window live until a condition holds."""
    clock = QElapsedTimer()
    clock.start()
    while not done() and clock.elapsed() < longest_ms:
        application.processEvents()
        QThread.msleep(2)  # the model must not wait for Python's lock


def save(widget: QWidget, name: str) -> None:
    """Write an image of a window."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    image.save(str(ROOT / "docs" / "pictures" / f"viewer-{name}.png"), "PNG", 0)  # 0 compresses most


def make_guide(window: MainWindow, settle: Callable[[], None]) -> None:
    """Write the images of the guide to tuning: the steps of the mask, and labels on the image."""
    before = window.session.settings.truth
    window.events.marks.setChecked(False)
    window.grid.choose((STEPS,))
    settle()
    window.grid.views[0].grab().toImage().scaledToWidth(_GUIDE_PX, _SMOOTH).save(str(GUIDE / "steps.png"), "PNG", 0)
    window.grid.choose((STEPS, OVERLAY))
    window.session.change(truth=None)
    window.truth.modes[0].setChecked(True)
    for points in ([(30.0, 120.0), (32.0, 150.0)], [(70.0, 226.0), (300.0, 228.0)]):
        window.truth.brush.painted.emit(points)
        window.truth.modes[1].setChecked(True)
    settle()
    shown = window.grid.views[1]
    image = shown.grab(shown.image_rect().toRect()).toImage()
    image.scaledToWidth(_GUIDE_PX, _SMOOTH).save(str(GUIDE / "labels.png"), "PNG", 0)
    window.truth.put_away()
    window.session.change(truth=before)


def make_cameras(application: QApplication, folder: Path) -> None:
    """Show the cameras of a watch, one of which is lost."""
    path = folder / "cameras.toml"
    path.write_text(CAMERAS)
    kept = QSettings(str(folder / "cameras.ini"), QSettings.Format.IniFormat)
    theme = Theme(application)
    window = TabWindow(Session(), Session, theme, kept)
    window.main.choose_theme(ThemeChoice.LIGHT)
    window.resize(QSize(1000, 640))
    window.show()
    window.open_cameras(path)
    (grid,) = [page for page in window.pages if isinstance(page, CameraGrid)]
    window.close_tab(0)
    yard, *_ = grid.cameras
    wait_until(application, lambda: yard.session.view.position >= SHOWN)
    save(window, "cameras")
    window.end()
    window.deleteLater()


def main(application: QApplication) -> None:
    """Play the clip to one frame and write the images."""
    with tempfile.TemporaryDirectory() as parent:
        folder = f"{parent}/groundtruth"
        Path(folder).mkdir()
        write_labels(Path(folder))
        session = Session(settings=Settings(speed=AS_FAST_AS_POSSIBLE, truth=GroundTruth(folder)))
        kept = QSettings(f"{parent}/kept.ini", QSettings.Format.IniFormat)
        window = MainWindow(session, Theme(application), kept)
        window.resize(QSize(1160, 730))
        window.docks[PanelId.PLOTS].show()
        window.show()

        def play_to(index: int) -> None:
            while session.view.position < index:
                before = session.view.position
                session.step(1)
                wait_until(application, lambda before=before: session.view.position > before)

        def settle() -> None:
            wait_until(application, lambda: False, 900)  # curves are drawn a few times per second

        def begin() -> None:
            session.open(str(CLIP))
            session.pause()
            wait_until(application, lambda: session.info is not None)
            session.step(1)
            wait_until(application, lambda: session.view.processed == 1)

        window.choose_theme(ThemeChoice.LIGHT)
        window.grid.choose((OVERLAY, MASK, SCORE, BACKGROUND))
        begin()
        play_to(SHOWN)
        settle()
        save(window, "main")

        make_guide(window, settle)

        window.choose_theme(ThemeChoice.DARK)
        window.grid.choose((OVERLAY, SCORE))
        begin()
        window.click(*INSPECTED)
        play_to(SHOWN)
        settle()
        save(window, "inspector")

        window.choose_theme(ThemeChoice.LIGHT)
        window.compare.enabled.setChecked(True)
        window.compare.show_difference()
        window.show_panel(PanelId.COMPARE)
        begin()
        play_to(SHOWN)
        settle()
        save(window, "compare")

        window.choose_theme(ThemeChoice.DARK)
        window.show_learners()
        page = window.learners
        page.resize(QSize(980, 620))
        wait_until(application, lambda: page.view is not None and page.view.t > 1500, 300_000)
        save(page, "learners")
        window.close()
        window.deleteLater()
        make_cameras(application, Path(parent))
        application.sendPostedEvents(None, QEvent.Type.DeferredDelete)


if __name__ == "__main__":
    release_cv2_qt()
    APPLICATION = QApplication(["bgsub"])  # outlives every widget
    main(APPLICATION)
