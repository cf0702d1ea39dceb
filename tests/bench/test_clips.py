"""Frames to measure on: which are kept, and how many."""

from pathlib import Path

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.bench import Clip, clips, open_clip, scene_clip, sequence_clip
from bgsub.errors import SourceError, UnsupportedError
from bgsub.evaluation import find_sequences
from bgsub.video.sources.synthetic import SyntheticScene, write_sample
from tests.video.moving_square import SIZE, square_frame, write_images, write_video

FRAME_BYTES = SIZE[0] * SIZE[1] * 3


@pytest.fixture
def video(tmp_path: Path) -> str:
    return str(write_video(tmp_path / "square.mkv", 40))


def numbered(count: int) -> list[np.ndarray]:
    return [np.full((2, 3), number, np.uint8) for number in range(count)]


def test_frames_play_forwards_and_backwards() -> None:
    clip = Clip("four", numbered(4))
    assert [int(clip.frame(index)[0, 0]) for index in range(14)] == [0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]
    assert [int(Clip("two", numbered(2)).frame(index)[0, 0]) for index in range(5)] == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(("count", "warmup"), [(2, 34), (60, 34), (150, 50), (300, 100), (900, 100)])
def test_warmup_is_a_third_within_limits(count: int, warmup: int) -> None:
    assert Clip("some", numbered(1) * count).warmup == warmup


def test_the_first_frames_are_kept_in_succession(video: str) -> None:
    clip = open_clip(video, frames=7, start=5).read()
    assert (clip.first, clip.rate_hz, clip.size, clip.rescaled) == (5, 25.0, SIZE, False)
    np.testing.assert_array_equal(clip.frames, [square_frame(index) for index in range(4, 11)])


def test_decoding_and_conversion_are_timed_apart_for_files_only(video: str, tmp_path: Path) -> None:
    clip = open_clip(video).read()
    assert clip.decode_ms is not None
    assert clip.convert_ms is not None
    assert min(clip.decode_ms, clip.convert_ms) > 0
    images = open_clip(str(write_images(tmp_path / "images", 3))).read()
    assert images.decode_ms is not None
    assert images.decode_ms > 0
    assert images.convert_ms is None
    assert scene_clip((16, 16)).read().decode_ms is None


def test_memory_is_bounded(video: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clips, "_MOST_BYTES", 6 * FRAME_BYTES + 1)
    assert len(open_clip(video).read().frames) == 6
    monkeypatch.setattr(clips, "_MOST_BYTES", 1)
    assert len(open_clip(video).read().frames) == 2
    assert len(open_clip(video, size=(4, 4)).read().frames) == 2


def test_the_limit_is_that_of_rescaled_frames(video: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clips, "_MOST_BYTES", 6 * FRAME_BYTES)
    assert len(open_clip(video, size=(SIZE[0] // 2, SIZE[1] // 2)).read().frames) == 24


@pytest.mark.parametrize("size", [(24, 32), (96, 128), (10, 70)])
def test_frames_are_rescaled(video: str, size: tuple[int, int]) -> None:
    clip = open_clip(video, size=size, frames=3).read()
    assert clip.rescaled
    assert [frame.shape for frame in clip.frames] == [(*size, 3)] * 3
    expected = cv2.resize(square_frame(0), size[::-1], interpolation=cv2.INTER_LINEAR)
    assert np.abs(clip.frames[0].astype(int) - expected).mean() < 6


@pytest.mark.parametrize("size", [(10**6, 10**6), (1, 2**28)])
def test_absurd_sizes_are_refused_before_anything_is_read(size: tuple[int, int]) -> None:
    for make in (lambda: open_clip("missing.mkv", size=size), lambda: scene_clip(size)):
        with pytest.raises(SourceError, match="more than"):
            make()


def test_sequences_of_a_data_set_are_read_in_order(tmp_path: Path) -> None:
    write_sample(tmp_path / "town" / "street", SyntheticScene(size=(32, 40), frames=12))
    (sequence,) = find_sequences(tmp_path)
    source = sequence_clip(sequence, frames=4, start=3)
    clip = source.read()
    assert source.name == clip.name == "town/street"
    assert (clip.first, clip.rate_hz, clip.convert_ms) == (3, None, None)
    np.testing.assert_array_equal(clip.frames, [sequence.read_input(number) for number in sequence.numbers[2:6]])


def test_names_hide_credentials() -> None:
    assert open_clip("rtsp://user:secret@camera/live").name == "rtsp://camera/live"


def test_nothing_is_opened_before_it_is_read() -> None:
    source = open_clip("missing.mkv")
    with pytest.raises(SourceError, match=r"missing\.mkv"):
        source.read()


@pytest.mark.parametrize("start", [40, 41, 10**6])
def test_a_clip_that_ends_too_early_is_explained(video: str, start: int) -> None:
    with pytest.raises(SourceError, match=f"fewer than 2 frames from frame {start} on"):
        open_clip(video, start=start).read()


@pytest.mark.parametrize("wrong", [{"frames": 1}, {"start": 0}])
def test_wrong_numbers_are_refused(video: str, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        open_clip(video, **wrong).read()


def test_deep_frames_are_refused(tmp_path: Path) -> None:
    for number in range(3):
        assert cv2.imwrite(str(tmp_path / f"in{number}.png"), np.zeros((8, 8), np.uint16))
    with pytest.raises(UnsupportedError, match=r"uint16 frames.*convert it to 8 bits"):
        open_clip(str(tmp_path)).read()


def test_sequences_that_change_size_are_explained_unless_rescaled(tmp_path: Path) -> None:
    write_sample(tmp_path, SyntheticScene(size=(32, 40), frames=6))
    (sequence,) = find_sequences(tmp_path)
    assert cv2.imwrite(str(sequence.inputs[4]), np.zeros((16, 20, 3), np.uint8))
    with pytest.raises(SourceError, match="20x16 colour, those before are 40x32 colour"):
        sequence_clip(sequence).read()
    assert len(sequence_clip(sequence, size=(32, 40)).read().frames) == 6
