"""Effects of light and camera on finished frames; each is called with a frame and its 0-based index."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bgsub._opencv import cv2
from bgsub.frames import Frame, Mask

__all__ = ["Effect", "Grey", "Jitter", "Jpeg", "Light", "Noise", "drift", "step"]

Effect = Callable[[Frame, int], Frame]


@dataclass(frozen=True, slots=True)
class Light:
    """Changes the brightness; less light is bluer."""

    curve: Callable[[int], float]
    """Brightness of frame i; 1 leaves it as it is."""

    def __call__(self, image: Frame, i: int) -> Frame:
        """Return the frame under the light of its time."""
        light = self.curve(i)
        warmth = np.array((0.85, 0.98, 1.05)) ** (light - 1)
        table = np.clip(np.rint(np.arange(256)[None, :, None] * light * warmth), 0, 255).astype(np.uint8)
        return np.asarray(cv2.LUT(image, table))


def drift(depth: float, frames: int) -> Callable[[int], float]:
    """Return a brightness that falls by a share and comes back, once over the clip."""
    return lambda i: 1 - depth * (0.5 - 0.5 * math.cos(2 * math.pi * i / frames))


def step(depth: float, first: int, last: int) -> Callable[[int], float]:
    """Return a brightness that is lower by a share from frame `first` to frame `last`, last excluded."""
    return lambda i: 1 - depth if first <= i < last else 1.0


class Noise:
    """Adds Gaussian sensor noise.

    Parameters
    ----------
    seed : int
        Seed of the noise.
    size : (height, width)
        Size of the frames in pixels.
    sigma : float
        Standard deviation in grey levels.
    """

    def __init__(self, seed: int, size: tuple[int, int], sigma: float) -> None:
        field = np.random.default_rng((seed, 30)).standard_normal((size[0] + 64, size[1] + 64, 3), np.float32)
        self._seed, self._field = seed, (sigma * field).round().astype(np.int16)

    def __call__(self, image: Frame, i: int) -> Frame:
        """Return the noisy frame: each gets another piece of one large field."""
        top, left = np.random.default_rng((self._seed, 31, i)).integers(0, 65, 2)
        field = self._field[top : top + image.shape[0], left : left + image.shape[1]]
        if image.ndim == 2:
            field = field[..., 0]
        return np.asarray(cv2.add(image, field, dtype=cv2.CV_8U))


class Jpeg:
    """Compresses each frame and decodes it.

    Parameters
    ----------
    quality : float
        Quality of the JPEG, 1 to 100, rounded.
    """

    def __init__(self, quality: float) -> None:
        self._options = [cv2.IMWRITE_JPEG_QUALITY, round(quality)]

    def __call__(self, image: Frame, i: int) -> Frame:
        """Return the frame with the artefacts of compression."""
        _, data = cv2.imencode(".jpg", image, self._options)
        return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))


class Grey:
    """Makes a frame of one channel."""

    def __call__(self, image: Frame, i: int) -> Frame:
        """Return the (H, W) uint8 luminance."""
        return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))


class Jitter:
    """Shakes the camera: frame and labels move together.

    Parameters
    ----------
    seed : int
        Seed of the shaking.
    amplitude : float
        Largest shift in each direction, in pixels.
    """

    def __init__(self, seed: int, amplitude: float) -> None:
        self._seed, self._amplitude = seed, amplitude

    def move(self, image: Frame, labels: Mask, i: int) -> tuple[Frame, Mask]:
        """Return frame and labels as the shaking camera sees them; what lies outside is reflected at the border."""
        shift = np.random.default_rng((self._seed, 32, i)).uniform(-self._amplitude, self._amplitude, 2)
        matrix = np.array([[1, 0, shift[0]], [0, 1, shift[1]]])
        size = labels.shape[::-1]
        moved = cv2.warpAffine(image, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
        marks = cv2.warpAffine(labels, matrix, size, flags=cv2.INTER_NEAREST, borderMode=cv2.BORDER_REFLECT_101)
        return np.asarray(moved), np.asarray(marks)
