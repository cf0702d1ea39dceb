"""The state machine that turns what frames show into events."""

from collections.abc import Iterable, Sequence

from bgsub.events.event import Event, Moment, SceneChange
from bgsub.events.evidence import Evidence, Trail
from bgsub.events.flood import FloodGuard
from bgsub.events.observation import Observation, Seen
from bgsub.events.rules import EventRules
from bgsub.events.visits import Peak, Visit, join

__all__ = ["EventMachine"]


class EventMachine:
    """Turns what successive frames show into events.

    An object counts from where it set off, once it has lasted and moved; it goes on to count when it stands still. The
    times during which objects count, joined over short gaps, are the events of a region. Changes of the whole scene are
    reported as such. It works on numbers alone, holds nothing but them, and can be pickled between two frames.

    Parameters
    ----------
    rules : EventRules, optional
        What an event is.
    regions : sequence of str
        Names of the regions, each of which has events of its own; without any, the whole frame is one.

    Examples
    --------
    >>> from bgsub.events import Observation, Seen
    >>> machine = EventMachine()
    >>> for number in range(1, 70):
    ...     x = (number - 20) / 50
    ...     objects = [Seen((x, 0.4, 0.1, 0.2), 0.02, score=0.5)] if 20 <= number < 65 else []
    ...     _ = machine.see(Observation(number, number / 25, objects, foreground=0.02 * len(objects)))
    >>> for event in machine.finish():
    ...     print(event.start.number, event.end.number, event.objects)
    20 64 1
    """

    def __init__(self, rules: EventRules | None = None, regions: Sequence[str] = ()) -> None:
        self.rules = rules or EventRules()
        self._evidence = Evidence(self.rules)
        self._guard = FloodGuard(self.rules)
        self._groups = [_Group(self.rules, name) for name in (regions or ("",))]
        self._last: Observation | None = None

    @property
    def active(self) -> list[str]:
        """Names of the regions in which something counts at present; the empty name is the whole frame."""
        return [group.region for group in self._groups if group.active]

    @property
    def since_s(self) -> float | None:
        """Time of the first frame that may belong to an event not reported yet; None if nothing counts."""
        return min((one.since_s for one in self._groups if one.since_s is not None), default=None)

    def see(self, observation: Observation) -> list[Event | SceneChange]:
        """Take the next frame, and return what has become certain with it.

        Raises
        ------
        ValueError
            If its time is not later than that of the frame before.
        """
        if self._last is not None and observation.time_s <= self._last.time_s:
            raise ValueError(f"time_s must rise, got {observation.time_s} after {self._last.time_s}")
        self._last = observation
        change = self._guard.see(observation)
        if self._guard.start_s is not None:
            return []
        if change is not None:
            self._resume(change)
        ended = self._evidence.see(observation)
        found: list[Event | SceneChange] = [] if change is None else [change]
        waiting_s = self._evidence.waiting_since()
        for group in self._groups:
            group.see(observation, self._evidence.trails, ended)
            found += group.complete(observation.time_s, waiting_s)
        self._evidence.drop_histories()
        return found

    def finish(self) -> list[Event | SceneChange]:
        """Return what the end of the recording makes certain. The machine can go on with another recording."""
        last, self._last = self._last, None
        change = None if last is None else self._guard.finish(last)
        found: list[Event | SceneChange] = [] if change is None else [change]
        ended = self._evidence.finish()
        for group in self._groups:
            found += group.finish(ended)
        self._evidence, self._guard = Evidence(self.rules), FloodGuard(self.rules)
        return found

    def _resume(self, change: SceneChange) -> None:
        unseen_s = change.end.time_s - change.start.time_s
        self._evidence.resume(unseen_s)
        for group in self._groups:
            group.note_change(change)


