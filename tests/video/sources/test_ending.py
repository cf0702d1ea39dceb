"""No video that was cut off passes for a whole one, and no whole one for a damaged one."""

import itertools
import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from bgsub.errors import SourceError
from bgsub.video.sources import open_source
from bgsub.video.sources.ending import End, check_end
from tests.command import bgsub
from tests.data import shared_data
from tests.video.moving_square import write_images
from tests.video.sources.test_http import serve
from tests.video.sources.test_sources import serve as serve_folder

YUV = {"pixels": "yuv420p"}
H264 = {"codec": "libx264", **YUV}
FRAGMENTS = {"movflags": "frag_keyframe+empty_moov"}
UNINDEXED = {"movflags": "frag_keyframe+empty_moov+skip_trailer"}
COUNT = 60

VERIFIED = {
    "a.mkv": {},
    "b.mkv": H264,
    "c.webm": {"codec": "libvpx", **YUV},
    "d.avi": {"codec": "mpeg4", **YUV},
    "e.mp4": H264,
    "f.mp4": {**H264, "container_options": {"movflags": "faststart"}},
    "g.mov": {"codec": "mjpeg", "pixels": "yuvj420p"},
    "h.gif": {"codec": "gif", "pixels": "rgb8"},
    "i.ogv": {"codec": "libvpx", **YUV},
    "j.flv": {"codec": "flv1", **YUV},
    "k.flv": H264,
    "l.wmv": {"codec": "wmv2", **YUV},
    "m.3gp": H264,
    "n.mp4": {**H264, "options": {"g": "10"}, "container_options": FRAGMENTS},
}
UNVERIFIED = {
    "o.ts": H264,
    "p.ts": {"codec": "mpeg2video", **YUV},
    "q.mpg": {"codec": "mpeg2video", **YUV},
    "r.h264": H264,
    "s.mjpg": {"codec": "mjpeg", "pixels": "yuvj420p"},
    "t.m2ts": H264,
    "u.mp4": {**H264, "options": {"g": "10"}, "container_options": UNINDEXED},
}
CUTS = [0.5, 0.77, 0.9]


def read(source: object, **part: object) -> tuple[int, bool, str]:
    """Return the number of frames, whether the end is verified, and the text of the error that ends them."""
    count, opened = 0, None
    try:
        with open_source(str(source), **part) as opened:
            for _ in opened:
                count += 1
    except SourceError as error:
        return count, opened is not None and opened.end_verified, str(error)
    return count, opened.end_verified, ""


@pytest.mark.parametrize("name", [*VERIFIED, *UNVERIFIED])
def test_a_whole_file_is_read_without_complaint(
    video: Callable[..., Path], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = video(name, count=COUNT, **(VERIFIED | UNVERIFIED)[name])
    assert read(path) == (COUNT, name in VERIFIED, "")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", VERIFIED)
def test_a_file_that_was_cut_off_is_damaged_after_its_last_frame(
    video: Callable[..., Path], name: str, cut: float
) -> None:
    path = video(name, count=COUNT, **VERIFIED[name])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)])
    count, verified, reason = read(path)
    assert not verified
    if name != "n.mp4":  # which may be cut between two fragments
        assert (f"damaged after frame {count} " if count else "missing at its end") in reason


@pytest.mark.parametrize("name", UNVERIFIED)
def test_the_end_of_a_file_that_cannot_show_it_is_never_verified(video: Callable[..., Path], name: str) -> None:
    path = video(name, count=COUNT, **UNVERIFIED[name])
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4 // 188 * 188])
    count, verified, _ = read(path)
    assert 10 < count < COUNT
    assert not verified


@pytest.mark.parametrize(("name", "size"), [("o.ts", 188), ("t.m2ts", 192)])
def test_a_packet_of_a_transport_stream_that_is_incomplete_is_damage(
    video: Callable[..., Path], name: str, size: int
) -> None:
    path = video(name, count=COUNT, **UNVERIFIED[name])
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4 // size * size + 100])
    count, _, reason = read(path)
    assert 10 < count < COUNT
    assert f"damaged after frame {count} (its last packet has 100 of {size} bytes)" in reason


def test_an_flv_that_was_cut_between_two_tags_ends_before_its_duration(video: Callable[..., Path]) -> None:
    path = video("k.flv", count=COUNT, **H264)
    data, end = path.read_bytes(), 13
    while end < len(data) // 2:
        end += 15 + int.from_bytes(data[end + 1 : end + 4], "big")
    path.write_bytes(data[:end])
    count, _, reason = read(path)
    assert f"damaged after frame {count} (it ends 1." in reason
    assert "before the duration that it states)" in reason


