"""Which objects move: they alone are evidence of an event."""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from bgsub.events.approach import Approaches
from bgsub.events.crowd import ACROSS, Crowd
from bgsub.events.observation import Box, Observation, Seen, at_one_border, length, overlap, overlaps, translation
from bgsub.events.rules import EventRules

__all__ = ["LOST_S", "Evidence", "Trail", "overlap", "translation"]

LOST_S = 1.0
"""A trail that was not seen for so long has ended."""

WINDOW_S = 10.0
"""Time within which an object must have travelled."""

_SAMPLE_S = 0.1
"""Least time between two points of a trail: the jitter of a box from frame to frame is no way."""

_OF_ITSELF, _BASE = 0.3, 0.05
"""An object must also travel its own diagonal, as leaves do not; a large one this share of it, and some."""

_PRESENT, _LEAST_FRAMES = 0.7, 4
"""Share of the frames since it appeared in which it must have been seen, and their number: flicker meets itself now
and then."""

_STRAIGHT = 0.5
"""Least ratio of the distance travelled to the length of the way: leaves sway to and fro."""

_ENTRY = 0.06
"""Diagonals of the frame per second at which a thing comes in that counts before it has left the border behind: the
shadows of slow clouds take twice as long and more."""

_RESHAPED = 3.0
"""Ratio of areas in successive frames beyond which two objects have met or parted: that is no movement."""

_STEP = 0.007
"""Distance in diagonals of the frame within `_STEP_S` that shows that something still moves."""
_STEP_S = 1.0

_STILL_S = 1.5
_FADED = 0.8
"""What has not moved for `_STILL_S`, and shrunk to this share of its area, was no object any more: a ghost."""

_LEAST_SCORE = -0.5
"""Mean score below which an object is only what post-processing left of an earlier one."""

_MOST_DIFFUSE = 0.3
"""What lies in surroundings that have changed by more than this share of its own change is light."""


@dataclass(slots=True)
class _Point:
    time_s: float
    box: Box
    way: float
    """Length of the way up to here, in diagonals of the frame."""


@dataclass(slots=True)
class Trail:
    """One object over time."""

    number: int
    born_s: float
    seen: Seen
    seen_s: float
    score: float
    """Mean score of its frames."""
    deadline_s: float
    """When it ends if it is not seen again."""
    diffuse: float = 0.0
    """Mean of how far its surroundings changed as it did."""
    born_frame: int = 0
    frames: int = 1
    points: deque[_Point] = field(default_factory=deque)
    since_s: float | None = None
    """Since when it counts; None if it has not moved enough."""
    moved_s: float = -math.inf
    """When it last moved."""
    moved_area: float = 0.0
    """Its area then."""
    history: list[tuple[Observation, Seen]] = field(default_factory=list)
    """Where it was seen before it counted."""
    approach: list[tuple[Observation, Seen]] = field(default_factory=list)
    """Where it was seen before it had the least area."""
    largest: float = 0.0
    """Its largest area."""
    speed: tuple[float, float] = (0.0, 0.0)
    """Change of the centre of its box per second."""
    whole: "Trail | None" = None
    """The trail that counted from which it parted, if it does not count itself."""

    @property
    def moves(self) -> bool:
        """Whether it moved at the last frame in which it was seen."""
        return self.moved_s == self.seen_s

    @property
    def end_s(self) -> float:
        """When it ended: when it was last seen, or when it last moved if it has faded since."""
        faded = self.seen_s - self.moved_s > _STILL_S and self.seen.area < _FADED * self.moved_area
        return self.moved_s if faded else self.seen_s

    def predict(self, time_s: float) -> Box:
        """Return where its box is expected."""
        x, y, width, height = self.seen.box
        ahead = min(time_s - self.seen_s, LOST_S)
        return x + self.speed[0] * ahead, y + self.speed[1] * ahead, width, height


