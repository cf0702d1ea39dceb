"""`bgsub watch` in real processes: what it says, how it ends, and what is left when it is killed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bgsub as library
from tests.command import bgsub
from tests.watching.made import events, record, until, write_settings
from tests.watching.servers.receivers import receiving

ENDLESS = '[cameras.yard]\nfolder = "rec"\nexisting = "read"\nsettle_s = 0\n'


@pytest.fixture
def archive(tmp_path):
    """Make more segments than any test reads, each with two events."""
    first = record(tmp_path / "rec" / "seg0.mkv")
    for i in range(1, 200):
        (tmp_path / "rec" / f"seg{i}.mkv").hardlink_to(first)


def start(path, *options, before=None):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "bgsub", "watch", path, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def test_settings_are_checked_without_watching(tmp_path, capsys):
    path = write_settings(tmp_path, '[cameras.yard]\nsource = "rtsp://me:hunter2@host/live"\n')
    assert bgsub("watch", path, "--check") == 0
    assert capsys.readouterr().out == "yard: rtsp://host/live\n"
    path.write_text("output = 3\n")
    assert bgsub("watch", path) == 1
    assert capsys.readouterr().err == f"bgsub: error: {path}: output must be text, got 3\n"
    assert not (tmp_path / "out").exists()


def test_a_camera_that_cannot_be_read_is_named_at_the_end(tmp_path, capsys, compiled):
    record(tmp_path / "a.mkv")
    text = '[cameras.gone]\nsource = "gone.mkv"\n[cameras.yard]\nsource = "a.mkv"\n'
    assert bgsub("watch", write_settings(tmp_path, text), "-q") == 3
    assert "bgsub: gone: cannot open" in capsys.readouterr().err
    assert len(events(tmp_path)) == 2


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, capsys):
    path = write_settings(tmp_path, ENDLESS)
    (tmp_path / "out").touch()
    assert bgsub("watch", path) == 1
    assert capsys.readouterr().err.startswith(f"bgsub: error: cannot write {tmp_path / 'out'}: ")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_closes_everything(tmp_path, number, archive, compiled):
    with receiving() as receiver:
        path = write_settings(tmp_path, f'[webhook]\nurl = "{receiver.url}"\n{ENDLESS}')
        process = start(path, "--metrics", "0")
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        until(lambda: receiver.ids)
        process.send_signal(number)
        _, error = process.communicate(timeout=30)
        assert process.returncode == 128 + number
        assert error == "bgsub: interrupted; outputs written so far are closed and complete\n"
        assert receiver.acknowledged == events(tmp_path)
    assert library.load(tmp_path / "out" / "models" / "yard.npz").frames_seen > 0
    assert not (tmp_path / "out" / ".events.jsonl.lock").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_killed_again_and_again_every_event_arrives_once_or_with_the_same_id(tmp_path, archive, compiled):
    with receiving() as receiver:
        path = write_settings(tmp_path, f'[webhook]\nurl = "{receiver.url}"\n{ENDLESS}')
        for i in range(3):
            process = start(path, "-q")
            before = len(receiver.requests)
            until(lambda: len(receiver.requests) > before + 1)  # noqa: B023
            time.sleep(0.1 * i)
            process.kill()
            process.communicate()
        process = start(path, "-q")
        until(lambda: set(receiver.ids) >= {one["id"] for one in events(tmp_path)})
        process.terminate()
        process.communicate(timeout=30)
        written = events(tmp_path)
        assert [one["sequence"] for one in written] == list(range(1, len(written) + 1))
        assert len({one["id"] for one in written}) == len(written)
        assert set(receiver.ids) == {one["id"] for one in written}
        assert len(receiver.ids) - len(set(receiver.ids)) <= 3
        by_id = {one["id"]: one for one in written}
        assert all(by_id[one["id"]] == one for one in receiver.acknowledged)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
def test_on_a_full_disk_the_watch_goes_on_and_its_lines_stay_whole(tmp_path, archive, compiled):
    import resource

    def restrict():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    process = start(write_settings(tmp_path, ENDLESS), "--metrics", "0", before=restrict)
    lines = []
    try:
        while "events wait in memory" not in "".join(lines):
            lines.append(process.stderr.readline())
            assert lines[-1], lines
        time.sleep(1)
        assert process.poll() is None
        process.terminate()
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode in (1, 143)
    data = Path(tmp_path / "out" / "events.jsonl").read_bytes()
    assert data == b"" or data.endswith(b"\n")
    assert all(json.loads(line) for line in data.splitlines())
    assert sum("events wait in memory" in line for line in lines) == 1
