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


# F with these and with the defaults: indoors, office .967 and .967, HallAndMonitor .951 and .958, both too short for
# those who stay to be absorbed; water, canoe .927 and .947, fall .962 and .946. Night is not measured.
SCENES = (
    Scene("street", "Street", "The defaults, which suit most outdoor scenes by day, on a pole that shakes as well."),
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
)
