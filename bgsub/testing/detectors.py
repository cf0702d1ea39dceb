"""The contract of a detector, as a function."""

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._numba import JIT_ENABLED
from bgsub.detectors import model_file
from bgsub.detectors.base import LOWEST_SCORE, Detector
from bgsub.errors import BgsubError, UnsupportedError
from bgsub.testing._require import require, require_error

__all__ = ["CHECKS", "check_detector"]

Make = Callable[..., Detector]
"""Makes a detector; keywords change its parameters."""
Video = NDArray[np.uint8]

_SIZE = (24, 31)
_FORMS: dict[str, Callable[[Video], NDArray[Any]]] = {
    "uint8 colour": lambda video: video,
    "uint8 grey": lambda video: video[..., 0],
    "uint16 colour": lambda video: video.astype(np.uint16) * 257,
    "uint16 grey": lambda video: video[..., 1].astype(np.uint16) * 257,
    "float32 colour": lambda video: video.astype(np.float32) / np.float32(255),
    "float32 grey": lambda video: video[..., 2].astype(np.float32) / np.float32(255),
}


def check_detector(kind: type[Detector], **parameters: Any) -> None:
    """Check that a detector keeps the contract of `Detector`, on small generated videos.

    Every form of frame is tried, and what goes in and out of `apply`, `score` and `learn`; that a rate of 0 keeps the
    very bits and a rate of 1 starts again; that `where` and the region of interest are respected; that wrong values,
    frames and rates are refused by name and change nothing; that a saved model continues with the same bits; that the
    number of threads changes nothing, and two detectors do not disturb each other. What the class says it cannot do
    must raise UnsupportedError.

    Parameters
    ----------
    kind : type
        The class.
    **parameters
        Of its constructor, such as a short warm-up.

    Raises
    ------
    AssertionError
        If the detector breaks the contract; the message says where.

    Examples
    --------
    >>> from bgsub.detectors.norma import Norma
    >>> check_detector(Norma, learn_every=2, warmup=4)
    """

    def make(**changed: Any) -> Detector:
        return kind(**(parameters | changed))

    for check in CHECKS.values():
        check(make)


def _noisy_video(frames: int, size: tuple[int, int] = _SIZE, seed: int = 0) -> Video:
    """Return a base colour per pixel with noise of sigma 6, and 10 % outliers: (T, H, W, 3) uint8."""
    generator = np.random.default_rng(seed)
    base = generator.integers(60, 160, (*size, 3))
    video = np.clip(base + generator.normal(0, 6, (frames, *size, 3)), 0, 255)
    outliers = generator.random((frames, *size)) < 0.1
    video[outliers] = generator.integers(0, 256, (int(outliers.sum()), 3))
    return np.asarray(video, np.uint8)


def _bits(model: Detector) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model.state.items()}


def _square(frame: NDArray[Any]) -> NDArray[Any]:
    """Return the frame with a white square that covers most of its height."""
    frame = frame.copy()
    frame[4:20, 6:22] = 1.0 if frame.dtype == np.float32 else np.iinfo(frame.dtype).max
    return frame


def _check_names(make: Make) -> None:
    model = make()
    require(isinstance(getattr(model, "name", None), str) and model.name, "a detector must have a name")
    require(model.shape is None and model.dtype is None, "nothing may be known of frames before the first")
    require(not model.memory_bytes, "a constructor must allocate nothing")
    with require_error(BgsubError, "the background of an empty model must raise BgsubError"):
        model.background_image()
    for item in model.PARAMETERS:
        require(item.check(item.default) == item.default, f"the default of {item.name} must lie in its range")
        wrong: Any = "nonsense" if item.choices or item.kind is bool else float("nan") if item.kind is not str else 3
        with require_error(ValueError, f"a wrong value of {item.name} must raise ValueError"):
            make(**{item.name: wrong})
    with require_error(ValueError, "a parameter that does not exist must raise ValueError"):
        make(no_such_parameter=1)


def _check_masks(make: Make) -> None:
    for form in _FORMS if JIT_ENABLED else ("uint8 colour", "float32 grey"):  # plain Python takes a second per form
        model, video = make(), _FORMS[form](_noisy_video(40))
        allowed = {0, 127, 255} if model.reports_shadows else {0, 255}
        for frame in video:
            before = frame.copy()
            mask = model.apply(frame)
            require(mask.shape == _SIZE and mask.dtype == np.uint8, f"{form}: a mask must be (H, W) uint8")
            require(set(np.unique(mask).tolist()) <= allowed, f"{form}: a mask may only hold {sorted(allowed)}")
            require(np.array_equal(frame, before), f"{form}: a frame must not be written")
        found = model.apply(_square(video[-1]))[8:16, 10:18]
        require((found == 255).mean() > 0.5, f"{form}: a large white square must be foreground")


