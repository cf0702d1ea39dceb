"""Where small squares count in the final mask, and where they count alone."""

import numpy as np
import pytest

from bgsub._jit.majority import CELL, IN_LARGE, IN_MIDDLE, IN_SMALL
from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.detectors.adaptive._jit.blocks import FACTOR_ONE, LOWEST_BLINK_RATE
from bgsub.detectors.adaptive._jit.dynamics import StaticRule, average_around, judge_cells
from bgsub.detectors.adaptive._jit.outlines.gaps import Pictures
from bgsub.detectors.adaptive._jit.outlines.trimming import COUNTS, Trust, count_inside, trim
from bgsub.detectors.adaptive.final_mask import (
    Dynamics,
    Grids,
    Masked,
    Seen,
    Sides,
    find_masks,
    find_static,
    follow_onsets,
    make_broad,
    make_static,
    scaled_sides,
)
from bgsub.postprocess import median
from tests.marks import needs_compiler

pytestmark = pytest.mark.compiled
SIZE = (90, 92)


def cleaned(raw, static=None, region=None, sides=(15, 7, 5, 5)):
    """Return the final mask of a raw one with squares of 15, 7 and 5 pixels, without filled holes."""
    size = raw.shape
    static = make_static(size) if static is None else static
    rows, cells, smaller = np.empty(size[0], np.uint8), np.empty_like(static), np.empty((2, *size), np.uint8)
    masked = Masked(np.empty_like(raw), rows, cells, np.empty_like(raw), np.empty_like(raw), smaller)
    nothing = np.zeros_like(raw)
    planes = np.zeros((1, raw.size), np.uint8)  # all sways, so that no broad region is added
    broad = make_broad(np.zeros_like(static), Pictures(raw, nothing, planes, planes), Sides(*sides), np.uint8(0))
    find_masks(raw, Seen(nothing, nothing, nothing), static, broad, region, Sides(*sides), False, 1, masked)
    return masked.mask


def fork():
    """Return a mask of a body with two legs, which are 20 pixels wide and 10 apart."""
    mask = np.zeros(SIZE, np.uint8)
    mask[5:45, 20:70] = 255
    mask[45:, 20:40] = 255
    mask[45:, 50:70] = 255
    return mask


def test_the_final_mask_is_empty_outside_of_the_region_and_the_raw_one_without_squares():
    raw, region = fork(), np.zeros(SIZE, np.uint8)
    region[10:60, 30:80] = 255
    assert (cleaned(raw, region=region) == cleaned(raw) & region).all()
    raw[::7] = 0
    assert (cleaned(raw, region=region, sides=(1, 1, 1, 1)) == raw & region).all()


def test_the_space_between_legs_stays_free_where_the_raw_mask_is_full():
    raw = fork()
    assert (cleaned(raw) == median(raw, 5)).all()
    assert median(raw, 15)[45:48, 45].all()  # which large squares fill


def test_middle_squares_free_it_as_well_where_they_count():
    raw = fork()
    static = np.full_like(make_static(SIZE), IN_MIDDLE)
    assert (cleaned(raw, static) == median(raw, 7)).all()


def test_large_squares_fill_a_raw_mask_with_holes():
    raw = fork()
    raw[::2, ::3] = 0
    raw[1::2, 1::3] = 0
    assert (cleaned(raw) == (median(raw, 15) | median(raw, 5))).all()


def test_large_squares_alone_count_where_the_background_moves():
    raw = fork()
    static = make_static(SIZE)
    static[:] = 0
    assert (cleaned(raw, static) == median(raw, 15)).all()


@pytest.mark.parametrize(("wild_rows", "trusted"), [(0, 90), (40, 50), (90, 90)])
def test_a_young_model_trusts_small_squares_where_it_is_as_calm_as_elsewhere(wild_rows, trusted):
    """Noise widens kernels everywhere, leaves and waves widen them in places."""
    static = static_at(50, wild_rows, 0.0008)
    rows = CELL * (static[:, 10] != 0).sum()
    assert abs(rows - trusted) < 3 * CELL
    assert (static[-1] == IN_SMALL).all()


