"""The file of events: whole lines, numbers that rise, cursors that go on where they were, full disks."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bgsub.errors import SinkError
from bgsub.watching.delivery.event_log import EventLog


@pytest.fixture
def open_log(tmp_path):
    logs = []

    def make(**options):
        log = EventLog(tmp_path / "events.jsonl", tmp_path / ".watch", **options)
        logs.append(log)
        return log

    yield make
    for log in logs:
        log.close()


def event(number):
    return {"id": f"e{number}", "camera": "yard"}


def take(cursor, count=10**6):
    """Take events and acknowledge them; return their ids."""
    found = []
    while len(found) < count and (record := cursor.next()) is not None:
        found.append(record.id)
        cursor.acknowledge(record)
    return found


def lines(tmp_path, name="events.jsonl"):
    return [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]


def test_numbers_rise_across_runs(open_log, tmp_path):
    for run in range(3):
        log = open_log()
        for i in range(4):
            log.add(event(f"{run}-{i}"))
        log.close()
    assert [one["sequence"] for one in lines(tmp_path)] == list(range(1, 13))


def test_a_cursor_goes_on_where_it_was(open_log):
    log = open_log()
    cursor = log.cursor("hook")
    for i in range(5):
        log.add(event(i))
    assert cursor.pending == 5
    assert take(cursor, 2) == ["e0", "e1"]
    assert cursor.next().id == "e2"  # but not acknowledged
    log.close()
    log = open_log()
    log.add(event(5))
    assert take(log.cursor("hook")) == ["e2", "e3", "e4", "e5"]
    assert take(log.cursor("another")) == []  # begins with the next event


def test_a_torn_line_is_removed(open_log, tmp_path):
    log = open_log()
    cursor = log.cursor("hook")
    log.add(event(0))
    log.close()
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b'{"sequence": 2, "id": "e1", "ca')
    log = open_log()
    cursor = log.cursor("hook")
    log.add(event(2))
    assert take(cursor) == ["e0", "e2"]
    assert [one["id"] for one in lines(tmp_path)] == ["e0", "e2"]


def test_lines_that_are_none_are_passed_over(open_log, tmp_path):
    log = open_log()
    cursor = log.cursor("hook")
    log.add(event(0))
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b"nonsense\n[1]\n{}\n" + b"\xff" * 9 + b"\n")
    log.add(event(1))
    assert take(cursor) == ["e0", "e1"]


def test_the_file_is_bounded_and_what_cannot_be_kept_is_counted(open_log, tmp_path):
    log = open_log(most_bytes=2000)
    slow, quick = log.cursor("slow"), log.cursor("quick")
    taken = []
    for i in range(500):
        log.add(event(i))
        taken += take(quick)
        if i == 3:
            assert slow.next().id == "e0"
    assert taken == [f"e{i}" for i in range(500)]
    assert quick.dropped == 0
    assert sum(path.stat().st_size for path in tmp_path.glob("events*")) < 2 * 2100
    rest = take(slow)
    assert rest == [f"e{i}" for i in range(500 - len(rest), 500)]
    assert slow.dropped == 500 - len(rest)
    assert slow.pending == 0


def test_a_slow_cursor_loses_nothing_while_its_file_is_there(open_log):
    log = open_log(most_bytes=4000)
    cursor = log.cursor("hook")
    for i in range(100):
        log.add(event(i))
        if i == 10:
            assert take(cursor, 5) == [f"e{i}" for i in range(5)]
    assert take(cursor) == [f"e{i}" for i in range(5, 100)]
    assert cursor.dropped == 0


def test_a_file_that_is_renamed_or_removed_is_begun_again(open_log, tmp_path):
    log = open_log()
    cursor = log.cursor("hook")
    log.add(event(0))
    assert cursor.next().id == "e0"
    log.add(event(1))
    (tmp_path / "events.jsonl").rename(tmp_path / "kept.jsonl")
    log.add(event(2))
    assert take(cursor) == ["e0", "e1", "e2"]
    log.close()
    (tmp_path / "events.jsonl").unlink()
    log = open_log()
    cursor = log.cursor("hook")
    log.add(event(3))
    assert take(cursor) == ["e3"]
    assert [one["sequence"] for one in lines(tmp_path)] == [4]


def test_an_event_that_was_written_is_not_written_again(open_log, tmp_path):
    for _ in range(2):
        log = open_log()
        for i in (0, 1, 1, 0):
            log.add(event(i))
        log.close()
    assert [one["id"] for one in lines(tmp_path)] == ["e0", "e1"]


def test_a_damaged_memory_of_a_cursor_delivers_again(open_log, tmp_path, caplog):
    log = open_log()
    cursor = log.cursor("hook")
    log.add(event(0))
    take(cursor)
    log.close()
    (tmp_path / ".watch" / "hook.acknowledged").write_text("what?")
    assert take(open_log().cursor("hook")) == ["e0"]
    assert "is damaged" in caplog.text


@pytest.mark.parametrize(
    "line",
    [
        *('{"sequence": 1e999, "id": "x"}', '{"sequence": null, "id": "x"}', '{"id": "x"}', "[1]", "7", "what?"),
        *("[" * 50_000, '{"sequence": "' + "9" * 5000 + '"}'),
    ],
    ids=range(8),
)
def test_a_line_that_is_no_event_is_passed_over(open_log, tmp_path, caplog, line):
    (tmp_path / "events.jsonl").write_text(f"{line}\n")
    log = open_log()
    log.add(event(0))
    assert [one["sequence"] for one in map(json.loads, (tmp_path / "events.jsonl").read_text().splitlines()[1:])] == [1]
    assert "is none, and is passed over" in caplog.text


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_no_file_is_open_when_it_is_renamed(open_log, monkeypatch):
    """Windows renames no file that is open; the readers go on where they were."""
    replace, renamed = Path.replace, []

    def replace_closed(path, target):
        if path.name == "events.jsonl":
            opened = [link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
            assert path not in opened
            assert target not in opened
            renamed.append(target.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_closed)
    log = open_log(most_bytes=200)
    quick, slow = log.cursor("quick"), log.cursor("slow")
    seen = []
    for i in range(12):
        log.add(event(i))
        assert take(quick) == [f"e{i}"]
        if i % 4 == 1:
            seen += take(slow, 2)
    assert len(renamed) > 1
    seen += take(slow)
    assert seen[:6] == [f"e{i}" for i in range(6)]
    assert len(seen) + slow.dropped == 12


def test_a_file_that_cannot_be_renamed_is_gone_on_with(open_log, tmp_path, monkeypatch):
    replace, refused = Path.replace, []

    def replace_later(path, target):
        if path.name == "events.jsonl" and not refused:
            refused.append(target)
            raise PermissionError(13, "another process uses it")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_later)
    log = open_log(most_bytes=100)
    cursor = log.cursor("hook")
    for i in range(4):
        log.add(event(i))
    assert "another process uses it" in log.trouble
    log.add(event(4))
    assert log.trouble is None
    assert refused
    assert take(cursor) == [f"e{i}" for i in range(5)]
    assert [one["sequence"] for one in lines(tmp_path, "events.1.jsonl") + lines(tmp_path)] == [1, 2, 3, 4, 5]


def test_a_second_log_on_the_same_file_is_refused(open_log):
    open_log()
    with pytest.raises(SinkError, match="another run is writing it"):
        open_log()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
def test_on_a_full_disk_events_wait_and_lines_stay_whole(tmp_path):
    code = """
        import resource, signal, sys
        from pathlib import Path
        from bgsub.watching.delivery.event_log import EventLog
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        folder = Path(sys.argv[1])
        log = EventLog(folder / "events.jsonl", folder / ".watch")
        cursor = log.cursor("hook")
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
        for i in range(20):
            log.add({"id": f"e{i}"})
        assert log.waiting > 10 and "File too large" in log.trouble, log.trouble
        data = (folder / "events.jsonl").read_bytes()
        assert data.endswith(b"\\n") and len(data) <= 200
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        log.retry()
        assert log.waiting == 0 and log.trouble is None
        log.close()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=True, timeout=60)
    assert [one["id"] for one in lines(tmp_path)] == [f"e{i}" for i in range(20)]
    assert [one["sequence"] for one in lines(tmp_path)] == list(range(1, 21))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_killed_at_any_moment_no_event_is_lost_or_numbered_twice(tmp_path):
    code = """
        import sys, time
        from pathlib import Path
        from bgsub.watching.delivery.event_log import EventLog
        folder, first = Path(sys.argv[1]), int(sys.argv[2])
        log = EventLog(folder / "events.jsonl", folder / ".watch", 3000)
        cursor = log.cursor("hook")
        for i in range(first, first + 100000):
            log.add({"id": f"e{i}"})
            print("written", i, flush=True)
            record = cursor.next()
            print("delivered", record.sequence, record.id, flush=True)
            cursor.acknowledge(record)
    """
    numbers = random.Random(5)  # noqa: S311
    told = []
    for run in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), str(tmp_path), str(run * 10**6)],
            stdout=subprocess.PIPE,
            text=True,
        )
        told += [process.stdout.readline() for _ in range(numbers.randint(1, 300))]
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        told += rest.splitlines(keepends=True)
    log = EventLog(tmp_path / "events.jsonl", tmp_path / ".watch", 3000)
    cursor = log.cursor("hook")
    rest = take(cursor)
    assert cursor.dropped == 0
    log.close()
    words = [line.split() for line in told if line.endswith("\n")]
    written = [f"e{one[1]}" for one in words if one[0] == "written"]
    delivered = [one[2] for one in words if one[0] == "delivered"] + rest
    assert len(written) > 100
    assert set(written) <= set(delivered)
    assert len(delivered) - len(set(delivered)) <= 5  # those whose acknowledgement was under way
    sequences = [int(one[1]) for one in words if one[0] == "delivered"]
    assert sequences == sorted(sequences)
    assert len({(one[1], one[2]) for one in words if one[0] == "delivered"}) == len(set(sequences))
