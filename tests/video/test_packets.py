"""Packets kept in memory, and clips made of them: bounded, from a key frame on, and bit for bit what was sent."""

from pathlib import Path

import av
import numpy as np
import pytest

from bgsub.errors import SinkError
from bgsub.video.packets import ClipWriter, PacketRing
from bgsub.video.sources import open_source
from tests.scanning.made import write


def fill(ring: PacketRing, path: Path, offset_s: float = 0.0) -> None:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        ring.begin(stream)
        for packet in container.demux(stream):
            if packet.size:
                ring.add(packet, offset_s)


def pixels(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="bgr24") for frame in container.decode(video=0)]


@pytest.mark.parametrize(
    ("codec", "name", "suffix"),
    [
        ("libx264", "a.ts", ".mp4"),
        ("libx264", "a.mkv", ".mp4"),
        ("libx264", "a.mp4", ".mp4"),
        ("mpeg4", "a.ts", ".mkv"),
        ("mpeg2video", "a.ts", ".mkv"),
        ("ffv1", "a.mkv", ".mkv"),
    ],
)
def test_clips_hold_what_was_sent(tmp_path: Path, codec: str, name: str, suffix: str) -> None:
    path = tmp_path / name
    if codec == "mpeg2video":
        with av.open(str(path), "w") as container:
            stream = container.add_stream(codec, rate=25)
            stream.height, stream.width, stream.pix_fmt = 72, 96, "yuv420p"
            for i in range(40):
                image = np.full((72, 96, 3), 4 * i, np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="bgr24")))
            container.mux(stream.encode(None))
    else:
        write(path, range(1, 41), [(5, 35)], codec=codec)
    ring = PacketRing(60, 10**8)
    fill(ring, path)
    packets = ring.since(0)
    assert packets[0].header.suffix == suffix
    clip = ClipWriter(tmp_path / f"clip{suffix}", packets[0].header)
    for packet in packets:
        clip.write(packet)
    clip.close()
    sent = pixels(path)[-len(packets) :]
    assert len(sent) >= 36  # Matroska states no order for the first packets
    for one, other in zip(pixels(clip.path), sent, strict=True):
        assert np.array_equal(one, other)


def test_a_ring_keeps_a_time_from_a_key_frame_on(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mkv", range(1, 101), codec="libx264")  # a key frame per second
    ring = PacketRing(3.0, 10**8)
    fill(ring, path, 100.0)
    packets = ring.since(0)
    assert packets[0].keyframe
    assert 103 < packets[-1].time_s - packets[0].time_s + 100 < 104.2
    assert ring.size == sum(len(packet.data) for packet in packets)
    before = ring.serial_before(packets[-1].time_s - 1.5)
    first = ring.since(before)[0]
    assert first.keyframe
    assert first.time_s <= packets[-1].time_s - 1.5 < first.time_s + 1
    assert ring.since(ring.serial_before(0.0)) == packets


def test_a_ring_is_bounded_in_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mkv", range(1, 201), [(1, 200)], codec="libx264")
    size = path.stat().st_size
    ring = PacketRing(1e9, size // 4)
    fill(ring, path)
    assert 0 < ring.size <= size // 4
    assert ring.since(0)[0].keyframe
    tiny = PacketRing(1e9, 10)
    fill(tiny, path)
    assert tiny.size <= 10


def test_another_connection_begins_again(tmp_path: Path) -> None:
    ring = PacketRing(60, 10**8)
    fill(ring, write(tmp_path / "a.ts", range(1, 31), codec="libx264"))
    serial = ring.since(0)[-1].serial
    fill(ring, write(tmp_path / "b.ts", range(1, 31), codec="mpeg4"))
    packets = ring.since(0)
    assert {packet.header.codec for packet in packets} == {"mpeg4"}
    assert packets[0].serial == serial + 1


def test_a_stream_whose_times_go_back_begins_again(tmp_path: Path) -> None:
    ring, path = PacketRing(60, 10**8), write(tmp_path / "a.ts", range(1, 31), codec="mpeg4")
    fill(ring, path)
    first = ring.since(0)
    with av.open(str(path)) as container:
        for packet in container.demux(container.streams.video[0]):
            if packet.size:
                ring.add(packet, 5.0)
    again = ring.since(0)
    assert len(again) == len(first)
    assert again[0].header is not first[0].header
    assert again[0].time_s == first[0].time_s + 5


def test_a_clip_begins_with_a_key_frame(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mkv", range(1, 31), codec="libx264")
    ring = PacketRing(60, 10**8)
    fill(ring, path)
    clip = ClipWriter(tmp_path / "clip.mp4", ring.since(0)[0].header)
    key = next(packet for packet in ring.since(5) if packet.keyframe)
    for packet in ring.since(5):
        clip.write(packet)
    assert clip.begin_s == key.time_s
    clip.close()
    assert len(pixels(clip.path)) == len(ring.since(key.serial - 1))


def test_a_clip_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    ring = PacketRing(60, 10**8)
    fill(ring, write(tmp_path / "a.mkv", range(1, 31), codec="libx264"))
    packet = ring.since(0)[0]
    clip = ClipWriter(tmp_path / "gone" / "clip.mp4", packet.header)
    with pytest.raises(SinkError, match=r"cannot write the clip .*clip\.mp4: No such file"):
        clip.write(packet)
    clip.close()


def test_files_have_no_packets_to_pass(tmp_path: Path) -> None:
    with open_source(write(tmp_path / "a.mkv", range(1, 5)), skip=2) as source:
        assert not source.pass_packets(PacketRing(1, 1))


@pytest.mark.parametrize(("keep_s", "most_bytes"), [(0, 1), (1, 0)])
def test_limits_must_be_positive(keep_s: float, most_bytes: int) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        PacketRing(keep_s, most_bytes)
