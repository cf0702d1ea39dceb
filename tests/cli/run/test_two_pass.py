"""`bgsub run --two-pass`: what stands in the first frames is found, because the whole clip was learned before."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.frames import VideoInfo
from bgsub.video.sources import FrameSource, open_source
from tests.command import bgsub

pytestmark = pytest.mark.usefixtures("no_leaked_threads", "compiled")

FRAMES, LEAVES = 60, 25


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """Images of a street on which a bright square stands from the start and then is gone."""
    folder = tmp_path_factory.mktemp("clip")
    generator = np.random.default_rng(0)
    street = generator.integers(60, 150, (60, 80, 3))
    for number in range(1, FRAMES + 1):
        frame = street.copy()
        if number <= LEAVES:
            frame[20:40, 30:50] = 235
        noisy = np.clip(frame + generator.normal(0, 2, frame.shape), 0, 255).astype(np.uint8)
        cv2.imwrite(str(folder / f"in{number:06d}.png"), noisy)
    return folder


def found(clip, path, *options):
    """Return, frame by frame, the share of the square's place that is foreground."""
    assert bgsub("run", clip, "-o", path, "--quiet", "--threads", 1, *options) == 0
    with open_source(path) as source:
        return [float((packet.frame[22:38, 32:48] != 0).mean()) for packet in source]


def test_what_stands_in_the_first_frames_is_found_in_the_second_pass(clip, tmp_path):
    once = found(clip, tmp_path / "once.mkv")
    twice = found(clip, tmp_path / "twice.mkv", "--two-pass")
    assert len(once) == len(twice) == FRAMES
    assert max(once[:LEAVES]) < 0.1
    assert min(twice[:LEAVES]) > 0.9
    assert max(twice[LEAVES + 5 :]) < 0.1


def test_the_second_pass_can_be_frozen(clip, tmp_path):
    shares = found(clip, tmp_path / "frozen.mkv", "--two-pass", "--learning-rate", 0)
    assert min(shares[:LEAVES]) > 0.9


class Live(FrameSource):
    """A camera."""

    info = VideoInfo("camera 0", size=(60, 80), rate_hz=25.0, live=True)

    def read(self):
        raise AssertionError("must not be read")


def test_a_camera_cannot_be_read_twice(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("bgsub.video.sources.open_source", lambda *_args, **_named: Live())
    assert bgsub("run", "camera:0", "-o", tmp_path / "mask.mkv", "--two-pass") == 2
    assert "--two-pass needs a source that can be read twice, not camera 0" in capsys.readouterr().err
    assert not (tmp_path / "mask.mkv").exists()
