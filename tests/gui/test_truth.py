"""Labels: painted and saved, compared frame by frame, and the settings that they suggest."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QPoint, QPointF, Qt

from bgsub.config import Config
from bgsub.evaluation import Counts, GroundTruth
from bgsub.gui import panes
from bgsub.gui.engine.history import FRAME_COLUMNS
from bgsub.gui.engine.tuning.candidates import differences, neighbours, with_change
from bgsub.gui.engine.tuning.suggest import Problem, Suggester, Suggestion, _spans, agreement
from bgsub.gui.messages import Settings
from bgsub.gui.painted_truth import BACKGROUND_LABEL, FOREGROUND_LABEL, UNKNOWN_LABEL, PaintedTruth
from bgsub.gui.panels.truth import panel as truth_panel
from bgsub.gui.panels.truth.brush import stroke
from bgsub.gui.panels.truth.worst import worst_rows
from bgsub.gui.window.main_window import MainWindow, PanelId
from bgsub.gui.window.saved_tabs import SavedTabs, session_text
from bgsub.gui.workspace import Workspace
from tests.gui.conftest import FAST
from tests.gui.driving import Driver, frames, opener

SIZE = (48, 64)


def faint(count: int = 60) -> list:
    """Noise in ordinary light; from frame 40 on a square that is a little brighter than what is behind it."""
    items = frames(count, SIZE, value=140)
    for item in items:
        item[:4] = 0  # else it would be fog
    for index in range(40, count):
        items[index][10:30, 10:30] = np.clip(items[index][10:30, 10:30].astype(int) + 28, 0, 255)
    return items


def labelled(*numbers: int) -> PaintedTruth:
    """A square of foreground in some frames, and background far from it."""
    labels = np.full(SIZE, UNKNOWN_LABEL, np.uint8)
    labels[12:28, 12:28] = FOREGROUND_LABEL
    labels[:, 40:] = BACKGROUND_LABEL
    truth = PaintedTruth()
    for number in numbers:
        truth = truth.with_frame(number, labels)
    return truth


# Painting


def test_a_stroke_covers_what_the_brush_went_over():
    thin = stroke([(3.5, 2.5)], 1, (6, 8))
    assert np.argwhere(thin).tolist() == [[2, 3]]
    wide = stroke([(10.5, 20.5), (30.5, 20.5)], 7, (40, 48))
    assert wide[20, 10:31].all()
    assert wide[17:24, 20].all()
    assert not wide[15, 20]
    assert not wide[26, 20]
    assert not stroke([(-50.0, -50.0)], 5, (6, 8)).any()


def test_each_change_makes_another_truth():
    first = PaintedTruth()
    second = first.painted(4, (2, 3), np.array([[True, False, False], [False, False, False]]), FOREGROUND_LABEL)
    assert first.numbers == []
    assert second.numbers == [4]
    third = second.painted(4, (2, 3), second.labels(4, (2, 3)) == UNKNOWN_LABEL, BACKGROUND_LABEL)
    assert third.read(4, (2, 3))[0].tolist() == [[255, 0, 0], [0, 0, 0]]
    assert second.read(4, (2, 3))[0].tolist() == [[255, 85, 85], [85, 85, 85]]
    assert third.with_frame(4, None).numbers == []
    assert third.read(5, (2, 3)) is None
    assert third.read(4, (9, 9)) is None


def test_saved_labels_are_read_as_those_of_changedetection_net(tmp_path):
    truth = labelled(7, 12)
    saved = truth.save(tmp_path / "mine")
    assert saved.is_saved
    assert not truth.is_saved
    found = GroundTruth(tmp_path / "mine")
    assert found.numbers == [7, 12]
    np.testing.assert_array_equal(found.read(12, SIZE)[0], truth.frames[12])
    above = PaintedTruth(found).painted(7, SIZE, np.ones(SIZE, bool), BACKGROUND_LABEL)
    assert above.numbers == [7, 12]
    assert not above.read(7, SIZE)[0].any()
    np.testing.assert_array_equal(above.read(12, SIZE)[0], truth.frames[12])


def test_a_session_file_names_labels_only_where_they_are_saved(tmp_path):
    truth = labelled(7)
    assert "truth" not in session_text(SavedTabs((Workspace("a", 0, Settings(truth=truth)),)))
    saved = truth.save(tmp_path)
    assert str(tmp_path) in session_text(SavedTabs((Workspace("a", 0, Settings(truth=saved)),)))


# Comparing


@pytest.fixture
def drive(no_leaked_threads):
    made = []

    def make(**changed) -> Driver:
        driver = Driver(opener(faint()), replace(FAST, **changed))
        made.append(driver)
        driver.engine.open("any")
        driver.settle()
        return driver

    yield make
    for driver in made:
        driver.engine.close()


def test_every_frame_with_labels_has_its_own_scores(drive):
    driver = drive(truth=labelled(45, 50))
    rows = driver.engine.history.rows()
    columns = {name: rows[:, FRAME_COLUMNS.index(name)] for name in ("number", "f_frame", "wrong", "wrong_b")}
    assert columns["number"][np.isfinite(columns["wrong"])].tolist() == [45, 50]
    assert np.isnan(columns["wrong_b"]).all()
    assert driver.view.runs[0].scored == 2
    assert driver.view.runs[0].frame_counts is None


def test_labels_painted_on_a_held_frame_count_at_once(drive):
    driver = drive()
    driver.engine.apply(replace(FAST, truth=labelled(60)))
    driver.settle()
    run = driver.view.runs[0]
    assert run.scored == 1
    assert run.frame_counts == run.counts
    assert run.counts.tp + run.counts.fn == 16 * 16
    mask = driver.view.result.mask
    assert run.counts.tp == int((mask[12:28, 12:28] != 0).sum())
    assert driver.view.labels is not None


def test_the_worst_frames_come_first_and_once():
    rows = np.full((5, len(FRAME_COLUMNS)), np.nan)
    number, wrong = FRAME_COLUMNS.index("number"), FRAME_COLUMNS.index("wrong")
    rows[:, number] = [1, 2, 3, 2, 4]
    rows[:, wrong] = [0.1, 0.9, np.nan, 0.3, 0.2]
    worst = worst_rows(rows)
    assert worst[:, number].tolist() == [2, 4, 1]
    assert worst[:, wrong].tolist() == [0.3, 0.2, 0.1]
    assert len(worst_rows(rows, 1)) == 1


# Suggesting


def suggest(problem: Problem, items: list) -> Suggestion:
    found: list[Suggestion] = []
    ended = threading.Event()

    def put(one: Suggestion) -> None:
        found.append(one)
        if one.is_complete or one.failure:
            ended.set()

    suggester = Suggester(problem, opener(items), put)
    assert ended.wait(120)
    suggester.close()
    return found[-1]


def test_agreement_weighs_both_kinds_of_labels_alike():
    assert agreement(Counts(tp=1, fn=1, tn=1000)) == 0.75
    assert agreement(Counts(tp=3, fn=1)) == 0.75
    assert agreement(Counts()) == 0.0


def test_neighbours_are_allowed_and_leave_the_rest_alone():
    for name in ("adaptive", "norma", "olk", "mog2", "knn"):
        config = Config(name)
        changes = neighbours(config)
        assert len(changes) > 4
        for change in changes:
            other = with_change(config, change)
            assert [found[0] for found in differences(config, other)] == [change[0]]
    assert ("smoothing", 15) not in neighbours(Config("adaptive"))
    sides = [value for name, value in neighbours(Config("adaptive")) if name == "smoothing"]
    assert sides
    assert all(side % 2 for side in sides)


@pytest.mark.parametrize(
    ("numbers", "near", "expected"),
    [
        ([10, 20], 1, [(1, 20)]),
        ([200, 210], 1, [(50, 210)]),
        ([200, 900], 880, [(50, 200), (750, 900)]),
        ([100, 5000, 9000], 5100, [(1, 100), (4850, 5000), (8850, 9000)]),
        (list(range(1, 3000)), 1000, [(201, 1000)]),
        (list(range(1, 3000)), 5, [(1, 800)]),
    ],
)
def test_settings_are_tried_near_the_frame_shown(numbers, near, expected):
    assert _spans(numbers, near) == expected


@pytest.mark.slow
def test_settings_that_agree_better_are_suggested():
    blunt = Config("adaptive", {"width": 150.0, "threads": 1})
    problem = Problem("any", blunt, labelled(45, 50), None, 50)
    found = suggest(problem, faint())
    assert found.failure == ""
    assert found.frames == 2
    assert agreement(found.before) < 0.6
    assert agreement(found.after) > 0.9
    assert found.changes
    straight = suggest(Problem("any", found.config, problem.truth, None, 50), faint())
    assert straight.before == found.after


def test_a_source_that_cannot_be_opened_is_reported():
    found = suggest(Problem("missing", FAST.config, labelled(5)), faint())
    assert "no such file" in found.failure


def test_a_search_ends_when_it_is_told_to(no_leaked_threads):
    suggester = Suggester(Problem("any", FAST.config, labelled(45)), opener(faint()), lambda _: None)
    suggester.close()


# In the window


@pytest.fixture
def window(make_session, theme, kept, qtbot):
    session = make_session(opener=opener(faint()))
    made = MainWindow(session, theme, kept)
    made.show()
    made.open("any")
    qtbot.waitUntil(lambda: session.view.processed == 60 and not session.view.playing)
    made.show_panel(PanelId.TRUTH)
    yield made
    made.end()
    made.deleteLater()


def drag(window: MainWindow, qtbot, first: tuple[float, float], last: tuple[float, float]) -> None:
    """Drag the left button from one point x, y of the image to another."""
    view = window.grid.views[0]

    def at(point: tuple[float, float]) -> QPoint:
        return view.to_pane(QPointF(*point)).toPoint()

    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=at(first))
    qtbot.mouseMove(view, at(((first[0] + last[0]) / 2, (first[1] + last[1]) / 2)))
    qtbot.mouseMove(view, at(last))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=at(last))


def test_two_scribbles_are_painted_with_the_mouse(window, qtbot):
    session, panel = window.session, window.truth
    panel.modes[0].click()
    assert panel.is_painting
    drag(window, qtbot, (14.5, 20.5), (26.5, 20.5))
    labels = session.settings.truth.labels(60, SIZE)
    assert labels[20, 20] == FOREGROUND_LABEL
    assert labels[40, 40] == UNKNOWN_LABEL
    assert session.settings.pinned_pixels == ()
    panel.modes[1].click()
    drag(window, qtbot, (45.5, 40.5), (60.5, 40.5))
    labels = session.settings.truth.labels(60, SIZE)
    assert labels[40, 50] == BACKGROUND_LABEL
    qtbot.waitUntil(lambda: session.view.labels is not None and session.view.runs[0].scored == 1)
    assert "Labels for 1 frame, not saved" in panel.state.text()
    assert session.has_unsaved_tuning
    panel.undo()
    assert session.settings.truth.labels(60, SIZE)[40, 50] == UNKNOWN_LABEL
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not panel.is_painting
    drag(window, qtbot, (45.5, 40.5), (45.5, 40.5))
    assert session.settings.pinned_pixels == ((40, 45),)


def test_a_mask_can_be_the_first_draft_of_labels(window, qtbot, tmp_path: Path, monkeypatch):
    session, panel = window.session, window.truth
    panel.from_mask.click()
    labels = session.settings.truth.labels(60, SIZE)
    np.testing.assert_array_equal(labels == FOREGROUND_LABEL, session.view.result.mask != 0)
    qtbot.waitUntil(lambda: session.view.runs[0].scored == 1)
    monkeypatch.setattr(truth_panel, "ask_folder", lambda *_: tmp_path / "out")
    assert panel.ask_and_save()
    assert not session.has_unsaved_tuning
    np.testing.assert_array_equal(GroundTruth(tmp_path / "out").read(60, SIZE)[0], labels)
    panel.forget.click()
    assert session.settings.truth.numbers == []
    panel.modes[0].click()
    drag(window, qtbot, (5.5, 5.5), (8.5, 5.5))
    panel.rest.click()
    assert set(np.unique(session.settings.truth.labels(60, SIZE))) == {FOREGROUND_LABEL, BACKGROUND_LABEL}


def test_a_change_of_settings_paints_no_labels_while_the_brush_is_away(window, qtbot):
    painted = []
    window.truth.redrawn.connect(lambda: painted.append(1))
    window.session.change(frozen=True)
    assert not painted
    window.truth.modes[0].setChecked(True)
    painted.clear()
    window.session.change(frozen=False)
    assert painted


def test_the_brush_and_the_region_are_not_out_together(window):
    window.truth.modes[0].click()
    window.drawing.toggle_region()
    assert window.roi.is_editing
    assert not window.truth.is_painting
    window.truth.modes[1].click()
    assert window.truth.is_painting
    assert not window.roi.is_editing


def test_the_worst_frame_is_shown_by_a_click(window, qtbot):
    session, panel = window.session, window.truth
    session.change(truth=labelled(45, 50))
    session.rerun(1.0)
    qtbot.waitUntil(lambda: session.view.runs[0].scored == 2)
    panel.draw()
    assert panel.worst.topLevelItemCount() == 2
    panel.worst.itemClicked.emit(panel.worst.topLevelItem(0), 0)
    number = int(panel.worst.topLevelItem(0).text(0))
    qtbot.waitUntil(lambda: session.view.position == number - 1)


def test_frames_judged_by_other_labels_are_no_longer_among_the_worst(window, qtbot, tmp_path):
    session, panel = window.session, window.truth
    labelled(45, 50).save(tmp_path)

    def listed() -> int:
        panel.draw()
        return panel.worst.topLevelItemCount()

    session.change(truth=GroundTruth(tmp_path))
    session.rerun(1.0)
    qtbot.waitUntil(lambda: session.view.runs[0].scored == 2)
    assert listed() == 2
    assert "F is" in panel.state.text()
    assert "2 scored frames." in panel.state.text()
    session.change(truth=PaintedTruth(session.settings.truth).with_frame(45, labelled(45).labels(45, SIZE)))
    assert listed() == 2  # a stroke above them leaves the other frames as they were judged
    session.change(truth=None)
    assert listed() == 0
    session.change(truth=labelled(45, 50, 55))
    assert listed() == 0
    session.rerun(1.0)
    qtbot.waitUntil(lambda: session.view.runs[0].scored == 3)
    assert listed() == 3
    session.change(truth=labelled(50))
    assert listed() == 1


@pytest.mark.slow
def test_a_suggestion_is_used_or_compared(window, qtbot):
    session, box = window.session, window.truth.suggestions
    blunt = Config("adaptive", {"width": 150.0, "threads": 1})
    box.start.click()
    assert "need a file with labels" in session.notices.text
    session.change(config=blunt, truth=labelled(45, 50))
    box.start.click()
    assert box.start.text() == "Stop"
    qtbot.waitUntil(lambda: box.suggestion is not None and box.suggestion.is_complete, timeout=120_000)
    assert "Before: finds" in box.text.text()
    assert "After: finds" in box.text.text()
    box.compare.click()
    assert session.settings.other == blunt
    assert session.settings.config == box.suggestion.config
    assert not box.use.isEnabled()
    assert session.has_unsaved_tuning
    assert panes.MASK_B.needs_comparison
