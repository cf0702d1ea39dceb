"""Post-processing against OpenCV and a slow flood fill."""

from collections.abc import Callable

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.postprocess import RAW, Postprocess, fill_holes, median, remove_small

EDGES = ((0, 1), (1, 0), (0, -1), (-1, 0))
CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))

MASKS: dict[str, Callable[[], np.ndarray]] = {
    "sparse": lambda: random_mask(0, (23, 31), 0.2),
    "even": lambda: random_mask(1, (23, 31), 0.5),
    "dense": lambda: random_mask(2, (30, 20), 0.7),
    "empty": lambda: np.zeros((7, 9), np.uint8),
    "full": lambda: np.full((7, 9), 255, np.uint8),
    "one pixel": lambda: np.full((1, 1), 255, np.uint8),
    "one background pixel": lambda: np.zeros((1, 1), np.uint8),
    "row": lambda: random_mask(3, (1, 40), 0.6),
    "ring": lambda: cv2.rectangle(np.zeros((9, 9), np.uint8), (2, 2), (6, 6), 255, 1),
    "ring at the border": lambda: cv2.rectangle(np.zeros((9, 9), np.uint8), (0, 0), (6, 6), 255, 1),
    "diamond": lambda: np.array([[0, 255, 0], [255, 0, 255], [0, 255, 0]], np.uint8),
}


def random_mask(seed: int, size: tuple[int, int], share: float) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(size) < share, 255, 0).astype(np.uint8)


def regions(mask: np.ndarray, value: int, steps: tuple[tuple[int, int], ...]) -> list[set[tuple[int, int]]]:
    """Flood every region of a value, pixel by pixel."""
    left = {(int(y), int(x)) for y, x in np.argwhere(mask == value)}
    found = []
    while left:
        todo = [left.pop()]
        region = set(todo)
        while todo:
            y, x = todo.pop()
            near = {(y + dy, x + dx) for dy, dx in steps} & left
            left -= near
            region |= near
            todo += near
        found.append(region)
    return found


def slow_fill(mask: np.ndarray) -> np.ndarray:
    filled = mask.copy()
    last_y, last_x = mask.shape[0] - 1, mask.shape[1] - 1
    for hole in regions(mask, 0, EDGES):
        if not any(y in (0, last_y) or x in (0, last_x) for y, x in hole):
            filled[tuple(np.transpose(list(hole)))] = 255
    return filled


def slow_remove(mask: np.ndarray, least: int) -> np.ndarray:
    left = mask.copy()
    for region in regions(mask, 255, EDGES + CORNERS):
        if len(region) < least:
            left[tuple(np.transpose(list(region)))] = 0
    return left


@pytest.mark.parametrize("size", range(3, 23, 2))
@pytest.mark.parametrize("shape", [(40, 53), (9, 60), (4, 3), (1, 1), (1, 30)])
def test_median_is_that_of_opencv_for_every_size_and_small_images(size: int, shape: tuple[int, int]) -> None:
    for seed, share in enumerate((0.1, 0.45, 0.5, 0.55, 0.9)):
        mask = random_mask(seed, shape, share)
        np.testing.assert_array_equal(median(mask, size), cv2.medianBlur(mask, size))


@pytest.mark.parametrize("name", MASKS)
def test_holes_are_those_of_a_flood_fill(name: str) -> None:
    mask = MASKS[name]()
    np.testing.assert_array_equal(fill_holes(mask), slow_fill(mask))


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("least", [1, 2, 5, 10_000])
def test_small_regions_are_those_of_a_flood_fill(name: str, least: int) -> None:
    mask = MASKS[name]()
    np.testing.assert_array_equal(remove_small(mask, least), slow_remove(mask, least))


def test_steps_follow_each_other_in_the_documented_order() -> None:
    mask = random_mask(5, (40, 50), 0.55)
    expected = slow_remove(slow_fill(cv2.medianBlur(mask, 3)), 30)
    np.testing.assert_array_equal(Postprocess(median=3, fill_holes=True, min_area=30)(mask), expected)
    assert expected.any()


@pytest.mark.parametrize("steps", [{"median": 3}, {"median": 9}, {"fill_holes": True}, {"min_area": 20}])
def test_input_is_not_written_to(steps: dict[str, int]) -> None:
    mask = random_mask(6, (40, 50), 0.4)
    before = mask.copy()
    mask.flags.writeable = False
    result = Postprocess(**{"median": 1, **steps})(mask)
    np.testing.assert_array_equal(mask, before)
    assert (result != before).any()
    assert set(np.unique(result)) <= {0, 255}


def test_raw_returns_the_mask_itself() -> None:
    mask = random_mask(7, (10, 10), 0.5)
    assert RAW(mask) is mask


@pytest.mark.parametrize(
    "wrong",
    [
        {"median": 0},
        {"median": 4},
        {"median": -3},
        {"median": 1001},
        {"median": 3.0},
        {"median": True},
        {"fill_holes": "yes"},
        {"fill_holes": 1},
        {"min_area": -1},
        {"min_area": 2.5},
        {"min_area": False},
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, object]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=rf"^{name} must be .*, got {value!r}$"):
        Postprocess(**wrong)  # type: ignore[arg-type]
