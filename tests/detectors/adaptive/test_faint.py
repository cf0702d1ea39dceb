"""Faint foreground: things so near to the background that only most of a square of their pixels shows them."""

import numpy as np
import pytest

from bgsub import create
from bgsub._jit.majority import CELL, IN_MIDDLE, IN_SMALL
from bgsub._numba import JIT_ENABLED
from bgsub.detectors.adaptive._jit.dynamics import IN_FAINT, Found, mark_faint, mark_open, show_faint
from bgsub.detectors.adaptive.stages import FAINT
from bgsub.stages import StageTrace

needs_compiler = pytest.mark.skipif(not JIT_ENABLED, reason="too many frames for plain Python")
SIZES = [(41, 53), (24, 64), (9, 70), (4, 4), (1, 1)]


def count_cells(size):
    return -(-size[0] // CELL), -(-size[1] // CELL)


def spread(cells, size):
    """Return a grid of cells as an image."""
    return cells.repeat(CELL, 0).repeat(CELL, 1)[: size[0], : size[1]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("reach", [0, 1, 4])
def test_cells_are_open_where_small_squares_count_and_nothing_clear_is_near(size, reach):
    random, shape = np.random.default_rng(size[0]), count_cells(size)
    final, raw = (np.where(random.random(size) < share, np.uint8(255), np.uint8(0)) for share in (0.1, 0.7))
    final[size[0] // 2 :] = 0
    distance = random.integers(0, 256, size).astype(np.uint8)
    static = random.choice([0, IN_MIDDLE, IN_SMALL, IN_SMALL, IN_SMALL], shape).astype(np.uint8)
    opened = np.full(shape, 7, np.uint8)
    found = Found(final, final.any(1).astype(np.uint8), raw, distance)
    mark_open(found, np.uint8(230), static, reach, opened)
    padded = np.zeros((CELL * shape[0], CELL * shape[1]), bool)
    padded[: size[0], : size[1]] = (final != 0) & (raw != 0) & (distance >= 230)
    clear = padded.reshape(shape[0], CELL, shape[1], CELL).any((1, 3))
    for y, x in np.ndindex(shape):
        near = clear[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1].any()
        assert opened[y, x] == (static[y, x] == IN_SMALL and not near), (y, x)


@pytest.mark.parametrize("size", SIZES)
def test_open_cells_with_a_faint_majority_are_marked(size):
    random, shape = np.random.default_rng(size[1]), count_cells(size)
    voted = np.where(random.random(size) < 0.05, np.uint8(255), np.uint8(0))
    opened = (random.random(shape) < 0.5).astype(np.uint8)
    opened[shape[0] // 2] = 0
    before = random.choice([0, IN_SMALL], shape).astype(np.uint8)
    cells, middle = before.copy(), shape[0] // 3
    for first, last in ((middle, shape[0]), (0, middle)):
        mark_faint(first, last, voted, opened, cells)
    padded = np.zeros((CELL * shape[0], CELL * shape[1]), bool)
    padded[: size[0], : size[1]] = voted != 0
    marked = padded.reshape(shape[0], CELL, shape[1], CELL).any((1, 3)) & (opened != 0)
    assert (cells == before | np.where(marked, IN_FAINT, 0)).all()


@pytest.mark.parametrize("scored", [False, True])
def test_pixels_are_faint_that_no_colour_explains_well(scored):
    random = np.random.default_rng(1)
    model = create("adaptive", threads=1, width=30)
    scene = random.integers(60, 200, (16, 48, 3))
    for _ in range(12):
        blinking = np.where(random.random((16, 48, 1)) < 0.3, scene + 40, scene)
        model.apply(np.clip(blinking + random.normal(0, 2, scene.shape), 0, 255).astype(np.uint8))
    frame = np.clip(scene + random.integers(-40, 40, (16, 48, 1)), 0, 255).astype(np.uint8)
    coefficients = model._arrays["coefficients"].reshape(3, -1).astype(np.float64)
    colours = model._arrays["colours"].reshape(3, 3, -1).astype(np.float64)
    widths = 30 * model._scalars["brightness"] * model._arrays["width_factors"].reshape(-1) / 8000
    squares = ((colours - frame.reshape(-1, 3).T) ** 2).sum(1)
    kernels = np.exp(-squares / widths**2)
    density = (coefficients * kernels).sum(0) / coefficients.sum(0)
    model.apply(frame, learningRate=0, score=np.empty((16, 48), np.float32) if scored else None)
    others = density - coefficients[0] * kernels[0] / coefficients.sum(0)
    certain = (abs(density - 0.5) > 0.01) & (abs(kernels[0] - 0.5) > 0.01) & (abs(others - 0.18) > 0.005)
    faint = (density < 0.5) & (kernels[0] <= 0.5)
    assert certain.mean() > 0.9
    assert (faint & (others > 0.18))[certain].any()  # what is seen now and then is background then
    faint &= others < 0.18
    assert 0.1 < faint.mean() < 0.9
    assert ((model._seen.faint.reshape(-1) != 0) == faint)[certain].all()


@pytest.mark.parametrize("size", SIZES)
def test_faint_squares_are_shown_where_they_were_seldom(size):
    random, shape = np.random.default_rng(size[1]), count_cells(size)
    voted, mask = (np.where(random.random(size) < share, np.uint8(255), np.uint8(0)) for share in (0.5, 0.2))
    cells = random.choice([IN_SMALL, IN_FAINT, IN_FAINT | IN_SMALL, 0], shape).astype(np.uint8)
    calm = random.choice([0, 1, 1], shape).astype(np.uint8)
    rates = np.where(random.random(shape) < 0.05, np.float32(0.02), np.float32(0.01))
    before, rows = mask.copy(), np.zeros(size[0], np.uint8)
    shown = np.zeros(shape, bool)
    for y, x in np.ndindex(shape):
        highest = rates[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2].max()
        shown[y, x] = cells[y, x] & IN_FAINT and calm[y, x] and highest <= np.float32(0.01)
    assert show_faint(voted, cells, calm, rates, np.float32(0.01), mask, rows) == shown.any()
    expected = np.where(spread(shown, size), before | voted, before)
    assert (mask == expected).all()
    assert (rows[(expected != before).any(1)] == 1).all()
    assert (rows[~spread(shown, size).any(1)] == 0).all()


def walk(model, contrast, frames, *, shaking=(), generator_seed=3):
    """Return the shares of somebody of 6x12 pixels that each mask shows, the other pixels of each, and the masks.

    He is a little brighter than the wall; in the frames of `shaking` a patch of the wall is, too.
    """
    generator = np.random.default_rng(generator_seed)
    scene = np.full((120, 160, 3), 90.0)
    scene[:, :16] = 10  # something dark, as in most scenes
    found, false, masks = [], [], []
    for index in range(frames):
        frame, where = scene.copy(), np.zeros((120, 160), bool)
        if index >= 100:
            left = 30 + index % 100
            where[60:72, left : left + 6] = True
            frame[where] += contrast
        if index in shaking:
            frame[20:30, 60:70] += contrast
        frame += generator.normal(0, 1, (120, 160, 1))
        masks.append(model.apply(np.clip(np.rint(frame), 0, 255).astype(np.uint8)).copy())
        if index >= 105:
            found.append((masks[-1] != 0)[where].mean())
            false.append(int(((masks[-1] != 0) & ~where).sum()))
    return found, false, masks


@needs_compiler
def test_what_is_too_faint_for_raw_foreground_is_found_and_learned():
    model = create("adaptive", threads=1)
    model.trace = StageTrace()
    found, false, _ = walk(model, 8, 180)
    steps = dict(model.trace.steps)
    assert np.count_nonzero(steps[model.STAGES[0]][60:72]) < 20  # of 72 pixels, too few for a majority
    assert steps[FAINT].any()
    assert np.mean(found) > 0.7
    assert max(false) < 30
    assert not model._arrays["previous_mask"].any()  # it is background for learning


@needs_compiler
@pytest.mark.parametrize("contrast", [7, 9, 10, 12, 16])
def test_what_is_faint_in_part_is_found_as_a_whole(contrast):
    found, false, _ = walk(create("adaptive", threads=1), contrast, 180)
    assert np.mean(found) > 0.7
    assert max(false) < 30


@needs_compiler
def test_what_is_faint_again_and_again_in_a_place_is_not_shown():
    once, _, masks_once = walk(create("adaptive", threads=1), 8, 180, shaking=range(150, 154))
    often, _, masks = walk(create("adaptive", threads=1), 8, 180, shaking=[k for k in range(180) if k % 12 < 3])
    patch = np.s_[20:30, 60:70]
    assert masks_once[152][patch].mean() > 127
    assert not any(mask[patch].any() for mask in masks[120:])
    assert np.mean(once[:40]) > 0.5
    assert np.mean(often) > 0.5  # elsewhere


@needs_compiler
def test_faint_foreground_depends_on_neither_threads_nor_scores_and_is_shown_by_a_frozen_model():
    models = [create("adaptive", threads=threads) for threads in (1, 2)]
    results = [walk(models[0], 8, 150)[2], walk(models[1], 8, 150)[2]]
    for first, second in zip(*results, strict=True):
        assert (first == second).all()
    for name, array in models[0]._arrays.items():
        assert (array == models[1]._arrays[name]).all(), name
    frame = np.full((120, 160, 3), 90, np.uint8)
    frame[:, :16] = 10
    frame[40:52, 100:106] += 8
    before = {name: array.copy() for name, array in models[0]._arrays.items()}
    masks = [model.apply(frame, learningRate=0).copy() for model in (models[0], models[0], models[1])]
    scored = models[1].apply(frame, learningRate=0, score=np.empty((120, 160), np.float32))
    assert masks[0][41:51, 101:105].all()
    for mask in (*masks[1:], scored):
        assert (mask == masks[0]).all()
    for name, array in models[0]._arrays.items():
        assert (array == before[name]).all(), name