class _Group:
    """Events of one region that are not complete yet."""

    def __init__(self, rules: EventRules, region: str) -> None:
        self._rules = rules
        self.region = region
        self._visits: list[Visit] = []
        self._live: dict[int, Visit] = {}
        """Visits that may still go on, by the number of their trail."""
        self._changes: list[tuple[float, float]] = []
        self._free_s = float("-inf")
        """Until when no event may begin."""

    @property
    def active(self) -> bool:
        return bool(self._live)

    @property
    def since_s(self) -> float | None:
        return min((visit.start.time_s for visit in self._visits), default=None)

    def see(self, observation: Observation, trails: Iterable[Trail], ended: Iterable[Trail]) -> None:
        """Note which objects are in the region."""
        for trail in ended:
            self._end(trail)
        here: list[tuple[Visit, Seen]] = []
        for trail in trails:
            if trail.since_s is None or trail.seen_s < observation.time_s:
                continue
            if trail.history:
                self._replay(trail)
            if self._counts(observation, trail.seen):
                here.append((self._visit(trail, observation, trail.seen), trail.seen))
        if here:
            self._note_peak(observation, here)

    def complete(self, time_s: float, waiting_s: float) -> list[Event]:
        """Return the events that nothing can change any more; `waiting_s` is when an undecided object began."""
        for number, visit in list(self._live.items()):
            if self._gap(visit.last.time_s, time_s) > max(self._rules.merge_gap_s, 1.0):
                visit.settle()  # it has left the region
                visit.over = True
                del self._live[number]
        if not self._visits or self._live:
            return []
        end_s = max(visit.sure.last.time_s for visit in self._visits)
        if self._gap(end_s, min(time_s, waiting_s)) <= self._rules.merge_gap_s:
            return []
        return self._close()

    def finish(self, ended: Iterable[Trail]) -> list[Event]:
        """Return the events that the end of the recording ends."""
        for trail in ended:
            self._end(trail)
        found = self._close() if self._visits else []
        self._free_s = float("-inf")
        return found

    def note_change(self, change: SceneChange) -> None:
        """Note a time in which nothing could be seen."""
        self._changes.append((change.start.time_s, change.end.time_s))

    def _replay(self, trail: Trail) -> None:
        """Note where an object was before it counted."""
        for observation, seen in trail.history[:-1]:
            if self._counts(observation, seen) and trail.since_s is not None and observation.time_s >= trail.since_s:
                visit = self._visit(trail, observation, seen)
                visit.note_peak(Peak(Moment.of(observation), seen.area, (seen.box,), seen.score))

    def _counts(self, observation: Observation, seen: Seen) -> bool:
        if self.region and self.region not in seen.regions:
            return False
        share = observation.shares.get(self.region, 0.0) if self.region else observation.foreground
        return share >= self._rules.threshold

    def _visit(self, trail: Trail, observation: Observation, seen: Seen) -> Visit:
        visit = self._live.get(trail.number)
        if visit is None:
            visit = Visit.begin(trail, observation, seen)
            self._live[trail.number] = visit
            self._visits.append(visit)
        visit.see(observation, seen, moves=trail.moves)
        return visit

    def _note_peak(self, observation: Observation, here: list[tuple[Visit, Seen]]) -> None:
        area = sum(seen.area for _, seen in here)
        score = sum(seen.area * seen.score for _, seen in here) / area if area else 0.0
        boxes = tuple(seen.box for _, seen in here)
        peak = Peak(Moment.of(observation), area, boxes, min(max(score, 0.0), 1.0))
        for visit, _ in here:
            visit.note_peak(peak)

    def _end(self, trail: Trail) -> None:
        visit = self._live.pop(trail.number, None)
        if visit is not None:
            visit.close(trail)

    def _gap(self, start_s: float, end_s: float) -> float:
        """Return the time between two moments, without that in which nothing could be seen."""
        unseen_s = sum(max(0.0, min(end_s, end) - max(start_s, start)) for start, end in self._changes)
        return end_s - start_s - unseen_s

    def _close(self) -> list[Event]:
        visits = sorted(self._visits, key=lambda visit: visit.start.time_s)
        runs: list[list[Visit]] = []
        end_s = float("-inf")
        for visit in visits:
            if runs and self._gap(end_s, visit.start.time_s) <= self._rules.merge_gap_s:
                runs[-1].append(visit)
            else:
                runs.append([visit])
            end_s = max(end_s, visit.sure.last.time_s)
        self._visits, self._changes = [], []
        self._live.clear()
        events = []
        for run in runs:
            event = _make_event(self.region, run)
            if event.duration_s >= self._rules.min_length_s and event.start.time_s >= self._free_s:
                events.append(event)
                self._free_s = event.end.time_s + self._rules.cooldown_s
        return events


def _make_event(region: str, visits: Sequence[Visit]) -> Event:
    union = visits[0].sure.union
    for visit in visits:
        union = join(union, visit.sure.union)
    peak = max((visit.sure.peak for visit in visits if visit.sure.peak), key=lambda peak: peak.share)
    return Event(
        region=region,
        start=visits[0].start,
        end=max((visit.sure.last for visit in visits), key=lambda moment: moment.time_s),
        peak=peak.moment,
        share=peak.share,
        boxes=peak.boxes,
        union=union,
        objects=len({visit.object for visit in visits}),
        score=min(max(peak.score, 0.0), 1.0),
    )
