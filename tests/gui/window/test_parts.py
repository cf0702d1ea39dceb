"""The small parts without widgets: mailbox, history, drafts of regions, streams, races, heat maps."""

import threading

import numpy as np
import pytest

from bgsub.config import Config
from bgsub.frames import Packet, Result, Timings
from bgsub.gui import panes
from bgsub.gui.engine.history import History
from bgsub.gui.engine.processing.detector_run import needs_new_model
from bgsub.gui.engine.recorder import Outputs, Recording
from bgsub.gui.learners_page.methods import METHODS, Method
from bgsub.gui.learners_page.race import LearningThread, Race, Setup
from bgsub.gui.learners_page.streams import STREAMS, Kind
from bgsub.gui.mailbox import Mailbox
from bgsub.gui.panels.roi_draft import Draft
from bgsub.gui.panels.timeline.seek_slider import clock
from bgsub.gui.panes import BOTH, ONLY_A, ONLY_B, heat_colours, render_difference, render_heat
from bgsub.gui.widgets.curve_plot import CurvePlot
from bgsub.roi import Region


class TestMailbox:
    def test_the_newest_wins_and_one_wake_up_is_pending(self):
        wakes: list[int] = []
        box: Mailbox[int] = Mailbox(lambda: wakes.append(1))
        for number in range(1000):
            box.put(number)
        assert (box.take(), len(wakes), box.overwritten) == (999, 1, 999)
        assert box.take() is None
        box.put(5)
        assert (box.take(), len(wakes)) == (5, 2)

    def test_no_item_is_lost_or_seen_twice_between_threads(self):
        event = threading.Event()
        box: Mailbox[int] = Mailbox(event.set)
        writer = threading.Thread(target=lambda: [box.put(number) for number in range(20_000)])
        writer.start()
        seen = []
        while not seen or seen[-1] != 19_999:
            assert event.wait(30)
            event.clear()
            if (item := box.take()) is not None:
                seen.append(item)
        writer.join()
        assert seen == sorted(set(seen))
        assert box.overwritten == 20_000 - len(seen)


class TestHistory:
    def test_rows_since_a_mark_survive_that_others_are_dropped(self):
        history = History(("a",), 4)
        for number in range(3):
            history.append(number)
        history.mark()
        assert not history.rows_since_mark().size
        history.append(3)
        assert history.rows_since_mark().ravel().tolist() == [3]
        history.drop_after(1)
        history.append(2)
        assert history.rows_since_mark().ravel().tolist() == [2]
        for number in range(3, 9):
            history.append(number)
        assert history.rows_since_mark().ravel().tolist() == [5, 6, 7, 8]

    def test_it_keeps_the_last_rows_and_a_wanted_number_of_them(self):
        history = History(("a", "b"), 5)
        for number in range(12):
            history.append(number, -number)
        assert history.rows()[:, 0].tolist() == [7, 8, 9, 10, 11]
        assert history.rows(2).tolist() == [[10, -10], [11, -11]]
        assert history.written == 12
        history.clear()
        assert history.rows().shape == (0, 2)


class TestNewModel:
    @pytest.mark.parametrize(
        ("other", "expected"),
        [
            (Config("norma", {"nu": 0.3}), False),
            (Config("norma", learning_rate=0.5), False),
            (Config("norma", {"slots": 3}), True),
            (Config("olk"), True),
        ],
    )
    def test_it_is_needed_where_the_state_has_another_shape(self, other, expected):
        assert needs_new_model(Config("norma"), other) is expected


class TestRendering:
    def test_the_heat_map_changes_colour_at_the_threshold(self):
        score = np.array([[-1e6, -1.0, -0.05, 0.05, 1.0]], np.float32)
        image = render_heat(score)[0].astype(int)
        assert (image[:3, 0] > image[:3, 2]).all()  # blue outweighs red in the background
        assert (image[3:, 0] < image[3:, 2]).all()
        assert image[0].tolist() == heat_colours()[0].tolist()

    def test_the_heat_map_is_grey_outside_the_region(self):
        score, region = np.array([[-1e6, 0.5]], np.float32), np.array([[0, 255]], np.uint8)
        image = render_heat(score, region)[0]
        assert image[0].tolist() == [70, 70, 70]
        assert image[1].tolist() == render_heat(score)[0, 1].tolist() != [70, 70, 70]

    def test_a_difference_shows_who_finds_what(self):
        a, b = np.array([[255, 255, 0, 0]], np.uint8), np.array([[255, 0, 255, 0]], np.uint8)
        assert render_difference(a, b)[0].tolist() == [list(BOTH), list(ONLY_A), list(ONLY_B), [0, 0, 0]]


