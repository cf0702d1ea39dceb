"""OpenCV's names for what detectors have: getters and setters, and keywords of its create functions."""

import abc
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from bgsub.frames import Frame

__all__ = ["FixedShadowValue", "FrameMemory", "OpenCvNames", "explain_missing", "translate_keywords"]

_PROPERTIES = (
    *("BackgroundRatio", "ComplexityReductionThreshold", "DetectShadows", "Dist2Threshold", "History", "NMixtures"),
    *("NSamples", "ShadowThreshold", "ShadowValue", "VarInit", "VarMax", "VarMin", "VarThreshold", "VarThresholdGen"),
    "kNNSamples",
)
"""All that `cv2.BackgroundSubtractorMOG2` and `cv2.BackgroundSubtractorKNN` get and set."""


class OpenCvNames(abc.ABC):
    """OpenCV's names for what every detector does, and getters and setters for parameters that OpenCV has, too."""

    name: ClassVar[str]
    OPENCV_NAMES: ClassVar[Mapping[str, str]] = {}
    """Parameters by OpenCV's names: ``{"VarThreshold": "var_threshold"}`` makes getVarThreshold, setVarThreshold."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, parameter in vars(cls).get("OPENCV_NAMES", {}).items():
            for accessor in (_getter(parameter), _setter(parameter)):
                accessor.__name__ = f"{accessor.__name__}{name}"
                accessor.__qualname__ = f"{cls.__qualname__}.{accessor.__name__}"
                setattr(cls, accessor.__name__, accessor)

    @property
    @abc.abstractmethod
    def frames_seen(self) -> int:
        """Number of frames learned."""

    @abc.abstractmethod
    def background_image(self) -> Frame:
        """Return the most likely background."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Forget everything that was learned."""

    def getBackgroundImage(self) -> Frame:  # noqa: N802, as OpenCV calls it
        """Return `background_image()`, under the name OpenCV gives it."""
        return self.background_image()

    def clear(self) -> None:
        """Forget everything, under the name OpenCV gives it."""
        self.reset()

    def empty(self) -> bool:
        """Return whether nothing was learned yet."""
        return self.frames_seen == 0

    def getDefaultName(self) -> str:  # noqa: N802, as OpenCV calls it
        """Return a name like that of OpenCV's, ``BackgroundSubtractor_MOG2``."""
        return f"BackgroundSubtractor_{self.name.upper()}"

    if not TYPE_CHECKING:  # else every misspelt name would pass

        def __getattr__(self, name: str) -> Any:
            missing = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(explain_missing(type(self), name) or missing, name=name, obj=self)


def _getter(parameter: str) -> Callable[..., Any]:
    def get(self: Any) -> Any:
        return self.parameters[parameter]

    get.__doc__ = f"Return the parameter `{parameter}`."
    return get


def _setter(parameter: str) -> Callable[..., Any]:
    def set(self: Any, value: Any) -> None:  # noqa: A001 - the beginning of its name
        self.change(**{parameter: value})

    set.__doc__ = f"Change the parameter `{parameter}`, as `change` does."
    return set


def explain_missing(kind: Any, name: str) -> str | None:
    """Return why a detector lacks an accessor that OpenCV's subtractors have; None for any other name.

    Examples
    --------
    >>> from bgsub.detectors import detector_class
    >>> explain_missing(detector_class("norma"), "setVarThreshold")[:54]
    'norma has no setVarThreshold, which means nothing here'
    """
    if name[:3] not in ("get", "set") or name[3:] not in _PROPERTIES:
        return None
    known = ", ".join(parameter.name for parameter in kind.PARAMETERS)
    return f"{kind.name} has no {name}, which means nothing here; change() sets its parameters: {known}"


def translate_keywords(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword parameters with those under the names of OpenCV's create functions under ours.

    Parameters
    ----------
    kind : type of Detector
        Whose parameters they are.
    values : mapping
        Such as ``{"varThreshold": 25.0}``.

    Raises
    ------
    ValueError
        If one is given under both names.

    Examples
    --------
    >>> from bgsub.detectors import detector_class
    >>> translate_keywords(detector_class("mog2"), {"varThreshold": 25.0, "history": 200})
    {'var_threshold': 25.0, 'history': 200}
    """
    ours = {name[0].lower() + name[1:]: parameter for name, parameter in kind.OPENCV_NAMES.items()}
    translated: dict[str, Any] = {}
    for name, value in values.items():
        parameter = ours.get(name, name)
        if parameter in translated or (parameter != name and parameter in values):
            raise ValueError(f"{name} and {parameter} are one parameter of {kind.name}; give one of them")
        translated[parameter] = value
    return translated


class FixedShadowValue:
    """For detectors whose masks mark shadows by one value that cannot be chosen."""

    SHADOW_VALUE: ClassVar[int]
    name: ClassVar[str]

    def getShadowValue(self) -> int:  # noqa: N802, as OpenCV calls it
        """Return the value of shadows in masks."""
        return self.SHADOW_VALUE

    def setShadowValue(self, value: int) -> None:  # noqa: N802, as OpenCV calls it
        """Accept the value that shadows have anyway.

        Raises
        ------
        ValueError
            If it is another.
        """
        if value != self.SHADOW_VALUE:
            raise ValueError(f"value must be {self.SHADOW_VALUE}, as {self.name} marks shadows, got {value!r}")


class FrameMemory:
    """For detectors that remember for `memory_s` seconds: the same in frames, which OpenCV calls the history."""

    parameters: Any
    change: Callable[..., None]

    def getHistory(self) -> int:  # noqa: N802, as OpenCV calls it
        """Return `memory_s` times `rate_hz`: about how many frames a colour is remembered."""
        return round(float(self.parameters["memory_s"]) * float(self.parameters["rate_hz"]))

    def setHistory(self, history: int) -> None:  # noqa: N802, as OpenCV calls it
        """Change `memory_s` to the time of so many frames.

        Raises
        ------
        ValueError
            If it is not a number of frames, at least 1.
        """
        if isinstance(history, bool) or not isinstance(history, int | float) or not history >= 1:
            raise ValueError(f"history must be a number of frames, at least 1, got {history!r}")
        self.change(memory_s=history / self.parameters["rate_hz"])
