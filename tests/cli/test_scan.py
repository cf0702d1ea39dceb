"""`bgsub scan` as a person runs it: what it says, killed, resumed, on a full disk, on a cluster, and its page."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.cli.scan import INCOMPLETE
from tests.command import bgsub
from tests.scanning.made import outputs, write

MOVING = [(80, 110), (200, 240), (390, 420)]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Return a folder with a day of recordings, in which something moves now and then."""
    folder = tmp_path_factory.mktemp("archive")
    for i in range(12):
        moving = [(30 + i, 60 + i)] if i % 3 else []
        write(folder / f"cam_20261122_{8 + i:02d}0000.mkv", range(1, 121), moving, seed=i)
    return folder


@pytest.fixture(scope="module")
def outputs_of_archive(archive, tmp_path_factory):
    """Return what a scan of the archive writes that nothing interrupts."""
    folder = tmp_path_factory.mktemp("of archive") / "out"
    assert bgsub("scan", archive, "-o", folder, "-q") == 0
    return outputs(folder)


@pytest.fixture
def recording(tmp_path):
    return write(tmp_path / "whole.mkv", range(1, 301), MOVING)


def start(*arguments, cwd=None, before=None):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "bgsub", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def finish(*arguments, **options):
    process = start(*arguments, **options)
    out, error = process.communicate(timeout=300)
    return process.returncode, out, error


def test_a_scan_reports_days_and_where_the_page_is(archive, tmp_path, capsys, compiled):
    assert bgsub("scan", archive, "-o", tmp_path / "out") == 0
    out = capsys.readouterr().out
    assert re.search(r"2026-11-22: 8 events, \d+ s of motion in 2:24, most at 09:00\n", out)
    assert out.endswith(f"report: {tmp_path / 'out' / 'report.html'}\n")
    assert bgsub("scan", archive, "-o", tmp_path / "quiet", "-q") == 0
    assert capsys.readouterr().out == ""
    assert outputs(tmp_path / "out") == outputs(tmp_path / "quiet")


def test_options_change_what_is_found(recording, tmp_path, capsys):
    def found(*options):
        folder = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        assert bgsub("scan", recording, "-o", folder, "-q", *options) == 0
        return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]

    assert len(found()) == 2
    assert len(found("--min-length", 3.5)) == 1
    assert len(found("--min-size", 0.2)) == 0
    assert len(found("--merge-gap", 30)) == 1
    assert len(found("--roi", "0,0 95,0 95,10 0,10")) == 0
    assert {one["region"] for one in found("--region", "a=0,0 40,0 40,71 0,71", "--region", "b=0,60 9,60 9,71")} == {
        "a"
    }
    assert len(found("--quick", "--sensitivity", "high")) == 2
    assert {one["detector"] for one in found("-d", "norma")} <= {"norma"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --output FOLDER, or --dry-run"),
        (["-o", "out", "--quick", "--skip", "2"], "--quick excludes --scale and --skip"),
        (["-o", "out", "--max-size", "5G"], "--max-size limits clips"),
        (["-o", "out", "--clips", "copy", "--max-size", "much"], "must be like 500M or 20G, got 'much'"),
        (["-o", "out", "--continuous", "-j", "2"], "leave out --jobs and --dask"),
        (["-o", "out", "--dask", "tcp://127.0.0.1:1", "-j", "2"], "leave out --jobs"),
        (["-o", "out", "--region", "a=0,0 9,0 9,9", "--region", "a=0,0 9,0 9,9"], "--region a is given twice"),
        (["-o", "out", "--min-travel", "3"], "min_travel must be a share in"),
        (["-o", "out", "--continuous", "--chunk", "5"], "a continuous recording is one model"),
        (["-o", "out", "--start-time", "noon"], "must be like 2026-11-22"),
    ],
)
def test_bad_usage_is_refused(recording, tmp_path, capsys, options, message):
    options = [str(tmp_path / "out") if option == "out" else option for option in options]
    assert bgsub("scan", recording, *options) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_dry_run_lists_files_and_writes_nothing(archive, tmp_path, capsys):
    (tmp_path / "broken.mkv").write_bytes(b"no video")
    places = [archive, tmp_path / "broken.mkv"]
    assert bgsub("scan", *places, "--dry-run", "--chunk", 0.1, "--clips", "copy", "-o", tmp_path / "out") == INCOMPLETE
    out = capsys.readouterr().out
    assert "broken.mkv: cannot open" in out
    assert "080000.mkv: 12 s in 2 parts" in out
    assert re.search(r"13 files, 2:24, [0-9.]+ MB, 25 parts; clips take up to [0-9.]+ MB\n", out)
    assert not (tmp_path / "out").exists()


def test_files_that_cannot_be_read_are_named_and_the_exit_code_says_so(archive, tmp_path, capsys):
    (tmp_path / "broken.mkv").write_bytes(b"no video")
    first = sorted(archive.iterdir())[1]
    assert bgsub("scan", first, tmp_path / "broken.mkv", "-o", tmp_path / "out") == INCOMPLETE
    captured = capsys.readouterr()
    assert re.search(r"^bgsub: .*broken.mkv: cannot open .*broken.mkv", captured.err, re.MULTILINE)
    assert "1 events" in captured.out


