import copy
import pickle

import numpy as np
import pytest

import bgsub
from bgsub._opencv import cv2
from bgsub.objects import ObjectLimits, find_objects
from bgsub.roi import Region
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled


def random_masks(count=60):
    """Masks of every density: noise, blobs, rings within rings, and empty ones."""
    rng = np.random.default_rng(7)
    for i in range(count):
        height, width = rng.integers(1, 150, 2)
        mask = np.where(rng.random((height, width)) < (0.0, 0.005, 0.1, 0.5)[i % 4], 255, 0).astype(np.uint8)
        for _ in range(rng.integers(0, 6)):
            center = (int(rng.integers(width)), int(rng.integers(height)))
            axes = (int(rng.integers(1, 30)), int(rng.integers(1, 30)))
            cv2.ellipse(mask, center, axes, float(rng.integers(180)), 0, 360, 255, int(rng.choice([-1, 1, 3])))
        yield mask


def by_opencv(mask):
    """Return box, area and centroid of each component, sorted, with the label image."""
    _, labels, statistics, centroids = cv2.connectedComponentsWithStats(mask, connectivity=8)
    order = np.lexsort((statistics[1:, 0], statistics[1:, 1])) + 1
    return order, labels, statistics[order], centroids[order]


def test_boxes_areas_and_centroids_equal_opencv_s():
    found = 0
    for mask in random_masks():
        objects = find_objects(mask)
        _, _, statistics, centroids = by_opencv(mask)
        rows = sorted(zip(objects.boxes.tolist(), objects.areas.tolist(), objects.centroids.tolist(), strict=True))
        expected = zip(statistics[:, :4].tolist(), statistics[:, 4].tolist(), centroids.tolist(), strict=True)
        assert rows == sorted(expected)
        assert (np.diff(objects.boxes[:, 1]) >= 0).all()
        found += len(objects)
    assert found > 1000


def test_pixels_and_contours_are_those_of_the_object():
    for mask in random_masks(20):
        objects = find_objects(mask)
        again = np.zeros_like(mask)
        for i, one in enumerate(objects):
            x, y, width, height = one.box
            pixels = objects.mask(i)
            assert pixels.shape == (height, width)
            assert np.count_nonzero(pixels) == one.area
            part = again[y : y + height, x : x + width]
            assert not (part & pixels).any()
            part |= pixels
            outline = objects.contour(i)
            assert cv2.boundingRect(outline) == one.box
            filled = cv2.drawContours(np.zeros_like(mask), [outline], -1, 255, cv2.FILLED)
            assert not (pixels & ~filled[y : y + height, x : x + width]).any()
        assert np.array_equal(again, mask)


def test_mean_scores_are_means_over_the_pixels():
    rng = np.random.default_rng(1)
    for mask in random_masks(20):
        score = rng.normal(size=mask.shape).astype(np.float32)
        objects = find_objects(mask, score=score)
        for i, (x, y, width, height) in enumerate(objects.boxes.tolist()):
            values = score[y : y + height, x : x + width][objects.mask(i) == 255]
            assert objects.mean_scores[i] == pytest.approx(values.mean(dtype=np.float64), abs=1e-6)


def test_border_is_noticed_on_each_side():
    mask = np.zeros((20, 30), np.uint8)
    mask[0:2, 8:10] = mask[5:7, 0:2] = mask[9:11, 8:10] = mask[9:11, 28:30] = mask[18:20, 8:10] = 255
    assert find_objects(mask).touches_border.tolist() == [True, True, False, True, True]


def test_shadow_is_no_foreground():
    mask = np.zeros((20, 30), np.uint8)
    mask[3:6, 3:6] = 255
    mask[3:6, 6:20] = 127
    assert find_objects(mask).boxes.tolist() == [[3, 3, 3, 3]]
    assert len(find_objects(np.where(mask == 127, mask, 0).astype(np.uint8))) == 0
    assert find_objects(mask == 255).boxes.tolist() == [[3, 3, 3, 3]]


def test_regions_contain_centroids():
    mask = np.zeros((40, 60), np.uint8)
    mask[5:11, 5:11] = mask[5:11, 40:46] = mask[30:36, 40:46] = 255
    left = Region(include=(((0, 0), (30, 0), (30, 39), (0, 39)),))
    top = Region(exclude=(((0, 20), (59, 20), (59, 39), (0, 39)),))
    objects = find_objects(mask, regions={"left": left, "top": top})
    assert objects.regions == (("left", "top"), ("top",), ())
    assert objects[[0, 2]].regions == (("left", "top"), ())


def test_selection_keeps_rows_together():
    mask = next(mask for mask in random_masks() if len(find_objects(mask)) > 20)
    objects = find_objects(mask)
    chosen = objects[objects.areas > 2]
    assert 0 < len(chosen) < len(objects)
    assert [one.area for one in chosen] == [one.area for one in objects if one.area > 2]
    assert all(np.count_nonzero(chosen.mask(i)) == one.area for i, one in enumerate(chosen))
    assert list(objects[1:3]) == [objects[1], objects[2]]
    assert objects[-1] == objects[len(objects) - 1]
    with pytest.raises(IndexError):
        objects[len(objects)]


