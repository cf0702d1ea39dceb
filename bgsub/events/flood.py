"""The guard against changes of the whole scene, which are no events: a light switch, a camera knock."""

from collections import deque

from bgsub.events.event import Moment, SceneChange
from bgsub.events.observation import Observation
from bgsub.events.rules import EventRules

__all__ = ["FloodGuard"]

_AT_ONCE_S = 0.35
"""Time within which a scene changes: a frame or two, and as long for fast cameras."""

_SPREAD, _SPREAD_RISE, _SHARE_RISE = 0.7, 0.4, 0.05
"""Foreground all over the frame is a change of the scene, too, even if it is thin: all edges after a knock."""

_SHIFT, _NEW_OBJECTS, _SHIFT_SPREAD = 0.004, 4, 0.12
"""A smaller knock: the image as a whole moves, and objects appear in several places at once."""

_LEAST_S = 0.5
"""Time after any change in which nothing is believed."""

_CALM_SHARE, _CALM_SPREAD = 0.1, 0.25
"""How much more foreground than before there may be when the detector has got over it."""

_LIGHT = 6.0
"""Grey levels by which the brightness of a frame jumps if the light was switched."""

_SWITCHED = 0.35
"""Share of the brightness that comes or goes at once where the light is switched: the detector may know both lights,
and see no foreground. Automatic exposure changed by at most 0.25 on recordings."""


class FloodGuard:
    """Tells from the foreground of successive frames when all of the scene has changed.

    Parameters
    ----------
    rules : EventRules
        `flood_share` and `recovery_s`.
    """

    def __init__(self, rules: EventRules) -> None:
        self._rules = rules
        self._recent: deque[Observation] = deque()
        self._before: Observation | None = None
        """The last normal frame; None if this is a normal time."""
        self._start: Moment | None = None
        self._share = 0.0
        self._jump = 0.0
        self._light = 0.0

    @property
    def start_s(self) -> float | None:
        """When the present change began; None in normal times."""
        return None if self._start is None else self._start.time_s

    def see(self, observation: Observation) -> SceneChange | None:
        """Take the next frame, and return the change that it ends."""
        if self._before is None:
            self._watch(observation)
            return None
        return self._wait(observation, self._before)

    def finish(self, last: Observation) -> SceneChange | None:
        """Return the change that the end of the recording ends."""
        return None if self._start is None else self._report(last, recovered=False)

    def _watch(self, observation: Observation) -> None:
        recent = self._recent
        while len(recent) > 2 and observation.time_s - recent[0].time_s > _AT_ONCE_S:
            recent.popleft()
        if recent:
            before = min(recent, key=lambda one: one.foreground)
            rise = observation.foreground - before.foreground
            flood = self._rules.flood_share
            jumped = observation.foreground >= flood and rise >= flood / 2 and observation.spread >= _SPREAD
            everywhere = observation.spread >= max(_SPREAD, before.spread + _SPREAD_RISE) and rise >= _SHARE_RISE
            if jumped or everywhere or self._switched(observation) or self._knocked(observation):
                self._before, self._start = before, Moment.of(observation)
                self._share, self._light, self._jump = observation.foreground, recent[0].light, 0.0
                self._note(observation)
                recent.clear()
                return
        recent.append(observation)

    def _switched(self, observation: Observation) -> bool:
        light = observation.light
        return any(abs(light - one.light) >= max(_LIGHT, _SWITCHED * max(light, one.light)) for one in self._recent)

    def _knocked(self, observation: Observation) -> bool:
        recent = self._recent
        shift = max(observation.shift, max(one.shift for one in recent))
        objects = self._count(observation) - min(self._count(one) for one in recent)
        spread = observation.spread - min(one.spread for one in recent)
        return shift >= _SHIFT and objects >= _NEW_OBJECTS and spread >= _SHIFT_SPREAD

    def _count(self, observation: Observation) -> int:
        return sum(seen.area >= self._rules.min_area for seen in observation.objects)

    def _wait(self, observation: Observation, before: Observation) -> SceneChange | None:
        self._note(observation)
        calm = (
            observation.foreground <= before.foreground + _CALM_SHARE
            and observation.spread <= before.spread + _CALM_SPREAD
        )
        passed_s = observation.time_s - (self.start_s or 0.0)
        if (calm and passed_s >= _LEAST_S) or passed_s >= self._rules.recovery_s:
            return self._report(observation, recovered=calm)
        return None

    def _note(self, observation: Observation) -> None:
        self._share = max(self._share, observation.foreground)
        self._jump = max(self._jump, abs(observation.light - self._light))

    def _report(self, observation: Observation, *, recovered: bool) -> SceneChange:
        start = self._start or Moment.of(observation)
        cause = "light" if self._jump >= _LIGHT else "camera"
        self._before = self._start = None
        return SceneChange(start, Moment.of(observation), self._share, cause, recovered)
