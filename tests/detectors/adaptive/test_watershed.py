"""Parts of regions whose outline is real and not: compared with what OpenCV and plain numpy find."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.watershed import BINS, Region, compare_part, split

pytestmark = pytest.mark.compiled

REAL = np.float32(10)
DISC = cv2.circle(np.zeros((13, 13), np.uint8), (6, 6), 6, 255, cv2.FILLED)
SQUARE = np.ones((5, 5), np.uint8)


def scene(size, channels, seed, blur):
    """Return a picture, as a part of a larger one, and a region in it."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 256, (size[0] + 3, size[1] + 5, 3), dtype=np.uint8)
    picture = cv2.GaussianBlur(noise, (0, 0), blur) if blur else noise
    planes = np.ascontiguousarray(picture.transpose(2, 0, 1))[:channels, 2 : 2 + size[0], 1 : 1 + size[1]]
    region = np.zeros(size, np.uint8)
    center, axes = (size[1] // 2, size[0] // 2), (max(size[1] // 2 - 4, 0), max(size[0] // 2 - 4, 0))
    cv2.ellipse(region, center, axes, 0, 0, 360, 255, cv2.FILLED)
    return planes, region


def expected_split(planes, region, points, excess, corner):
    seeds = np.zeros_like(region)
    for x, y in points[excess < -REAL].tolist():
        cv2.circle(seeds, (x - corner[0], y - corner[1]), 6, 255, cv2.FILLED)
    markers = np.zeros(region.shape, np.int32)
    markers[(seeds != 0) & (cv2.erode(region, SQUARE) != 0)] = 2
    markers[cv2.dilate(region, SQUARE) == 0] = 1
    smooth = cv2.GaussianBlur(cv2.merge([planes[c % len(planes)] for c in range(3)]), (0, 0), 1.0)
    cv2.watershed(smooth, markers)
    return smooth, np.where((markers == 1) & (region != 0), np.uint8(255), np.uint8(0))


@pytest.mark.parametrize("blur", [0.0, 1.5, 4.0])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [(30, 23), (14, 40), (9, 5), (2, 9), (1, 1), (3, 1), (5, 2)])
def test_regions_are_split_as_by_the_watershed_of_opencv(size, channels, blur):
    for seed in range(4):
        planes, region = scene(size, channels, seed, blur)
        corner, rng = (11, 7), np.random.default_rng(seed)
        outlines = cv2.findContours(region, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE, offset=corner)[0]
        points = np.ascontiguousarray(outlines[0][::2, 0]) if outlines else np.empty((0, 2), np.int32)
        excess = rng.normal(0, 12, len(points)).astype(np.float32)
        smooth, outer, beside = np.empty_like(planes), np.empty_like(region), np.empty(len(points), np.bool_)
        masks = Region(region, cv2.erode(region, SQUARE), cv2.dilate(region, SQUARE))
        split(planes, masks, points, excess, REAL, *corner, DISC, smooth, outer, beside)
        expected_smooth, expected = expected_split(planes, region, points, excess, corner)
        assert (smooth == expected_smooth.transpose(2, 0, 1)[:channels]).all()
        assert (outer == expected).all()
        assert (beside == (expected[points[:, 1] - corner[1], points[:, 0] - corner[0]] != 0)).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 3])
def test_parts_and_their_surroundings_are_summed_up(channels, dtype):
    rng = np.random.default_rng(channels)
    shape = (channels, 17, 12)
    now, learned = (rng.integers(0, 256, shape).astype(dtype) for _ in range(2))
    smooth = rng.integers(0, 256, shape, dtype=np.uint8)
    outer, near, occupied = (np.where(rng.random(shape[1:]) < 0.4, np.uint8(255), np.uint8(0)) for _ in range(3))
    sums, shares = np.empty((3, channels)), np.empty((2, BINS**3), np.float32)
    counts = compare_part(now, learned, smooth, outer, near, occupied, sums, shares)
    places = outer != 0, (near != 0) & (occupied == 0)
    assert counts == tuple(int(place.sum()) for place in places)
    expected = [picture[:, place].sum(1) for picture, place in ((now, places[0]), (learned, places[0]))]
    assert (sums == [*expected, now[:, places[1]].sum(1)]).all()
    colours = cv2.merge([smooth[c % channels] for c in range(3)])
    for found, place in zip(shares, places, strict=True):
        mask, levels = place.astype(np.uint8), [0, 256] * 3
        assert (found == cv2.calcHist([colours], [0, 1, 2], mask, [BINS] * 3, levels).ravel()).all()