def _check_background(make: Make) -> None:
    generator = np.random.default_rng(0)
    # Smooth, since a detector may look at fewer pixels than there are.
    down, right = np.linspace(0, 1, _SIZE[0])[:, None, None], np.linspace(0, 1, _SIZE[1])[:, None]
    scene = (30 + 190 * (0.5 * down + 0.5 * np.abs(right - (0.0, 0.5, 1.0)))).round().astype(int)
    model = make()
    for _ in range(40):
        model.apply(np.clip(scene + generator.normal(0, 4, scene.shape), 0, 255).astype(np.uint8))
    background = model.background_image()
    require(background.shape == scene.shape, "the background must have the frames' shape")
    require(background.dtype == np.uint8, "the background must have the frames' dtype")
    require(np.abs(background.astype(int) - scene).mean() < 8, "the background must be close to a still scene")
    require(np.array_equal(model.getBackgroundImage(), background), "getBackgroundImage must return the background")


def _check_fgmask(make: Make) -> None:
    video = _noisy_video(20)
    model, given = make(), np.full(_SIZE, 7, np.uint8)
    require(model.apply(video[0], given) is given, "a mask that fits must be filled and returned")
    require(7 not in given, "all of a given mask must be filled")
    require(model.apply(video[1], np.zeros((3, 3), np.uint8)).shape == _SIZE, "a mask that does not fit is replaced")
    if not model.repeatable:
        return
    plain, in_place = make(), make()
    for frame in video[..., 0]:
        own = frame.copy()
        in_place.apply(own, own)
        require(np.array_equal(own, plain.apply(frame)), "a grey frame may become its own mask")


def _check_repeatable(make: Make) -> None:
    first, second = make(), make()
    if not first.repeatable:
        return
    for frame in _noisy_video(30):
        require(np.array_equal(first.apply(frame), second.apply(frame)), "the same frames must give the same bits")


def _check_frozen(make: Make) -> None:
    model, video = make(), _noisy_video(20)
    for frame in video[:10]:
        model.apply(frame)
    if not model.can_freeze:
        with require_error(UnsupportedError, "a rate of 0 must raise UnsupportedError where can_freeze is false"):
            model.apply(video[10], None, 0)
        return
    before = _bits(model)
    for frame in video[10:]:
        model.apply(frame, None, 0)
        model.background_image()
    require(_bits(model) == before, "a rate of 0 and background_image must keep the very bits")


def _check_score(make: Make) -> None:
    fused, parts, video = make(), make(), _noisy_video(24)
    if not fused.can_score:
        fused.apply(video[0])
        with require_error(UnsupportedError, "score must raise UnsupportedError where can_score is false"):
            fused.score(video[0])
        return
    for index, frame in enumerate(video):
        filled = np.empty(_SIZE, np.float32)
        mask = fused.apply(frame, score=filled)
        score = parts.score(frame)
        before = _bits(parts)
        require(np.array_equal(parts.score(frame), score) and _bits(parts) == before, "score must only read")
        parts.learn(frame)
        require(score.dtype == np.float32 and score.shape == _SIZE, "a score must be (H, W) float32")
        require(np.array_equal(filled, score), "apply must give the scores that score gives")
        require(bool((score <= 1).all()), "a score must be at most 1")
        require(_bits(fused) == _bits(parts), "apply must learn as score and learn do")
        if index >= fused.parameters.get("warmup", 0) and not fused.own_postprocess:
            agree = (mask[score > 1e-5] == 255).all() and (mask[score < -1e-5] == 0).all()
            require(agree, "foreground must be where the score is positive")


def _check_restart(make: Make) -> None:
    model, fresh, video = make(), make(), _noisy_video(12)
    if not model.repeatable:
        return
    for frame in video[:10]:
        model.apply(frame)
    again = model.apply(video[10], None, 1)
    require(np.array_equal(again, fresh.apply(video[10])), "a rate of 1 must start again from the frame")
    require(_bits(model) == _bits(fresh), "a rate of 1 must forget all that was learned")


def _check_where(make: Make) -> None:
    model, video = make(), _noisy_video(60)
    model.apply(video[0])
    where = np.ones(_SIZE, np.bool_)
    if not model.can_learn_where:
        with require_error(UnsupportedError, "where must raise UnsupportedError where can_learn_where is false"):
            model.learn(video[1], where)
        return
    plain, everywhere, excluding = make(), make(), make()
    for frame in video[:20]:
        plain.learn(frame)
        everywhere.learn(frame, where)
        excluding.learn(frame)
    for name, array in plain.state.items():
        if len(array) > 1:
            require(np.array_equal(array, everywhere.state[name]), "where that is true everywhere must change nothing")
    where[9:12, 7:11] = False
    _check_left_out(make, video[20:40], where)
    if model.can_score:
        frame = video[19]
        before = excluding.score(frame)[9:12, 7:11]
        for later in video[20:]:
            excluding.learn(later, where)
        after = excluding.score(frame)[9:12, 7:11]
        require(np.allclose(before, after, rtol=1e-3, atol=1e-3), "pixels left out by where must keep their model")


