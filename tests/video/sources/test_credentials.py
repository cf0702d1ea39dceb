"""Credentials: hidden in every message, also of mistyped addresses, and given without the command line."""

import base64
import contextlib
import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bgsub.errors import ConfigError, SourceError
from bgsub.video._credentials import read_auth, with_auth
from bgsub.video.sources import SourceOptions, open_source, public_name
from tests.command import bgsub
from tests.video.moving_square import write_video

HIDDEN = "hunter2"
BASIC = "Basic " + base64.b64encode(f"user:{HIDDEN}".encode()).decode()

MISTYPED = [
    "rtsp:/user:hunter2@host/live",
    "rtsp:user:hunter2@host",
    "rtsp//user:hunter2@host/live",
    "user:hunter2@host:554/live",
    "user:hunter2@127.0.0.1/live?a=b",
    "user:hunt@hunter2@host",
    "user:se/hunter2@host",
    "user:hunter2*@host/[a]",
    "user:hunter2@host/in%06d.png",
    "http:/host/live?token=hunter2",
    "rtsp:host/user=admin&password=hunter2",
    "://user:hunter2@host",
    "rtps://user:hunter2@host/live",
]


@pytest.mark.parametrize("text", MISTYPED)
@pytest.mark.parametrize("flags", [(), ("-vv",)])
def test_a_mistyped_address_shows_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, flags: tuple[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert HIDDEN not in public_name(text)
    assert bgsub(*flags, "run", text, "-o", "m.mkv") == 1
    shown = capsys.readouterr()
    assert HIDDEN not in shown.out + shown.err
    assert "bgsub: error: " in shown.err


@pytest.mark.parametrize(
    "arguments", [["run", "a.mkv", "rtsp://user:hunter2@host"], ["user:hunter2@host"], ["run", "--user:hunter2@host"]]
)
def test_wrong_usage_shows_no_secret(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert bgsub(*arguments) == 2
    shown = capsys.readouterr().err
    assert HIDDEN not in shown
    assert "host" in shown


@pytest.mark.parametrize("name", ["a@b.mkv", "12:30@gate.mkv", "C:x.mkv", "file:x.mkv", "2026-01-31T12:30:05.mkv"])
def test_files_that_exist_keep_their_names(tmp_path: Path, name: str) -> None:
    path = write_video(tmp_path / name, 3)
    with open_source(path) as source:
        assert source.info.name == str(path)
    path.write_bytes(b"no video")
    with pytest.raises(SourceError) as caught:
        open_source(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "text", ["street.mkv", "in%06d.png", "camera:0", "synthetic:walkers?seed=3", r"C:\a@b.mkv", "x@y"]
)
def test_other_names_are_shown(text: str) -> None:
    assert public_name(text) == text


class TestWhereCredentialsComeFrom:
    def test_a_file_or_a_variable(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "auth"
        path.write_text("user:pass:word\nsecond line\n")
        assert read_auth(str(path)) == "user:pass:word"
        monkeypatch.setenv("GATE", "other:secret")
        assert read_auth("env:GATE") == "other:secret"
        assert read_auth() is None
        monkeypatch.setenv("BGSUB_AUTH", "third:secret")
        assert read_auth() == "third:secret"

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("hunter2", "must hold user:password"),
            ("", "must hold"),
            ("x" * 9999, "no short text"),
            (None, "No such file"),
        ],
    )
    def test_another_form_is_refused_without_showing_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, reason: str
    ) -> None:
        path = tmp_path / "auth"
        if content is not None:
            path.write_text(content)
        with pytest.raises(ConfigError, match=reason) as caught:
            read_auth(str(path))
        assert HIDDEN not in str(caught.value)
        monkeypatch.setenv("GATE", HIDDEN)
        with pytest.raises(ConfigError, match="the variable GATE must hold user:password"):
            read_auth("env:GATE")

    def test_only_addresses_without_get_them(self) -> None:
        assert with_auth("rtsp://host/a?b=c@d", "u:p@/") == "rtsp://u:p%40%2F@host/a?b=c@d"
        for url in ("rtsp://x:y@host/a", "rtsp://x@host", "rtmp://host/a", "udp://host:1"):
            assert with_auth(url, "u:p") == url

    def test_they_are_no_part_of_the_options_shown(self) -> None:
        assert HIDDEN not in repr(SourceOptions(auth=f"user:{HIDDEN}"))

    def test_other_kinds_of_sources_refuse_them(self, tmp_path: Path) -> None:
        path = write_video(tmp_path / "v.mkv", 3)
        with pytest.raises(ValueError, match="auth applies to rtsp and http addresses, got a source of the kind file"):
            open_source(path, auth=f"user:{HIDDEN}")


