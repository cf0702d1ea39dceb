"""Regions of masks in the adaptive detector: their runs, holes, what is between them, and what is summed over them."""

import numpy as np
import pytest

from bgsub._jit.runs import find_runs
from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.regions import count_changes, fill_holes, finish
from bgsub.detectors.adaptive._jit.shadows.alone import Lone, clear_objects, clear_regions, sum_borders, sum_regions
from bgsub.detectors.adaptive._jit.shadows.darkening import Images
from bgsub.detectors.adaptive._jit.shadows.grid import add_border, take_grid
from bgsub.detectors.adaptive._jit.shadows.kinds import DETAIL, FAINT, FILLED, SOLID
from bgsub.detectors.adaptive._jit.shadows.voting import OPENED, add_between, take_voters, vote, write_voted

pytestmark = pytest.mark.compiled


def label_regions(mask, diagonal=True):
    """Return the runs of a mask, the labels of its pixels, -1 in background, and the number of regions."""
    runs = np.empty((mask.size + 1, 4), np.int32)
    count, regions = find_runs(mask, mask.any(1).astype(np.uint8), int(diagonal), runs)
    labels = np.full(mask.shape, -1, np.int32)
    for row, start, end, label in runs[:count]:
        labels[row, start:end] = label
    return runs[:count], labels, regions


def blobs(size, share, seed=0, smooth=0.0):
    """Return a mask of regions and holes of all shapes; single pixels if it is not smooth."""
    noise = np.random.default_rng(seed).random(size)
    noise = cv2.GaussianBlur(noise, (0, 0), smooth) if smooth else noise
    return np.where(noise > np.quantile(noise, 1 - share), np.uint8(255), np.uint8(0))


