"""Cameras that shake: how far a frame lies from the background, and masks that do not shake with it."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create, load
from bgsub.detectors.adaptive._jit.offsets import compare_parts, correlate
from bgsub.detectors.adaptive.camera.offsets import find_offset, shift_back, steady
from bgsub.detectors.adaptive.camera.shifts import STILL, Shift
from bgsub.stages import StageTrace
from tests.detectors.adaptive.test_adaptive import filmed, planes_of
from tests.detectors.adaptive.test_camera import scenery
from tests.marks import needs_compiler

SIZE = 120, 160


def seen_from(whole, down, right):
    """Return what a camera sees whose picture lies farther down and to the right than usual."""
    top, left = 20 - down, 25 - right
    return whole[top : top + SIZE[0], left : left + SIZE[1]]


def shaken(count, amplitude, seed=0):
    """Return frames of a shaking camera, without anything else that moves, and their offsets."""
    whole, random = scenery((160, 210)), np.random.default_rng(seed)
    offsets = [Shift(*random.integers(-amplitude, amplitude + 1, 2).tolist()) for _ in range(count)]
    return [filmed(seen_from(whole, *offset), index) for index, offset in enumerate(offsets)], offsets


@pytest.mark.parametrize("step", [1, 3])
def test_correlations_are_those_of_numpy(step):
    random = np.random.default_rng(0)
    frame, background = random.integers(-127, 128, (2, 2, 15, 19)).astype(np.int8)
    found = np.empty((3, 3), np.int64)
    correlate(frame, background, 2, -1, step, found)
    a, b = frame.astype(np.int64), background.astype(np.int64)[:, 3:12:step, 2:17]
    for i in range(3):
        for j in range(3):
            top, left = 3 + 2 + i - 1, 2 - 1 + j - 1
            assert found[i, j] == (a[:, top : top + 9 : step, left : left + 15] * b).sum()


def test_parts_are_compared_as_numpy_does():
    random = np.random.default_rng(1)
    frame, background = random.integers(-127, 128, (2, 2, 16, 22)).astype(np.int8)
    found = np.empty((3, 2, 3), np.int64)
    compare_parts(frame, background, -2, 1, 1, found)
    a, b = frame.astype(np.int64), background.astype(np.int64)
    still, learned, moved = a[:, 2:14, 1:21], b[:, 2:14, 1:21], a[:, 0:12, 2:22]
    for row, rows in enumerate((slice(0, 6), slice(6, 12))):
        for column, columns in enumerate((slice(0, 6), slice(6, 13), slice(13, 20))):
            place = slice(None), rows, columns
            expected = [(other[place] * learned[place]).sum() for other in (still, moved, learned)]
            assert found[:, row, column].tolist() == expected


@needs_compiler
@pytest.mark.parametrize("offset", [STILL, Shift(3, -4), Shift(-9, 11), Shift(1, 0)])
@pytest.mark.parametrize("channels", [1, 3])
def test_offset_is_found_in_spite_of_noise_light_and_an_object(offset, channels):
    whole = scenery((160, 210))[:, :, :channels]
    learned, now = filmed(seen_from(whole, 0, 0), 0), filmed(0.7 * seen_from(whole, *offset), 1)
    now[40:80, 50:80] = 255
    frame = now if channels == 3 else now[:, :, 0]
    planes = np.ascontiguousarray(learned.transpose(2, 0, 1)).reshape(channels, -1)
    found = find_offset(frame, planes, 255.0)
    assert found.offset == offset
    if offset != STILL:
        assert found.better > 0.5
        assert found.worse < 0.1


@needs_compiler
def test_offset_of_a_large_frame_is_found():
    whole = cv2.resize(scenery((160, 210)), (840, 640), interpolation=cv2.INTER_CUBIC)
    learned, now = filmed(whole[80:560, 100:740], 0), filmed(whole[59:539, 108:748], 1)
    found = find_offset(now, planes_of(learned)[0], 255.0).offset
    assert abs(found.down - 21) <= 1
    assert abs(found.right + 8) <= 1


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (2, 2), (16, 300)])
def test_frames_too_small_to_know_lie_where_they_lay(size):
    frame = np.random.default_rng(0).integers(0, 255, (*size, 3), np.uint8)
    (planes,) = planes_of(255 - frame)
    assert find_offset(frame, planes, 255.0).offset == STILL


def test_plain_frames_lie_where_they_lay():
    frame = np.full((*SIZE, 3), 90, np.uint8)
    assert find_offset(frame, planes_of(frame)[0], 255.0).offset == STILL


@pytest.mark.parametrize("offset", [Shift(3, -4), Shift(-5, 0), Shift(0, 7)])
def test_what_a_steadied_frame_lacks_is_background_and_what_comes_back_is_not_judged(offset):
    random = np.random.default_rng(2)
    frame, background = random.integers(0, 255, (2, 20, 30, 3), np.uint8)
    planes = np.ascontiguousarray(background.transpose(2, 0, 1)).reshape(3, -1)
    steadied = steady(frame, planes, offset)
    rows, columns = (np.arange(length) + shift for length, shift in zip((20, 30), offset, strict=True))
    inside = np.ix_((rows >= 0) & (rows < 20), (columns >= 0) & (columns < 30))
    expected = background.copy()
    expected[inside] = frame[np.ix_(rows[(rows >= 0) & (rows < 20)], columns[(columns >= 0) & (columns < 30)])]
    np.testing.assert_array_equal(steadied, expected)
    back = shift_back(steadied[:, :, 0], offset, 7)
    seen = np.ix_(*(values[(values >= 0) & (values < most)] for values, most in ((rows, 20), (columns, 30))))
    np.testing.assert_array_equal(back[seen], frame[:, :, 0][seen])
    outside = np.ones((20, 30), bool)
    outside[seen] = False
    assert (back[outside] == 7).all()


@needs_compiler
def test_a_shaking_camera_raises_few_false_alarms_and_shows_what_passes():
    frames, offsets = shaken(160, 8)
    model, hits, false = create("adaptive", threads=1), [], []
    for index, (frame, offset) in enumerate(zip(frames, offsets, strict=True)):
        top, left = 50 + offset.down, index - 90 + offset.right
        if 5 <= left < 140:
            frame[top : top + 20, left : left + 12] = (20, 200, 240)
        mask = model.apply(frame) != 0
        if index > 20:
            thing = np.zeros(SIZE, bool)
            if 5 <= left < 140:
                thing[top : top + 20, left : left + 12] = True
                hits.append(mask[thing].mean())
            around = cv2.dilate(thing.astype(np.uint8), np.ones((9, 9), np.uint8)) != 0
            false.append((mask & ~around).mean())
    assert np.mean(hits) > 0.9
    assert np.mean(false) < 0.002


@needs_compiler
def test_a_camera_that_stands_still_is_searched_for_seldom_and_never_found_elsewhere():
    whole = scenery((160, 210))
    model = create("adaptive", threads=1)
    for index in range(120):
        frame = filmed(seen_from(whole, 0, 0), index)
        frame[40:100, index : index + 30] = 250  # something large
        model.apply(frame)
    assert model._scalars["shaken"] == 0
    assert model._scalars["looks"] < 60


@needs_compiler
def test_something_before_a_plain_background_is_no_camera():
    model = create("adaptive", threads=1)
    for index in range(40):
        frame = np.full((72, 96, 3), 90.0)
        frame[26:50, 2 * index : 2 * index + 14] = 180
        model.apply(filmed(frame, index))
    assert model._scalars["shaken"] == 0


@needs_compiler
def test_the_model_moves_to_where_the_camera_looks_on_average():
    whole = scenery((160, 210))
    model = create("adaptive", threads=1)
    for index in range(60):
        model.apply(filmed(seen_from(whole, 0, 0), index))
    for index in range(150):
        mask = model.apply(filmed(seen_from(whole, 6, -7), 100 + index))
    assert (mask != 0).mean() < 0.002
    expected = seen_from(whole, 6, -7)
    assert np.median(np.abs(model.getBackgroundImage()[10:-10, 10:-10] - expected[10:-10, 10:-10])) < 5


@needs_compiler
def test_regions_and_pixels_that_may_learn_are_those_of_the_frame():
    frames, _ = shaken(60, 6)
    roi = np.zeros(SIZE, np.uint8)
    roi[:, :80] = 255
    model = create("adaptive", threads=1)
    model.roi = roi
    frames[-1][50:70, 45:95] = (20, 200, 240)
    for frame in frames:
        mask = model.apply(frame)
    assert (mask[52:68, 47:70] != 0).mean() > 0.9
    assert not mask[:, 80:].any()
    assert (model.roi == roi).all()
    where = np.zeros(SIZE, bool)
    before = model.getBackgroundImage()
    for frame in frames[:5]:
        score = np.empty(SIZE, np.float32)
        model.apply(frame, where=where, score=score)
        assert (score[:, 80:] < -1e5).all()
    np.testing.assert_array_equal(model.getBackgroundImage(), before)


@needs_compiler
def test_a_frozen_model_sees_through_the_shaking_and_keeps_its_bits():
    frames, _ = shaken(80, 6)
    model = create("adaptive", threads=1)
    for frame in frames[:60]:
        model.apply(frame)
    arrays, scalars = {name: array.copy() for name, array in model._arrays.items()}, dict(model._scalars)
    for frame in frames[60:]:
        assert (model.apply(frame, learningRate=0) != 0).mean() < 0.005
    assert scalars == model._scalars
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, model._arrays[name])


@needs_compiler
def test_a_saved_model_goes_on_shaking_as_before(tmp_path):
    frames, _ = shaken(60, 6)
    model = create("adaptive", threads=1)
    for frame in frames[:40]:
        model.apply(frame)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    for frame in frames[40:]:
        np.testing.assert_array_equal(model.apply(frame), again.apply(frame))


@needs_compiler
@pytest.mark.parametrize("quality", ["fast", "best"])
def test_reduced_frames_are_steadied_too(quality):
    whole = cv2.resize(scenery((160, 210)), (420, 320), interpolation=cv2.INTER_NEAREST)
    random, model = np.random.default_rng(5), create("adaptive", threads=1, quality=quality)
    for index in range(60):
        down, right = random.integers(-9, 10, 2)
        frame = filmed(whole[40 - down : 280 - down, 50 - right : 370 - right], index)
        mask = model.apply(frame)
        if index > 20:
            assert (mask != 0).mean() < 0.01


@needs_compiler
def test_stages_lie_where_the_mask_lies():
    frames, offsets = shaken(60, 6)
    model = create("adaptive", threads=1)
    for frame in frames[:-1]:
        model.apply(frame)
    model.trace, offset = StageTrace(), offsets[-1]
    frames[-1][50:70, 70:95] = (20, 200, 240)
    mask = model.apply(frames[-1])
    assert offset != STILL
    assert (mask[50:70, 70:95] != 0).mean() > 0.9
    np.testing.assert_array_equal(model.trace.steps[-1][1] != 0, mask != 0)
    assert (model.trace.find("raw")[52:68, 72:93] != 0).mean() > 0.9
