"""Outlines of the final mask where the raw mask fills the inside of objects, and where it does not."""

import numpy as np
import pytest

from bgsub._jit.majority import CELL, IN_LARGE
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.trimming import COUNTS, Insides, Trust, count_inside, trim
from bgsub.detectors.adaptive.final_mask import clean, make_static
from bgsub.postprocess import median

pytestmark = pytest.mark.compiled
SIZE = (90, 92)


def cleaned(raw, static=None):
    """Return the final mask of a raw one with squares of 15 and 5 pixels, without filled holes."""
    size = raw.shape
    static = make_static(size) if static is None else static
    final, rows = np.empty_like(raw), np.empty(size[0], np.uint8)
    clean(raw, static, 15, 5, False, 1, final, rows, np.empty_like(static), np.empty_like(raw))
    return final


def fork():
    """Return a mask of a body with two legs, which are 20 pixels wide and 10 apart."""
    mask = np.zeros(SIZE, np.uint8)
    mask[5:45, 20:70] = 255
    mask[45:, 20:40] = 255
    mask[45:, 50:70] = 255
    return mask


def test_the_space_between_legs_stays_free_where_the_raw_mask_is_full():
    raw = fork()
    assert (cleaned(raw) == median(raw, 5)).all()
    assert median(raw, 15)[45:48, 45].all()  # which large squares fill


def test_large_squares_fill_a_raw_mask_with_holes():
    raw = fork()
    raw[::2, ::3] = 0
    raw[1::2, 1::3] = 0
    assert (cleaned(raw) == (median(raw, 15) | median(raw, 5))).all()


def test_large_squares_alone_count_where_the_background_moves():
    raw = fork()
    static = make_static(SIZE)
    static[:] = 0
    assert (cleaned(raw, static) == median(raw, 15)).all()


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (18, 27)])
def test_compiled_functions_equal_plain_numpy(size):
    rng = np.random.default_rng(0)
    cells = -(-size[0] // CELL), -(-size[1] // CELL)

    def random(shape, share):
        return np.where(rng.random(shape) < share, np.uint8(255), np.uint8(0))

    def spread(grid):
        return grid.repeat(CELL, 0).repeat(CELL, 1)[: size[0], : size[1]]

    def sums(image):
        padded = np.zeros((cells[0] * CELL, cells[1] * CELL))
        padded[: size[0], : size[1]] = image != 0
        return padded.reshape(cells[0], CELL, cells[1], CELL).sum((1, 3))

    raw, votes, small = (random(size, 0.6) for _ in range(3))
    insides = Insides(random(size, 0.5), random(size, 0.4))
    flags, static = rng.integers(0, 4, cells, np.uint8), random(cells, 0.7)
    large = flags & IN_LARGE != 0
    counts = np.full((*cells, COUNTS), -1, np.float32)
    middle = cells[0] // 2
    for first, last in ((0, middle), (middle, cells[0])):
        count_inside(first, last, raw, insides, flags, counts)
    images = insides.votes, insides.votes & raw, insides.small, insides.small & raw
    for counted, image in zip(np.moveaxis(counts, 2, 0), images, strict=True):
        assert (counted == np.where(large, sums(image), 0)).all()
    means, trust = cv2.blur(counts, (3, 3)).reshape(counts.shape), Trust(np.float32(0.5), np.float32(0.6))
    filled = (means[..., 1] > trust.votes * means[..., 0]) & (means[..., 3] > trust.small * means[..., 2])
    expected = np.where(spread(large & (static != 0) & filled), votes & small, votes)
    for first, last in ((0, middle), (middle, cells[0])):
        trim(first, last, votes, small, flags, static, means, trust)
    assert (votes == expected).all()
