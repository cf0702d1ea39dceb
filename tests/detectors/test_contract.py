"""What every detector promises, whatever it is."""

import threading

import numpy as np
import pytest

import bgsub
from bgsub._opencv import cv2
from bgsub.detectors import DETECTORS, create, detector_class
from bgsub.detectors.kernel_bank import KernelBank
from bgsub.detectors.ring_bank import RingBank
from bgsub.errors import UnsupportedError
from bgsub.testing.detectors import CHECKS
from tests.detectors.reference import SMALL, noisy_video

ALL = list(DETECTORS)
BANKS = [name for name in ALL if issubclass(detector_class(name), KernelBank)]
RINGS = [name for name in ALL if issubclass(detector_class(name), RingBank)]
OPENCV = ["mog2", "knn"]
SIZE = (7, 9) if SMALL else (24, 31)
QUICK = {
    "adaptive": {"raw": True},
    "norma": {"learn_every": 2, "warmup": 4, "slots": 4 if SMALL else 8},
    "olk": {"learn_every": 2, "warmup": 4, "slots": 4 if SMALL else 8},
}
FORMS = {
    "uint8 colour": lambda video: video,
    "uint8 grey": lambda video: video[..., 0],
    "uint16 colour": lambda video: video.astype(np.uint16) * 257,
    "uint16 grey": lambda video: video[..., 1].astype(np.uint16) * 257,
    "float32 colour": lambda video: video.astype(np.float32) / 255,
    "float32 grey": lambda video: video[..., 2].astype(np.float32) / 255,
}


def quick(name, **changed):
    return create(name, **(QUICK.get(name, {}) | changed))


def eager(name, **changed):
    """Make a detector that learns every frame."""
    return quick(name, **({"learn_every": 1} if name in RINGS else {}), **changed)


LONG = set(CHECKS) - {"names", "restart", "region", "bad frames", "extremes"} if SMALL else set()
"""Checks that take minutes in plain Python; they are about what surrounds the compiled code."""


@pytest.mark.parametrize("check", [check for check in CHECKS if check not in LONG])
@pytest.mark.parametrize("name", ALL)
def test_the_contract_is_kept(name, check):
    CHECKS[check](lambda **changed: quick(name, **changed))


def state(model):
    return [array.tobytes() for array in model._arrays.values()] + [repr(model._scalars)]


@pytest.mark.parametrize("name", BANKS)
def test_background_image_shows_the_densest_colour_not_the_newest(name):
    model = eager(name, **({"slots": 8} if name in RINGS else {}))
    scene = np.full((*SIZE, 3), 90, np.uint8)
    random = np.random.default_rng(0)
    for _ in range(40):
        model.apply(scene + random.integers(0, 3, (*SIZE, 1), np.uint8))
    scene[2, 2] = 250
    for _ in range(2):
        model.apply(scene)
    assert np.abs(model.background_image().astype(int) - 91).max() <= 2


@pytest.mark.parametrize("name", BANKS)
def test_rate_0_keeps_the_very_bits_and_score_only_reads(name):
    model = eager(name)
    video = noisy_video(20, SIZE)
    for frame in video[:10]:
        model.apply(frame)
    before = state(model)
    for frame in video[10:]:
        model.apply(frame, None, 0)
        model.score(frame)
        model.background_image()
    assert state(model) == before
    model.apply(video[0])
    assert state(model) != before


def test_mog2_is_opencvs_own_model():
    own = cv2.createBackgroundSubtractorMOG2()
    wrapped = create("mog2")
    for frame in noisy_video(60, SIZE):
        expected = own.apply(frame)
        assert (wrapped.apply(frame) == np.where(expected == 255, 255, 0)).all()
    assert (wrapped.background_image() == own.getBackgroundImage()).all()


@pytest.mark.parametrize("name", RINGS)
@pytest.mark.parametrize("rate", [5e-324, 1e-320, 1e-300, 1e-30])
def test_the_least_rates_change_almost_nothing(name, rate):
    model, video = quick(name), noisy_video(6, (8, 9))
    for frame in video[:5]:
        model.apply(frame)
    before = model.background_image().astype(int)
    model.apply(video[5], learningRate=rate)
    assert np.abs(model.background_image().astype(int) - before).max() <= 1


