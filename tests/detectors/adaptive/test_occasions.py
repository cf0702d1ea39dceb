"""What misleads subtractors: the adaptive detector gets each right within a time that its users can rely on."""

import numpy as np
import pytest

from bench.detectors.occasions import OCCASIONS, WHEN, follow
from tests.marks import needs_compiler

pytestmark = needs_compiler

SECOND = 25  # frames


# What happens may find the detector in any frame of its rounds: some things are looked at in every second frame only.
in_any_frame = pytest.mark.parametrize("skip", [0, 1, 2, 3])


def errors_of(name, skip=0, **parameters):
    """Return the shares of things missed, and of the frame that is false, of all frames; 0 of those left out."""
    errors = np.array(follow(OCCASIONS[name](), skip=skip, **parameters)).T
    return np.pad(errors, ((0, 0), (skip, 0)))


def test_a_parked_car_stays_for_as_long_as_asked_for_and_then_is_background():
    missed, false = errors_of("park", absorb_s=8)
    assert missed[WHEN : WHEN + 7 * SECOND].max() < 0.2
    assert missed[WHEN + 9 * SECOND :].min() > 0.95
    assert false.max() < 0.01


def test_the_place_of_someone_who_stood_there_from_the_start_is_background_a_second_after_they_left():
    missed, false = errors_of("start")
    gone = WHEN + 15  # the first frame in which they do not overlap with where they stood
    assert missed[:WHEN].min() > 0.9  # or there is nothing to mend
    assert missed[gone + SECOND :].max() < 0.2
    assert false[gone + SECOND :].max() < 0.002


@in_any_frame
@pytest.mark.parametrize("name", ["lamp", "exposure"])
def test_a_lamp_and_automatic_exposure_raise_no_alarm_and_hide_nobody(name, skip):
    missed, false = errors_of(name, skip)
    assert false[WHEN:].max() < 0.01
    assert missed[WHEN:].max() < 0.3


@in_any_frame
def test_a_cloud_is_hardly_seen(skip):
    missed, false = errors_of("cloud", skip)
    assert false.mean() < 0.01
    assert false.max() < 0.05
    assert missed[WHEN:].max() < 0.5
    assert missed[WHEN:].mean() < 0.02


def test_a_lorry_before_leaves_is_found_whole_and_leaves_nothing_behind():
    missed, false = errors_of("lorry")
    assert missed[WHEN:].max() < 0.2
    assert false[WHEN:].max() < 0.01


# What is looked at in which frame does not depend on the type of the frames.
@pytest.mark.parametrize(("dtype", "skip"), [*((np.uint8, skip) for skip in range(4)), (np.float32, 1)])
def test_a_nudge_of_the_camera_is_over_after_five_frames(dtype, skip):
    missed, false = errors_of("nudge", skip, dtype=dtype)
    assert false[WHEN:].max() > 0.1  # or the scene would not show it
    assert false[WHEN + 5 :].max() < 0.01
    assert missed[WHEN + 5 :].max() < 0.3


def test_a_bag_that_is_left_stays_in_the_mask():
    missed, false = errors_of("bag")
    assert missed[WHEN:].max() < 0.2
    assert false[WHEN:].max() < 0.005
