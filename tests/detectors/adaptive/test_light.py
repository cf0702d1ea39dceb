"""Light and noise in the adaptive detector: what it measures about the whole scene, and what it reports."""

import numpy as np
import pytest

from bgsub._jit.majority import IN_LARGE, IN_MIDDLE, IN_SMALL
from bgsub._opencv import cv2
from bgsub.detectors import create, load
from bgsub.detectors.adaptive._jit.dynamics import OnsetRule, count_onsets
from bgsub.detectors.adaptive._jit.light.exposure import (
    LEVELS,
    compare,
    find_colour,
    find_median,
    find_spread,
    observe,
    see_light,
    see_steps,
    weigh_gains,
)
from bgsub.detectors.adaptive._jit.outlines.broad import IN_BROAD
from bgsub.detectors.adaptive._jit.outlines.faint import IN_FAINT
from bgsub.detectors.adaptive.exposure import make_sample, measure
from bgsub.detectors.adaptive.final_mask import find_outlines
from bgsub.detectors.adaptive.lighting import find_relit
from bgsub.evaluation import open_datasets
from tests.detectors.adaptive.test_adaptive import SIZE, filmed, planes_of, street, with_square
from tests.marks import needs_compiler


def smooth_street():
    """Return a background whose texture is coarser than the noise, with something dark, so that it is in no fog."""
    scene = cv2.GaussianBlur(street().astype(np.float64), (0, 0), 1.5)
    scene[-4:] = 4
    return scene


def sample_of(now, learned, excluded=None):
    """Return the sample of a frame and a background, (H, W, 3) each."""
    none = np.zeros(now.shape[:2], np.uint8) if excluded is None else excluded
    planes = np.ascontiguousarray(learned.transpose(2, 0, 1)).reshape(3, -1)
    return make_sample(now.reshape(-1), planes, none.reshape(-1), now.shape[:2], 255.0)


def measured(sample, box=14.4, coefficients=None):
    """Return what a sample says where all was learned, or coefficients are given; the frame was not steadied."""
    learned = np.ones(sample.background.shape[1], np.float32) if coefficients is None else coefficients
    return measure(sample, sample.frame, learned, box)


