"""Fixtures of the viewer's tests: sessions and windows that are closed, with no thread left behind."""

import functools
import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pytest

pytest.importorskip("PyQt6.QtWidgets", reason="the viewer needs PyQt6")

from PyQt6.QtCore import QSettings
from PyQt6.QtWidgets import QApplication

from bgsub.gui.qt_process import release_cv2_qt

release_cv2_qt()

from bgsub.config import Config
from bgsub.detectors import create
from bgsub.gui import panes
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE, Notice, Settings
from bgsub.gui.session import Session
from bgsub.gui.widgets.dialogs import Answer
from bgsub.gui.widgets.theme import Theme
from bgsub.gui.window import session_files
from bgsub.gui.window.main_window import MainWindow
from tests.gui.probe import PANES

CLIP = str(Path(__file__).resolve().parents[2] / "samples" / "walkers.mp4")
EASY = "synthetic:easy?frames=40&size=64x48"
FAST = Settings(
    config=Config("norma", {"learn_every": 2, "warmup": 3, "threads": 1}),
    speed=AS_FAST_AS_POSSIBLE,
    panes=(panes.INPUT, panes.MASK),
)


class Notices(list[Notice]):
    """Collects the notices of a session."""

    @property
    def text(self) -> str:
        return "\n".join(notice.text for notice in self)


@pytest.fixture(autouse=True)
def nobody_is_asked_at_the_end(monkeypatch) -> None:
    """Windows close without a question, which nobody would answer."""
    monkeypatch.setattr(session_files, "ask_to_save", lambda *_: Answer.DISCARD)


@pytest.fixture
def qtbot(qtbot):
    """Qt's robot, which waits for longer than its usual 5 s: other tests may keep the processors busy."""
    qtbot.waitUntil = functools.partial(qtbot.waitUntil, timeout=30_000)
    qtbot.waitSignal = functools.partial(qtbot.waitSignal, timeout=30_000)
    return qtbot


@pytest.fixture
def make_session(qtbot, no_leaked_threads: None) -> Iterator[Callable[..., Session]]:
    made = []

    def make(**values) -> Session:
        session = Session(**({"settings": FAST} | values))
        session.notices = Notices()
        session.noticed.connect(session.notices.append)
        made.append(session)
        return session

    yield make
    for session in made:
        session.close()


@pytest.fixture
def session(make_session) -> Session:
    return make_session()


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme(qapp)
    yield made
    made.deleteLater()


@pytest.fixture
def kept(tmp_path: Path) -> QSettings:
    settings = QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)
    settings.setValue("events/ahead", "false")  # tests that want it say so
    return settings


@pytest.fixture
def window(qtbot, session: Session, theme: Theme, kept: QSettings) -> Iterator[MainWindow]:
    made = MainWindow(session, theme, kept)
    made.show()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def registry() -> Iterator[dict[str, panes.Pane]]:
    """The panes, put back in their place after the test."""
    before = dict(PANES)
    yield PANES
    PANES.clear()
    PANES.update(before)


@pytest.fixture(scope="session", autouse=True)
def kernels_are_compiled() -> None:
    """Compile the detectors once, so that no test waits for it."""
    frame = np.zeros((8, 8, 3), np.uint8)
    for name in ("adaptive", "norma", "olk"):
        model = create(name)
        for _ in range(3):
            model.apply(frame, score=np.empty((8, 8), np.float32))
        model.score(frame)
        model.background_image()


@pytest.fixture(autouse=True)
def garbage_is_collected_on_this_thread() -> Iterator[None]:
    """As in the viewer itself: otherwise the worker's thread may destroy objects that Qt is painting."""
    gc.disable()
    yield
    gc.collect(1)
    gc.enable()


@pytest.fixture(autouse=True)
def no_window_is_left(qapp: QApplication) -> Iterator[None]:
    yield
    qapp.processEvents()
    assert [widget for widget in qapp.topLevelWidgets() if widget.isVisible()] == []
