"""Made sequences of observations."""

from collections.abc import Callable, Iterable, Iterator

from bgsub.events import Event, EventMachine, EventRules, Observation, SceneChange, Seen

RATE_HZ = 25.0

Place = Callable[[float], Iterable[Seen]]


def frames(seconds: float, *places: Place, light: Callable[[float], float] | None = None) -> Iterator[Observation]:
    """Yield what is seen at 25 frames per second; each place returns the objects at a time."""
    for i in range(round(seconds * RATE_HZ)):
        time_s = i / RATE_HZ
        objects = [seen for place in places for seen in place(time_s)]
        foreground = sum(seen.area for seen in objects)
        spread = min(1.0, sum(seen.box[2] * seen.box[3] for seen in objects) + 0.02 * len(objects))
        brightness = 100.0 if light is None else light(time_s)
        shares = {name: foreground for seen in objects for name in seen.regions}
        yield Observation(i + 1, time_s, objects, foreground, spread, brightness, shares=shares)


def walk(
    start: float, end: float, *, row: float = 0.4, score: float = 0.6, size: float = 0.15, regions: tuple[str, ...] = ()
) -> Place:
    """Return an object that crosses the frame from left to right between two times."""

    def place(time_s: float) -> list[Seen]:
        if not start <= time_s <= end:
            return []
        x = (time_s - start) / (end - start) * (1 - size)
        return [Seen((x, row, size, 2 * size), size * size, score, 0.0, regions)]

    return place


def blob(box: tuple[float, float, float, float], start: float, end: float, *, score: float = 0.6) -> Place:
    """Return something that stays in its place."""
    return lambda time_s: [Seen(box, box[2] * box[3], score)] if start <= time_s <= end else []


def run(
    observations: Iterable[Observation], rules: EventRules | None = None, regions: tuple[str, ...] = ()
) -> tuple[list[Event], list[SceneChange]]:
    """Return the events and the changes of the scene."""
    machine = EventMachine(rules, regions)
    found = [one for observation in observations for one in machine.see(observation)] + machine.finish()
    events = [one for one in found if isinstance(one, Event)]
    return events, [one for one in found if isinstance(one, SceneChange)]


def times(events: Iterable[Event]) -> list[tuple[float, float]]:
    """Return when events begin and end, in seconds."""
    return [(round(event.start.time_s, 2), round(event.end.time_s, 2)) for event in events]
