import copy
import pickle

import pytest

from bgsub.errors import ConfigError
from bgsub.objects import Line, Track, Tracker, Zone
from bgsub.roi import Region, open_region
from tests.objects.made import SIZE, found


def at(x, y, *, number=1, gap=0):
    """A track whose centre is (x, y)."""
    return Track(number, (x - 4, y - 4, 8, 8), (0.0, 0.0), 5, gap)


def crossed(line, *points):
    for point in points:
        line.update([at(*point)])
    return line.left_to_right, line.right_to_left


def test_directions_are_those_of_somebody_who_walks_from_start_to_end():
    upwards, downwards = ((50, 100), (50, 0)), ((50, 0), (50, 100))
    rightwards = ((0, 50), (100, 50))
    assert crossed(Line(*upwards), (20, 40), (80, 40)) == (1, 0)
    assert crossed(Line(*downwards), (20, 40), (80, 40)) == (0, 1)
    assert crossed(Line(*rightwards), (20, 20), (20, 80)) == (1, 0)  # the upper side is on the left
    assert crossed(Line(*rightwards), (20, 80), (20, 20)) == (0, 1)


def test_only_the_way_between_the_ends_counts():
    assert crossed(Line((50, 60), (50, 40)), (20, 10), (80, 10)) == (0, 0)
    assert crossed(Line((50, 60), (50, 40)), (20, 10), (80, 90)) == (1, 0)
    assert crossed(Line((50, 60), (50, 40)), (20, 10), (80, 30)) == (0, 0)


def test_who_comes_back_counts_in_the_other_direction():
    assert crossed(Line((50, 99), (50, 0)), (20, 40), (80, 40), (20, 40), (80, 40)) == (2, 1)


def test_trembling_within_the_margin_does_not_count():
    line = Line((50, 99), (50, 0), margin=3)
    assert crossed(line, (40, 40), (49, 40), (51, 40), (49, 40), (52, 40)) == (0, 0)
    assert crossed(line, (54, 40)) == (1, 0)
    assert crossed(Line((50, 99), (50, 0), margin=0), (40, 40), (49, 40), (51, 40), (49, 40), (52, 40)) == (2, 1)


def test_a_track_that_was_not_seen_counts_when_it_is_seen_again():
    line = Line((50, 99), (50, 0))
    line.update([at(20, 40)])
    line.update([at(60, 40, gap=1)])
    assert line.left_to_right == 0
    line.update([at(70, 40)])
    assert line.left_to_right == 1


def test_a_track_that_begins_beyond_the_line_has_not_crossed():
    line = Line((50, 99), (50, 0))
    line.update([at(20, 40)])
    line.update([])
    line.update([at(80, 40, number=2)])
    assert line.counts == {"left_to_right": 0, "right_to_left": 0}


def test_anchor_is_the_point_that_counts():
    track = Track(1, (10.0, 20.0, 8.0, 40.0), (0.0, 0.0), 1, 0)
    assert track.center == (14.0, 40.0)
    assert track.bottom == (14.0, 60.0)
    line, feet = Line((0, 50), (99, 50)), Line((0, 50), (99, 50), anchor="bottom")
    for top in (0, 20):
        for one in (line, feet):
            one.update([Track(1, (10, top, 8, 40), (0, 0), 1, 0)])
    assert (line.left_to_right, feet.left_to_right) == (0, 1)


def test_zone_counts_who_enters_leaves_and_stays():
    zone = Zone(open_region("50,0 99,0 99,99 50,99"), SIZE)
    zone.update([at(20, 40), at(70, 40, number=2)])
    assert zone.counts == {"entered": 1, "left": 0, "inside": 1}
    zone.update([at(60, 40), at(70, 40, number=2)])
    assert zone.ids == {1, 2}
    zone.update([at(60, 40), at(20, 40, number=2, gap=1)])  # not seen: where it was
    assert zone.counts == {"entered": 2, "left": 0, "inside": 2}
    zone.update([at(120, 40)])  # one walked out, the other ended
    assert zone.counts == {"entered": 2, "left": 2, "inside": 0}


def test_points_outside_the_frame_count_as_its_border():
    zone = Zone(Region(image=None, include=(((190, 0), (199, 0), (199, 119), (190, 119)),)), SIZE)
    zone.update([at(250, 500)])
    assert zone.inside == 1


def test_tracked_objects_are_counted_once_however_they_flicker():
    tracker, line = Tracker(min_age=2), Line((100, 119), (100, 0))
    zone = Zone(open_region("120,0 199,0 199,119 120,119"), SIZE)
    for i in range(45):
        boxes = [(4 * i, 20, 16, 24), (184 - 4 * i, 70, 16, 24)]
        tracker.update(found(*(boxes if i % 5 else [])))
        line.update(tracker.tracks)
        zone.update(tracker.tracks)
    assert tracker.count == 2
    assert line.counts == {"left_to_right": 1, "right_to_left": 1}
    assert zone.counts == {"entered": 2, "left": 1, "inside": 1}
    line.reset()
    zone.reset()
    assert not any({**line.counts, **zone.counts}.values())


def test_lines_and_zones_are_copied_and_pickled():
    line = Line((50, 99), (50, 0))
    line.update([at(20, 40)])
    for other in (copy.deepcopy(line), pickle.loads(pickle.dumps(line))):  # noqa: S301 - our own bytes
        assert crossed(other, (80, 40)) == (1, 0)
    zone = Zone(Region(), SIZE)
    zone.update([at(20, 40)])
    assert pickle.loads(pickle.dumps(zone)).counts == zone.counts  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (((1, 2), (1, 2)), {}, "start and end must be two different points"),
        (((1, 2), (1, float("inf"))), {}, "start and end"),
        (((1, 2, 3), (1,)), {}, "start and end"),
        (((1, 2), (3, 4)), {"margin": -1}, "margin must be a number of pixels, at least 0, got -1"),
        (((1, 2), (3, 4)), {"anchor": "top"}, "anchor must be center or bottom, got 'top'"),
    ],
)
def test_wrong_lines_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Line(*arguments, **options)


def test_a_zone_outside_the_frame_is_refused():
    with pytest.raises(ConfigError, match="leaves nothing of a 200x120 frame"):
        Zone(open_region("500,500 600,500 600,600"), SIZE)
