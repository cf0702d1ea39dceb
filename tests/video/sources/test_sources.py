"""The contract of all sources, and what each does with bad input."""

import contextlib
import functools
import http.server
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.errors import SourceError
from bgsub.testing import check_source
from bgsub.video.sources import SOURCES, Camera, FrameSource, Slice, open_source, parse_position
from tests.video.moving_square import SIZE, FakeCapture, square_frame, write_images, write_video

COUNT = 30


def make_source(kind: str, folder: Path, **part: object) -> FrameSource:
    if kind == "camera":
        camera = Camera(0, opener=lambda device: FakeCapture(), reconnects=0)
        start, end = (parse_position(part.get(name), name) for name in ("start", "end"))
        return Slice(camera, start, end, part.get("skip", 1), part.get("scale", 1.0)) if part else camera
    if kind == "images":
        return open_source(write_images(folder / "images", COUNT), **part)
    if kind == "pattern":
        return open_source(f"{write_images(folder / 'images', COUNT)}/in%06d.png", **part)
    if kind == "glob":
        return open_source(f"{write_images(folder / 'images', COUNT, pattern='x%d.png')}/*.png", **part)
    if kind == "mp4":
        return open_source(write_video(folder / "v.mp4", COUNT, codec="libx264", pixels="yuv420p"), **part)
    if kind == "grey":
        return open_source(write_video(folder / "v.mkv", COUNT, pixels="gray"), **part)
    return open_source(write_video(folder / f"v.{kind}", COUNT), **part)


KINDS = ["mkv", "avi", "mp4", "grey", "images", "pattern", "glob", "camera"]


def example(name: str, folder: Path) -> str:
    """Return text that a registered kind of source accepts."""
    examples = {
        "camera": lambda: "camera:0",
        "file": lambda: str(write_video(folder / "v.mkv", COUNT)),
        "images": lambda: str(write_images(folder / "images", COUNT)),
        "synthetic": lambda: "synthetic:easy?frames=12&size=40x32",
    }
    assert name in examples, f"add an example of {name} here, so that the contract of sources is checked for it"
    return examples[name]()


def deliver(source: FrameSource, live: bool = False) -> list:
    """Read all frames; a camera that has no more is lost."""
    packets = []
    with source:
        try:
            packets.extend(iter(source.read, None))
        except SourceError:
            assert live
    return packets


@pytest.mark.parametrize("kind", KINDS)
class TestContract:
    def test_packets_count_up_and_hold_the_frames(self, kind: str, tmp_path: Path) -> None:
        source = make_source(kind, tmp_path)
        info = source.info
        packets = []
        for _ in range(COUNT):
            packet = source.read()
            assert packet is not None
            packets.append(packet)
        source.close()
        assert [packet.index for packet in packets] == list(range(COUNT))
        assert [packet.number for packet in packets] == list(range(1, COUNT + 1))
        assert info.size == SIZE
        assert info.count == (None if kind == "camera" else COUNT)
        assert info.live == (kind == "camera")
        times = [packet.time_s for packet in packets]
        assert times == sorted(times)
        for index, packet in enumerate(packets):
            expected = square_frame(index, grey=kind == "grey")
            assert packet.frame.shape == expected.shape
            assert packet.frame.dtype == np.uint8
            assert packet.frame.flags.c_contiguous
            assert packet.frame.flags.writeable
            difference = cv2.absdiff(packet.frame, expected)
            assert difference.mean() < (6 if kind == "mp4" else 0.01)

    def test_keeps_the_contract(self, kind: str, tmp_path: Path) -> None:
        check_source(lambda: make_source(kind, tmp_path))

    def test_nothing_is_read_after_close(self, kind: str, tmp_path: Path) -> None:
        source = make_source(kind, tmp_path)
        source.close()
        assert source.read() is None

    def test_scale_makes_frames_smaller(self, kind: str, tmp_path: Path) -> None:
        with make_source(kind, tmp_path, scale=0.5) as source:
            packet = source.read()
            assert packet is not None
            assert packet.frame.shape[:2] == source.info.size == (24, 32)
            assert packet.frame.flags.c_contiguous


