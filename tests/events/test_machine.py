"""What is an event and what is not, on made sequences."""

import json
import math
import pickle

import numpy as np
import pytest

from bgsub.events import Event, EventMachine, EventRules, Observation, Seen
from tests.events.made import RATE_HZ, blob, frames, run, times, walk


def test_an_object_that_crosses_is_one_event_with_its_first_and_last_frame():
    (event,), changes = run(frames(10, walk(2, 5)))
    assert times([event]) == [(2.0, 5.0)]
    assert (event.start.number, event.end.number, event.objects) == (51, 126, 1)
    assert event.share == pytest.approx(0.0225)
    assert event.score == pytest.approx(0.6)
    assert event.union == pytest.approx((0.0, 0.4, 1.0, 0.3))
    assert not changes


def test_what_stays_in_its_place_is_no_event_unless_no_way_is_asked_for():
    place = blob((0.3, 0.3, 0.2, 0.2), 1, 8)
    assert run(frames(10, place))[0] == []
    assert times(run(frames(10, place), EventRules(min_travel=0))[0]) == [(1.0, 8.0)]


def nearing(start, end, *, area=None):
    """Return somebody who comes nearer, until a hundred times as large: on a way, unless `area` says how it grows."""

    def place(time_s):
        if not start <= time_s <= end:
            return []
        share = (time_s - start) / (end - start)
        side = 0.01 * 10**share
        return [Seen((0.2 + 0.5 * share, 0.3, side, 2 * side), side * side if area is None else area(share), 0.6)]

    return place


def test_an_event_begins_when_a_thing_that_comes_nearer_is_first_followed_not_when_it_is_large():
    large_s = next(one.time_s for one in frames(12, nearing(2, 10)) if any(s.area >= 0.002 for s in one.objects))
    followed_s = next(one.time_s for one in frames(12, nearing(2, 10)) if any(s.area >= 0.0005 for s in one.objects))
    assert followed_s + 2 < large_s < followed_s + 3  # seconds for which it is remembered
    assert times(run(frames(12, nearing(2, 10)), EventRules(min_area=0.002))[0]) == [(round(followed_s, 2), 10.0)]


@pytest.mark.parametrize("away", ["still", "sways", "elsewhere", "seldom"])
def test_what_is_small_and_does_not_come_begins_no_event(away):
    def small(time_s):
        x = {"sways": 0.2 + 0.02 * math.sin(9 * time_s), "elsewhere": 0.8 - 0.03 * time_s}.get(away, 0.2)
        if away == "seldom":
            x -= 0.01 * (4 - time_s)
        shown = time_s < 4 and (away != "seldom" or round(25 * time_s) % 8 == 0)
        return [Seen((x, 0.3, 0.03, 0.06), 0.001, 0.6)] if shown else []

    def large(time_s):
        x = 0.2 + 0.1 * (time_s - 4)
        return [Seen((x, 0.3, 0.06, 0.12), 0.005, 0.6)] if 4 <= time_s <= 8 else []

    (event,) = run(frames(12, small, large), EventRules(min_area=0.002))[0]
    half_a_swing_s = math.pi / 9
    assert 4.0 - (half_a_swing_s if away == "sways" else 0.0) <= event.start.time_s <= 4.0
    assert event.end.time_s == 8.0


def test_small_things_keep_events_from_being_reported_for_seconds_only():
    rules, small = EventRules(min_area=0.002), blob((0.2, 0.05, 0.03, 0.06), 0, 40)

    def grown(time_s):
        """Return what comes near and then stays, without ever counting."""
        x = 0.7 + 0.02 * min(time_s, 1.0)
        return [Seen((x, 0.05, 0.03, 0.06), 0.001 if time_s < 1 else 0.0025, 0.6)]

    for place, latest_s in ((small, 5 + 1.2 + 3.1), (grown, 5 + 1.2 + 10.1)):
        machine = EventMachine(rules)
        reported = [(one.time_s, found) for one in frames(40, walk(2, 5), place) for found in machine.see(one)]
        assert [times([found]) for _, found in reported] == [[(2.0, 5.0)]]
        assert reported[0][0] <= latest_s