MASKS = {
    "pixel": blobs((1, 1), 1.0),
    "row": blobs((1, 40), 0.5),
    "column": blobs((40, 1), 0.5),
    "smaller than two words": blobs((7, 9), 0.5),
    "few": blobs((17, 31), 0.2),
    "many": blobs((30, 75), 0.7),
    "smooth": blobs((23, 64), 0.6, 0, 1.0),
    "smoother": blobs((30, 75), 0.5, 1, 1.7),
    "empty": np.zeros((5, 20), np.uint8),
    "full": np.full((5, 20), 255, np.uint8),
}


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_runs_have_the_labels_of_connected_components(mask, diagonal):
    _, labels, count = label_regions(mask, diagonal)
    expected_count, expected = cv2.connectedComponents(mask, connectivity=8 if diagonal else 4)
    assert count == expected_count - 1
    pairs = set(zip(labels.ravel().tolist(), expected.ravel().tolist(), strict=True))
    assert len(pairs) == len(np.unique(expected))  # one to one
    assert ((labels >= 0) == (mask != 0)).all()
    firsts = [np.flatnonzero(labels.ravel() == region)[0] for region in range(count)]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_holes_are_what_cannot_be_reached_from_outside(mask):
    outside = cv2.copyMakeBorder(mask, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    cv2.floodFill(outside, None, (0, 0), 7, flags=4)
    expected = np.where(outside[1:-1, 1:-1] == 7, np.uint8(0), np.uint8(255))
    filled = mask.copy()
    fill_holes(filled, np.ones(len(mask), np.uint8))
    assert (filled == expected).all()
    padded = np.zeros((mask.shape[0] + 6, mask.shape[1]), np.uint8)
    padded[2:-4] = mask
    occupied = padded.any(1).astype(np.uint8)
    occupied[3] = 1
    for fill in (False, True):
        final, rows, unfilled = padded.copy(), occupied.copy(), padded.copy()
        unfilled[occupied != 0] = 7
        finish(final, rows, unfilled, fill)
        assert (final[2:-4] == (expected if fill else mask)).all()
        assert (rows == padded.any(1)).all()
        assert (unfilled[rows != 0] == padded[rows != 0]).all()


def test_nothing_is_filled_where_no_row_is_occupied():
    mask = np.zeros((4, 9), np.uint8)
    fill_holes(mask, np.zeros(4, np.uint8))
    assert not mask.any()


def test_changes_are_counted_in_occupied_rows():
    mask, previous = blobs((12, 450), 0.6), blobs((12, 450), 0.5, 1)
    mask[3:5] = 0
    expected = (mask != 0).sum(), ((mask != 0) & (previous == 0)).sum()
    assert count_changes(mask, previous, mask.any(1).astype(np.uint8)) == expected
    assert count_changes(mask, previous, np.zeros(12, np.uint8)) == (0, 0)


def test_what_lies_between_is_added_as_by_plain_numpy():
    random, size = np.random.default_rng(0), (40, 70)
    mask = np.where(random.random(size) < 0.8, np.uint8(255), np.uint8(0))
    mask[17:19] = 0
    solid = np.where(random.random(size) < 0.2, mask, np.uint8(0))
    voted, darkened = (np.where(random.random(size) < 0.8, np.uint8(255), np.uint8(0)) for _ in range(2))
    between = np.zeros(size, bool)
    for y, x in np.argwhere((mask != 0) & (solid == 0)):
        above = [solid[row, x] != 0 for row in range(y) if mask[row:y, x].all()]
        below = [solid[row, x] != 0 for row in range(y + 1, size[0]) if mask[y : row + 1, x].all()]
        between[y, x] = any(above) and any(below)
    voted[17:19] = 0
    shadows = voted & darkened & ~solid
    labels = cv2.connectedComponents(shadows, connectivity=4)[1]
    shares = np.array([between[labels == label].mean() for label in range(labels.max() + 1)])
    limit = float(np.median(shares[1:]))
    expected = (solid != 0) | between | ((labels > 0) & (shares > limit)[labels])
    rows, runs = mask.any(1).astype(np.uint8), np.empty((mask.size + 1, 4), np.int32)
    voted[17:19] = darkened[17:19] = 255  # which nothing reads
    found = solid.copy()
    add_between(mask, voted, darkened, rows, limit, found, np.empty_like(mask), runs)
    assert (found == np.where(expected, 255, 0)).all()
    assert 50 < between.sum() < ((found != 0) & (solid == 0)).sum()
    whole = mask.copy()
    add_between(mask, voted, darkened, rows, limit, whole, np.empty_like(mask), runs)
    assert (whole == mask).all()


def test_chosen_regions_are_cleared():
    mask = blobs((30, 50), 0.4, 0, 1.0)
    runs, labels, count = label_regions(mask)
    chosen = np.arange(count) % 2 == 0
    cleared = mask.copy()
    clear_regions(runs, chosen, cleared)
    expected = mask.copy()
    expected[(labels >= 0) & chosen[labels]] = 0
    assert (cleared == expected).all()
    assert (cleared != mask).any()


@pytest.mark.parametrize("majority", [0.5, 0.625])
@pytest.mark.parametrize(("size", "side"), [((24, 75), 15), ((20, 64), 3), ((5, 4), 9), ((12, 130), 7)])
def test_votes_are_counted_as_by_plain_numpy(size, side, majority):
    random = np.random.default_rng(side)
    mask = blobs(size, 0.7, side)
    mask[size[0] // 2 : size[0] // 2 + 2] = 0
    mask[:, 64:] &= blobs((1, size[1]), 0.5)[:, 64:]
    kinds = random.choice([FAINT, FILLED, DETAIL, SOLID, SOLID, SOLID], size).astype(np.uint8)
    darkened = np.where(random.random(size) < 0.5, mask, np.uint8(0))
    rows = mask.any(1).astype(np.uint8)
    voters, voted, solid = (np.full(size, 7, np.uint8) for _ in range(3))
    bands = (0, 1), (1, size[0] // 2), (size[0] // 2, size[0])
    for band in bands:
        take_voters(*band, mask, kinds, darkened, rows, voters)
    for band in bands:
        vote(*band, mask, darkened, voters, rows, side, np.float32(majority), voted, solid)

    def means(votes):
        padded = np.pad((votes != 0).astype(int), side // 2)
        counts = np.lib.stride_tricks.sliding_window_view(padded, (side, side)).sum((2, 3))
        return np.rint(255 * counts / side**2)

    votes = (mask != 0) & ((kinds == SOLID) | (darkened != 0))
    most = means(darkened) > majority * means(votes)
    for written, expected in ((voters, votes), (voted, (mask != 0) & most), (solid, votes & ~most)):
        assert (written[rows != 0] == np.where(expected, 255, 0)[rows != 0]).all()
        assert (written[rows == 0] == 7).all()

    solid[blobs(size, 0.2, 3) != 0] = 255
    found = np.full(size, 7, np.uint8)
    hole = (mask != 0) & (voters == 0) & (solid == 0) & (kinds < DETAIL)
    expected = np.where(hole, OPENED, np.where((voted != 0) & (solid == 0), 255, 0))
    expected[rows == 0] = 7
    assert write_voted(mask, kinds, voters, voted, solid, rows, found) == expected[rows != 0].any()
    assert (found == expected).all()
    assert not write_voted(mask, kinds, voters, voted, np.full(size, 255, np.uint8), rows, found)
    assert not found[rows != 0].any()


def test_sums_of_regions_equal_plain_numpy():
    random, size = np.random.default_rng(0), (12, 80)
    mask = np.where(random.random(size) < 0.4, np.uint8(255), np.uint8(0))
    mask[:6, 10:], mask[8:, :20] = 0, 255
    shadows = np.where(random.random(size) < 0.5, mask, np.uint8(0))
    frame, background = (random.integers(0, 256, (3, size[0] * size[1]), np.uint8) for _ in range(2))
    runs, labels, count = label_regions(mask)
    images = Images(mask, mask, frame, background, np.float32(0.5), np.float32(8))
    beyond = np.pad(mask != 0, 1, mode="edge")
    has_sides = beyond[:-2, 1:-1] & beyond[2:, 1:-1] & beyond[1:-1, :-2] & beyond[1:-1, 2:]
    sums = np.full((count, 6), np.nan, np.float32)
    assert not sum_regions(images, runs, np.zeros_like(mask), 0.4, sums)
    assert sum_regions(images, runs, shadows, 0.4, sums)
    measured = within = 0
    for region in range(count):
        inside = labels == region
        shaded = inside & (shadows != 0)
        pictures = frame.reshape(3, *size), background.reshape(3, *size)
        places = shaded, shaded & has_sides
        light = [(picture[:, place] * 0.5 - 8).sum() for place in places for picture in pictures]
        if shaded.sum() <= 0.4 * inside.sum():
            light = [0] * 4
        assert sums[region].tolist() == [inside.sum(), shaded.sum(), *light]
        measured += shaded.any() and light[0] != 0
        within += light[2] not in (0, light[0])
    assert within > 0
    assert 3 < measured < count == len(sums)


def test_borders_of_regions_are_summed_as_by_plain_numpy():
    random, size = np.random.default_rng(0), (40, 60)
    mask = cv2.threshold(cv2.blur(random.integers(0, 256, size, np.uint8), (7, 7)), 128, 255, cv2.THRESH_BINARY)[1]
    frame, background = (random.integers(0, 256, (3, mask.size), np.uint8) for _ in range(2))
    runs, labels, count = label_regions(mask)
    chosen = random.random(count) < 0.7
    expected = np.zeros((count, 4))
    bright = [(planes * 0.5 - 8).sum(0).reshape(size) for planes in (frame, background)]
    for y, x in np.argwhere((labels >= 0) & chosen[labels]):
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            places = [(y + far * down, x + far * right) for far in (-1, 1, 3)]
            if not all(0 <= row < size[0] and 0 <= column < size[1] for row, column in places):
                continue
            before, beside, after = places
            if labels[before] == labels[y, x] and mask[beside] == 0 and mask[after] == 0:
                expected[labels[y, x]] += [image[place] for place in (before, after) for image in bright]
    sums = np.full((count, 4), np.nan, np.float32)
    sum_borders(Images(mask, mask, frame, background, np.float32(0.5), np.float32(8)), runs, chosen, sums)
    assert sums.tolist() == expected.tolist()
    assert (expected > 0).all(1).sum() > 5


@pytest.mark.parametrize("seed", range(3))
def test_lone_shadows_are_objects_by_the_rule_as_by_plain_numpy(seed):
    random, size, lone = np.random.default_rng(seed), (60, 90), Lone(0.9, 0.7, 0.75)
    mask = blobs(size, 0.35, seed, 1.6)
    runs, labels, count = label_regions(mask)
    # Regions are shadow as a whole, or in half of their pixels, and of all depths.
    whole, depth = random.random(count) < 0.7, random.uniform(0.4, 0.95, count)
    shadows = np.where((labels >= 0) & (whole[labels] | (random.random(size) < 0.5)), np.uint8(255), np.uint8(0))
    background = random.integers(90, 110, (3, mask.size), np.uint8)
    shade = cv2.blur(np.where(labels >= 0, depth[labels], 1.0), (3, 1)).reshape(-1)
    frame = np.rint(background * shade).astype(np.uint8)
    images = Images(mask, mask, frame, background, np.float32(1), np.float32(0))
    sums, borders = np.empty((count, 6), np.float32), np.empty((count, 4), np.float32)
    sum_regions(images, runs, shadows, lone.alone, sums)
    alone = sums[:, 1] > lone.alone * sums[:, 0]
    sum_borders(images, runs, alone, borders)
    largest = max((sums[:, 0] - sums[:, 1])[~alone], default=0.0)
    border = {*labels[0], *labels[-1], *labels[:, 0], *labels[:, -1]}
    cleared, kinds = shadows.copy(), set()
    for region in np.flatnonzero(alone):
        light, learned = sums[region, 4:] if sums[region, 5] > 0 else sums[region, 2:4]
        inside, learned_inside, outside, learned_outside = borders[region].astype(float)
        if light < lone.dark * learned:
            is_object, kind = sums[region, 0] > largest, "dark"
        else:
            shares = outside / max(learned_outside, 1) - inside / max(learned_inside, 1)
            is_object, kind = learned_outside > 0 and shares > lone.sharp * (1 - light / learned), "sharp"
            is_object &= region not in border
        kinds.add((kind, bool(is_object)))
        if is_object:
            cleared[labels == region] = 0
    clear_objects(images, mask.any(1).astype(np.uint8), lone, shadows)
    assert (shadows == cleared).all()
    assert {("sharp", True), ("sharp", False)} < kinds


@pytest.mark.parametrize(("size", "step", "channels"), [((31, 50), 2, 3), ((40, 71), 3, 1), ((33, 64), 4, 3)])
def test_every_few_rows_and_columns_are_taken_in_the_box_of_the_foreground(size, step, channels):
    random = np.random.default_rng(step)
    mask = np.zeros(size, np.uint8)
    mask[size[0] // 4 : -3, size[1] // 5 : -2] = blobs(size, 0.2, step)[size[0] // 4 : -3, size[1] // 5 : -2]
    kinds = blobs(size, 0.5, 7)
    frame, background = (random.integers(0, 256, (channels, mask.size + 6), np.uint8) for _ in range(2))
    images = Images(mask, kinds, frame, background, np.float32(1))
    few, top, left, inside, kinds_inside, *parts, rows = take_grid(mask, mask.any(1).astype(np.uint8), images, step)
    every = slice(step // 2, None, step), slice(step // 2, None, step)
    assert (few == mask[every]).all()
    ys, xs = np.nonzero(mask[every])
    assert (top, left) == (max(ys.min() - 1, 0), max(xs.min() - 1, 0))  # with an outline
    box = slice(top, ys.max() + 2), slice(left, xs.max() + 2)
    assert (inside == mask[every][box]).all()
    assert (kinds_inside == kinds[every][box]).all()
    assert not inside[rows == 0].any()
    for planes, taken in zip((frame, background), parts, strict=True):
        expected = planes[:, : mask.size].reshape(channels, *size)[:, *every][:, *box]
        assert (taken == expected.reshape(channels, -1)).all()
    nothing = take_grid(np.zeros_like(mask), np.ones(size[0], np.uint8), images, step)
    assert nothing[3].size == 0
    assert not nothing[0].any()


def test_background_that_touches_shadows_alone_belongs_to_them():
    few, (top, left) = blobs((30, 40), 0.3, 2, 1.0), (4, 3)
    few[:top], few[:, :left], few[26:] = 0, 0, 0
    box = slice(top, 26), slice(left, 40)
    found = np.where(blobs((30, 40), 0.6, 5, 2.0) != 0, few, np.uint8(0))
    found[(found == 0) & (few != 0) & (blobs((30, 40), 0.1) != 0)] = OPENED
    expected = found.copy()
    for y, x in np.argwhere(few == 0):
        around = slice(max(y - 1, 0), y + 2), slice(max(x - 1, 0), x + 2)
        if (found[around] == 255).any() and not (few[around] & ~np.where(found[around] == 255, 255, 0)).any():
            expected[y, x] = 255
    part, rows = np.ascontiguousarray(found[box]), found[box].any(1).astype(np.uint8)
    part[rows == 0] = 255  # which nothing reads
    assert (add_border(few, part, rows, top, left) == expected).all()
    assert (expected != found).sum() > 20
    assert ((found != 255) & (few != 0)).sum() > 20
