"""Regions of masks in the adaptive detector: their runs, holes, what is between them, and what is summed over them."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.regions import (
    add_regions,
    clear_regions,
    fill_holes,
    find_between,
    finish,
    sum_borders,
    sum_regions,
    write_labels,
)
from bgsub.detectors.adaptive._jit.shadows import OPENED, Images, vote, write_voted
from bgsub.detectors.adaptive.final_mask import label_regions

pytestmark = pytest.mark.compiled


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
    runs, count = label_regions(mask, diagonal)
    labels = np.empty(mask.shape, np.int32)
    write_labels(runs, labels)
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


def test_what_lies_between_is_found_as_by_plain_numpy():
    random, size = np.random.default_rng(0), (40, 70)
    mask = np.where(random.random(size) < 0.8, np.uint8(255), np.uint8(0))
    solid = np.where(random.random(size) < 0.2, mask, np.uint8(0))
    expected = np.zeros(size, bool)
    for y, x in np.argwhere((mask != 0) & (solid == 0)):
        above = [solid[row, x] != 0 for row in range(y) if mask[row:y, x].all()]
        below = [solid[row, x] != 0 for row in range(y + 1, size[0]) if mask[y : row + 1, x].all()]
        expected[y, x] = any(above) and any(below)
    between, last = np.full(size, 7, np.uint8), np.empty(size[1], np.uint8)
    assert find_between(mask, solid, last, between)
    assert (between == np.where(expected, 255, 0)).all()
    assert 50 < expected.sum() < mask.size / 3
    assert not find_between(mask, mask, last, between)
    assert not between.any()


def test_regions_are_added_if_enough_of_them_is_chosen():
    mask, random = blobs((40, 70), 0.4, 0, 1.0), np.random.default_rng(0)
    chosen = blobs((40, 70), 0.5, 1, 3.0)
    before = np.where(random.random(mask.shape) < 0.1, np.uint8(255), np.uint8(0))
    runs, count = label_regions(mask)
    labels = np.empty(mask.shape, np.int32)
    write_labels(runs, labels)
    shares = np.array([(chosen[labels == region] != 0).mean() for region in range(count)])
    limit, solid = float(np.median(shares)), before.copy()
    add_regions(runs, chosen, limit, np.empty((count, 2), np.int64), solid)
    assert (solid == np.where((mask != 0) & (shares > limit)[labels], 255, before)).all()
    assert 0 < limit < 1


def test_chosen_regions_are_cleared():
    mask, (left, top) = blobs((30, 50), 0.4, 0, 1.0), (4, 3)
    runs, count = label_regions(np.ascontiguousarray(mask[top:, left:]))
    labels = np.empty((30 - top, 50 - left), np.int32)
    write_labels(runs, labels)
    chosen = np.arange(count) % 2 == 0
    cleared = mask.copy()
    clear_regions(runs, chosen, left, top, cleared)
    expected = mask.copy()
    expected[top:, left:][(labels >= 0) & chosen[labels]] = 0
    assert (cleared == expected).all()
    assert (cleared != mask).any()


def test_votes_are_counted_as_by_plain_numpy():
    random, (left, top) = np.random.default_rng(0), (3, 2)
    size = (20, 75)
    mask = blobs(size, 0.7)
    voters = np.where(random.random(size) < 0.8, mask, np.uint8(0))
    whole = random.integers(0, 256, size, np.uint8)
    share = np.minimum(random.integers(0, 256, size, np.uint8), whole)
    voted, solid = np.full(size, 7, np.uint8), np.full(size, 7, np.uint8)
    vote(mask, voters, share, whole, voted, solid)
    most = 2 * share.astype(int) > whole
    assert (voted == np.where((mask != 0) & most, 255, 0)).all()
    assert (solid == np.where((voters != 0) & ~most, 255, 0)).all()

    found = np.full((30, 90), 7, np.uint8)
    solid[blobs(size, 0.2, 3) != 0] = 255
    assert write_voted(mask, voters, voted, solid, left, top, found)
    part = found[top : top + 20, left : left + 75]
    hole = (mask != 0) & (voters == 0) & (solid == 0)
    assert (part == np.where(hole, OPENED, np.where((voted != 0) & (solid == 0), 255, 0))).all()
    assert set(np.unique(part)) == {0, OPENED, 255}
    part[:] = 7
    assert (found == 7).all()
    assert not write_voted(mask, voters, voted, np.full(size, 255, np.uint8), left, top, found)
    assert not part.any()


def test_sums_of_regions_equal_plain_numpy():
    random, size = np.random.default_rng(0), (12, 80)
    mask = np.where(random.random(size) < 0.4, np.uint8(255), np.uint8(0))
    mask[:6, 10:] = 0
    shadows = np.where(random.random(size) < 0.5, mask, np.uint8(0))
    frame, background = (random.integers(0, 256, (3, size[0] * size[1]), np.uint8) for _ in range(2))
    left, top = 3, 2
    box = slice(top, 11), slice(left, 79)
    runs, count = label_regions(np.ascontiguousarray(mask[box]))
    labels = np.empty((9, 76), np.int32)
    write_labels(runs, labels)
    sums = np.full((count, 4), np.nan, np.float32)
    images = Images(mask, frame, background, np.float32(0.5), np.float32(8))
    sum_regions(images, left, top, runs, shadows, sums)
    for region in range(count):
        inside = labels == region
        shaded = inside & (shadows[box] != 0)
        light, learned = (
            (planes.reshape(3, *size)[:, *box][:, shaded] * 0.5 - 8).sum() for planes in (frame, background)
        )
        assert sums[region].tolist() == [inside.sum(), shaded.sum(), light, learned]
    assert count > 5


def test_borders_of_regions_are_summed_as_by_plain_numpy():
    random, size, (left, top) = np.random.default_rng(0), (40, 60), (3, 2)
    mask = cv2.threshold(cv2.blur(random.integers(0, 256, size, np.uint8), (7, 7)), 128, 255, cv2.THRESH_BINARY)[1]
    mask[:top], mask[:, :left] = 0, 0
    frame, background = (random.integers(0, 256, (3, mask.size), np.uint8) for _ in range(2))
    runs, count = label_regions(np.ascontiguousarray(mask[top:, left:]))
    labels = np.empty((size[0] - top, size[1] - left), np.int32)
    write_labels(runs, labels)
    chosen = random.random(count) < 0.7
    everywhere = np.full(size, -1)
    everywhere[top:, left:] = labels
    expected = np.zeros((count, 4))
    bright = [(planes * 0.5 - 8).sum(0).reshape(size) for planes in (frame, background)]
    for y, x in np.argwhere((everywhere >= 0) & chosen[everywhere]):
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            places = [(y + far * down, x + far * right) for far in (-1, 1, 3)]
            if not all(0 <= row < size[0] and 0 <= column < size[1] for row, column in places):
                continue
            before, beside, after = places
            if everywhere[before] == everywhere[y, x] and mask[beside] == 0 and mask[after] == 0:
                expected[everywhere[y, x]] += [image[place] for place in (before, after) for image in bright]
    sums = np.full((count, 4), np.nan, np.float32)
    images = Images(mask, frame, background, np.float32(0.5), np.float32(8))
    sum_borders(images, left, top, labels, chosen, sums)
    assert sums.tolist() == expected.tolist()
    assert (expected > 0).all(1).sum() > 5
