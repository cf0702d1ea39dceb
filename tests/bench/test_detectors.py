"""The benchmarks of the detectors' parts change what they say, on frames that are always the same."""

import numpy as np
import pytest

from bench.detectors import coded
from bench.detectors.ablation import VARIANTS, changed
from bench.detectors.cut import FRAMES, KINDS, backwards, busy_starts
from bench.detectors.pasted import OBJECTS, Cutout, best_view, cut_out, paste
from bench.detectors.sensitivity import CONSTANTS, FACTORS, scaled
from bench.detectors.spoiled import WAYS, dark, dazzle, light_up
from bench.detectors.turned import MOVES, STANDS, TURNS, window
from bgsub._opencv import cv2
from bgsub.evaluation import find_sequences
from tests.video.moving_square import square_frame


@pytest.mark.parametrize(("module", "name"), CONSTANTS, ids=lambda part: getattr(part, "__name__", part))
def test_every_constant_exists_and_is_changed(module, name):
    value = getattr(module, name)
    assert all(scaled(value, factor) != value for factor in FACTORS)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant[0])
def test_every_mechanism_that_is_removed_is_where_it_is_looked_for_and_can_be_missed(variant):
    _, changes, parameters, kind = variant
    assert all(hasattr(module, name) for module, name in changes)
    with changed(changes):
        model = kind(threads=1, **parameters)
        masks = [model.apply(square_frame(index)) for index in range(25)]
    assert masks[-1].any()


@pytest.mark.parametrize("way", WAYS)
def test_spoiled_frames_are_of_one_size_and_depend_on_the_number_alone(way):
    frame = np.random.default_rng(0).integers(0, 256, (60, 81, 3), np.uint8)
    spoiled = WAYS[way](frame, 7)
    assert spoiled.shape == frame.shape
    assert np.array_equal(spoiled, WAYS[way](frame, 7))
    assert (np.array_equal(spoiled, frame)) == (way == "as they are")


def test_headlights_light_the_ground_before_cars_and_fade():
    cars = np.zeros((60, 81), np.uint8)
    cars[10:20, 30:50] = 1
    cars[50:53, 2:5] = 1  # too small for a car
    beams, lamps = light_up(cars)
    assert not beams[cars != 0].any()
    assert beams[20, 40] > 0.9 > beams[26, 40] > beams[36, 40] > beams[59, 40]
    assert beams[22, 40] > beams[22, 50] > beams[22, 79]
    assert beams[:5].max() < 0.1
    assert lamps[17, 34, 0] > 0.4
    assert lamps[17, 46, 0] > 0.4
    assert lamps[..., 0][cars == 0].max() < 0.4
    assert not any(light.any() for light in light_up(np.zeros_like(cars)))


def test_lamps_that_dazzle_add_light_around_them_on_cars_and_ground():
    cars = np.zeros((60, 81), np.uint8)
    cars[10:20, 30:50] = 1
    glare = dazzle(cars, light_up(cars)[1])
    assert 0.9 < glare.max() <= 1
    assert glare[17, 34, 0] > glare[12, 34, 0] > glare[8, 34, 0] > 0.01  # above the car
    assert glare[:, :5].max() < 0.01
    assert not dazzle(np.zeros_like(cars), np.zeros((60, 81, 1), np.float32)).any()