def test_a_finished_scan_is_not_overwritten(recording, tmp_path, capsys):
    assert bgsub("scan", recording, "-o", tmp_path / "out", "-q") == 0
    assert bgsub("scan", recording, "-o", tmp_path / "out", "-q") == 1
    assert "resume it with --resume" in capsys.readouterr().err
    assert bgsub("scan", recording, "-o", tmp_path / "out", "-q", "--resume", "--min-length", 1) == 1
    assert "its settings were others (rules)" in capsys.readouterr().err
    before = outputs(tmp_path / "out")
    assert bgsub("scan", recording, "-o", tmp_path / "out", "-q", "--resume") == 0
    assert outputs(tmp_path / "out") == before


def test_a_folder_that_cannot_be_made_is_one_line(recording, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert bgsub("scan", recording, "-o", tmp_path / "file" / "out", "-q") == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("options", [["--continuous"], ["-j", "2", "--clips", "copy"]])
def test_a_scan_that_is_killed_again_and_again_ends_with_the_same_bytes(archive, tmp_path, options):
    numbers = np.random.default_rng(len(options))
    assert bgsub("scan", archive, "-o", tmp_path / "once", "-q", *options) == 0
    arguments = ["scan", archive, "-o", tmp_path / "killed", "--resume", *options]
    journal, kills = tmp_path / "killed" / ".scan" / "journal.jsonl", 0
    while kills < 2:
        process = start(*arguments)
        done = len(journal.read_bytes().splitlines()) if journal.exists() else 0
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            now = len(journal.read_bytes().splitlines()) if journal.exists() else 0
            if now > done:  # it works: any moment now
                time.sleep(numbers.uniform(0, 0.25))
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode == 0:
            break
        kills += 1
    status, _, error = finish(*arguments)
    assert (status, error) == (0, "")
    assert kills >= 1  # else it finished first
    assert outputs(tmp_path / "killed") == outputs(tmp_path / "once")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_a_signal_ends_a_scan_and_says_how_to_go_on(archive, tmp_path):
    process = start("scan", archive, "-o", tmp_path / "out")
    journal = tmp_path / "out" / ".scan" / "journal.jsonl"
    deadline = time.monotonic() + 60
    while not (journal.exists() and len(journal.read_bytes().splitlines()) > 2):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert f"bgsub: go on with --resume -o {tmp_path / 'out'}\n" in error
    assert bgsub("scan", archive, "-o", tmp_path / "out", "-q", "--resume") == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such locks")
def test_two_scans_into_one_folder_are_refused(archive, tmp_path, capsys):
    process = start("scan", archive, "-o", tmp_path / "out")
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "out" / ".scan" / "journal.jsonl").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert bgsub("scan", archive, "-o", tmp_path / "out", "--resume", "-q") == 1
        assert "another run is writing it" in capsys.readouterr().err
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
@pytest.mark.parametrize("limit", [1000, 3500])
def test_a_full_disk_is_one_line_and_the_scan_goes_on_later(archive, outputs_of_archive, tmp_path, limit, capsys):
    import resource

    def restrict():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    status, _, error = finish("scan", archive, "-o", tmp_path / "out", "-q", before=restrict)
    assert status == 1
    assert re.fullmatch(r"bgsub: error: cannot write .*\n", error)
    for line in (tmp_path / "out" / ".scan").glob("journal.jsonl"):
        assert all(json.loads(one) for one in line.read_text().splitlines())
    assert bgsub("scan", archive, "-o", tmp_path / "out", "-q", "--resume") == 0
    assert capsys.readouterr().err == ""
    assert outputs(tmp_path / "out") == outputs_of_archive


@pytest.mark.slow
def test_the_page_is_shown_by_a_browser_and_loads_nothing(archive, tmp_path):
    named = tmp_path / "in"
    named.mkdir()
    for file in sorted(archive.iterdir())[:3]:
        shutil.copy(file, named / f"<i>&amp;{file.name}")
    (named / "broken'\"<script>.mkv").write_bytes(b"no video")
    assert bgsub("scan", named, "-o", tmp_path / "out", "-q") == INCOMPLETE
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<i>" not in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("data:image/jpeg;base64,") == 2
    links = re.findall(r'href="(?!#)([^"]*)"', page)
    assert links
    import html
    from urllib.parse import unquote

    assert all((tmp_path / "out" / unquote(html.unescape(link))).exists() for link in links)
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("chromium is not installed")
    picture = tmp_path / "page.png"
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1200,900",
        f"--user-data-dir={tmp_path / 'b'}",
    ]
    done = subprocess.run(
        [browser, *flags, f"--screenshot={picture}", (tmp_path / "out" / "report.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "Refused to" not in done.stderr
    shown = cv2.imread(str(picture))
    orange = (np.abs(shown.astype(int) - (0, 94, 213)).max(2) < 12).sum()
    assert orange > 20  # events on the timeline
    assert shown.std() > 10


def test_help_names_what_is_written():
    done = subprocess.run([sys.executable, "-m", "bgsub", "scan", "--help"], capture_output=True, text=True, check=True)
    assert "events.jsonl" in done.stdout
    assert Path(done.args[0]).exists()