@pytest.mark.parametrize("name", RINGS)
def test_a_higher_rate_learns_more_often(name):
    video = noisy_video(64, SIZE)
    changes = []
    for rate in (0.0005, 0.02):
        model = quick(name)
        count = 0
        for frame in video:
            before = model._arrays["heads"].copy() if model.shape else None
            model.apply(frame, None, rate)
            count += before is not None and bool((model._arrays["heads"] != before).any())
        changes.append(count)
    assert changes[1] > 2 * changes[0] > 0


def test_memory_in_seconds_sets_the_learning_interval():
    assert create("norma", memory_s=20, rate_hz=25).learn_interval == round(20 * 25 / 16)
    assert create("olk", memory_s=20, rate_hz=50, slots=100).learn_interval == 10
    assert create("olk", memory_s=0.1).learn_interval == 1


@pytest.mark.parametrize("name", BANKS)
def test_a_grey_frame_may_become_its_own_mask(name):
    video = noisy_video(20, (4, 70), 1)[..., 0]
    rarely = {"learn_every": 16, "warmup": 4} if name in RINGS else {}
    plain, in_place = quick(name, **rarely), quick(name, **rarely)
    for frame in video:
        own = frame.copy()
        assert in_place.apply(own, own) is own
        assert (own == plain.apply(frame)).all()


@pytest.mark.parametrize("name", BANKS)
def test_result_does_not_depend_on_the_number_of_threads(name, monkeypatch):
    monkeypatch.setattr("bgsub._numba.bands._MIN_PIXELS_PER_BAND", 1)
    video = noisy_video(12, SIZE)
    models = [quick(name, threads=threads) for threads in (1, 2, 5, 50)]
    for frame in video:
        for model in models:
            model.apply(frame)
    assert len({tuple(state(model)) for model in models}) == 1


@pytest.mark.parametrize("name", BANKS)
def test_two_detectors_in_two_threads_at_once(name, monkeypatch):
    monkeypatch.setattr("bgsub._numba.bands._MIN_PIXELS_PER_BAND", 1)
    videos = [noisy_video(10 if SMALL else 60, SIZE, seed=seed) for seed in (1, 2)]
    alone = [quick(name, threads=2) for _ in videos]
    for model, video in zip(alone, videos, strict=True):
        for frame in video:
            model.apply(frame)
    together = [quick(name, threads=2) for _ in videos]

    def feed(model, video):
        for frame in video:
            model.apply(frame)

    threads = [threading.Thread(target=feed, args=pair) for pair in zip(together, videos, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [state(model) for model in together] == [state(model) for model in alone]


@pytest.mark.parametrize("name", BANKS)
def test_grey_equals_one_channel(name):
    video = noisy_video(15, SIZE, channels=1)
    grey, column = quick(name), quick(name)
    for frame in video:
        grey.apply(frame[..., 0])
        column.apply(frame)
    assert state(grey) == state(column)


@pytest.mark.parametrize("name", BANKS)
def test_a_pixel_left_out_keeps_its_value(name):
    video = noisy_video(130, (4, 5))
    model = eager(name, **({"slots": 8} if name in RINGS else {}))
    for frame in video[:30]:
        model.learn(frame)
    where = np.ones((4, 5), bool)
    where[1, 2] = False
    before = float(model.score(video[29])[1, 2])
    for frame in video[30:]:
        model.learn(frame, where)
    assert float(model.score(video[29])[1, 2]) == pytest.approx(before, abs=2e-5)


@pytest.mark.parametrize("name", BANKS)
def test_pixels_outside_the_region_store_nothing(name):
    region = np.zeros(SIZE, np.uint8)
    region[:, 4:] = 255
    model = quick(name)
    model.roi = region
    for frame in noisy_video(20, SIZE):
        model.apply(frame)
    assert not any(model._pixel(y, x)[1].any() for y in range(SIZE[0]) for x in range(4))


@pytest.mark.parametrize("form", ["uint8 colour", "uint16 grey", "float32 colour"])
@pytest.mark.parametrize("options", [{}, {"rho_rule": "quantile"}, {"rho_rule": "pooled"}])
@pytest.mark.parametrize("name", BANKS)
def test_a_loaded_model_continues_with_the_same_bits(name, options, form, tmp_path):
    if name != "olk" and options:
        pytest.skip("only olk has rules")
    video = FORMS[form](noisy_video(60, SIZE))
    model = quick(name, **options)
    model.roi = np.arange(SIZE[0] * SIZE[1]).reshape(SIZE) % 5 != 0
    for frame in video[:33]:
        model.apply(frame)
    path = tmp_path / "model.npz"
    model.save(path)
    resumed = bgsub.load(path)
    assert resumed.parameters == model.parameters
    assert (resumed.roi == model.roi).all()
    for frame in video[33:]:
        assert (resumed.apply(frame) == model.apply(frame)).all()
    assert state(resumed) == state(model)
    assert [item.name for item in tmp_path.iterdir()] == ["model.npz"]


@pytest.mark.parametrize("name", OPENCV)
def test_opencv_models_say_what_they_cannot_do(name, tmp_path):
    model = create(name)
    model.apply(noisy_video(1, SIZE)[0])
    with pytest.raises(UnsupportedError, match="cannot save"):
        model.save(tmp_path / "m.npz")
    with pytest.raises(UnsupportedError, match="cannot score without learning"):
        model.score(noisy_video(1, SIZE)[0])
    with pytest.raises(UnsupportedError, match="cannot learn only a part of the frame"):
        model.learn(noisy_video(1, SIZE)[0], np.ones(SIZE, np.uint8))
    if name == "knn":
        with pytest.raises(UnsupportedError, match="cannot be frozen"):
            model.apply(noisy_video(1, SIZE)[0], None, 0)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (np.zeros((4, 5, 3)), "uint8, uint16 or float32, got float64"),
        (np.zeros((4, 5, 2), np.uint8), "shape"),
        (np.zeros((0, 5), np.uint8), "at least one pixel"),
        ([[1, 2]], "numpy array, or have __dlpack__ or __array__, got list"),
        (np.full((4, 5), np.nan, np.float32), "finite"),
        (np.full((4, 5), np.inf, np.float32), "finite"),
    ],
)
def test_bad_frames_are_refused_by_name(name, frame, message):
    with pytest.raises(ValueError, match=f"image must .*{message}"):
        quick(name).apply(frame)


