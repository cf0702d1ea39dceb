"""Per-pixel detectors over whole frames, by name."""

from pathlib import Path
from typing import Any

from bgsub._plugins import Registry
from bgsub.detectors import model_file
from bgsub.detectors.base import Detector
from bgsub.detectors.learning import Learning
from bgsub.detectors.opencv.names import translate_keywords
from bgsub.detectors.parameters import Parameter, param
from bgsub.detectors.two_step import TwoStepDetector
from bgsub.errors import ModelFileError

__all__ = [
    "DETECTORS",
    "Detector",
    "Learning",
    "Parameter",
    "TwoStepDetector",
    "create",
    "detector_class",
    "load",
    "param",
]

DETECTORS: Registry[Detector] = Registry(
    "bgsub.detectors",
    Detector,  # type: ignore[type-abstract]
    {
        "adaptive": "bgsub.detectors.adaptive.detector:Adaptive",
        "norma": "bgsub.detectors.norma:Norma",
        "olk": "bgsub.detectors.olk:Olk",
        "mog2": "bgsub.detectors.opencv.models:Mog2",
        "knn": "bgsub.detectors.opencv.models:Knn",
    },
)
"""Names of all detectors, the default first; those of other packages come by entry points of `bgsub.detectors`."""


def detector_class(name: str) -> type[Detector]:
    """Return the class of a detector.

    Raises
    ------
    ValueError
        If there is none of that name.
    DependencyError
        If another package promises it, but it cannot be imported or is no detector of that name.
    """
    if name not in DETECTORS:
        raise ValueError(f"detector must be one of {', '.join(DETECTORS)}, got {name!r}")
    return DETECTORS.load(name)


def create(name: str = "adaptive", **parameters: Any) -> Detector:
    """Make a detector.

    Parameters
    ----------
    name : str
        One of `DETECTORS`: adaptive, norma, olk, mog2, knn, and those that other packages add; `bgsub detectors`
        describes them.
    **parameters
        Of its constructor; those of mog2 and knn also under OpenCV's names, such as varThreshold.

    Returns
    -------
    Detector
        With `apply`, `score`, `learn`, `background_image`, `save`.

    Raises
    ------
    ValueError
        If there is no such detector or parameter, or a value is out of range.

    Examples
    --------
    >>> create("norma", slots=4).parameters["slots"]
    4
    >>> create("norma", slot=4)
    Traceback (most recent call last):
    ValueError: norma has no parameter 'slot'; it has slots, ...
    """
    kind = detector_class(name)
    return kind(**translate_keywords(kind, parameters))


def load(path: str | Path, **changed: Any) -> Detector:
    """Read a model that `save` wrote; it continues with the bits it would have had without the interruption.

    Parameters
    ----------
    path : str or Path
        The npz file.
    **changed
        Parameters to change, such as threads=1; those that shape the state (slots, rho_rule) cannot be.

    Returns
    -------
    Detector
        Of the saved kind.

    Raises
    ------
    ModelFileError
        If the file is missing, damaged, no model, or of another version.
    ValueError
        If a changed parameter is out of range.
    """
    path = Path(path)
    model = model_file.read(path)
    try:
        detector = create(model.detector, **model.parameters)
        if not detector.can_save:
            raise ValueError(f"{detector.name} cannot be saved")
        detector.restore(model)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a valid model ({error}); learn and save it again") from error
    detector.change(**changed)
    return detector
