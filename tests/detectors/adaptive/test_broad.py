"""Broad regions: what only small squares find counts where they do not, if it is large and no leaves."""

import numpy as np
import pytest

from bgsub import create
from bgsub._jit.majority import CELL, IN_LARGE, IN_MIDDLE, IN_SMALL, Votes
from bgsub.detectors.adaptive._jit.outlines.broad import IN_BROAD, Broad, add_broad
from bgsub.detectors.adaptive._jit.outlines.displaced import Sway
from bgsub.detectors.adaptive._jit.outlines.gaps import Pictures
from tests.detectors.adaptive.test_sway import find_regions
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled
THING = np.s_[112:119, 60:150]  # as low as half of a large square, so that none has a majority


def is_beside(frame, background, sway, y, x):
    """Return whether the background, (D, H, W), has the colour of a pixel around it."""
    rows, columns = (slice(max(at - sway.reach, 0), at + sway.reach + 1) for at in (y, x))
    around = background[:, rows, columns].astype(float)
    return (np.abs(around - frame[:, y, x].astype(float)[:, None, None]) <= sway.box).all(0).any()


def expected(small, static, broad_static, frame, background, sway, least, mask, cells):
    """Return the mask with broad regions, all pixels of which are compared, and the bits of its cells."""
    mask, marked = mask.copy(), cells.copy()
    for region in find_regions(small != 0, np.ones(small.shape, bool)):
        asked = any(static[y // CELL, x // CELL] == 0 for y, x in region)
        if not asked or len(region) < least:
            continue
        if sum(is_beside(frame, background, sway, y, x) for y, x in region) >= sway.share * len(region):
            continue
        counts = sum(int(broad_static[y // CELL, x // CELL]) for y, x in region)
        for y, x in region:
            marked[y // CELL, x // CELL] |= IN_BROAD
            mask[y, x] = 255 if 2 * counts > len(region) else mask[y, x]
    return mask, marked


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize(("size", "share"), [((41, 53), 0.3), ((24, 30), 0.25), ((4, 5), 0.9), ((1, 1), 0.9)])
def test_broad_regions_that_do_not_sway_are_added_where_they_count(size, share, dtype):
    random = np.random.default_rng(size[0])
    background = random.integers(0, 60, (3, *size)).astype(dtype)
    frame = np.where(random.random(size) < 0.6, np.roll(background, 1, 2), random.integers(0, 90, (3, *size)))
    frame = np.ascontiguousarray(frame.astype(dtype))
    small = np.where(random.random(size) < share, np.uint8(255), np.uint8(0))
    grid = -(-size[0] // CELL), -(-size[1] // CELL)
    static, broad_static = (random.choice(kinds, grid).astype(np.uint8) for kinds in ([0, 0, IN_MIDDLE], [0, 1]))
    cells = random.choice([IN_SMALL, IN_SMALL, IN_LARGE], grid).astype(np.uint8)
    mask, rows = np.where(random.random(size) < 0.1, np.uint8(255), np.uint8(0)), np.uint8(small.any(1))
    sway, nothing = Sway(1, 0.5, dtype(4)), np.zeros_like(mask)
    given = small.copy(), static, broad_static, frame, background, sway, 6, mask.copy(), cells.copy()
    wanted, marked = expected(*given)
    pictures = Pictures(nothing, nothing, frame.reshape(3, -1), background.reshape(3, -1))
    votes = Votes(mask, rows, cells)
    add_broad(small, static, Broad(broad_static, pictures, sway), 6, votes)
    assert (mask == wanted).all()
    assert (cells == marked).all()
    if size[0] > 24:
        assert 0 < np.count_nonzero(wanted != given[-2]) < np.count_nonzero((small != 0) & (given[-2] == 0))


@needs_compiler
def test_so_many_regions_are_compared_at_most():
    size, side = (200, 200), 8
    blob = np.zeros((side + 4, side + 4), np.uint8)
    blob[:side, :side] = 255
    small = np.ascontiguousarray(np.tile(blob, (17, 17))[: size[0], : size[1]])
    static, broad_static = np.zeros((50, 50), np.uint8), np.ones((50, 50), np.uint8)
    cells, frame, background = (
        np.full((50, 50), IN_SMALL),
        np.full((1, 40000), 200, np.uint8),
        np.zeros((1, 40000), np.uint8),
    )
    mask, nothing = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    votes = Votes(mask, np.ones(size[0], np.uint8), cells)
    broad = Broad(broad_static, Pictures(nothing, nothing, frame, background), Sway(7, 0.5, np.uint8(4)))
    add_broad(small, static, broad, side**2, votes)
    assert np.count_nonzero(mask) == 32 * side**2


def leaves(random):
    """Return a frame of leaves, some of which have moved by a few pixels."""
    still = np.kron(np.random.default_rng(0).integers(20, 200, (60, 80, 3)), np.ones((4, 4, 1)))
    picture = still.copy()
    for _ in range(60):
        (y, x), (down, right) = random.integers(6, (220, 300)), random.integers(-3, 4, 2)
        picture[y : y + 10, x : x + 10] = still[y + down : y + down + 10, x + right : x + right + 10]
    return np.clip(picture + random.normal(0, 2, picture.shape), 0, 255).astype(np.uint8)


@needs_compiler
def test_a_low_long_thing_that_stays_before_leaves_is_found_and_they_are_not():
    random, model = np.random.default_rng(1), create("adaptive")
    for _ in range(320):
        model.apply(leaves(random))
    found, false = [], []
    for _ in range(60):
        frame = leaves(random)
        frame[THING] = np.clip(random.normal((235, 20, 225), 4, frame[THING].shape), 0, 255)
        mask = model.apply(frame) != 0
        found.append(mask[THING].mean())
        mask[100:132, 50:160] = False
        false.append(mask.mean())
    assert np.mean(found) > 0.9
    assert np.mean(false) < 0.002
