"""What sways: small regions whose colours the background has beside them are left out of masks."""

import numpy as np
import pytest

from bgsub import create
from bgsub._jit.majority import CELL, IN_LARGE, IN_SMALL
from bgsub.detectors.adaptive._jit.outlines.displaced import Sway, clear_displaced
from bgsub.detectors.adaptive._jit.outlines.gaps import Pictures
from bgsub.detectors.adaptive.stages import GHOSTS, SWAY
from bgsub.stages import StageTrace
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled
TWIGS, THING = [(40, 40), (120, 200), (200, 80), (60, 260)], np.s_[150:158, 150:158]


def find_regions(mask: np.ndarray, allowed: np.ndarray) -> list[set[tuple[int, int]]]:
    """Return the regions of foreground that only consist of allowed pixels, corners included."""
    left = {(int(y), int(x)) for y, x in np.argwhere(mask & allowed)}
    regions = []
    while left:
        region, edge = set(), [left.pop()]
        while edge:
            y, x = edge.pop()
            region.add((y, x))
            beside = {(y + i, x + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
            left -= beside
            edge += beside
        regions.append(region)
    return [
        region
        for region in regions
        if not any((mask & ~allowed)[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2].any() for y, x in region)
    ]


def expected(mask, cells, frame, background, sway):
    """Return the mask without what sways, region by region; pictures are (D, H, W)."""
    bits = np.kron(cells, np.ones((CELL, CELL), np.uint8))[: mask.shape[0], : mask.shape[1]]
    cleared = mask.copy()
    for region in find_regions(mask != 0, bits & IN_LARGE == 0):
        beside = 0
        for y, x in region:
            rows = slice(max(y - sway.reach, 0), y + sway.reach + 1)
            columns = slice(max(x - sway.reach, 0), x + sway.reach + 1)
            around, here = background[:, rows, columns].astype(float), frame[:, y, x].astype(float)
            beside += (np.abs(around - here[:, None, None]) <= sway.box).all(0).any()
        if any(bits[y, x] for y, x in region) and beside >= sway.share * len(region):
            for y, x in region:
                cleared[y, x] = 0
    return cleared


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize(("size", "reach", "channels"), [((41, 53), 2, 3), ((24, 30), 1, 1), ((4, 5), 2, 3)])
def test_regions_with_the_colours_beside_them_are_removed(size, reach, channels, dtype):
    random = np.random.default_rng(size[0])
    background = random.integers(0, 60, (channels, *size)).astype(dtype)
    frame = np.where(random.random(size) < 0.5, np.roll(background, 1, 2), random.integers(0, 90, (channels, *size)))
    frame = np.ascontiguousarray(frame.astype(dtype))
    mask = np.where(random.random(size) < 0.35, np.uint8(255), np.uint8(0))
    grid = -(-size[0] // CELL), -(-size[1] // CELL)
    cells = random.choice([0, IN_SMALL, IN_SMALL, IN_LARGE], grid).astype(np.uint8)
    sway = Sway(reach, 0.6, dtype(4))
    nothing = np.zeros_like(mask)
    pictures = Pictures(nothing, nothing, frame.reshape(channels, -1), background.reshape(channels, -1))
    wanted = expected(mask, cells, frame, background, sway)
    before, voted = mask.copy(), np.full_like(mask, 255)
    clear_displaced(mask, cells, pictures, sway, voted)
    assert (mask == wanted).all()
    removed, side = np.pad(before != wanted, reach), 2 * reach + 1
    near = np.any([removed[i : size[0] + i, j : size[1] + j] for i in range(side) for j in range(side)], axis=0)
    assert ((voted == 0) == near).all()
    if size[0] > 4:
        assert 0 < np.count_nonzero(mask) < np.count_nonzero(before)


def show_twigs(scale, ghosts):
    """Return masks of the stages of a frame before which some twigs moved and a thing of their size came, by name."""
    random = np.random.default_rng(0)
    leaves = np.kron(random.integers(20, 200, (60, 80, 3)), np.ones((4, 4, 1))).astype(np.uint8)
    model, frame = create("adaptive", ghosts=ghosts), leaves.copy()
    for y, x in TWIGS:
        frame[y : y + 8, x : x + 8] = leaves[y - 2 : y + 6, x - 2 : x + 6]
    frame[THING] = (255, 0, 255)
    for picture in [leaves] * 120 + [frame]:
        noisy = np.clip(picture + random.normal(0, 2, picture.shape), 0, 255)
        model.trace = StageTrace()
        mask = model.apply(np.kron(noisy, np.ones((scale, scale, 1))).astype(np.uint8))
    return {stage.name: image != 0 for stage, image in model.trace.steps} | {"mask": mask != 0}


@needs_compiler
@pytest.mark.parametrize("scale", [1, 2])  # large frames are reduced
def test_a_twig_that_moved_is_background_and_a_thing_of_its_size_is_not(scale):
    found = show_twigs(scale, ghosts=False)  # some of the twigs would be taken for them
    for y, x in TWIGS:
        twig = np.s_[y * scale : (y + 8) * scale, x * scale : (x + 8) * scale]
        assert found["majority"][twig].any()
        assert not found[SWAY.name][twig].any()
        assert not found["mask"][twig].any()
    assert found["mask"][THING[0].start * scale : THING[0].stop * scale, THING[1].start * scale :].sum() > 32 * scale**2


@needs_compiler
def test_what_was_taken_for_a_ghost_is_not_shown_as_something_tiny():
    found = show_twigs(1, ghosts=True)
    ghosts = found["fill-holes"] & ~found[GHOSTS.name]
    assert ghosts.sum() > 50
    assert not found["mask"][ghosts].any()