def test_a_light_that_is_switched_is_a_change_of_the_scene_though_the_detector_knows_both_lights():
    def light(time_s):
        return 60.0 if 4 <= time_s < 6 else 120.0

    events, changes = run(frames(10, walk(1, 9), light=light))
    assert times(events) == [(1.0, 9.0)]
    assert [(change.start.time_s, change.cause, change.share < 0.5) for change in changes] == [
        (4.0, "light", True),
        (6.0, "light", True),
    ]
    assert run(frames(10, light=lambda time_s: 120.0 - 10 * time_s))[1] == []  # dusk


def test_leaves_that_sway_are_no_event():
    def leaf(time_s):
        x = 0.4 + 0.025 * math.sin(5 * time_s)
        return [Seen((x, 0.3, 0.06, 0.06), 0.003, 0.6)]

    assert run(frames(60, leaf))[0] == []


def gust(time_s):
    """Leaves: 40 small things, each of which slides a little way for half a second, and comes again elsewhere."""
    leaves = []
    for i in range(40):
        turn, age_s = divmod(time_s + 0.0137 * i, 0.6)
        place = np.random.default_rng((i, int(turn)))
        if age_s < 0.5:
            way = (
                0.09 * age_s / 0.5 if place.random() < 0.15 else 0.0
            )  # only some slide so far as to be taken for objects
            x, y = place.random(2) * 0.5
            leaves.append(Seen((0.2 + x + way, 0.2 + y, 0.03, 0.05), 0.001, 0.5))
    return leaves


def test_leaves_that_slide_among_many_that_come_to_nothing_are_no_event():
    slide = [Seen((0.4 + 0.09 * i / 12, 0.4, 0.03, 0.05), 0.001, 0.5) for i in range(13)]

    def alone(time_s):
        return [slide[round((time_s - 20) * 25)]] if 20 <= time_s <= 20.48 else []

    rules = EventRules(min_length_s=0.3)
    assert len(run(frames(30, alone), rules)[0]) == 1
    assert run(frames(30, alone, gust), rules)[0] == []


def test_whoever_is_larger_than_the_leaves_or_crosses_or_leaves_them_behind_is_an_event():
    large = walk(10, 14, size=0.12)
    assert times(run(frames(20, gust, large))[0]) == [(10.0, 14.0)]
    small = walk(10, 14, row=0.05, size=0.03)  # as small as they are, and beside them
    (event,) = run(frames(20, gust, small))[0]
    assert (event.start.time_s, event.end.time_s) == (10.0, 14.0)


def test_leaves_do_not_hide_what_is_elsewhere():
    def far(time_s):
        return [Seen((0.93, 0.1 + 0.04 * (time_s - 5), 0.03, 0.05), 0.001, 0.5)] if 5 <= time_s <= 8 else []

    assert times(run(frames(20, gust, far))[0]) == [(5.0, 8.0)]


@pytest.mark.parametrize(
    ("width", "speed", "expected"), [(1.0, 0.04, []), (1.0, 0.1, [(2, 10)]), (0.1, 0.04, [(2, 10)])]
)
def test_what_grows_in_slowly_from_the_border_counts_once_it_has_left_it(width, speed, expected):
    def place(time_s):
        left = 1 - speed * (time_s - 2)
        shown = min(width, 1 - left)
        return [Seen((left, 0.3, shown, 0.2), shown * 0.2, 0.4)] if 2 < time_s <= 10 else []

    found = run(frames(13, place))[0]
    assert [(round(event.start.time_s), round(event.end.time_s)) for event in found] == expected


def test_flicker_all_over_the_frame_is_no_event():
    numbers = np.random.default_rng(1)

    def rain(time_s):
        return [Seen((numbers.random() * 0.9, numbers.random() * 0.9, 0.03, 0.05), 0.001, 0.5) for _ in range(20)]

    assert run(frames(20, rain))[0] == []


def test_an_object_counts_while_it_stands_still():
    def place(time_s):
        if not 1 <= time_s <= 21:
            return []
        x = 0.1 + 0.15 * min(2.0, time_s - 1) + 0.15 * max(0.0, time_s - 19)
        return [Seen((x, 0.3, 0.1, 0.4), 0.03, 0.7)]

    events, _ = run(frames(25, place))
    assert times(events) == [(1.0, 21.0)]


