"""Faint foreground: things so near to the background that only most of a square of their pixels shows them."""

import numpy as np
import pytest

from bgsub import create
from bgsub._jit.majority import CELL, IN_LARGE, IN_MIDDLE, IN_SMALL
from bgsub.detectors.adaptive._jit.outlines.details import TINY, mark_tiny
from bgsub.detectors.adaptive._jit.outlines.faint import IN_FAINT, Found, mark_faint, mark_open, show_faint
from bgsub.detectors.adaptive._jit.shadows import kinds as of_kind
from bgsub.detectors.adaptive.stages import FAINT
from bgsub.stages import StageTrace
from tests.marks import needs_compiler

SIZES = [(41, 53), (24, 64), (9, 70), (4, 4), (1, 1)]


def count_cells(size):
    return -(-size[0] // CELL), -(-size[1] // CELL)


def spread(cells, size):
    """Return a grid of cells as an image."""
    return cells.repeat(CELL, 0).repeat(CELL, 1)[: size[0], : size[1]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("reach", [0, 1, 4])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_cells_are_open_where_small_squares_count_and_nothing_clear_is_near_that_is_not_small(size, reach, share):
    random, shape = np.random.default_rng(size[0]), count_cells(size)
    final, raw = (np.where(random.random(size) < part, np.uint8(255), np.uint8(0)) for part in (0.03, 0.7))
    final[size[0] // 2 :] = 0
    distance = random.integers(0, 256, size).astype(np.uint8)
    static = random.choice([0, IN_MIDDLE, IN_SMALL, IN_SMALL, IN_SMALL], shape).astype(np.uint8)
    cells = np.where(random.random(shape) < share, IN_LARGE, IN_SMALL).astype(np.uint8)
    opened = np.full(shape, 7, np.uint8)
    found = Found(final, final.any(1).astype(np.uint8), raw, distance)
    mark_open(found, cells, np.uint8(230), static, reach, opened)
    padded = np.zeros((CELL * shape[0], CELL * shape[1]), bool)
    padded[: size[0], : size[1]] = (final != 0) & (raw != 0) & (distance >= 230)
    clear = padded.reshape(shape[0], CELL, shape[1], CELL).any((1, 3))
    for y, x in np.ndindex(shape):
        near, touching = (
            np.s_[max(y - away, 0) : y + away + 1, max(x - away, 0) : x + away + 1] for away in (reach, 1)
        )
        is_large = cells == IN_LARGE
        rest = (clear & ~is_large)[touching].any() and not (clear & is_large)[near].any()
        assert opened[y, x] == (static[y, x] == IN_SMALL and (rest or not clear[near].any())), (y, x)


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


@pytest.mark.parametrize("size", [*SIZES, (2, 3), (30, 130)])
def test_squares_of_two_raw_pixels_are_marked_as_by_plain_numpy(size):
    random = np.random.default_rng(size[0])
    raw = np.where(random.random(size) < 0.6, np.uint8(255), np.uint8(0))
    raw[size[0] // 3 : size[0] // 3 + 4] = 0
    voted = random.choice([0, 255], size).astype(np.uint8)
    expected = voted.copy()
    for y, x in np.ndindex(size[0] - 1, size[1] - 1):
        if raw[y : y + 2, x : x + 2].all():
            expected[y : y + 2, x : x + 2] = TINY
    middle = size[0] // 3
    for band in ((middle, size[0]), (0, middle)) if middle > 0 else ((0, size[0]),):
        mark_tiny(*band, raw, voted)
    assert (voted == expected).all()


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
@pytest.mark.parametrize("all_faint", [False, True])
def test_faint_and_tiny_squares_are_shown_where_they_were_seldom(size, all_faint):
    random, shape = np.random.default_rng(size[1]), count_cells(size)
    voted = random.choice([0, 0, TINY, 255], size).astype(np.uint8)
    mask = np.where(random.random(size) < 0.2, np.uint8(255), np.uint8(0))
    mask[:, : size[1] // 2] = 0
    kinds = np.where(mask != 0, of_kind.SOLID, of_kind.FAINT)
    cells = random.choice([IN_SMALL, IN_FAINT, IN_FAINT | IN_SMALL, 0], shape).astype(np.uint8)
    calm = random.choice([0, 1, 1], shape).astype(np.uint8)
    rates = np.where(random.random(shape) < 0.05, np.float32(0.02), np.float32(0.01))
    before, rows = mask.copy(), np.zeros(size[0], np.uint8)
    shown = np.zeros(shape, bool)
    for y, x in np.ndindex(shape):
        highest = rates[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2].max()
        shown[y, x] = cells[y, x] & IN_FAINT and calm[y, x] and highest <= np.float32(0.01)
    assert show_faint(voted, cells, calm, rates, np.float32(0.01), all_faint, mask, rows, kinds) == shown.any()
    added = spread(shown, size) & ((voted == TINY) | (all_faint & (voted != 0))) & (before == 0)
    expected = np.where(added, np.uint8(255), before)
    assert (mask == expected).all()
    solid = np.pad(before, [(CELL, 2 * CELL)] * 2)
    beside = np.zeros(shape, bool)
    for y, x in np.ndindex(shape):
        beside[y, x] = solid[CELL * y : CELL * (y + 3), CELL * x : CELL * (x + 3)].any()
    faint_kinds = np.where(spread(beside, size), of_kind.RIM, of_kind.FAINT)
    of_added = np.where(voted == TINY, of_kind.SPECK, faint_kinds)
    assert (kinds == np.where(before != 0, of_kind.SOLID, np.where(added, of_added, of_kind.FAINT))).all()
    assert not all_faint or size[1] < 40 or {of_kind.RIM, of_kind.FAINT} <= set(kinds[added])
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


def show_in_grey(show, **parameters):
    """Return which share of a place the masks of 75 frames show, and how many other pixels each does.

    `show(frame, where, index)` draws on a grey scene of 320x240 pixels, and marks the place.
    """
    model, generator, found, false = create("adaptive", threads=1, **parameters), np.random.default_rng(5), [], []
    scene = np.full((240, 320, 3), 90.0)
    scene[:, :16] = 10  # something dark, as in most scenes
    for index in range(180):
        frame, where = scene.copy(), np.zeros((240, 320), bool)
        if index >= 100:
            show(frame, where, index)
        frame += generator.normal(0, 1, (240, 320, 1))
        mask = model.apply(np.clip(np.rint(frame), 0, 255).astype(np.uint8))
        if index >= 105:
            found.append((mask != 0)[where].mean())
            false.append(int(((mask != 0) & ~where).sum()))
    return np.mean(found), max(false)


@needs_compiler
@pytest.mark.parametrize("with_shadow", [False, True])
@pytest.mark.parametrize("shadows", [False, True])
def test_what_is_clear_but_too_small_for_small_squares_is_found_whatever_becomes_of_shadows(with_shadow, shadows):
    def show(frame, where, index):
        left = 30 + index % 100
        frame[100:103, left : left + 3] += 80
        where[100:103, left : left + 3] = True
        if with_shadow:
            frame[180:220, left : left + 60] = 20
            frame[180:220, left + 60 : left + 120] *= 0.7

    found, false = show_in_grey(show, shadows=shadows)
    assert found > 0.9
    assert false < (40 * (120 if shadows else 60) + 40 * 10 if with_shadow else 20)


@needs_compiler
def test_the_faint_body_of_a_small_clear_head_is_found():
    def show(frame, where, index):
        left = 30 + index % 100
        frame[60:65, left : left + 5] += 80
        frame[65:77, left : left + 6] += 8
        where[65:77, left : left + 6] = True

    found, false = show_in_grey(show)
    assert found > 0.4
    assert false < 60  # of which the head is 25


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
def test_faint_foreground_depends_on_neither_threads_nor_scores_and_is_shown_by_a_frozen_model(monkeypatch):
    monkeypatch.setattr("bgsub._numba.bands._MIN_PIXELS_PER_BAND", 1)  # else one thread does all of so small a frame
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
