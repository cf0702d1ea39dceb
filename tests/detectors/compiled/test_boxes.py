"""Boxes of background colours make NORMA's frames cheap between learned ones, and change no mask."""

import numpy as np
import pytest

from bgsub._numba import JIT_ENABLED
from bgsub.detectors import create
from bgsub.detectors._jit.norma_boxes import SEGMENT
from bgsub.detectors.norma import Norma
from tests.detectors.compiled.test_equivalence import VIDEOS
from tests.detectors.defects import break_function, plain
from tests.detectors.reference import SMALL, noisy_video

FACTORS = {np.uint8: 1, np.uint16: 257}


def expansion(model: Norma, colours: np.ndarray) -> np.ndarray:
    """Return f(x) / (kappa rho) of colours (H, W, D) in double precision; infinity where rho is not positive."""
    arrays, parameters = model._arrays, model.parameters
    white = np.iinfo(arrays["colours"].dtype).max
    offsets = arrays["colours"].astype(np.float64) - colours.transpose(0, 2, 1)[:, :, None]
    kernel = np.exp(-(offsets**2).sum(1) / (parameters["width"] * white / 255) ** 2)
    f = (arrays["coefficients"].astype(np.float64) * model._scalars["scale"] * kernel).sum(1)
    level = parameters["kappa"] * arrays["rho"].astype(np.float64)
    return np.where(level > 0, f / np.where(level > 0, level, 1), np.inf)


def check_masks(video: np.ndarray, **parameters) -> Norma:
    """Compare every mask with plain numpy."""
    model = create("norma", **({"warmup": 8, "learn_every": 8, "threads": 1} | parameters))
    for index, frame in enumerate(video):
        mask = model.apply(frame)
        if index >= 8 and index % 8:
            ratio = expansion(model, frame.reshape(*frame.shape[:2], -1).astype(np.float64))
            clear = np.abs(ratio - 1) > 3e-5
            assert clear.mean() > 0.99
            assert ((mask == 255) == (ratio < 1))[clear].all()
    return model


@pytest.mark.parametrize("size", [(3, 5), (2, 63), (4, 64), (2, 70), (2, 131)])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", FACTORS)
def test_masks_equal_plain_numpy(size, channels, dtype):
    video = noisy_video(26, size, channels).astype(dtype) * dtype(FACTORS[dtype])
    check_masks(video[:, :, :, 0] if channels == 1 else video, slots=4)


@pytest.mark.parametrize("content", VIDEOS)
def test_masks_of_moving_scenes_equal_plain_numpy(content):
    check_masks(VIDEOS[content](26 if SMALL else 200, (4, 5) if SMALL else (20, 70)))


@pytest.mark.parametrize("kappa", [0.1, 0.25, 1.0])
@pytest.mark.parametrize(("width", "eta"), [(3.0, 0.05), (30.0, 0.05), (200.0, 0.01)])
@pytest.mark.parametrize("dtype", FACTORS)
def test_boxes_hold_only_background(kappa, width, eta, dtype):
    top = np.iinfo(dtype).max
    model = create("norma", slots=6, width=width, kappa=kappa, eta=eta, learn_every=8, warmup=8, threads=1)
    video = noisy_video(27, (2 if SMALL else 6, 70), seed=int(width)).astype(dtype) * dtype(FACTORS[dtype])
    for frame in video:
        model.apply(frame)
    low, high = (array.astype(np.float64) for array in model._boxes)
    held = (low <= high).all(2)
    assert held.mean() > 0.1
    generator = np.random.default_rng(0)
    corners = [np.where([corner & 1, corner & 2, corner & 4], high, low) for corner in range(8)]
    inside = [np.round(low + generator.random(low.shape) * (high - low)) for _ in range(8)]
    for colours in (*corners, *inside):
        assert (expansion(model, np.clip(colours, 0, top))[held] >= 1).all()


def test_nothing_is_written_where_neither_mask_nor_learning_is_asked_for():
    model = create("norma", learn_every=16, warmup=2, threads=1)
    for frame in noisy_video(20, (5, 70)):
        model.learn(frame)
    assert model._boxes is None


