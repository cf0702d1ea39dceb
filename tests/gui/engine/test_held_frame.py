"""A frame that is held goes on to answer, whatever was tried on it before."""

from dataclasses import replace

import numpy as np

from bgsub.config import Config
from bgsub.detectors import create
from bgsub.frames import Packet, Result, Timings
from bgsub.gui.engine.pane_images import LatestFrame, PaneImages
from bgsub.gui.panes import MASK, SCORE
from tests.gui.conftest import FAST
from tests.gui.driving import Driver, frames, opener

ADAPTIVE = Config("adaptive", {"threads": 1})


def test_a_score_is_shown_after_a_knob_and_other_detectors_were_tried(no_leaked_threads):
    settings = replace(FAST, config=ADAPTIVE)
    driver = Driver(opener(frames(60)), settings)
    driver.engine.open("any")
    driver.until(lambda: driver.views and driver.view.position >= 30)
    driver.engine.pause()
    driver.settle()
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
