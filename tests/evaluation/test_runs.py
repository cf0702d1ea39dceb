"""Evaluations in several processes, resumed after a kill, with videos that fail."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bgsub.errors import BgsubError, DatasetError, SinkError
from bgsub.evaluation import RowsFile, RunOptions, evaluate_methods, find_sequences, parse_method
from tests.command import bgsub
from tests.evaluation.made import write_moving


class Slow:
    """A method that takes its time, so that a test can kill it in between."""

    def __init__(self, wait_s=0.01):
        self.wait_s = wait_s

    def apply(self, image):
        time.sleep(self.wait_s)
        return np.where(image[..., 0] > 140, np.uint8(255), np.uint8(0))


class Breaks:
    def apply(self, image):
        raise RuntimeError("out of order")


@pytest.fixture
def tree(tmp_path):
    """A data set of 11 categories with one video each, made like the real one."""
    for index in range(11):
        write_moving(tmp_path / "data" / f"category{index:02d}" / "video", count=12, size=(16, 24), seed=index)
    return tmp_path / "data"


ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(capsys):
    """Return a function that runs the command line; it returns exit code, output and errors."""

    def run(*arguments):
        return SimpleNamespace(returncode=bgsub(*arguments), **capsys.readouterr()._asdict())

    return run


def counts(report):
    return [(row.model, row.category, row.counts) for row in report.rows]


SLOW = "tests.evaluation.test_runs:Slow:wait_s="


@pytest.mark.slow
def test_several_processes_give_the_same_report(tree):
    methods = [parse_method("norma:warmup=3"), parse_method("mog2"), parse_method(SLOW + "0")]
    alone, _ = evaluate_methods(find_sequences(tree), methods, options=RunOptions(threads=1))
    together, _ = evaluate_methods(find_sequences(tree), methods, jobs=2)
    assert counts(together) == counts(alone)
    assert len(alone.rows) == 33
    assert together.provenance["methods"]["mog2"]["detector"] == "mog2"


def test_rows_come_at_once_and_are_not_measured_again(tree, tmp_path, monkeypatch):
    sequences, method = find_sequences(tree), parse_method(SLOW + "0")
    path = tmp_path / "rows.jsonl"
    report, _ = evaluate_methods(sequences, [method], rows=RowsFile(path))
    assert len(path.read_text().splitlines()) == 11
    with pytest.raises(SinkError, match="it exists; resume"):
        RowsFile(path)
    with monkeypatch.context() as patch:
        patch.setattr(Slow, "apply", lambda *_: pytest.fail("it is measured again"))
        again, _ = evaluate_methods(sequences, [method], rows=RowsFile(path, resume=True))
    assert again.rows == report.rows
    # another setting, or other data, is not the same row
    other, _ = evaluate_methods(sequences[:1], [parse_method(SLOW + "0.001")], rows=RowsFile(path, resume=True))
    assert other.rows[0].model != report.rows[0].model
    label = next((sequences[0].folder / "groundtruth").iterdir())
    label.write_bytes(next((sequences[1].folder / "groundtruth").iterdir()).read_bytes())
    changed, _ = evaluate_methods(sequences[:2], [method], rows=RowsFile(path, resume=True))
    assert changed.rows[0].data != report.rows[0].data
    assert changed.rows[1] == report.rows[1]


def test_a_line_that_was_torn_is_dropped_and_any_other_damage_named(tree, tmp_path):
    sequences, method, path = find_sequences(tree)[:3], parse_method(SLOW + "0"), tmp_path / "rows.jsonl"
    report, _ = evaluate_methods(sequences, [method], rows=RowsFile(path))
    whole = path.read_text()
    path.write_text(whole[:-30])
    again, _ = evaluate_methods(sequences, [method], rows=RowsFile(path, resume=True))
    assert counts(again) == counts(report)
    assert len(path.read_text().splitlines()) == 3
    path.write_text("x\n" + whole)
    with pytest.raises(DatasetError, match="line 1: no row of an evaluation"):
        RowsFile(path, resume=True)


def test_a_video_that_fails_ends_the_run_or_is_left_out(tree, tmp_path):
    (tree / "category04" / "video" / "input" / "in000007.png").write_bytes(b"no image")
    sequences, method = find_sequences(tree), parse_method(SLOW + "0")
    with pytest.raises(DatasetError, match=r"in000007.png"):
        evaluate_methods(sequences, [method], rows=RowsFile(tmp_path / "rows.jsonl"))
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 4
    report, failures = evaluate_methods(sequences, [method], keep_going=True)
    assert len(report.rows) == 10
    assert [failure.sequence for failure in failures] == ["category04/video"]
    _, failures = evaluate_methods(sequences[:2], [parse_method("tests.evaluation.test_runs:Breaks")], keep_going=True)
    assert [failure.reason for failure in failures] == [
        f"tests.evaluation.test_runs:Breaks failed on category0{index}/video: RuntimeError('out of order')"
        for index in range(2)
    ]


def test_names_must_be_different(tree):
    sequences = find_sequences(tree)[:1]
    with pytest.raises(ValueError, match="methods must have different names, got 'mog2' twice"):
        evaluate_methods(sequences, [parse_method("mog2")] * 2)
    with pytest.raises(ValueError, match="sequences must have different names"):
        evaluate_methods(sequences * 2, [parse_method("mog2")])
    with pytest.raises(BgsubError, match="out of order"):
        evaluate_methods(sequences, [parse_method("tests.evaluation.test_runs:Breaks")])


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_was_killed_goes_on_and_reports_the_same(tree, tmp_path, jobs, run):
    results = tmp_path / "results"
    command = [sys.executable, "-m", "bgsub", "evaluate", str(tree), "-d", SLOW + "0.02", "--results", str(results)]
    command += ["--jobs", jobs, "--json", str(tmp_path / "report.json"), "--resume"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    begin = time.monotonic()
    while not (results / "rows.jsonl").exists() or len((results / "rows.jsonl").read_text().splitlines()) < 3:
        assert time.monotonic() - begin < 60
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = (results / "rows.jsonl").read_text().splitlines()
    done = run(*command[3:])
    assert done.returncode == 0, done.err
    assert (results / "rows.jsonl").read_text().splitlines()[: len(kept) - 1] == kept[:-1]
    whole = run("evaluate", tree, "-d", SLOW + "0.0001", "--json", tmp_path / "whole.json")
    assert whole.returncode == 0, whole.err
    reports = [json.loads((tmp_path / name).read_text())["rows"] for name in ("report.json", "whole.json")]
    same = ("category", "sequence", "tp", "fp", "fn", "tn", "f_measure", "frames", "scored", "data")
    resumed, uninterrupted = ([[row[name] for name in same] for row in rows] for rows in reports)
    assert resumed == uninterrupted
    assert len(resumed) == 11
    assert sorted(path.name for path in results.iterdir()) == [*(f"category{i:02d}" for i in range(11)), "rows.jsonl"]


@pytest.mark.slow
def test_the_command_names_a_damaged_video_and_exits_with_3(tree, tmp_path, run):
    (tree / "category04" / "video" / "temporalROI.txt").write_text("what")
    (tree / "category05" / "video" / "groundtruth" / "gt000003.png").write_bytes(b"")
    refused = run("evaluate", tree, "-d", "mog2")
    assert (refused.returncode, refused.out) == (1, "")
    done = run("evaluate", tree, "-d", "mog2", "--keep-going", "--csv", tmp_path / "a.csv")
    assert done.returncode == 3
    assert "category04/video is left out" in done.err
    assert "category05/video (mog2) is left out" in done.err
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + 9
    assert "mean of videos" in done.out


@pytest.mark.slow
def test_sweeps_and_validation_from_the_command_line(tree, run):
    done = run(
        "evaluate", tree, "-d", "norma:warmup=3", "--grid", "nu=0.2,0.5", "--compare", "mog2",
        "--leave-one-out", "category",
    )  # fmt: skip
    assert done.returncode == 0, done.err
    assert "category left out" in done.out
    assert "norma:warmup=3,nu=0.2" in done.out
    halved = run("evaluate", tree, "-d", "norma", "--search", "6", "--halving", "--leave-one-out", "category")
    assert halved.returncode == 0, halved.err
    assert "of 66 runs" in halved.out
    wrong = run("evaluate", tree, "--halving")
    assert wrong.returncode == 2
    assert "--halving needs --search" in wrong.err


@pytest.mark.slow
def test_tables_and_page_from_the_command_line(tree, tmp_path, run):
    wrong = run("evaluate", tree, "--measures", "f_measure,beauty", "--csv", tmp_path / "a.csv")
    assert (wrong.returncode, wrong.out) == (2, "")
    assert "measure must be one of recall" in wrong.err
    done = run(
        "evaluate", tree, "-d", SLOW + "0", "--compare", "mog2", "--measures", "f_measure,precision",
        "--table", tmp_path / "t.md", "--html", tmp_path / "p.html", "-q",
    )  # fmt: skip
    assert done.returncode == 0, done.err
    assert "better than mog2 on" in done.out
    assert (tmp_path / "t.md").read_text().count("\n") > 11
    page = (tmp_path / "p.html").read_text()
    assert "category07" in page
    assert "history" in page  # the settings of mog2
    again = run("evaluate", tree, "-d", "mog2", "--baseline", "knn")
    assert again.returncode == 1
    assert "cannot compare with knn" in again.err
