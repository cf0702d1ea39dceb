"""Light, noise and shadows in the adaptive detector: what it measures about the whole scene, and what it reports."""

import numpy as np
import pytest

from bgsub._jit.majority import CELL, IN_LARGE, IN_MIDDLE, IN_SMALL
from bgsub._numba import JIT_ENABLED
from bgsub._opencv import cv2
from bgsub.detectors import create, load
from bgsub.detectors.adaptive._jit.blocks import BLOCK, DITHERS
from bgsub.detectors.adaptive._jit.dynamics import IN_FAINT, OnsetRule, count_onsets
from bgsub.detectors.adaptive._jit.exposure import LEVELS, find_median, find_spread
from bgsub.detectors.adaptive._jit.shadows.darkening import REACH, Darkening, Images, count_brighter, find_darkened
from bgsub.detectors.adaptive._jit.shadows.voting import OPENED, write_enlarged
from bgsub.detectors.adaptive.detector import COLOUR_INTERVAL
from bgsub.detectors.adaptive.exposure import change_light, make_sample, measure
from bgsub.detectors.adaptive.final_mask import find_outlines
from bgsub.detectors.adaptive.lighting import find_relit
from bgsub.detectors.adaptive.shadows import Colours, Levels, mark_shadows
from bgsub.evaluation import open_datasets
from tests.detectors.adaptive.test_adaptive import SIZE, filmed, planes_of, street, with_square
from tests.detectors.reference import SMALL

needs_compiler = pytest.mark.skipif(not JIT_ENABLED, reason="too many pixels for plain Python")


def smooth_street():
    """Return a background whose texture is coarser than the noise, with something dark, so that it is in no fog."""
    scene = cv2.GaussianBlur(street().astype(np.float64), (0, 0), 1.5)
    scene[-4:] = 4
    return scene


def show_until_counted(model, frame):
    """Apply a frame as often as colours take to be counted, once; return the first mask."""
    masks = [model.apply(frame) for _ in range(COLOUR_INTERVAL)]
    return masks[0]


def sample_of(now, learned, excluded=None):
    """Return the sample of a frame and a background, (H, W, 3) each."""
    none = np.zeros(now.shape[:2], np.uint8) if excluded is None else excluded
    planes = np.ascontiguousarray(learned.transpose(2, 0, 1)).reshape(3, -1)
    return make_sample(now.reshape(-1), planes, none.reshape(-1), now.shape[:2], 255.0)


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
    exposure = measure(sample_of(filmed(street(), 1, sigma=sigma), learned), 14.4)
    assert exposure.gains is None
    assert exposure.sigma == pytest.approx(sigma, rel=0.15, abs=0.3)  # whole numbers add noise of their own


def test_light_that_changes_a_little_is_no_noise():
    learned = filmed(street(), 0, sigma=0)
    now = filmed(street() + np.array([4.0, -3.0, 4.0]), 1, sigma=1)
    exposure = measure(sample_of(now, learned), 14.4)
    assert exposure.gains is None
    assert exposure.sigma == pytest.approx(1, abs=0.5)


def test_a_gain_is_found_that_most_pixels_match_without():
    learned, now = filmed(street(), 0, sigma=0), filmed(street() * 1.1, 1, sigma=1)
    half_box = float(np.quantile(np.abs(now - learned.astype(float)).max(-1), 0.8))
    exposure = measure(sample_of(now, learned), half_box)
    assert exposure.gains is not None
    np.testing.assert_allclose(exposure.gains, 1.1, rtol=0.02)


@pytest.mark.parametrize("gains", [(0.5, 0.5, 0.5), (0.6, 0.7, 0.8), (1.4, 1.3, 1.2)])
def test_a_gain_of_the_whole_scene_is_found_beside_an_object(gains):
    scene = street()
    learned, now = filmed(scene, 0, sigma=0), filmed(with_square(scene, 6, 10, side=30) * gains, 1, sigma=2)
    exposure = measure(sample_of(now, learned), 14.4)
    assert exposure.gains is not None
    # 8 levels are added to both before ratios are formed.
    expected = (scene.mean() * np.array(gains) + 8) / (scene.mean() + 8)
    np.testing.assert_allclose(exposure.gains, expected, rtol=0.05)


