"""Edges along outlines of regions, by which the adaptive detector knows ghosts."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.outlines.edges import weigh_outlines

pytestmark = pytest.mark.compiled


def plain_edges(planes, axis, size, white):
    """Return the mean of the edges at and around each pixel, in grey levels."""
    image = (axis @ planes[:, : size[0] * size[1]]).reshape(size) / len(planes) * 255 / white
    found = np.hypot(*(cv2.Sobel(image, cv2.CV_64F, i, 1 - i, ksize=5) for i in range(2))) / 16
    found[:2] = found[-2:] = found[:, :2] = found[:, -2:] = 0
    wide = np.pad(found, 2)
    return (found + wide[2:-2, :-4] + wide[2:-2, 4:] + wide[:-4, 2:-2] + wide[4:, 2:-2]) / 5


def first_direction(points, planes, size):
    """Return the first principal direction of differences, which are not centred, as long as (1, 1, 1)."""
    frame, background = (image[:, points[:, 1] * size[1] + points[:, 0]].astype(np.float64) for image in planes)
    return np.linalg.svd(frame - background)[0][:, 0] * np.sqrt(len(frame))


def edges_along(points, size, frame, background, unit, clear=10.0):
    """Return the edges of frame and background along one outline, and their sums."""
    edges, sums = np.full((2, len(points)), np.nan, np.float32), np.full((1, 3), np.nan)
    weigh_outlines(points, np.array([len(points)]), size, frame, background, unit, np.float32(clear), edges, sums)
    return edges, sums[0]


def noise_planes(size, dtype, channels, white):
    """Return a frame and a background, with planes a little longer than the frame."""
    random = np.random.default_rng(0)
    return [(white * random.random((channels, size[0] * size[1] + 5))).astype(dtype) for _ in range(2)]


@pytest.mark.parametrize(
    ("dtype", "channels", "white"), [(np.uint8, 3, 255), (np.uint8, 1, 255), (np.uint16, 3, 65535), (np.float32, 3, 1)]
)
def test_edges_along_an_outline_are_those_of_opencv(dtype, channels, white):
    size = (17, 26)
    places = np.argwhere(np.ones(size, bool))
    points = places[np.random.default_rng(0).permutation(len(places))[: len(places) // 2], ::-1].astype(np.int32)
    planes, unit = noise_planes(size, dtype, channels, white), np.float32(255 / white / channels)
    if channels == 3:  # most of what differs is in one channel, some in another
        planes[1][1], planes[1][2] = (planes[0][1] * 0.75).astype(dtype), planes[0][2]
    for some in (points, points[:1], points[points[:, 0] < 3]):
        axis = first_direction(some, planes, size)
        expected = [plain_edges(image, axis, size, white) for image in planes]
        along, _ = edges_along(some, size, *planes, unit)
        for found, image in zip(along, expected, strict=True):
            np.testing.assert_allclose(found, image[some[:, 1], some[:, 0]], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("step", [(0, 30, -30), (30, -30, 0), (-10, 5, 5), (7, 7, 7)])
def test_edges_of_colours_show_whatever_their_brightness(step):
    """As strongly as those of a grey step of the same length."""
    size = (20, 30)
    frame, background = (np.full((3, size[0] * size[1]), 100, np.uint8) for _ in range(2))
    right = np.arange(size[0] * size[1]) % size[1] >= 15
    background[:, right] = 100 + np.array(step)[:, None]
    points = np.array([[15, y] for y in range(6, 14)], np.int32)
    edges, _ = edges_along(points, size, frame, background, np.float32(1 / 3))
    grey = np.full_like(background, 100)
    grey[:, right] = 200
    reference, _ = edges_along(points, size, frame, grey, np.float32(1 / 3))
    assert not edges[0].any()
    np.testing.assert_allclose(edges[1] / np.linalg.norm(step), reference[1] / np.linalg.norm([100] * 3), rtol=1e-3)


def test_without_a_difference_edges_are_those_of_brightness():
    size = (20, 30)
    same = noise_planes(size, np.uint8, 3, 255)[0]
    points = np.array([[x, 9] for x in range(5, 20)], np.int32)
    edges, sums = edges_along(points, size, same, same, np.float32(1 / 3))
    assert not sums.any()
    np.testing.assert_allclose(edges[0], plain_edges(same, np.ones(3), size, 255)[9, 5:20], rtol=1e-3)
    assert (edges[0] == edges[1]).all()


def test_edges_of_each_outline_are_summed_by_which_image_has_more():
    size, clear = (40, 60), np.float32(10)
    frame, background = noise_planes(size, np.uint8, 3, 255)
    points = np.array([[x, 9] for x in range(5, 50)] + [[x, 30] for x in range(20, 33)], np.int32)
    ends, edges, sums = np.array([45, 58]), np.empty((2, 58), np.float32), np.empty((2, 3))
    weigh_outlines(points, ends, size, frame, background, np.float32(1 / 3), clear, edges, sums)
    for outline, found in zip((slice(0, 45), slice(45, 58)), sums, strict=True):
        alone, _ = edges_along(points[outline], size, frame, background, np.float32(1 / 3))
        np.testing.assert_array_equal(edges[:, outline], alone)
        excess = (alone[1] - alone[0]).astype(np.float64)
        expected = excess[excess > 0].sum(), -excess[excess < 0].sum(), np.count_nonzero(excess > clear)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