class Evidence:
    """Follows objects from frame to frame, and tells those that move from those that only flicker.

    Parameters
    ----------
    rules : EventRules
        Sizes, distance and time.
    """

    def __init__(self, rules: EventRules) -> None:
        self._rules = rules
        self._trails: list[Trail] = []
        self._crowd = Crowd()
        self._approaches = Approaches(rules)
        self._number = 0
        self._frame = 0

    @property
    def trails(self) -> list[Trail]:
        """Those that may still go on."""
        return self._trails

    def waiting_since(self) -> float:
        """Return the earliest time from which an object may yet count, as one that has not moved enough so far."""
        undecided = (trail for trail in self._trails if trail.since_s is None)
        begins = (trail.approach[0][0].time_s if trail.approach else self._begin(trail) for trail in undecided)
        return min((*begins, self._approaches.waiting_since()))

    def see(self, observation: Observation) -> list[Trail]:
        """Follow the objects of a frame, and return the trails that have ended."""
        rules, time_s = self._rules, observation.time_s
        self._frame += 1
        objects = [
            seen
            for seen in observation.objects
            if rules.min_area <= seen.area <= rules.max_area and seen.score >= _LEAST_SCORE
        ]
        live = [trail for trail in self._trails if time_s <= trail.deadline_s]
        ended = [trail for trail in self._trails if time_s > trail.deadline_s]
        for trail in ended:
            if trail.since_s is None:
                self._crowd.note(trail)
        before = [(trail, trail.seen.box) for trail in live if trail.since_s is not None]
        pairs = _match(live, objects, time_s)
        for trail, seen in pairs:
            self._extend(trail, seen, observation)
        matched = {id(seen) for _, seen in pairs}
        followed = {id(trail) for trail, _ in pairs}
        lost = [trail for trail in live if id(trail) not in followed and trail.since_s is not None]
        self._trails = live
        for trail in lost:
            self._go_on_as_part(trail, observation)
        for seen in objects:
            if id(seen) not in matched:
                self._start(seen, observation, lost, before)
        self._approaches.see(observation)
        return ended

    def finish(self) -> list[Trail]:
        """Return the trails that the end of the recording ends."""
        ended, self._trails = self._trails, []
        return ended

    def drop_histories(self) -> None:
        """Forget where objects were before they counted."""
        for trail in self._trails:
            if trail.since_s is not None:
                trail.history.clear()

    def resume(self, unseen_s: float) -> None:
        """Go on after a time in which nothing was seen, because the scene changed.

        No object counts for how it moved before: what the change left behind must move again.
        """
        self._crowd.forget()
        self._approaches.forget()
        for trail in self._trails:
            trail.deadline_s += unseen_s
            trail.points.clear()
            if trail.since_s is None:
                trail.born_s, trail.born_frame, trail.frames = trail.seen_s, self._frame, 1
                trail.history.clear()
                trail.approach.clear()

    def _go_on_as_part(self, trail: Trail, observation: Observation) -> None:
        """Let a trail that was lost go on as the part of it that moves, where its outline broke and one piece faded."""
        for part in self._trails:
            here = part.whole is trail and part.since_s is None and part.seen_s == observation.time_s
            if here and part.seen.area * _RESHAPED >= trail.seen.area and self._moves(part, observation):
                self._trails.remove(part)
                trail.points.clear()
                self._extend(trail, part.seen, observation)
                return

    def _start(
        self, seen: Seen, observation: Observation, lost: Iterable[Trail], before: Iterable[tuple[Trail, Box]]
    ) -> None:
        time_s = observation.time_s
        for other in lost:
            # One that moved was lost just here: this is the same, under another outline. A small rest is not.
            same = other.seen_s < time_s and seen.area * _RESHAPED >= other.seen.area
            if same and overlap(other.predict(time_s), seen.box) > 0:
                other.points.clear()
                self._extend(other, seen, observation)
                return
        self._number += 1
        trail = Trail(self._number, time_s, seen, time_s, seen.score, time_s + LOST_S, seen.diffuse, self._frame)
        trail.largest = seen.area
        trail.history.append((observation, seen))
        trail.approach = self._approaches.leading_to(observation, seen)
        wholes = [(overlap(box, seen.box), other.number, other) for other, box in before]
        shared, _, whole = max(wholes, default=(0.0, 0, None))
        trail.whole = whole if shared > 0 else None
        self._trails.append(trail)
        self._add_point(trail, observation)

    def _extend(self, trail: Trail, seen: Seen, observation: Observation) -> None:
        elapsed_s = observation.time_s - trail.seen_s
        reshaped = not 1 / _RESHAPED <= seen.area / trail.seen.area <= _RESHAPED
        if reshaped:
            trail.points.clear()
            trail.speed = (0.0, 0.0)
        elif elapsed_s > 0:
            (x, y), (old_x, old_y) = seen.centre, trail.seen.centre
            trail.speed = (
                0.5 * trail.speed[0] + 0.5 * (x - old_x) / elapsed_s,
                0.5 * trail.speed[1] + 0.5 * (y - old_y) / elapsed_s,
            )
        trail.seen, trail.seen_s = seen, observation.time_s
        trail.deadline_s = observation.time_s + LOST_S
        trail.largest = max(trail.largest, seen.area)
        trail.frames += 1
        trail.score += (seen.score - trail.score) / trail.frames
        trail.diffuse += (seen.diffuse - trail.diffuse) / trail.frames
        self._add_point(trail, observation)
        if trail.since_s is None:
            trail.history.append((observation, seen))
            self._judge(trail, observation)
        if trail.since_s is None:
            return
        trail.whole = None
        if self._moves(trail, observation):
            trail.moved_s, trail.moved_area = trail.seen_s, seen.area

    def _add_point(self, trail: Trail, observation: Observation) -> None:
        points, time_s = trail.points, observation.time_s
        if points and time_s - points[-1].time_s < _SAMPLE_S:
            return
        box = trail.seen.box
        way = points[-1].way + translation(points[-1].box, box, observation.aspect) if points else 0.0
        points.append(_Point(time_s, box, way))
        while time_s - points[0].time_s > WINDOW_S:
            points.popleft()
        if trail.since_s is None:
            begin_s = self._begin(trail)
            if begin_s > trail.born_s:
                trail.approach.clear()
            while trail.history and trail.history[0][0].time_s < begin_s:
                del trail.history[0]

    def _begin(self, trail: Trail) -> float:
        """Return since when a trail counts if it moves now."""
        return max(trail.born_s, trail.seen_s - WINDOW_S)

    def _judge(self, trail: Trail, observation: Observation) -> None:
        """Let a trail count if it has lasted and moved."""
        rules, points = self._rules, trail.points
        if observation.time_s - trail.born_s < rules.min_age_s or trail.score < rules.min_score:
            return
        present = trail.frames >= max(_LEAST_FRAMES, _PRESENT * (self._frame - trail.born_frame + 1))
        if trail.diffuse > _MOST_DIFFUSE or not present:
            return
        if rules.min_travel == 0:
            trail.since_s = self._begin(trail)
            trail.moved_s, trail.moved_area = trail.seen_s, 0.0
            return
        own = length(trail.seen.box[2], trail.seen.box[3], observation.aspect)
        least = max(rules.min_travel, min(own, _BASE + _OF_ITSELF * own))
        last, hidden = points[-1], None
        for point in reversed(points):
            distance = translation(point.box, last.box, observation.aspect)
            if distance >= least and distance >= _STRAIGHT * (last.way - point.way):
                if at_one_border(point.box, last.box) and distance < _ENTRY * (last.time_s - point.time_s):
                    continue
                if distance < ACROSS and hidden is None:
                    hidden = self._crowd.hides(trail.seen, self._trails, observation.time_s, observation.aspect)
                if distance < ACROSS and hidden:
                    continue
                young = observation.time_s - trail.born_s <= WINDOW_S
                trail.since_s = trail.born_s if young else point.time_s
                if young and trail.approach:
                    trail.history[:0] = trail.approach
                    trail.since_s = trail.approach[0][0].time_s
                trail.approach.clear()
                return

    def _moves(self, trail: Trail, observation: Observation) -> bool:
        """Return whether a trail has moved during the last second."""
        for point in reversed(trail.points):
            if observation.time_s - point.time_s > _STEP_S:
                return False
            if translation(point.box, trail.seen.box, observation.aspect) >= _STEP:
                return True
        return False


def _match(trails: list[Trail], objects: list[Seen], time_s: float) -> list[tuple[Trail, Seen]]:
    """Pair trails with objects: those first that overlap most."""
    if not trails or not objects:
        return []
    boxes = np.array([seen.box for seen in objects])
    expected, last = np.array([(trail.predict(time_s), trail.seen.box) for trail in trails]).swapaxes(0, 1)
    shared = np.maximum(overlaps(expected, boxes), overlaps(last, boxes))
    found = [
        (-float(shared[row, column]), row, column)
        for row, column in np.argwhere(shared > 0).tolist()
        if not _is_rest(trails[row], objects[column])
    ]
    pairs: list[tuple[Trail, Seen]] = []
    rows: set[int] = set()
    columns: set[int] = set()
    for _, row, column in sorted(found):
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            pairs.append((trails[row], objects[column]))
    return pairs


def _is_rest(trail: Trail, seen: Seen) -> bool:
    """Return whether an object is what is left of one that did not move."""
    still = trail.since_s is not None and trail.seen_s - trail.moved_s > _STEP_S / 2
    return still and seen.area * _RESHAPED < trail.seen.area
