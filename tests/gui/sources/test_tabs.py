"""Tabs in one window: opened, turned, closed; and the cameras of a watch as a grid that opens each with its panels."""

import threading
import weakref
from pathlib import Path

import pytest
from PyQt6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PyQt6.QtGui import QDropEvent

from bgsub.gui.commands import CommandId, theme_command_id
from bgsub.gui.messages import Level
from bgsub.gui.panes import MASK, OVERLAY
from bgsub.gui.session import Session
from bgsub.gui.tabs import tab_window
from bgsub.gui.tabs.camera_grid import CameraGrid
from bgsub.gui.tabs.tab_window import TabWindow
from bgsub.gui.widgets.dialogs import Answer
from bgsub.gui.widgets.theme import ThemeChoice
from bgsub.gui.window import session_files
from bgsub.gui.window.main_window import MainWindow
from bgsub.gui.window.saved_tabs import SavedCameras, SavedTabs, write_session
from bgsub.gui.window.window_state import WindowState
from bgsub.gui.workspace import Workspace
from bgsub.roi import Region
from tests.command import bgsub
from tests.gui.conftest import EASY, FAST, Notices
from tests.gui.probe import engine_of

OTHER = EASY.replace("64x48", "40x32")
LONG = "synthetic:easy?frames=100000&size=64x48"
CAMERAS = f"""
output = "out"
[defaults]
detector = "norma"
largest_px = 64
[cameras.yard]
source = "{LONG}"
[cameras.drive]
source = "{LONG}&seed=3"
roi = "0,0 64,0 64,24 0,24"
[cameras.gate]
source = "rtsp://127.0.0.1:9/none"
"""


@pytest.fixture
def make_tabs(qtbot, theme, kept, no_leaked_threads):
    def make_session() -> Session:
        session = Session(settings=FAST)
        session.notices = Notices()
        session.noticed.connect(session.notices.append)
        return session

    def make() -> TabWindow:
        window = TabWindow(make_session(), make_session, theme, kept)
        window.resize(1000, 640)
        window.show()
        made.append(window)
        return window

    made: list[TabWindow] = []
    yield make
    for window in made:
        window.end()
        window.deleteLater()


@pytest.fixture
def tabs(make_tabs):
    return make_tabs()


@pytest.fixture
def watch_file(tmp_path: Path) -> Path:
    path = tmp_path / "cameras.toml"
    path.write_text(CAMERAS)
    return path


def trigger(page: MainWindow, command_id: str) -> None:
    page.menus.actions[command_id].trigger()


def own_threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("bgsub-") and "band" not in one.name]


def test_a_single_source_has_no_bar_of_tabs(tabs):
    assert tabs.pages == [tabs.main]
    assert not tabs.tabs.tabBar().isVisible()
    assert tabs.session is tabs.main.session


def test_each_tab_has_its_own_source_and_settings(tabs, qtbot):
    tabs.main.open(EASY)
    trigger(tabs.main, CommandId.NEW_TAB)
    first, second = tabs.pages
    assert tabs.current is second
    assert tabs.tabs.tabBar().isVisible()
    second.open(OTHER)
    qtbot.waitUntil(lambda: first.session.size == (48, 64) and second.session.size == (32, 40))
    assert tabs.tabs.tabText(1) == OTHER.replace("&", "&&")  # no key for a letter
    assert tabs.windowTitle() == f"{OTHER} - bgsub"
    second.session.toggle_frozen()
    assert not first.session.settings.frozen
    trigger(second, CommandId.PREVIOUS_TAB)
    assert tabs.current is first
    assert tabs.windowTitle() == f"{EASY} - bgsub"
    trigger(first, CommandId.PREVIOUS_TAB)  # round the end
    assert tabs.current is second


def test_a_file_waits_while_another_tab_is_shown(tabs, qtbot):
    tabs.main.open(LONG)
    first = tabs.main.session
    qtbot.waitUntil(lambda: first.view.processed > 5)
    tabs.add_tab(EASY)
    qtbot.waitUntil(lambda: not first.view.playing)
    assert first.settings.panes == ()
    assert tabs.session.settings.panes
    tabs.turn(-1)
    assert first.settings.panes == tabs.main.grid.panes
    at = first.view.processed
    qtbot.waitUntil(lambda: first.view.playing and first.view.processed > at + 5)


def test_what_was_paused_stays_paused(tabs, qtbot):
    tabs.main.open(LONG)
    first = tabs.main.session
    qtbot.waitUntil(lambda: first.view.processed > 5)
    first.pause()
    qtbot.waitUntil(lambda: not first.view.playing)
    tabs.add_tab()
    tabs.turn(-1)
    position = first.view.position
    qtbot.wait(100)
    assert (first.view.playing, first.view.position) == (False, position)


