"""Dark scenes in the adaptive detector: with less light everything differs by less."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive.exposure import DARKEST, Light, follow_brightness, make_sample
from tests.detectors.adaptive.test_adaptive import SIZE, street
from tests.detectors.adaptive.test_light import measured
from tests.marks import needs_compiler

THING = np.s_[20:40, 30:50]


def video(light, frames, *, after=None, sigma=3.0):
    """Yield float frames (H, W, 3) of a street under so much light; the last ones show a thing, under `after`."""
    random = np.random.default_rng(1)
    scene = cv2.GaussianBlur(street().astype(np.float64), (0, 0), 1.5)
    scene[:4] = 4  # else it would be in fog
    for index in range(frames):
        now = scene.copy()
        last = index >= frames - 4
        if last:
            now[THING] = (60, 150, 190)
        yield now * (light if after is None or index < frames // 2 else after) + random.normal(0, sigma, (*SIZE, 3))


def seen_in(background, coefficients, size, white=255.0):
    """Return what a background (D, at least H * W) says, whatever the frame is like; here it is the same."""
    pixels, none = size[0] * size[1], np.zeros(size, np.uint8)
    frame = np.ascontiguousarray(background[:, :pixels].T).reshape(-1)
    return measured(make_sample(frame, background, none.reshape(-1), size, white), coefficients=coefficients)


def is_found(mask):
    inside = np.zeros(SIZE, bool)
    inside[THING] = True
    return (mask[inside] != 0).mean() > 0.9 and (mask[~inside] != 0).mean() < 0.02


@needs_compiler
@pytest.mark.parametrize(("light", "sigma"), [(1.0, 3.0), (0.4, 2.5), (0.2, 2.0), (0.12, 1.5)])
def test_a_thing_is_found_in_any_light(light, sigma):
    model = create("adaptive")
    for frame in video(light, 60, sigma=sigma):
        mask = model.apply(np.clip(frame, 0, 255).astype(np.uint8))
    assert is_found(mask)


@needs_compiler
@pytest.mark.parametrize(
    ("dtype", "unit"), [(np.uint16, 4095 / 255), (np.float32, 1 / 4096)], ids=["12 bits of 16", "float of little light"]
)
def test_a_thing_is_found_in_frames_that_use_a_part_of_their_range(dtype, unit):
    model = create("adaptive")
    for frame in video(1.0, 60):
        mask = model.apply(np.clip(frame * unit, 0, None).astype(dtype))
    assert is_found(mask)


@needs_compiler
def test_a_lamp_that_goes_out_hides_nothing():
    model = create("adaptive")
    for frame in video(1.0, 120, after=0.25, sigma=1.5):
        mask = model.apply(np.clip(frame, 0, 255).astype(np.uint8))
    assert model._scalars["brightness"] == pytest.approx(0.25 * 1.1, rel=0.1)
    assert is_found(mask)


@needs_compiler
def test_a_pixel_of_a_dark_scene_is_shown_as_it_is_judged():
    model = create("adaptive")
    for frame in video(0.2, 30):
        last = np.clip(frame, 0, 255).astype(np.uint8)
        model.apply(last)
    score = model.score(last)
    for row, column in ((30, 40), (5, 5), (50, 70)):
        seen = model.inspect(last, row, column)
        assert 1 - seen.value / seen.threshold == pytest.approx(score[row, column], abs=2e-3)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    ("level", "before", "expected"),
    [
        (100, 1.0, 1.0),
        (180, 1.0, 1.0),
        (50, 1.0, 0.5),
        (96, 1.0, 1.0),
        (52, 0.5, 0.5),
        (60, 0.5, 0.6),
        (0, 1.0, DARKEST),
    ],
)
def test_brightness_is_a_share_of_an_ordinary_scene_s_and_changes_only_for_good_reason(
    level, before, expected, channels
):
    background, light = np.full((channels, 500), level, np.uint8), Light(0.0, 0.1)
    learned = [seen_in(background, np.full(500, a, np.float32), (20, 25)).learned for a in (1, 0)]
    assert follow_brightness(before, learned[0], light) == pytest.approx(expected)
    assert follow_brightness(before, learned[1], light) == before


@pytest.mark.parametrize(("dtype", "unit"), [(np.uint8, 1), (np.uint16, 257), (np.float32, 1 / 255)])
@pytest.mark.parametrize("channels", [1, 3])
def test_only_learned_pixels_of_the_frame_are_seen_and_as_by_plain_numpy(channels, dtype, unit):
    random, pixels = np.random.default_rng(0), 60 * 80
    background = (random.integers(90, 94, (channels, pixels + 16)) * unit).astype(dtype)
    coefficients = random.integers(0, 3, pixels + 16).astype(np.float32)
    background[:, pixels:] = 255 * unit  # behind the last pixel
    background[:, :1000], coefficients[:1000] = 0, 0  # outside of the region that is looked at
    some = np.arange(0, pixels, pixels * channels // 2000)
    chosen = background.astype(np.float64)[:, some[coefficients[some] > 0]] / unit
    seen = seen_in(background, coefficients, (60, 80), 255.0 * unit)
    assert seen.learned == pytest.approx(chosen.mean())
    assert seen.coloured == (channels == 3)
    seen = seen_in(background, np.zeros_like(coefficients), (60, 80), 255.0 * unit)
    assert (seen.learned, seen.coloured) == (None, False)
