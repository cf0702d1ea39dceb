"""A folder that grows as one live source: the newest file, then each that comes, with times that rise."""

import os
import threading
import time
from pathlib import Path

import av
import numpy as np
import pytest

from bgsub.errors import SourceError
from bgsub.frames import Packet
from bgsub.watching.cameras.following import FollowedFolder
from bgsub.watching.settings import CameraSettings, read_settings


@pytest.fixture
def camera(tmp_path: Path) -> CameraSettings:
    (tmp_path / "barn").mkdir()
    path = tmp_path / "cameras.toml"
    path.write_text('output = "out"\n[cameras.barn]\nfolder = "barn"\nsettle_s = 0.5')
    return read_settings(path).cameras[0]


def record(camera: CameraSettings, name: str, *, shade: int, age_s: float = 60.0, side: int = 32) -> None:
    """A finished file of 5 frames, last written so long ago."""
    path = Path(camera.source) / name
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.width = stream.height = side
        stream.pix_fmt = "bgr0"
        for _ in range(5):
            image = np.full((side, side, 3), shade, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="bgr24")))
        container.mux(stream.encode())
    written_s = time.time() - age_s
    os.utime(path, (written_s, written_s))


def shade(packet: Packet) -> int:
    return round(float(packet.frame.mean()) / 50)


def test_the_newest_file_is_played_and_then_each_that_comes(camera):
    record(camera, "1.mkv", shade=50)
    record(camera, "2.mkv", shade=100)
    with FollowedFolder(camera) as source:
        assert source.info.live
        assert source.info.count is None
        packets = [source.read() for _ in range(5)]
        record(camera, "3.mkv", shade=150)
        packets += [source.read() for _ in range(5)]
    assert [shade(packet) for packet in packets] == [2] * 5 + [3] * 5
    times = [packet.time_s for packet in packets]
    assert times == sorted(set(times))
    assert [packet.number for packet in packets] == list(range(1, 11))
    assert sorted(path.name for path in Path(camera.source).parent.iterdir()) == ["barn", "cameras.toml"]


def test_a_file_that_still_grows_is_left_for_later(camera):
    record(camera, "1.mkv", shade=50)
    record(camera, "2.mkv", shade=100, age_s=0.0)
    with FollowedFolder(camera) as source:
        assert shade(source.read()) == 1


def test_frames_come_at_their_speed_and_faster_while_files_wait(camera):
    record(camera, "1.mkv", shade=50)
    with FollowedFolder(camera) as source:
        source.read()
        begin = time.monotonic()
        [source.read() for _ in range(4)]
        assert time.monotonic() - begin > 0.9 * 4 / 25
        for name in ("2.mkv", "3.mkv", "4.mkv"):
            record(camera, name, shade=100)
        assert source._segments.is_behind


def test_a_wait_for_the_next_file_can_be_broken_off(camera):
    record(camera, "1.mkv", shade=50)
    with FollowedFolder(camera) as source:
        [source.read() for _ in range(5)]
        timer = threading.Timer(0.1, source.interrupt)
        timer.start()
        assert source.read() is None
        timer.join()


def test_a_folder_without_a_complete_file_and_another_size_are_errors(camera):
    with pytest.raises(SourceError, match="holds no complete video yet"):
        FollowedFolder(camera)
    record(camera, "1.mkv", shade=50)
    with FollowedFolder(camera) as source:
        [source.read() for _ in range(5)]
        record(camera, "2.mkv", shade=50, side=48)
        with pytest.raises(SourceError, match="frame size of barn changes"):
            source.read()
