"""Files and live streams from servers that state no length, break off or never answer."""

import contextlib
import http.server
import itertools
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import pytest

from bgsub.errors import SourceError
from bgsub.video.sources import NetworkStream
from tests.video.moving_square import write_video
from tests.video.sources.test_sources import serve as serve_folder

H264 = {"codec": "libx264", "pixels": "yuv420p"}
CLIPS = {
    "c.ts": H264,
    "c.mpg": {"codec": "mpeg2video", "pixels": "yuv420p"},
    "c.gif": {"codec": "gif", "pixels": "rgb8"},
    "c.mkv": H264,
}
COUNT = 60


@contextlib.contextmanager
def serve(answers: Iterator[bytes], framing: str, cut: float = 1.0) -> Iterator[str]:
    """Serve one answer after the other, whatever is asked for, without byte ranges.

    The end is marked by a length, by the last chunk, or by closing the connection. Of each answer the share `cut` is
    sent.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.close_connection = True
            data = next(answers, None)
            if data is None:
                self.send_error(404)
                return
            self.send_response(200)
            if framing == "length":
                self.send_header("Content-Length", str(len(data)))
            self.send_header(*(("Transfer-Encoding", "chunked") if framing == "chunks" else ("Connection", "close")))
            self.end_headers()
            sent = data[: int(len(data) * cut)]
            with contextlib.suppress(OSError):  # the reader left
                if framing != "chunks":
                    self.wfile.write(sent)
                    return
                for at in range(0, len(sent), 4096):
                    chunk = sent[at : at + 4096]
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                if cut == 1:
                    self.wfile.write(b"0\r\n\r\n")

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/clip"
        finally:
            server.shutdown()
            thread.join()


def read(url: str, limit: int, reconnects: int = 8) -> tuple[list[int], str]:
    """Return the numbers of at most `limit` frames, and the text of the error that ends them."""
    numbers: list[int] = []
    with NetworkStream(url, stall_timeout_s=5, reconnects=reconnects, wait=lambda s: False) as source:
        try:
            numbers.extend(packet.number for packet in itertools.islice(source, limit))
        except SourceError as error:
            return numbers, str(error)
    return numbers, ""


@pytest.mark.parametrize("framing", ["length", "chunks", "connection"])
@pytest.mark.parametrize("name", CLIPS)
def test_a_file_without_byte_ranges_is_read_once(video: Callable[..., Path], name: str, framing: str) -> None:
    data = video(name, count=COUNT, **CLIPS[name]).read_bytes()
    with serve(itertools.repeat(data), framing) as url:
        assert read(url, 2 * COUNT) == (list(range(1, COUNT + 1)), "")


@pytest.mark.parametrize("framing", ["length", "chunks", "connection"])
@pytest.mark.parametrize("name", CLIPS)
def test_a_file_that_always_breaks_off_at_the_same_byte_ends(
    video: Callable[..., Path], name: str, framing: str
) -> None:
    data = video(name, count=COUNT, **CLIPS[name]).read_bytes()
    with serve(itertools.repeat(data), framing, cut=0.6) as url:
        numbers, reason = read(url, 2 * COUNT)
    assert 8 < len(numbers) < COUNT
    assert numbers == list(range(1, len(numbers) + 1))
    if framing == "length":
        assert "8 attempts to connect again failed" in reason


def test_a_file_with_a_length_is_not_live(video: Callable[..., Path]) -> None:
    data = video("c.ts", count=COUNT, **H264).read_bytes()
    with serve(itertools.repeat(data), "length") as url, NetworkStream(url) as source:
        assert not source.info.live


def test_a_live_stream_is_opened_again_after_each_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    parts = [
        write_video(
            tmp_path / f"{part}.ts", 20, **H264, times_ms=[1000 * part + 40 * index for index in range(20)]
        ).read_bytes()
        for part in range(4)
    ]
    caplog.set_level(logging.ERROR)
    with serve(iter(parts), "chunks") as url:
        numbers, reason = read(url, 200, reconnects=2)
    # FFmpeg, as PyAV 19 brings it, reports the end of a chunked answer as a failure: the four frames of each part that
    # the decoder still holds are lost.
    assert numbers == list(range(1, 65 if av.__version__ >= "19" else 81))
    assert "2 attempts to connect again failed" in reason


def test_the_length_of_a_playlist_does_not_make_its_stream_finite(tmp_path: Path) -> None:
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:0"]
    for part in range(4):
        times_ms = [1000 * part + 40 * index for index in range(25)]
        write_video(tmp_path / f"{part}.ts", 25, **H264, times_ms=times_ms)
        lines += ["#EXTINF:1.0,", f"{part}.ts"]
    path = tmp_path / "live.m3u8"
    path.write_text("\n".join(lines) + "\n")
    with serve_folder(path) as url, NetworkStream(url) as source:
        assert source.info.live
        assert source.read() is not None


@pytest.mark.parametrize("scheme", ["rtsp", "http"])
def test_a_server_that_never_answers_is_called_silent(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"{scheme}://127.0.0.1:{server.getsockname()[1]}/live"
        with pytest.raises(SourceError, match=r"cannot open .*: silent for 0\.3 s"):
            NetworkStream(url, stall_timeout_s=0.3)