def _check_left_out(make: Make, video: Video, where: NDArray[np.bool_]) -> None:
    """Check that apply leaves pixels out as learn does, and marks those that are known to be foreground."""
    applied, learned, known = make(), make(), make()
    for frame in video:
        score = np.empty(_SIZE, np.float32)
        mask = applied.apply(frame, where=where)
        marked = known.apply(frame, score=score, knownForegroundMask=~where)
        learned.learn(frame, where)
        if applied.repeatable and applied.can_score:
            require(_bits(applied) == _bits(learned), "apply must learn by where as learn does")
            require(_bits(known) == _bits(learned), "apply must not learn from known foreground")
            require(np.array_equal(mask[where], marked[where]), "known foreground must change no other pixel's mask")
        require(bool((marked[~where] == 255).all()), "known foreground must be foreground in the mask")
        require(bool((score[~where] == 1).all()), "known foreground must have a score of 1")


def _check_region(make: Make) -> None:
    model, video = make(), _noisy_video(20)
    region = np.ones(_SIZE, np.bool_)
    region[:, :5] = False
    model.roi = region
    for frame in video:
        mask = model.apply(_square(frame) if frame is video[-1] else frame)
        require(not mask[:, :5].any(), "nothing outside the region may be foreground")
    if model.can_score:
        require((model.score(video[0])[:, :5] == LOWEST_SCORE).all(), "the score outside the region must be the lowest")
    with require_error(ValueError, "a region of another size must raise ValueError"):
        model.roi = np.ones((3, 3), np.bool_)


def _check_bad_frames(make: Make) -> None:
    video = _FORMS["float32 colour"](_noisy_video(6))
    model = make()
    for frame in video:
        model.apply(frame)
    before = _bits(model)
    broken = video[0].copy()
    broken[1, 1, 1] = np.nan
    bad = [broken, video[0].astype(np.float64), video[0][:-1], video[0][..., 0], video[0][..., :2], video[0].tolist()]
    for frame in bad:
        with require_error(ValueError, "a frame of wrong kind, shape or content must raise ValueError"):
            model.apply(frame)
    for rate in (1.5, float("nan"), "fast", None, True):
        with require_error(ValueError, f"a learning rate of {rate!r} must raise ValueError"):
            model.apply(video[0], None, rate)  # type: ignore[arg-type]
    require(_bits(model) == before, "what is refused must leave the model as it was")
    model.reset()
    require(model.apply(np.zeros((6, 9), np.uint16)).shape == (6, 9), "after reset, frames may have another shape")


def _check_extremes(make: Make) -> None:
    for frame in (np.zeros((1, 1), np.uint8), np.full((1, 7, 3), 255, np.uint8), np.zeros((9, 1, 3), np.float32)):
        model = make()
        for _ in range(12):
            mask = model.apply(frame)
        require(not mask.any(), f"a still scene of shape {frame.shape} must become background")


def _check_saved(make: Make) -> None:
    for form in ("uint8 colour", "uint16 grey", "float32 colour") if JIT_ENABLED else ("uint16 grey",):
        model, video = make(), _FORMS[form](_noisy_video(40))
        model.roi = np.arange(_SIZE[0] * _SIZE[1]).reshape(_SIZE) % 5 != 0
        for frame in video[:23]:
            model.apply(frame)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.npz"
            if not model.can_save:
                with require_error(UnsupportedError, "save must raise UnsupportedError where can_save is false"):
                    model.save(path)
                return
            model.save(path)
            saved = model_file.read(path)
        require(saved.detector == model.name, "a saved model must name its detector")
        resumed = type(model)(**saved.parameters)
        resumed.restore(saved)
        for frame in video[23:]:
            require(
                np.array_equal(resumed.apply(frame), model.apply(frame)), f"{form}: a loaded model must go on alike"
            )
        require(_bits(resumed) == _bits(model), f"{form}: a loaded model must keep the same bits")


def _check_threads(make: Make) -> None:
    # Frames that are worth a second thread, unless compiled functions run as plain Python, pixel by pixel.
    video = _noisy_video(8, (160, 300) if JIT_ENABLED else _SIZE)
    if not make().repeatable:
        return
    if "threads" in make().parameters:
        models = [make(threads=threads) for threads in (1, 2)]
        for frame in video:
            one, two = (model.apply(frame) for model in models)
            require(np.array_equal(one, two), "masks must not depend on the number of threads")
    alone, together = make(), [make(), make()]

    def feed(model: Detector) -> None:
        for frame in video:
            model.apply(frame)

    feed(alone)
    threads = [threading.Thread(target=feed, args=(model,)) for model in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same = all(_bits(model) == _bits(alone) for model in together)
    require(same, "two detectors in two threads must not disturb each other")


CHECKS: dict[str, Callable[[Make], None]] = {
    "names": _check_names,
    "masks": _check_masks,
    "background": _check_background,
    "repeatable": _check_repeatable,
    "fgmask": _check_fgmask,
    "frozen": _check_frozen,
    "score": _check_score,
    "restart": _check_restart,
    "where": _check_where,
    "region": _check_region,
    "bad frames": _check_bad_frames,
    "extremes": _check_extremes,
    "saved": _check_saved,
    "threads": _check_threads,
}
"""The parts of the contract, for tests that want to name the one that is broken."""