class TestDraft:
    def triangle(self) -> Draft:
        draft = Draft()
        for point in ((0, 0), (10, 0), (10, 10)):
            draft.add_point(point, exclude=False)
        assert draft.close()
        return draft

    def test_every_change_can_be_undone_and_redone(self):
        draft = self.triangle()
        draft.move_point(0, 0, (1, 1))
        draft.insert_point(0, 0, (5, 5))
        draft.set_exclude(0, True)
        draft.delete_point(0, 1)
        draft.delete_shape(0)
        states = [draft.shapes]
        while draft.can_undo:
            draft.undo()
            states.append(draft.shapes)
        assert states[-1] == ()
        assert len(set(states)) == len(states) - 1  # empty at first and at last
        for state in reversed(states[:-1]):
            draft.redo()
            assert draft.shapes == state
        assert not draft.can_redo

    def test_a_drag_is_one_change(self):
        draft = self.triangle()
        before = draft.shapes
        draft.begin_drag()
        for x in range(20):
            draft.move_point(0, 0, (x, x))
        draft.end_drag()
        draft.undo()
        assert draft.shapes == before

    def test_two_corners_are_no_polygon(self):
        draft = Draft()
        draft.add_point((0, 0), exclude=True)
        draft.add_point((5, 0), exclude=True)
        assert not draft.close()
        assert draft.region() is None
        draft.cancel()
        assert draft.shapes == ()

    def test_a_region_survives_a_round_trip(self):
        region = Region(
            include=(((0.0, 0.0), (9.0, 0.0), (9.0, 9.0)),), exclude=(((1.0, 1.0), (2.0, 1.0), (2.0, 2.0)),)
        )
        draft = Draft()
        draft.load(region)
        assert draft.region() == region

    def test_the_third_last_corner_takes_the_polygon_with_it(self):
        draft = self.triangle()
        draft.delete_point(0, 0)
        assert draft.shapes == ()

    def test_corners_and_edges_are_found_within_reach(self):
        draft = self.triangle()
        assert draft.find_corner((0.5, 0.5), 2) == (0, 0)
        assert draft.find_corner((5, 5), 2) is None
        assert draft.find_edge((5, 0.5), 1) == (0, 0)
        assert draft.find_edge((5, 3), 1) is None


class TestRecording:
    def test_it_needs_an_output(self):
        with pytest.raises(ValueError, match="outputs must name at least one file"):
            Recording(Outputs(), 25.0)


class TestLearning:
    @pytest.mark.slow
    @pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.label)
    def test_every_method_learns_every_stream_better_than_chance(self, stream):
        race = Race(Setup(stream, tuple(METHODS[stream.kind])))
        race.advance(700)
        view = race.view()
        assert [learner.failure for learner in view.learners] == [""] * len(METHODS[stream.kind])
        best = min(float(learner.recent_errors[-1]) for learner in view.learners)
        assert best < {Kind.CLASSES: 0.2, Kind.REGIONS: 0.2, Kind.NOVELTY: 0.1, Kind.REGRESSION: 0.25}[stream.kind]
        for learner in view.learners:
            assert np.isfinite(learner.values).all()
            assert learner.support.shape[1] == len(view.recent[0].x)
            assert (np.diff(learner.errors) >= 0).all()

    def test_a_bank_shows_its_shares_and_a_tracker_its_band(self):
        noisy_sine = next(stream for stream in STREAMS if stream.kind is Kind.REGRESSION)
        race = Race(Setup(noisy_sine, ("bank", "krls-t", "norma")))
        race.advance(200)
        view = race.view()
        bank, tracker, norma = view.learners
        assert bank.share_names == ("\u03c3 0.125", "\u03c3 0.5", "\u03c3 2")
        np.testing.assert_allclose(bank.shares.sum(axis=1), np.ones(len(view.times)))
        assert tracker.deviation.shape == tracker.values.shape
        assert 0.1 < np.median(tracker.deviation) < 1.0  # the noise of the stream is .15
        assert (norma.shares, norma.deviation, norma.resets) == (None, None, None)

    def test_classes_that_switch_make_a_learner_start_again(self):
        pytest.importorskip("river")
        switching = next(stream for stream in STREAMS if stream.label == "Quadrants that switch")
        race = Race(Setup(switching, ("drift",)))
        race.advance(900)
        assert race.view().learners[0].resets == ()
        race.advance(300)
        assert any(1000 < reset < 1200 for reset in race.view().learners[0].resets)

    def test_three_classes_are_regions(self):
        three = next(stream for stream in STREAMS if stream.kind is Kind.REGIONS)
        race = Race(Setup(three, ("norma",)))
        race.advance(300)
        assert set(np.unique(race.view().learners[0].values)) == {0.0, 1.0, 2.0}

    def test_the_same_seed_draws_the_same_samples(self):
        one, other = Race(Setup()), Race(Setup())
        one.advance(50)
        other.advance(50)
        assert [sample.x.tolist() for sample in one.view().recent] == [s.x.tolist() for s in other.view().recent]

    def test_a_method_that_fails_reports_it_and_the_others_continue(self, monkeypatch):
        class Broken:
            def start(self, n_features, classes):
                raise ArithmeticError("too much")

        monkeypatch.setitem(METHODS[Kind.CLASSES], "broken", Method("broken", "Broken", lambda sigma: Broken()))
        race = Race(Setup(methods=("broken", "olk")))
        race.advance(20)
        broken, olk = race.view().learners
        assert broken.failure == "ArithmeticError: too much"
        assert olk.failure == ""
        assert len(olk.support) > 0

    def test_the_thread_restarts_and_ends(self, no_leaked_threads):
        arrived = threading.Event()
        views = []

        def put(view):
            views.append(view)
            arrived.set()

        def wait_for(condition):
            for _ in range(200):
                arrived.clear()
                if any(condition(view) for view in views[-3:]):
                    return
                assert arrived.wait(30)

        thread = LearningThread(put, Setup(methods=("olk",), rate_hz=2000))
        try:
            wait_for(lambda view: view.t > 50)
            other = Setup(STREAMS[-1], ("olk",), rate_hz=100)
            thread.start(other)
            wait_for(lambda view: view.setup is other and view.t > 0)
        finally:
            thread.close()


