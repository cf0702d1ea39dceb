"""Steady light: gains of the whole frame are measured and taken away before norma and olk see it."""

import numpy as np
import pytest

from bgsub.detectors import create, load
from bgsub.detectors.norma import Norma
from bgsub.detectors.olk import Olk
from bgsub.detectors.steady_light import find_gains, follow_light, sample_light, steady
from bgsub.testing import check_detector
from tests.marks import needs_compiler


def street(shape=(60, 80, 3)):
    return np.random.default_rng(0).uniform(30, 150, shape)


def filmed(scene, number, dtype=np.uint8):
    noisy = np.clip(scene + np.random.default_rng(number).normal(0, 1, scene.shape), 0, 255)
    white = {np.uint8: 255, np.uint16: 65535, np.float32: 1}[dtype]
    return (noisy / 255 * white if dtype is np.float32 else np.rint(noisy / 255 * white)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 3])
def test_gains_are_measured_and_taken_away_beside_something_that_covers_a_third(dtype, channels):
    white = {np.uint8: 255.0, np.uint16: 65535.0, np.float32: 1.0}[dtype]
    shape = (60, 80, 3) if channels == 3 else (60, 80)
    scene, gains = street(shape), np.array([0.5, 0.6, 1.3])[:channels]
    before = filmed(scene, 0, dtype)
    changed = (scene + 8) * (gains if channels == 3 else gains[0]) - 8
    changed[:20] = 90
    now = filmed(changed, 1, dtype)
    found = find_gains(sample_light(now), sample_light(before), white)
    assert found == pytest.approx(gains, rel=0.02)
    back = steady(now, found, white)
    assert back.dtype == before.dtype
    left = np.abs(back.astype(np.float64) - before)[20:] / white * 255
    assert np.median(left) < 3


def test_an_unchanged_frame_stays_as_it_is():
    frame = filmed(street(), 0)
    gains = find_gains(sample_light(filmed(street(), 1)), sample_light(frame), 255.0)
    assert steady(frame, gains, 255.0) is frame


def test_a_learned_sample_moves_slowly():
    learned = np.full((4, 5, 3), 100, np.float32)
    follow_light(learned, np.full_like(learned, 200), np.ones(3, np.float32), 255.0)
    assert learned == pytest.approx(np.full_like(learned, 100.2))


def test_a_white_frame_has_no_gain():
    white = np.full((20, 20, 3), 255, np.float32)
    assert find_gains(white, white / 2, 255.0).tolist() == [1, 1, 1]


@needs_compiler
@pytest.mark.parametrize("kind", [Norma, Olk])
def test_the_contract_is_kept(kind):
    check_detector(kind, learn_every=2, warmup=4, steady_light=True)


@needs_compiler
@pytest.mark.parametrize("name", ["norma", "olk"])
def test_a_lamp_and_dusk_are_no_foreground_and_a_thing_is(name, tmp_path):
    """Light falls to a half slowly, then at once to a quarter; without steady light either floods the mask."""
    scene, thing = street(), (slice(20, 40), slice(30, 50))
    models = {steady_light: create(name, steady_light=steady_light) for steady_light in (False, True)}
    lights = np.concatenate([np.ones(60), np.linspace(1, 0.5, 100), np.full(3, 0.25)])
    flooded = dict.fromkeys(models, 0.0)
    for number, light in enumerate(lights):
        for key, model in models.items():
            mask = model.apply(filmed(scene * light, number))
            flooded[key] = max(flooded[key], np.count_nonzero(mask) / mask.size if number > 40 else 0)
    assert flooded[False] > 0.5
    assert flooded[True] < 0.1

    models[True].save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    darker = scene * 0.25
    darker[thing] = (200, 20, 20)
    frame = filmed(darker, 1000)
    mask = again.apply(frame)
    assert (mask == models[True].apply(frame)).all()
    assert (mask[thing] != 0).mean() > 0.9
    assert np.count_nonzero(mask) < 1.3 * 20 * 20
    state = again.inspect(frame, 5, 5)
    assert np.abs(state.colour.astype(float) - scene[5, 5]).max() < 25  # as under the light that was learned
