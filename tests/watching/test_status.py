"""Health and metrics on loopback, and the status line."""

import json
import re
import socket
import time
import urllib.error
import urllib.request

import pytest

from bgsub.errors import SinkError
from bgsub.watching.server import StatusServer
from tests.watching.made import events, record, until, watching, write_settings
from tests.watching.servers.receivers import receiving

pytestmark = pytest.mark.usefixtures("no_leaked_threads")
ENDLESS = 'source = "synthetic:easy?frames=1000000&size=64x48"\n'


def get(port, path):
    """Return status and body of an answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def metrics(port):
    """Return the metrics by name and labels, after checking the form of every line."""
    found = {}
    for line in get(port, "/metrics")[1].splitlines():
        if not line.startswith("#"):
            match = re.fullmatch(r'(bgsub_[a-z_]+(?:\{(?:[a-z]+="[^"]*",?)+\})?) (-?[0-9.e+]+)', line)
            assert match, line
            found[match[1]] = float(match[2])
    return found


def test_a_watch_that_is_well_says_so_and_counts(tmp_path):
    record(tmp_path / "rec" / "old.mkv", 10, [])
    ports, lines = [], []
    with receiving() as receiver:
        text = f'[webhook]\nurl = "{receiver.url}"\n[cameras.yard]\nfolder = "rec"\nsettle_s = 0.3\n'
        text += f"[cameras.door]\n{ENDLESS}"
        with watching(write_settings(tmp_path, text), port=0, on_port=ports.append, show=lines.append):
            until((tmp_path / "out" / ".watch" / "yard.segment").exists)
            record(tmp_path / "rec" / "seg.mkv")
            until(lambda: sum(one["camera"] == "yard" for one in events(tmp_path)) == 2)
            until(lambda: metrics(ports[0])['bgsub_delivery_pending{to="webhook"}'] == 0)
            status, body = get(ports[0], "/healthz")
            assert (status, json.loads(body)["ok"]) == (200, True)
            found = metrics(ports[0])
            assert found['bgsub_frames_total{camera="yard"}'] == 300
            assert found['bgsub_events_total{camera="yard"}'] == 2
            assert found['bgsub_camera_up{camera="door"}'] == 1
            assert found['bgsub_delivered_total{to="webhook"}'] >= 2
            assert found['bgsub_motion{camera="yard",region=""}'] == 0
            assert found["bgsub_events_lost_total"] == 0
            assert abs(found['bgsub_last_frame_timestamp_seconds{camera="door"}'] - time.time()) < 10
            assert get(ports[0], "/nothing")[0] == 404
            until(lambda: lines and re.match(r"yard .*/s.* \| door \d+/s.* \| \d+ events", lines[-1]))
        with pytest.raises(OSError, match="refused"):
            get(ports[0], "/healthz")


def test_a_camera_or_a_webhook_that_fails_is_not_well(tmp_path):
    ports = []
    with receiving() as receiver:
        receiver.mode = "500"
        text = f'[webhook]\nurl = "{receiver.url}"\n[cameras.door]\n{ENDLESS}[cameras.gone]\nsource = "gone.mkv"\n'
        with watching(write_settings(tmp_path, text), port=0, on_port=ports.append):
            until(lambda: ports)
            until(lambda: json.loads(get(ports[0], "/healthz")[1])["cameras"]["gone"]["trouble"])
            status, body = get(ports[0], "/healthz")
            assert status == 503
            assert "no such file" in json.loads(body)["cameras"]["gone"]["trouble"]


def test_an_address_with_a_password_is_shown_nowhere(tmp_path, caplog):
    caplog.set_level("DEBUG")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ports, lines = [], []
    text = f'[cameras.yard]\nsource = "rtsp://me:hunter2@127.0.0.1:{port}/live?key=hunter2"\n[cameras.door]\n{ENDLESS}'
    with watching(write_settings(tmp_path, text), port=0, on_port=ports.append, show=lines.append):
        until(lambda: ports)
        until(lambda: json.loads(get(ports[0], "/healthz")[1])["cameras"]["yard"]["trouble"])
        body = get(ports[0], "/healthz")[1]
        shown = body + get(ports[0], "/metrics")[1] + "".join(lines) + caplog.text
    assert f"rtsp://127.0.0.1:{port}/live" in body
    assert "hunter2" not in shown
    assert "hunter2" not in caplog.text
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"hunter2" not in path.read_bytes()


def test_clients_that_say_nothing_or_nonsense_do_no_harm():
    server = StatusServer(0, lambda: (True, {}), lambda: "")
    clients = []
    try:
        for i in range(40):
            client = socket.create_connection(("127.0.0.1", server.port), 5)
            clients.append(client)
            if i % 2:
                client.sendall(b"\x00\xff" * 100 + b"\r\n\r\n")
        for client in clients:
            client.close()
        until(lambda: _well(server.port))
    finally:
        begin = time.monotonic()
        server.close()
        assert time.monotonic() - begin < 8  # a client that says nothing is heard for 10 s


def _well(port):
    try:
        return get(port, "/healthz")[0] == 200
    except OSError:
        return False


def test_a_port_that_is_in_use_is_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SinkError, match=r"cannot use port .* for metrics"):
            StatusServer(taken.getsockname()[1], lambda: (True, {}), lambda: "")