def test_frames_like_the_last_need_no_expansion():
    video = noisy_video(10, (4, 70))
    video[:] = video[0]
    model = create("norma", learn_every=64, warmup=8, threads=1)
    for frame in video:
        model.apply(frame)
    model._arrays["coefficients"][:] = 0
    moved = video[0] ^ np.uint8(4)
    assert not model.apply(moved).any()
    model.change(kappa=0.5)
    assert model.apply(moved).all()


def test_boxes_end_with_what_they_were_made_of():
    video = noisy_video(40, (5, 70), seed=3)
    model = create("norma", learn_every=16, warmup=8, threads=1)
    plain = create("norma", learn_every=16, warmup=8, threads=1)
    score = np.empty((5, 70), np.float32)
    for index, frame in enumerate(video):
        if index == 20:
            for each in (model, plain):
                each.change(kappa=0.9, width=12.0)
        if index == 25:
            for each in (model, plain):
                each.learn(frame)
                each.apply(frame, None, 0.5)
        if index == 32:
            for each in (model, plain):
                each.apply(video[0], None, 1)
        rate = 0 if index % 3 else -1
        np.testing.assert_array_equal(model.apply(frame, None, rate), plain.apply(frame, None, rate, score=score))
    assert model.memory_bytes == 5 * 70 * (61 + 6)
    assert plain.memory_bytes == 5 * 70 * 61


def high_ignored(find):
    def wrong(first_row, last_row, frame, boxes, mask, scratch):
        top = np.full_like(boxes.high, np.iinfo(boxes.high.dtype).max)
        return find(first_row, last_row, frame, boxes._replace(high=top), mask, scratch)

    return wrong


def moved_boxes(move):
    """Return a defect by which low and high bounds, (SEGMENT, D) in double precision, are moved."""

    def change(enclose):
        def wrong(rho, rule, low, high, scratch):
            enclose(rho, rule, low, high, scratch)
            channels, top = len(scratch.values), np.iinfo(low.dtype).max
            lows, highs = (bound.reshape(-1, channels).astype(np.float64) for bound in (low, high))
            held = (lows <= highs).all(1, keepdims=True)
            for bound, moved in zip((low, high), move(lows, highs, scratch.offset.T), strict=True):
                same = bound.reshape(-1, channels)
                bound[:] = np.where(held, np.clip(moved, 0, top), same).astype(bound.dtype).ravel()

        return wrong

    return change


def last_segment_early(decide):
    def wrong(frame, expansion, boxes, rule, position, mask, scratch):
        is_last = position % mask.shape[1] == mask.shape[1] - SEGMENT and position % SEGMENT
        decide(frame, expansion, boxes, rule, position - bool(is_last), mask, scratch)

    return wrong


DEFECTS = {
    "colours above the box pass": ("_find_outside", high_ignored),
    "boxes without margin and root": (
        "_enclose",
        moved_boxes(lambda low, high, _: (1.4 * low - 0.4 * high, 1.4 * high - 0.4 * low)),
    ),
    "boxes round the colour": ("_enclose", moved_boxes(lambda low, high, offset: (low - offset, high - offset))),
    "boxes of another level": (
        "_enclose",
        lambda enclose: lambda rho, rule, *rest: enclose(rho, rule._replace(kappa=rule.kappa * rule.kappa), *rest),
    ),
    "the last segment ends early": ("_decide", last_segment_early),
}


def lone_changes() -> np.ndarray:
    """Return a still video in which single pixels get bright or dark."""
    video = np.full((48, 2, 70, 3), 128, np.uint8)
    for index in range(8, 48):
        video[index, index % 2, 7 * index % 70] = 255 * (index // 2 % 2)
    return video


def check_all() -> None:
    """Run what must notice a defect."""
    check_masks(lone_changes())
    for kappa in (0.25, 0.9):
        check_masks(noisy_video(48, (2, 70), seed=7), slots=4, kappa=kappa)
    test_boxes_hold_only_background(0.25, 30.0, 0.05, np.uint8)


@pytest.mark.skipif(not JIT_ENABLED, reason="runs as plain Python in any case")
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_noticed(defect, monkeypatch):
    functions = plain("norma_boxes", monkeypatch)
    break_function(functions, *DEFECTS[defect])
    monkeypatch.setattr("bgsub.detectors.norma.write_mask_by_boxes", functions.write_mask_by_boxes)
    with pytest.raises(AssertionError):
        check_all()
