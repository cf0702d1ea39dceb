"""What is forgotten, and what of it is kept for a while, since it may come back."""

import copy

import numpy as np
import pytest

from bgsub.detectors import Detector, create
from bgsub.detectors.adaptive import forgetting
from bgsub.detectors.adaptive._jit.blocks import (
    BLOCK,
    FORGOTTEN,
    LOWEST_BLINK_RATE,
    NONE,
    SETTLED,
    Observation,
    State,
)
from bgsub.detectors.adaptive._jit.feedback import forget, take_back
from bgsub.evaluation import open_datasets
from tests.detectors.adaptive.test_adaptive import filmed, street, with_square
from tests.marks import needs_compiler


def forgettable() -> tuple[State, Observation]:
    """A state of two slots and what was seen of a frame, six blocks with other numbers in each."""
    random, shape = np.random.default_rng(0), (6, BLOCK)
    colours = random.integers(90, 110, (2, 3, *shape)).astype(np.uint8)
    small, large = (random.integers(1, top, (number, *shape)) for number, top in ((5, 255), (4, 60000)))
    factors, blinks, distances, ages = large.astype(np.uint16)
    factors[:] = random.integers(4000, 24000, shape)
    state = State(
        colours, random.random((2, *shape)).astype(np.float32), np.ones(6, np.uint8), factors, blinks, distances,
        np.zeros(shape, np.uint8), ages, np.zeros(6, np.uint8),
    )  # fmt: skip
    planes = random.integers(90, 110, (3, *shape)).astype(np.uint8)
    distance, nearest, values, raw, faint = small.astype(np.uint8)
    settled = np.array([SETTLED, SETTLED, 0, 0, SETTLED, 0], np.uint8)
    return state, Observation(planes, np.zeros(shape, np.float32), raw, faint, distance, nearest, values, settled)


def some_of_six_blocks() -> np.ndarray:
    chosen = np.where(np.random.default_rng(1).random((6, BLOCK)) < 0.3, np.uint8(255), np.uint8(0))
    chosen[[0, 3]] = 0
    chosen[4] = 255
    return chosen


def test_what_is_forgotten_looks_new_and_all_else_of_its_blocks_as_if_it_had_been_scored():
    (state, seen), chosen, width = forgettable(), some_of_six_blocks(), 30.0
    factors = np.random.default_rng(2).integers(4000, 24000, chosen.shape).astype(np.uint16)
    before_state, before = copy.deepcopy(state), copy.deepcopy(seen)
    gain = np.float32(-np.log2(np.e) / width**2)
    forget(state, seen, chosen, factors, gain, np.float32(0.0), np.empty(BLOCK, np.float32))
    here, touched = chosen != 0, np.array([1, 2, 4, 5])
    scored = np.zeros(here.shape, bool)
    scored[[1, 4]] = True
    squares = ((state.colours[0].astype(float) - seen.planes) ** 2).sum(0)
    kernel = 255 * np.exp(-squares / (width * before_state.width_factors / 8000) ** 2)
    assert np.abs(seen.kernel_value - np.where(scored, kernel, before.kernel_value)).max() < 0.51
    assert (seen.distance == np.where(scored, 0, before.distance)).all()
    assert (seen.nearest == np.where(here, NONE, np.where(scored, 0, before.nearest))).all()
    assert seen.settled.tolist() == [SETTLED, *[FORGOTTEN] * 2, 0, *[FORGOTTEN] * 2]
    assert state.dominant.tolist() == [int(block not in touched) for block in range(6)]
    new = {"coefficients": 0, "width_factors": factors, "blink_rates": LOWEST_BLINK_RATE, "mean_distances": 0}
    for name, value in new.items():
        assert (getattr(state, name) == np.where(here, value, getattr(before_state, name))).all(), name
    for name in ("colours", "previous_raw", "foreground_ages", "calm"):
        assert (getattr(state, name) == getattr(before_state, name)).all(), name


def test_what_is_kept_shares_the_density_with_what_is_there_now():
    (state, seen), chosen, kept = forgettable(), some_of_six_blocks(), np.float32(0.6)
    state.coefficients[0, 5, :20] = 0.0  # nothing was learned here
    before, before_seen, here = copy.deepcopy(state), copy.deepcopy(seen), chosen != 0
    factors = np.full(chosen.shape, 8000, np.uint16)
    forget(state, seen, chosen, factors, np.float32(-1e-3), kept, np.empty(BLOCK, np.float32))
    known = here & (before.coefficients[0] > 0)
    assert known.any()
    assert (here & ~known).any()
    # The last of the two slots gets the first colour, at most what is kept of it, and the first one what is seen.
    weight = np.where(before.coefficients[0] > kept, kept, before.coefficients[0])
    for slot in range(2):
        assert (state.coefficients[slot] == np.where(here, weight, before.coefficients[slot])).all(), slot
        there = seen.planes if slot == 0 else before.colours[0]
        assert (state.colours[slot] == np.where(known, there, before.colours[slot])).all(), slot
    assert (seen.nearest[here] == np.where(known, 0, NONE)[here]).all()
    assert (seen.kernel_value[known] == 255).all()
    scored = np.zeros(here.shape, bool)
    scored[[1, 4]] = True
    assert (seen.nearest[~here & ~scored] == before_seen.nearest[~here & ~scored]).all()


