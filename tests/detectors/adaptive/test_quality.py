"""Quality of the adaptive detector: which frames are reduced, by what, and what that keeps."""

import copy

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create, load
from bgsub.detectors.adaptive import Adaptive, reduced
from bgsub.detectors.adaptive.reduced import (
    enlarge,
    enlarge_mask,
    find_moving,
    find_scales,
    make_pictures,
    reduce_frame,
    reduce_mask,
)
from bgsub.stages import StageTrace
from bgsub.testing import check_detector
from tests.marks import needs_compiler

WHITE = {np.uint8: 255, np.uint16: 65535, np.float32: 1.0}


def film(count, size, dtype=np.uint8, channels=3, seed=0):
    """Frames of a textured wall with noise; in the last third a bright square stands before it."""
    random = np.random.default_rng(seed)
    shape = (*size, channels) if channels == 3 else size
    wall = random.integers(60, 140, shape)
    for t in range(count):
        frame = wall + random.normal(0, 2, shape)
        if 3 * t >= 2 * count:
            frame[40:80, 50:100] = 240
        yield (np.clip(frame, 0, 255) / 255 * WHITE[dtype]).astype(dtype)


@needs_compiler
@pytest.mark.parametrize("quality", ["fast", "best"])
def test_other_qualities_keep_the_contract(quality, monkeypatch):
    monkeypatch.setattr(reduced, "_BOTH_PX", 1)
    check_detector(Adaptive, quality=quality)


@needs_compiler
@pytest.mark.parametrize(
    ("size", "dtype", "channels"),
    [((120, 160), np.uint8, 3), ((121, 163), np.uint8, 1), ((119, 161), np.uint16, 3), ((120, 161), np.float32, 1)],
)
@pytest.mark.parametrize("quality", ["fast", "best"])
def test_masks_have_the_frames_size_and_things_their_place(quality, size, dtype, channels, monkeypatch):
    monkeypatch.setattr(reduced, "_BOTH_PX", 1)
    model = Adaptive(quality=quality)
    for frame in film(45, size, dtype, channels):
        mask = model.apply(frame)
    assert mask.shape == size
    assert (mask[42:78, 52:98] == 255).all()
    mask[36:84, 46:104] = 0
    assert not mask.any()
    assert model.background_image().shape == frame.shape
    assert model.background_image().dtype == dtype


def test_large_frames_are_reduced_and_small_ones_by_fast_alone():
    sizes = [(90, 160), (240, 320), (480, 360), (360, 640), (480, 640), (720, 1280), (1080, 1920), (1440, 2560)]
    assert [find_scales("balanced", size).side for size in sizes] == [1, 1, 1, 2, 2, 2, 2, 4]
    assert [find_scales("fast", size).side for size in sizes] == [2, 2, 2, 2, 2, 4, 4, 4]
    assert [find_scales("best", size) for size in sizes[:2]] == [(True, 1), (True, 2)]


@needs_compiler
def test_frames_of_moderate_size_are_reduced_by_fast_alone():
    models = {quality: Adaptive(quality=quality) for quality in ("fast", "balanced", "best")}
    for frame in film(30, (120, 160)):
        masks = {quality: model.apply(frame) for quality, model in models.items()}
    np.testing.assert_array_equal(masks["balanced"], masks["best"])
    sizes = {quality: model.memory_bytes for quality, model in models.items()}
    assert sizes["balanced"] == sizes["best"]  # as small as that
    assert 3.5 < sizes["best"] / sizes["fast"] < 4.5


@needs_compiler
def test_things_of_five_pixels_are_found_in_frames_that_are_reduced():
    model, wall = Adaptive(), np.random.default_rng(0).integers(60, 140, (360, 640, 3))
    random = np.random.default_rng(1)
    for t in range(150):
        frame = np.clip(wall + random.normal(0, 2, wall.shape), 0, 255).astype(np.uint8)
        thing = (slice(170, 175), slice(3 * t + 60, 3 * t + 65))
        if t >= 100:
            frame[thing] = 250
        mask = model.apply(frame)
        if t >= 110:
            assert (mask[thing] == 255).mean() > 0.5
            mask[thing] = 0
            assert np.count_nonzero(mask) <= 25
    assert model.memory_bytes < 640 * 360 * 20


@needs_compiler
def test_parameters_change_on_the_way_but_not_the_quality():
    model, changed = Adaptive(quality="fast"), Adaptive(quality="fast")
    for t, frame in enumerate(film(30, (120, 160))):
        if t == 25:
            changed.change(smoothing=1, fill=False, threshold=0.9)
        mask, other = model.apply(frame), changed.apply(frame)
    assert (mask != other).any()
    with pytest.raises(ValueError, match="quality cannot change from 'fast' to 'best' while a model is kept"):
        changed.change(quality="best")


