"""OpenCV's MOG2 and KNN behind the detector interface, as yardsticks."""

import abc
from typing import Any

import numpy as np

from bgsub import stages
from bgsub._opencv import cv2
from bgsub._threads import exclusive
from bgsub.detectors.base import Detector
from bgsub.detectors.learning import Learning
from bgsub.detectors.opencv.names import FixedShadowValue
from bgsub.detectors.parameters import param, template
from bgsub.errors import UnsupportedError
from bgsub.frames import Frame, Mask, Score, check_mask

__all__ = ["Knn", "Mog2"]

HISTORY = template("frames that the model remembers", "[1, inf)", unit="frames")
SHADOWS = template("look for shadows and make them background")
SHADOW_THRESHOLD = template("how dark a shadow may be, as a share of the background", "(0, 1]", group="expert")
WHITE = template(
    "value of white of uint16 and float32 frames, by default 65535 and 1.0", "[1e-6, 1e12]", group="expert"
)


_SKIPS_KNOWN = "knownForegroundMask" in (cv2.BackgroundSubtractor.apply.__doc__ or "")


class _OpenCvDetector(FixedShadowValue, Detector):
    """Base of MOG2 and KNN: frames are converted to uint8, and shadows (127) become background."""

    SHADOW_VALUE = 0
    STAGES = (stages.RAW, stages.SHADOWS)
    can_save = False
    can_score = False  # at a rate of 0 MOG2 still reorders its Gaussians, and KNN learns as ever
    can_learn_where = False

    @abc.abstractmethod
    def _create(self) -> Any:
        """Return OpenCV's object."""

    def _forget(self) -> None:
        super()._forget()
        self._model: Any = None

    def _start(self, frame: Frame) -> None:
        self._model = self._create()
        self._set_parameters()

    def _step(self, frame: Frame, mask: Mask | None, score: Score | None, learning: Learning | None) -> None:
        rate = 0.0 if learning is None else -1.0 if learning.rate is None else learning.rate
        marked = self._apply(self._to_uint8(frame), rate, None if learning is None else learning.where)
        found = marked == 255
        if mask is not None:
            np.multiply(found, np.uint8(255), out=mask)
        if self.trace is not None:
            self.trace.keep(stages.RAW, np.where(marked != 0, np.uint8(255), np.uint8(0)))  # shadows are marked by 127
            self.trace.keep(stages.SHADOWS, marked)
        if score is not None:
            score[:] = np.where(found, np.float32(1), np.float32(-1))

    def _apply(self, frame: Frame, rate: float, where: Mask | None) -> Mask:
        """Return OpenCV's mask."""
        mask: Mask = self._model.apply(frame, None, rate)
        return mask

    def _to_uint8(self, frame: Frame) -> Frame:
        if frame.dtype == np.uint8:
            return frame
        return np.clip(frame * (255.0 / self._white(frame.dtype)) + 0.5, 0, 255).astype(np.uint8)

    @exclusive
    def change(self, **parameters: Any) -> None:
        """Change parameters of a running model; see `Detector.change`."""
        super().change(**parameters)
        if self._model is not None:
            self._set_parameters()

    def _set_parameters(self) -> None:
        """Set the present parameters in OpenCV's object."""
        for name, parameter in self.OPENCV_NAMES.items():
            getattr(self._model, f"set{name}")(self._parameters[parameter])

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
    shadow_threshold: float = SHADOW_THRESHOLD(0.5)
    nmixtures: int = param(5, "Gaussians per pixel", "[1, 255]", shapes_state=True, group="expert")
    background_ratio: float = param(0.9, "share of the weights that is background", "(0, 1]", group="expert")
    var_threshold_gen: float = param(
        9.0, "squared Mahalanobis distance above which a colour begins a Gaussian", "(0, inf)", group="expert"
    )
    var_init: float = param(15.0, "variance of a new Gaussian", "(0, inf)", group="expert")
    var_min: float = param(4.0, "least variance", "(0, inf)", group="expert")
    var_max: float = param(75.0, "greatest variance", "(0, inf)", group="expert")
    reduction_threshold: float = param(
        0.05, "weight that a Gaussian must earn to be kept, by the history", "[0, 1]", group="expert"
    )
    white: float | None = WHITE(None)

    OPENCV_NAMES = {  # noqa: RUF012 - nobody writes to it
        "History": "history",
        "VarThreshold": "var_threshold",
        "DetectShadows": "detect_shadows",
        "ShadowThreshold": "shadow_threshold",
        "NMixtures": "nmixtures",
        "BackgroundRatio": "background_ratio",
        "VarThresholdGen": "var_threshold_gen",
        "VarInit": "var_init",
        "VarMin": "var_min",
        "VarMax": "var_max",
        "ComplexityReductionThreshold": "reduction_threshold",
    }

    def _create(self) -> Any:
        return cv2.createBackgroundSubtractorMOG2()

    def _check_pixels(self, pixels: Any, size: tuple[int, int], name: str) -> Mask | None:
        if pixels is None or name != "knownForegroundMask":
            return super()._check_pixels(pixels, size, name)
        if not _SKIPS_KNOWN:
            raise UnsupportedError(f"OpenCV {cv2.__version__} has no {name}; install OpenCV 5 or leave it out")
        return check_mask(pixels, size, name)

    def _apply(self, frame: Frame, rate: float, where: Mask | None) -> Mask:
        if where is None:
            return super()._apply(frame, rate, None)
        mask: Mask = self._model.apply(frame, knownForegroundMask=np.bitwise_not(where), learningRate=rate)
        return mask


class Knn(_OpenCvDetector):
    """OpenCV's k-nearest-neighbours model (Zivkovic and van der Heijden 2006), with OpenCV's defaults.

    It cannot be frozen (OpenCV ignores a learning rate of 0), nor score without learning. It refuses a
    knownForegroundMask: OpenCV 5.0 marks that foreground, but learns it all the same.

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
    shadow_threshold: float = SHADOW_THRESHOLD(0.5)
    n_samples: int = param(
        7, "samples that each of three memories has per pixel", "[1, 100]", shapes_state=True, group="expert"
    )
    knn_samples: int = param(2, "near samples that make a pixel background", "[1, 100]", group="expert")
    white: float | None = WHITE(None)

    OPENCV_NAMES = {  # noqa: RUF012 - nobody writes to it
        "History": "history",
        "Dist2Threshold": "dist2_threshold",
        "DetectShadows": "detect_shadows",
        "ShadowThreshold": "shadow_threshold",
        "NSamples": "n_samples",
        "kNNSamples": "knn_samples",
    }

    def _create(self) -> Any:
        return cv2.createBackgroundSubtractorKNN()
