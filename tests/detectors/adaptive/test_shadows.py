"""Shadows in the adaptive detector: what may be one, what is judged to be, and what is reported."""

import numpy as np
import pytest

from bgsub._jit.majority import CELL, IN_LARGE, IN_SMALL
from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive._jit.shadows.brighter import count_brighter
from bgsub.detectors.adaptive._jit.shadows.darkening import REACH, SEGMENT, Darkening, Images, find_darkened
from bgsub.detectors.adaptive._jit.shadows.kinds import DETAIL, FAINT, FILLED, RIM, SOLID, SPECK, tell_kinds
from bgsub.detectors.adaptive._jit.shadows.voting import OPENED, write_enlarged
from bgsub.detectors.adaptive.shadows import Colours, Levels, count_interval, mark_shadows
from tests.detectors.adaptive.test_adaptive import SIZE, filmed, planes_of, street
from tests.detectors.adaptive.test_light import smooth_street
from tests.detectors.reference import SMALL
from tests.marks import needs_compiler


def show_until_counted(model, frame):
    """Apply a frame as often as colours take to be counted, once; return the first mask."""
    masks = [model.apply(frame) for _ in range(count_interval(0))]
    return masks[0]


@pytest.mark.parametrize("chance", [0, 1.64**2])
@pytest.mark.parametrize(("channels", "black"), [(1, 0), (3, 0), (1, 50), (3, 50)])
def test_darkened_background_equals_plain_numpy(channels, black, chance):
    height, width = (8, 90) if SMALL else (20, 150)
    random = np.random.default_rng(channels)
    background = random.integers(40, 200, (channels, height, width)).astype(np.float64)
    frame = background * random.choice([0.2, 0.5, 0.8, 1.0, 1.2], (height, width))
    shaded = frame[:, : height // 2]
    shaded[:] = background[:, : height // 2] * 0.6 + random.normal(0, 6, shaded.shape)
    third, half, noise = width // 3, width // 2, random.normal(0, 1.2, shaded.shape)  # where a plain dark thing is
    rough = slice(2 * third, 2 * third + third // 2)  # as rough as its shadow would be, but otherwise
    background[:, : height // 2, third : rough.stop] = 90 + 6 * noise[:, ::-1, third : rough.stop]
    shaded[:, :, third:half] = 60  # smoothed
    shaded[:, :, half : rough.start] = 54 + noise[:, :, half : rough.start]
    shaded[:, :, rough] = 54 + 3 * noise[:, :, rough]
    frame, background = np.clip(frame + black, 0, 255).astype(np.uint8), (background + black).astype(np.uint8)
    mask = np.where(random.random((height, width)) < 0.8, np.uint8(255), np.uint8(0))
    mask[: height // 2, : width // 3] = 255
    mask[:, 64:66] = 0
    mask[height // 2 + 1] = 0
    rule = Darkening(*(np.float32(value) for value in (0.25, 0.97, chance, 0.09, 0.002, 30.0, 0.3, 0.15, 6.25, 0.5)))
    planes = frame.reshape(channels, -1), background.reshape(channels, -1)
    kinds = (
        np.random.default_rng(7).choice([FAINT, RIM, SPECK, FILLED, DETAIL, *[SOLID] * 20], mask.shape).astype(np.uint8)
    )
    kinds[mask == 0] = FAINT
    images = Images(mask, kinds, *planes, np.float32(1), np.float32(black))
    found, occupied_rows, any_found = np.full_like(mask, 7), mask.any(1), np.zeros(1, np.uint8)
    asked = np.ones((height, -(-width // SEGMENT)), np.uint8)
    darker, rows = np.zeros_like(asked), occupied_rows.astype(np.uint8)
    for band in ((0, 5), (5, 6), (6, height)):
        find_darkened(*band, images, rule, rows, asked, found, any_found, darker)
    assert any_found[0] == 1
    assert (found[~occupied_rows] == 7).all()
    found[~occupied_rows] = 0
    unlike = images._replace(background=np.zeros_like(planes[1]))
    for others, segments in ((unlike, asked), (images, np.zeros_like(asked))):
        any_found[0] = 0
        find_darkened(0, height, others, rule, rows, segments, np.empty_like(mask), any_found, np.zeros_like(asked))
        assert any_found[0] == 0

    f, b = (np.maximum(image.astype(np.float64).mean(0) - black, 0) + 1 for image in (frame, background))
    now, learned = (np.maximum(image.astype(np.float64) - black, 0) + 1 for image in (frame, background))
    change = np.abs(now / f - learned / b).max(0)
    alike = (mask != 0) & (f < 0.97 * b) & (change < 0.09)
    candidate = alike & (f > 0.25 * b)
    padded = np.zeros((height, darker.shape[1] * SEGMENT), bool)
    padded[:, :width] = alike & ~candidate
    np.testing.assert_array_equal(darker, padded.reshape(height, -1, SEGMENT).any(2))
    assert 0 < darker.sum() < darker.size
    is_side = (mask != 0) & (kinds > RIM) & (kinds != SPECK)
    beyond = np.pad(is_side, 1, mode="edge")
    has_sides = is_side & beyond[:-2, 1:-1] & beyond[2:, 1:-1] & beyond[1:-1, :-2] & beyond[1:-1, 2:]
    inner = candidate & (has_sides | (kinds == FAINT))
    sure = np.zeros(mask.shape, bool)  # away from the limits, where rounding decides
    expected, flat, smooth, otherwise = np.zeros((4, *mask.shape), bool)
    for y, x in np.ndindex(height, width):
        square = slice(max(y - REACH, 0), y + REACH + 1), slice(max(x - REACH, 0), x + REACH + 1)
        here = inner[square]
        if not candidate[y, x] or here.sum() < 2:
            sure[y, x] = True
            continue
        fs, bs = f[square][here], b[square][here]
        light, shared = fs.mean() / bs.mean(), ((fs - fs.mean()) * (bs - bs.mean())).mean()
        unexplained = ((fs - light * bs) ** 2).sum() / (here.sum() - 1)
        most = 0.002 * (bs**2).mean() + 30
        texture = light**2 * bs.var()
        is_flat = 0.15 <= fs.var() <= 0.3 * texture
        smooth[y, x] = fs.var() < min(0.15, 0.3 * texture)
        flat[y, x] = is_flat and unexplained < most
        by_chance = np.sqrt(chance * fs.var() * bs.var() / here.sum())
        otherwise[y, x] = chance > 0 and shared <= by_chance and unexplained < most and not is_flat
        is_like = unexplained < most and not is_flat and not otherwise[y, x]
        expected[y, x] = is_like and candidate[square].sum() >= 6.25
        sure[y, x] = chance == 0 or is_flat or abs(shared - by_chance) > 0.2
        sure[y, x] &= min(abs(unexplained - most), 5 * abs(fs.var() - 0.15), 5 * abs(fs.var() - 0.3 * texture)) > 0.5
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
    assert (expected & ~inner).sum() > 10
    assert (candidate & ~expected).sum() > 10
    assert (flat & sure).sum() > (2 if SMALL else 15)
    assert (otherwise & sure).sum() >= (0 if chance == 0 else 3 if SMALL else 15)
    # What is smooth varies with nothing.
    assert (smooth & expected & sure).sum() >= (0 if chance > 0 else 3 if SMALL else 15)
    assert (found[sure] == np.where(expected, 255, 0)[sure]).all()


def test_kinds_of_foreground_are_told_as_by_plain_numpy():
    random, size = np.random.default_rng(0), (9, 70)
    detailed, final, unfilled = (np.where(random.random(size) < 0.6, np.uint8(255), np.uint8(0)) for _ in range(3))
    kinds = np.full(size, 7, np.uint8)
    for first, last in ((4, 9), (0, 4)):
        tell_kinds(first, last, detailed, final, unfilled, kinds)
    of_squares = np.where(unfilled != 0, SOLID, FILLED)
    expected = np.where(detailed == 0, FAINT, np.where(final != 0, of_squares, DETAIL))
    assert (kinds == expected).all()
    assert set(np.unique(kinds)) == {FAINT, FILLED, DETAIL, SOLID}


@pytest.mark.parametrize(("size", "step"), [((7, 9), 1), ((31, 50), 3), ((33, 131), 4)])
def test_an_enlarged_mask_is_written_into_the_foreground_only(size, step):
    random = np.random.default_rng(0)
    found = np.zeros(size, np.uint8)[step // 2 :: step, step // 2 :: step].copy()
    found[random.random(found.shape) < 0.3] = 255
    found[random.random(found.shape) < 0.2] = OPENED
    final = np.where(random.random(size) < 0.7, np.uint8(255), np.uint8(0))
    kinds = random.choice([FAINT, FILLED, DETAIL, SOLID], size).astype(np.uint8)
    mask, found_rows = final.copy(), np.ones(len(found), np.uint8)
    found_rows[1] = 0
    for first, last in ((0, 3), (3, size[0])):
        write_enlarged(first, last, found, found_rows, step, kinds, 127, mask)
    found[1] = 0
    rows, columns = (np.minimum(np.arange(n) // step, m - 1) for n, m in zip(size, found.shape, strict=True))
    large = found[rows][:, columns]
    expected = np.where((large == 255) & (final != 0), 127, final)
    expected[(large == OPENED) & (final != 0) & (kinds < DETAIL)] = 0
    np.testing.assert_array_equal(mask, expected)
    assert set(np.unique(mask)) == {0, 127, 255}


def find_shadows(mask, now, learned, colours=None, threads=1):
    """Return a mask of the shadows in another, given pictures (H, W, 3)."""
    left, rows, planes = mask.copy(), np.ones(len(mask), np.uint8), planes_of(now, learned)
    mark_shadows(left, rows, mask, *planes, Levels(255.0), threads, 127, colours or Colours())
    assert set(np.unique(left)) <= {0, 127, 255}
    return np.where(left == 127, np.uint8(255), np.uint8(0))


@needs_compiler
def test_a_deep_shadow_varies_with_the_ground_and_trousers_do_not():
    random, mask = np.random.default_rng(0), np.zeros((60, 80), np.uint8)
    learned = np.clip(random.normal(140, 20, (60, 80, 1)), 60, 220).repeat(3, 2)
    mask[20:60, 20:60] = 255
    shadow, trousers = learned.copy(), learned.copy()
    shadow[mask != 0] *= 0.22
    trousers[mask != 0] = random.normal(31, 4.4, (np.count_nonzero(mask), 1))  # as dark, and varies as much
    colours = Colours(5000.0, 20.0)  # which tell objects: what is shadow as a whole is none
    grey = colours._replace(seen=False)

    def share(now, colours):
        return (find_shadows(mask, now, learned, colours)[30:50, 30:50] != 0).mean()

    assert share(shadow, colours) > 0.95
    assert share(trousers, colours) == 0
    assert share(shadow, grey) == 0  # where nothing so dark is shadow


@needs_compiler
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
    kinds = mask.copy()
    between, window = (slice(30, 50), slice(38, 52)), (slice(16, 20), slice(40, 48))
    now[10:60, 20:70] = (30, 60, 200)
    now[50:60, 20:70] = 0.5 * learned[50:60, 20:70]
    for hole in (between, window):
        now[hole], kinds[hole] = learned[hole], FILLED
    now[30:50, 34:38], now[30:50, 52:56] = (30, 60, 200), (30, 60, 200)
    left = mask.copy()
    mark_shadows(left, np.ones(len(left), np.uint8), kinds, *planes_of(now, learned), Levels(255.0), 1, 127, Colours())
    assert (left[between] == 0).mean() > 0.8
    assert (left[window] == 255).all()
    assert (left[54:60, 24:66] == 127).mean() > 0.9
    assert (mask[between] == 255).all()


@needs_compiler
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
    assert ((most != 0) <= (strict != 0)).all()
    for found in few, many:
        assert (found[penumbra] != 0).mean() > (strict[penumbra] != 0).mean() + 0.2
        assert (found[:, 10:28] == 0).all()


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
def test_a_larger_majority_is_asked_for_where_objects_have_the_colours_of_the_background():
    random = np.random.default_rng(0)
    learned = np.array([60.0, 140.0, 90.0]) + random.normal(0, 3, (60, 80, 1))
    now, mask = 0.5 * learned, np.zeros((60, 80), np.uint8)
    now[:, np.arange(80) % 5 >= 3] = (40, 60, 200)  # squares of 5 vote in so small a frame
    mask[10:50, 10:70] = 255
    dark = (mask != 0) & (now[..., 2] < 150)
    few, many = (find_shadows(mask, now, learned, Colours(5000.0, alike))[dark] != 0 for alike in (1000.0, 4000.0))
    assert few.mean() > 0.9
    assert many.mean() < 0.1
    grey_now, grey = now.mean(2, keepdims=True), learned.mean(2, keepdims=True)
    unseen = [find_shadows(mask, grey_now, grey, Colours(0.0, alike, seen=False)) for alike in (0.0, 4000.0)]
    assert (unseen[0] == unseen[1]).all()


def street_with_walker():
    """Return the background, the frame, and masks of somebody in red and of his long thin shadow, which is soft."""
    random = np.random.default_rng(0)
    learned = np.full((100, 120, 3), 150.0) + random.normal(0, 3, (100, 120, 1))
    thing, shade = np.zeros((2, 100, 120), np.float32)
    thing[30:60, 20:28] = 1
    for column in range(28, 90):
        row = 58 - (column - 28) // 5
        shade[row - 1 : row + 3, column] = 1
    shade = cv2.GaussianBlur(shade, (0, 0), 0.9)
    now = learned * (1 - 0.5 * shade[..., None])
    now[thing != 0] = (30, 40, 180)
    return learned, now, thing != 0, (shade > 0.15) & (thing == 0)


@needs_compiler
def test_shadows_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("bgsub._numba.bands._MIN_PIXELS_PER_BAND", 1)  # else one thread does all of so small a frame
    random, size = np.random.default_rng(0), (120, 160)
    learned = np.full((*size, 3), 150.0) + random.normal(0, 3, (*size, 1))
    is_shadow = np.arange(size[1]) < 60 + random.integers(-20, 21, (size[0], 1))  # whose votes differ from row to row
    now = np.where(is_shadow[..., None], learned * 0.6, (30, 40, 180))
    mask = np.full(size, 255, np.uint8)
    alone = find_shadows(mask, now, learned, threads=1)
    assert 0.2 < (alone != 0).mean() < 0.8
    for _ in range(20):  # bands end in another order each time
        assert (find_shadows(mask, now, learned, threads=0) == alone).all()


@needs_compiler
@pytest.mark.parametrize("cut", [False, True])
def test_a_long_thin_shadow_is_one_though_nearly_all_of_it_is_penumbra(cut):
    """Also where the mask is torn between the feet and the shadow: there is a larger thing that may cast it."""
    learned, now, thing, shadow = street_with_walker()
    if cut:
        shadow[:, 28:34] = shadow[:, 60:64] = False
    found = find_shadows(np.where(thing | shadow, np.uint8(255), np.uint8(0)), now, learned)
    assert (found[shadow] != 0).mean() > 0.9
    assert (found[thing] != 0).mean() < 0.02


@needs_compiler
@pytest.mark.parametrize("noise", [1.0, 10.0])
def test_a_plain_dark_thing_on_rough_ground_is_no_shadow(noise):
    """A shadow shows the texture below it, unless a codec has smoothed it, of which the want of noise tells."""
    random, size = np.random.default_rng(0), (100, 120)
    learned = np.full((*size, 3), 150.0) + random.normal(0, 8, (*size, 1))
    now, mask = learned.copy(), np.zeros(size, np.uint8)
    walker, shadow, plain = (
        (slice(20, 60), slice(4, 25)),
        (slice(40, 60), slice(25, 60)),
        (slice(40, 60), slice(70, 105)),
    )
    now[walker], now[shadow], now[plain] = (30, 40, 180), 0.6 * learned[shadow], 0.6 * 150
    now = now + random.normal(0, 1, now.shape)
    for place in (walker, shadow, plain):
        mask[place] = 255
    left, rows = mask.copy(), np.ones(len(mask), np.uint8)
    mark_shadows(left, rows, mask, *planes_of(now, learned), Levels(255.0, noise=noise), 1, 127, Colours())
    assert (left[shadow] == 127).mean() > 0.9
    assert (left[plain] == (255 if noise == 1 else 127)).mean() > 0.9


@needs_compiler
def test_a_dark_region_larger_than_what_else_is_seen_is_no_shadow_of_it():
    learned, now, thing, _ = street_with_walker()
    now[60:95, 60:110] = 0.5 * learned[60:95, 60:110]
    dark = np.zeros_like(thing)
    dark[60:95, 60:110] = True
    found = find_shadows(np.where(thing | dark, np.uint8(255), np.uint8(0)), now, learned)
    assert not found.any()


def test_what_is_faint_has_no_penumbra():
    """Of a thing that is hardly darker than the background, every pixel counts."""
    learned, now, thing, shadow = street_with_walker()
    mask = np.where(thing | shadow, np.uint8(255), np.uint8(0))
    kinds, left = np.where(shadow, FAINT, mask), mask.copy()
    rows = np.ones(len(mask), np.uint8)
    mark_shadows(left, rows, kinds, *planes_of(now, learned), Levels(255.0), 1, 127, Colours())
    assert (left[shadow] == 127).mean() < 0.2


@needs_compiler
@pytest.mark.parametrize("kind", [RIM, SPECK])
def test_a_shadow_is_not_judged_by_its_rim(kind):
    """What is faint or tiny beside a thin shadow is penumbra: it is no side of it, and has no weight."""
    learned, now, thing, shadow = street_with_walker()
    mask = np.where(thing | shadow, np.uint8(255), np.uint8(0))
    plain, rows = mask.copy(), np.ones(len(mask), np.uint8)
    mark_shadows(plain, rows, mask, *planes_of(now, learned), Levels(255.0), 1, 127, Colours())
    rim = (cv2.dilate(mask, np.ones((5, 5), np.uint8)) != 0) & (mask == 0)
    kinds, wide = np.where(rim, kind, mask), np.where(rim, np.uint8(255), mask)
    mark_shadows(wide, rows, kinds, *planes_of(now, learned), Levels(255.0), 1, 127, Colours())
    assert (plain[shadow] == 127).mean() > 0.8
    assert (wide[shadow] == 127).mean() > (plain[shadow] == 127).mean() - 0.02


def test_details_stay_where_there_are_shadows_elsewhere_and_faint_things_do_not():
    """Details are no holes, which shadows open; a cloud is faint at first, and dark elsewhere."""
    learned, now, thing, shadow = street_with_walker()
    mask = np.where(thing | shadow, np.uint8(255), np.uint8(0))
    kinds = mask.copy()
    for place, kind in (((10, 100), DETAIL), ((15, 100), FAINT)):
        mask[place], kinds[place], now[place] = 255, kind, (0, 200, 0)
    left = mask.copy()
    rows = np.ones(len(mask), np.uint8)
    mark_shadows(left, rows, kinds, *planes_of(now, learned), Levels(255.0), 1, 127, Colours())
    assert (left == 127).sum() > 50
    assert (left[10, 100], left[15, 100]) == (255, 0)


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


@needs_compiler
@pytest.mark.parametrize("noise", [0, 6])
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
    for _ in range(count_interval(0)):
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


@needs_compiler
@pytest.mark.parametrize(("factor", "value"), [(0.42, 127), (0.28, 255)])
def test_what_is_darker_than_a_third_of_the_background_is_no_shadow(factor, value):
    model = create("adaptive", detect_shadows=True)
    for t in range(40):
        model.apply(filmed(smooth_street(), t))
    frame, thing, shadow = shaded_street(factor)
    mask = model.apply(frame)
    assert (mask[thing] == 255).mean() > 0.95
    assert (mask[shadow] == value).mean() > 0.85


@needs_compiler
@pytest.mark.parametrize("place", [np.s_[20:40, :20], np.s_[20:40, 60:], np.s_[:20, 30:50], np.s_[40:, 30:50]])
def test_a_mild_shade_alone_is_cast_from_outside_the_frame_and_a_dark_one_is_an_object(place):
    learned = np.full((60, 80, 3), 200.0)
    for factor, shadow in ((0.4, False), (0.85, True)):
        now, mask = learned.copy(), np.zeros((60, 80), np.uint8)
        mask[place] = 255
        now[place] *= factor
        assert (find_shadows(mask, now, learned) == (mask if shadow else 0)).all()


@pytest.mark.parametrize(("seen", "shadow"), [(True, True), (False, False)])
def test_a_dark_region_of_which_most_is_like_shadow_is_an_object_where_the_camera_shows_no_colours(seen, shadow):
    learned = np.full((60, 80, 3), 200.0)
    now, mask = learned.copy(), np.zeros((60, 80), np.uint8)
    mask[20:40, 20:60] = 255
    now[20:40, 20:52] *= 0.5  # four fifths of a thing
    now[20:40, 52:60] = 250.0
    found = find_shadows(mask, now, learned, Colours(seen=seen))
    assert (found[24:36, 24:46] != 0).all() == shadow
    assert found.any() == shadow


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