def test_closing_a_tab_frees_its_threads_and_leaves_the_other(tabs, qtbot):
    tabs.main.open(LONG)
    before = set(own_threads())
    tabs.add_tab(LONG)
    second = tabs.current
    qtbot.waitUntil(lambda: second.session.view.processed > 5)
    assert len(own_threads()) > len(before)
    trigger(second, CommandId.CLOSE_TAB)
    assert tabs.pages == [tabs.main]
    qtbot.waitUntil(lambda: own_threads().count("bgsub-view") == 1 and "bgsub-close" not in own_threads())
    at = tabs.main.session.view.processed
    qtbot.waitUntil(lambda: tabs.main.session.view.processed > at + 5)


def test_a_closed_tab_is_forgotten(tabs, qtbot, qapp, theme):
    tabs.add_tab(EASY)
    qtbot.waitUntil(lambda: tabs.session.view.processed > 5)
    gone = weakref.ref(tabs.current), weakref.ref(tabs.session)
    tabs.close_tab(1)
    qtbot.waitUntil(lambda: "bgsub-close" not in own_threads())
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    theme.choose(ThemeChoice.DARK)  # reaches nobody who has gone
    tabs.add_tab()
    tabs.close_tab(1)
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qtbot.waitUntil(lambda: [reference() for reference in gone] == [None, None])


def test_the_first_tab_can_be_closed_before_others(tabs, qtbot):
    tabs.add_tab(EASY)
    second = tabs.current
    tabs.close_tab(0)
    assert tabs.pages == [second]
    assert tabs.main is second
    qtbot.waitUntil(lambda: second.session.size == (48, 64))


def test_closing_the_last_tab_closes_the_window(tabs, qtbot):
    trigger(tabs.main, CommandId.CLOSE_TAB)
    assert not tabs.isVisible()


def test_quitting_from_any_tab_closes_all(tabs, qtbot):
    tabs.main.open(EASY)
    tabs.add_tab(OTHER)
    trigger(tabs.current, CommandId.QUIT)
    assert not tabs.isVisible()
    assert own_threads() == []


def test_all_tabs_are_kept_for_the_next_time_with_the_one_that_was_shown(tabs, qtbot, kept):
    tabs.main.open(EASY)
    tabs.main.grid.choose((MASK, OVERLAY))
    tabs.add_tab(OTHER)
    qtbot.waitUntil(lambda: tabs.session.view.processed > 3)
    tabs.turn(-1)
    tabs.close()
    saved = WindowState(kept).last_session
    assert [tab.source for tab in saved.tabs] == [EASY, OTHER]
    assert saved.shown == 0
    assert saved.tabs[0].settings.panes == (MASK, OVERLAY)


def test_a_tab_with_unsaved_settings_may_stay(tabs, qtbot, monkeypatch):
    monkeypatch.setattr(session_files, "ask_to_save", lambda *_: Answer.CANCEL)
    tabs.add_tab(EASY)
    page = tabs.current
    page.session.configure(page.session.settings.config.with_postprocess(median=3), saved=False)
    tabs.close_tab(1)
    assert page in tabs.pages
    tabs.close()
    assert tabs.isVisible()


def test_there_is_an_end_to_the_tabs(tabs, monkeypatch):
    monkeypatch.setattr(tab_window, "MOST_TABS", 2)
    tabs.add_tab()
    tabs.add_tab()
    assert len(tabs.pages) == 2
    assert tabs.session.notices[-1].level is Level.WARNING


def test_tabs_share_the_memory_for_past_frames(tabs, qtbot):
    def capacity(page: MainWindow) -> int:
        return engine_of(page.session).work.past.capacity_bytes

    whole = capacity(tabs.main)
    tabs.add_tab()
    qtbot.waitUntil(lambda: [capacity(page) for page in tabs.pages] == [whole // 2] * 2)
    tabs.close_tab(1)
    qtbot.waitUntil(lambda: capacity(tabs.main) == whole)


def test_a_theme_is_chosen_for_all_tabs(tabs, theme):
    trigger(tabs.main, theme_command_id(ThemeChoice.DARK))
    tabs.add_tab()
    assert theme.is_dark
    assert all(page.menus.actions[theme_command_id(ThemeChoice.DARK)].isChecked() for page in tabs.pages)


def test_files_dropped_together_open_in_tabs(tabs, tmp_path, qtbot):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / name)) for name in ("a", "b")])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    tabs.main.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, mime, buttons, keys))
    assert [page.session.source for page in tabs.pages] == [str(tmp_path / "a"), str(tmp_path / "b")]
    qtbot.waitUntil(lambda: all(page.session.notices for page in tabs.pages))  # both are empty