@pytest.mark.parametrize(("speed", "end_s"), [(0.04, 6.0), (0.0, 4.4)])
def test_an_object_that_breaks_goes_on_as_the_piece_that_moves(speed, end_s):
    """The piece under which it is followed fades; the other goes too short a way to count for itself."""

    def breaking(time_s):
        if time_s < 4:
            return [Seen((0.15 + 0.1 * time_s, 0.4, 0.15, 0.15), 0.02, 0.6)]
        rest = [Seen((0.57, 0.4, 0.1, 0.15), 0.013, 0.6)] if time_s <= 4.4 else []
        piece = [Seen((0.49 - speed * (time_s - 4), 0.4, 0.08, 0.15), 0.01, 0.6)] if time_s <= 6 else []
        return rest + piece

    assert times(run(frames(12, breaking))[0]) == [(0.0, end_s)]


def test_a_ghost_that_fades_is_no_part_of_the_event():
    def place(time_s):
        if not 1 <= time_s <= 20:
            return []
        x = 0.1 + 0.2 * min(2.0, time_s - 1)
        left = 1.0 if time_s < 3 else 1 - 0.04 * (time_s - 3)
        return [Seen((x, 0.3, 0.1 * left, 0.4), 0.03 * left, 0.7)]

    (event,), _ = run(frames(25, place))
    assert event.start.time_s == 1.0
    assert 2.9 <= event.end.time_s <= 4.2


@pytest.mark.parametrize(("gap", "count"), [(1.0, 1), (1.4, 2)])
def test_events_are_merged_over_short_gaps(gap, count):
    events, _ = run(frames(12, walk(2, 4), walk(4 + gap, 6 + gap)))
    assert len(events) == count
    assert (events[0].start.time_s, events[-1].end.time_s) == (2.0, round(6 + gap, 2))


def test_short_events_are_dropped_and_a_cooldown_keeps_others_away():
    places = walk(2, 3), walk(8, 12), walk(15, 18)
    assert times(run(frames(20, *places), EventRules(min_length_s=2))[0]) == [(8.0, 12.0), (15.0, 18.0)]
    assert times(run(frames(20, *places), EventRules(cooldown_s=6))[0]) == [(2.0, 3.0), (15.0, 18.0)]


def test_sizes_scores_and_shares_below_the_rules_do_not_count():
    place = walk(2, 5)
    for rules in (
        EventRules(min_area=0.03),
        EventRules(max_area=0.02),
        EventRules(min_score=0.7),
        EventRules(threshold=0.03),
        EventRules(min_age_s=4),
        EventRules(min_travel=0.9),
    ):
        assert run(frames(10, place), rules)[0] == []


def test_the_shadow_of_a_cloud_is_no_event():
    def cloud(time_s):
        return [Seen((0.05 * time_s, 0.3, 0.2, 0.2), 0.04, 0.6, diffuse=0.6)]

    assert run(frames(10, cloud))[0] == []


def test_regions_have_events_of_their_own():
    places = walk(2, 5, regions=("door",)), walk(8, 12, row=0.7, regions=("yard", "door"))
    events, _ = run(frames(15, *places), regions=("door", "yard"))
    found = {(event.region, event.start.time_s) for event in events}
    assert found == {("door", 2.0), ("door", 8.0), ("yard", 8.0)}


def everywhere(start, end, share=0.9):
    return blob((0.0, 0.0, 1.0, share), start, end)


def test_a_light_switch_is_a_change_of_the_scene_and_no_event():
    rest = blob((0.2, 0.2, 0.2, 0.2), 5, 60)  # which the detector does not get over
    observations = frames(60, everywhere(5, 5.6), rest, light=lambda time_s: 40.0 if time_s >= 5 else 100.0)
    events, (change,) = run(observations)
    assert events == []
    assert (change.start.time_s, change.cause, change.recovered) == (5.0, "light", True)
    assert 5.6 < change.end.time_s < 6
    assert change.share == pytest.approx(0.94)


