"""Gaps in foreground: where the background is seen with its texture, squares and filled holes do not count."""

import numpy as np
import pytest

from bgsub import create
from bgsub._numba import run_bands
from bgsub.detectors.adaptive._jit.outlines.gaps import Pictures, open_gaps
from bgsub.detectors.adaptive.stages import GAPS
from bgsub.stages import StageTrace
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled


def expected(pictures: Pictures, mask: np.ndarray, side: int) -> np.ndarray:
    """Return the mask with its gaps open, square by square."""
    (height, width), reach, opened = mask.shape, side // 2, mask.copy()
    frame, background = (
        planes[:, : mask.size].reshape(-1, height, width).astype(float).sum(0)
        for planes in (pictures.frame, pictures.background)
    )
    for y in range(reach, height - reach):
        for x in range(reach, width - reach):
            square = np.s_[y - reach : y + reach + 1, x - reach : x + reach + 1]
            if pictures.raw[square].any() or pictures.faint[square].any():
                continue
            seen, learned = frame[square].ravel(), background[square].ravel()
            if seen.std() > 0 and learned.std() > 0 and np.corrcoef(seen, learned)[0, 1] > np.sqrt(0.5):
                opened[square] = 0
    return opened


@pytest.mark.parametrize(
    ("size", "side", "channels", "kind"),
    [
        ((40, 50), 5, 3, np.uint8),
        ((31, 33), 9, 1, np.uint8),
        ((33, 64), 5, 3, np.float32),
        ((6, 6), 7, 3, np.uint8),
        ((5, 5), 5, 1, np.uint8),
    ],
)
def test_gaps_are_where_the_background_explains_half_of_the_variance(size, side, channels, kind):
    generator = np.random.default_rng(size[0])

    def some(share):
        return np.where(generator.random(size) < share, np.uint8(255), np.uint8(0))

    background = generator.integers(50, 200, (channels, size[0] * size[1] + 10)).astype(kind)
    changed = generator.normal(0, 35, background.shape) * (generator.random(background.shape[1]) < 0.6)
    frame = np.clip(background + changed, 0, 255).astype(kind)
    pictures, mask = Pictures(some(0.02), some(0.01), frame, background), some(0.5)
    right = expected(pictures, mask, side)
    assert right.any()
    assert (right != mask).any() == (min(size) > side)
    for threads in (1, 2):
        opened, rows = mask.copy(), mask.any(1).astype(np.uint8)
        run_bands(open_gaps, size, threads, pictures, opened, rows, side)
        assert (opened == right).all()


def scene(generator: np.random.Generator, size: tuple[int, int] = (120, 160)) -> np.ndarray:
    """Return a lawn of blades that differ by some ten grey levels."""
    blades = generator.normal(0, 12, (*size, 1)) * np.ones(3)
    return np.clip(np.array((60, 110, 70)) + blades, 20, 235)


def shown(object_at, lawn, steps=3):
    """Return the last mask and its stages of a lawn before which an object stands, after 60 frames without it."""
    generator = np.random.default_rng(1)
    model = create("adaptive", threads=1)
    model.trace, mask = StageTrace(), None
    for index in range(60 + steps):
        frame = lawn.copy()
        if index >= 60:
            object_at(frame)
        model.trace.clear()
        mask = model.apply(np.clip(np.rint(frame + generator.normal(0, 1.5, lawn.shape)), 0, 255).astype(np.uint8))
    return mask != 0, {stage.name: kept != 0 for stage, kept in model.trace.steps}


@needs_compiler
@pytest.mark.parametrize("size", [(120, 160), (240, 320)])  # squares grow with the frame, but what is a gap does not
def test_the_lawn_between_two_poles_is_background(size):
    def poles(frame):
        frame[20:100, 60:66] = frame[20:100, 70:76] = 230

    mask, stages = shown(poles, scene(np.random.default_rng(0), size))
    between = np.s_[24:96, 66:70]
    assert stages["majority"][between].mean() > 0.9  # large squares fill it
    assert mask[between].mean() < 0.1
    assert mask[22:98, 60:66].all()


@needs_compiler
def test_the_lawn_in_a_ring_is_background_and_a_plain_coat_like_it_is_not():
    ring = np.s_[30:80, 60:110]
    hole = np.s_[42:68, 72:98]

    def empty(frame):
        inside = frame[hole].copy()
        frame[ring] = 230
        frame[hole] = inside

    def coat(frame):
        frame[ring], frame[hole] = 230, (60, 110, 70)

    lawn = scene(np.random.default_rng(0))
    mask, stages = shown(empty, lawn)
    assert stages["fill-holes"][hole].all()
    assert mask[hole].mean() < 0.05
    mask, stages = shown(coat, lawn)
    assert stages[GAPS.name][hole].mean() > 0.95
