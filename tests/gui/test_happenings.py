"""What happens in a source: found ahead on a thread of its own, listed, drawn, gone to, and written as a scan is."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, Qt

from bgsub.config import Config
from bgsub.gui.engine.happenings.ahead import BINS, Ahead, Happenings, Task
from bgsub.gui.engine.happenings.export import Export
from bgsub.gui.engine.opening import open_for_viewer
from bgsub.gui.lookout import Lookout
from bgsub.gui.messages import Level
from bgsub.gui.window.main_window import MainWindow, PanelId
from bgsub.roi import Region
from bgsub.scanning import ScanSettings, scan
from tests.gui.conftest import CLIP, EASY
from tests.gui.driving import frames, opener

NORMA = Config("norma", {"warmup": 10, "threads": 1})
LEFT_HALF = Region(include=(((0.0, 0.0), (180.0, 0.0), (180.0, 240.0), (0.0, 240.0)),))


def passing(count: int = 150) -> list:
    """A square that passes once, from frame 50 to 100."""
    items = frames(count, (96, 128))
    for index in range(50, 100):
        left = (index - 50) * 2
        items[index][30:60, left : left + 24] = 220
    return items


def look(task: Task, open_it=open_for_viewer) -> Happenings:
    """Look through a source to its end."""
    found: list[Happenings] = []
    ended = threading.Event()

    def put(one: Happenings) -> None:
        found.append(one)
        if one.is_complete or one.failure:
            ended.set()

    ahead = Ahead(task, open_it, put)
    assert ended.wait(60)
    ahead.close()
    return found[-1]


@pytest.fixture(scope="module")
def passed() -> Happenings:
    return look(Task("any", NORMA), opener(passing()))


def test_an_event_is_found_where_it_is_and_the_rest_is_quiet(passed):
    assert passed.is_complete
    assert passed.length_s == pytest.approx(6.0)
    assert len(passed.events) == 1
    event = passed.events[0]
    assert event.start.time_s == pytest.approx(2.0, abs=0.2)
    assert event.end.time_s == pytest.approx(99 / 25, abs=0.2)
    assert passed.event_at(3.0) == 0
    assert passed.event_at(1.0) is None
    activity = passed.activity
    assert activity.shape == (BINS,)
    assert not np.isnan(activity).any()
    assert activity[int(3.0 / 6 * BINS)] > 0.03
    assert activity[int(1.0 / 6 * BINS)] < 0.005


def test_a_region_leaves_out_what_happens_elsewhere():
    above = Region(include=(((0.0, 0.0), (128.0, 0.0), (128.0, 20.0), (0.0, 20.0)),))
    assert look(Task("any", NORMA, above), opener(passing())).events == ()


def test_a_source_that_cannot_be_opened_is_reported():
    found = look(Task("missing"), opener(passing()))
    assert "no such file" in found.failure
    assert not found.is_complete


def test_a_search_ends_at_once_when_it_is_told_to(no_leaked_threads):
    ahead = Ahead(Task("synthetic:walkers?frames=100000"), open_for_viewer, lambda _: None)
    ahead.close()
    assert not ahead.is_alive


@pytest.mark.slow
def test_the_export_is_what_a_scan_with_these_settings_writes(tmp_path):
    region = tmp_path / "region.json"
    LEFT_HALF.save(region)
    found = look(Task(CLIP, NORMA, LEFT_HALF))
    assert found.events
    failures: list[str] = []
    Export(found, tmp_path / "mine", failures.append).close()
    assert failures == [""]
    settings = ScanSettings(
        Config("norma", dict(NORMA.parameters), roi=str(region)),
        largest_px=found.settings.largest_px,
        rate_hz=found.settings.rate_hz,
    )
    scan([CLIP], tmp_path / "scan", settings)
    assert lines(tmp_path / "mine") == lines(tmp_path / "scan")
    names = {path.name for path in (tmp_path / "mine").iterdir()}
    assert names == {path.name for path in (tmp_path / "scan").iterdir() if path.name != ".scan"} | {"region.json"}


def lines(folder: Path) -> list:
    """The events in a folder, without the digest of the settings, which name the file of the region."""
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    return [{name: value for name, value in event.items() if name != "settings"} for event in events]


def test_a_folder_with_a_scan_is_not_overwritten(passed, tmp_path):
    (tmp_path / "events.jsonl").write_text("{}\n")
    failures: list[str] = []
    Export(passed, tmp_path, failures.append).close()
    assert "holds a scan already" in failures[0]
    assert (tmp_path / "events.jsonl").read_text() == "{}\n"


# In the window


@pytest.fixture
def lively(make_session, theme, kept, qtbot):
    kept.setValue("events/ahead", "true")
    session = make_session(opener=opener(passing()))
    session.change(config=NORMA)
    window = MainWindow(session, theme, kept)
    window.show()
    yield window
    window.end()
    window.deleteLater()


def complete(window: MainWindow) -> bool:
    found = window.lookout.happenings
    return found is not None and found.is_complete


def test_the_list_shows_the_event_and_a_click_goes_there(lively, qtbot):
    lively.open("any")
    qtbot.waitUntil(lambda: complete(lively), timeout=20_000)
    panel, session = lively.events, lively.session
    lively.show_panel(PanelId.EVENTS)
    assert panel.list.topLevelItemCount() == 1
    assert not panel.list.topLevelItem(0).icon(0).isNull()
    assert "data:image/jpeg" in panel.list.topLevelItem(0).toolTip(1)
    assert "1 event in 0:06.0" in panel.state.text()
    qtbot.waitUntil(lambda: not session.view.playing, timeout=10_000)
    row = panel.list.topLevelItem(0)
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=panel.list.visualItemRect(row).center())
    start = round(lively.lookout.happenings.events[0].start.time_s * 25)
    qtbot.waitUntil(lambda: session.view.position == start)
    qtbot.waitUntil(lambda: row.font(0).bold())
    assert lively.grid.views[0].event_text.startswith("event 1 of 1, 1 object")
    panel.marks.setChecked(False)
    assert lively.grid.views[0].event_text == ""
    panel.marks.setChecked(True)
    assert lively.grid.views[0].event_text != ""
    session.seek(20)
    qtbot.waitUntil(lambda: session.view.position == 20 and not row.font(0).bold())
    assert lively.grid.views[0].event_text == ""
    panel.forward.click()
    qtbot.waitUntil(lambda: session.view.position == start)


def test_the_activity_is_drawn_behind_the_slider(lively, qtbot):
    slider = lively.transport.slider

    def colours() -> set[str]:
        image = slider.grab().toImage()
        y = slider.height() - 3
        return {image.pixelColor(QPoint(x, y)).name() for x in range(slider.width())}

    event_colour = lively._theme.colours.curve_b
    assert event_colour not in colours()
    lively.open("any")
    qtbot.waitUntil(lambda: complete(lively), timeout=20_000)
    assert event_colour in colours()


def test_other_settings_are_looked_through_again(lively, qtbot):
    lively.open("any")
    qtbot.waitUntil(lambda: complete(lively), timeout=20_000)
    first = lively.lookout.happenings
    lively.session.set_region(Region(include=(((0.0, 0.0), (128.0, 0.0), (128.0, 20.0), (0.0, 20.0)),)))
    qtbot.waitUntil(lambda: complete(lively) and lively.lookout.happenings is not first, timeout=20_000)
    assert lively.lookout.happenings.events == ()
    lively.events.enabled.setChecked(False)
    assert lively.lookout.happenings is None
    assert "not looked for" in lively.events.state.text()


def test_the_export_button_writes_in_the_background(lively, qtbot, tmp_path, monkeypatch):
    from bgsub.gui.panels.timeline import events

    monkeypatch.setattr(events, "ask_folder", lambda *_: tmp_path / "out")
    lively.open(EASY)
    assert not lively.events.export.isEnabled()
    qtbot.waitUntil(lambda: complete(lively), timeout=20_000)
    assert lively.events.export.isEnabled()
    lively.events.export.click()
    qtbot.waitUntil(lambda: any(notice.text for notice in lively.session.notices), timeout=20_000)
    notice = lively.session.notices[-1]
    assert notice.level is Level.ERROR or (tmp_path / "out" / "report.html").exists()


def test_a_live_source_is_not_looked_through(make_session, qtbot):
    session = make_session(opener=opener(passing(), live=True))
    lookout = Lookout(session)
    session.open("any")
    qtbot.waitUntil(lambda: session.view.processed >= 1)
    assert lookout.happenings is None
    lookout.go_on(1)
    assert "No event is known yet" in session.notices.text
    lookout.close()
