"""Fog, which adds light to everything, and cameras that show no colours, in the adaptive detector."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive._jit.light.exposure import Sample, see_light
from bgsub.detectors.adaptive.exposure import Light, follow_black, follow_brightness, make_sample
from bgsub.detectors.adaptive.shadows import Colours, Levels, mark_shadows
from tests.detectors.adaptive.test_adaptive import SIZE, planes_of
from tests.detectors.adaptive.test_dark import is_found, seen_in, video
from tests.detectors.adaptive.test_light import measured
from tests.marks import needs_compiler

WHOLE = np.full(SIZE, 255, np.uint8)


def settle(frame, times=200, dtype=np.uint8, white=255.0, black=0.0):
    """Return what black comes to after so many times the same frame."""
    frame = frame.astype(dtype)
    background, included = planes_of(frame, frame)[1], np.zeros(SIZE, np.uint8).reshape(-1)
    exposure = measured(make_sample(frame.reshape(-1), background, included, SIZE, white))
    for _ in range(times):
        black = follow_black(black, exposure)
    return black


@needs_compiler
@pytest.mark.parametrize(("contrast", "veil"), [(0.5, 80), (0.25, 100), (0.25, 150)])
def test_a_thing_is_found_in_fog(contrast, veil):
    model, random = create("adaptive"), np.random.default_rng(0)
    for frame in video(1.0, 200, sigma=0.0):
        noisy = frame * contrast + veil + random.normal(0, 1.5, frame.shape)
        mask = model.apply(np.clip(noisy, 0, 255).astype(np.uint8))
    assert is_found(mask)


@pytest.mark.parametrize(("dtype", "unit"), [(np.uint8, 1.0), (np.uint16, 1 / 257), (np.float32, 255.0)])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_darkest_and_the_mean_are_seen_as_by_plain_numpy(dtype, unit, channels):
    frame = (np.random.default_rng(0).uniform(20, 250, (37, 53, channels)) / unit).astype(dtype)
    frame[0, 0] = 0  # beside the grid
    background, excluded = np.zeros((channels, 37 * 53), dtype), np.full(37 * 53, 255, np.uint8)
    least, mean = see_light(Sample(frame.reshape(-1), background, excluded, 37, 53, 4, np.float32(unit)))
    bright = frame[2::4, 2::4].astype(np.float64).mean(2) * unit
    assert least == pytest.approx(bright.min(), rel=1e-5)
    assert mean == pytest.approx(bright.mean(), rel=1e-5)


@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 255.0), (np.uint16, 65535.0), (np.float32, 1.0)])
def test_fog_is_what_is_left_without_things_that_are_dark(dtype, white):
    scene = np.random.default_rng(0).uniform(0, 255, (*SIZE, 3))
    foggy = settle((100 + 0.25 * scene) * white / 255, dtype=dtype, white=white)
    assert 60 < foggy < 100
    assert settle(scene * white / 255, dtype=dtype, white=white) == 0


def test_one_dark_thing_shows_that_a_bright_scene_is_in_no_fog():
    scene = np.full((*SIZE, 3), 190.0)
    scene[::2] += 20
    assert settle(scene) > 150
    scene[10:30, 10:30] = 20  # may be foreground
    assert settle(scene) == 0


def test_fog_comes_slowly():
    scene = np.full((*SIZE, 3), 150.0)
    assert settle(scene, 3) < 30
    assert settle(scene, 20) < 120
    assert settle(scene, 200) == pytest.approx(150, abs=1)
    assert settle(scene * 0.2, 1, black=150.0) <= 30  # a lamp in it went out


def test_the_light_of_fog_is_none_of_the_scene():
    assert follow_brightness(1.0, 130.0, Light(0.0, 0.1)) == 1
    assert follow_brightness(1.0, 130.0, Light(90.0, 0.1)) == pytest.approx(0.5)
    assert follow_brightness(1.0, 130.0, Light(90.0, 0.2)) == pytest.approx(0.6)  # kernels fit the noise
    assert follow_brightness(1.0, 130.0, Light(90.0, 0.9)) == 1
    assert follow_brightness(1.0, 32.0, Light(30.0, 0.9)) == pytest.approx(0.32)
    assert follow_brightness(1.0, 32.0, Light(3.0, 0.0)) == pytest.approx(0.32)


@needs_compiler
@pytest.mark.parametrize("channels", [1, 3])
def test_a_shadow_takes_nothing_of_the_light_of_fog(channels):
    scene = np.repeat(np.random.default_rng(0).uniform(60, 200, (*SIZE, 1)), channels, 2)
    learned, mask = 100 + 0.25 * scene, np.zeros(SIZE, np.uint8)
    mask[:30] = 255  # a shadow is cast from outside
    shadow, thing = learned.copy(), learned.copy()
    shadow[:30] = 100 + 0.25 * 0.8 * scene[:30]
    thing[:30] = 105  # plain

    def share_of_shadow(now, levels):
        left = mask.copy()
        mark_shadows(left, np.ones(len(left), np.uint8), mask, *planes_of(now, learned), levels, 1, 127, Colours())
        return (left[:28] == 127).mean()

    in_fog, by_day = Levels(255.0, 100.0), Levels(255.0)
    assert share_of_shadow(shadow, in_fog) > 0.9
    assert share_of_shadow(thing, in_fog) < 0.05
    assert share_of_shadow(thing, by_day) > 0.9


@pytest.mark.parametrize(("dtype", "unit"), [(np.uint8, 1), (np.uint16, 257), (np.float32, 1 / 255)])
def test_colour_is_more_than_rounding_in_more_than_a_few_pixels(dtype, unit):
    grey = np.repeat(np.random.default_rng(0).integers(5, 250, (1, 1000)), 3, 0).astype(np.float64)

    def has_colour(picture):
        values = (picture * unit).astype(dtype)
        return seen_in(values, np.ones(1000, np.float32), (20, 50), 255.0 * unit).coloured

    assert not has_colour(grey)
    rounded = grey.copy()
    rounded[0] += 1
    assert not has_colour(rounded)
    clock = grey.copy()
    clock[1, :9] += 50
    assert not has_colour(clock)
    faint = grey.copy()
    faint[2, :500] -= 3
    assert has_colour(faint)
    assert not has_colour(grey[:1])


@needs_compiler
def test_a_grey_picture_has_the_same_mask_in_one_channel_and_in_three():
    one, three = create("adaptive"), create("adaptive")
    for frame in video(1.0, 60, sigma=2.0):
        grey = cv2.cvtColor(np.clip(frame, 0, 255).astype(np.uint8), cv2.COLOR_BGR2GRAY)
        single, triple = one.apply(grey), three.apply(cv2.merge([grey, grey, grey]))
    assert (single != 0).any()
    assert np.mean(single != triple) < 0.002


@needs_compiler
def test_a_plain_dark_thing_is_no_shadow_in_a_grey_picture():
    random = np.random.default_rng(0)
    texture, model = random.normal(0, 14, SIZE), create("adaptive")
    texture[-4:] = -150  # in no fog
    for index in range(80):
        grey = 150 + texture
        if index >= 72:
            grey[20:40, 20:50] = 60
            grey[15:20, 30:40] = 230  # what could cast it
        noisy = np.clip(grey + random.normal(0, 1, SIZE), 0, 255).astype(np.uint8)
        mask = model.apply(cv2.merge([noisy, noisy, noisy]))
    assert (mask[22:38, 22:48] == 255).mean() > 0.95
