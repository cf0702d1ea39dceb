"""OpenCV's MOG2 and KNN behind the detector interface, as yardsticks."""

import abc
from typing import Any

import numpy as np

from bgsub._opencv import cv2
from bgsub._threads import exclusive
from bgsub.detectors.base import Detector
from bgsub.detectors.learning import Learning
from bgsub.detectors.parameters import param, template
from bgsub.frames import Frame, Mask, Score

__all__ = ["Knn", "Mog2"]

HISTORY = template("frames that the model remembers", "[1, inf)", unit="frames")
SHADOWS = template("look for shadows and make them background")
WHITE = template(
    "value of white of uint16 and float32 frames, by default 65535 and 1.0", "[1e-6, 1e12]", group="expert"
)


class _OpenCvDetector(Detector):
    """Base of MOG2 and KNN: frames are converted to uint8, and shadows (127) become background."""

    can_save = False
    can_score = False  # at a rate of 0 MOG2 still reorders its Gaussians, and KNN learns as ever
    can_learn_where = False

    @abc.abstractmethod
    def _create(self) -> Any:
        """Return OpenCV's object."""

    @abc.abstractmethod
    def _set_parameters(self, model: Any) -> None:
        """Set the present parameters in OpenCV's object."""

    def _forget(self) -> None:
        super()._forget()
        self._model: Any = None

    def _start(self, frame: Frame) -> None:
        self._model = self._create()

    def _step(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        rate = 0.0 if learning is None else -1.0 if learning.rate is None else learning.rate
        found = self._model.apply(self._to_uint8(frame), None, rate) == 255
        if mask is not None:
            np.multiply(found, np.uint8(255), out=mask)
        if score is not None:
            score[:] = np.where(found, np.float32(1), np.float32(-1))

    def _to_uint8(self, frame: Frame) -> Frame:
        if frame.dtype == np.uint8:
            return frame
        return np.clip(frame * (255.0 / self._white(frame.dtype)) + 0.5, 0, 255).astype(np.uint8)

    @exclusive
    def change(self, **parameters: Any) -> None:
        """Change parameters of a running model; see `Detector.change`."""
        super().change(**parameters)
        if self._model is not None:
            self._set_parameters(self._model)

    @exclusive
    def background_image(self) -> Frame:
        """Return OpenCV's background image, uint8."""
        self._need_state()
        image: Frame = self._model.getBackgroundImage()
        return image

    @property
    def memory_bytes(self) -> None:
        """None: OpenCV does not report it."""
        return None


class Mog2(_OpenCvDetector):
    """OpenCV's mixture of Gaussians (Zivkovic 2004), with OpenCV's defaults.

    It cannot score without learning: a learning rate of 0 keeps its background nearly, but not to the bit.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    name = "mog2"
    history: int = HISTORY(500)
    var_threshold: float = param(16.0, "squared Mahalanobis distance above which a pixel is foreground", "(0, inf)")
    detect_shadows: bool = SHADOWS(True)
    white: float | None = WHITE(None)

    def _create(self) -> Any:
        return cv2.createBackgroundSubtractorMOG2(
            self._parameters["history"], self._parameters["var_threshold"], self._parameters["detect_shadows"]
        )

    def _set_parameters(self, model: Any) -> None:
        model.setHistory(self._parameters["history"])
        model.setVarThreshold(self._parameters["var_threshold"])
        model.setDetectShadows(self._parameters["detect_shadows"])


class Knn(_OpenCvDetector):
    """OpenCV's k-nearest-neighbours model (Zivkovic and van der Heijden 2006), with OpenCV's defaults.

    It cannot be frozen (OpenCV ignores a learning rate of 0), nor score without learning.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    name = "knn"
    can_freeze = False
    repeatable = False  # samples are drawn by a generator that all models share
    history: int = HISTORY(500)
    dist2_threshold: float = param(400.0, "squared distance to a sample below which it counts as near", "(0, inf)")
    detect_shadows: bool = SHADOWS(True)
    white: float | None = WHITE(None)

    def _create(self) -> Any:
        return cv2.createBackgroundSubtractorKNN(
            self._parameters["history"], self._parameters["dist2_threshold"], self._parameters["detect_shadows"]
        )

    def _set_parameters(self, model: Any) -> None:
        model.setHistory(self._parameters["history"])
        model.setDist2Threshold(self._parameters["dist2_threshold"])
        model.setDetectShadows(self._parameters["detect_shadows"])