def test_objects_are_copied_and_pickled():
    mask = next(random_masks())
    mask[5:9, 2:4] = 255
    objects = find_objects(mask)
    for other in (copy.deepcopy(objects), pickle.loads(pickle.dumps(objects))):  # noqa: S301 - our own bytes
        assert list(other) == list(objects)
        assert np.array_equal(other.contour(0), objects.contour(0))


def test_nothing_is_found_in_an_empty_mask():
    objects = find_objects(np.zeros((7, 9), np.uint8), score=np.ones((7, 9), np.float32))
    assert (len(objects), list(objects), objects.regions) == (0, [], ())
    assert objects.boxes.shape == (0, 4)
    assert objects.boxes.dtype == np.int32
    assert objects.centroids.shape == (0, 2)
    assert objects.centroids.dtype == np.float64
    assert objects.mean_scores.shape == objects.areas.shape == objects.touches_border.shape == (0,)


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"min_area": 10}, [40, 16]),
        ({"min_area": 16, "max_area": 16}, [16]),
        ({"min_area": 0.02}, [40, 16]),
        ({"max_area": 0.02}, [4]),
        ({"min_side": 4}, [40, 16]),
        ({"max_side": 4}, [4, 16]),
        ({"min_aspect": 2.0}, [40]),
        ({"max_aspect": 1.0}, [4, 16]),
        ({"min_age": 99}, [40, 4, 16]),
        ({}, [40, 4, 16]),
    ],
)
def test_limits_leave_out_what_is_beyond(limits, kept):
    mask = np.zeros((20, 30), np.uint8)
    mask[2:6, 4:14] = mask[10:12, 3:5] = mask[12:16, 20:24] = 255  # 10x4, 2x2, 4x4
    assert find_objects(mask, limits=ObjectLimits(**limits)).areas.tolist() == kept


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"min_area": -1}, "min_area must be a whole number of pixels or a share"),
        ({"max_area": 1.5}, "max_area must be .* got 1.5"),
        ({"min_area": "5"}, "min_area must"),
        ({"min_side": 2.5}, "min_side must be a whole number"),
        ({"min_aspect": float("nan")}, "min_aspect must be a number"),
        ({"min_area": 9, "max_area": 8}, r"max_area must be at least min_area \(9\), got 8"),
        ({"min_age": True}, "min_age must"),
    ],
)
def test_wrong_limits_are_refused(limits, message):
    with pytest.raises(ValueError, match=message):
        ObjectLimits(**limits)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones((3, 4), np.uint8), "its largest value is 1"),
        (np.zeros((3, 4, 3), np.uint8), r"got uint8 \(3, 4, 3\)"),
        (np.zeros((3, 4), np.float32), "mask must be"),
        (np.zeros((0, 4), np.uint8), "at least one pixel"),
        ([[0]], "got list"),
    ],
)
def test_wrong_masks_are_refused(mask, message):
    with pytest.raises(ValueError, match=message):
        find_objects(mask)


def test_wrong_scores_are_refused():
    with pytest.raises(ValueError, match="score must be"):
        find_objects(np.zeros((3, 4), np.uint8), score=np.zeros((4, 3), np.float32))


def nested_angles(side, pitch):
    """Return a mask of angles, one within the other."""
    mask = np.zeros((side, side), np.uint8)
    for i in range(0, side // 2 - 2 * pitch, 2 * pitch):
        mask[i, i : side - i] = 255
        mask[i + pitch : side - i, i] = 255
    return mask


@needs_compiler
@pytest.mark.parametrize("pitch", [2, 16])
def test_regions_that_meet_late_are_one(pitch):
    mask = nested_angles(1600 if pitch == 16 else 200, pitch)
    objects = find_objects(mask)
    _, _, statistics, centroids = by_opencv(mask)
    assert sorted(objects.boxes.tolist()) == sorted(statistics[:, :4].tolist())
    assert sorted(objects.centroids.tolist()) == sorted(centroids.tolist())


def test_regions_at_the_borders_of_eight_pixels_are_whole():
    for gap in (1, 2):
        mask = np.zeros((9, 64), np.uint8)
        mask[::2, 3:61] = 255  # rows, joined at alternating ends, and left out for a gap
        mask[1::4, 60] = mask[3::4, 3] = 255
        mask[4, 24 : 24 + gap] = 0
        objects = find_objects(mask)
        _, _, statistics, centroids = by_opencv(mask)
        assert objects.boxes.tolist() == statistics[:, :4].tolist()
        assert objects.centroids.tolist() == centroids.tolist()


def test_the_shape_of_the_mask_may_be_anything():
    for size in ((1, 1), (1, 40), (40, 1), (8, 8), (7, 9), (64, 63)):
        mask = np.full(size, 255, np.uint8)
        assert find_objects(mask).boxes.tolist() == [[0, 0, size[1], size[0]]]
        assert find_objects(np.full((2 * size[0], 2 * size[1]), 255, np.uint8)[::2, ::2]).areas.tolist() == [mask.size]


def test_names_are_those_of_the_package():
    assert bgsub.find_objects is find_objects
    assert bgsub.ObjectLimits is ObjectLimits