# Cameras


def grid_of(tabs: TabWindow) -> CameraGrid:
    return next(page for page in tabs.pages if isinstance(page, CameraGrid))


def test_the_file_of_a_watch_opens_as_a_grid(tabs, watch_file, qtbot):
    tabs.main.open(str(watch_file))
    grid = grid_of(tabs)
    assert tabs.current is grid
    assert [tile.name.text() for tile in grid.tiles] == ["yard", "drive", "gate"]
    qtbot.waitUntil(lambda: all(tile.view.image is not None for tile in grid.tiles[:2]))
    qtbot.waitUntil(lambda: "no signal" in grid.tiles[2].state.text())
    assert grid.tiles[2].state.property("wrong")
    assert "no signal" in grid.tiles[2].view.hint
    yard, drive, _ = grid.cameras
    qtbot.waitUntil(lambda: drive.session.settings.region is not None)
    at = yard.session.view.processed
    qtbot.waitUntil(lambda: yard.session.view.processed > at + 5)  # the lost one disturbs nobody


def test_a_camera_opens_with_all_panels_and_goes_on_when_its_tab_is_closed(tabs, watch_file, qtbot):
    tabs.open_cameras(watch_file)
    grid = grid_of(tabs)
    qtbot.waitUntil(lambda: grid.tiles[1].view.image is not None)
    qtbot.mouseClick(grid.tiles[1].name, Qt.MouseButton.LeftButton)
    page = tabs.current
    drive = list(grid.cameras)[1]
    assert isinstance(page, MainWindow)
    assert page.session is drive.session
    assert tabs.tabs.tabText(tabs.tabs.currentIndex()) == "drive"
    assert page.transport.slider.maximum() == 99_999
    page.grid.choose((MASK,))
    qtbot.waitUntil(lambda: page.grid.views[0].image is not None)
    assert drive.session.settings.panes == (MASK,)
    page.session.toggle_frozen()
    tabs.close_tab(tabs.tabs.indexOf(page))
    assert tabs.current is grid
    assert drive.session.settings.frozen
    at = drive.session.view.processed
    qtbot.waitUntil(lambda: drive.session.view.processed > at + 5 and OVERLAY in drive.session.view.images)


def test_return_on_an_image_opens_the_camera_once(tabs, watch_file, qtbot):
    tabs.open_cameras(watch_file)
    grid = grid_of(tabs)
    qtbot.waitUntil(lambda: grid.tiles[0].view.image is not None)
    view = grid.tiles[0].view
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.rect().center())
    count = len(tabs.pages)
    tabs.tabs.setCurrentWidget(grid)
    grid.tiles[0].name.click()
    assert len(tabs.pages) == count


def test_closing_the_grid_closes_its_cameras(tabs, watch_file, qtbot):
    tabs.open_cameras(watch_file)
    grid = grid_of(tabs)
    qtbot.waitUntil(lambda: grid.tiles[0].view.image is not None)
    grid.tiles[0].name.click()
    tabs.close_tab(tabs.tabs.indexOf(grid))
    assert tabs.pages == [tabs.main]
    qtbot.waitUntil(lambda: own_threads() == ["bgsub-view"])


@pytest.mark.parametrize(("answer", "stays"), [(Answer.CANCEL, True), (Answer.DISCARD, False)])
def test_changed_cameras_are_asked_for_with_the_grid(tabs, watch_file, qtbot, monkeypatch, answer, stays):
    asked = []

    def ask(_, text: str, *__) -> Answer:
        asked.append(text)
        return answer

    monkeypatch.setattr(tab_window, "ask_to_save", ask)
    tabs.open_cameras(watch_file)
    grid = grid_of(tabs)
    yard = next(iter(grid.cameras))
    yard.session.configure(yard.session.settings.config.with_postprocess(median=3), saved=False)
    tabs.close_tab(tabs.tabs.indexOf(grid))
    assert asked == ["The settings of yard were changed and not saved."]
    assert (grid in tabs.pages) == stays
    monkeypatch.setattr(tab_window, "ask_to_save", lambda *_: Answer.DISCARD)