@pytest.mark.parametrize(
    ("age", "rate", "counting"),
    [(50, 0.00019, IN_SMALL), (50, 0.00021, 0), (200, 0.00079, IN_SMALL), (200, 0.00081, 0), (299, 0.00119, IN_SMALL)],
)
def test_where_it_is_not_calm_a_model_wants_the_fewer_false_alarms_the_younger_it_is(age, rate, counting):
    static = static_at(age, 40, rate)
    assert (static[:5] == counting).all()
    assert (static[-5:] == IN_SMALL).all()


def static_at(age, wild_rows, rate):
    """Return which squares count where some rows have wide kernels, and false alarms cost as much everywhere."""
    factors = np.full(SIZE, FACTOR_ONE, np.uint16)
    factors[:wild_rows] = 1.4 * FACTOR_ONE
    static = make_static(SIZE)
    rates = np.full((4, *static.shape), rate, np.float32)
    rates[1] = 1.0
    dynamics = Dynamics(factors, np.full(SIZE, LOWEST_BLINK_RATE, np.uint16), rates, float(FACTOR_ONE))
    find_static(dynamics, age, Sides(3, 3, 3, 3), 1, grids_of(static))
    return static


@pytest.mark.parametrize(
    ("side", "factor", "cost", "counting"),
    [
        (3, 1, 0.0019, IN_SMALL),  # 3 of 5 columns of the neighbourhood, which is too little
        (3, 2, 0.0015, IN_SMALL),  # 7/9 of it, since its edge counts less
        (3, 2, 0.0016, 0),
        (7, 2, 0.00188, IN_SMALL),  # 3 of 11 columns, which count as a third of them: 7/11 of it
        (7, 2, 0.00189, 0),
    ],
)
def test_a_tree_is_judged_by_itself_and_not_by_the_calm_ground_around_it(side, factor, cost, counting):
    static = make_static(SIZE)
    middle = static.shape[1] // 2
    factors, rates = np.full(SIZE, FACTOR_ONE, np.uint16), np.zeros((4, *static.shape), np.float32)
    factors[:, CELL * (middle - 1) : CELL * (middle + 2)] = factor * FACTOR_ONE
    rates[:, :, middle - 1 : middle + 2] = cost
    dynamics = Dynamics(factors, np.full(SIZE, LOWEST_BLINK_RATE, np.uint16), rates, float(FACTOR_ONE))
    find_static(dynamics, 400, Sides(side, side, side, side), 1, grids_of(static))
    assert (static[:, middle] == counting).all()
    assert (static[:, [0, 1, -2, -1]] == IN_SMALL).all()


def grids_of(static):
    """Return grids of which one is given."""
    return Grids(static, *(np.full_like(static, 7) for _ in range(3)))


