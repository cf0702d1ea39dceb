import copy
import pickle
import tracemalloc

import numpy as np
import pytest

from bgsub.objects import Tracker, find_objects
from bgsub.objects.overlap import contained_share, distance_iou
from tests.objects.made import found, ids_by_frame, masked


def slow_distance_iou(one, other):
    """Of two boxes with whole corners, counted pixel by pixel."""
    a, b = (np.zeros((60, 60), bool) for _ in range(2))
    a[one[1] : one[3], one[0] : one[2]] = True
    b[other[1] : other[3], other[0] : other[2]] = True
    rows, columns = np.nonzero(a | b)
    diagonal2 = (rows.max() + 1 - rows.min()) ** 2 + (columns.max() + 1 - columns.min()) ** 2
    gap = [(one[k] + one[k + 2] - other[k] - other[k + 2]) / 2 for k in range(2)]
    return (a & b).sum() / (a | b).sum() - (gap[0] ** 2 + gap[1] ** 2) / diagonal2, (a & b).sum() / a.sum()


def test_overlap_equals_counted_pixels():
    rng = np.random.default_rng(3)
    low = rng.integers(0, 40, (40, 2))
    boxes = np.concatenate([low, low + rng.integers(1, 20, (40, 2))], 1)
    similarity = distance_iou(boxes[:15].astype(float), boxes.astype(float))
    inside = contained_share(boxes[:15].astype(float), boxes.astype(float))
    for i in range(15):
        for k in range(40):
            expected = slow_distance_iou(boxes[i], boxes[k])
            assert (similarity[i, k], inside[i, k]) == pytest.approx(expected, abs=1e-12)


def test_an_object_keeps_its_id_and_grows_older():
    tracker = Tracker(min_age=3)
    seen = [tracker.update(found((5 * i, 30, 20, 30))) for i in range(12)]
    assert [objects.ids.tolist() for objects in seen] == [[], []] + [[1]] * 10
    assert [int(objects.ages[0]) for objects in seen[2:]] == list(range(3, 13))
    assert tracker.count == 1
    assert tracker.tracks[0].velocity == (5.0, 0.0)
    assert tracker.tracks[0].box == (55.0, 30.0, 20.0, 30.0)


def test_a_small_fast_object_that_never_overlaps_itself_is_followed():
    tracker = Tracker(min_age=1)
    start = [found((60 + 6 * i, 50, 6, 6)) for i in range(3)]  # side by side with itself
    faster = [found((60 + x, 50, 6, 6)) for x in (20, 29, 39, 50, 62, 75)]  # one and two widths apart
    assert ids_by_frame(tracker, start + faster) == [[1]] * 9


def test_a_jump_begins_another_track():
    tracker = Tracker(min_age=1)
    assert ids_by_frame(tracker, [found((10, 10, 20, 20))] * 3 + [found((150, 80, 20, 20))] * 2) == [
        [1], [1], [1], [2], [2]
    ]  # fmt: skip


def test_flicker_does_not_count():
    tracker = Tracker(min_age=3)
    frames = [found(*([(100, 60, 9, 9)] if i % 3 < 2 else [])) for i in range(30)]
    assert ids_by_frame(tracker, frames) == [[]] * 30
    assert tracker.count == 0


def test_a_track_outlives_max_gap_and_no_more():
    for gap, ids in ((4, [[1], [1], [1]]), (5, [[1], [1], [2]])):
        tracker = Tracker(min_age=1, max_gap=4)
        seen = ids_by_frame(tracker, [found((4 * i, 10, 20, 20)) for i in range(2)])
        for _ in range(gap):
            assert len(tracker.update(found())) == 0
        x = 4 * (gap + 2 - 1)
        assert [*seen, tracker.update(found((x, 10, 20, 20))).ids.tolist()] == ids


def test_objects_that_cross_keep_their_ids():
    tracker = Tracker(min_age=2)
    right, left = [], []
    for i in range(30):
        objects = tracker.update(found((6 * i, 40, 16, 30), (180 - 6 * i, 52, 16, 30)))  # one blob in the middle
        for one in objects:
            if one.box[3] == 30 and one.box[1] == 40:
                right.append(one.id)
            elif one.box[3] == 30 and one.box[1] == 52:
                left.append(one.id)
    assert len(set(right)) == len(set(left)) == 1
    assert set(right) != set(left)
    assert tracker.count == 2


def test_objects_that_meet_and_part_again_keep_their_ids():
    tracker = Tracker(min_age=2)
    ways = [0] * 3 + list(range(0, 40, 4)) + [40] * 20 + list(range(40, 0, -4))
    seen = [tracker.update(found((10 + way, 40, 20, 40), (110 - way, 46, 20, 40))) for way in ways]
    first, last = seen[3], seen[-1]
    assert len(first) == len(last) == 2
    assert min(len(objects) for objects in seen[2:]) == 1
    assert dict(zip(first.boxes[:, 1].tolist(), first.ids.tolist(), strict=True)) == dict(
        zip(last.boxes[:, 1].tolist(), last.ids.tolist(), strict=True)
    )
    assert tracker.count == 2