def test_changed_cameras_are_saved_with_all_tabs(tabs, make_tabs, watch_file, qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr(tab_window, "ask_to_save", lambda *_: Answer.SAVE)
    path = tmp_path / "all.session.toml"
    monkeypatch.setattr(session_files, "ask_save", lambda *_: path)
    tabs.main.open(EASY)
    tabs.open_cameras(watch_file)
    yard, drive, _ = grid_of(tabs).cameras
    qtbot.waitUntil(lambda: yard.image is not None and drive.session.settings.region is not None)
    yard.session.configure(yard.session.settings.config.with_postprocess(median=3), saved=False)
    region = Region(include=(((1.0, 1.0), (20.0, 1.0), (20.0, 20.0)),))
    drive.session.set_region(region)
    tabs.close()
    assert not tabs.isVisible()
    assert "127.0.0.1" not in path.read_text()  # addresses stay in the file of the watch

    again = make_tabs()
    again.main.session_files.open(path)
    grid = grid_of(again)
    yard, drive, gate = grid.cameras
    assert [page is grid for page in again.pages] == [False, True, False]
    assert again.current.session is yard.session  # it was opened for the question
    sessions = again.main.session, yard.session, drive.session
    qtbot.waitUntil(lambda: all(session.view.processed for session in sessions))
    assert again.main.session.source == EASY
    assert yard.session.settings.config.postprocess.median == 3
    assert drive.session.settings.region == region
    assert drive.session.settings.event_search is not None
    assert drive.session.settings.sampling.largest_px == 64
    assert [one.is_changed for one in (yard, drive, gate)] == [True, True, False]
    assert not again.main.session.has_unsaved_tuning
    assert grid.cameras.unsaved == []


def test_a_session_comes_back_without_the_cameras_whose_file_is_gone(tabs, tmp_path, qtbot):
    path = tmp_path / "one.session.toml"
    write_session(
        SavedTabs((SavedCameras(str(tmp_path / "gone.toml")), Workspace(EASY, 5), Workspace(OTHER, 3)), 2), path
    )
    tabs.main.open(str(path))
    assert [page.session.source for page in tabs.pages] == [EASY, OTHER]
    assert "gone.toml" in tabs.session.notices.text or "gone.toml" in tabs.main.session.notices.text
    assert tabs.current is tabs.pages[1]
    qtbot.waitUntil(lambda: tabs.session.view.position == 3 and bool(tabs.session.view.runs))


def test_the_keys_for_tabs_work_in_the_grid(tabs, watch_file, qtbot):
    tabs.open_cameras(watch_file)
    grid = grid_of(tabs)
    tabs.close_tab(0)
    assert tabs.pages == [grid]
    tabs.activateWindow()
    grid.tiles[0].name.setFocus()
    qtbot.keyClick(grid.tiles[0].name, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert len(tabs.pages) == 2
    assert tabs.main is tabs.current
    tabs.turn(1)
    grid.tiles[0].name.setFocus()
    qtbot.keyClick(grid.tiles[0].name, Qt.Key.Key_F4, Qt.KeyboardModifier.ControlModifier)
    assert tabs.pages == [tabs.main]


def test_tiles_are_as_large_as_the_window_allows(tabs, watch_file, qtbot):
    tabs.open_cameras(watch_file)
    grid = grid_of(tabs)
    grid.resize(1200, 300)
    assert grid.columns == 3
    grid.resize(400, 900)
    assert grid.columns == 1


def test_a_wrong_file_of_cameras_is_named(tabs, tmp_path):
    path = tmp_path / "cameras.toml"
    path.write_text('output = "out"\n[cameras.yard]\nsauce = "a.mp4"')
    tabs.main.open(str(path))
    assert "cameras.yard.source" in tabs.session.notices.text
    assert tabs.pages == [tabs.main]


def test_a_session_file_can_be_opened_like_a_source(tabs, tmp_path, qtbot):
    path = tmp_path / "one.session.toml"
    path.write_text(f'version = 1\nsource = "{EASY}"\nposition = 7')
    tabs.main.open(str(path))
    qtbot.waitUntil(lambda: tabs.session.view.position == 7 and bool(tabs.session.view.runs))


def test_the_command_opens_several_sources(monkeypatch, capsys):
    from bgsub.gui import app

    asked = []
    monkeypatch.setattr(app, "run_viewer", lambda *args, **values: asked.append((args, values["more"])) or 0)
    assert bgsub("view", "a.mp4", "b.mp4", "cameras.toml") == 0
    assert bgsub("view") == 0
    assert asked == [(("a.mp4",), ("b.mp4", "cameras.toml")), ((None,), ())]
    assert bgsub("view", "a.mp4", "--session", "one.toml") == 2
    assert "a session names its own source" in capsys.readouterr().err
