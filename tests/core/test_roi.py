"""Regions of interest: every way to write one down, and every way to get it wrong."""

from pathlib import Path

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.errors import ConfigError
from bgsub.roi import Region, open_region

SIZE = (48, 64)
LEFT_HALF = ((0.0, 0.0), (31.0, 0.0), (31.0, 47.0), (0.0, 47.0))
CORNER = ((0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0))


def left_half() -> np.ndarray:
    mask = np.zeros(SIZE, np.uint8)
    mask[:, :32] = 255
    return mask


@pytest.mark.parametrize("text", ["0,0 31,0 31,47 0,47", " 0 , 0  31,0 31.2,47\t0,46.8 ", "-50,-9 31,-9 31,99 -50,99"])
def test_polygon_text_is_drawn_with_its_border(text: str) -> None:
    np.testing.assert_array_equal(open_region(text).mask(SIZE), left_half())


def test_excluded_polygons_are_cut_out_of_the_included_ones() -> None:
    expected = left_half()
    expected[:10, :10] = 0
    np.testing.assert_array_equal(Region((LEFT_HALF,), (CORNER,)).mask(SIZE), expected)


def test_exclusion_alone_leaves_the_rest_of_the_frame() -> None:
    np.testing.assert_array_equal(Region(exclude=(LEFT_HALF,)).mask(SIZE), 255 - left_half())


def test_several_included_polygons_are_joined() -> None:
    other = tuple((63 - x, y) for x, y in LEFT_HALF)
    assert (Region((LEFT_HALF, other)).mask(SIZE) == 255).all()


def test_saved_region_is_the_same_when_opened(tmp_path: Path) -> None:
    region = Region((LEFT_HALF, ((1.5, 2.25), (3.0, 4.0), (60.0, 9.0))), (CORNER,))
    region.save(tmp_path / "region.json")
    assert open_region(str(tmp_path / "region.json")) == region


def test_image_is_inside_where_it_is_not_black(tmp_path: Path) -> None:
    path = tmp_path / "region.png"
    cv2.imwrite(str(path), np.where(left_half(), 7, 0))
    np.testing.assert_array_equal(open_region(str(path)).mask(SIZE), left_half())


def test_image_cannot_be_saved_as_polygons(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only a region of polygons"):
        Region(image=left_half()).save(tmp_path / "region.json")


def test_unwritable_region_file_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot write the region .*choose a writable folder"):
        Region((LEFT_HALF,)).save(tmp_path / "none" / "region.json")


def refusal(text: str, size: tuple[int, int] = SIZE) -> str:
    with pytest.raises(ConfigError) as caught:
        open_region(text).mask(size)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("none.json", "no such file, and no polygon"),
        ("none.png", "no such file, and no polygon"),
        ("", "no such file, and no polygon"),
        ("1,1", "at least 3 corners, got 1"),
        ("1,1 2,2", "at least 3 corners, got 2"),
        ("1.2.3,1 2,2 3,3", "could not convert string to float"),
        ("1,1 2,2 3", "no polygon"),
        ("99999999999,0 9,9 0,9", "corners must lie within"),
        ("1" * 400 + ",0 9,9 0,9", "corners must lie within"),
        (" ".join(["0,0 9,9 0,9"] * 5462), "at most 16384 corners, got 16386"),
        ("100,100 200,100 200,200", "leaves nothing of a 64x48 frame"),
    ],
)
def test_wrong_text_is_one_error(text: str, reason: str) -> None:
    message = refusal(text)
    assert reason in message
    assert text in message or "frame" in message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "cannot read the region"),
        ('{"include": [[1,2]]', "cannot read the region"),
        ("[1, 2]", "is not a region file"),
        ("{}", "is not a region file"),
        ('{"inclde": []}', "is not a region file"),
        ('{"include": 5}', "polygons are lists of corners x, y"),
        ('{"include": [[1, 2, 3]]}', "polygons are lists of corners x, y"),
        ('{"include": [[[1, 2, 3], [1, 2, 3], [1, 2, 3]]]}', "polygons are lists of corners x, y"),
        ('{"include": [[["a", 2], [1, 2], [3, 4]]]}', "polygons are lists of corners x, y"),
        ('{"exclude": [[[1, 2], [3, 4]]]}', "at least 3 corners, got 2"),
        ('{"include": [[[NaN, 2], [3, 4], [5, 6]]]}', "corners must lie within"),
        ('{"exclude": [[[-1, -1], [99, -1], [99, 99], [-1, 99]]]}', "leaves nothing of a 64x48 frame"),
    ],
)
def test_wrong_file_is_one_error_that_names_it(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "region.json"
    path.write_text(content)
    message = refusal(str(path))
    assert reason in message
    assert str(path) in message or "frame" in message


def test_text_file_as_image_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "region.png").write_text("no image")
    assert "is not a readable image" in refusal(str(tmp_path / "region.png"))


def test_image_of_another_size_is_one_error_with_both(tmp_path: Path) -> None:
    path = tmp_path / "region.png"
    cv2.imwrite(str(path), left_half())
    message = refusal(str(path), (40, 30))
    assert "64x48" in message
    assert "30x40" in message


def test_black_image_is_one_error(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "region.png"), np.zeros(SIZE, np.uint8))
    assert "leaves nothing" in refusal(str(tmp_path / "region.png"))
