"""Events: when something moved, where, and what was only light, leaves or a shaken camera."""

from bgsub.events.event import Event, Moment, SceneChange
from bgsub.events.machine import EventMachine
from bgsub.events.measure import Measure
from bgsub.events.observation import Observation, Seen
from bgsub.events.rules import EventRules, Sensitivity

__all__ = [
    "Event",
    "EventMachine",
    "EventRules",
    "Measure",
    "Moment",
    "Observation",
    "SceneChange",
    "Seen",
    "Sensitivity",
]