def test_the_median_of_a_histogram_lies_within_its_bin():
    counts = np.array([0, 3, 0, 1, 0, 4, 0], np.int64)
    # Spread evenly over their bins, of which the middle is the index, half of the values are below the median.
    for numbers in (counts, counts[::-1].copy(), counts[:2], np.array([0, 5, 0], np.int64)):
        values = np.concatenate(
            [i - 0.5 + (np.arange(1000 * n) + 0.5) / (1000 * max(n, 1)) for i, n in enumerate(numbers)]
        )
        assert find_median(numbers) == pytest.approx(max(0, values[(values.size - 1) // 2]), abs=0.002)


@pytest.mark.parametrize("middles", [(-254, 3, 0), (-40, 3, 0), (250, -2, 1), (7,)])
def test_the_spread_of_differences_is_that_around_the_median_of_each_channel(middles):
    random = np.random.default_rng(0)
    differences = [np.clip(random.normal(middle, 6, 1001).round(), -LEVELS, LEVELS) for middle in middles]
    counts = np.stack([np.bincount((values + LEVELS).astype(int), minlength=2 * LEVELS + 1) for values in differences])
    medians = [np.median(values) for values in differences]
    away = np.concatenate([abs(values - middle) for values, middle in zip(differences, medians, strict=True)])
    shift, spread = find_spread(counts)
    assert shift == pytest.approx(max(np.abs(medians)), abs=0.5)  # within its bin
    assert spread == pytest.approx(np.median(away), abs=0.5)


@pytest.mark.parametrize("sigma", [1.0, 4.0, 12.0])
def test_noise_is_measured(sigma):
    learned = filmed(street(), 0, sigma=0)
    exposure = measured(sample_of(filmed(street(), 1, sigma=sigma), learned))
    assert exposure.gains is None
    assert exposure.sigma == pytest.approx(sigma, rel=0.15, abs=0.3)  # whole numbers add noise of their own


def test_one_call_sees_what_five_do():
    learned, now = filmed(street(), 0, sigma=0), filmed(street(), 1, sigma=3)
    sample, before = sample_of(now, learned), filmed(street(), 2, sigma=9).reshape(-1)
    coefficients = np.random.default_rng(0).integers(0, 2, sample.background.shape[1]).astype(np.float32)
    box, rounding = np.float32(14.4), np.float32(1.5)
    counts, again = (np.empty((3, 2 * LEVELS + 1), np.int64) for _ in range(2))
    compared, spread, light, steps, colours = observe(sample, before, coefficients, 7, rounding, box, counts)
    assert compared == compare(sample, box, again)
    assert spread == find_spread(again)
    assert light == see_light(sample)
    assert steps == see_steps(sample._replace(frame=before)) != see_steps(sample)
    assert colours == find_colour(sample.background, coefficients, sample.height * sample.width, 7, rounding)


@pytest.mark.parametrize(("gain", "sigma"), [(1.03, 1.0), (0.97, 1.0), (1.05, 9.0)])
def test_light_that_changes_by_a_few_percent_is_found_in_noise(gain, sigma):
    learned = filmed(street(), 0, sigma=0)
    exposure = measured(sample_of(filmed(gain * street(), 1, sigma=sigma), learned))
    assert exposure.gains is not None
    np.testing.assert_allclose(exposure.gains, gain, rtol=0.015)
    assert exposure.sigma == pytest.approx(sigma, rel=0.15, abs=0.3)
    assert exposure.learned == pytest.approx(gain * learned.mean(), rel=0.02)


def test_gains_are_weighed_as_by_plain_numpy():
    random, gains, box = np.random.default_rng(0), np.array([1.2, 1.1, 0.9], np.float32), np.float32(40)
    now, learned = (random.integers(0, 256, (*SIZE, 3), np.uint8) for _ in range(2))
    excluded = np.where(random.random(SIZE) < 0.3, np.uint8(255), np.uint8(0))
    learned[::3] = np.clip(now[::3] / 1.15, 0, 255)
    sample = sample_of(now, learned, excluded)
    here = np.s_[sample.step // 2 :: sample.step]
    seen, known = (image[here, here][excluded[here, here] == 0].astype(np.float64) for image in (now, learned))
    lit = (known + 2) * gains - 2
    saturated, unknown = (seen >= 254) & (lit >= 254), (seen >= 254) | (seen == 0)
    before, after = (np.where(unknown, 0, np.abs(seen - image)) for image in (known, lit))
    expected = (
        (saturated | (np.abs(seen - lit) <= box)).all(1).sum(),
        (after.sum(1) < before.sum(1)).sum(),
        (after.sum(1) > before.sum(1)).sum(),
    )
    counts = np.empty((3, 2 * LEVELS + 1), np.int64)
    assert weigh_gains(sample, gains, box, counts) == pytest.approx(expected, abs=2)  # equal but for rounding
    assert counts @ np.arange(-LEVELS, LEVELS + 1) == pytest.approx(
        (seen - lit).clip(-LEVELS, LEVELS).sum(0), abs=0.1 * len(seen)
    )
    assert saturated.any()
    assert min(expected) > 50


def test_a_gain_is_found_that_most_pixels_match_without():
    learned, now = filmed(street(), 0, sigma=0), filmed(street() * 1.1, 1, sigma=1)
    half_box = float(np.quantile(np.abs(now - learned.astype(float)).max(-1), 0.8))
    exposure = measured(sample_of(now, learned), half_box)
    assert exposure.gains is not None
    np.testing.assert_allclose(exposure.gains, 1.1, rtol=0.02)


@pytest.mark.parametrize("gains", [(0.5, 0.5, 0.5), (0.6, 0.7, 0.8), (1.4, 1.3, 1.2)])
def test_a_gain_of_the_whole_scene_is_found_beside_an_object(gains):
    scene = street()
    learned, now = filmed(scene, 0, sigma=0), filmed(with_square(scene, 6, 10, side=30) * gains, 1, sigma=2)
    exposure = measured(sample_of(now, learned))
    assert exposure.gains is not None
    # 2 levels are added to both before ratios are formed.
    expected = (scene.mean() * np.array(gains) + 2) / (scene.mean() + 2)
    np.testing.assert_allclose(exposure.gains, expected, rtol=0.05)


def test_another_scene_is_no_change_of_light():
    learned, now = filmed(street(), 0, sigma=0), filmed(street(seed=1) * 0.6, 1)
    assert measured(sample_of(now, learned)).gains is None


def test_too_few_pixels_say_nothing():
    frame = filmed(street(), 0)
    excluded = np.full(SIZE, 255, np.uint8)
    excluded[:10, :10] = 0
    assert measured(sample_of(frame, frame, excluded))[:2] == (None, None)


def test_a_thing_without_any_texture_is_no_light():
    """What rounding leaves of its variance must not be taken for texture, which correlates with anything."""
    rng = np.random.default_rng(0)
    learned = (60 + rng.integers(-4, 5, (3, 60 * 80))).astype(np.uint8)
    mask = np.zeros((60, 80), np.uint8)
    mask[15:45, 20:40] = 255
    for level in range(150, 256, 5):
        frame = np.where(mask.reshape(-1) != 0, np.uint8(level), learned)
        ages = np.zeros(mask.shape, np.uint16)
        assert find_relit(mask, find_outlines(mask), frame, learned, 255.0, ages, 25) is None


@needs_compiler
@pytest.mark.parametrize(
    ("gain", "came", "lasting", "relit"),
    [
        (1.2, "at once", 25, True),
        (1.2, "bit by bit", 40, False),
        (1.2, "bit by bit", 20, True),
        (0.8, "at once", 25, False),
        (0.8, "bit by bit", 20, False),
        (0.8, "bit by bit", 10, True),
    ],
)
def test_brighter_regions_that_come_bit_by_bit_must_last(gain, came, lasting, relit):
    learned = np.clip(smooth_street(), 0, 200).astype(np.uint8)
    mask = np.zeros(SIZE, np.uint8)
    mask[10:40, 10:50] = 255
    frame = np.where(mask[..., None] != 0, (learned * gain).astype(np.uint8), learned)
    bit_by_bit = np.broadcast_to(np.arange(SIZE[1], dtype=np.uint16) // 2, SIZE)
    ages = np.full(SIZE, 4, np.uint16) if came == "at once" else np.ascontiguousarray(bit_by_bit)
    found = find_relit(mask, find_outlines(mask), *planes_of(frame, learned), 255.0, ages, lasting)
    assert (found is not None) == relit


def test_onsets_are_counted_away_from_large_squares_and_recent_ones_of_their_kind():
    random = np.random.default_rng(1)
    kinds = IN_SMALL, IN_MIDDLE, IN_FAINT, IN_BROAD
    recent = random.choice([0] * 20 + [1, 3], (4, 9, 13)).astype(np.uint8)
    cells = (random.choice(kinds, (9, 13)) | random.choice([*kinds, IN_LARGE, 0, 0], (9, 13))).astype(np.uint8)
    rates = random.random((4, 9, 13)).astype(np.float32)
    restless = random.integers(1, 256, (9, 13), np.uint8)
    expected, after, costs, begun = rates.astype(np.float64), recent.copy(), set(), np.zeros((4, 11, 15), bool)
    for kind, y, x in np.ndindex(4, 9, 13):
        around = slice(max(y - 1, 0), y + 2), slice(max(x - 1, 0), x + 2)
        votes = cells[y, x] & kinds[kind]
        alone = votes and not (cells[around] & IN_LARGE).any()
        begins = begun[kind, y + 1, x + 1] = alone and not recent[kind][around].any()
        above, before = y % 8 != 0 and begun[kind, y, x : x + 3].any(), x % 8 != 0 and begun[kind, y + 1, x]
        cost = (0 if above or before else 1) if begins else 0.25 * restless[y, x] / 255 if alone else 0
        expected[kind, y, x] += 0.1 * (cost - expected[kind, y, x])
        after[kind, y, x] = 3 if votes else max(int(recent[kind, y, x]) - 1, 0)
        costs.add((kind, cost if cost in (0, 1) else 0.5))
    count_onsets(cells, recent, rates, restless, OnsetRule(np.float32(0.1), np.float32(0.25), np.uint8(3)))
    np.testing.assert_allclose(rates, expected, rtol=1e-5)
    assert (recent == after).all()
    assert len(costs) == 12


@needs_compiler
@pytest.mark.parametrize("factor", [0.5, 0.75, 1.5])
@pytest.mark.parametrize("frames", [60, 61])
@pytest.mark.parametrize("lasts", [1, 2, 3, 5])
@pytest.mark.parametrize("inside", [slice(None), np.s_[16:38]])
def test_a_light_switch_hides_no_object_and_raises_no_alarm(factor, frames, lasts, inside):
    """Whenever it happens: light is measured in every second frame, but at once where much has changed."""
    model, scene = create("adaptive"), smooth_street()
    region = np.zeros(SIZE, bool)
    region[inside] = True
    model.roi = region
    for t in range(frames):
        model.apply(filmed(scene, t))
    errors = []
    for t in range(20):
        lit = with_square(scene, 20, 20 + t, value=(10, 120, 20)) * (1 + (factor - 1) * min(1, (t + 1) / lasts))
        mask = model.apply(filmed(lit, 100 + t)) != 0
        truth = np.zeros(SIZE, bool)
        truth[20:34, 20 + t : 34 + t] = True
        errors.append((mask != truth)[region].mean())
    assert max(errors[lasts if lasts > 1 else 0 :]) < 0.02


@needs_compiler
@pytest.mark.parametrize("period", [2, 3])
def test_light_that_flickers_raises_no_alarm(period):
    model, scene = create("adaptive"), smooth_street()
    shares = []
    for t in range(120):
        lit = scene * (0.9 + 0.1 * np.cos(2 * np.pi * t / period))
        shares.append((model.apply(filmed(lit, t)) != 0).mean())
    assert max(shares[60:]) < 0.02


@needs_compiler
def test_strong_noise_does_not_flood_for_ever():
    model, scene = create("adaptive"), street()
    shares = [(model.apply(filmed(scene, t, sigma=20)) != 0).mean() for t in range(100)]
    assert max(shares[60:]) < 0.02


@needs_compiler
def test_less_noise_makes_narrower_kernels():
    clean, noisy, scene = create("adaptive"), create("adaptive"), street()
    scene[:4] = 0  # else it would be fog
    for t in range(60):
        clean.apply(filmed(scene, t, sigma=1))
        noisy.apply(filmed(scene, t, sigma=6))
    assert clean.inspect(filmed(scene, 99, sigma=1), 30, 40).width == pytest.approx(15, rel=0.03)
    assert noisy.inspect(filmed(scene, 99, sigma=6), 30, 40).width >= 29


@needs_compiler
def test_faint_things_are_found_where_there_is_little_noise():
    model, scene = create("adaptive"), np.full((*SIZE, 3), 100.0)
    for t in range(60):
        model.apply(filmed(scene, t, sigma=1))
    mask = model.apply(filmed(with_square(scene, 20, 30, value=115), 99, sigma=1))
    assert (mask[22:32, 32:42] == 255).mean() > 0.9


@needs_compiler
def test_waves_all_over_the_first_frames_do_not_stay_foreground():
    (sequence,) = open_datasets("generated:water?height=160&size=160x120&frames=140")
    model = create("adaptive")
    shares = [(model.apply(sequence.read_input(number)) != 0).mean() for number in sequence.numbers]
    assert np.mean(shares[-40:]) < 0.1
    assert np.mean(shares[10:40]) > 0.15  # else the scene is too calm to show anything


@needs_compiler
def test_small_things_are_found_before_water():
    """Large squares do not see them, and single pixels of the water blink all the time."""
    random, scene = np.random.default_rng(0), np.full((120, 160, 3), 100.0)
    model = create("adaptive")

    def water(t):
        frame = filmed(scene, t)
        glints = random.random((120, 160)) < 0.05
        frame[glints] = random.integers(0, 256, (int(glints.sum()), 3))
        return frame

    for t in range(500):
        model.apply(water(t))
    found = []
    for t in range(20):
        frame = water(1000 + t)
        frame[50:57, 20 + 4 * t : 27 + 4 * t] = (20, 20, 240)
        mask = model.apply(frame)
        found.append((mask[51:56, 21 + 4 * t : 26 + 4 * t] == 255).mean())
    assert np.mean(found) > 0.9


@needs_compiler
@pytest.mark.parametrize("value", [1e30, -1e30, 3.4e38])
def test_any_finite_value_of_a_float_frame_is_foreground(value):
    """And nothing is read or written outside the arrays, where numba does not look."""
    model, scene = create("adaptive"), filmed(street(), 0).astype(np.float32) / 255
    for _ in range(20):
        model.apply(scene)
    broken = scene.copy()
    broken[20:60, 30:70] = value
    for _ in range(6):
        assert (model.apply(broken)[24:56, 34:66] == 255).mean() > 0.9
    for _ in range(6):
        mask = model.apply(scene)
    assert (mask != 0).mean() < 0.01


@needs_compiler
def test_a_model_of_black_then_white_frames_can_be_loaded(tmp_path):
    model = create("adaptive")
    for level in (0, 0, 255, 255):
        model.apply(np.full((*SIZE, 3), level, np.uint8))
    model.save(tmp_path / "a.npz")
    assert load(tmp_path / "a.npz").name == "adaptive"


@needs_compiler
@pytest.mark.parametrize("level", [0, 255])
@pytest.mark.parametrize("frames", [1, 5])
def test_frames_that_are_lost_leave_the_background_as_it_was(level, frames):
    model = create("adaptive")
    for index in range(60):
        model.apply(filmed(street(), index))
    for _ in range(frames):
        model.apply(np.full((*SIZE, 3), level, np.uint8))
    assert (model.apply(filmed(street(), 60)) != 0).mean() < 0.02
