"""Codecs, which spoil the blocks around what moves, and how the adaptive detector knows of them."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive import exposure
from bgsub.detectors.adaptive._jit.light.exposure import Sample, see_steps
from bgsub.detectors.adaptive.exposure import follow_codec, least_width_factor
from bgsub.evaluation import evaluate
from bgsub.evaluation.datasets.opening import open_datasets
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled

SIZE = (50, 70)
UNITS = [(np.uint8, 1.0), (np.uint16, 1 / 257), (np.float32, 255.0)]


def sample_of(frame, unit=1.0, step=3):
    """Return a sample of a frame, (H, W, channels); what was learned does not matter."""
    height, width, channels = frame.shape
    pixels = height * width
    background, excluded = np.zeros((channels, pixels), frame.dtype), np.zeros(pixels, np.uint8)
    return Sample(frame.reshape(-1), background, excluded, height, width, step, np.float32(unit))


def mean_step(frame, unit=1.0, step=3):
    """Return what `see_steps` does, from whole arrays."""
    means = []
    for lines in (frame[1::step], frame[:, 1::step].transpose(1, 0, 2)):
        change = np.abs(np.diff(lines.astype(np.float64).mean(2) * unit, axis=1))  # change[:, x] leads to x + 1
        borders = np.arange(8, lines.shape[1] - 1, 8)
        steps = change[:, borders - 1] - (change[:, borders - 2] + change[:, borders]) / 2
        means.append(np.clip(steps, -20, 20).mean() if borders.size else 0.0)
    return min(means)


def scene(seed=0):
    """Return a smooth picture (H, W, 3) with outlines."""
    random = np.random.default_rng(seed)
    picture = cv2.GaussianBlur(random.uniform(0, 255, (*SIZE, 3)), (0, 0), 3)
    picture = 128 + 4 * (picture - picture.mean())
    picture[20:33, 13:30] += 60
    return np.clip(picture + random.normal(0, 2, picture.shape), 0, 255).astype(np.uint8)


def coded(frame, quality):
    return cv2.imdecode(cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR)


@pytest.mark.parametrize(("dtype", "unit"), UNITS)
@pytest.mark.parametrize("channels", [1, 3])
def test_steps_are_those_of_plain_numpy(dtype, unit, channels):
    frame = (np.random.default_rng(1).uniform(0, 255, (*SIZE, channels)) / unit).astype(dtype)
    frame[:, 40:] = frame[:, 40:] // 4 if dtype != np.float32 else frame[:, 40:] / 4  # steps beyond the largest
    assert see_steps(sample_of(frame, unit)) == pytest.approx(mean_step(frame, unit), abs=1e-4)


@pytest.mark.parametrize("size", [(1, 1), (8, 8), (9, 40), (40, 9), (10, 10)])
def test_small_frames_have_no_steps_or_few(size):
    frame = np.random.default_rng(0).integers(0, 255, (*size, 3)).astype(np.uint8)
    assert see_steps(sample_of(frame)) == pytest.approx(mean_step(frame), abs=1e-4)


def test_the_more_a_codec_loses_the_larger_are_steps():
    steps = [see_steps(sample_of(coded(scene(), quality))) for quality in (60, 25, 8)]
    assert see_steps(sample_of(scene())) < 0.5 < steps[0] < steps[1] < steps[2]


def test_a_fence_is_no_codec():
    fence = scene().astype(np.int16)
    fence[:, 4::16] += 30
    fence[:, np.arange(SIZE[1]) // 8 % 2 == 1] += 12
    assert see_steps(sample_of(np.clip(fence, 0, 255).astype(np.uint8))) < 0.5


def test_steps_are_averaged_with_their_sign():
    blocks = np.kron(np.random.default_rng(0).integers(80, 120, (6, 8, 3)), np.ones((8, 8, 1))).astype(np.uint8)
    steps = see_steps(sample_of(blocks))
    first = follow_codec(0.0, steps, 0)
    assert first == pytest.approx(steps)
    assert follow_codec(-3.0, steps, 1) == pytest.approx((first - 3.0) / 2)
    assert follow_codec(-3.0, steps, 1000) == pytest.approx(-3.0 + 0.1 * (first + 3.0))


def test_variances_of_camera_and_codec_add_up():
    assert least_width_factor(3.0, 2.0, 30.0) == pytest.approx(6 * 5 / 30)
    assert least_width_factor(3.0, -2.0, 30.0) == least_width_factor(3.0, 0.0, 30.0) == pytest.approx(0.6)
    assert least_width_factor(0.0, 0.0, 30.0) == 0.5
    assert least_width_factor(3.0, 9.0, 30.0) == 1.0


@needs_compiler
def test_blocks_around_what_moves_are_background(monkeypatch):
    [sequence] = open_datasets("generated:compression?quality=20&size=160x120&frames=150")

    def precision():
        [row] = evaluate([sequence], lambda _: create("adaptive", threads=1)).rows
        return row.measures()["precision"]

    found = precision()
    monkeypatch.setattr(exposure, "_CODEC_SIGMAS", 0.0)
    assert found > 0.8
    assert precision() < found - 0.1
