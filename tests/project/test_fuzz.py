"""A fixed selection of the campaign of `python -m bench.fuzz`, and whether it would notice what it looks for."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="limits of memory are POSIX's")]

if sys.platform != "win32":
    from bench.fuzz.campaign import run_campaign
    from bench.fuzz.cases import make_case
    from bench.fuzz.judge import judge
    from bench.fuzz.seeds import make_seeds

COUNT = 40


def test_damaged_inputs_are_explained_and_outputs_stay_readable(tmp_path: Path) -> None:
    outcome = run_campaign(COUNT, 7, tmp_path)
    assert outcome.faults == {}
    assert outcome.statuses.total() == COUNT
    assert len({kind for kind, _ in outcome.statuses}) >= 7
    assert {status for _, status in outcome.statuses} >= {0, 1}


def test_cases_follow_from_seed_and_number(tmp_path: Path) -> None:
    seeds = make_seeds(tmp_path / "seeds")
    for number in range(20):
        one, other = (make_case(number, 3, seeds, tmp_path / str(number) / name) for name in "ab")
        first, second = (
            [path.read_bytes() for path in sorted((tmp_path / str(number) / name).rglob("*")) if path.is_file()]
            for name in "ab"
        )
        assert first == second
        assert one.kind == other.kind


@pytest.mark.parametrize(
    ("status", "err", "fault"),
    [
        (0, "", ""),
        (1, "bgsub: error: v.mkv is damaged\n", ""),
        (2, "bgsub: error: wrong\n", "exit code 2"),
        (-11, "", "exit code -11"),
        (1, "", "explained 0 errors"),
        (0, "bgsub: error: wrong\n", "explained 1 errors"),
        (1, "Traceback (most recent call last):\n", "printed 'Traceback'"),
        (1, "bgsub: error: unexpected KeyError: 3\n", "printed 'unexpected'"),
    ],
)
def test_what_is_wrong_is_noticed(tmp_path: Path, status: int, err: str, fault: str) -> None:
    assert judge(status, (0, 1), "", err, tmp_path, interrupted=False) == fault


def test_outputs_that_are_not_readable_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "mask.mkv").write_bytes(b"no video")
    assert "an output is not readable" in judge(0, (0, 1), "", "", tmp_path, interrupted=False)
    (tmp_path / "mask.mkv").unlink()
    (tmp_path / "stats.csv").write_text("index,time_s\n0,nan\n")
    assert "has no times" in judge(0, (0, 1), "", "", tmp_path, interrupted=False)
    (tmp_path / "stats.csv").unlink()
    (tmp_path / ".model.npz.1a2b").touch()
    assert "was left behind" in judge(0, (0, 1), "", "", tmp_path, interrupted=False)


def test_a_worker_that_dies_or_hangs_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.fuzz import campaign
    from bench.fuzz.cases import Case

    worker = campaign._Worker(8 * 2**30, 0.5)
    monkeypatch.setattr(campaign, "_START_S", 0.5)
    try:
        code = "import time; time.sleep(60)"
        for command, fault in (("import os; os.abort()", "crashes"), (code, "hangs")):
            worker._command = [sys.executable, "-c", command]
            assert fault in worker.run(Case("video", ["run"], tmp_path))[0]
    finally:
        worker.stop()


def test_mutations_change_the_data() -> None:
    from bench.fuzz.mutations import mutate_bytes

    data = bytes(range(256)) * 4
    made = [mutate_bytes(data, np.random.default_rng(seed)) for seed in range(50)]
    assert sum(one != data for one in made) > 45
