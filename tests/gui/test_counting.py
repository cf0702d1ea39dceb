"""Lines and zones: drawn with mouse or keyboard, counted from frame to frame, kept in session files."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PyQt6.QtCore import QPointF, Qt

from bgsub.config import Config
from bgsub.frames import Packet, Result
from bgsub.gui.counting import Counted, Counting, ObjectCounter
from bgsub.gui.messages import Settings
from bgsub.gui.panels.detector import command_line
from bgsub.gui.widgets.images.counting_marks import count_text
from bgsub.gui.window.main_window import MainWindow, PanelId
from bgsub.gui.window.saved_tabs import SavedTabs, parse_session, session_text
from bgsub.gui.workspace import Workspace
from tests.gui.conftest import FAST
from tests.gui.driving import Driver, frames, opener

SIZE = (96, 128)
GATE = ((64.0, 96.0), (64.0, 0.0))
DOOR = ((80.0, 10.0), (128.0, 10.0), (128.0, 80.0), (80.0, 80.0))


def passing(count: int = 140) -> list:
    """A square that goes from left to right, and through the door."""
    items = frames(count, SIZE)
    for index in range(40, count):
        left = (index - 40) * 2
        items[index][30:60, left : left + 20] = 230
    return items


@pytest.fixture
def drive(no_leaked_threads):
    made = []

    def make(items: list, **changed) -> Driver:
        settings = replace(FAST, config=Config("adaptive", {"threads": 1}), **changed)
        driver = Driver(opener(items), settings)
        made.append(driver)
        driver.engine.open("any")
        driver.settle()
        return driver

    yield make
    for driver in made:
        driver.engine.close()


def gates() -> Counting:
    return Counting().added(GATE).added(DOOR)


def test_lines_and_zones_get_names_of_their_own():
    counting = gates().added(((0.0, 0.0), (1.0, 1.0)))
    assert list(counting.lines) == ["line 1", "line 2"]
    assert list(counting.zones) == ["zone 1"]
    assert list(counting.without("line 1").added(GATE).lines) == ["line 2", "line 1"]
    assert not counting.without("line 1").without("line 2").without("zone 1")
    assert count_text({"left_to_right": 2, "right_to_left": 0}) == "2 left to right, 0 right to left"


def test_what_crosses_a_line_and_enters_a_zone_is_counted_once(drive):
    driver = drive(passing(100), counting=gates())
    assert driver.view.counted.counts["line 1"] == {"left_to_right": 1, "right_to_left": 0}
    driver.engine.step(-20)
    driver.settle()
    driver.engine.step(20)
    driver.settle()
    assert driver.view.counted.counts["line 1"]["left_to_right"] == 1
    driver.engine.restart_objects()
    driver.settle()
    assert driver.view.counted.tracks == 0


def test_counts_are_those_of_the_masks():
    counter = ObjectCounter()
    counter.use(gates())
    for index in range(50):
        mask = np.zeros(SIZE, np.uint8)
        mask[30:60, 2 * index : 2 * index + 20] = 255
        counter.see(Result(Packet(index, index / 25, mask, index + 1), mask))
    assert counter.counted.tracks == 1
    assert counter.counted.counts == {
        "line 1": {"left_to_right": 1, "right_to_left": 0},
        "zone 1": {"entered": 1, "left": 0, "inside": 1},
    }


def test_processing_again_counts_nothing_twice(drive):
    driver = drive(passing(100), counting=gates())
    before = driver.view.counted.counts
    driver.engine.rerun(1.0)
    driver.settle()
    assert driver.view.counted.counts == before


def test_boxes_follow_the_objects(drive):
    driver = drive(passing(80), counting=gates())
    ((number, (x, y, width, height)),) = driver.view.counted.boxes
    assert number == 1
    assert abs(x - 78) <= 3
    assert abs(y - 30) <= 3
    assert abs(width - 20) <= 4
    assert abs(height - 30) <= 4


def test_trails_lead_to_the_objects_and_are_bounded(drive):
    driver = drive(passing(95), counting=Counting(follows=True))
    ((number, (x, y, width, height)),) = driver.view.counted.boxes
    trail = driver.view.counted.trails[number]
    assert trail[-1] == (x + width / 2, y + height)
    assert len(trail) > 40
    assert all(before[0] < after[0] for before, after in pairwise(trail[20::10]))
    counter = ObjectCounter()
    counter.use(Counting(follows=True))
    mask = np.zeros(SIZE, np.uint8)
    mask[30:60, 20:40] = 255
    for index in range(300):
        counter.see(Result(Packet(index, index / 25, mask, index + 1), mask))
    assert len(counter.counted.trails[1]) == 100


def test_following_alone_is_kept_and_makes_no_options():
    counting = Counting(follows=True)
    assert counting
    assert counting.to_arguments() == []
    assert counting.added(GATE).without("line 1") == counting
    (found,) = parse_session(session_text(SavedTabs((Workspace("", 0, Settings(counting=counting)),))), "it").tabs
    assert found.settings.counting == counting


def test_nothing_is_counted_without_lines_and_zones(drive):
    driver = drive(passing(60))
    assert driver.view.counted is None
    counter = ObjectCounter()
    counter.restart()
    assert counter.counted is None


def test_a_session_file_keeps_lines_and_zones():
    wanted = Workspace("a.mp4", 3, Settings(counting=gates()))
    (found,) = parse_session(session_text(SavedTabs((wanted,))), "it").tabs
    assert found.settings.counting == wanted.settings.counting


@pytest.mark.parametrize(
    "text",
    [
        "lines = {a = [[1, 2]]}",
        "lines = {a = [[1, 2], [1, 2]]}",
        "zones = {a = [[1, 2], [3, 4]]}",
        "zones = {a = [1, 2]}",
        "lines = {a = [[1, inf], [2, 2]]}",
        "gates = 1",
    ],
)
def test_wrong_lines_and_zones_are_refused(text):
    from bgsub.errors import ConfigError

    with pytest.raises(ConfigError, match="counting"):
        parse_session(f"version = 1\n[counting]\n{text}", "it")


# In the window


@pytest.fixture
def window(make_session, theme, kept, qtbot):
    session = make_session(opener=opener(passing(100)))
    session.change(config=Config("adaptive", {"threads": 1}))
    made = MainWindow(session, theme, kept)
    made.show()
    made.open("any")
    qtbot.waitUntil(lambda: session.view.processed == 100 and not session.view.playing)
    made.show_panel(PanelId.COUNTING)
    yield made
    made.end()
    made.deleteLater()


def click(window: MainWindow, qtbot, x: float, y: float) -> None:
    view = window.grid.views[0]
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.to_pane(QPointF(x, y)).toPoint())


def test_a_line_and_a_zone_are_drawn_with_the_mouse(window, qtbot):
    session, panel = window.session, window.counting
    panel.line.click()
    click(window, qtbot, 60, 90)
    click(window, qtbot, 60, 5)
    assert not panel.is_drawing
    ends = session.settings.counting.lines["line 1"]
    assert np.allclose(ends, ((60, 90), (60, 5)), atol=1.0)
    assert session.settings.pinned_pixels == ()
    panel.zone.click()
    for x, y in ((80, 10), (120, 10), (120, 80)):
        click(window, qtbot, x, y)
    window.drawing.finish()
    assert len(session.settings.counting.zones["zone 1"]) == 3
    assert [panel.list.item(i).text().partition(":")[0] for i in range(2)] == ["line 1", "zone 1"]
    session.seek(0)
    qtbot.waitUntil(lambda: session.view.position == 0)
    session.rerun(0.0)
    session.change(speed=float("inf"))
    session.play()
    qtbot.waitUntil(lambda: session.view.position == 99 and not session.view.playing, timeout=10_000)
    qtbot.waitUntil(lambda: "1 left to right" in panel.list.item(0).text())
    assert "--count-line 'line 1=" in command_line(session)
    panel.list.setCurrentRow(0)
    panel.remove.click()
    assert list(session.settings.counting.lines) == []


def test_only_one_tool_is_out_at_a_time(window, qtbot):
    window.counting.line.click()
    assert window.counting.is_drawing
    window.drawing.toggle_region()
    assert not window.counting.is_drawing
    assert window.roi.is_editing
    window.counting.zone.click()
    assert not window.roi.is_editing
    window.truth.modes[0].click()
    assert not window.counting.is_drawing
    assert window.truth.is_painting
    window.counting.line.click()
    assert not window.truth.is_painting
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.counting.is_drawing


def test_lines_and_counts_are_painted(window, qtbot):
    view = window.grid.views[0]
    before = view.grab().toImage()
    view.show_counting(gates(), Counted(1, ((1, (10, 10, 20, 20)),), {"line 1": {"left_to_right": 1}}))
    assert view.grab().toImage() != before