@contextlib.contextmanager
def guarded(data: bytes, redirect: str = "") -> Iterator[tuple[str, list[str | None]]]:
    """Serve data to whoever gives the password, or redirect; yield address and the credentials received."""
    received: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            received.append(self.headers["Authorization"])
            if received[-1] != BASIC:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="gate"')
                self.end_headers()
                return
            self.send_response(302 if redirect else 200)
            self.send_header("Location", redirect)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(data)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/clip", received
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("way", ["environment", "file", "variable", "address"])
def test_a_stream_is_opened_with_credentials(
    video: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    way: str,
) -> None:
    data = video("v.mkv", count=12).read_bytes()
    options: list[object] = []
    if way == "file":
        (tmp_path / "auth").write_text(f"user:{HIDDEN}\n")
        options = ["--auth", tmp_path / "auth"]
    elif way != "address":
        monkeypatch.setenv("BGSUB_AUTH" if way == "environment" else "GATE", f"user:{HIDDEN}")
        options = [] if way == "environment" else ["--auth", "env:GATE"]
    with guarded(data) as (url, received):
        if way == "address":
            url = url.replace("//", f"//user:{HIDDEN}@")
        assert bgsub("-vv", "run", url, "--json", *options) == 0
    assert received[-1] == BASIC
    shown = capsys.readouterr()
    assert HIDDEN not in shown.out + shown.err
    assert '"frames": 12' in shown.out


def test_another_host_gets_no_credentials_after_a_redirect(video: Callable[..., Path]) -> None:
    data = video("v.mkv", count=12).read_bytes()
    with (
        guarded(data) as (other, received),
        guarded(b"", other.replace("127.0.0.1", "localhost")) as (url, first),
        pytest.raises(SourceError),
    ):
        open_source(url, auth=f"user:{HIDDEN}")
    assert first[-1] == BASIC
    assert set(received) == {None}


def test_an_rtsp_server_that_redirects_gets_no_credentials_to_pass_on() -> None:
    """FFmpeg gives those of the first host to the second."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as second, socket.create_server(("127.0.0.1", 0)) as first:
        answer = f"RTSP/1.0 302 Moved\r\nCSeq: 1\r\nLocation: rtsp://localhost:{second.getsockname()[1]}/\r\n\r\n"

        def redirect() -> None:
            with first.accept()[0] as connection:
                asked.append(connection.recv(4096))
                connection.sendall(answer.encode())

        thread = threading.Thread(target=redirect)
        thread.start()
        url = f"rtsp://127.0.0.1:{first.getsockname()[1]}/live"
        with pytest.raises(SourceError, match="redirects, and the credentials would go with it"):
            open_source(url, auth=f"user:{HIDDEN}", stall_timeout_s=2)
        thread.join()
        second.settimeout(0.2)
        with pytest.raises(TimeoutError):
            second.accept()
    assert b"Authorization" not in asked[0]
    assert HIDDEN.encode() not in asked[0]


class TestViewer:
    def test_its_sources_get_the_credentials_that_apply(
        self, video: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("PyQt6.QtCore")
        from bgsub.gui.engine.opening import open_for_viewer

        path = video("v.mkv", count=12)
        with guarded(path.read_bytes()) as (url, received):
            open_for_viewer(url, start=None, auth=f"user:{HIDDEN}").close()
        assert received[-1] == BASIC
        open_for_viewer(str(path), start=None, auth=f"user:{HIDDEN}").close()

    @pytest.mark.parametrize("text", MISTYPED)
    def test_neither_titles_nor_recent_sources_nor_threads_show_a_secret(self, tmp_path: Path, text: str) -> None:
        core = pytest.importorskip("PyQt6.QtCore")
        from bgsub.gui.engine.opening import OpeningThread
        from bgsub.gui.widgets.open_source import RecentSources
        from bgsub.gui.window.file_commands import source_title

        assert HIDDEN not in source_title(text)
        settings = core.QSettings(str(tmp_path / "kept.ini"), core.QSettings.Format.IniFormat)
        recent = RecentSources(settings)
        recent.add(text)
        assert recent.names == []

        def refuse(text: str, /, *, start: float | None) -> object:
            raise SourceError(f"{text} at {start}")

        opening = OpeningThread(refuse, text, None, None, lambda: None)  # type: ignore[arg-type]
        assert HIDDEN not in opening._thread.name
        opening.close()