def test_a_knock_of_the_camera_is_a_change_of_the_scene_and_no_event():
    def edges(time_s):
        if time_s < 4:
            return []
        return [Seen((0.1 * i, 0.1 * (i % 9), 0.05, 0.1), 0.004, 0.5) for i in range(10)]

    def observed():
        for one in frames(20, edges):
            shift = 0.01 if one.number == 101 else 0.0
            spread = 0.3 if one.objects else 0.0
            yield Observation(one.number, one.time_s, one.objects, one.foreground, spread, 100.0, shift)

    events, (change,) = run(observed())
    assert events == []
    assert change.cause == "camera"


def test_a_detector_that_does_not_get_over_a_change_is_given_up():
    events, (change,) = run(frames(40, everywhere(5, 40)))
    assert events == []
    assert (change.start.time_s, change.end.time_s, change.recovered) == (5.0, 15.0, False)


def test_an_event_goes_on_after_a_change_of_the_scene():
    def observed():
        for one in frames(12, walk(2, 8)):
            if 4 <= one.time_s <= 6:
                box = Seen((0.0, 0.0, 1.0, 1.0), 1.0, 0.5)
                yield Observation(one.number, one.time_s, [box], 1.0, 1.0, 30.0)
            else:
                yield one

    events, changes = run(observed())
    assert times(events) == [(2.0, 8.0)]
    assert len(changes) == 1
    assert events[0].share < 0.1


def test_a_large_object_that_comes_near_is_no_change_of_the_scene():
    def bus(time_s):
        width = min(0.9, max(0.0, 0.3 * (time_s - 2)))
        return [Seen((0.0, 0.1, width, 0.8), 0.8 * width, 0.8)] if width > 0 and time_s < 6 else []

    events, changes = run(frames(10, bus))
    assert len(events) == 1
    assert changes == []


def test_the_machine_can_be_pickled_between_two_frames():
    observations = list(frames(30, walk(2, 5), walk(5.5, 9, row=0.7), everywhere(15, 15.6), walk(20, 25)))
    machine, found = EventMachine(), []
    for observation in observations:
        found += machine.see(observation)
        machine = pickle.loads(pickle.dumps(machine))  # noqa: S301, our own
    found += machine.finish()
    events, changes = run(observations)
    assert found == sorted([*events, *changes], key=found.index)
    assert len(events) == 2


def test_events_are_json():
    (event,), _ = run(frames(10, walk(2, 5)))
    assert Event.from_json(json.loads(json.dumps(event.to_json()))) == event


def test_a_finished_machine_begins_again():
    machine = EventMachine()
    for _ in range(2):
        found = [one for observation in frames(6, walk(2, 5)) for one in machine.see(observation)] + machine.finish()
        assert times(found) == [(2.0, 5.0)]


def test_times_must_rise():
    machine = EventMachine()
    machine.see(Observation(1, 1.0))
    with pytest.raises(ValueError, match=r"time_s must rise, got 1\.0 after 1\.0"):
        machine.see(Observation(2, 1.0))


def test_rules_are_checked():
    with pytest.raises(ValueError, match="min_travel must be a share in"):
        EventRules(min_travel=2)
    with pytest.raises(ValueError, match="merge_gap_s must be a number, at least 0, got nan"):
        EventRules(merge_gap_s=math.nan)
    with pytest.raises(ValueError, match="max_area must be at least min_area"):
        EventRules(min_area=0.5, max_area=0.1)
    with pytest.raises(ValueError, match="sensitivity must be one of low, normal, high"):
        EventRules.from_sensitivity("extreme")


def test_low_rates_find_the_same():
    slow = [one for one in frames(10, walk(2, 5)) if (one.number - 1) % 5 == 0]
    (event,), _ = run(slow)
    assert event.start.time_s == pytest.approx(2.0, abs=1 / RATE_HZ)
    assert event.end.time_s == pytest.approx(5.0, abs=5 / RATE_HZ)


def test_memory_does_not_grow_with_an_object_that_never_moves():
    machine = EventMachine()
    sizes = []
    for observation in frames(120, blob((0.3, 0.3, 0.2, 0.2), 0, 120)):
        machine.see(observation)
        if observation.number % 500 == 0:
            sizes.append(len(pickle.dumps(machine)))
    assert max(sizes) < 1.2 * sizes[1]
