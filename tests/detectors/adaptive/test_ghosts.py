"""Ghosts: which foreground is what an object left behind, and which is somebody before the background."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive.final_mask import find_outlines
from bgsub.detectors.adaptive.ghosts import Learned, average_around, count_turnover, find_ghosts
from tests.detectors.adaptive.test_adaptive import SIZE, filmed, planes_of, street, with_square
from tests.marks import needs_compiler


@needs_compiler
@pytest.mark.parametrize("ghosts", [True, False])
def test_what_stood_there_from_the_start_leaves_no_ghost(ghosts):
    model = create("adaptive", ghosts=ghosts, shadows=True)  # the scene is darker than the object
    scene = np.broadcast_to(np.linspace(80, 140, SIZE[1])[None, :, None], (*SIZE, 3))
    for t in range(30):
        model.apply(filmed(with_square(scene, 6, 10), t))
    shares = [(model.apply(filmed(scene, 100 + t))[8:18, 12:22] != 0).mean() for t in range(30)]
    assert shares[0] > 0.9 or ghosts
    assert (max(shares[5:]) < 0.05) == ghosts


def test_turnover_counts_what_was_not_there_in_the_rows_that_may_be_occupied():
    random = np.random.default_rng(0)
    mask, previous = (random.choice(np.array([0, 255], np.uint8), (20, 30)) for _ in range(2))
    mask[:4] = mask[17:] = mask[9] = 0
    occupied = mask.any(1).astype(np.uint8)
    assert count_turnover(mask, previous, occupied) == ((mask != 0).sum(), ((mask != 0) & (previous == 0)).sum())
    assert count_turnover(np.zeros_like(mask), previous, np.zeros(20, np.uint8)) == (0, 0)


@needs_compiler
@pytest.mark.parametrize("leaves", [30, 31, 32, 33])  # whenever the regular search for ghosts is
@pytest.mark.parametrize("speed", [1, 13])
def test_ghosts_are_looked_for_sooner_where_things_are_soon_elsewhere(speed, leaves):
    """Beside something 12 pixels long: in each frame if it passes that between two of them, as with few a second."""
    model = create("adaptive", shadows=True)
    scene = np.full((60, 150, 3), 90, np.uint8)
    shares = []
    for t in range(leaves + 10):
        frame = with_square(scene, 6, 10) if t < leaves else scene.copy()
        column = 2 + speed * t % 130
        if t > 5:
            frame[36:48, column : column + 12] = 220
        shares.append((model.apply(filmed(frame, t))[8:18, 12:22] != 0).mean())
    assert max(shares[:leaves]) < 0.05
    gone = max(t for t in range(len(shares)) if shares[t] > 0.5) - leaves if max(shares) > 0.5 else -1
    assert gone == -1 if speed > 12 else gone <= 4


@needs_compiler
def test_an_object_that_stops_is_no_ghost():
    model, scene = create("adaptive"), street()
    for t in range(40):
        model.apply(filmed(scene, t))
    shares = [(model.apply(filmed(with_square(scene, 6, 10), 100 + t))[8:18, 12:22] != 0).mean() for t in range(60)]
    assert min(shares) > 0.95


def test_what_a_ghost_hid_gets_the_width_factors_around_it_except_those_of_foreground():
    """One ghost lies in waves, another beside somebody on land, and a third is surrounded by foreground."""
    factors = np.full((40, 90), 8000, np.uint16)
    factors[:, :45] = 16000
    mask, ghosts = (np.zeros(factors.shape, np.uint8) for _ in range(2))
    for column in (12, 62):
        mask[10:19, column : column + 9] = ghosts[10:19, column : column + 9] = 255
    mask[22:40, 70:90] = ghosts[30:32, 80:82] = 255
    factors[mask != 0] = 24000
    factors[10:19, 67:71], mask[10:19, 67:71], ghosts[10:19, 67:71] = 24000, 255, 0  # somebody who hides a part of it
    around = average_around(ghosts, mask, factors, 9000)
    assert (around[ghosts != 0] == np.where(np.nonzero(ghosts)[1] < 45, 16000, 9000)).all()
    assert (around[ghosts == 0] == 9000).all()


def young(planes, mask, age=100):
    """Return planes as a background that was seen for a moment only, and is hidden for long."""
    return Learned(planes, np.ones(mask.shape, np.float32), 200.0, np.full(mask.shape, age, np.uint16), 8, 25)


def ghosts_of(mask, frame, learned, least, objects=None, suspects=None):
    """Return the ghosts among the regions of a mask; if nothing else is said, all of it is objects, and suspected."""
    objects, suspects = (mask.copy() if given is None else given for given in (objects, suspects))
    return find_ghosts(mask, find_outlines(mask), frame, learned, 255.0, least, lambda: objects, suspects)


@needs_compiler
def test_ghosts_are_known_by_their_outline():
    plain = np.full((50, 60), 100, np.uint8)
    square = plain.copy()
    square[15:35, 20:40] = 200
    mask = np.where(square == 200, np.uint8(255), np.uint8(0))
    flat, bright = plain.reshape(1, -1), square.reshape(1, -1)
    assert (ghosts_of(mask, flat, young(bright, mask), 20) == mask).all()
    assert ghosts_of(mask, bright, young(flat, mask), 20) is None
    assert ghosts_of(mask, flat, young(bright, mask), 2000) is None
    assert ghosts_of(np.zeros_like(mask), flat, young(bright, mask), 20) is None


@needs_compiler
@pytest.mark.parametrize("age", [24, 25])
def test_what_stands_out_of_its_surroundings_is_no_ghost_while_it_is_new(age):
    """Somebody without a sharp outline before a picture frame, and where the one of before has gone."""
    ground = np.full((60, 70), 100, np.uint8)
    frame = ground.copy()
    frame[20:40, 25:45] = 60
    frame = cv2.GaussianBlur(frame, (0, 0), 4)
    learned = ground.copy()
    learned[20:40, 25:45], learned[22:38, 27:43], learned[24:36, 29:41] = 160, 40, 100
    mask = np.zeros_like(ground)
    mask[20:40, 25:45] = 255
    for now, new in ((frame, age < 25), (ground, False)):
        found = ghosts_of(mask, now.reshape(1, -1), young(learned.reshape(1, -1), mask, age), 20)
        assert (found is None) if new else (found == mask).all()


@needs_compiler
def test_a_ghost_as_bright_as_what_is_there_now_is_known_by_its_colour():
    grey = np.full((3, 50, 60), 100, np.uint8)
    green = grey.copy()
    green[:, 15:35, 20:40] = np.array([90, 120, 90])[:, None, None]
    mask = np.where(green[1] == 120, np.uint8(255), np.uint8(0))
    now, learned = grey.reshape(3, -1), green.reshape(3, -1)
    assert (ghosts_of(mask, now, young(learned, mask), 20) == mask).all()
    assert ghosts_of(mask, learned, young(now, mask), 20) is None


@needs_compiler
def test_a_region_that_has_just_come_is_a_ghost_only_if_its_outline_leaves_no_doubt():
    """Edges of the background outweigh those of the frame by two to one: somebody before a bright door, or a ghost."""
    learned, now = np.full((50, 60), 100, np.uint8), np.full((50, 60), 100, np.uint8)
    learned[15:25, 20:40], now[25:35, 20:40] = 200, 150
    mask = np.zeros((50, 60), np.uint8)
    mask[15:35, 20:40] = 255
    planes, past = now.reshape(1, -1), young(learned.reshape(1, -1), mask)
    assert (ghosts_of(mask, planes, past, 20) == mask).all()
    just_come = past._replace(ages=np.zeros(mask.shape, np.uint16))
    ghosts = ghosts_of(mask, planes, just_come, 20)
    assert ghosts is None or not ghosts[28:33, 23:37].any()
    plain = past._replace(planes=np.where(mask != 0, np.uint8(200), np.uint8(100)).reshape(1, -1), ages=just_come.ages)
    ghosts = ghosts_of(mask, np.full_like(planes, 100), plain, 20)
    assert (ghosts == mask).all()


@needs_compiler
@pytest.mark.parametrize("column", [52, 65])  # with 65, less of the larger region is near than the ghost covers
def test_an_old_background_is_kept_beside_a_larger_region_only(column):
    learned, now = np.full((60, 90), 100, np.uint8), np.full((60, 90), 100, np.uint8)
    learned[25:35, 40:48] = 200
    now[10:33, column:] = 30
    alone = np.where(learned == 200, np.uint8(255), np.uint8(0))
    beside = np.where((learned == 200) | (now == 30), np.uint8(255), np.uint8(0))
    planes, background = now.reshape(1, -1), learned.reshape(1, -1)
    for seen, kept in ((1.0, False), (900.0, True)):
        past = young(background, alone)._replace(coefficients=np.full(alone.shape, seen, np.float32))
        assert (ghosts_of(alone, planes, past, 20) == alone).all()
        ghosts = ghosts_of(beside, planes, past, 20)
        assert (ghosts is None) if kept else (ghosts == alone).all()


def test_an_object_beside_its_ghost_stays():
    generator = np.random.default_rng(0)
    scene = generator.normal(100, 2, (80, 100, 3))
    learned, now = scene.copy(), scene.copy()
    learned[20:60, 20:50] = (200, 60, 60)
    now[20:60, 40:70] = (200, 60, 60)
    mask = np.zeros((80, 100), np.uint8)
    mask[20:60, 20:70] = 255
    planes = planes_of(now, learned)
    ghosts = ghosts_of(mask, planes[0], young(planes[1], mask), 25)
    assert (ghosts[23:57, 23:37] == 255).all()
    assert not ghosts[23:57, 43:].any()


@needs_compiler
@pytest.mark.parametrize("seed", [0, 1])
def test_a_shadow_that_reaches_another_is_no_ghost(seed):
    """Their common border is an edge of the background only, and the frame looks there like its surroundings."""
    generator = np.random.default_rng(seed)
    road = 180 + 20 * np.kron(generator.normal(0, 1, (40, 50, 1)), np.ones((2, 2, 3)))
    learned = road.copy()
    learned[:, :30] *= 0.4
    now = learned + generator.normal(0, 2, road.shape)
    now[20:60, 30:80] -= 0.6 * road[20:60, 30:80]
    mask = np.zeros((80, 100), np.uint8)
    mask[18:62, 30:82] = 255  # medians make it larger than the shadow
    planes = planes_of(np.clip(now, 0, 255), np.clip(learned, 0, 255))
    assert ghosts_of(mask, planes[0], young(planes[1], mask), 25) is None


def leaves(seed, size=(80, 100)):
    """Return a texture of blots a few pixels wide, grey levels from dark to bright."""
    noise = np.random.default_rng(seed).normal(0, 1, size).astype(np.float32)
    blots = cv2.GaussianBlur(noise, (0, 0), 1.5)
    return np.uint8(np.clip(110 + 60 * blots / blots.std(), 0, 255))


def plain_before(scene):
    """Return a scene with something plain before it, and where that is."""
    mask = np.zeros(scene.shape, np.uint8)
    mask[15:65, 30:70] = 255
    return np.where(mask != 0, np.uint8(180), scene), mask


@needs_compiler
def test_edges_that_the_background_has_everywhere_make_no_ghost_and_hide_few():
    """What is plain has fewer edges than the leaves that it hides, and an outline no sharper than theirs."""
    made, hidden = 0, 0
    for seed in range(12):
        empty = leaves(seed)
        coat, mask = plain_before(empty)
        planes, before = empty.reshape(1, -1), coat.reshape(1, -1)
        made += ghosts_of(mask, before, young(planes, mask), 25) is not None
        hidden += ghosts_of(mask, planes, young(before, mask), 25) is None
    assert made == 0
    assert hidden <= 6


@needs_compiler
@pytest.mark.parametrize("seed", range(5))
def test_edges_that_are_the_same_in_another_light_hide_nothing(seed):
    """A patch of sun on leaves that a cloud takes away goes like a ghost, though there are edges everywhere."""
    shade = np.uint8(leaves(seed) * 0.4)
    _, mask = plain_before(shade)
    sunny = np.where(mask != 0, np.uint8(np.minimum(shade * 2.5 + 90.0, 255)), shade)
    found = ghosts_of(mask, shade.reshape(1, -1), young(sunny.reshape(1, -1), mask), 25)
    assert (found == mask).all()


@needs_compiler
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("colour", [(200, 60, 60), (180, 180, 180), (30, 30, 30)])
def test_who_stands_before_leaves_is_no_ghost(colour, seed):
    """Leaves have edges along any outline; where a coat is grey as they are, its own are no stronger than theirs."""
    scene, model = np.repeat(leaves(seed, (120, 160))[..., None], 3, 2), create("adaptive", threads=1)
    coat = scene.copy()
    coat[40:100, 60:90] = colour
    for t in range(60):
        model.apply(filmed(scene, t))
    shares = [(model.apply(filmed(coat, 100 + t))[40:100, 60:90] != 0).mean() for t in range(60)]
    assert min(shares) > 0.9


@needs_compiler
def test_somebody_and_his_shadow_on_a_framed_picture_are_no_ghost():
    """The shadow ends where the picture does, so that the outline of both has the edges of the background."""
    learned, now = np.full((60, 90), 100, np.uint8), np.full((60, 90), 100, np.uint8)
    picture, person = np.s_[8:40, 36:62], np.s_[10:54, 58:78]
    learned[picture], now[picture] = 200, 130
    now[person] = 60
    both, alone = (np.zeros(now.shape, np.uint8) for _ in range(2))
    both[picture] = both[person] = alone[person] = 255
    frame, past = now.reshape(1, -1), young(learned.reshape(1, -1), both)
    assert (ghosts_of(both, frame, past, 25) == both).all()  # all of it taken for objects
    assert ghosts_of(both, frame, past, 25, alone) is None
    few = alone.copy()
    few[20:] = 0
    assert (ghosts_of(both, frame, past, 25, few) == both).all()  # most of it is shadow


@needs_compiler
def test_an_old_background_is_given_up_without_doubt_or_where_two_searches_in_turn_find_a_ghost():
    """Edges of the background outweigh those of the frame by two to one, or there are no others."""
    learned, now, plain = (np.full((50, 60), 100, np.uint8) for _ in range(3))
    learned[15:25, 20:40], now[25:35, 20:40] = 200, 150
    mask = np.zeros((50, 60), np.uint8)
    mask[15:35, 20:40] = 255
    frame, past = now.reshape(1, -1), young(learned.reshape(1, -1), mask)
    old = past._replace(coefficients=np.full(mask.shape, 900, np.float32))
    suspects = np.zeros_like(mask)
    assert (ghosts_of(mask, frame, past, 20, suspects=suspects) == mask).all()
    upper = np.where(learned == 200, np.uint8(255), np.uint8(0))
    assert (ghosts_of(upper, plain.reshape(1, -1), old, 20, suspects=suspects) == upper).all()
    assert not suspects.any()
    assert ghosts_of(mask, frame, old, 20, suspects=suspects) is None
    assert (suspects == mask).all()
    assert ghosts_of(mask, learned.reshape(1, -1), old, 20, suspects=suspects) is None  # something is there
    assert not suspects.any()
    assert ghosts_of(mask, frame, old, 20, suspects=suspects) is None
    suspects[25:] = 0  # half of it
    assert (ghosts_of(mask, frame, old, 20, suspects=suspects) == mask).all()
