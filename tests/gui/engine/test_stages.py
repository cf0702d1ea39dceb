"""The stages of a mask in the viewer: their panes, the sentence of the inspector, and what they cost when unused."""

from dataclasses import replace

import numpy as np
import pytest

from bgsub.config import Config
from bgsub.detectors import DETECTORS, create, detector_class
from bgsub.frames import Packet
from bgsub.gui import panes
from bgsub.gui.engine.notices import Notices
from bgsub.gui.engine.processing.captions import describe_models
from bgsub.gui.engine.processing.detector_runs import DetectorRuns
from bgsub.gui.messages import PinnedPixelView, Settings
from bgsub.gui.panels.inspector import explain
from bgsub.gui.panes import stages_of
from bgsub.gui.window.main_window import MainWindow
from bgsub.stages import RAW, Stage, StageTrace
from tests.gui.conftest import EASY, FAST
from tests.gui.driving import Driver, frames, opener

ADAPTIVE = Config("adaptive", {"threads": 1})


@pytest.fixture
def drive(no_leaked_threads):
    made = []

    def make(items: list, **changed) -> Driver:
        driver = Driver(opener(items), replace(FAST, config=ADAPTIVE, **changed))
        made.append(driver)
        driver.engine.open("any")
        driver.settle()
        return driver

    yield make
    for driver in made:
        driver.engine.close()


def spotted(count: int = 40) -> list:
    """Noise; in the last frame a square, and a pixel of its own."""
    items = frames(count, (64, 80))
    items[-1][20:44, 20:44] = 230
    items[-1][28:34, 28:34] = items[-2][28:34, 28:34]
    items[-1][5, 60] = 255
    return items


def test_nothing_is_followed_unless_it_is_shown(drive):
    driver = drive(spotted())
    assert driver.view.result.stages is None
    assert driver.view.runs[0].effects == ()


def test_a_pane_of_stages_that_is_opened_on_a_held_frame_shows_it_at_once(drive):
    driver = drive(spotted())
    mask = driver.view.result.mask.copy()
    raw = panes.stage_panes(detector_class("adaptive"), panes.Side.A)[0]
    driver.engine.apply(replace(FAST, config=ADAPTIVE, panes=(raw, panes.STEPS, panes.MASK)))
    driver.settle()
    np.testing.assert_array_equal(driver.view.result.mask, mask)
    assert driver.view.images[raw][5, 60] == 255
    assert driver.view.images[panes.MASK][5, 60] == 0
    steps = driver.view.images[panes.STEPS]
    colours = {effect.text: effect.colour for effect in driver.view.runs[0].effects}
    assert tuple(steps[5, 60].tolist()) == colours["removed: majority"]
    assert tuple(steps[31, 31].tolist()) == colours["added: holes filled"]
    assert tuple(steps[24, 24].tolist()) == colours["found and kept"]
    assert len(set(colours.values())) == len(colours)


def test_the_inspector_names_the_step_that_removed_or_added_a_pixel(drive):
    driver = drive(spotted())
    driver.engine.apply(replace(FAST, config=ADAPTIVE, pinned_pixels=((5, 60), (31, 31), (24, 24), (50, 70))))
    driver.settle()
    removed, added, kept, background = (explain(view) for view in driver.view.pinned_pixels)
    assert removed.startswith("Found, but removed: too few pixels around it are foreground [majority] (g(x) = ")
    assert added.startswith("Not found, but added: foreground encloses it [holes filled] (")
    assert kept.startswith("Foreground: ")
    assert background.startswith("Background: the model knows this colour here (")


def test_a_pixel_outside_the_region_says_so(drive):
    from bgsub.roi import Region

    region = Region(include=(((0, 0), (40, 0), (40, 64), (0, 64)),))
    driver = drive(spotted(), region=region, pinned_pixels=((30, 42),))
    never = "Background: nothing is learned here; it lies outside the region."
    assert explain(driver.view.pinned_pixels[0]) == never
    driver = drive(spotted(), pinned_pixels=((30, 42),))
    driver.engine.apply(replace(FAST, region=region, config=ADAPTIVE, pinned_pixels=((30, 42),)))  # learned before
    driver.settle()
    found = "Found, but removed: it lies outside the region (g(x) = 0 is below threshold = 0.18)."
    assert explain(driver.view.pinned_pixels[0]) == found


@pytest.mark.parametrize("detector", list(DETECTORS))
def test_there_is_a_sentence_for_every_step_of_every_detector(detector):
    def sentence(*steps) -> str:
        found = steps[-1][1]
        view = PinnedPixelView(1, 2, detector_state(), "", foreground=found, before_learning=True, steps=steps)
        return explain(view)

    stages = [stage for stage in stages_of(detector_class(detector)) if stage != RAW]
    assert len(stages) >= 5
    for stage in stages:
        assert stage.removes or stage.adds, stage
        if stage.removes:
            text = sentence((RAW, True), (stage, False))
            assert text.startswith(f"Found, but removed: {stage.removes} [{stage.label.lower()}] (")
        if stage.adds:
            assert sentence((stage, True)).startswith(f"Not found, but added: {stage.adds} [{stage.label.lower()}] (")


