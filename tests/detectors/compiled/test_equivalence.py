"""A bank is exactly one scalar learner a pixel."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from bgsub.detectors import create
from bgsub.learners import NORMANovelty, OLKNovelty
from bgsub.video.sources.synthetic.scene import SyntheticScene
from tests.data import shared_data
from tests.detectors.reference import SMALL, ScalarBank, noisy_video

FRAMES, SIZE = (60, (4, 5)) if SMALL else (150, (10, 10))


def scene_video(frames: int, size: tuple[int, int]) -> np.ndarray:
    """Return a corner of the generated scene, with its water, tree and people."""
    scene = SyntheticScene(size=(96, 128), frames=frames, seed=5)
    top = 60 - size[0]
    return np.stack([scene.frame(i)[0][top : top + size[0], 40 : 40 + size[1]] for i in range(frames)])


def real_video(frames: int, size: tuple[int, int]) -> np.ndarray:
    """Return a corner of a real sequence: leaves and passing cars."""
    cv2 = pytest.importorskip("cv2")
    folder: Path = shared_data() / "cdnet/baseline/highway/input"
    paths = sorted(folder.glob("in*.jpg"))[600 : 600 + frames]
    return np.stack([cv2.imread(str(path))[120 : 120 + size[0], 100 : 100 + size[1]] for path in paths])


VIDEOS = {"noise": noisy_video, "scene": scene_video, "real": real_video}


def agree(actual: np.ndarray, expected: np.ndarray, counted: np.ndarray, relative: float, absolute: float) -> None:
    """Compare where counted; the tolerance is single precision times the terms of a sum."""
    difference = np.abs(actual - expected) - relative * np.abs(expected) - absolute
    assert (difference[counted] <= 0).all(), f"off by {difference[counted].max()}"


def check_norma(video, slots=8, width=20, eta=0.02, nu=0.5, kappa=0.25, learn_every=1) -> None:
    """Feed a video to a bank and to one learner a pixel, and compare score, decision, rho, ring at every step."""
    size = video.shape[1:3]
    bank = create("norma", slots=slots, width=width, eta=eta, nu=nu, kappa=kappa, learn_every=learn_every, warmup=0)
    scalar = ScalarBank(lambda: NORMANovelty(width=width, eta=eta, nu=nu, kappa=kappa, budget=slots), size, slots)
    rho = np.full(size, eta * nu / 2)
    counted = np.ones(size, bool)
    for t, frame in enumerate(video):
        f = scalar.values(frame, first=t == 0)
        for threshold in (rho, kappa * rho):
            counted &= np.abs(f - threshold) >= 1e-5 * np.abs(threshold) + 1e-6
        score = np.empty(size, np.float32)
        rho_before = bank._arrays["rho"].copy() if t else rho.astype(np.float32)
        mask = bank.apply(frame, score=score)
        level = kappa * rho
        agree((1 - score) * kappa * rho_before, f, counted & (level > 1e-4), 1e-5, 1e-6)
        assert ((mask == 255) == (f < level))[counted].all()
        if t % learn_every == 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # eta above nu / 5 is part of the test
                scalar.learn(frame)
            rho = scalar.each(lambda learner, y, x: learner.rho_)
            novel = scalar.each(lambda learner, y, x: learner.last_violation_) > 0
            assert ((bank._arrays["rho"] < rho_before) == novel)[counted].all()
        agree(bank._arrays["rho"], rho, counted, 0, 1e-6)
        compare_rings(bank, scalar, counted, 1e-5, 1e-9)
    assert counted.mean() >= 0.92


def check_olk(video, rule="fixed", slots=8, learn_every=1, nu=0.05) -> None:
    """Feed a video to a bank and to one learner a pixel, and compare score, decision, theta, ring at every step."""
    size = video.shape[1:3]
    r, v, C = 0.001, 0.1, 0.2  # noqa: N806
    bank = create("olk", slots=slots, width=20, rho_rule=rule, learn_every=learn_every, nu=nu, warmup=0)

    def make() -> OLKNovelty:
        return OLKNovelty(width=20.0, r=r, v=v, C=C, rho_rule=rule, nu=nu, level=0.1, budget=slots)

    scalar = ScalarBank(make, size, slots)
    counted = np.ones(size, bool)
    learned = 0
    for t, frame in enumerate(video):
        compared = scalar.values(frame, first=t == 0) if rule == "published" else scalar.densities(frame)
        if rule == "quantile":
            threshold = np.zeros(size) if learned < 20 else scalar.each(lambda learner, y, x: learner.theta_)
        else:
            threshold = np.full(size, 1 + r - C if rule == "published" else 0.1)
        # a threshold of 0, while warming up, can be no tie: no density is below it
        counted &= (np.abs(compared - threshold) >= 1e-5 * threshold + 1e-6) | (threshold == 0)
        score = np.empty(size, np.float32)
        mask = bank.apply(frame, score=score)
        assert ((mask == 255) == (compared < threshold))[counted].all()
        agree((1 - score) * threshold, compared, counted & (threshold > 1e-4), 3e-5, 2e-6)
        if t % learn_every == 0:
            scalar.learn(frame)
            learned += 1
        if rule == "quantile" and learned > 20:
            agree(bank._arrays["theta"], scalar.each(lambda learner, y, x: learner.theta_), counted, 2e-5, 1e-6)
        compare_rings(bank, scalar, counted, 2e-5, 2e-6)
    assert counted.mean() >= 0.92


def compare_rings(bank, scalar: ScalarBank, counted: np.ndarray, relative: float, absolute: float) -> None:
    """Compare coefficients and support vectors slot by slot."""
    arrays = bank._arrays
    height, slots, width = arrays["coefficients"].shape
    by_slot = np.broadcast_to(counted[:, None], (height, slots, width))
    stored = arrays["coefficients"] * np.float32(bank._scalars["scale"])
    agree(stored, scalar.coefficients(), by_slot, relative, absolute)
    by_channel = np.broadcast_to(by_slot[:, None], arrays["colours"].shape)
    assert (arrays["colours"] == scalar.colours(arrays["colours"].shape[1]))[by_channel].all()


@pytest.mark.parametrize("content", VIDEOS)
@pytest.mark.parametrize(
    ("slots", "width", "eta", "nu", "kappa", "learn_every"),
    [
        (16, 20, 0.02, 0.5, 0.25, 1),
        (8, 10, 0.01, 0.05, 1.0, 1),
        (32, 20, 0.02, 0.1, 0.5, 1),
        (8, 30, 0.05, 0.5, 0.25, 3),
    ],
)
def test_norma_bank_equals_scalar_learners(content, slots, width, eta, nu, kappa, learn_every):
    if SMALL and slots > 8:
        pytest.skip("plain Python is slow")
    check_norma(VIDEOS[content](FRAMES, SIZE), slots, width, eta, nu, kappa, learn_every)


@pytest.mark.parametrize("content", VIDEOS)
@pytest.mark.parametrize(
    ("rule", "slots", "learn_every", "nu"),
    [("fixed", 8, 1, 0.05), ("published", 16, 1, 0.05), ("quantile", 8, 1, 0.05), ("quantile", 8, 2, 0.3)],
)
def test_olk_bank_equals_scalar_learners(content, rule, slots, learn_every, nu):
    check_olk(VIDEOS[content](FRAMES, SIZE), rule, slots, learn_every, nu)


@pytest.mark.parametrize("name", ["norma", "olk"])
def test_pixels_outside_where_are_learners_that_saw_nothing(name):
    video = noisy_video(FRAMES // 2, SIZE, seed=3)
    generator = np.random.default_rng(4)
    bank = create(name, slots=8, width=20, learn_every=1, warmup=0)
    if name == "norma":
        scalar = ScalarBank(lambda: NORMANovelty(width=20.0, eta=0.05, nu=0.5, kappa=0.25, budget=8), SIZE, 8)
    else:
        scalar = ScalarBank(lambda: OLKNovelty(width=20.0, rho_rule="fixed", level=0.1, budget=8), SIZE, 8)
    for frame in video:
        where = generator.random(SIZE) < 0.7
        where[0, 0] = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            scalar.learn(frame, where)
        bank.learn(frame, where)
    started = scalar.each(lambda learner, y, x: hasattr(learner, "expansion_")) > 0
    assert started.all()
    stored = bank._arrays["coefficients"] * np.float32(bank._scalars["scale"])
    agree(stored, scalar.coefficients(), np.ones(stored.shape, bool), 2e-5, 1e-6)
    assert (bank._arrays["colours"] == scalar.colours(3)).all()


@pytest.mark.parametrize("nu", [0.5, 0.1])
def test_norma_flags_the_share_nu_of_its_samples(nu):
    frames, eta = (50 if SMALL else 400), 0.02
    bank = create("norma", slots=8, width=15, eta=eta, nu=nu, kappa=1.0, learn_every=1, warmup=0)
    novel = np.zeros((6, 7))
    for frame in noisy_video(frames, (6, 7), seed=2):
        novel += bank.apply(frame) == 255
    moved = bank._arrays["rho"].astype(np.float64) - eta * nu / 2
    np.testing.assert_allclose(novel / frames, nu - moved / (eta * frames), atol=1e-5)
