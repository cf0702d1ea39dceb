"""Details of foreground: limbs and masts that are too thin for the squares of the final mask."""

import math

import numpy as np
import pytest

from bgsub import create
from bgsub._jit.majority import CELL, IN_LARGE, IN_SMALL
from bgsub.detectors.adaptive.final_mask import Masked, Pictures, Shown, Sides, find_details, make_static, make_sway
from bgsub.detectors.adaptive.stages import DETAILS
from bgsub.stages import StageTrace
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled


def expected(final: np.ndarray, raw: np.ndarray, cells: np.ndarray, static: np.ndarray, sides: Sides) -> np.ndarray:
    """Return the final mask with its details, pixel by pixel."""
    height, width = raw.shape
    detailed, reach, far = final.copy(), sides.small // 2, math.ceil(sides.large // 2 / CELL)
    around = np.pad(raw != 0, 1, mode="edge")
    for y in range(height):
        for x in range(width):
            near = final[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1].any()
            most = around[y : y + 3, x : x + 3].sum() >= 5
            row, column = y // CELL, x // CELL
            around_cell = cells[max(row - far, 0) : row + far + 1, max(column - far, 0) : column + far + 1]
            if near and most and static[row, column] and (around_cell & IN_LARGE).any():
                detailed[y, x] = 255
    return detailed


def find(final, rows, raw, cells, static, sides, threads, region=None):
    """Return a mask with its details, and which of its rows may have foreground; no gaps are opened."""
    planes = np.zeros((1, final.size), np.uint8)
    shown = Shown(*(np.full(shape, 7, np.uint8) for shape in (final.shape, len(final), final.shape)))
    pictures = Pictures(raw, np.zeros_like(raw), planes, planes)
    masked = Masked(final, rows, cells, final, np.zeros_like(raw), np.empty((2, *final.shape), np.uint8))
    still = make_sway(sides, np.uint8(0))._replace(reach=0)
    find_details(masked, pictures, static, region, sides, 0, still, threads, shown)
    return shown.mask, shown.occupied_rows


@pytest.mark.parametrize(("size", "fine"), [((41, 53), 5), ((24, 30), 9), ((9, 64), 3), ((4, 4), 5)])
def test_details_are_most_of_a_square_of_three_beside_what_was_found(size, fine):
    generator = np.random.default_rng(size[0])
    raw = np.where(generator.random(size) < 0.5, np.uint8(255), np.uint8(0))
    final = np.zeros(size, np.uint8)
    final[size[0] // 3 : size[0] // 2, size[1] // 3 : size[1] // 2] = 255
    static = np.where(generator.random(make_static(size).shape) < 0.7, np.uint8(255), np.uint8(0))
    cells = np.where(generator.random(static.shape) < 0.1, IN_LARGE, IN_SMALL)
    cells[:, static.shape[1] // 2 :] = IN_SMALL
    cells[0, 0], sides = IN_LARGE, Sides(15, 7, fine, fine)
    before = final.copy()
    for threads in (1, 2):
        detailed, rows = find(final, final.any(1).astype(np.uint8), raw, cells, static, sides, threads)
        assert not detailed[rows == 0].any()
        assert set(rows) <= {0, 1}
        assert rows.sum() <= final.any(1).sum() + 2 * (fine // 2)
        assert (detailed == expected(final, raw, cells, static, sides)).all()
        inside = np.where(generator.random(size) < 0.9, np.uint8(255), np.uint8(0))
        within, _ = find(final, final.any(1).astype(np.uint8), raw, cells, static, sides, threads, inside)
        assert (within == detailed & inside).all()
    assert (final == before).all()


def test_nothing_has_no_details():
    empty = np.zeros((24, 32), np.uint8)
    static, raw = make_static((24, 32)), np.full_like(empty, 255)
    cells = np.full_like(static, IN_LARGE)
    detailed, _ = find(empty, np.zeros(24, np.uint8), raw, cells, static, Sides(15, 7, 5, 5), 1)
    assert not detailed.any()


def figure(left: int) -> np.ndarray:
    """Return where somebody is: a body of twelve columns, as large squares find it, and two legs of two."""
    where = np.zeros((240, 320), bool)
    where[28:52, left : left + 12] = True
    where[52:56, left + 2 : left + 4] = where[52:56, left + 8 : left + 10] = True
    return where


@needs_compiler
def test_legs_of_two_pixels_are_found_and_not_fed_back():
    generator = np.random.default_rng(3)
    scene = np.full((240, 320, 3), 90.0)
    scene[:, :16] = 10  # something dark, as in most scenes
    model = create("adaptive", threads=1)
    model.trace = StageTrace()
    found, before, false = [], [], []
    for index in range(120):
        where = figure(20 + index % 80) if index >= 60 else np.zeros((240, 320), bool)
        frame = np.where(where[..., None], 200, scene) + generator.normal(0, 2, scene.shape)
        model.trace.clear()
        mask = model.apply(np.clip(np.rint(frame), 0, 255).astype(np.uint8)) != 0
        if index >= 100:
            steps = dict(model.trace.steps)
            names = [stage for stage, _ in model.trace.steps]
            legs = where.copy()
            legs[:52] = False
            found.append(mask[legs].mean())
            before.append((steps[names[names.index(DETAILS) - 1]] != 0)[legs].mean())
            false.append((mask & ~where).sum())
    assert np.mean(found) > np.mean(before) + 0.2
    assert np.mean(found) > 0.7
    assert np.mean(false) < 10
