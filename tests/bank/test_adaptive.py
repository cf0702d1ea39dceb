"""What the adaptive detector does beyond the contract: its arithmetic, and each thing that makes it adapt."""

import numpy as np
import pytest

from bgsub._numba import JIT_ENABLED
from bgsub.bank import _adaptive_kernels as kernels
from bgsub.bank import create
from bgsub.bank._ghosts import find_ghosts
from tests.bank.reference import SMALL, noisy_video

SIZE = (60, 80)
compiled = pytest.mark.skipif(not JIT_ENABLED, reason="too many pixels for plain Python kernels")


def street(seed=0, size=SIZE):
    """Return a textured background, (H, W, 3)."""
    return np.random.default_rng(seed).integers(60, 160, (*size, 3))


def filmed(scene, seed, sigma=3.0):
    """Return a frame of a scene with sensor noise."""
    noise = np.random.default_rng(seed).normal(0, sigma, scene.shape)
    return np.clip(scene + noise, 0, 255).astype(np.uint8)


def with_square(scene, top, left, side=14, value=230):
    """Return the scene with a bright object."""
    result = scene.copy()
    result[top : top + side, left : left + side] = value
    return result


class Reference:
    """The two kernels in plain numpy and double precision, for frames of any size."""

    def __init__(self, model):
        self.arrays = {name: array.astype(np.float64) for name, array in model._arrays.items()}
        self.gain = np.log(2) * float(model._gain(np.dtype(np.uint8)))
        self.threshold = model.parameters["threshold"]

    def look(self, frame):
        s = self.arrays
        square = ((s["colours"] - frame.transpose(0, 2, 1)[:, :, None].astype(np.float64)) ** 2).sum(1)
        unit = self.gain * (3 if frame.shape[2] == 1 else 1)
        k = np.exp(square * unit / s["factors"][:, None] ** 2)
        a = s["coefficients"]
        mass = a.sum(1)
        density = np.where(mass > 0, (a * k).sum(1) / np.where(mass > 0, mass, 1), 1)
        k = np.where(a > 0, k, 0)
        return density, k.argmax(1), k.max(1)

    def adapt(self, frame, density, nearest, largest, raw, final, moving, rate, absorb, fading):
        s = self.arrays
        foreground = final != 0
        blinks = (raw != s["previous"]) & (moving == 0)
        s["restless"] = np.maximum(s["restless"] + np.where(blinks, 1, np.where(foreground, -0.025, -0.1)), 0.1)
        distance = np.maximum(1 - density / self.threshold, 0)
        s["distances"] += 0.02 * (distance - s["distances"])
        up, down = rate * (s["restless"] - 0.1), 0.01 / s["restless"]
        grows = s["factors"] < (1 + 8 * s["distances"]) ** 2
        s["factors"] = np.clip(s["factors"] + np.where(grows, up, -down), 1, 8)
        s["ages"] = np.where(foreground, s["ages"] + 1, 0)
        s["previous"] = raw.astype(np.float64)
        absorbed = (s["ages"] >= absorb) if absorb else np.zeros_like(foreground)
        learns = ~foreground | absorbed
        s["coefficients"] *= fading
        for y, x in np.argwhere(learns):
            a = s["coefficients"][y, :, x]
            if largest[y, x] <= 0.5:
                slot = a.argmin()
                a[slot] = max(1.0, a.sum() if absorbed[y, x] else 0)
                s["colours"][y, :, slot, x] = frame[y, x]
            else:
                slot = nearest[y, x]
                a[slot] += largest[y, x]
                pull = min(max(1 / a[slot], 0.02), 1)
                s["colours"][y, :, slot, x] += pull * (frame[y, x] - s["colours"][y, :, slot, x])


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [(1, 1), (5, 7)] if SMALL else [(1, 1), (5, 7), (9, 33)])
def test_kernels_equal_plain_numpy(size, channels):
    model = create("adaptive", median=1, fill=False, ghosts=False, slots=3, absorb_s=0.2, threads=1)
    video = noisy_video(40, size, channels, seed=5)
    model.learn(video[0].reshape(*size, channels) if channels == 3 else video[0])
    model._dither[:] = 0.5  # round to nearest, as the reference does not round at all
    for frame in video[1:]:
        reference = Reference(model)
        scale = model._scalars["scale"]
        reference.arrays["coefficients"] *= scale
        frames, near = model._scalars["frames"], model._arrays["near"].copy()
        mask = model.apply(frame if channels == 3 else frame[..., 0])
        density, nearest, largest = reference.look(frame)
        np.testing.assert_allclose(model._density, density, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(model._largest, largest, rtol=1e-5, atol=1e-6)
        assert (model._nearest == nearest)[largest > 1e-6].all()
        if (mask != 0).mean() > 0.6:
            continue  # a flood, which has a test of its own
        moving = np.bitwise_or(model._arrays["near"], near)
        rate = 0.01 * (1 + 19 * np.exp(-frames / 100))
        reference.adapt(frame, density, nearest, largest, model._raw, mask, moving, rate, 5, 1 - 1 / 1000)
        for name in ("restless", "distances", "factors", "previous", "ages"):
            np.testing.assert_allclose(model._arrays[name], reference.arrays[name], rtol=1e-4, atol=1e-5, err_msg=name)
        stored = model._arrays["coefficients"] * model._scalars["scale"]
        np.testing.assert_allclose(stored, reference.arrays["coefficients"], rtol=1e-4, atol=1e-5)
        assert np.abs(model._arrays["colours"] - reference.arrays["colours"]).max() <= 0.51


@compiled
def test_dither_moves_a_support_vector_without_bias():
    model = create("adaptive", threads=1)
    for _ in range(60):
        model.apply(np.full((20, 200), 100, np.uint8))
    for _ in range(400):
        model.apply(np.full((20, 200), 104, np.uint8))
    strongest = model._arrays["coefficients"].argmax(1)
    colours = np.take_along_axis(model._arrays["colours"][:, 0], strongest[:, None], 1)
    assert abs(float(colours.mean()) - 104) < 0.5


@compiled
def test_an_object_is_found_whole_and_nothing_else():
    model, scene = create("adaptive"), street()
    for t in range(60):
        mask = model.apply(filmed(scene, t))
        assert not mask.any()
    truth = np.zeros(SIZE, bool)
    truth[6:20, 10:24] = True
    mask = model.apply(filmed(with_square(scene, 6, 10), 99)) != 0
    assert (mask & truth).sum() / (mask | truth).sum() > 0.9


@compiled
def test_restless_pixels_become_background():
    model, scene = create("adaptive"), street()
    leaves = np.zeros(SIZE, bool)
    leaves[:, : SIZE[1] // 2] = True
    generator = np.random.default_rng(1)
    false = []
    for t in range(200):
        frame = filmed(scene, t)
        swayed = leaves & (generator.random(SIZE) < 0.3)
        frame[swayed] = generator.integers(0, 255, (int(swayed.sum()), 3))
        model.apply(frame)
        false.append((model._raw[leaves] != 0).mean())
    assert false[5] > 0.15
    assert np.mean(false[-10:]) < 0.5 * false[5]
    assert model._arrays["factors"][leaves].mean() > 2
    assert model._arrays["factors"][:, SIZE[1] // 2 + 4 :].mean() < 1.2


@compiled
@pytest.mark.parametrize("absorb_s", [0.0, 1.0])
def test_a_stopped_object_is_absorbed_after_the_set_time(absorb_s):
    model, scene = create("adaptive", absorb_s=absorb_s, rate_hz=20, ghosts=False), street()
    for t in range(40):
        model.apply(filmed(scene, t))
    shares = [(model.apply(filmed(with_square(scene, 6, 10), 100 + t))[8:18, 12:22] != 0).mean() for t in range(45)]
    assert min(shares[:19]) > 0.95
    if absorb_s:
        assert max(shares[23:]) < 0.05
    else:
        assert min(shares) > 0.95


@compiled
@pytest.mark.parametrize("ghosts", [True, False])
def test_what_stood_there_from_the_start_leaves_no_ghost(ghosts):
    model = create("adaptive", ghosts=ghosts)
    scene = np.broadcast_to(np.linspace(80, 140, SIZE[1])[None, :, None], (*SIZE, 3))
    for t in range(30):
        model.apply(filmed(with_square(scene, 6, 10), t))
    shares = [(model.apply(filmed(scene, 100 + t))[8:18, 12:22] != 0).mean() for t in range(30)]
    assert shares[0] > 0.9 or ghosts
    assert (max(shares[5:]) < 0.05) == ghosts


@compiled
def test_an_object_that_stops_is_no_ghost():
    model, scene = create("adaptive"), street()
    for t in range(40):
        model.apply(filmed(scene, t))
    shares = [(model.apply(filmed(with_square(scene, 6, 10), 100 + t))[8:18, 12:22] != 0).mean() for t in range(60)]
    assert min(shares) > 0.95


def test_ghosts_are_told_by_their_outline():
    plain = np.full((50, 60), 100, np.uint8)
    square = plain.copy()
    square[15:35, 20:40] = 200
    mask = np.where(square == 200, np.uint8(255), np.uint8(0))
    assert (find_ghosts(mask, lambda part: plain[part], lambda part: square[part], 20) == mask).all()
    assert find_ghosts(mask, lambda part: square[part], lambda part: plain[part], 20) is None
    assert find_ghosts(mask, lambda part: plain[part], lambda part: square[part], 2000) is None
    assert find_ghosts(np.zeros_like(mask), lambda part: plain[part], lambda part: square[part], 20) is None


@compiled
@pytest.mark.parametrize("factor", [0.4, 1.6])
def test_a_sudden_change_of_light_is_over_within_a_second(factor):
    model, scene = create("adaptive", rate_hz=25), street()
    for t in range(60):
        model.apply(filmed(scene, t))
    shares = [(model.apply(filmed(scene * factor, 100 + t)) != 0).mean() for t in range(40)]
    assert shares[0] > 0.5
    assert max(shares[25:]) < 0.02


@compiled
def test_a_moving_camera_at_the_start_leaves_no_lasting_foreground():
    model, scene = create("adaptive"), street(size=(SIZE[0], SIZE[1] * 2))
    for t in range(40):
        model.apply(filmed(np.roll(scene, 5 * t, axis=1)[:, : SIZE[1]], t))
    shares = [(model.apply(filmed(scene[:, : SIZE[1]], 100 + t)) != 0).mean() for t in range(60)]
    assert np.mean(shares[-5:]) < 0.2


@compiled
def test_a_slow_change_of_light_is_followed():
    model, scene = create("adaptive"), street() * 0.7
    for t in range(60):
        model.apply(filmed(scene, t))
    shares = [(model.apply(filmed(scene * (1 + 0.003 * t), 100 + t)) != 0).mean() for t in range(100)]
    assert max(shares) < 0.02


def test_the_first_mask_is_empty():
    assert not create("adaptive").apply(filmed(street(), 0)).any()


@compiled
def test_a_learning_rate_is_the_share_of_the_memory():
    scene = street()
    masses = []
    for rate in (0.02, 0.2):
        model = create("adaptive")
        for t in range(150):
            model.apply(filmed(scene, t), None, rate)
        masses.append(float((model._arrays["coefficients"].sum(1) * model._scalars["scale"]).mean()))
    np.testing.assert_allclose(masses, [1 / 0.02, 1 / 0.2], rtol=0.15)


def test_state_stays_in_range_over_many_frames():
    model = create("adaptive", memory_s=0.2, threads=1)
    video = noisy_video(16, (6, 9))
    for t in range(100 if SMALL else 6000):
        model.apply(video[t % 16])
    for name, array in model._arrays.items():
        assert np.isfinite(array).all(), name
    assert model._arrays["factors"].min() >= 1
    assert model._arrays["factors"].max() <= 8
    assert model._arrays["ages"].max() <= 65535
    assert 1e-7 < model._scalars["scale"] <= 1


@compiled
def test_sides_grow_with_the_frame():
    small, large = create("adaptive"), create("adaptive")
    small.apply(np.zeros((240, 320, 3), np.uint8))
    large.apply(np.zeros((960, 1280, 3), np.uint8))
    assert (small._side(13), large._side(13)) == (13, 35)
    assert small._side(1) == large._side(1) == 1


def test_state_takes_the_documented_bytes():
    model = create("adaptive")
    model.apply(np.zeros((10, 20, 3), np.uint8))
    assert model.memory_bytes == 10 * 20 * (4 * (3 + 4) + 16)


def test_kernel_constants_are_single_precision():
    for name in ("TAU", "DRIFT", "BLINK", "QUIET", "WIDEST"):
        assert isinstance(getattr(kernels, name), np.float32)
