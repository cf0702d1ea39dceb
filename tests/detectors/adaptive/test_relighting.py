"""The background of the adaptive detector under another light: which of it changes, and how exactly."""

import numpy as np
import pytest

from bgsub.detectors.adaptive._jit.blocks import BLOCK, DITHERS
from bgsub.detectors.adaptive._jit.light.exposure import Sample
from bgsub.detectors.adaptive._jit.light.relighting import MIDDLE
from bgsub.detectors.adaptive.exposure import change_light
from tests.marks import needs_compiler


def sample_of(frame, colours, excluded):
    """Return the sample of a frame of one row (pixels, D) and a background."""
    pixels = len(frame)
    return Sample(frame.reshape(-1), colours[0].reshape(len(colours[0]), -1), excluded, 1, pixels, 1, np.float32(1))


def make_dither():
    return np.random.default_rng(0).random((DITHERS, BLOCK), np.float32)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_light_changes_where_it_may_and_rounds_without_bias(dtype, channels):
    white = {np.uint8: 255.0, np.uint16: 65535.0, np.float32: 1.0}[dtype]
    level = dtype(0.4 * white)
    colours = np.full((2, channels, 70, BLOCK), level, dtype)
    where = np.zeros((70, BLOCK), np.uint8)
    where[:, ::2] = 255
    dither = np.random.default_rng(0).random((DITHERS, BLOCK), np.float32) * (dtype != np.float32)
    gains = np.array([0.5, 1.1, 9.0], np.float32)[:channels]
    dark = 2 * white / 255
    top = np.finfo(np.float32).max if dtype is np.float32 else white
    expected = [min((float(level) + dark) * float(gain) - dark, top) for gain in gains]
    frame, pixels = np.empty((70 * BLOCK, channels), dtype), 70 * BLOCK - 9
    frame[:] = np.rint(expected) if dtype is not np.float32 else expected
    frame[: 20 * BLOCK] = level  # where the light is as before,
    frame[10 * BLOCK : 11 * BLOCK - 5] = 0  # but for what is excluded
    excluded = np.zeros(70 * BLOCK, np.uint8)
    excluded[: 5 * BLOCK] = excluded[10 * BLOCK : 11 * BLOCK - 5] = 255  # nothing is known of the first blocks
    sample = Sample(frame[:pixels].reshape(-1), colours[0].reshape(channels, -1), excluded, 1, pixels, 1, np.float32(1))
    fractions = np.full(colours.shape[1:], MIDDLE)
    change_light(colours, fractions, gains, white, 255.0, dither.astype(np.float32), where, sample, 7)
    assert (colours[..., 1::2] == level).all()
    assert (colours[:, :, 5:20] == level).all()
    exact = colours[0] + (0 if dtype is np.float32 else (fractions - 127.5) / 256)
    for lit in (np.s_[:5], np.s_[20:]):
        for channel, mean in enumerate(expected):
            assert colours[1, channel, lit, ::2].mean() == pytest.approx(mean, abs=0.1 * white / 255)
            np.testing.assert_allclose(exact[channel, lit, ::2], mean, atol=1 / 256, rtol=1e-5)


@needs_compiler
def test_what_is_hidden_comes_back_when_the_light_does():
    """In 300 small steps to a tenth and in as many back, of which each rounds."""
    before = np.random.default_rng(0).integers(20, 250, (1, 3, 2, BLOCK)).astype(np.uint8)
    colours, fractions = before.copy(), np.full(before.shape[1:], MIDDLE)
    hidden, everywhere = np.full(2 * BLOCK, 255, np.uint8), np.full((2, BLOCK), 255, np.uint8)
    sample = sample_of(np.zeros((2 * BLOCK, 3), np.uint8), colours, hidden)
    for step in range(600):
        gains = np.full(3, 0.1 ** (1 / 300 if step < 300 else -1 / 300), np.float32)
        change_light(colours, fractions, gains, 255.0, 14.0, make_dither(), everywhere, sample, step)
        if step == 299:
            np.testing.assert_allclose(colours, (before + 2.0) / 10 - 2, atol=0.7)
            assert colours.max() < 30
    np.testing.assert_allclose(colours, before, atol=1)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_what_matches_and_would_not_in_the_other_light_stays(dtype):
    """A window that saturates gets no darker; what is hidden in the same block does, and what matches nothing."""
    white = 255.0 if dtype is np.uint8 else 1.0
    old, dark, window = (dtype(value * white / 255) for value in (100, 78, 250))
    colours, fractions = np.full((1, 3, 1, BLOCK), old, dtype), np.full((3, 1, BLOCK), MIDDLE)
    frame, excluded = np.full((BLOCK, 3), dark, dtype), np.zeros(BLOCK, np.uint8)
    colours[..., 10:14] = frame[10:14] = window
    colours[..., 20:24], excluded[20:24] = window, 255
    frame[30:34] = dtype(white)
    gains = np.full(3, 0.78, np.float32)
    where, sample = np.full((1, BLOCK), 255, np.uint8), sample_of(frame, colours, excluded)
    dither = make_dither() * (dtype is np.uint8)
    change_light(colours, fractions, gains, white, 14.0, dither, where, sample, 3)
    levels = colours[0, :, 0].astype(np.float64) * 255 / white
    expected = np.full(BLOCK, 102 * 0.78 - 2)
    expected[10:14], expected[20:24] = 250, 252 * 0.78 - 2
    np.testing.assert_allclose(levels, np.broadcast_to(expected, levels.shape), atol=0.51 if white > 1 else 1e-4)
