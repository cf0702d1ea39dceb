"""Per-pixel detectors over whole frames, by name."""

import importlib
from pathlib import Path
from typing import Any

from bgsub.detectors import model_file
from bgsub.detectors.base import Detector
from bgsub.detectors.kernel_bank import KernelBank
from bgsub.errors import ModelFileError

__all__ = ["DETECTORS", "Detector", "create", "detector_class", "load"]

DETECTORS = {
    "adaptive": "bgsub.detectors.adaptive.detector:Adaptive",
    "norma": "bgsub.detectors.norma:Norma",
    "olk": "bgsub.detectors.olk:Olk",
    "mog2": "bgsub.detectors.opencv:Mog2",
    "knn": "bgsub.detectors.opencv:Knn",
}
"""Name of each detector and where its class is; imported when first asked for."""


def detector_class(name: str) -> type[Detector]:
    """Return the class of a detector.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    if name not in DETECTORS:
        raise ValueError(f"detector must be one of {', '.join(DETECTORS)}, got {name!r}")
    module, _, attribute = DETECTORS[name].partition(":")
    found: type[Detector] = getattr(importlib.import_module(module), attribute)
    return found


def create(name: str = "adaptive", **parameters: Any) -> Detector:
    """Make a detector.

    Parameters
    ----------
    name : {"adaptive", "norma", "olk", "mog2", "knn"}
        Which one; `bgsub detectors` describes them.
    **parameters
        Of its constructor.

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
    ValueError: norma has no parameter 'slot'; it has slots, width, learn_every, ...
    """
    found = detector_class(name)
    known = [parameter.name for parameter in found.PARAMETERS]
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name} has no parameter {parameter!r}; it has {', '.join(known)}")
    return found(**parameters)


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
    header, arrays = model_file.read(path)
    try:
        detector = create(header["detector"], **header["parameters"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a valid model ({error}); learn and save it again") from error
    if changed:
        detector = create(header["detector"], **(header["parameters"] | changed))
    if not isinstance(detector, KernelBank):
        raise ModelFileError(f"{path} is not a valid model: {detector.name} cannot be saved; learn and save it again")
    try:
        detector.restore(path, header, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is not a valid model ({error}); learn and save it again") from error
    return detector