@pytest.mark.parametrize("way", coded.WAYS)
def test_coded_frames_are_as_many_and_look_alike_but_for_an_odd_row_or_column(way):
    frames = [square_frame(index) for index in range(12)]
    frames = [np.ascontiguousarray(frame[: frame.shape[0] // 2 * 2 - 1]) for frame in frames]
    decoded = list(coded.decode(coded.encode(iter(frames), coded.WAYS[way])))
    assert len(decoded) == len(frames)
    for frame, other in zip(frames, decoded, strict=True):
        assert other.shape == (frame.shape[0] - 1, frame.shape[1], 3)
        assert 0 < np.abs(other.astype(int) - frame[:-1]).mean() < 12


def test_less_light_makes_differences_smaller():
    frame = np.full((50, 50, 3), 100, np.uint8)
    frame[25:] = 200
    spoiled = dark(0.2, 2.0)(frame, 0)
    assert spoiled[25:].mean() - spoiled[:25].mean() == pytest.approx(20, abs=0.5)
    assert spoiled[:25].std() == pytest.approx(2.0, abs=0.1)


def test_busy_starts_begin_with_the_most_foreground(tmp_path):
    """A thing as large as half of the frame is there from frame 201 on, and a small one from frame 401 to 440."""
    for folder in ("input", "groundtruth"):
        (tmp_path / folder).mkdir()
    for number in range(1, 501):
        labels = np.zeros((24, 32), np.uint8)
        labels[:, :16] = 255 * (201 <= number <= 300)
        labels[:, 20:24] = 255 * (401 <= number <= 440)
        cv2.imwrite(str(tmp_path / "input" / f"in{number:06d}.png"), labels)
        cv2.imwrite(str(tmp_path / "groundtruth" / f"gt{number:06d}.png"), labels)
    (sequence,) = find_sequences(tmp_path)
    clips = [clip for _, clip in busy_starts(sequence, FRAMES)]
    assert all(len(clip) == FRAMES and clip == list(range(clip[0], clip[0] + FRAMES)) for clip in clips)
    assert clips[0][0] in range(201, 301)
    assert all(labels_at(sequence, clip[0]).any() for clip in clips)
    assert [(label, len(clip)) for label, clip in KINDS["short"](sequence)][:1] == [
        (f"40 from frame {clips[0][0]}", 40)
    ]
    assert backwards(sequence)[:3] == [500, 499, 498]
    few = KINDS["few"](sequence)
    assert [(label, clip[:2], len(clip)) for label, clip in few][1] == ("1 frame of 6", [1, 7], 84)


def labels_at(sequence, number):
    """Return the labels of a frame of the sequence above."""
    return sequence.read_labels(number, (24, 32))


@pytest.mark.parametrize("name", MOVES)
def test_windows_lie_in_the_frame_reach_both_sides_and_keep_their_size(name):
    seen = [window(MOVES[name], (240, 320), index) for index in range(2 * (STANDS + TURNS) + 1)]
    assert {(rows.stop - rows.start, columns.stop - columns.start) for rows, columns in seen} == {(150, 200)}
    lefts = [columns.start for _, columns in seen]
    assert (min(lefts), max(lefts)) == (0, 120)
    assert all(rows.start == 45 for rows, _ in seen)


def test_a_camera_that_stands_does_not_move():
    lefts = [window(MOVES["turns and stands"], (240, 320), index)[1].start for index in range(STANDS + TURNS + 9)]
    assert set(lefts[: STANDS + 1]) == {0}
    assert set(lefts[STANDS + TURNS :]) == {120}


@pytest.mark.parametrize("height", [20, 60, 200])
def test_objects_are_pasted_with_their_colours_and_nothing_else_changes(height):
    """A blue square of a third of the frame's height, in frames smaller and larger than the background."""
    frame, labels = np.full((60, 80, 3), 30, np.uint8), np.zeros((60, 80), np.uint8)
    frame[20:40, 30:50], labels[20:40, 30:50] = (200, 0, 0), 255
    pasted, opacity = paste(np.full((100, 120), 90, np.uint8), cut_out(frame, labels, height))
    assert (pasted[opacity == 0] == 90).all()
    assert abs(pasted[opacity > 0.999] - np.array((200.0, 0.0, 0.0))).max() <= 1
    assert (opacity > 0.5).sum() == pytest.approx((height / 3) ** 2, rel=0.2)
    rows, columns = np.nonzero(opacity > 0.5)
    assert (rows.mean(), columns.mean()) == pytest.approx((55, 60), abs=1 + height / 60)


def test_objects_cast_shadows_to_the_side_and_up_from_their_lowest_row():
    frame, labels = np.full((100, 160, 3), 30, np.uint8), np.zeros((100, 160), np.uint8)
    frame[40:70, 60:70], labels[40:70, 60:70] = (200, 0, 0), 255
    plain = np.full((100, 160, 3), 100, np.uint8)
    (without, opacity), (pasted, same) = (paste(plain, cut_out(frame, labels, 100), cast) for cast in (0.0, 0.5))
    assert (opacity == same).all()
    assert (without[opacity == 0] == 100).all()
    shaded = (pasted[..., 0] < 90) & (opacity == 0)
    rows, columns = (places.astype(int) for places in np.nonzero(shaded))
    foot = np.nonzero(opacity > 0.5)[0].max()
    assert abs(rows.max() - foot) <= 2
    assert rows.min() == pytest.approx(foot - 0.3 * 30, abs=2)  # 30 rows high
    assert columns.max() - np.nonzero(opacity > 0.5)[1].max() == pytest.approx(1.5 * 30, abs=5)
    assert 50 <= int(pasted[shaded].min()) < 70  # of half of the light, but for blur


def test_objects_stay_where_most_is_seen_of_them_and_leave_nothing():
    views = [np.zeros((20, 30), np.float32) for _ in range(100)]
    for index, view in enumerate(views):
        view[5 : 7 + min(index, 99 - index) // 5, 5:20] = 1.0  # largest in the middle
    views[80][:15] = 1.0  # but for one that the border cuts
    objects = [Cutout(np.zeros((20, 30, 3), np.float32), view) for view in views]
    best = best_view(objects)
    assert 45 <= best < 55
    stay, leave, passing = (OBJECTS[name](objects) for name in ("stay", "leave", "pass"))
    assert stay[:40] == list(range(best - 40, best))
    assert {abs(index - best) for index in stay[40:160]} == set(range(5))
    assert stay[160:] == list(range(best, 100))
    assert leave == [*range(best, 100), *[None] * 40]
    assert passing == [*range(100)] * 3
