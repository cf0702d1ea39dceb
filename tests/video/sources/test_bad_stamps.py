"""Damaged files, stamps that are missing or go back, and tags in other encodings: every frame has a later time."""

import itertools
import logging
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from bgsub.errors import SourceError
from bgsub.frames import Packet, Result
from bgsub.video._pyav import ANY_TAGS
from bgsub.video.sinks import MaskVideo
from bgsub.video.sources import open_source
from tests.video.moving_square import square_frame, write_video

H264 = {"codec": "libx264", "pixels": "yuv420p"}
DELAYED = [
    ("fast.mp4", {**H264, "options": {"g": "20"}, "container_options": {"movflags": "faststart"}}),
    ("h264.mkv", {**H264, "options": {"g": "20"}}),
    ("h264.avi", {**H264, "options": {"g": "20"}}),
    ("mpeg4.avi", {"codec": "mpeg4", "pixels": "yuv420p", "options": {"g": "20", "bf": "2"}}),
    ("vp9.webm", {"codec": "libvpx-vp9", "pixels": "yuv420p", "options": {"g": "20"}}),
]


def read(path: Path, **part: object) -> tuple[list[Packet], str]:
    """Return the frames of a file, and the text of the error that ends it."""
    packets: list[Packet] = []
    with open_source(path, **part) as source:
        try:
            packets.extend(source)
        except SourceError as error:
            return packets, str(error)
    return packets, ""


def rises(packets: list[Packet]) -> bool:
    times = [packet.time_s for packet in packets]
    return all(map(math.isfinite, times)) and all(one < other for one, other in itertools.pairwise(times))


def joined(streams: list[bytes]) -> bytes:
    """Join transport streams as one sender does: the counters of their packets go on, their times do not."""
    data = bytearray(b"".join(streams))
    counts: dict[bytes, int] = {}
    for at in range(0, len(data), 188):
        pid = bytes((data[at + 1] & 0x1F, data[at + 2]))
        if data[at + 3] & 0x10:  # with a payload
            counts[pid] = (counts.get(pid, -1) + 1) % 16
            data[at + 3] = data[at + 3] & 0xF0 | counts[pid]
    return bytes(data)


@pytest.mark.parametrize(("name", "settings"), DELAYED, ids=[name for name, _ in DELAYED])
def test_frames_flushed_after_damage_have_the_times_of_the_whole_file(
    video: Callable[..., Path], tmp_path: Path, name: str, settings: dict[str, object]
) -> None:
    path = video(name, count=60, **settings)
    whole, _ = read(path)
    data = path.read_bytes()
    cut = tmp_path / f"cut_{name}"
    cut.write_bytes(data[: len(data) * 3 // 4])
    packets, reason = read(cut)
    assert f"damaged after frame {len(packets)} " in reason
    assert 10 < len(packets) < 60
    assert rises(packets)
    for packet, expected in zip(packets[:-4], whole, strict=False):  # the last may lack a part, or one between them
        assert packet.time_s == pytest.approx(expected.time_s)
        assert np.array_equal(packet.frame, expected.frame)


def test_a_mask_video_of_a_damaged_file_holds_every_frame_before_the_damage(
    video: Callable[..., Path], tmp_path: Path
) -> None:
    path = video("fast.mp4", count=60, **DELAYED[0][1])
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 4])
    packets, _ = read(path)
    masks = tmp_path / "masks.mkv"
    sink = MaskVideo(masks)
    for packet in packets:
        sink.write(Result(packet, np.zeros(packet.frame.shape[:2], np.uint8)))
    sink.close()
    written, _ = read(masks)
    assert [packet.time_s for packet in written] == pytest.approx([packet.time_s for packet in packets], abs=1e-3)


@pytest.mark.parametrize("cut", [0.5, 0.65, 0.8])
def test_a_cut_program_stream_has_finite_times(video: Callable[..., Path], tmp_path: Path, cut: float) -> None:
    path = video("s.mpg", count=60, codec="mpeg2video", pixels="yuv420p", options={"g": "12", "bf": "2"})
    data = path.read_bytes()
    short = tmp_path / "short.mpg"
    short.write_bytes(data[: int(len(data) * cut)])
    packets, _ = read(short)
    assert len(packets) > 5
    assert rises(packets)


def test_frames_before_a_change_of_size_are_read_from_joined_streams(tmp_path: Path) -> None:
    parts = [write_video(tmp_path / f"{size[0]}.ts", 20, size, **H264).read_bytes() for size in ((48, 64), (96, 128))]
    path = tmp_path / "both.ts"
    for data in (joined(parts), b"".join(parts)):  # the counters of the packets go on, and jump
        path.write_bytes(data)
        packets, reason = read(path)
        assert len(packets) == 20
        assert rises(packets)
        assert "from 64x48 to 128x96 at frame 21" in reason