def test_an_ogg_that_was_cut_between_two_pages_lacks_the_last(video: Callable[..., Path]) -> None:
    path = video("i.ogv", count=COUNT, codec="libvpx", **YUV)
    data = path.read_bytes()
    path.write_bytes(data[: data.rfind(b"OggS")])
    assert "its last page is missing" in read(path)[2]
    path.write_bytes(data[: data.rfind(b"OggS") + 2])
    assert "its end is missing" in read(path)[2]


@pytest.mark.parametrize("name", ["a.mkv", "d.avi", "f.mp4", "h.gif", "i.ogv", "k.flv", "l.wmv", "o.ts", "q.mpg"])
def test_no_cut_is_verified(video: Callable[..., Path], tmp_path: Path, name: str) -> None:
    data = video(name, count=12, **(VERIFIED | UNVERIFIED)[name]).read_bytes()
    cut = tmp_path / "cut"
    for size in range(1, len(data), max(1, len(data) // 400)):
        cut.write_bytes(data[:size])
        with cut.open("rb") as file:
            assert not check_end(file, size).verified, size


@pytest.mark.parametrize("name", [*VERIFIED, *UNVERIFIED])
def test_damage_elsewhere_breaks_no_check(video: Callable[..., Path], tmp_path: Path, name: str) -> None:
    data = bytearray(video(name, count=12, **(VERIFIED | UNVERIFIED)[name]).read_bytes())
    damaged = tmp_path / "damaged"
    for at in range(0, min(len(data), 3000), 7):
        damaged.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
        with damaged.open("rb") as file:
            assert isinstance(check_end(file, len(data)), End)


def test_real_clips_are_complete(clips: list[Path]) -> None:
    for path in (*clips, *(shared_data() / "video").glob("*.mkv")):
        with path.open("rb") as file:
            assert check_end(file, path.stat().st_size) == End(verified=True), path


def test_images_scenes_and_parts_are_verified(tmp_path: Path, video: Callable[..., Path]) -> None:
    assert read(write_images(tmp_path / "i", 3)) == (3, True, "")
    assert read("synthetic:easy?frames=3&size=64x48") == (3, True, "")
    path = video("o.ts", count=COUNT, **H264)
    assert read(path, end=20) == (20, True, "")
    assert read(path, start=20, skip=2) == (21, False, "")


class TestOverHttp:
    @pytest.mark.parametrize("name", ["b.mkv", "c.webm", "k.flv", "l.wmv", "e.mp4"])
    def test_a_whole_file_is_verified_or_not_but_never_damaged(self, video: Callable[..., Path], name: str) -> None:
        path = video(name, count=COUNT, **VERIFIED[name])
        with serve_folder(path) as url:
            count, verified, reason = read(url)
        assert (count, reason) == (COUNT, "")
        assert verified == (name != "e.mp4")

    @pytest.mark.parametrize("framing", ["length", "chunks", "connection"])
    @pytest.mark.parametrize("name", ["b.mkv", "l.wmv"])
    def test_a_file_truncated_on_the_server_is_damaged(
        self, video: Callable[..., Path], caplog: pytest.LogCaptureFixture, name: str, framing: str
    ) -> None:
        path = video(name, count=COUNT, **VERIFIED[name])
        data = path.read_bytes()
        with serve(itertools.repeat(data[: len(data) // 2]), framing) as url:
            count, verified, reason = read(url, reconnects=1)
        assert not verified
        if framing == "length":
            assert f"clip is damaged after frame {count} " in reason
            assert "bytes are missing at its end" in reason
        elif name == "b.mkv" and not reason:
            assert "before the duration that it states; it may have been cut off" in caplog.text

    def test_a_truncated_file_on_a_server_with_ranges_is_damaged(self, video: Callable[..., Path]) -> None:
        path = video("b.mkv", count=COUNT, **H264)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with serve_folder(path) as url:
            count, _, reason = read(url)
        assert f"is damaged after frame {count} " in reason


@pytest.mark.parametrize(
    ("name", "end"), [("a.mkv", "verified"), ("h.gif", "verified"), ("o.ts", "unverified"), ("q.mpg", "unverified")]
)
def test_the_summary_names_an_end_that_is_unverified(
    video: Callable[..., Path], capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, end: str
) -> None:
    path = video(name, count=12, **(VERIFIED | UNVERIFIED)[name])
    assert bgsub("run", path, "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["end"] == end
    assert shown.err == ""
    assert bgsub("-v", "run", path, "-o", tmp_path / "m.mkv") == 0
    shown = capsys.readouterr()
    assert ("end unverified" in shown.out) == (end == "unverified")
    assert ("does not state where it ends" in shown.err) == (end == "unverified")
