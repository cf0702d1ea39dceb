"""A frame that is held goes on to answer, whatever was tried on it before."""

from dataclasses import replace

from bgsub.config import Config
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