def test_two_steps_are_told_in_their_order():
    odd = Stage("odd", "Odd", removes="it is odd")
    even = Stage("even", "Even", adds="it is even")
    state = detector_state()
    view = PinnedPixelView(
        1, 2, state, "", foreground=True, before_learning=True, steps=((RAW, True), (odd, False), (even, True))
    )
    assert explain(view).startswith("Found, but removed: it is odd [odd]; then added: it is even [even] (")


def detector_state():
    from bgsub import create

    detector = create("norma", threads=1)
    frame = np.full((4, 4, 3), 90, np.uint8)
    detector.apply(frame)
    return detector.inspect(frame, 1, 2)


def test_stages_of_earlier_frames_are_not_kept_and_the_pane_says_so(drive):
    driver = drive(spotted(), panes=(panes.STEPS,))
    driver.engine.step(-3)
    driver.settle()
    assert driver.view.looking_back
    assert driver.view.images == {}


def test_the_mask_shows_shadows_in_grey_where_they_are_looked_for():
    trace = StageTrace()
    whole = np.full((4, 6), 255, np.uint8)
    lit = whole.copy()
    lit[:, :3] = 0
    from bgsub.frames import Packet, Result
    from bgsub.stages import SHADOWS

    trace.keep(RAW, whole)
    trace.keep(SHADOWS, lit)
    result = Result(Packet(0, 0.0, whole, 1), lit, stages=trace)
    detector = create("mog2")
    image = panes.MASK.draw(panes.Processed(result, detector, None, None, "contour"))
    assert image[:, :3].tolist() == [[127] * 3] * 4
    assert (image[:, 3:] == 255).all()
    detector.roi = np.repeat(np.array([0, 255], np.uint8), 2)[:, np.newaxis] * np.ones(6, np.uint8)
    image = panes.MASK.draw(panes.Processed(result, detector, None, None, "contour"))
    assert image[:, 0].tolist() == [0, 0, 127, 127]


def test_boxes_offer_the_stages_of_the_detectors_at_work(window: MainWindow, qtbot):
    session = window.session
    box = window.grid.boxes[0]

    def offered() -> set[str]:
        return {box.itemData(index) for index in range(box.count())}

    assert "stage-majority" not in offered()
    session.change(config=ADAPTIVE)
    assert {"stage-raw", "stage-majority", "stage-ghosts", "stage-shadows"} <= offered()
    assert "stage-raw-b" not in offered()
    session.change(other=Config("mog2"))
    assert {"stage-raw-b", "stage-shadows-b"} <= offered()
    assert "stage-majority-b" not in offered()


def test_a_stage_that_a_detector_does_not_have_is_explained(window: MainWindow, qtbot):
    session = window.session
    session.change(config=ADAPTIVE)
    majority = panes.find_pane("stage-majority")
    window.grid.choose((majority, panes.MASK))
    window.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    assert majority in session.view.images
    session.change(config=FAST.config)
    qtbot.waitUntil(lambda: session.view.runs[0].name == "norma" and majority not in session.view.images)
    assert window.grid.panes[0] == majority
    assert "do not go through this stage" in window.grid.views[0].hint


def test_the_status_bar_names_the_step_under_the_mouse(window: MainWindow, qtbot):
    session = window.session
    session.change(config=ADAPTIVE)
    window.grid.choose((panes.STEPS, panes.MASK))
    window.open(EASY)
    qtbot.waitUntil(lambda: session.view.processed == 40 and not session.view.playing)
    result = session.view.result
    raw = result.stages.find("raw")
    assert raw is not None
    row, column = (int(value) for value in np.argwhere(raw != result.mask)[0])
    window.status.hover(row, column)
    assert window.status.pixel.text().count("removed: ") + window.status.pixel.text().count("added: ") == 1


def test_a_place_that_flickers_is_called_so(drive):
    noise = np.random.default_rng(1)
    items = frames(160, (64, 80))
    for frame in items:
        leaves = noise.random((64, 30, 1)) < 0.12  # here and there, as leaves let the sky through
        frame[:, 50:] = np.clip(frame[:, 50:].astype(int) + 60 * leaves, 0, 255)
        frame[:4] = 0  # else it would be fog
    pixels = ((30, 60), (30, 70), (20, 65), (40, 60), (30, 10))
    driver = drive(items, pinned_pixels=pixels)
    *restless, still = (explain(view) for view in driver.view.pinned_pixels)
    assert any(text.endswith("its colours are learned in a wider range than elsewhere.") for text in restless)
    assert "flickered" not in still


def test_a_model_that_has_just_begun_says_so():
    runs = DetectorRuns(Settings(config=Config("adaptive", {"threads": 1})), Notices(lambda _: None))
    frame = np.zeros((8, 8, 3), np.uint8)
    said = []
    for index in range(30):
        runs.step(Packet(index, index / 25, frame, index + 1), Settings(config=runs.main.config), {}, score=False)
        said.append(describe_models(runs, Settings()))
    assert said[0] == ["adaptive has just begun: what stands still counts as background"]
    assert [bool(words) for words in said] == [True] * 24 + [False] * 6
