"""OpenCV's MOG2 and KNN behind the detector interface, as yardsticks."""

import abc
from pathlib import Path
from typing import Any

import numpy as np

from bgsub._opencv import cv2
from bgsub.detectors.base import LOWEST_SCORE, Detector
from bgsub.detectors.parameters import Parameter
from bgsub.errors import UnsupportedError
from bgsub.frames import Frame, Mask, Score

__all__ = ["Knn", "Mog2"]

_HISTORY = Parameter("history", int, "frames that the model remembers", 1, unit="frames")
_SHADOWS = Parameter("detect_shadows", bool, "look for shadows and take them for background")
_WHITE = Parameter(
    "white",
    float,
    "value of white of uint16 and float32 frames, by default 65535 and 1.0",
    0,
    low_open=True,
    optional=True,
)


class _OpenCvDetector(Detector):
    """What MOG2 and KNN share: frames become uint8, shadows (127) become background."""

    can_save = False

    _model: Any = None

    @abc.abstractmethod
    def _create(self) -> Any:
        """Return OpenCV's object."""

    def _start(self, frame: Frame) -> None:
        self._model = self._create()

    def _step(self, frame: Frame, rate: float, where: Mask | None, mask: Mask | None, score: Score | None) -> None:
        if where is not None:
            raise UnsupportedError(f"OpenCV's {self.name} cannot learn only a part of the frame; leave out where")
        if mask is None and rate == 0:  # at a rate of 0 MOG2 still reorders its Gaussians, and KNN learns as ever
            raise UnsupportedError(f"OpenCV's {self.name} cannot score without learning; use norma or olk")
        found = self._model.apply(self._to_uint8(frame), None, rate)
        found = np.where(found == 255, np.uint8(255), np.uint8(0))
        if self._roi is not None:
            found = np.bitwise_and(found, self._roi)
        if mask is not None:
            mask[:] = found
        if score is not None:
            score[:] = np.where(found != 0, np.float32(1), np.float32(-1))
            if self._roi is not None:
                score[self._roi == 0] = LOWEST_SCORE

    def _to_uint8(self, frame: Frame) -> Frame:
        if frame.dtype == np.uint8:
            return frame
        white = self._parameters["white"] or (65535.0 if frame.dtype == np.uint16 else 1.0)
        return np.clip(frame * (255.0 / white) + 0.5, 0, 255).astype(np.uint8)

    def change(self, **parameters: Any) -> None:
        """Change parameters of a running model; they count from the next frame on. See `Detector.change`."""
        super().change(**parameters)
        if self._model is not None:
            self._tell(self._model)

    @abc.abstractmethod
    def _tell(self, model: Any) -> None:
        """Give OpenCV's object the present parameters."""

    def background_image(self) -> Frame:
        """Return OpenCV's background image, uint8."""
        self._need_state()
        image: Frame = self._model.getBackgroundImage()
        return image

    def reset(self) -> None:
        """Forget everything that was learned."""
        super().reset()
        self._model = None

    def save(self, path: str | Path) -> None:
        """Raise UnsupportedError: OpenCV does not give its learned model away."""
        raise UnsupportedError(f"OpenCV's {self.name} cannot save what it learned; use norma or olk")

    @property
    def memory_bytes(self) -> None:
        """None: OpenCV does not tell."""
        return None


class Mog2(_OpenCvDetector):
    """OpenCV's mixture of Gaussians (Zivkovic 2004), with OpenCV's defaults.

    It cannot score without learning: a learning rate of 0 keeps its background nearly, but not to the bit.

    Parameters
    ----------
    history : int
        Frames that the model remembers.
    var_threshold : float
        Squared Mahalanobis distance above which a pixel is foreground.
    detect_shadows : bool
        Look for shadows and take them for background.
    white : float, optional
        Value of white of uint16 and float32 frames.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    name = "mog2"
    PARAMETERS = (
        _HISTORY,
        Parameter("var_threshold", float, "squared Mahalanobis distance of foreground", 0, low_open=True),
        _SHADOWS,
        _WHITE,
    )

    def __init__(
        self,
        *,
        history: int = 500,
        var_threshold: float = 16.0,
        detect_shadows: bool = True,
        white: float | None = None,
    ) -> None:
        super().__init__(history=history, var_threshold=var_threshold, detect_shadows=detect_shadows, white=white)

    def _create(self) -> Any:
        return cv2.createBackgroundSubtractorMOG2(
            self._parameters["history"], self._parameters["var_threshold"], self._parameters["detect_shadows"]
        )

    def _tell(self, model: Any) -> None:
        model.setHistory(self._parameters["history"])
        model.setVarThreshold(self._parameters["var_threshold"])
        model.setDetectShadows(self._parameters["detect_shadows"])


class Knn(_OpenCvDetector):
    """OpenCV's k-nearest-neighbours model (Zivkovic and van der Heijden 2006), with OpenCV's defaults.

    It cannot be frozen (OpenCV ignores a learning rate of 0), nor score without learning.

    Parameters
    ----------
    history : int
        Frames that the model remembers.
    dist2_threshold : float
        Squared distance to a sample below which it counts as near.
    detect_shadows : bool
        Look for shadows and take them for background.
    white : float, optional
        Value of white of uint16 and float32 frames.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    name = "knn"
    can_freeze = False
    PARAMETERS = (
        _HISTORY,
        Parameter("dist2_threshold", float, "squared distance of a near sample", 0, low_open=True),
        _SHADOWS,
        _WHITE,
    )

    def __init__(
        self,
        *,
        history: int = 500,
        dist2_threshold: float = 400.0,
        detect_shadows: bool = True,
        white: float | None = None,
    ) -> None:
        super().__init__(history=history, dist2_threshold=dist2_threshold, detect_shadows=detect_shadows, white=white)

    def _create(self) -> Any:
        return cv2.createBackgroundSubtractorKNN(
            self._parameters["history"],
            self._parameters["dist2_threshold"],
            self._parameters["detect_shadows"],
        )

    def _tell(self, model: Any) -> None:
        model.setHistory(self._parameters["history"])
        model.setDist2Threshold(self._parameters["dist2_threshold"])
        model.setDetectShadows(self._parameters["detect_shadows"])

    def _step(self, frame: Frame, rate: float, where: Mask | None, mask: Mask | None, score: Score | None) -> None:
        if rate == 0 and mask is not None:
            raise UnsupportedError("OpenCV's knn cannot be frozen; use norma, olk or mog2")
        super()._step(frame, rate, where, mask, score)
