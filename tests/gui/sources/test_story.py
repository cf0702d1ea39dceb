"""One story with mouse and keyboard: a missed object, why it is missed, tuning, labels, and the next day."""

from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt

from bgsub._opencv import cv2
from bgsub.config import Config
from bgsub.gui.commands import CommandId
from bgsub.gui.messages import AS_FAST_AS_POSSIBLE, Settings
from bgsub.gui.panels.truth import panel as truth_panel
from bgsub.gui.session import Session
from bgsub.gui.tabs.tab_window import TabWindow
from bgsub.gui.window import session_files
from bgsub.gui.window.main_window import MainWindow, PanelId
from tests.gui.conftest import Notices
from tests.gui.driving import frames

SIZE = (180, 240)
TOP, LEFT, HEIGHT, WIDTH = 60, 80, 12, 2  # of the object
INSIDE = (TOP + 5, LEFT + 1)
LAST = 59
TUNED = Config("adaptive", {"threads": 1, "smoothing": 5})


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """A folder of images: noise, and in the last two something thin and bright."""
    folder = tmp_path / "clip"
    folder.mkdir()
    for index, frame in enumerate(frames(LAST + 1, SIZE)):
        if index >= LAST - 1:
            frame[TOP : TOP + HEIGHT, LEFT : LEFT + WIDTH] = 220
        cv2.imwrite(str(folder / f"in{index + 1:06d}.png"), frame)
    return folder


@pytest.fixture
def make_window(theme, kept, no_leaked_threads):
    made = []

    def make() -> TabWindow:
        def make_session() -> Session:
            session = Session(
                settings=Settings(config=Config("adaptive", {"threads": 1, "smoothing": 5}), speed=AS_FAST_AS_POSSIBLE)
            )
            session.notices = Notices()
            session.noticed.connect(session.notices.append)
            return session

        made.append(TabWindow(make_session(), make_session, theme, kept))
        made[-1].resize(1280, 720)
        made[-1].show()
        return made[-1]

    yield make
    for window in made:
        window.end()
        window.deleteLater()


def at(page: MainWindow, row: float, column: float) -> QPoint:
    """The point of the first pane that shows a pixel."""
    return page.grid.views[0].to_pane(QPointF(column + 0.5, row + 0.5)).toPoint()


def scribble(page: MainWindow, qtbot, first: tuple[int, int], last: tuple[int, int]) -> None:
    """Drag from one pixel (row, column) to another."""
    view, middle = page.grid.views[0], ((first[0] + last[0]) / 2, (first[1] + last[1]) / 2)
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=at(page, *first))
    for point in (middle, last):
        qtbot.mouseMove(view, at(page, *point))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=at(page, *last))


def found(session: Session, side: int = 0) -> bool:
    """Whether the mask of a detector holds the object, in the frame that is shown."""
    return bool(session.view.runs[side].result.mask[INSIDE])


def wait_until_held(session: Session, qtbot, *, finds: bool) -> None:
    """Wait until the last frame is held, all frames that it needs are processed, and the object is found or not."""

    def is_held() -> bool:
        view = session.view
        again = any(caption.startswith("processing again") for caption in view.captions)
        return view.position == LAST and not view.playing and not again and found(session) is finds

    qtbot.waitUntil(is_held)


@pytest.mark.slow
def test_from_a_missed_object_to_the_next_day(make_window, clip, tmp_path, qtbot, monkeypatch):
    # Open, play to the end, and hold the last frame: the object is missed.
    window = make_window()
    page, session = window.main, window.session
    page.open(str(clip))
    wait_until_held(session, qtbot, finds=False)

    # The inspector says which step removed it.
    qtbot.mouseClick(page.grid.views[0], Qt.MouseButton.LeftButton, pos=at(page, *INSIDE))
    qtbot.waitUntil(lambda: "Found, but removed" in page.inspector.verdict.text())
    assert "[majority]" in page.inspector.verdict.text()
    assert page.inspector.isVisible()

    # Keep the settings as B, and change one: the frame that is held changes, after those that it needs, and both are
    # seen.
    page.show_panel(PanelId.DETECTOR)
    qtbot.mouseClick(page.detector.keep, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(session.view.runs) == 2)
    smoothing = page.detector.editor.form.inputs["smoothing"].editor
    smoothing.setFocus()
    smoothing.selectAll()
    qtbot.keyClicks(smoothing, "3")
    qtbot.keyClick(smoothing, Qt.Key.Key_Return)
    wait_until_held(session, qtbot, finds=True)
    assert session.settings.config.parameters["smoothing"] == 3
    assert len(session.view.runs) == 2
    assert not found(session, side=1)
    page.menus.actions[CommandId.DIFFERENCE].trigger()
    qtbot.waitUntil(lambda: any("Difference" in view.pane.label for view in page.grid.views))
    page.menus.actions[CommandId.COMPARE].trigger()
    assert not session.is_comparing

    # Take it back, and mark two scribbles instead.
    page.menus.actions[CommandId.UNDO_SETTINGS].trigger()
    wait_until_held(session, qtbot, finds=False)
    page.grid.arrange(2)
    page.show_panel(PanelId.TRUTH)
    qtbot.mouseClick(page.truth.modes[0], Qt.MouseButton.LeftButton)
    scribble(page, qtbot, (TOP + 2, LEFT + 1), (TOP + 8, LEFT + 1))
    qtbot.mouseClick(page.truth.modes[1], Qt.MouseButton.LeftButton)
    scribble(page, qtbot, (140, 60), (140, 185))
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: session.view.runs[0].scored == 1)

    # Accept what is suggested: now the object is found.
    box = page.truth.suggestions
    qtbot.mouseClick(box.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: box.suggestion is not None and box.suggestion.is_complete, timeout=120_000)
    assert box.text.text().startswith("smoothing 5 → 3.")
    qtbot.mouseClick(box.use, Qt.MouseButton.LeftButton)
    wait_until_held(session, qtbot, finds=True)
    mask = session.view.result.mask

    # Save labels and session, and quit.
    monkeypatch.setattr(truth_panel, "ask_folder", lambda *_: tmp_path / "labels")
    assert page.truth.ask_and_save()
    monkeypatch.setattr(session_files, "ask_save", lambda *_: tmp_path / "story.session.toml")
    page.menus.actions[CommandId.SAVE_SESSION].trigger()
    assert not session.has_unsaved_tuning
    wanted, panes = session.settings, page.grid.panes
    page.menus.actions[CommandId.QUIT].trigger()
    assert not window.isVisible()

    # The next day everything is as it was: by the button of the first page, and by the file.
    for again in (lambda page: page.start.resume.click(), lambda page: page.open(str(tmp_path / "story.session.toml"))):
        window = make_window()
        page, session = window.main, window.session
        again(page)
        qtbot.waitUntil(lambda session=session: bool(session.view.runs))
        wait_until_held(session, qtbot, finds=True)
        assert session.settings.config == wanted.config
        assert session.settings.pinned_pixels == (INSIDE,)
        assert session.settings.truth.numbers == [LAST + 1]
        assert page.grid.panes == panes
        np.testing.assert_array_equal(session.view.result.mask, mask)
        window.close()
