"""Squares of pixels that tell things from moving background: the kernels against plain numpy, and what they find."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive._jit.squares import (
    SquareRule,
    Squares,
    average_squares,
    judge_squares,
    learn_squares,
    mark_unlike,
)
from bgsub.detectors.adaptive.reduced import follow_squares, square_side
from bgsub.detectors.adaptive.reduced import make_squares as new_squares
from bgsub.detectors.adaptive.stages import SQUARES
from bgsub.stages import RAW, StageTrace
from tests.marks import needs_compiler

RULE = SquareRule(np.uint16(3), *(np.float32(value) for value in (0.125, 4.0, 3.0, 0.5, 0.0625, 0.25, 0.3)))
GRID = (5, 7)


def make_squares(random, channels):
    return Squares(
        random.normal(100, 20, (*GRID, channels)).astype(np.float32),
        random.uniform(0, 80, (*GRID, channels)).astype(np.float32),
        random.uniform(3, 5, GRID).astype(np.float32),
        random.choice([0, 2, 3, 65535], GRID).astype(np.uint16),
    )


@pytest.mark.parametrize("channels", [1, 3])
def test_squares_are_judged_and_learned_as_plain_numpy_does(channels):
    random = np.random.default_rng(channels)
    squares = make_squares(random, channels)
    colours = (squares.means + random.normal(0, 30, squares.means.shape)).astype(np.float32)
    shares, allowed = random.random(GRID, np.float32), random.choice([0, 255], GRID).astype(np.uint8)
    foreground = shares >= 0.3
    means, variances, limits = (array.astype(np.float64) for array in squares[:3])
    ages = squares.ages.astype(int)
    away = colours - means

    unlike = np.full(GRID, 7, np.uint8)
    averaged = np.where(ages[..., None] >= 3, colours, np.float32(3e38))  # the others may hold anything
    judge_squares(averaged, squares, RULE, unlike)
    distance = np.abs(away / np.sqrt(variances + 4)).max(-1)
    expected = (distance > limits) & (ages >= 3)
    np.testing.assert_array_equal(unlike, np.where(expected, 255, 0))
    assert 0 < expected.sum() < expected.size / 2

    learn_squares(colours, unlike, shares, allowed, squares, RULE)
    learning = allowed != 0
    moved = np.maximum(limits + 0.5 * (expected * np.where(foreground, 0.25, 1) - 0.0625), 3)
    np.testing.assert_allclose(squares.limits, np.where(learning & (ages >= 3), moved, limits), rtol=1e-5)
    taught = learning & ~foreground
    np.testing.assert_array_equal(squares.ages, np.where(taught, np.minimum(ages + 1, 65535), ages))
    rate = np.where(taught, np.maximum(0.125, 1 / (ages + 1)), 0)[..., None]
    spread = np.where(ages[..., None] > 0, away**2, 0)
    np.testing.assert_allclose(squares.means, means + rate * away, rtol=1e-5)
    np.testing.assert_allclose(squares.variances, variances + rate * (spread - variances), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("channels", "features"), [(1, 1), (3, 3), (3, 6)])
def test_squares_are_averaged_as_by_plain_numpy_where_that_is_needed(channels, features):
    random, size, side = np.random.default_rng(features), (19, 26), 4
    frame = random.integers(0, 256, (channels, size[0] * size[1] + 5), np.uint8)
    mask = random.choice([0, 255], size).astype(np.uint8)
    squares = make_squares(random, channels)
    allowed = np.where(random.random(GRID) < 0.3, np.uint8(255), np.uint8(0))
    squares.ages[1], allowed[1] = 0, 0
    colours, shares = np.full((*GRID, features), np.nan, np.float32), np.full(GRID, np.nan, np.float32)
    sums = np.full((channels + 1, size[1]), np.nan, np.float32)
    average_squares(frame, mask, side, np.float32(0.5), allowed, squares, sums, colours, shares)
    planes = 0.5 * frame[:, : mask.size].reshape(channels, *size)
    for y, x in np.argwhere((squares.ages > 0) | (allowed != 0)):
        box = slice(side * y, side * (y + 1)), slice(side * x, side * (x + 1))
        means = planes[:, *box].mean((1, 2))
        expected = [*means, *(means - np.roll(means, 1))][:features]
        np.testing.assert_allclose(colours[y, x], expected, rtol=1e-5, atol=1e-4)
        assert shares[y, x] == pytest.approx((mask[box] != 0).mean())
    assert np.isnan(shares[1]).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize(("side", "width"), [(4, 30), (8, 30), (4, 64), (8, 150)])
def test_pixels_of_unlike_squares_that_are_far_from_the_background_are_marked(side, width, dtype):
    random, size = np.random.default_rng(side), (19, width)
    unlike = random.choice([0, 255], (-(-size[0] // side), -(-size[1] // side))).astype(np.uint8)
    frame, background = (random.integers(0, 100, (3, 19 * width + 5)).astype(dtype) for _ in range(2))
    raw = np.full(size, 9, np.uint8)
    for first, last in ((0, 5), (5, 19)):
        mark_unlike(first, last, frame, background, unlike, side, dtype(60), raw)
    far = np.abs(frame.astype(int) - background.astype(int)).max(0)[: size[0] * size[1]].reshape(size) > 60
    inside = unlike.repeat(side, 0).repeat(side, 1)[: size[0], : size[1]] != 0
    np.testing.assert_array_equal(raw, np.where(far & inside, 255, 9))
    assert 0 < (raw == 255).sum() < raw.size


@pytest.mark.parametrize("channels", [1, 3])
def test_a_square_of_another_hue_is_unlike_waves_that_are_often_as_dark(channels):
    random, size = np.random.default_rng(0), (24, 32)
    side = square_side(size)
    water, thing = np.array([1.0, 0.95, 0.85])[:channels], np.array([0.85, 0.95, 1.0])[:channels]

    def planes(frame):
        """Return the planes of a frame."""
        return frame.reshape(-1, channels).T.copy()

    def waves():
        """Return squares of any brightness, and of one hue."""
        light = random.uniform(60, 180, (size[0] // side, size[1] // side)).repeat(side, 0).repeat(side, 1)
        return np.rint(light[..., None] * water).astype(np.uint8)

    squares = new_squares(size, channels)
    nothing, everywhere = np.zeros(size, np.uint8), np.full(squares.limits.shape, 255, np.uint8)
    for _ in range(60):
        follow_squares(planes(waves()), 255.0, squares, nothing, everywhere)
    frame = waves()
    frame[8 : 8 + side, 8 : 8 + side], frame[8 : 8 + side, 20 : 20 + side] = np.rint(80 * thing), np.rint(80 * water)
    unlike = follow_squares(planes(frame), 255.0, squares, nothing, np.zeros_like(everywhere))
    place = 8 // side
    assert (unlike[place, place] != 0) == (channels == 3)
    unlike[place, place] = 0
    assert not unlike.any()


def glitter(random, size):
    """Return water: any brightness at each pixel, in spots of a few pixels, the darkest seldom."""
    spots = cv2.GaussianBlur(random.normal(0, 1, size), (0, 0), 0.8)
    light = 140 + 40 * spots / spots.std() + random.normal(0, 4, size)
    return np.clip(light[..., None] * np.array([1.0, 0.95, 0.85]), 0, 255).astype(np.uint8)


@needs_compiler
def test_a_dark_thing_in_front_of_glitter_is_found_by_squares():
    """Its colour is one that each pixel of the water often has."""
    size, thing = (240, 320), (slice(83, 179), slice(121, 187))
    model, random = create("adaptive", threads=1), np.random.default_rng(0)
    false = 0.0
    for i in range(250):
        mask = model.apply(glitter(random, size))
        false = max(false, np.count_nonzero(mask) / mask.size if i > 200 else 0)
    frame = glitter(random, size)
    frame[thing] = frame[thing] // 8 + np.array([65, 62, 55], np.uint8)
    model.trace = StageTrace()
    found = model.apply(frame, learningRate=0)
    steps = dict(model.trace.steps)
    assert false < 0.02
    inside = slice(91, 171), slice(129, 179)  # of squares that it covers
    assert (steps[RAW][inside] != 0).mean() < 0.2
    assert (steps[SQUARES][inside] != 0).mean() > 0.7
    assert (found[inside] != 0).mean() > 0.9
