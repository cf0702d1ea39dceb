"""Knocks of the camera in the adaptive detector: how far the background went, and a model that follows."""

import numpy as np
import pytest

from bgsub._numba import JIT_ENABLED
from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive.block_images import as_image
from bgsub.detectors.adaptive.camera import Shift, find_shift, is_sudden, move
from bgsub.detectors.adaptive.model import make_arrays
from tests.detectors.adaptive.test_adaptive import filmed, planes_of


def scenery(size, seed=0):
    """Return a picture with edges, larger than a frame."""
    random = np.random.default_rng(seed)
    coarse = random.integers(30, 220, (size[0] // 10, size[1] // 10, 3)).astype(np.float64)
    return cv2.resize(coarse, size[::-1], interpolation=cv2.INTER_NEAREST)


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
        if name not in {"static", "onset_rates", "vote_cells"}:
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


@pytest.mark.skipif(not JIT_ENABLED, reason="too many pixels for plain Python")
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


@pytest.mark.skipif(not JIT_ENABLED, reason="too many pixels for plain Python")
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
