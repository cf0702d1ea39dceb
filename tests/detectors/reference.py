"""Slow reference for the banks: one scalar learner a pixel, and plain numpy in double precision."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bgsub._numba import JIT_ENABLED

SMALL = not JIT_ENABLED
"""Whether to test on small sizes: compiled functions run as plain Python then."""


def noisy_video(frames: int, size: tuple[int, int], channels: int = 3, seed: int = 0) -> np.ndarray:
    """Per pixel a base colour, noise of sigma 6, and 10 % outliers: (T, H, W, D) uint8."""
    generator = np.random.default_rng(seed)
    base = generator.integers(0, 256, (*size, channels))
    video = np.clip(base + generator.normal(0, 6, (frames, *size, channels)), 0, 255)
    outliers = generator.random((frames, *size)) < 0.1
    video[outliers] = generator.integers(0, 256, (int(outliers.sum()), channels))
    return video.astype(np.uint8)


class ScalarBank:
    """H * W scalar learners, fed pixel by pixel on the frames that a bank learns."""

    def __init__(self, make: Callable[[], Any], size: tuple[int, int], slots: int) -> None:
        self.learners = [[make() for _ in range(size[1])] for _ in range(size[0])]
        self.size, self.slots = size, slots

    def each(self, function: Callable[[Any, int, int], float]) -> np.ndarray:
        height, width = self.size
        return np.array(
            [[function(self.learners[y][x], y, x) for x in range(width)] for y in range(height)], np.float64
        )

    def values(self, frame: np.ndarray, first: bool) -> np.ndarray:
        if first:
            return np.zeros(self.size)
        return self.each(lambda learner, y, x: learner.value_one(frame[y, x].astype(np.float64)))

    def densities(self, frame: np.ndarray) -> np.ndarray:
        return self.each(lambda learner, y, x: learner.density_one(frame[y, x].astype(np.float64)))

    def learn(self, frame: np.ndarray, where: np.ndarray | None = None) -> None:
        for y in range(self.size[0]):
            for x in range(self.size[1]):
                if where is None or where[y, x]:
                    self.learners[y][x].learn_one(frame[y, x].astype(np.float64))

    def coefficients(self) -> np.ndarray:
        """Return coefficients in slot order, (H, B, W) as the banks keep them."""
        result = np.zeros((self.size[0], self.slots, self.size[1]))
        for y in range(self.size[0]):
            for x in range(self.size[1]):
                kept = self.learners[y][x].expansion_.slots()[1]
                result[y, : len(kept), x] = kept
        return result

    def colours(self, channels: int) -> np.ndarray:
        """Return support vectors in slot order, (H, D, B, W) as the banks keep them."""
        result = np.zeros((self.size[0], channels, self.slots, self.size[1]))
        for y in range(self.size[0]):
            for x in range(self.size[1]):
                kept = self.learners[y][x].expansion_.slots()[0]
                result[y, :, : len(kept), x] = np.asarray(kept).T.reshape(channels, -1)
        return result
