"""Events of live sources: those that a watch finds, in the list while they happen, and over when the source is lost."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest

from bgsub.config import Config
from bgsub.events import Event, EventMachine, EventRules, Measure
from bgsub.gui.engine.processing.budget import Budget
from bgsub.gui.events.finder import EventFinder, EventSearch, Found
from bgsub.gui.events.live import LiveEvents
from bgsub.gui.messages import Sampling
from bgsub.gui.window.main_window import MainWindow, PanelId
from bgsub.pipeline import Pipeline
from bgsub.roi import Region
from tests.gui.conftest import FAST
from tests.gui.driving import Driver, Scripted, frames, opener

NORMA = Config("norma", {"warmup": 10, "threads": 1})
RIGHT = Region(include=(((64.0, 0.0), (128.0, 0.0), (128.0, 96.0), (64.0, 96.0)),))
RULES = EventRules.from_sensitivity("normal")


def passing(count: int = 220) -> list:
    """A square that passes once, from frame 50 to 100."""
    items = frames(count, (96, 128))
    for index in range(50, 100):
        left = (index - 50) * 2
        items[index][30:60, left : left + 24] = 220
    return items


def results(items: list) -> list:
    detector = NORMA.make_detector(rate_hz=25.0, threads=1)
    made = Pipeline(detector, warmup=10, want_score=True)
    return [made.step(packet) for packet in Scripted(items)]


@pytest.fixture(scope="module")
def passed() -> list:
    return results(passing())


def refuse(error: Exception, _: object) -> None:
    raise error


def test_events_are_those_of_a_watch(passed):
    measure, machine = Measure({"right": RIGHT}, min_area=RULES.min_area), EventMachine(RULES, ["right"])
    wanted = list(itertools.chain(*(machine.see(measure(result)) for result in passed)))
    live = LiveEvents(refuse)
    live.use(EventSearch(RULES, {"right": RIGHT}))
    for result in passed:
        live.see(result, result.packet.time_s)
    assert wanted
    assert list(live.found.events) == wanted
    assert live.found.events[0].region == "right"


def test_what_goes_on_is_known_before_it_is_over(passed):
    live = LiveEvents(refuse)
    live.use(EventSearch(RULES))
    for result in passed[:90]:
        live.see(result, result.packet.time_s)
    assert live.found.active == ("",)
    assert live.found.events == ()
    live.finish()  # the source is lost
    assert live.found.active == ()
    assert len(live.found.events) == 1
    before = live.found
    live.finish()
    assert live.found is before


def test_each_event_has_a_small_picture_of_its_peak(passed):
    finder = EventFinder(EventSearch(RULES))
    new = []
    for result in passed:
        new += finder.see(finder.measure(result), result)
    (picture,) = finder.take_pictures(new, 8.0).values()
    assert picture[:2] == b"\xff\xd8"
    assert len(picture) < 10_000
    finder.take_pictures([], 100.0)
    assert finder.take_pictures(new, 100.0) == {}  # those before were forgotten


def test_events_and_pictures_are_bounded(passed):
    finder = EventFinder(EventSearch(RULES))
    event = next(one for result in passed for one in finder.see(finder.measure(result), result))
    found = Found()
    for index in range(30):
        new = replace(event, start=event.start._replace(time_s=float(index)))
        found = found.with_more([new], {new: b"picture"}, 20)
    assert [one.start.time_s for one in found.events] == list(range(10, 30))
    assert set(found.pictures) == set(found.events)


def test_other_rules_begin_again_and_keep_what_was_found(passed):
    live = LiveEvents(refuse)
    live.see(passed[0], 0.0)
    assert live.found is None
    live.use(EventSearch(RULES))
    for result in passed:
        live.see(result, result.packet.time_s)
    live.use(EventSearch(EventRules.from_sensitivity("high")))
    assert len(live.found.events) == 1
    live.use(None)
    assert live.found is None


def test_a_region_that_does_not_fit_is_refused_in_words(passed):
    reasons = []
    live = LiveEvents(lambda error, _: reasons.append(str(error)))
    live.use(EventSearch(RULES, {"small": Region(image=np.full((4, 4), 255, np.uint8))}))
    live.see(passed[0], 0.0)
    assert "4x4" in reasons[0]


def test_a_frame_of_another_size_begins_again(passed):
    live = LiveEvents(refuse)
    live.use(EventSearch(RULES))
    live.see(passed[0], 0.0)
    (small,) = results(frames(1, (48, 64)))
    live.see(small, 1.0)
    live.see(passed[1], 0.5)  # time that goes back is left out
    assert live.found.events == ()


class Losing(Scripted):
    """A live source that is lost after its frames, and says so."""

    @property
    def trouble(self) -> str | None:
        return "the camera does not answer" if self.index >= 90 else None

    def read(self):
        while self.index >= 90 and not self.closed:
            time.sleep(0.01)
        return None if self.closed else super().read()

    closed = False

    def interrupt(self) -> None:
        self.closed = True


def test_what_goes_on_when_a_camera_is_lost_is_over(no_leaked_threads):
    settings = replace(FAST, config=NORMA, event_search=EventSearch(RULES))
    driver = Driver(lambda *_, start=None: Losing(passing(), live=False), settings)
    driver.engine.open("any")
    driver.until(lambda: driver.views and driver.view.position == 89)
    assert driver.view.live is None  # a file is looked through ahead
    driver.engine.close()
    driver = Driver(lambda *_, start=None: SlowLosing(passing(), live=True), settings)
    driver.engine.open("any")
    driver.until(lambda: driver.views and driver.view.live is not None and driver.view.live.active)
    driver.until(lambda: driver.view.trouble and driver.view.live.events)
    assert driver.view.live.active == ()
    driver.engine.close()


class SlowLosing(Losing):
    """As fast as it is looked at, so that no frame is dropped."""

    def read(self):
        time.sleep(0.01)
        return super().read()


def test_the_engine_looks_for_events_of_live_sources_alone(no_leaked_threads):
    settings = replace(FAST, config=NORMA, event_search=EventSearch(RULES))
    for live in (False, True):
        driver = Driver(opener(passing(), live=live), settings)
        driver.engine.open("any")
        driver.until(lambda driver=driver: driver.views and driver.view.processed > 0)
        assert (driver.view.live is not None) == live
        driver.engine.close()


@pytest.fixture
def watched(make_session, theme, kept, qtbot):
    kept.setValue("events/ahead", "true")

    class Slow(Scripted):
        """As fast as it is looked at: a live source that loses no frame."""

        def read(self):
            time.sleep(0.004)
            return super().read()

    session = make_session(opener=lambda *_, start=None: Slow(passing(), live=True))
    session.change(config=NORMA, sampling=Sampling())
    window = MainWindow(session, theme, kept)
    window.show()
    yield window
    window.end()
    window.deleteLater()


def test_the_list_grows_while_a_live_source_runs(watched, qtbot):
    watched.open("any")
    watched.show_panel(PanelId.EVENTS)
    panel, session = watched.events, watched.session
    qtbot.waitUntil(lambda: session.settings.event_search is not None)
    qtbot.waitUntil(lambda: panel.list.topLevelItemCount() == 1 and panel.list.topLevelItem(0).text(0) == "now")
    assert "something moves now" in panel.state.text()
    assert panel.list.topLevelItem(0).text(2) == "goes on"
    qtbot.waitUntil(lambda: panel.list.topLevelItemCount() == 1 and panel.list.topLevelItem(0).text(0) == "1")
    row = panel.list.topLevelItem(0)
    assert not row.icon(0).pixmap(panel.list.iconSize()).isNull()
    assert row.text(1).count(":") == 2  # a time of day
    assert "1 event so far." in panel.state.text()
    assert isinstance(watched.lookout.live.events[0], Event)
    panel.sensitivity.setCurrentIndex(panel.sensitivity.findData("high"))
    assert session.settings.event_search.rules == EventRules.from_sensitivity("high")
    panel.enabled.setChecked(False)
    assert session.settings.event_search is None
    qtbot.waitUntil(lambda: "not looked for" in panel.state.text() and panel.list.topLevelItemCount() == 0)
    panel.enabled.setChecked(True)
    assert session.settings.event_search.rules == EventRules.from_sensitivity("high")


def test_a_click_on_a_past_event_holds_its_frame_while_that_is_kept(watched, qtbot):
    watched.open("any")
    watched.show_panel(PanelId.EVENTS)
    panel, session = watched.events, watched.session
    qtbot.waitUntil(lambda: panel.list.topLevelItemCount() == 1 and panel.list.topLevelItem(0).text(0) == "1")
    event = watched.lookout.live.events[0]
    panel.list.itemClicked.emit(panel.list.topLevelItem(0), 0)
    qtbot.waitUntil(lambda: session.view.looking_back)
    assert session.view.time_s == pytest.approx(event.peak.time_s, abs=0.02)
    assert session.view.result.mask.any()
    assert not session.view.playing
    assert "held as it was detected" in session.notices.text
    assert panel.picture is None


def test_a_click_on_a_past_event_shows_its_picture_when_its_frames_are_gone(watched, qtbot):
    watched.open("any")
    panel, session = watched.events, watched.session
    session.use_budget(replace(Budget(), frames=1))
    watched.show_panel(PanelId.EVENTS)
    qtbot.waitUntil(lambda: panel.list.topLevelItemCount() == 1 and panel.list.topLevelItem(0).text(0) == "1")
    panel.list.itemActivated.emit(panel.list.topLevelItem(0), 0)
    qtbot.waitUntil(lambda: panel.picture is not None)
    assert panel.picture.image.pixmap().width() > 500
    assert "no longer kept" in panel.picture.text.text()
    assert panel.picture.windowTitle().count(":") == 2
    assert not session.view.looking_back
    panel.picture.close()