def test_another_scene_is_no_change_of_light():
    learned, now = filmed(street(), 0, sigma=0), filmed(street(seed=1) * 0.6, 1)
    assert measure(sample_of(now, learned), 14.4).gains is None


def test_too_few_pixels_say_nothing():
    frame = filmed(street(), 0)
    excluded = np.full(SIZE, 255, np.uint8)
    excluded[:10, :10] = 0
    assert measure(sample_of(frame, frame, excluded), 14.4) == (None, None)


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


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_light_changes_where_it_may_and_rounds_without_bias(dtype):
    white = {np.uint8: 255.0, np.uint16: 65535.0, np.float32: 1.0}[dtype]
    level = dtype(0.4 * white)
    colours = np.full((2, 3, 70, BLOCK), level, dtype)
    where = np.zeros((70, BLOCK), np.uint8)
    where[:, ::2] = 255
    dither = np.random.default_rng(0).random((DITHERS, BLOCK), np.float32) * (dtype != np.float32)
    gains = np.array([0.5, 1.1, 9.0], np.float32)
    change_light(colours, gains, white, dither.astype(np.float32), where)
    assert (colours[..., 1::2] == level).all()
    dark = 8 * white / 255
    top = np.finfo(np.float32).max if dtype is np.float32 else white
    for channel, gain in enumerate(gains):
        expected = min((float(level) + dark) * float(gain) - dark, top)
        assert colours[:, channel, :, ::2].mean() == pytest.approx(expected, abs=0.05 * white / 255)


def test_onsets_are_counted_away_from_large_squares_and_recent_ones_of_their_kind():
    random = np.random.default_rng(0)
    kinds = IN_SMALL, IN_MIDDLE, IN_FAINT
    recent = random.choice([0] * 20 + [1, 3], (3, 9, 13)).astype(np.uint8)
    cells = (random.choice(kinds, (9, 13)) | random.choice([*kinds, IN_LARGE, 0, 0], (9, 13))).astype(np.uint8)
    rates = random.random((3, 9, 13)).astype(np.float32)
    expected, after, costs = rates.astype(np.float64), recent.copy(), set()
    for kind, y, x in np.ndindex(3, 9, 13):
        around = slice(max(y - 1, 0), y + 2), slice(max(x - 1, 0), x + 2)
        votes = cells[y, x] & kinds[kind]
        alone = votes and not (cells[around] & IN_LARGE).any()
        cost = 0 if not alone else 0.25 if recent[kind][around].any() else 1
        expected[kind, y, x] += 0.1 * (cost - expected[kind, y, x])
        after[kind, y, x] = 3 if votes else max(int(recent[kind, y, x]) - 1, 0)
        costs.add((kind, cost))
    count_onsets(cells, recent, rates, OnsetRule(np.float32(0.1), np.float32(0.25), np.uint8(3)))
    np.testing.assert_allclose(rates, expected, rtol=1e-5)
    assert (recent == after).all()
    assert len(costs) == 9