def static_after(pictures, votes=IN_SMALL, restless=255):
    """Return which squares count in the middle row of cells, after masks that they found, of 8 pixels, at (x, y)."""
    cells, static = np.zeros((40, 60), np.uint8), np.full((40, 60), 7, np.uint8)
    recent, rates = np.zeros((4, *cells.shape), np.uint8), np.zeros((4, *cells.shape), np.float32)
    calm = np.zeros((160, 240), np.uint16)
    for age, places in enumerate(pictures):
        cells[:] = 0
        for x, y in places:
            cells[y // CELL : y // CELL + 2, x // CELL : x // CELL + 2] = votes
        follow_onsets(cells, recent, rates, np.full(cells.shape, restless, np.uint8), age)
    dynamics = Dynamics(calm + int(FACTOR_ONE), calm + int(LOWEST_BLINK_RATE), rates, float(FACTOR_ONE))
    find_static(dynamics, 400, Sides(15, 7, 5, 5), 1, grids_of(static))
    return static[20]


@needs_compiler
def test_small_squares_count_where_small_things_pass_again_and_again():
    passing = [[((3 * age + 60 * n) % 240, 80) for n in range(4)] for age in range(400)]
    assert (static_after(passing) == IN_SMALL).all()


@needs_compiler
def test_small_squares_do_not_count_where_the_background_blinks():
    random = np.random.default_rng(0)
    crown = [(x, y) for x in range(100, 140, 8) for y in range(64, 96, 8)]
    leaves = [[leaf for leaf in crown if random.random() < 0.1] for _ in range(400)]
    assert (static_after(leaves)[25:35] == IN_MIDDLE).all()
    assert (static_after(leaves, IN_SMALL | IN_MIDDLE)[25:35] == 0).all()
    assert (static_after([[] for _ in leaves]) == IN_SMALL).all()


@needs_compiler
def test_small_squares_do_not_count_where_waves_are_always_there():
    waves = [[((2 * age + 16 * n) % 240, y) for n in range(15) for y in (60, 80, 100)] for age in range(400)]
    assert (static_after(waves) == IN_MIDDLE).all()
    assert (static_after(waves, IN_SMALL | IN_MIDDLE) == 0).all()


@needs_compiler
def test_small_squares_count_where_things_are_always_there_before_a_calm_background():
    traffic = [[((2 * age + 16 * n) % 240, y) for n in range(15) for y in (60, 80, 100)] for age in range(400)]
    assert (static_after(traffic, restless=0) == IN_SMALL).all()


@needs_compiler
def test_far_traffic_that_never_ends_stays_in_the_mask():
    """Cars of six pixels, one for every thirty pixels of two lanes; squares of five pixels round their corners off."""
    model, seen = create("adaptive"), []
    scene = np.random.default_rng(0).integers(80, 120, (120, 240, 3)).astype(np.uint8)
    for t in range(600):
        frame, truth = scene.copy(), np.zeros(scene.shape[:2], bool)
        for lane, way in ((40, 1), (56, -1)) if t >= 40 else ():
            for car in range(7):
                x = (30 * car + way * 2 * t) % 234
                frame[lane : lane + 6, x : x + 6], truth[lane : lane + 6, x : x + 6] = 230, True
        mask = model.apply(frame) != 0
        if t >= 300:
            seen.append(mask[truth].mean())
    assert np.mean(seen) > 0.65


@pytest.mark.parametrize("age", [10, 1000])
@pytest.mark.parametrize(("factor", "blinks", "expected"), [(1, 0, 0), (1.05, 0, 0.25), (1, 4, 0.15), (2, 0, 1)])
def test_the_background_is_restless_as_far_as_widths_and_blinks_exceed_the_least_ones(age, factor, blinks, expected):
    """Blink rates are in units of 1/40 and count .3; a fifth more than the least factor is restless."""
    factors = np.full(SIZE, round(0.7 * factor * FACTOR_ONE), np.uint16)
    rates = np.full(SIZE, int(LOWEST_BLINK_RATE) + blinks, np.uint16)
    grids = grids_of(make_static(SIZE))
    dynamics = Dynamics(factors, rates, np.zeros((4, *grids.static.shape), np.float32), 0.7 * float(FACTOR_ONE))
    find_static(dynamics, age, Sides(15, 7, 5, 5), 1, grids)
    np.testing.assert_allclose(grids.restless / 255, expected / (0.7 if blinks else 1), atol=5e-3)


@pytest.mark.parametrize(
    ("small", "middle", "faint", "broad", "counting"),
    [
        (0.0011, 0.0011, 0.0011, 0.00039, IN_SMALL),
        (0.0018, 0.0006, 0.0018, 0.00041, IN_MIDDLE),
        (0.0018, 0.0007, 0, 0, 0),
    ],
)
def test_a_false_alarm_costs_more_in_a_middle_square_and_in_a_broad_region(small, middle, faint, broad, counting):
    static, calm = make_static(SIZE), np.zeros(SIZE, np.uint16)
    rates = np.stack([np.full(static.shape, rate, np.float32) for rate in (small, middle, faint, broad)])
    grids = grids_of(static)
    find_static(Dynamics(calm, calm, rates, 1.0), 400, Sides(15, 7, 5, 5), 1, grids)
    assert (static == counting).all()
    assert (grids.faint_static == (faint < 0.0012)).all()
    assert (grids.broad_static == (broad < 0.0004)).all()


@pytest.mark.parametrize(("small", "middle", "counting"), [(0.0007, 0, IN_SMALL), (0.0008, 0.0006, IN_MIDDLE)])
def test_smaller_squares_in_reduced_frames_may_raise_fewer_false_alarms_and_middle_ones_as_many(
    small, middle, counting
):
    static, calm = make_static(SIZE), np.zeros(SIZE, np.uint16)
    rates = np.stack([np.full(static.shape, rate, np.float32) for rate in (small, middle, 0, 0)])
    sides = scaled_sides(15, (240, 320), reduced=True)
    find_static(Dynamics(calm, calm, rates, 1.0), 400, sides, 1, grids_of(static))
    assert (static == counting).all()


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (18, 27)])
def test_compiled_functions_equal_plain_numpy(size):
    rng = np.random.default_rng(0)
    cells = -(-size[0] // CELL), -(-size[1] // CELL)

    def random(shape, share):
        return np.where(rng.random(shape) < share, np.uint8(255), np.uint8(0))

    def spread(grid):
        return grid.repeat(CELL, 0).repeat(CELL, 1)[: size[0], : size[1]]

    def sums(image):
        padded = np.zeros((cells[0] * CELL, cells[1] * CELL))
        padded[: size[0], : size[1]] = image != 0
        return padded.reshape(cells[0], CELL, cells[1], CELL).sum((1, 3))

    raw, votes, small = random(size, 0.6), random(size, 0.98), random(size, 0.95)
    flags, static = rng.integers(0, 8, cells, np.uint8), random(cells, 0.7)
    large = flags & IN_LARGE != 0
    reach = 2
    counts = np.full((cells[0], COUNTS, cells[1] + 2 * reach), 99, np.uint8)
    middle = cells[0] // 2
    for first, last in ((0, middle), (middle, cells[0])):
        count_inside(first, last, raw, votes, small, flags, counts)
    inside, in_small = (cv2.erode(mask, np.ones((5, 5), np.uint8)) for mask in (votes, small))
    images = inside, inside & raw, in_small, in_small & raw
    expected_counts = [np.where(large, sums(image), 0) for image in images]
    for counted, count in zip(np.moveaxis(counts, 1, 0), expected_counts, strict=True):
        assert (counted == np.pad(count, ((0, 0), (reach, reach)), mode="reflect" if cells[1] > 1 else "edge")).all()
    trust = Trust(np.float32(0.5), np.float32(0.6), reach)
    means = np.dstack([cv2.blur(count.astype(np.float32), (5, 5)).reshape(cells) for count in expected_counts])
    filled = (means[..., 1] > trust.votes * means[..., 0]) & (means[..., 3] > trust.small * means[..., 2])
    expected = np.where(spread(large & (static != 0) & filled), votes & small, votes)
    for first, last in ((0, middle), (middle, cells[0])):
        trim(first, last, votes, small, flags, static, counts, trust)
    assert (votes == expected).all()


@pytest.mark.parametrize("size", [(1, 1), (3, 7), (12, 20)])
def test_means_around_cells_mirror_the_border(size):
    grids = np.random.default_rng(2).random((2, *size), np.float32)
    for reach in (1, 3, 11):
        means, side = np.empty_like(grids), 2 * reach + 1
        average_around(grids, reach, means)
        mirrored = [np.pad(grid, reach, "reflect") if min(size) > 1 else np.pad(grid, reach, "edge") for grid in grids]
        windows = np.lib.stride_tricks.sliding_window_view(mirrored, (side, side), (1, 2))
        np.testing.assert_allclose(means, windows.mean((3, 4)), rtol=1e-5)


def test_small_squares_count_where_their_mean_cost_is_below_the_limit_for_how_restless_it_is():
    random = np.random.default_rng(3)
    levels, costs = random.uniform(0.8, 2, (9, 11)).astype(np.float32), random.random((4, 9, 11), np.float32)
    rule = StaticRule(*np.float32([1, 0.2, 1.25, 0.6, 0.2, 0.5, 0.9, 0.7, 0.3]))
    static, faint_static, broad_static, restless = (np.full(levels.shape, 7, np.uint8) for _ in range(4))
    judge_cells(levels, costs, rule, static, faint_static, broad_static, restless)
    limits = np.where(levels >= 1.2 * 1.25, 0.2, 0.6)
    small, middle, faint, broad = costs
    expected = np.where(small < 0.9 * limits, IN_SMALL, np.where(middle < 0.5 * limits, IN_MIDDLE, 0))
    np.testing.assert_array_equal(static, expected)
    np.testing.assert_array_equal(faint_static, faint < 0.3)
    np.testing.assert_array_equal(broad_static, broad < 0.7 * limits)
    np.testing.assert_allclose(restless, np.clip((levels - 1) / 0.2 * 255, 0, 255), atol=0.51)
    assert {0, int(IN_SMALL), int(IN_MIDDLE)} == set(np.unique(static))