@pytest.mark.parametrize(("time_s", "text"), [(0, "0:00.0"), (59.96, "0:59.9"), (60, "1:00.0"), (7325.25, "2:02:05.2")])
def test_clock(time_s, text):
    assert clock(time_s) == text


def test_errors_are_coloured_by_hit_missed_and_false():
    labels = np.array([[255, 255, 0, 50, 170, 85]], np.uint8)
    mask = np.array([[255, 0, 255, 0, 255, 0]], np.uint8)
    image = panes.render_errors(mask, labels)
    assert [tuple(colour) for colour in image[0, :4].tolist()] == [panes.HIT, panes.MISSED, panes.FALSE, (0, 0, 0)]
    assert (image[0, 4] == image[0, 5]).all()


@pytest.mark.parametrize("shape", [(60, 80), (60, 80, 3)])
def test_objects_are_boxed_and_noise_is_not(shape):
    mask = np.zeros((60, 80), np.uint8)
    mask[30:45, 20:50] = 255
    mask[5, 5] = 255
    frame = np.full(shape, 90, np.uint8)
    image = panes.render_objects(frame, mask)
    assert image.shape == (60, 80, 3)
    assert (frame == 90).all()
    changed = (image != 90).any(axis=2)
    assert changed[30, 20:50].all()
    assert changed[44, 20:50].all()
    assert not changed[33:42, 23:47].any()
    assert not changed[3:8, 3:8].any()


def test_areas_of_objects_can_be_read_on_small_images_and_at_their_edges():
    mask = np.zeros((120, 160), np.uint8)
    mask[0:30, 140:160] = 255
    mask[80:110, 4:30] = 255
    image = panes.render_objects(np.full((120, 160, 3), 90, np.uint8), mask)
    letters = (image[..., 2] > 150) & (image[..., 0] < 100)
    assert letters[66:78, 4:50].any(axis=1).sum() >= 8  # rows: smaller digits run together
    corner = letters[3:22, 110:139]
    assert corner.any()  # below the upper edge, and moved to the left of the object
    assert not corner[:, 0].any()


def test_outlines_of_large_images_are_thicker():
    for height in (240, 2160):
        mask = np.zeros((height, height), np.uint8)
        mask[height // 4 : height // 2, height // 4 : height // 2] = 255
        packet = Packet(0, 0.0, np.zeros((height, height, 3), np.uint8), 1)
        result = Result(packet, mask, None, Timings(0, 0, 0))
        image = panes.OVERLAY.draw(panes.Processed(result, None, None, None, "contour"))
        row = image[3 * height // 8, : 3 * height // 8].any(axis=1)
        assert row.sum() == 1 if height == 240 else row.sum() >= 3


def test_the_names_of_curves_stand_above_the_plot_and_wrap(qtbot, theme):
    plot = CurvePlot(theme, "F", ["adaptive", "mog2", "adaptive so far"], ["curve_a", "curve_b", "threshold"])
    qtbot.addWidget(plot)
    plot.resize(150, 200)
    plot.show()
    assert all(name in plot.legend.text() for name in ("adaptive", "mog2", "so far"))
    assert theme.colours.curve_b in plot.legend.text()
    assert plot.legend.height() > 1.5 * plot.legend.fontMetrics().height()
    qtbot.waitUntil(lambda: plot.legend.geometry().bottom() <= plot._plot.geometry().top())
    plot.set_names(["adaptive"], ["curve_a"])
    assert not plot.legend.isVisible()