def test_packets_that_a_transport_stream_lacks_are_damage(tmp_path: Path) -> None:
    data = write_video(tmp_path / "whole.ts", 60, **H264, options={"g": "10"}).read_bytes()
    lacks = tmp_path / "lacks.ts"
    for share in (0.3, 0.5, 0.7):
        at = int(len(data) * share) // 188 * 188
        lacks.write_bytes(data[:at] + data[at + 3 * 188 :])
        packets, reason = read(lacks)
        assert 8 < len(packets) < 60
        assert rises(packets)
        assert f"damaged after frame {len(packets)} " in reason


@pytest.mark.parametrize("name", ["t.mkv", "t.avi", "t.mp4"])
@pytest.mark.parametrize("letters", [b"\xdf\xe4", b"\x83\x5c"], ids=["latin-1", "shift-jis"])
def test_a_tag_that_is_not_utf8_keeps_no_video_from_being_read(tmp_path: Path, name: str, letters: bytes) -> None:
    path = tmp_path / name
    with av.open(str(path), "w") as container:
        container.metadata["title"] = "street QQ"
        stream = container.add_stream("mpeg4", rate=25)
        stream.height, stream.width, stream.pix_fmt = 48, 64, "yuv420p"
        stream.options = {"g": "4"}
        for index in range(12):
            frame = av.VideoFrame.from_ndarray(square_frame(index), format="bgr24")
            frame.pts, frame.time_base = index, Fraction(1, 25)
            container.mux(stream.encode(frame.reformat(format="yuv420p")))
        container.mux(stream.encode(None))
    data = path.read_bytes()
    assert data.count(b"street QQ") == 1  # two letters alone may also be in a random identifier of the file
    path.write_bytes(data.replace(b"street QQ", b"street " + letters))
    if ANY_TAGS:  # else this version of PyAV accepts them by itself
        with pytest.raises(UnicodeDecodeError):
            av.open(str(path))
    whole, _ = read(path)
    assert len(whole) == 12
    seeked, _ = read(path, start=9)
    assert [packet.number for packet in seeked] == [9, 10, 11, 12]


class TestStampsThatGoBack:
    @pytest.mark.parametrize(
        ("name", "options"),
        [
            ("b.avi", {"g": "12", "bf": "3"}),
            ("open.avi", {"x264-params": "keyint=12:open-gop=1:bframes=3"}),
            ("none.avi", {"g": "12", "bf": "0"}),
        ],
    )
    def test_h264_in_avi_is_shown_at_the_frame_rate(
        self, video: Callable[..., Path], caplog: pytest.LogCaptureFixture, name: str, options: dict[str, str]
    ) -> None:
        path = video(name, count=60, **H264, options=options)
        whole, _ = read(path)
        assert len(whole) == 60
        assert np.diff([packet.time_s for packet in whole]) == pytest.approx(1 / 25)
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
        for start in range(1, 60, 5):
            same_from(path, whole, start)
        same_from(path, whole, 1.11)

    @pytest.mark.parametrize("join", [joined, b"".join], ids=["counters that go on", "counters that jump"])
    @pytest.mark.parametrize("later_ms", [0, 5], ids=["the same stamps", "stamps between"])
    def test_joined_recordings_go_on_at_the_frame_rate_with_one_warning(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture, later_ms: int, join: Callable[[list[bytes]], bytes]
    ) -> None:
        parts = []
        for part, first_ms in enumerate((0, later_ms)):
            times_ms = [first_ms + 40 * index for index in range(40)]
            made = write_video(tmp_path / f"{part}.ts", 40, **H264, options={"g": "10", "bf": "0"}, times_ms=times_ms)
            parts.append(made.read_bytes())
        path = tmp_path / "joined.ts"
        path.write_bytes(join(parts))
        whole, reason = read(path)
        assert not reason
        assert len(whole) == 80
        assert np.diff([packet.time_s for packet in whole]) == pytest.approx(1 / 25, abs=1e-6)
        assert len([record for record in caplog.records if "go back" in record.message]) == 1
        for start in (15, 35, 45, 55, 75, whole[60].time_s):
            same_from(path, whole, start)


def same_from(path: Path, whole: list[Packet], start: int | float) -> None:
    """Check that a part gives the frames of the whole, with their numbers and times."""
    by_time = isinstance(start, float)
    expected = [packet for packet in whole if (packet.time_s if by_time else packet.number) >= start]
    with open_source(path, start=start) as source:
        for other in expected[:4]:
            packet = source.read()
            assert packet is not None
            assert (packet.number, packet.time_s) == (other.number, pytest.approx(other.time_s, abs=1e-9))
            assert np.array_equal(packet.frame, other.frame)


@pytest.mark.parametrize(
    ("name", "codec", "mark"),
    [("c.mov", "png", b"png "), ("c.avi", "mpeg4", b"FMP4"), ("c.mkv", "mpeg4", b"V_MPEG4/ISO/ASP")],
)
def test_a_codec_that_is_unknown_is_one_line(video: Callable[..., Path], name: str, codec: str, mark: bytes) -> None:
    path = video(name, count=12, codec=codec, pixels="rgb24" if codec == "png" else "yuv420p")
    data = path.read_bytes()
    assert mark in data
    path.write_bytes(data.replace(mark, mark[:-1] + b"!"))
    with pytest.raises(SourceError, match="unknown codec"):
        open_source(path)