@pytest.mark.parametrize("name", ALL)
def test_every_parameter_has_a_specification_and_its_range_holds(name):
    model = create(name)
    specifications = {item.name: item for item in model.PARAMETERS}
    assert set(model.parameters) == set(specifications)
    for item in specifications.values():
        wrong = "nonsense" if item.choices else ("x" if item.kind in (bool, str) else item.low - 1)
        if wrong == -np.inf:
            wrong = float("nan")
        with pytest.raises(ValueError, match=rf"^{item.name} must be .*got"):
            create(name, **{item.name: wrong})
    with pytest.raises(ValueError, match=f"{name} has no parameter 'colour'"):
        create(name, colour=3)


def test_parameters_that_exclude_each_other():
    with pytest.raises(ValueError, match=r"eta \* lam must be below 1, got 0\.5 \* 3"):
        create("norma", eta=0.5, lam=3)
    with pytest.raises(ValueError, match=r"v must be below C"):
        create("olk", v=0.3, C=0.2)
    with pytest.raises(ValueError, match="detector must be one of adaptive, norma"):
        create("gmm")


def test_white_sets_the_scale_of_values():
    video = noisy_video(30, SIZE)
    eight, twelve = quick("norma"), quick("norma", white=4095.0)
    for frame in video:
        first = eight.apply(frame)
        second = twelve.apply((frame.astype(np.uint32) * 4095 // 255).astype(np.uint16))
    assert (first != second).mean() < 0.02


def test_coefficients_stay_finite_over_many_frames():
    model = create("norma", learn_every=1, warmup=0, lam=1.0, eta=0.3, slots=2)
    video = noisy_video(8, (2, 3))
    for t in range(200 if SMALL else 5000):
        model.apply(video[t % 8])
    assert np.isfinite(model._arrays["coefficients"]).all()
    assert 1e-7 < model._scalars["scale"] <= 1


@pytest.mark.parametrize("name", ALL)
def test_output_arrays_that_cannot_be_filled_are_refused(name):
    model, frame = quick(name), noisy_video(1, SIZE)[0]
    fixed = {"fgmask": np.zeros(SIZE, np.uint8), "score": np.zeros(SIZE, np.float32)}
    for argument, array in fixed.items():
        array.flags.writeable = False
        with pytest.raises(ValueError, match=f"{argument} must be a writable .* got a read-only one"):
            model.apply(frame, **{argument: array})
        assert not array.any()
    for wrong in ([1], np.zeros(SIZE), np.zeros((2, 2), np.float32)):
        with pytest.raises(ValueError, match=r"score must be a writable float32 array of shape .*, got"):
            model.apply(frame, score=wrong)
    assert model.frames_seen == 0
