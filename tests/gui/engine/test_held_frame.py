"""A frame that is held goes on to answer, whatever was tried on it before."""

from dataclasses import replace

import numpy as np

from bgsub.config import Config
from bgsub.detectors import create
from bgsub.frames import Packet, Result, Timings
from bgsub.gui.engine.pane_images import LatestFrame, PaneImages
from bgsub.gui.engine.processing import detector_run
from bgsub.gui.messages import Settings
from bgsub.gui.panes import MASK, SCORE
from tests.gui.conftest import FAST
from tests.gui.driving import Driver, frames, opener

ADAPTIVE = Config("adaptive", {"threads": 1})


def hold(settings: Settings) -> Driver:
    """Return an engine that holds a frame, with nothing left to do."""
    driver = Driver(opener(frames(60)), settings)
    driver.engine.open("any")
    driver.until(lambda: driver.engine.progress.processed == 30)
    driver.engine.pause()
    driver.settle()
    return driver


def test_a_score_is_shown_after_a_knob_and_other_detectors_were_tried(no_leaked_threads):
    settings = replace(FAST, config=ADAPTIVE)
    driver = hold(settings)
    position = driver.view.position
    for config in (replace(ADAPTIVE, parameters={"threads": 1, "threshold": 0.3}), FAST.config, ADAPTIVE):
        driver.engine.apply(replace(settings, config=config))
        driver.settle()
        times = [played.packet.time_s for played in driver.engine.work.recent.until(1e9)]
        assert times == sorted(set(times))
    driver.engine.apply(replace(settings, panes=(SCORE, MASK)))
    driver.settle()
    assert driver.view.position == position
    assert SCORE in driver.view.images
    driver.engine.close()


def test_a_change_of_a_held_frame_finds_its_copy_of_the_model_ready(no_leaked_threads, monkeypatch):
    settings = replace(FAST, config=ADAPTIVE)
    knobs = [replace(settings, config=replace(ADAPTIVE, parameters={"threads": 1, "threshold": t})) for t in (0.9, 0.3)]
    driver, masks = hold(settings), []
    for changed in (*knobs, *knobs):
        with monkeypatch.context() as patched:
            patched.setattr(detector_run, "copy", None)  # an error, if a model is copied while the user waits
            driver.engine.apply(changed)
        driver.settle()
        masks.append(driver.view.result.mask)
    np.testing.assert_array_equal(masks[0], masks[2])
    np.testing.assert_array_equal(masks[1], masks[3])
    assert masks[0].sum() > masks[1].sum()
    held = driver.engine.work._held.runs
    assert driver.engine.runs.are_copied(held)
    driver.engine.step(1)
    driver.until(lambda: driver.engine.work.progress.processed == 32)
    assert not driver.engine.runs.are_copied(held)
    driver.engine.close()


def test_no_image_of_a_result_that_is_gone_is_shown_for_another():
    images = PaneImages()
    for index in range(50):  # of objects that are freed at once, the next one gets the address
        mask = np.full((4, 6), 255 * (index % 2), np.uint8)
        packet = Packet(index, float(index), np.zeros((4, 6, 3), np.uint8), index + 1)
        result = Result(packet, mask, None, Timings(0.0, 0.0, 0.0))
        latest = LatestFrame([result], [create("mog2")], None)
        images.draw(FAST, latest, hurried=False, now_s=0.0)
        assert images.images[MASK].max() == mask.max()
        del result, latest, mask
