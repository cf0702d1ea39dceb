"""A Dask cluster that runs the jobs of commands: a scheduler and two workers on this machine."""

import json
import subprocess
import sys
import time

import pytest

from tests.command import bgsub
from tests.evaluation.made import write_moving
from tests.scanning.made import outputs, write

COMMANDS = [
    ["scan", "clip.mkv", "-o", "out", "-q"],
    ["evaluate", "data", "-d", "mog2", "-q"],
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of a scheduler with two workers."""
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    running = []

    def start(module, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", "--scheduler-file", file]
        quiet = subprocess.DEVNULL
        running.append(subprocess.Popen([*command, *arguments], cwd=folder, stdout=quiet, stderr=quiet))

    start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    try:
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline, "the scheduler never came"
            time.sleep(0.05)
        for _ in range(2):
            start("dask_worker", "--nthreads", "1")
        yield json.loads(file.read_text())["address"]
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(timeout=30)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder to work in: a clip in which something moves, and a tree of two videos, one of them damaged."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "clip.mkv", range(1, 301), [(80, 110), (200, 240)])
    for name in ("a", "b"):
        write_moving(tmp_path / "data" / "category" / name, count=12, size=(16, 24), seed=ord(name))
    return tmp_path


@pytest.mark.slow
def test_a_scan_by_a_cluster_finds_the_same(address, folder):
    assert bgsub("scan", "clip.mkv", "-o", "cluster", "-q", "--dask", address) == 0
    assert bgsub("scan", "clip.mkv", "-o", "here", "-q") == 0
    assert outputs(folder / "cluster") == outputs(folder / "here")
    assert (folder / "here" / "events.csv").read_text().count("\n") == 3


@pytest.mark.slow
def test_an_evaluation_by_a_cluster_counts_the_same_and_names_what_failed(address, folder, capsys):
    (folder / "data" / "category" / "b" / "input" / "in000006.jpg").write_bytes(b"no picture")
    evaluation = ["evaluate", "data", "-d", "norma:warmup=3", "--compare", "mog2", "-q", "--keep-going"]
    for where in (["--dask", address], ["--threads", "1"]):
        assert bgsub(*evaluation, *where, "--json", f"{where[0]}.json") == 3
        assert "in000006.jpg" in capsys.readouterr().err
    counted = [
        [(row["model"], row["sequence"], row["tp"], row["fp"]) for row in json.loads(file.read_text())["rows"]]
        for file in sorted(folder.glob("--*.json"))
    ]
    assert len(counted) == 2
    assert counted[0] == counted[1]
    assert len(counted[0]) == 2


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_cluster_that_does_not_answer_is_one_line(command, folder, capsys):
    pytest.importorskip("distributed")
    assert bgsub(*command, "--dask", "nonsense://127.0.0.1:1") == 1
    assert "no Dask scheduler answers at nonsense://127.0.0.1:1" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["tcp://127.0.0.1", "nonsense", "tcp://admin:secret@127.0.0.1:8786", ""])
def test_what_is_no_address_of_a_cluster_is_refused_without_repeating_it(address, folder, capsys):
    assert bgsub("scan", "clip.mkv", "-o", "out", "-q", "--dask", address) == 2
    error = capsys.readouterr().err
    assert "such as tcp://10.0.0.5:8786" in error
    assert "secret" not in error


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_processes_of_this_machine_beside_a_cluster_are_refused(command, folder, capsys):
    assert bgsub(*command, "--dask", "tcp://127.0.0.1:1", "-j", "2") == 2
    assert "leave out --jobs" in capsys.readouterr().err