@needs_compiler
def test_a_mask_to_write_may_lie_anywhere_in_memory():
    model, other = Adaptive(quality="fast"), Adaptive(quality="fast")
    every = np.zeros((240, 320), np.uint8)
    for frame in film(45, (120, 160)):
        mask = model.apply(frame, every[::2, ::2])
        expected = other.apply(frame)
    assert mask.base is every
    np.testing.assert_array_equal(mask, expected)
    assert not every[1::2].any()


@needs_compiler
@pytest.mark.parametrize("quality", ["fast", "best"])
def test_stages_have_the_frames_size(quality, monkeypatch):
    monkeypatch.setattr(reduced, "_BOTH_PX", 1)
    model = Adaptive(quality=quality)
    for frame in film(45, (119, 161)):
        model.trace = StageTrace()
        mask = model.apply(frame)
    assert {found.shape for _, found in model.trace.steps} == {(119, 161)}
    np.testing.assert_array_equal(model.trace.steps[-1][1], mask)


@needs_compiler
def test_where_waves_move_the_reduced_frame_decides():
    random, size = np.random.default_rng(0), (240, 320)
    model = Adaptive(quality="best")
    wall = random.integers(60, 140, (*size, 3))
    for t in range(120):
        frame = wall + random.normal(0, 2, wall.shape)
        frame[:, 200:] += random.uniform(-60, 60, (240, 120, 1))  # each pixel by itself
        if t > 100:
            frame[60:140, 230:300] = 250
        model.trace = StageTrace()
        mask = model.apply(np.clip(frame, 0, 255).astype(np.uint8))
    moving = model.state["moving"]
    assert moving[:, 110:].all()
    assert not moving[:, :90].any()
    assert (mask[64:136, 234:296] == 255).all()
    assert np.count_nonzero(mask[:, :220]) < 10  # a speck of two by two pixels may pass
    assert model.trace.steps[-1][0].name == "moving"
    factors = np.full((8, 8), 8000, np.uint16)
    factors[:, 4:] = 12100
    found = np.zeros((4, 4), np.uint8)
    find_moving(factors, 8000.0, 2, 1, found)
    np.testing.assert_array_equal(found, [[0, 0, 255, 255]] * 4)


