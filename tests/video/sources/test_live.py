"""Cameras and network streams: loss, reconnection, stalls, and secrets kept."""

import http.server
import logging
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bgsub.errors import SourceError
from bgsub.video.prefetch import Prefetch
from bgsub.video.sources import Camera, NetworkStream, Slice, open_source, public_name
from bgsub.video.sources.reconnect import Reconnector
from tests.video.moving_square import FakeCapture, write_video


class TestReconnector:
    def make(self, results: list[object], limit: int = 8) -> tuple[Reconnector[str], list[float]]:
        pauses: list[float] = []

        def opener() -> str:
            result = results.pop(0)
            if isinstance(result, Exception):
                raise result
            return str(result)

        return Reconnector("cam", opener, limit, threading.Event(), lambda s: bool(pauses.append(s))), pauses

    def test_pauses_double_up_to_ten_seconds(self) -> None:
        link, pauses = self.make([SourceError("gone")] * 7 + ["back"])
        assert link.reopen("lost") == "back"
        assert pauses == [0.5, 1, 2, 4, 8, 10, 10, 10]

    def test_gives_up_after_the_limit(self) -> None:
        link, pauses = self.make([SourceError("gone")] * 3, limit=3)
        with pytest.raises(SourceError, match=r"cam is lost, 3 attempts .*gone"):
            link.reopen("lost")
        assert len(pauses) == 3

    def test_a_frame_resets_the_pauses(self) -> None:
        link, pauses = self.make(["a", "b"])
        link.reopen("lost")
        link.succeeded()
        link.reopen("lost")
        assert pauses == [0.5, 0.5]

    def test_stop_ends_a_pause_at_once(self) -> None:
        stop = threading.Event()
        link = Reconnector("cam", lambda: "never", 3, stop)
        link.FIRST_PAUSE_S = link.LONGEST_PAUSE_S = 60.0
        threading.Timer(0.05, stop.set).start()
        began = time.monotonic()
        assert link.reopen("lost") is None
        assert time.monotonic() - began < 30


class TestCamera:
    def test_lost_camera_is_opened_again(self) -> None:
        captures = [FakeCapture(3), FakeCapture(0, opened=False), FakeCapture(4)]
        made = list(captures)
        with Camera(0, opener=lambda device: made.pop(0), reconnects=2, wait=lambda s: False) as camera:
            numbers = [camera.read().number for _ in range(7)]
        assert numbers == [1, 2, 3, 4, 5, 6, 7]
        assert all(capture.released for capture in captures)

    def test_missing_camera(self) -> None:
        with pytest.raises(SourceError, match="cannot open camera:7"):
            Camera(7, opener=lambda device: FakeCapture(opened=False))

    def test_close_ends_the_search_for_a_lost_camera(self, no_leaked_threads: None) -> None:
        captures = [FakeCapture(1)]
        packets = Prefetch(Camera(0, opener=lambda device: (captures or [FakeCapture(0, opened=False)]).pop()))
        began = time.monotonic()
        packets.close()
        assert time.monotonic() - began < 15  # the search takes half a minute

    def test_a_lost_camera_is_in_trouble_until_it_delivers_again(self) -> None:
        seen: list[str | None] = []
        captures = [FakeCapture(1), FakeCapture(0, opened=False), FakeCapture(2)]
        camera = Camera(0, opener=lambda device: captures.pop(0), wait=lambda s: bool(seen.append(camera.trouble)))
        with Slice(camera) as source:
            source.read()
            assert source.trouble is None
            source.read()
            assert source.trouble is None
        assert "camera:0 is lost (it gives no frames)" in (seen[0] or "")
        assert "attempt 2" in (seen[1] or "")

    def test_change_of_size(self) -> None:
        capture = FakeCapture(3)
        with Camera(0, opener=lambda device: capture) as camera:
            camera.read()
            capture.read = lambda: (True, np.zeros((5, 6, 3), np.uint8))
            with pytest.raises(SourceError, match="changes from 64x48 to 6x5 at frame 2"):
                camera.read()


