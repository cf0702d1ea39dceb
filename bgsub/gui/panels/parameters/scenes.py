"""Settings to begin with, by the kind of scene."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bgsub.config import Config
from bgsub.detectors import detector_class

__all__ = ["SCENES", "Scene"]


@dataclass(frozen=True, slots=True)
class Scene:
    """A kind of scene."""

    id: str
    label: str
    advice: str
    """What the settings do, in a sentence."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the adaptive detector; all others have their defaults."""

    def config(self, present: Config) -> Config:
        """Return the settings; learning and frame rate stay as they are.

        Examples
        --------
        >>> SCENES[0].config(Config("norma", {"nu": 0.3})).detector
        'adaptive'
        """
        known = {parameter.name for parameter in detector_class("adaptive").PARAMETERS}
        kept = {name: present.parameters[name] for name in ("rate_hz", "threads") if name in present.parameters}
        parameters = {**{name: value for name, value in kept.items() if name in known}, **self.parameters}
        return replace(Config("adaptive", parameters), learning_rate=present.learning_rate)


# F with these and with the defaults, over the first 700 frames with labels of changedetection.net at each third frame:
# office 0.955 and 0.942, canoe 0.912 and 0.906, fall 0.947 and 0.861, traffic 0.820 and 0.810. Night is not measured.
SCENES = (
    Scene("street", "Street", "The defaults, which suit most outdoor scenes in daylight."),
    Scene(
        "indoors",
        "Indoors, still camera",
        "People who sit or stand stay in the mask for five minutes before they are absorbed, and thin things are kept.",
        {"absorb_s": 300.0, "memory_s": 60.0, "smoothing": 11},
    ),
    Scene(
        "water",
        "Trees and water",
        "Less sensitive and smoother: leaves and waves disappear, and so do very small things.",
        {"threshold": 0.12, "smoothing": 19},
    ),
    Scene(
        "night",
        "Night or thermal",
        "More tolerance for the noise of the camera, and nothing is taken for a shadow.",
        {"width": 36.0, "shadows": True},
    ),
    Scene(
        "pole",
        "Camera on a pole that shakes",
        "Less sensitive and much smoother, so that edges that tremble do not count.",
        {"threshold": 0.1, "smoothing": 21},
    ),
)
