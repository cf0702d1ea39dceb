"""Light that fades is background, and what is bright and has an outline is not."""

import numpy as np
import pytest
from numpy.typing import NDArray

from bgsub import create
from bgsub._opencv import cv2
from bgsub.detectors.adaptive import forgetting
from bgsub.detectors.adaptive._jit.light.highlights import Evenness, count_brighter_by, mark_even
from bgsub.detectors.adaptive._jit.shadows.darkening import Images
from bgsub.detectors.adaptive.lighting import find_highlights
from bgsub.detectors.adaptive.shadows import Levels
from tests.marks import needs_compiler

SIZE = 60, 80
NOISE = 1.0


def road(seed: int = 0) -> NDArray[np.float64]:
    """A dark road with some texture."""
    return cv2.GaussianBlur(np.random.default_rng(seed).normal(20, 6, SIZE), (0, 0), 1.0)


def beam(x: float, y: float, reach: float = 12.0) -> NDArray[np.float64]:
    """How many times as much light there is more."""
    rows, columns = np.mgrid[: SIZE[0], : SIZE[1]]
    return 3 * np.exp(-(((columns - x) / reach) ** 2) - ((rows - y) / (0.8 * reach)) ** 2)


def body(height: int, width: int) -> NDArray[np.float64]:
    """A car from the front: body, windows and grille."""
    return np.repeat(np.where(np.arange(height) // 3 % 2 == 0, 90.0, 6.0)[:, None], width, 1)


def filmed(light: NDArray[np.float64], seed: int) -> NDArray[np.uint8]:
    """Return a frame of three channels, which may differ, with noise."""
    noise = np.random.default_rng(seed).normal(0, NOISE, (*SIZE, 3))
    return np.clip(np.rint(light.reshape(*SIZE, -1) + noise), 0, 255).astype(np.uint8)


def planes_of(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(frame.reshape(-1, 3).T)


def found_in(frame: NDArray[np.uint8], mask: NDArray[np.uint8], noise: float = NOISE) -> NDArray[np.uint8] | None:
    return find_highlights(mask, planes_of(frame), planes_of(filmed(road(), 1)), Levels(255.0, noise=noise))


def test_a_beam_is_a_highlight_and_a_bright_thing_of_its_size_is_not() -> None:
    light = beam(40, 30)
    mask = np.uint8(255) * (light > 0.3).astype(np.uint8)
    found = found_in(filmed(road() * (1 + light), 2), mask)
    assert found is not None
    assert np.mean(found[mask != 0] == 255) > 0.9
    assert not found[mask == 0].any()
    for inside in (road() * 4, np.full(SIZE, 90.0)):  # with the texture of the road, and plain
        thing = np.where(mask != 0, inside, road())
        assert found_in(filmed(cv2.GaussianBlur(thing, (0, 0), 0.7), 2), mask) is None


def test_a_beam_is_one_before_the_car_that_sends_it() -> None:
    light = beam(40, 26)
    scene = road() * (1 + light)
    scene[14:24, 30:50] = body(10, 20)
    car = np.zeros(SIZE, bool)
    car[14:24, 30:50] = True
    found = found_in(filmed(scene, 2), np.uint8(255) * ((light > 0.3) | car).astype(np.uint8))
    assert found is not None
    assert np.mean(found[(light > 0.5) & ~car & (np.mgrid[: SIZE[0], : SIZE[1]][0] > 26)] == 255) > 0.9
    assert np.mean(found[car] == 255) < 1 / 3


def dazzling(scene: NDArray[np.float64], car: NDArray[np.bool_]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return a frame in which light spreads from two lamps at (24, 33) and (24, 47), and its mask."""
    rows, columns = np.mgrid[: SIZE[0], : SIZE[1]]
    lit = scene + sum(60 * np.exp(-(((columns - x) / 8) ** 2) - ((rows - 24) / 8) ** 2) for x in (33, 47))
    lit = cv2.GaussianBlur(lit, (0, 0), 0.7)
    return filmed(lit, 2), np.where((lit > 1.25 * road() + 4) | car, np.uint8(255), np.uint8(0))


def test_light_on_a_car_is_no_part_of_the_beam_that_leaves_through_a_gap_in_its_outline() -> None:
    scene, car = road() * (1 + beam(40, 36)), np.zeros(SIZE, bool)
    car[8:32, 28:52] = True
    scene[car] = 6
    outline = car & (cv2.erode(car.astype(np.uint8), np.ones((5, 5), np.uint8)) == 0)
    outline[28:, 39:42] = False
    scene[outline] = 250
    found = found_in(*dazzling(scene, car))
    assert found is not None
    assert np.mean(found[car] != 0) < 0.1
    assert np.mean(found[34:44, 32:48] != 0) > 0.8


def test_light_between_parts_of_a_thing_is_no_beam() -> None:
    scene, car = road() * (1 + beam(40, 36)), np.zeros(SIZE, bool)
    car[8:32, 28:52] = True
    scene[car] = 6
    for rows in (slice(14, 19), slice(26, 32)):  # the light beside the car reaches all between
        scene[rows, 28:52] = 250
    found = found_in(*dazzling(scene, car))
    assert found is not None
    assert not found[20:25, 30:50].any()
    assert np.mean(found[34:44, 32:48] != 0) > 0.8


def test_nothing_is_one_where_noise_may_hide_an_outline_or_is_not_known() -> None:
    light = beam(40, 30)
    mask = np.uint8(255) * (light > 0.3).astype(np.uint8)
    frame = filmed(road() * (1 + light), 2)
    assert found_in(frame, mask, 40.0) is None
    assert found_in(frame, mask, np.inf) is None
    assert found_in(frame, np.zeros_like(mask)) is None


@needs_compiler
def test_a_moving_beam_is_no_foreground_but_the_car_is() -> None:
    model = create("adaptive")
    for index in range(60):
        model.apply(filmed(road(), 100 + index))
    missed, false = [], []
    for step in range(40):
        light, scene, car = beam(20 + step, 36), road(), np.zeros(SIZE, bool)
        car[16:28, 12 + step : 28 + step] = True
        scene *= 1 + light
        scene[16:28, 12 + step : 28 + step] = body(12, 16)
        mask = model.apply(filmed(scene, 200 + step)) == 255
        missed.append(np.mean(~mask[car]))
        false.append(np.sum(mask & ~car) / np.sum((light > 0.3) & ~car))
    assert np.mean(missed) < 0.2
    assert np.mean(false[16:]) < 0.35  # before one is found there is a search in every 16th frame
    assert max(false[16:]) < 0.8
    kept = create("adaptive", shadows=True)
    for index in range(60):
        kept.apply(filmed(road(), 100 + index))
    assert np.mean(kept.apply(filmed(road() * (1 + beam(40, 36)), 300))[30:40, 34:46] == 255) > 0.9


@needs_compiler
def test_a_model_that_does_not_learn_finds_a_beam_in_any_frame_and_does_not_remember_it() -> None:
    model = create("adaptive")
    for index in range(61):
        model.apply(filmed(road(), 100 + index))
    until = model._scalars["lit_until"]
    mask = model.apply(filmed(road() * (1 + beam(40, 30)), 300), learningRate=0)
    assert np.mean(mask[26:34, 36:44] == 255) < 0.1
    assert model._scalars["lit_until"] == until


@needs_compiler
def test_a_beam_becomes_no_ghost_in_a_frame_in_which_none_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    model = create("adaptive", shadows=True)  # so that masks are not searched as well
    for index in range(61):
        model.apply(filmed(road(), 100 + index))
    monkeypatch.setattr(forgetting, "find_ghosts", lambda mask, *_: mask.copy())
    frames = [filmed(road() * (1 + beam(40, 30)), 300 + step) for step in range(8)]
    assert all(np.mean(model.apply(frame)[26:34, 36:44] == 255) > 0.9 for frame in frames)


@pytest.mark.parametrize("plain", [(60, 60, 60), (30, 55, 100)])
def test_a_plain_thing_as_bright_as_the_beam_beside_it_is_none(plain: tuple[int, int, int]) -> None:
    light = beam(40, 30, 18)
    scene = np.repeat((road() * (1 + light))[..., None], 3, 2)
    thing = np.zeros(SIZE, bool)
    thing[20:40, 30:50] = True
    scene[thing] = plain
    frame = filmed(cv2.GaussianBlur(scene, (0, 0), 0.7), 2)
    found = found_in(frame, np.uint8(255) * ((light > 0.3) | thing).astype(np.uint8))
    assert found is not None
    beside = (light > 0.4) & (cv2.dilate(thing.astype(np.uint8), np.ones((9, 9))) == 0)
    assert np.mean(found[beside] == 255) > 0.9
    assert np.mean(found[thing] == 255) < 1 / 3  # the outermost two pixels, at most


def test_faint_light_is_none() -> None:
    light = beam(40, 30) / 8
    mask = np.uint8(255) * (light > 0.1).astype(np.uint8)
    bright = np.repeat((road() + 60)[..., None], 3, 2)
    frame, learned = (np.rint(bright * more[..., None]).astype(np.uint8) for more in (1 + light, np.ones(SIZE)))
    assert find_highlights(mask, planes_of(frame), planes_of(learned), Levels(255.0, noise=0.3)) is None


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("corner", [(0, 0), (5, 9), (18, 33)])
def test_evenness_equals_plain_numpy(dtype: type, channels: int, corner: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    unit, black, height, width = 1.5, 4.0, 22, 17
    light = Evenness(steep=0.2, doubt=1.0, flat=0.5, smooth=30.0, gain=0.5, lit=2.0)
    ground = cv2.blur(rng.uniform(10, 90, (40, 50, channels)), (2, 2)).reshape(40, 50, channels)
    lit = ground * np.linspace(1.3, 2.4, 50)[None, :, None] + rng.normal(0, 1, ground.shape)
    lit[20:] = 80 + rng.normal(0, 4, lit[20:].shape)  # plain
    frame, learned = lit.astype(dtype), ground.astype(dtype)
    planes = (np.ascontiguousarray(values.reshape(-1, channels).T) for values in (frame, learned))
    mask = np.full((40, 50), 255, np.uint8)
    images = Images(mask, mask, *planes, np.float32(unit), np.float32(black))
    even, bright = np.empty((height, width), np.uint8), np.empty((height, width), np.uint8)
    mark_even(0, height, images, *corner, Evenness(*map(np.float32, light)), even, bright)

    def grey(values: NDArray[np.generic]) -> NDArray[np.float64]:
        padded = np.pad(values.astype(np.float64), ((3, 3), (3, 3), (0, 0)), mode="edge")
        return np.maximum(padded * unit - black + 2, 2)

    def windows(values: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        return np.lib.stride_tricks.sliding_window_view(values, (side, side))

    now, before = grey(frame), grey(learned)

    def slack(now: NDArray[np.float64], before: NDArray[np.float64], doubt: float) -> NDArray[np.float64]:
        gain = windows(now, 3).mean((2, 3)) / windows(before, 3).mean((2, 3)) - 1
        changes = [
            np.abs(
                gain[2 + dy : gain.shape[0] - 2 + dy, 2 + dx : gain.shape[1] - 2 + dx]
                - gain[2 - dy : gain.shape[0] - 2 - dy, 2 - dx : gain.shape[1] - 2 - dx]
            )
            / (2 * np.hypot(dy, dx))
            for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1))
        ]
        return doubt / windows(before, 3).mean((2, 3))[2:-2, 2:-2] - np.max(changes, 0)

    mean_now, mean_before = now.mean(2), before.mean(2)
    own_now, own_before = (windows(values, 5)[1:-1, 1:-1] for values in (mean_now, mean_before))
    gain = (windows(mean_now, 3).mean((2, 3)) / windows(mean_before, 3).mean((2, 3)) - 1)[2:-2, 2:-2]
    share = light.steep * np.maximum(gain, 0)
    margins = [share + slack(mean_now, mean_before, light.doubt)]
    if channels > 1:
        more = light.doubt * np.sqrt(channels)
        margins += [share + slack(now[..., c], before[..., c], more) for c in range(channels)]
    variance, brighter = own_now.var((2, 3)), own_now.mean((2, 3)) / own_before.mean((2, 3))
    expected_variance = brighter**2 * own_before.var((2, 3))
    textured = np.maximum(variance / (light.flat * expected_variance) - 1, 1 - variance / light.smooth)
    here = np.s_[corner[0] : corner[0] + height, corner[1] : corner[1] + width]
    expected, sure = np.ones((40, 50), bool), np.ones((40, 50), bool)
    for margin in (*margins, textured):
        expected &= margin > 0
        sure &= np.abs(margin) > 1e-3
    assert np.array_equal((even != 0)[sure[here]], expected[here][sure[here]])
    assert 0.05 < even.mean() < 0.95
    assert sure[here].mean() > 0.9
    assert any((margin[here] <= 0).any() for margin in margins)
    assert (textured[here] <= 0).any()
    noise = light.doubt / windows(mean_before, 3).mean((2, 3))[2:-2, 2:-2]
    excess = np.minimum(gain - light.gain, light.steep * gain - light.lit * noise)
    sure = np.abs(excess) > 1e-3
    assert np.array_equal((bright != 0)[sure[here]], (excess > 0)[here][sure[here]])
    assert 0.05 < bright.mean() < 0.95


def test_what_is_brighter_is_counted_until_it_is_enough() -> None:
    rng = np.random.default_rng(4)
    frame, learned = (rng.integers(0, 255, (3, 40 * 150)).astype(np.uint8) for _ in range(2))
    mask = np.where(rng.random((40, 150)) < 0.05, np.uint8(255), np.uint8(0))
    images = Images(mask, mask, frame, learned, np.float32(1.0))
    now, before = frame.astype(int).sum(0), learned.astype(int).sum(0)
    bright = ((now - before > 3 * 40) & (now > 1.5 * before)).reshape(mask.shape) & (mask != 0)
    limits = np.float32(40.0), np.float32(0.5)
    for top, left, bottom, right in ((0, 0, 40, 150), (3, 20, 30, 141)):
        brighter = int(bright[top:bottom, left:right].sum())
        assert brighter > 5
        assert count_brighter_by(images, (top, left, bottom, right), *limits, 10**6) == brighter
        assert (
            brighter // 2 <= count_brighter_by(images, (top, left, bottom, right), *limits, brighter // 2) <= brighter
        )
