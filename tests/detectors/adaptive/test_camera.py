"""Cameras that are knocked or turned: how far the background went, another view, and a model that follows."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive._jit.blocks import as_image
from bgsub.detectors.adaptive._jit.offsets import add_channels, compare_shifted, find_directions
from bgsub.detectors.adaptive.camera.shifts import Shift, find_shift, is_sudden, move
from bgsub.detectors.adaptive.reduced import find_likeness, make_view, see_view
from bgsub.detectors.adaptive.state import make_arrays
from tests.detectors.adaptive.test_adaptive import filmed, planes_of
from tests.marks import needs_compiler


def scenery(size, seed=0):
    """Return a picture with edges, larger than a frame."""
    random = np.random.default_rng(seed)
    coarse = random.integers(30, 220, (size[0] // 10, size[1] // 10, 3)).astype(np.float64)
    return cv2.resize(coarse, size[::-1], interpolation=cv2.INTER_NEAREST)


@needs_compiler
@pytest.mark.parametrize("shift", [Shift(3, -4), Shift(0, 2), Shift(-11, 9)])
@pytest.mark.parametrize("channels", [1, 3])
def test_shift_of_the_background_is_found_in_spite_of_noise_and_an_object(shift, channels):
    whole = scenery((160, 200))[:, :, :channels]
    learned = filmed(whole[20:140, 20:180], 0)
    now = filmed(whole[20 - shift.down : 140 - shift.down, 20 - shift.right : 180 - shift.right], 1)
    now[40:80, 50:70] = 255
    frame = now if channels == 3 else now[:, :, 0]
    planes = np.ascontiguousarray(learned.transpose(2, 0, 1)).reshape(channels, -1)
    assert find_shift(frame, planes, 255.0, 14.0) == shift


@needs_compiler
def test_shift_of_a_large_frame_is_found_on_a_grid():
    whole = cv2.resize(scenery((160, 200)), (1000, 800), interpolation=cv2.INTER_NEAREST)
    learned, now = filmed(whole[100:700, 100:900], 0), filmed(whole[88:688, 109:909], 1)
    found = find_shift(now, planes_of(learned)[0], 255.0, 14.0)
    assert abs(found.down - 12) <= 1
    assert abs(found.right + 9) <= 1


def test_objects_light_and_noise_are_no_shift():
    learned = filmed(scenery((120, 160)), 0)
    (planes,) = planes_of(learned)
    lit = filmed(scenery((120, 160)) * 0.6, 1)
    moved = learned.copy()
    moved[20:100, 30:90] = learned[20:100, 34:94]  # a large part alone
    other = filmed(scenery((120, 160), seed=1), 2)
    for frame in (filmed(scenery((120, 160)), 3), lit, moved, other):
        assert find_shift(frame, planes, 255.0, 14.0) is None


def test_something_that_moves_before_a_plain_background_is_no_shift():
    learned, now = (np.full((72, 96, 3), 90.0) for _ in range(2))
    learned[26:50, 4:18], now[26:50, 14:28] = 180, 180
    (planes,) = planes_of(filmed(learned, 0))
    assert find_shift(filmed(now, 1), planes, 255.0, 14.0) is None


@needs_compiler
def test_something_that_moves_from_the_first_frame_on_is_found_at_once():
    """Before a plain background, where all edges are its own."""
    model, scene = create("adaptive", rate_hz=10), np.full((72, 96, 3), 90.0)
    for t in range(40):
        frame = scene.copy()
        frame[26:50, 2 * t : 2 * t + 14] = 180
        mask = model.apply(filmed(frame, t))
        if t >= 20:
            assert (mask[28:48, 2 * t + 3 : 2 * t + 12] != 0).mean() > 0.9


def test_tiny_frames_have_no_shift():
    for size in ((1, 1), (1, 9), (2, 2)):
        frame = np.random.default_rng(0).integers(0, 255, (*size, 3), np.uint8)
        (planes,) = planes_of(255 - frame)
        assert find_shift(frame, planes, 255.0, 14.0) is None


def test_a_knock_is_foreground_far_above_its_mean():
    assert is_sudden(0.3, 0.02)
    assert not is_sudden(0.04, 0.0)
    assert not is_sudden(0.3, 0.2)


def test_all_that_pixels_keep_moves_with_them():
    size, random = (13, 17), np.random.default_rng(0)
    arrays = make_arrays(size, 3, 2, np.dtype(np.uint8))
    for name, array in arrays.items():
        if name not in {"static", "faint_static", "broad_static", "onset_rates", "vote_cells"}:
            array[:] = random.integers(0, 200, array.shape).astype(array.dtype)
    before = {name: array.copy() for name, array in arrays.items()}
    new = move(arrays, size, Shift(2, -3))
    rows, columns = np.clip(np.arange(13) - 2, 0, 12), np.clip(np.arange(17) + 3, 0, 16)
    for name in ("width_factors", "foreground_ages", "previous_mask"):
        expected = as_image(before[name], size)[rows][:, columns]
        np.testing.assert_array_equal(as_image(arrays[name], size), expected)
    expected = as_image(before["colours"][1, 2], size)[rows][:, columns]
    np.testing.assert_array_equal(as_image(arrays["colours"][1, 2], size), expected)
    assert (new[:2] == 255).all()
    assert (new[:, 14:] == 255).all()
    assert not new[2:, :14].any()


@needs_compiler
def test_a_model_that_may_learn_a_part_only_is_not_moved():
    whole = scenery((140, 180))
    still, turned = whole[10:130, 10:170], whole[14:134, 10:170]
    where = np.zeros((120, 160), bool)
    where[:, :150] = True
    model = create("adaptive")
    for t in range(60):
        model.apply(filmed(still, t), where=where)
    kept = model.getBackgroundImage()[:, 150:].copy()
    for t in range(5):
        model.apply(filmed(turned, 100 + t), where=where)
    np.testing.assert_array_equal(model.getBackgroundImage()[:, 150:], kept)


@needs_compiler
def test_a_camera_that_shakes_before_it_is_still_again_is_followed():
    whole, random = scenery((140, 180)), np.random.default_rng(0)
    model = create("adaptive")
    for t in range(60):
        model.apply(filmed(whole[10:130, 10:170], t))
    for t in range(20):
        down, right = random.integers(0, 20, 2)
        model.apply(filmed(whole[down : down + 120, right : right + 160], 100 + t))
    for t in range(40):
        mask = model.apply(filmed(whole[14:134, 4:164], 200 + t))
    assert (mask != 0).mean() < 0.01


@needs_compiler
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 3])
def test_edges_are_alike_in_any_light_in_part_behind_an_object_and_not_in_another_view(channels, dtype):
    white = {np.uint8: 255.0, np.uint16: 65535.0, np.float32: 1.0}[dtype]

    def likeness(frame):
        first, second = (
            (filmed(image[:, :, :channels], t) * (white / 255)).astype(dtype) for t, image in ((0, scene), (1, frame))
        )
        return find_likeness(*(see_view(np.ascontiguousarray(x.transpose(2, 0, 1)), white) for x in (first, second)))

    scene = scenery((120, 160))
    covered = scene.copy()
    covered[:, :80] = scenery((120, 160), seed=2)[:, :80]
    usual = likeness(scene)  # without what noise there is where nothing has edges it would be 1
    assert usual > 0.7
    assert likeness(scene * 0.7) > 0.9 * usual
    assert 0.35 * usual < likeness(covered) < 0.65 * usual
    assert abs(likeness(scenery((120, 160), seed=1))) < 0.15 * usual
    assert abs(likeness(np.full_like(scene, 90))) < 0.15 * usual


def test_views_of_any_size_are_reduced_by_a_power_of_two_and_tiny_ones_are_like_nothing():
    for size in ((1, 1), (1, 9), (9, 1), (2, 3), (97, 131), (240, 320), (360, 641)):
        view = see_view(np.random.default_rng(0).integers(0, 255, (3, *size), np.uint8), 255.0)
        assert view.shape == make_view(size).shape
        assert find_likeness(view, view) == pytest.approx(1.0 if min(size) > 1 else 0.0)
        assert find_likeness(view, make_view(size)) == 0.0


@needs_compiler
@pytest.mark.parametrize("first", [150, 151])
def test_another_view_is_learned_within_half_a_second_and_the_first_one_is_still_known(first):
    views = [scenery((120, 160), seed=seed) for seed in (0, 1)]
    model = create("adaptive")
    for t in range(first):
        model.apply(filmed(views[0], t))
    shares = [(model.apply(filmed(views[1], 200 + t)) != 0).mean() for t in range(60)]
    assert shares[0] > 0.8
    assert max(shares[12:]) < 0.01
    assert max((model.apply(filmed(views[0], 300 + t)) != 0).mean() for t in range(60)) < 0.01


@needs_compiler
@pytest.mark.parametrize("away", [60, 400])
def test_who_stands_in_a_view_to_which_the_camera_returns_is_seen(away):
    views = [scenery((120, 160), seed=seed) for seed in (0, 1)]
    model = create("adaptive")
    for t in range(150):
        model.apply(filmed(views[0], t))
    for t in range(away):
        model.apply(filmed(views[1], t))
    views[0][40:80, 60:75] = (40.0, 60.0, 220.0)
    truth = np.zeros((120, 160), bool)
    truth[40:80, 60:75] = True
    masks = [model.apply(filmed(views[0], 200 + t)) != 0 for t in range(60)]
    for mask in masks[12:]:
        assert (mask & truth).sum() > 0.9 * truth.sum()
        assert (mask & ~truth).mean() < 0.01


@needs_compiler
def test_a_view_is_recalled_only_where_pixels_may_change():
    views, where = [scenery((120, 160), seed=seed) for seed in (0, 1)], np.zeros((120, 160), np.uint8)
    where[:, :80] = 255
    model = create("adaptive", threads=1)
    for t in range(150):
        model.apply(filmed(views[0], t))
    for t in range(400):
        model.apply(filmed(views[1], t))
    before = model._arrays["colours"].copy()
    for t in range(30):
        mask = model.apply(filmed(views[0], 200 + t), where=where)
    changed = as_image((model._arrays["colours"] != before).any((0, 1)), (120, 160))
    assert changed[:, :80].mean() > 0.9
    assert not changed[:, 80:].any()
    assert (mask[:, :80] != 0).mean() < 0.01


@needs_compiler
@pytest.mark.parametrize("first", [150, 151, 152, 153])
def test_lightning_and_what_covers_the_camera_for_a_moment_leave_the_background_as_it_was(first):
    scene, model = scenery((120, 160)), create("adaptive")
    for t in range(first):
        model.apply(filmed(scene, t))
    for t in range(4):
        assert (model.apply(filmed(np.full_like(scene, 250.0), 200 + t)) != 0).mean() > 0.8
    assert (model.apply(filmed(scene, 210)) != 0).mean() < 0.01


@needs_compiler
def test_a_camera_that_was_turned_slowly_leaves_nothing_of_the_views_between():
    whole, model = scenery((120, 400)), create("adaptive")
    for t in range(200):
        model.apply(filmed(whole[:, :160], t))
    for t in range(60):
        model.apply(filmed(whole[:, 4 * t : 4 * t + 160], t))
    masks = [model.apply(filmed(whole[:, 240:], t)) for t in range(40)]
    assert np.mean([(mask != 0).mean() for mask in masks[20:]]) < 0.01


@needs_compiler
def test_a_camera_that_shakes_for_a_second_forgets_nobody_who_stands_there():
    whole, random, model = scenery((140, 180)), np.random.default_rng(3), create("adaptive", absorb_s=0)
    for t in range(150):
        model.apply(filmed(whole[10:130, 10:170], t))
    whole[40:100, 70:100] = 255 * np.random.default_rng(4).integers(0, 2, (30, 15, 1)).repeat(2, 0).repeat(2, 1)
    for t in range(60):
        model.apply(filmed(whole[10:130, 10:170], t))
    for t in range(30):
        down, right = random.integers(0, 20, 2)
        model.apply(filmed(whole[down : down + 120, right : right + 160], t))
    masks = [model.apply(filmed(whole[10:130, 10:170], t)) for t in range(20)]
    assert (masks[-1][32:88, 62:88] != 0).mean() > 0.9


@needs_compiler
def test_a_camera_that_always_shakes_by_more_than_is_steadied_is_not_followed_to_and_fro():
    random, whole = np.random.default_rng(3), scenery((190, 240))
    model, moves = create("adaptive", threads=1), 0
    for index in range(150):
        down, right = random.integers(-30, 31, 2)
        model.apply(filmed(whole[30 + down : 150 + down, 30 + right : 190 + right], index))
        moves += model._scalars["moved"] == index > 0
    assert 0 < moves < 15  # a shift is sought in half of the frames, if the camera is taken for one that turns


@pytest.mark.compiled
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1)])
def test_pictures_are_compared_as_by_numpy(dtype, white, channels):
    rng, unit = np.random.default_rng(channels), np.float32(255 / white)
    for size, down, right in [((19, 37), 0, 3), ((8, 21), -5, -2), ((30, 16), 4, -7), ((2, 2), 1, 1)]:
        planes = (rng.random((2, channels, *size)) * white).astype(dtype)
        planes[1] = np.where(rng.random(size) < 0.6, np.roll(planes[0], (-down, -right), (1, 2)), planes[1])
        room, grey = np.empty((3, size[1]), np.float32), np.empty(size, np.float32)
        add_channels(planes[0], unit, room[0], grey)
        levels = planes * unit
        assert (grey == levels[0].mean(0, dtype=np.float32)).all()
        height, width = size[0] - abs(down), size[1] - abs(right)
        now = levels[0, :, max(down, 0) :, max(right, 0) :][:, :height, :width]
        here = levels[1, :, max(down, 0) :, max(right, 0) :][:, :height, :width]
        there = levels[1, :, max(-down, 0) :, max(-right, 0) :][:, :height, :width]
        differs, still = ((np.abs(now - other) > np.float32(20)).any(0) for other in (here, there))
        explained = np.empty((height, width), np.uint8)
        counts = compare_shifted(planes, unit, down, right, np.float32(20), room[:, :width], explained)
        assert counts == (differs.sum(), still.sum())
        assert (explained == (differs & ~still)).all()


@pytest.mark.compiled
@pytest.mark.parametrize("unit", [1.0, 0.37])
def test_directions_are_those_of_numpy(unit):
    for seed, size in enumerate([(12, 33), (7, 5), (2, 2), (1, 9), (9, 1)]):
        grey = (np.random.default_rng(seed).random(size) * 255).astype(np.float32)
        view, room = np.empty((2, size[0] - 1, size[1] - 1), np.int8), np.empty((6, size[1]), np.float32)
        find_directions(grey, np.float32(unit), np.float32(4), room, view)
        levels = grey * np.float32(unit)
        steps = np.stack([np.diff(levels, axis=1)[:-1], np.diff(levels, axis=0)[:, :-1]])
        lengths = np.sqrt((steps * steps).sum(0)) + np.float32(4)
        assert (view == np.rint(steps * (np.float32(127) / lengths)).astype(np.int8)).all()