class Server:
    """Serves one file at 127.0.0.1, cut at `cuts` bytes for the first requests."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        self.cuts: list[int] = []
        self.stall = threading.Event()
        self.requests = 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                outer.requests += 1
                self.send_response(200)
                self.send_header("Content-Length", str(len(outer.data)))
                self.end_headers()
                cut = outer.cuts.pop(0) if outer.cuts else len(outer.data)
                try:
                    self.wfile.write(outer.data[: abs(cut)])
                    if cut < 0:
                        outer.stall.wait(20)
                except OSError:
                    self.close_connection = True  # the reader left

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()
        self.url = f"http://someone:hunter2@127.0.0.1:{self.server.server_port}/clip{path.suffix}?token=hunter2"

    def close(self) -> None:
        self.stall.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture(params=["mkv", "mp4"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    path = write_video(
        tmp_path / f"clip.{request.param}",
        60,
        size=(240, 320),
        codec="libx264",
        pixels="yuv420p",
        options={"crf": "5", "g": "10"},
        container_options={"movflags": "faststart"} if request.param == "mp4" else None,
    )
    made = Server(path)
    yield made
    made.close()


class TestStream:
    def test_served_file_is_read_to_its_end(self, server: Server) -> None:
        with open_source(server.url) as source:
            assert not source.info.live
            assert sum(1 for _ in source) == 60

    @pytest.mark.parametrize("sign", [1, -1], ids=["breaks off", "stalls"])
    def test_broken_connection_goes_on_behind_the_last_frame(self, server: Server, sign: int) -> None:
        server.cuts = [sign * len(server.data) // 2]
        pauses: list[float] = []
        with NetworkStream(server.url, stall_timeout_s=0.5, wait=lambda s: bool(pauses.append(s))) as source:
            packets = list(source)
        assert [packet.number for packet in packets] == list(range(1, 61))
        times = [packet.time_s for packet in packets]
        assert times == sorted(set(times))
        assert server.requests == 2
        assert pauses == [0.5]

    def test_stream_that_stays_away_is_an_error_without_secrets(
        self, server: Server, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        server.cuts = [len(server.data) // 2] + [10] * 20
        with NetworkStream(server.url, reconnects=3, wait=lambda s: False) as source:
            with pytest.raises(SourceError, match="3 attempts") as caught:
                list(source)
            shown = "".join(traceback.format_exception(caught.value)) + caplog.text + source.info.name
        assert "hunter2" not in shown
        assert "someone" not in shown
        assert "127.0.0.1" in source.info.name

    def test_close_does_not_wait_for_a_stalled_stream(self, server: Server, no_leaked_threads: None) -> None:
        server.cuts = [-len(server.data) // 2]
        packets = Prefetch(NetworkStream(server.url, stall_timeout_s=1.0))
        for _ in range(10):
            assert packets.read() is not None
        began = time.monotonic()
        packets.close()
        assert time.monotonic() - began < 10


def test_refused_connection_keeps_the_secret() -> None:
    with pytest.raises(SourceError, match="cannot open") as caught:
        open_source("http://someone:hunter2@127.0.0.1:1/clip.mp4")
    chain: BaseException | None = caught.value
    while chain is not None:
        assert "hunter2" not in str(chain)
        chain = chain.__cause__ or chain.__context__


@pytest.mark.parametrize(
    "url",
    [
        "rtsp://user:hunter2@host/live",
        "rtsp://user:se/hunter2@host/live",
        "rtsp://user:se?hunter2@host/live",
        "rtsp://host/user=admin&password=hunter2",
        "http://host/live?token=hunter2",
        "http://host:hunter2@port@host/x",
        "rtmp://host/app/hunter2",
        "https://host/x#hunter2",
        "RTSP://user:hunter2@host",
    ],
)
def test_public_name_holds_no_secret(url: str) -> None:
    assert "hunter2" not in public_name(url)
    assert "user:" not in public_name(url)
