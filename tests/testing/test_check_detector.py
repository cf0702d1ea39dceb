"""`check_detector` passes a sound detector and notices each broken promise."""

import numpy as np
import pytest

from bgsub.detectors import TwoStepDetector, param
from bgsub.errors import UnsupportedError
from bgsub.testing import check_detector


class Difference(TwoStepDetector):
    """Foreground differs from the mean of the last frames."""

    name = "difference"
    threshold: float = param(40.0, "difference of foreground, where 255 is white", "(0, inf)")
    rate: float = param(0.1, "share of the mean that a frame replaces", "(0, 1]")

    def _start(self, frame):
        self._arrays["mean"] = frame.astype(np.float32)

    def _score(self, frame):
        gap = np.abs(frame - self._arrays["mean"])
        gap = gap if frame.ndim == 2 else gap.max(2)
        level = np.float32(self.threshold * self._white(frame.dtype) / 255)
        return 1 - level / np.maximum(gap, np.float32(1e-6))

    def _learn(self, frame, learning):
        mean = self._arrays["mean"]
        rate = np.float32(self.rate if learning.rate is None else learning.rate)
        may = ... if learning.where is None else learning.where != 0
        mean[may] += rate * (frame[may] - mean[may])

    def background_image(self):
        self._need_state()
        return self._arrays["mean"].astype(self._dtype)


def broken(**changed):
    """Return the sound detector with something changed."""
    return type("Broken", (Difference,), changed)


def learn_all(self, frame, learning):
    self._arrays["mean"] += np.float32(0.1) * (frame - self._arrays["mean"])


def write_frame(self, frame):
    frame.flat[0] ^= frame.dtype.type(1) if frame.dtype.kind == "u" else 0
    return Difference._score(self, frame)


def learn_while_scoring(self, frame):
    score = Difference._score(self, frame)
    self._arrays["mean"] += 1
    return score


def random_score(self, frame):
    return Difference._score(self, frame) + np.float32(np.random.default_rng().random() / 10 - 0.1)


def hidden_state(self, frame, learning):
    Difference._learn(self, frame, learning)
    self.hidden = getattr(self, "hidden", 0) + 1
    if self.hidden == 30:
        self._arrays["mean"].flat[0] += 1


def unchecked(self, image, argument):
    return Difference._accept(self, np.nan_to_num(np.asarray(image)), argument)


DEFECTS = {
    "constructor": {"_forget": lambda self: (Difference._forget(self), self._arrays.update(a=np.zeros(9)))},
    "frame must not be written": {"_score": write_frame},
    "white square": {"_score": lambda self, frame: np.full(frame.shape[:2], -1, np.float32)},
    "background must have": {"background_image": lambda self: (self._need_state(), self._arrays["mean"])[1]},
    "background must be close": {"background_image": lambda self: Difference.background_image(self) // 2},
    "empty model": {"background_image": lambda self: self._arrays.get("mean", np.zeros((3, 3))).astype(np.uint8)},
    "same bits|same frames": {"_score": random_score},
    "only read|very bits": {"_score": learn_while_scoring},
    "at most 1": {"_score": lambda self, frame: Difference._score(self, frame) + 1},
    "left out by where": {"_learn": learn_all},
    "as the saved one does|same bits": {"_learn": hidden_state},
    "must raise ValueError": {"_accept": unchecked},
    "UnsupportedError where can_save": {"can_save": False, "save": lambda self, path: None},
    "must become background": {"_score": lambda self, frame: np.full(frame.shape[:2], 0.5, np.float32)},
}


def test_a_sound_detector_passes():
    check_detector(Difference)
    check_detector(Difference, threshold=60.0)


def test_a_detector_may_say_what_it_cannot_do():
    limited = broken(can_save=False, can_score=False, can_freeze=False, can_learn_where=False, repeatable=False)
    check_detector(limited)
    model = limited()
    model.apply(np.zeros((4, 5), np.uint8))
    with pytest.raises(UnsupportedError, match="difference cannot save"):
        model.save("model.npz")


@pytest.mark.parametrize("message", DEFECTS)
def test_a_broken_promise_is_noticed(message):
    with pytest.raises(AssertionError, match=message):
        check_detector(broken(**DEFECTS[message]))
