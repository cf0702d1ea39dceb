"""What is too small to be an object yet: a thing that enters, or comes nearer, was there before it was large enough."""

import math
from dataclasses import dataclass, field

from bgsub.events.observation import Box, Observation, Seen, overlap, translation
from bgsub.events.rules import FAINT, EventRules

__all__ = ["Approaches"]

_MEMORY_S = 3.0
"""Time for which small things are remembered; events wait as long for what they may become."""

_GAP_S = 0.35
"""A small thing that was not seen for so long has ended: a frame may be missing at six per second."""

_LEAST, _STRAIGHT, _PRESENT = 0.01, 0.7, 0.7
"""Diagonals of the frame that it must have come, least ratio of this distance to the length of its way, and share of
the frames in which it must have been seen: noise flickers in its place."""


@dataclass(slots=True)
class _Small:
    """One small thing over time."""

    steps: list[tuple[Observation, Seen]] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)

    @property
    def last(self) -> tuple[Observation, Seen]:
        return self.steps[-1]

    def predict(self, time_s: float) -> Box:
        """Return where its box is expected."""
        observation, seen = self.last
        if len(self.steps) < 2:
            return seen.box
        before, earlier = self.steps[-2]
        ahead = (time_s - observation.time_s) / (observation.time_s - before.time_s)
        x = seen.box[0] + ahead * (seen.centre[0] - earlier.centre[0])
        return x, seen.box[1] + ahead * (seen.centre[1] - earlier.centre[1]), seen.box[2], seen.box[3]


class Approaches:
    """Follows things of a quarter of the least area and more, for three seconds.

    Parameters
    ----------
    rules : EventRules
        The least area, and the least score.
    """

    def __init__(self, rules: EventRules) -> None:
        self._rules = rules
        self._things: list[_Small] = []
        self._frame = 0

    def waiting_since(self) -> float:
        """Return the earliest time from which one of them may yet count."""
        return min((thing.steps[0][0].time_s for thing in self._things), default=math.inf)

    def forget(self) -> None:
        """Forget all: the scene has changed."""
        self._things.clear()

    def see(self, observation: Observation) -> None:
        """Follow the small things of a frame."""
        time_s, rules = observation.time_s, self._rules
        self._frame += 1
        self._things = [thing for thing in self._things if time_s - thing.last[0].time_s <= _GAP_S]
        free = list(self._things)
        for seen in observation.objects:
            if not FAINT * rules.min_area <= seen.area < rules.min_area or seen.score < rules.min_score:
                continue
            thing = self._nearest(free, seen, time_s)
            if thing is None:
                thing = _Small()
                self._things.append(thing)
            else:
                free.remove(thing)
            thing.steps.append((observation, seen))
            thing.frames.append(self._frame)
            while time_s - thing.steps[0][0].time_s > _MEMORY_S:
                del thing.steps[0], thing.frames[0]

    def leading_to(self, observation: Observation, seen: Seen) -> list[tuple[Observation, Seen]]:
        """Return where an object was while it was too small, from where it set off; nothing if it did not come near.

        To be called before `see` gets the frame in which the object is first seen.
        """
        near = [thing for thing in self._things if observation.time_s - thing.last[0].time_s <= _GAP_S]
        thing = self._nearest(near, seen, observation.time_s)
        if thing is None:
            return []
        self._things.remove(thing)
        way, after, first = 0.0, seen.box, len(thing.steps)
        for i in range(len(thing.steps) - 1, -1, -1):
            box = thing.steps[i][1].box
            way += translation(box, after, observation.aspect)
            after = box
            distance = translation(box, seen.box, observation.aspect)
            present = len(thing.steps) - i >= _PRESENT * (self._frame + 1 - thing.frames[i])
            if distance >= max(_LEAST, _STRAIGHT * way) and present:
                first = i
        return thing.steps[first:]

    @staticmethod
    def _nearest(things: list[_Small], seen: Seen, time_s: float) -> _Small | None:
        """Return the thing whose box meets that of an object most."""
        best, most = None, 0.0
        for thing in things:
            shared = max(overlap(thing.predict(time_s), seen.box), overlap(thing.last[1].box, seen.box))
            if shared > most:
                best, most = thing, shared
        return best
