"""Edges along outlines of regions, by which the adaptive detector knows ghosts."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors.adaptive._jit.outlines.edges import compare_edges

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
        along, texture = np.full((2, len(some)), np.nan, np.float32), np.ones(2, np.float32)
        compare_edges(some, np.zeros(size, np.uint8), *planes, unit, 6.0, along, texture)
        for found, image in zip(along, expected, strict=True):
            np.testing.assert_allclose(found, image[some[:, 1], some[:, 0]], rtol=1e-3, atol=1e-3)
        assert not texture.any()  # nothing is inside


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("count", [30, 90])
@pytest.mark.parametrize("alike", [0.0, 0.5, -0.5, 1.0])
def test_texture_is_what_both_sides_of_an_outline_have_as_by_plain_numpy(way, count, alike):
    size, middle, radius, distance = (70, 90), np.array([12, 30]), 20, 8.0
    columns, rows = np.meshgrid(np.arange(size[1]), np.arange(size[0]))
    mask = np.where(np.hypot(columns - middle[0], rows - middle[1]) <= radius, np.uint8(255), np.uint8(0))
    mask[:, 37:] = 255  # something else, where nothing is outside
    turn = np.linspace(0, 2 * np.pi, count, endpoint=False)[::way]
    points = np.rint(middle + radius * np.stack([np.cos(turn), np.sin(turn)], 1)).astype(np.int32)
    frame, background = noise_planes(size, np.float32, 1, 1)
    background = np.float32(abs(alike)) * (frame if alike > 0 else 1 - frame) + np.float32(1 - abs(alike)) * background
    along = np.roll(points, -1, 0) - np.roll(points, 1, 0)
    normals = way * np.stack([along[:, 1], -along[:, 0]], 1) / np.hypot(along[:, 0], along[:, 1])[:, None]
    chosen = slice(None, None, 1 if count == 30 else 3)
    sides = [np.rint(points + sign * distance * normals).astype(int)[chosen] for sign in (-1, 1)]
    edges = np.array([plain_edges(image, np.ones(1), size, 1) for image in (frame, background)])
    measured = []
    for side, value in zip(sides, (255, 0), strict=True):
        x, y = side[((side >= 2) & (side < np.array(size)[::-1] - 2)).all(1)].T
        there = mask[y, x] == value
        assert 3 <= there.sum() < len(side)
        measured.append(edges[:, y[there], x[there]])
    inside, outside = measured
    same = max(np.corrcoef(inside)[0, 1], 0)
    expected = (1 - same**2) * 2 / (1 / inside.mean(1) + 1 / outside.mean(1))
    found, texture = np.empty((2, len(points)), np.float32), np.empty(2, np.float32)
    compare_edges(points, mask, frame, background, np.float32(255), distance, found, texture)
    np.testing.assert_allclose(texture, expected, rtol=1e-3, atol=0.05)
    assert (texture < 0.1).all() == (alike == 1)


@pytest.mark.parametrize("step", [(0, 30, -30), (30, -30, 0), (-10, 5, 5), (7, 7, 7)])
def test_edges_of_colours_show_whatever_their_brightness(step):
    """As strongly as those of a grey step of the same length."""
    size = (20, 30)
    frame, background = (np.full((3, size[0] * size[1]), 100, np.uint8) for _ in range(2))
    right = np.arange(size[0] * size[1]) % size[1] >= 15
    background[:, right] = 100 + np.array(step)[:, None]
    points = np.array([[15, y] for y in range(6, 14)], np.int32)
    edges, texture = np.empty((2, len(points)), np.float32), np.empty(2, np.float32)
    mask = np.where(right.reshape(size), np.uint8(255), np.uint8(0))
    compare_edges(points, mask, frame, background, np.float32(1 / 3), 12.0, edges, texture)
    grey = np.full_like(background, 100)
    grey[:, right] = 200
    reference = np.empty_like(edges)
    compare_edges(points, mask, frame, grey, np.float32(1 / 3), 12.0, reference, texture)
    assert not edges[0].any()
    np.testing.assert_allclose(edges[1] / np.linalg.norm(step), reference[1] / np.linalg.norm([100] * 3), rtol=1e-3)


def test_without_a_difference_edges_are_those_of_brightness():
    size = (20, 30)
    same = noise_planes(size, np.uint8, 3, 255)[0]
    points = np.array([[x, 9] for x in range(5, 20)], np.int32)
    edges, texture = np.empty((2, len(points)), np.float32), np.empty(2, np.float32)
    compare_edges(points, np.zeros(size, np.uint8), same, same, np.float32(1 / 3), 12.0, edges, texture)
    np.testing.assert_allclose(edges[0], plain_edges(same, np.ones(3), size, 255)[9, 5:20], rtol=1e-3)
    assert (edges[0] == edges[1]).all()