def test_the_largest_part_of_a_split_object_keeps_the_id():
    tracker = Tracker(min_age=1)
    whole = [found((40 + 2 * i, 20, 30, 60)) for i in range(4)]
    split = [found((48 + 2 * i, 20, 30, 42), (48 + 2 * i, 64, 30, 16)) for i in range(4)]
    seen = ids_by_frame(tracker, whole + split)
    assert seen[:4] == [[1]] * 4
    assert seen[4:] == [[1, 2]] * 4


def test_a_merged_track_ends_in_time():
    tracker = Tracker(min_age=1, max_gap=2, max_merged=5)
    for _ in range(3):
        tracker.update(found((40, 40, 20, 20), (70, 40, 20, 20)))
    alive = []
    for _ in range(8):
        tracker.update(found((40, 40, 50, 20)))
        alive.append(len(tracker.tracks))
    assert alive == [2] * 5 + [1] * 3
    assert tracker.tracks[0].box == (40.0, 40.0, 50.0, 20.0)


def noisy_frames(count=60):
    rng = np.random.default_rng(11)
    for i in range(count):
        boxes = [(int(3 * i + rng.integers(-2, 3)), 30, 18, 40), (int(190 - 2 * i), 60 + int(rng.integers(3)), 15, 25)]
        boxes += [(int(rng.integers(190)), int(rng.integers(110)), 3, 3) for _ in range(3)]
        yield found(*boxes)


def test_the_same_objects_give_the_same_ids_also_through_copies():
    frames = list(noisy_frames())
    expected = ids_by_frame(Tracker(), frames)
    assert ids_by_frame(Tracker(), frames) == expected
    tracker = Tracker()
    begun = ids_by_frame(tracker, frames[:25])
    for other in (copy.deepcopy(tracker), pickle.loads(pickle.dumps(tracker))):  # noqa: S301 - our own bytes
        assert begun + ids_by_frame(other, frames[25:]) == expected
    tracker.reset()
    assert ids_by_frame(tracker, frames) == expected


def test_ids_are_unique_in_a_frame_and_never_used_again():
    tracker = Tracker(min_age=1, max_gap=1)
    ended, alive = set(), set()
    for objects in noisy_frames():
        ids = tracker.update(objects).ids.tolist()
        assert len(ids) == len(set(ids))
        assert not ended & set(ids)
        now = {track.id for track in tracker.tracks}
        ended |= alive - now
        alive = now
    assert len(ended) > 100
    assert tracker.count == max(ended | alive)


def test_noise_takes_bounded_memory():
    mask = np.zeros((1080, 1920), np.uint8)
    mask[::6, ::6] = 255
    objects = find_objects(mask)
    assert len(objects) == 180 * 320
    tracker = Tracker(min_age=1)
    assert len(tracker.update(objects)) == len(tracker.update(objects)) == 1000
    assert tracker.count == 1000


def test_tracks_in_noise_do_not_pile_up():
    rng = np.random.default_rng(0)
    tracker = Tracker(min_age=1, max_gap=50)
    tracemalloc.start()
    try:
        for _ in range(6):
            mask = np.where(rng.random((540, 960)) < 0.01, 255, 0).astype(np.uint8)
            tracker.update(find_objects(mask))
            assert len(tracker.tracks) <= 2000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6  # 2000 tracks by 1000 objects would be 200 MB at once


def test_chunks_of_tracks_change_nothing(monkeypatch):
    expected = ids_by_frame(Tracker(), noisy_frames())
    monkeypatch.setattr("bgsub.objects.tracker._TOGETHER", 2)
    assert ids_by_frame(Tracker(), noisy_frames()) == expected


def test_the_largest_objects_are_those_that_are_tracked():
    mask = np.zeros((200, 200), np.uint8)
    mask[::4, ::4] = 255
    mask[150:170, 100:180] = 255
    objects = Tracker(min_age=1).update(find_objects(mask))
    assert len(objects) == 1000
    assert objects.areas.max() >= 1600


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_age": 0}, "min_age must be a whole number of frames, at least 1, got 0"),
        ({"max_gap": -1}, "max_gap must be"),
        ({"max_merged": 2.0}, "max_merged must be"),
        ({"min_similarity": 2}, r"min_similarity must be in \[-1, 1\], got 2"),
        ({"min_similarity": float("nan")}, "min_similarity must be"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Tracker(**parameters)


def test_only_objects_are_tracked():
    with pytest.raises(ValueError, match="objects must be what find_objects returns, got ndarray"):
        Tracker().update(masked())