class TestRegistry:
    @pytest.mark.parametrize("name", SOURCES.names())
    def test_every_kind_is_found_by_its_text_and_keeps_the_contract(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cv2, "VideoCapture", lambda device: FakeCapture())
        if name == "stream":
            with serve(write_video(tmp_path / "v.mkv", COUNT)) as url:
                check_source(lambda: opened(url, SOURCES.load(name)))
        else:
            text = example(name, tmp_path)
            check_source(lambda: opened(text, SOURCES.load(name)))

    @pytest.mark.parametrize("name", SOURCES.names())
    def test_every_kind_is_described(self, name: str) -> None:
        kind = SOURCES.load(name)
        assert kind.text_form
        assert kind.uses <= {"rate_hz", "size", "auth"}

    def test_an_option_that_does_not_apply_is_refused(self, video: Callable[..., Path]) -> None:
        with pytest.raises(
            ValueError, match=r"^size applies to sources of the kinds camera, got \(2, 3\) for the kind"
        ):
            open_source(video(), size=(2, 3))


def opened(text: str, kind: type[FrameSource]) -> FrameSource:
    source = open_source(text)
    assert type(source) is kind
    return source


@contextlib.contextmanager
def serve(path: Path) -> Iterator[str]:
    """Serve a file by HTTP and yield its address."""
    handler = functools.partial(QuietHandler, directory=str(path.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{path.name}"
        finally:
            server.shutdown()
            thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log, also to readers that leave early."""

    def log_message(self, *args: object) -> None:
        pass

    def copyfile(self, source: object, outputfile: object) -> None:
        with contextlib.suppress(OSError):
            super().copyfile(source, outputfile)


class TestTimes:
    def test_times_are_those_of_the_container(self, video: Callable[..., Path]) -> None:
        times = [100, 140, 260, 270, 1500]
        packets = deliver(open_source(video(count=5, times_ms=times)))
        assert [round(packet.time_s * 1000) for packet in packets] == times

    def test_images_follow_their_numbers(self, tmp_path: Path) -> None:
        folder = write_images(tmp_path / "i", 3, first=1300)
        packets = deliver(open_source(folder, rate_hz=10))
        assert [(packet.number, packet.time_s) for packet in packets] == [(1300, 130.0), (1301, 130.1), (1302, 130.2)]

    @pytest.mark.parametrize(
        ("start", "end", "numbers"),
        [
            ("0.4s", "0.48s", [11, 12, 13]),
            ("0:01", None, [26, 27, 28, 29, 30]),
            ("00:00:01.08", "99", [28, 29, 30]),
            (0.4, 12, [11, 12]),
        ],
    )
    def test_part_by_time(self, video: Callable[..., Path], start: object, end: object, numbers: list[int]) -> None:
        source = open_source(video(), start=start, end=end)
        assert source.info.count in (len(numbers), len(numbers) + 1)
        assert [packet.number for packet in deliver(source)] == numbers

    @pytest.mark.parametrize("text", ["", "x", "-3", "1:2:3:4", "3.5", "nan"])
    def test_unclear_position_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="start must"):
            parse_position(text, "start")


class TestSeeking:
    @pytest.mark.parametrize(
        ("name", "settings"),
        [
            ("b.mp4", {"codec": "libx264", "pixels": "yuv420p", "options": {"g": "12", "bf": "3"}}),
            ("o.mkv", {"codec": "libx264", "pixels": "yuv420p", "options": {"x264-params": "keyint=12:open-gop=1"}}),
            ("b.avi", {"codec": "mpeg4", "pixels": "yuv420p", "options": {"g": "12", "bf": "2"}}),
            ("b.ts", {"codec": "mpeg2video", "pixels": "yuv420p", "options": {"g": "12", "bf": "2"}}),
            ("v.webm", {"codec": "libvpx", "pixels": "yuv420p", "options": {"g": "12", "auto-alt-ref": "1"}}),
        ],
    )
    def test_every_start_gives_the_frames_of_the_whole(
        self, video: Callable[..., Path], name: str, settings: dict[str, object]
    ) -> None:
        path = video(name, count=60, **settings)
        whole = deliver(open_source(path))
        for start in range(1, len(whole), 7):
            with open_source(path, start=start) as source:
                for expected in whole[start - 1 : start + 2]:
                    packet = source.read()
                    assert packet is not None
                    assert (packet.number, packet.time_s) == (expected.number, expected.time_s)
                    assert np.array_equal(packet.frame, expected.frame)

    def test_frames_before_the_keyframe_are_not_decoded(
        self, video: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = video("k.mp4", count=100, codec="libx264", pixels="yuv420p", options={"g": "10", "bf": "0"})
        source = open_source(path)
        source.seek(parse_position(87, "start"))
        packet = source.read()
        source.close()
        assert packet is not None
        assert packet.number == 81


class TestColour:
    @pytest.mark.parametrize("size", [(48, 64), (48, 70), (47, 65), (3, 5)])
    @pytest.mark.parametrize("tags", [(1, 1), (5, 1), (1, 2), (5, 2)])
    def test_matrix_and_range_are_minded(
        self, video: Callable[..., Path], size: tuple[int, int], tags: tuple[int, int]
    ) -> None:
        path = video("c.mkv", count=1, size=size, codec="ffv1", pixels="yuv444p", tags=tags)
        packet = deliver(open_source(path))[0]
        assert cv2.absdiff(packet.frame, square_frame(0, size)).max() <= 4

    def test_full_range_jpeg_pixels(self, video: Callable[..., Path]) -> None:
        path = video("j.avi", count=1, codec="mjpeg", pixels="yuvj420p", options={"qmin": "1", "qmax": "1"})
        packet = deliver(open_source(path))[0]
        assert cv2.absdiff(packet.frame, square_frame(0)).mean() < 6

    @pytest.mark.parametrize("pixels", ["bgra", "yuv422p10le", "yuv411p"])
    def test_other_formats_become_bgr(self, video: Callable[..., Path], pixels: str) -> None:
        packet = deliver(open_source(video(count=1, pixels=pixels)))[0]
        assert packet.frame.shape == (*SIZE, 3)
        assert cv2.absdiff(packet.frame, square_frame(0)).mean() < 4

    def test_deep_grey_video_stays_deep(self, video: Callable[..., Path]) -> None:
        packet = deliver(open_source(video(count=1, pixels="gray16le")))[0]
        assert packet.frame.dtype == np.uint16
        assert packet.frame.shape == SIZE

    def test_real_clips_agree_with_opencv(self, clips: list[Path]) -> None:
        for path in clips:
            if path.name.startswith("crash_"):
                continue  # aborts the process inside OpenCV
            capture = cv2.VideoCapture(str(path))
            with open_source(path, end=12) as source:
                for packet in source:
                    done, expected = capture.read()
                    assert done
                    assert cv2.absdiff(packet.frame, expected).max() <= 2, path.name
            capture.release()

    def test_clip_that_crashes_opencv_is_read(self, clips: list[Path]) -> None:
        path = next(path for path in clips if path.name.startswith("crash_"))
        assert len(deliver(open_source(path))) == 51

    def test_real_clips_seek_exactly(self, clips: list[Path]) -> None:
        for path in clips[:6]:
            whole = deliver(open_source(path, end=60))
            with open_source(path, start=40) as source:
                packet = source.read()
            assert packet is not None
            assert packet.number == 40
            assert packet.time_s == whole[39].time_s
            assert np.array_equal(packet.frame, whole[39].frame)


class TestBadFiles:
    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("none.mp4", None, "no such file"),
            ("empty.mp4", b"", "is empty"),
            ("text.mp4", b"hello world " * 100, "cannot open"),
            ("zeros.avi", bytes(10000), "cannot open"),
        ],
    )
    def test_what_is_no_video(self, tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(SourceError, match=message) as caught:
            open_source(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_sound_only(self, tmp_path: Path) -> None:
        path = tmp_path / "sound.mkv"
        with av.open(str(path), "w") as container:
            stream = container.add_stream("pcm_s16le", rate=8000, layout="mono")
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
            frame.sample_rate = 8000
            container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
        with pytest.raises(SourceError, match="no video stream"):
            open_source(path)

    @pytest.mark.parametrize("name", ["t.mkv", "t.avi", "t.mp4"])
    def test_truncated_file_gives_its_frames_then_says_so(self, video: Callable[..., Path], name: str) -> None:
        settings = (
            {"codec": "libx264", "pixels": "yuv420p", "options": {"crf": "1", "g": "5"}} if name.endswith("mp4") else {}
        )
        path = video(name, count=50, container_options={"movflags": "faststart"} if settings else None, **settings)
        whole = deliver(open_source(path))
        data = path.read_bytes()
        path.write_bytes(data[: len(data) * 2 // 3])
        packets = []
        with open_source(path) as source, pytest.raises(SourceError, match=r"damaged after frame \d+") as caught:
            packets.extend(iter(source.read, None))
        assert 5 < len(packets) < 50
        assert f"after frame {len(packets)} " in str(caught.value)
        for packet, expected in zip(packets, whole, strict=False):
            assert np.array_equal(packet.frame, expected.frame)

    def test_damage_in_the_middle_keeps_the_frames_before(self, video: Callable[..., Path]) -> None:
        path = video("m.mov", codec="png", pixels="rgb24", count=20)
        data = bytearray(path.read_bytes())
        image = [at for at in range(len(data)) if data[at : at + 4] == b"IHDR"][12]
        data[image : image + 30] = bytes(30)
        path.write_bytes(data)
        packets = []
        with open_source(path) as source, pytest.raises(SourceError, match="damaged after frame"):
            packets.extend(iter(source.read, None))
        assert [packet.number for packet in packets[:12]] == list(range(1, 13))

    @pytest.mark.skipif(sys.platform == "win32", reason="file names hold no colons")
    def test_colon_in_the_name_is_no_protocol(self, video: Callable[..., Path]) -> None:
        assert len(deliver(open_source(video("concat:12:30.mkv"), start=3))) == COUNT - 2

    def test_rubbish_behind_the_file_does_no_harm(self, video: Callable[..., Path]) -> None:
        for name in ("r.mkv", "r.avi"):
            path = video(name)
            path.write_bytes(path.read_bytes() + b"\x99\xa7\x00\x1f" * 9)
            assert len(deliver(open_source(path))) == COUNT

    def test_change_of_size_is_an_error_where_it_happens(self, tmp_path: Path) -> None:
        parts = [
            write_video(tmp_path / f"{size[0]}.mjpg", 5, size, "mjpeg", "yuvj420p").read_bytes()
            for size in ((48, 64), (96, 128))
        ]
        path = tmp_path / "both.mjpg"
        path.write_bytes(b"".join(parts))
        packets = []
        with open_source(path) as source, pytest.raises(SourceError, match="from 64x48 to 128x96 at frame 6"):
            packets.extend(iter(source.read, None))
        assert len(packets) == 5

    @pytest.mark.parametrize(
        ("part", "reason"),
        [
            ({"start": 100}, "ends before the start"),
            ({"end": 0}, "no frame from start to end"),
            ({"start": 30, "end": "0.1s"}, "no frame from start to end"),
        ],
    )
    def test_part_without_frames(self, video: Callable[..., Path], part: dict[str, Any], reason: str) -> None:
        with open_source(video(), **part) as source, pytest.raises(SourceError, match=reason):
            source.read()


class TestBadImages:
    def test_folder_without_images(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="holds no images"):
            open_source(tmp_path)

    @pytest.mark.parametrize("name", ["in%06d.png", "*.png", "none/in%06d.png"])
    def test_pattern_without_images(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(SourceError, match=r"no image matches|there is no folder"):
            open_source(f"{tmp_path}/{name}")

    @pytest.mark.parametrize("content", [b"", b"not an image"])
    def test_unreadable_image(self, tmp_path: Path, content: bytes) -> None:
        folder = write_images(tmp_path / "i", 3)
        (folder / "in000002.png").write_bytes(content)
        with open_source(folder) as source:
            assert source.read() is not None
            with pytest.raises(SourceError, match=r"in000002\.png is not a readable image"):
                source.read()

    def test_images_of_different_sizes(self, tmp_path: Path) -> None:
        folder = write_images(tmp_path / "i", 3)
        cv2.imwrite(str(folder / "in000003.png"), np.zeros((10, 20, 3), np.uint8))
        with open_source(folder) as source, pytest.raises(SourceError, match=r"in000003\.png is 20x10"):
            list(source)

    def test_images_of_different_kinds(self, tmp_path: Path) -> None:
        folder = write_images(tmp_path / "i", 3)
        cv2.imwrite(str(folder / "in000003.png"), np.zeros(SIZE, np.uint8))
        with open_source(folder) as source, pytest.raises(SourceError, match=r"in000003\.png is grey uint8"):
            list(source)


class TestImages:
    def test_order_is_natural_and_gaps_are_fine(self, tmp_path: Path) -> None:
        folder = write_images(tmp_path / "i", 12, pattern="x%d.png")
        (folder / "x4.png").unlink()
        (folder / "notes.txt").write_text("no image")
        numbers = [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12]
        assert [packet.number for packet in deliver(open_source(folder))] == numbers
        assert [packet.number for packet in deliver(open_source(f"{folder}/x%d.png"))] == numbers

    def test_names_without_digits_are_counted(self, tmp_path: Path) -> None:
        for name in "abc":
            cv2.imwrite(str(tmp_path / f"{name}.png"), square_frame(0))
        assert [packet.number for packet in deliver(open_source(tmp_path))] == [1, 2, 3]

    @pytest.mark.parametrize(
        ("name", "image", "shape"),
        [
            ("a.jpg", np.zeros(SIZE, np.uint8), SIZE),
            ("a.png", np.full(SIZE, 40000, np.uint16), SIZE),
            ("a.tif", np.full((*SIZE, 3), 40000, np.uint16), (*SIZE, 3)),
            ("a.png", np.full((*SIZE, 4), 90, np.uint8), (*SIZE, 3)),
        ],
    )
    def test_depth_and_grey_are_kept_and_alpha_is_dropped(
        self, tmp_path: Path, name: str, image: np.ndarray, shape: tuple[int, ...]
    ) -> None:
        assert cv2.imwrite(str(tmp_path / name), image)
        frame = deliver(open_source(tmp_path))[0].frame
        assert frame.shape == shape
        assert frame.dtype == image.dtype
        assert frame.flat[0] == image.flat[0]


class TestParameters:
    @pytest.mark.parametrize(
        "settings",
        [{"skip": 0}, {"scale": 0.0}, {"scale": 1.5}, {"start": -1}, {"start": 9, "end": 8}, {"rate_hz": 5.0}],
    )
    def test_out_of_range(self, video: Callable[..., Path], settings: dict[str, float]) -> None:
        name = next(iter(settings))
        with pytest.raises(ValueError, match=name):
            open_source(video(), **settings)

    def test_unknown_scheme(self) -> None:
        with pytest.raises(SourceError, match=r"an address that begins with rtsp"):
            open_source("ftp://somebody:secret@host/x.mp4")