@pytest.mark.parametrize(("channels", "black"), [(1, 0), (3, 0), (1, 50), (3, 50)])
def test_darkened_background_equals_plain_numpy(channels, black):
    height, width = (8, 70) if SMALL else (20, 150)
    random = np.random.default_rng(channels)
    background = random.integers(40, 200, (channels, height, width)).astype(np.float64)
    frame = background * random.choice([0.5, 0.8, 1.0, 1.2], (height, width))
    frame[:, : height // 2] = background[:, : height // 2] * 0.6 + random.normal(0, 6, (channels, height // 2, width))
    frame, background = np.clip(frame + black, 0, 255).astype(np.uint8), (background + black).astype(np.uint8)
    mask = np.where(random.random((height, width)) < 0.8, np.uint8(255), np.uint8(0))
    mask[:, 64:66] = 0
    mask[height // 2 + 1] = 0
    rule = Darkening(*(np.float32(value) for value in (0.25, 0.97, 0.09, 0.002, 30.0, 6.25)))
    planes = frame.reshape(channels, -1), background.reshape(channels, -1)
    images = Images(mask, *planes, np.float32(1), np.float32(black))
    found, occupied_rows = np.full_like(mask, 7), mask.any(1)
    assert find_darkened(images, rule, occupied_rows.astype(np.uint8), found)
    assert (found[~occupied_rows] == 7).all()
    found[~occupied_rows] = 0
    unlike = images._replace(background=np.zeros_like(planes[1]))
    assert not find_darkened(unlike, rule, occupied_rows.astype(np.uint8), np.empty_like(mask))

    f, b = (np.maximum(image.astype(np.float64).mean(0) - black, 0) + 1 for image in (frame, background))
    now, learned = (np.maximum(image.astype(np.float64) - black, 0) + 1 for image in (frame, background))
    change = np.abs(now / f - learned / b).max(0)
    candidate = (mask != 0) & (f > 0.25 * b) & (f < 0.97 * b) & (change < 0.09)
    sure = np.zeros(mask.shape, bool)  # away from the limits, where rounding decides
    expected = np.zeros(mask.shape, bool)
    for y, x in np.ndindex(height, width):
        square = slice(max(y - REACH, 0), y + REACH + 1), slice(max(x - REACH, 0), x + REACH + 1)
        here = candidate[square]
        if not candidate[y, x]:
            sure[y, x] = True
            continue
        fs, bs = f[square][here], b[square][here]
        unexplained = ((fs - fs.mean() / bs.mean() * bs) ** 2).mean()
        most = 0.002 * (bs**2).mean() + 30
        expected[y, x] = unexplained < most and here.sum() >= 6.25
        sure[y, x] = abs(unexplained - most) > 0.5
    cells = random.choice([0, IN_SMALL, IN_LARGE, IN_LARGE], (-(-height // CELL), -(-width // CELL))).astype(np.uint8)
    large = np.kron(cells & IN_LARGE != 0, np.ones((CELL, CELL), bool))[:height, :width]
    lit = (mask != 0) & (b < 0.97 * f)
    alike_there = lit & (change < 0.09)
    counted = [(y, x) for y in range(0, height, 2) for x in range(0, width, 2) if large[y, x]]
    around = {(y, x): alike_there[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3].sum() for y, x in counted}
    brighter, alike = count_brighter(images, cells, rule, 1)
    assert abs(brighter - sum(lit[at] for at in counted)) <= 3  # rounding at the limit
    assert abs(alike - sum(alike_there[at] and around[at] >= 6.25 for at in counted)) <= 3
    assert brighter > (2 if SMALL else 20)
    assert 0.05 < expected.mean() < 0.9
    assert (found[sure] == np.where(expected, 255, 0)[sure]).all()


@pytest.mark.parametrize(("size", "step"), [((7, 9), 1), ((31, 50), 3), ((33, 131), 4)])
def test_an_enlarged_mask_is_written_into_the_foreground_only(size, step):
    random = np.random.default_rng(0)
    found = np.zeros(size, np.uint8)[step // 2 :: step, step // 2 :: step].copy()
    found[random.random(found.shape) < 0.3] = 255
    found[random.random(found.shape) < 0.2] = OPENED
    final, unfilled = (np.where(random.random(size) < 0.7, np.uint8(255), np.uint8(0)) for _ in range(2))
    mask, found_rows = final.copy(), np.ones(len(found), np.uint8)
    found_rows[1] = 0
    for first, last in ((0, 3), (3, size[0])):
        write_enlarged(first, last, found, found_rows, step, unfilled, 127, mask)
    found[1] = 0
    rows, columns = (np.minimum(np.arange(n) // step, m - 1) for n, m in zip(size, found.shape, strict=True))
    large = found[rows][:, columns]
    expected = np.where((large == 255) & (final != 0), 127, final)
    expected[(large == OPENED) & (final != 0) & (unfilled == 0)] = 0
    np.testing.assert_array_equal(mask, expected)
    assert set(np.unique(mask)) == {0, 127, 255}


def find_shadows(mask, now, learned, colours=None):
    """Return a mask of the shadows in another, given pictures (H, W, 3)."""
    left = mask.copy()
    mark_shadows(
        left, np.ones(len(left), np.uint8), mask, *planes_of(now, learned), Levels(255.0), 1, 127, colours or Colours()
    )
    assert set(np.unique(left)) <= {0, 127, 255}
    return np.where(left == 127, np.uint8(255), np.uint8(0))


@pytest.mark.parametrize("channels", [1, 3])
def test_grey_frames_ask_for_more_texture(channels):
    """Where there is a hue, a thing of nearly the background's texture and of its very hue is rare."""
    random = np.random.default_rng(0)
    learned = np.full((60, 80, channels), 120.0) + random.normal(0, 6, (60, 80, 1))
    mask = np.zeros((60, 80), np.uint8)
    mask[10:50, 10:] = 255
    shadow, thing = learned.copy(), learned.copy()
    shadow[mask != 0] *= 0.8
    thing[mask != 0] = 96 + random.normal(0, 3, (60, 80, 1))[mask != 0]
    colours = Colours(seen=channels > 1)
    assert (find_shadows(mask, shadow, learned, colours)[mask != 0] != 0).mean() > 0.9
    found = (find_shadows(mask, thing, learned, colours)[mask != 0] != 0).mean()
    assert found < 0.01 if channels == 1 else found > 0.99


def test_a_hole_that_a_shadow_alone_closes_is_background():
    """Between legs and their shadow on the ground nothing is foreground; a window in a car is."""
    random = np.random.default_rng(0)
    learned = np.full((70, 90, 3), 120.0) + random.normal(0, 3, (70, 90, 1))
    now = learned.copy()
    mask = np.zeros((70, 90), np.uint8)
    mask[10:60, 20:70] = 255
    unfilled = mask.copy()
    between, window = (slice(30, 50), slice(38, 52)), (slice(16, 20), slice(40, 48))
    now[10:60, 20:70] = (30, 60, 200)
    now[50:60, 20:70] = 0.5 * learned[50:60, 20:70]
    for hole in (between, window):
        now[hole], unfilled[hole] = learned[hole], 0
    now[30:50, 34:38], now[30:50, 52:56] = (30, 60, 200), (30, 60, 200)
    left = mask.copy()
    mark_shadows(
        left, np.ones(len(left), np.uint8), unfilled, *planes_of(now, learned), Levels(255.0), 1, 127, Colours()
    )
    assert (left[between] == 0).mean() > 0.8
    assert (left[window] == 255).all()
    assert (left[54:60, 24:66] == 127).mean() > 0.9
    assert (mask[between] == 255).all()


def test_a_penumbra_is_shadow_where_most_objects_have_another_colour_than_the_background():
    random = np.random.default_rng(0)
    learned = np.array([60.0, 140.0, 90.0]) + random.normal(0, 10, (60, 80, 1))
    light = np.ones((60, 80))
    light[:, 30:34], light[:, 34:46], light[:, 46:50] = np.linspace(0.9, 0.4, 4), 0.35, np.linspace(0.4, 0.9, 4)
    now = learned * light[..., None]
    now[:, 10:30] = (40, 60, 200)
    mask = np.zeros((60, 80), np.uint8)
    mask[10:50, 10:50] = 255
    strict = find_shadows(mask, now, learned)
    few, many = (find_shadows(mask, now, learned, Colours(5000.0, alike)) for alike in (20.0, 2000.0))
    most = find_shadows(mask, now, learned, Colours(5000.0, 3000.0))
    penumbra = (light > 0.36) & (light < 1) & (mask != 0)
    assert (most == strict).all()
    assert (few == many).all()
    assert (few[penumbra] != 0).mean() > (strict[penumbra] != 0).mean() + 0.2
    assert (few[:, 10:28] == 0).all()


def test_a_dark_region_that_looks_like_shadow_as_a_whole_is_one_only_where_colours_tell_objects():
    """Its caster may look like the background, or have just left the picture."""
    random = np.random.default_rng(0)
    learned = np.array([60.0, 140.0, 90.0]) + random.normal(0, 10, (60, 80, 1))
    now, mask = learned.copy(), np.zeros((60, 80), np.uint8)
    now[20:40, 20:50] *= 0.5
    mask[20:40, 20:50] = 255
    assert not find_shadows(mask, now, learned).any()
    assert not find_shadows(mask, now, learned, Colours(5000.0, 2000.0)).any()
    assert find_shadows(mask, now, learned, Colours(5000.0, 20.0))[22:38, 22:48].all()


@needs_compiler
def test_what_small_squares_alone_find_says_nothing_of_colours():
    """Leaves and waves are small, and have the colour of the background."""
    random = np.random.default_rng(0)
    scene = np.full((120, 160, 3), 80, np.uint8)
    counts = {}
    for side in (5, 40):
        model = create("adaptive", shadows=True)
        for _ in range(30):
            model.apply(np.clip(scene + random.normal(0, 2, scene.shape), 0, 255).astype(np.uint8))
        thing = scene.copy()
        thing[40 : 40 + side, 40 : 40 + side] = 160
        assert show_until_counted(model, thing)[42, 42] == 255
        counts[side] = model._scalars["brighter_alike"]
    assert counts[5] == 0
    assert counts[40] > 300


def test_grey_trousers_between_a_coat_and_shoes_are_no_shadow():
    """They are as grey as the street; what the shoes cast beside them is shadow."""
    random = np.random.default_rng(0)
    learned = np.full((100, 90, 3), 150.0) + random.normal(0, 2, (100, 90, 1))
    now, mask = learned.copy(), np.zeros((100, 90), np.uint8)
    coat, trousers, shoes, shadow = (
        np.s_[10:40, 30:50],
        np.s_[40:75, 30:50],
        np.s_[75:85, 30:50],
        np.s_[75:85, 50:80],
    )
    for thing in (coat, trousers, shoes, shadow):
        mask[thing] = 255
    now[coat], now[shoes] = (30, 60, 200), (10, 20, 90)
    now[trousers] *= 0.7
    now[shadow] *= 0.7
    found = find_shadows(mask, now, learned)
    assert not found[trousers].any()
    assert (found[shadow] != 0).mean() > 0.8


@pytest.mark.parametrize("noise", [0, 8])
def test_a_lone_shade_with_a_sharp_outline_is_an_object_and_a_soft_one_a_cloud(noise):
    """Someone dressed like the wall; noise, which only the frame has, is no outline."""
    random = np.random.default_rng(0)
    learned = np.full((100, 160, 3), 150.0) + random.normal(0, 4, (100, 160, 1))
    mask = np.zeros((100, 160), np.uint8)
    cv2.ellipse(mask, (80, 50), (50, 30), 0, 0, 360, 255, cv2.FILLED)
    sharp = (mask != 0).astype(np.float32)
    for shade, share in ((sharp, 0), (cv2.GaussianBlur(sharp, (0, 0), 9), 1)):
        now = learned * (1 - 0.2 * shade[..., None]) + random.normal(0, noise, (100, 160, 1))
        region = np.where(shade > 0.15, np.uint8(255), np.uint8(0))
        assert abs((find_shadows(region, now, learned)[region != 0] != 0).mean() - share) < 0.1


@needs_compiler
def test_single_pixels_of_the_colour_of_the_background_say_nothing_of_colours():
    random = np.random.default_rng(0)
    scene = np.full((120, 160, 3), 80, np.uint8)
    counts = {}
    for kind in ("dots", "stripes"):
        model = create("adaptive", shadows=True)
        for _ in range(30):
            model.apply(np.clip(scene + random.normal(0, 2, scene.shape), 0, 255).astype(np.uint8))
        thing = scene.copy()
        thing[40:80, 40:80] = (40, 160, 220)
        thing[(np.s_[40:80:4, 40:80:4] if kind == "dots" else np.s_[40:80, 40:50])] = 160
        show_until_counted(model, thing)
        counts[kind] = model._scalars["brighter_alike"]
    assert counts["dots"] == 0
    assert counts["stripes"] > 70


@pytest.mark.skipif(SMALL, reason="larger than 320x240")
def test_a_shadow_in_a_large_frame_takes_its_border():
    """Shadows of large frames are looked for in every second row and column; the border lies between them."""
    size = (480, 640)
    learned = np.full((*size, 3), (90.0, 110.0, 130.0))
    now, mask = learned.copy(), np.zeros(size, np.uint8)
    now[202:301, 102:301] *= 0.8
    now[152:202, 102:161] = (200, 30, 20)
    mask[202:301, 102:301], mask[152:202, 102:161] = 255, 255
    shadow = find_shadows(mask, now, learned)
    assert shadow[220:301, 200:301].all()
    assert not shadow[152:190, 102:161].any()


@needs_compiler
def test_colours_are_counted_by_models_that_learn():
    model, scene = create("adaptive"), filmed(street(), 0)
    for _ in range(30):
        model.apply(scene)
    thing = scene.copy()
    thing[20:50, 20:50] = (250, 240, 20)
    for _ in range(COLOUR_INTERVAL):
        assert model.apply(thing, learningRate=0)[30, 30] == 255
    assert model._scalars["brighter"] == 0
    show_until_counted(model, thing)
    assert 170 < model._scalars["brighter"] <= 280
    assert model._scalars["brighter_alike"] < 6


def shaded_street(factor):
    """Return a frame with an object that casts a shadow, and masks of both."""
    scene = smooth_street()
    thing, shadow = np.zeros(SIZE, bool), np.zeros(SIZE, bool)
    thing[10:40, 20:34] = shadow[28:40, 34:60] = True
    now = np.where(shadow[..., None], scene * factor, scene)
    now[thing] = (30, 60, 200)
    return filmed(now, 5), thing, shadow


@needs_compiler
@pytest.mark.parametrize(("parameters", "value"), [({}, 0), ({"shadows": True}, 255), ({"detect_shadows": True}, 127)])
def test_cast_shadows_are_background_unless_asked_for(parameters, value):
    model = create("adaptive", **parameters)
    for t in range(40):
        model.apply(filmed(smooth_street(), t))
    frame, thing, shadow = shaded_street(0.5)
    mask = model.apply(frame)
    assert (mask[thing] == 255).mean() > 0.95
    assert (mask[shadow] == value).mean() > 0.85


@pytest.mark.parametrize("place", [np.s_[20:40, :20], np.s_[20:40, 60:], np.s_[:20, 30:50], np.s_[40:, 30:50]])
def test_a_mild_shade_alone_is_cast_from_outside_the_frame_and_a_dark_one_is_an_object(place):
    learned = np.full((60, 80, 3), 200.0)
    for factor, shadow in ((0.4, False), (0.85, True)):
        now, mask = learned.copy(), np.zeros((60, 80), np.uint8)
        mask[place] = 255
        now[place] *= factor
        assert (find_shadows(mask, now, learned) == (mask if shadow else 0)).all()


@pytest.mark.parametrize("size", [(30, 40), (300, 401)] if not SMALL else [(30, 40)])
def test_shadows_of_any_size_of_frame_lie_inside_the_mask(size):
    random = np.random.default_rng(0)
    learned = cv2.resize(random.integers(60, 200, (6, 8, 3)).astype(np.float64), size[::-1])
    mask = np.zeros(size, np.uint8)
    mask[: size[0] // 2 + 1, size[1] // 4 : 3 * size[1] // 4 + 2] = 255
    now = np.where(mask[..., None] != 0, learned * 0.8, learned)
    found = find_shadows(mask, now, learned)
    assert not found[mask == 0].any()
    assert (found[mask != 0] != 0).mean() > 0.9


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