@pytest.mark.parametrize("side", [2, 4])
@pytest.mark.parametrize("size", [(8, 12), (7, 9)])
def test_reducing_takes_means_and_repeats_the_border(side, size):
    random = np.random.default_rng(0)
    frame = random.random((*size, 3), np.float32)
    rows, columns = -(-size[0] // side), -(-size[1] // side)
    expected = np.empty((rows, columns, 3))
    for i in range(rows):
        for j in range(columns):
            ys, xs = (np.minimum(side * k + np.arange(side), n - 1) for k, n in zip((i, j), size, strict=True))
            expected[i, j] = frame[np.ix_(ys, xs)].mean((0, 1))
    np.testing.assert_allclose(reduce_frame(frame, side), expected, rtol=1e-6)


@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("size", [(2, 2), (6, 10), (48, 130)])
def test_halves_of_bytes_are_rounded_as_opencv_rounds_them(size, channels):
    frame = np.random.default_rng(1).integers(0, 256, (*size, *channels)).astype(np.uint8)
    expected = cv2.resize(frame, (size[1] // 2, size[0] // 2), interpolation=cv2.INTER_AREA)
    for threads in (1, 2):
        np.testing.assert_array_equal(reduce_frame(frame, 2, threads), expected)
    apart = np.zeros((size[0], 2 * size[1], *channels), np.uint8)[:, ::2]  # whose pixels do not lie side by side
    apart[:] = frame
    np.testing.assert_array_equal(reduce_frame(apart, 2), expected)


def test_a_square_may_learn_if_all_of_it_may():
    mask = np.full((4, 5), 255, np.uint8)
    mask[0, 1] = 0
    mask[3, 4] = 0
    np.testing.assert_array_equal(reduce_mask(mask, 2), [[0, 255, 255], [255, 255, 0]])


def enlarged(small, size, side, frame=None, reduced=None, gain=-1.0):
    """The mask of a reduced frame at the size of the frame, which is plain unless it is given."""
    frame = np.zeros(size, np.uint8) if frame is None else frame
    reduced = np.zeros(small.shape, np.uint8) if reduced is None else reduced
    large = np.empty(size, np.uint8)
    enlarge_mask(small, large, side, 2, make_pictures(frame, reduced, gain))
    return large


def test_outlines_run_between_pixels_and_shadows_stay():
    small = np.zeros((4, 4), np.uint8)
    small[1:3, 1:3] = 255
    small[3] = 127
    large = enlarged(small, (8, 8), 2)
    assert set(np.unique(large)) == {0, 127, 255}
    assert (large[2:6, 3:5] == 255).all()
    assert (large[7] == 127).all()
    assert not large[:, 0][:6].any()
    repeated = np.empty((7, 8), np.float32)
    enlarge(small.astype(np.float32), repeated, 2, smooth=False)
    np.testing.assert_array_equal(repeated, np.kron(small, np.ones((2, 2)))[:7])


@pytest.mark.compiled
@pytest.mark.parametrize("side", [2, 4])
def test_outlines_follow_the_edges_of_the_frame(side):
    frame = np.full((10 * side, 12 * side, 3), 90, np.uint8)
    thing = (slice(2 * side + 1, 7 * side - 1), slice(3 * side - 1, 8 * side + 1))  # not where the squares end
    frame[thing] = 200
    reduced = reduce_frame(frame, side)
    large = enlarged(np.where(reduced[..., 0] > 145, np.uint8(255), 0), frame.shape[:2], side, frame, reduced, -1e-3)
    expected = np.zeros_like(large)
    expected[thing] = 255
    wrong = {2: 4, 4: 20}[side]  # pixels, at the corners; an outline along the squares would have many times as many
    assert np.count_nonzero(large != expected) <= wrong


@pytest.mark.compiled
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("size", "side"), [((5, 9), 2), ((4, 3), 2), ((9, 21), 4), ((1, 1), 4), ((3, 5), 8)])
def test_pixels_between_four_of_the_mask_take_the_value_of_the_most_similar(size, side, channels, dtype):
    random = np.random.default_rng(1)
    small = random.choice(np.array([0, 127, 255], np.uint8), size, p=[0.4, 0.2, 0.4])
    height, width = (length * side - 1 for length in size)
    white, shape = WHITE[dtype], (channels,) if channels == 3 else ()
    frame = (random.random((height, width, *shape)) * white).astype(dtype)
    reduced = (random.random((*size, *shape)) * white).astype(dtype)
    gain = -3.0 / white**2

    def places(length, count):
        """Weights (length, count) of small pixels in large ones: linear between two middles."""
        middles = np.clip((np.arange(length) + 0.5) / side - 0.5, 0, count - 1)
        return np.maximum(0, 1 - np.abs(middles[:, None] - np.arange(count)))

    near = places(height, size[0])[:, None, :, None] * places(width, size[1])[None, :, None, :]
    distances = frame.astype(float)[:, :, None, None] - reduced.astype(float)[None, None]
    squares = (distances.reshape(*near.shape, -1) ** 2).sum(-1)
    weights = near * np.exp2(squares * gain)
    inside, shaded, outside = ((weights * (small == value)).sum((2, 3)) for value in (255, 127, 0))
    expected = np.where(inside >= shaded + outside, 255, np.where(shaded > outside, 127, 0))
    clear = np.abs(inside - shaded - outside) > 1e-4 * weights.sum((2, 3))  # no tie but for rounding
    clear &= (expected == 255) | (np.abs(shaded - outside) > 1e-4 * weights.sum((2, 3)))
    assert clear.mean() > 0.95
    large = enlarged(small, (height, width), side, frame, reduced, gain)
    np.testing.assert_array_equal(large[clear], expected[clear])
    every = np.zeros((2 * height, 2 * width), np.uint8)  # a mask whose pixels lie apart
    enlarge_mask(small, every[::2, ::2], side, 1, make_pictures(frame, reduced, gain))
    np.testing.assert_array_equal(every[::2, ::2], large)
    assert not every[1::2].any()


def test_the_state_is_what_the_reduced_model_learned_last(tmp_path):
    random = np.random.default_rng(0)
    frames = random.integers(80, 120, (8, 48, 64, 3)).astype(np.uint8)
    model = create("adaptive", quality="fast", threads=1)
    for frame in frames[:5]:
        model.apply(frame)
    assert model.state["reduced_frames"] == 5
    kept, other = copy.deepcopy(model), create("adaptive", quality="fast", threads=1)
    other.apply(frames[7])
    other.restore(model.snapshot())
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    expected = [model.apply(frame) for frame in frames[5:]]
    assert (model.state["reduced_frames"], kept.state["reduced_frames"]) == (8, 5)
    for copied in (kept, other, loaded):
        assert all((copied.apply(frame) == mask).all() for frame, mask in zip(frames[5:], expected, strict=True))
        for name, value in model.state.items():
            np.testing.assert_array_equal(copied.state[name], value, err_msg=name)