def taken_back(state: State, seen: Observation, held: np.ndarray, replaced: np.ndarray, longest: float) -> int:
    """What `take_back` says it does, pixel by pixel."""
    left = 0
    for y, x in np.argwhere(replaced):
        nearest = 0 if seen.settled[y] == SETTLED else int(seen.nearest[y, x])
        weights, colours = state.coefficients[:, y, x], state.colours[:, :, y, x]
        open_still = held[y, x] or nearest >= len(weights) or (nearest == 0 and weights[0] <= longest)
        left += bool(open_still)
        if open_still:
            continue
        replaced[y, x] = 0
        if nearest and weights[0] <= longest:
            order = [nearest if slot == 0 else 0 if slot == nearest else slot for slot in range(len(weights))]
            colours[:] = colours[order].copy()
            weights[[0, nearest]] = sorted(weights[[0, nearest]].tolist(), reverse=True)
            seen.nearest[y, x] = 0
    return left


def test_what_took_the_place_of_background_is_taken_back_where_that_is_seen_again():
    (state, seen), random, longest = forgettable(), np.random.default_rng(3), np.float32(0.7)
    seen.nearest[:] = random.choice([0, 1, NONE], seen.nearest.shape)
    held, replaced = (np.where(random.random((6, BLOCK)) < 0.5, np.uint8(255), np.uint8(0)) for _ in range(2))
    replaced[5] = 0
    slow_state, slow_seen, slow_replaced = copy.deepcopy((state, seen, replaced))
    left = taken_back(slow_state, slow_seen, held, slow_replaced, longest)
    before = state.colours.copy()
    assert take_back(state, seen, held, replaced, longest) == left
    assert 0 < np.count_nonzero(replaced) == left
    assert (replaced == slow_replaced).all()
    assert (seen.nearest == slow_seen.nearest).all()
    assert (state.coefficients == slow_state.coefficients).all()
    assert (state.colours == slow_state.colours).all()
    assert (state.colours != before).any()


def with_wrong_ghost(monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, Detector]:
    """A street, and a model of it that took a square which stands there for a ghost; no other ghost mends that."""
    scene, model = street(), create("adaptive", threads=1)
    for t in range(100):
        model.apply(filmed(scene, t))
    model.apply(filmed(with_square(scene, 20, 30), 200))
    monkeypatch.setattr(forgetting, "find_ghosts", lambda mask, *_: mask.copy())
    masks = [model.apply(filmed(with_square(scene, 20, 30), 201 + t)) for t in range(8)]
    assert not masks[-1].any()
    monkeypatch.setattr(forgetting, "find_ghosts", lambda *_: None)
    return scene, model


@needs_compiler
def test_the_place_of_somebody_who_was_taken_for_a_ghost_is_background_when_he_walks_on(monkeypatch):
    scene, model = with_wrong_ghost(monkeypatch)
    masks = [model.apply(filmed(with_square(scene, 20, 30), 210 + t)) for t in range(50)]
    assert not np.any(masks)
    masks = [model.apply(filmed(scene, 300 + t)) for t in range(2)]
    assert not np.any(masks)
    # The background is what was there before: against his colours the next one to come would be looked for in vain.
    assert np.abs(model.getBackgroundImage()[..., 0].astype(int) - scene[..., 0]).max() < 20
    masks = [model.apply(filmed(scene, 302 + t)) for t in range(18)]
    assert not np.any(masks)


@needs_compiler
def test_pixels_that_may_not_learn_take_nothing_back(monkeypatch):
    scene, model = with_wrong_ghost(monkeypatch)
    before = model.getBackgroundImage()
    here = np.zeros(scene.shape[:2], bool)
    here[20:34, 30:37] = True  # half of where the square was
    for t in range(4):
        model.apply(filmed(scene, 300 + t), where=here)
    changed = (model.getBackgroundImage() != before).any(2)
    assert changed[here].mean() > 0.9
    assert not changed[~here].any()


@needs_compiler
def test_ghosts_are_judged_by_a_mask_without_shadows(monkeypatch):
    (sequence,) = open_datasets("generated:hard_shadow?strength=50&size=160x120&frames=200")
    model, asked = create("adaptive"), []
    monkeypatch.setattr(forgetting, "find_ghosts", lambda mask, *given: asked.append((mask.copy(), given[-2]())))
    counts = np.zeros((2, 2), np.int64)
    for number in sequence.numbers[:-60]:
        model.apply(sequence.read_input(number))
    for number in sequence.numbers[-60:]:
        asked.clear()
        model.apply(sequence.read_input(number))
        labels = sequence.read_labels(number, (120, 160))
        for mask, objects in asked:
            assert (objects[mask == 0] == 0).all()
            counts += [[np.count_nonzero(each[labels == label]) for each in (mask, objects)] for label in (255, 50)]
    (things, things_left), (shadows, shadows_left) = counts.tolist()
    assert things_left > 0.95 * things > 0
    assert shadows_left < 0.4 * shadows
