"""Outputs of the command line go to the files named and to no other, and existing files are kept without --force."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bgsub.video.sources import open_source
from tests.command import bgsub
from tests.video.moving_square import write_video

pytestmark = pytest.mark.usefixtures("no_leaked_threads", "compiled")

COUNT = 6
PRECIOUS = b"precious"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video(tmp_path_factory.mktemp("clip") / "square.mkv", COUNT)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "street"
    assert bgsub("sample", folder, "--frames", 4, "--size", "64x48") == 0
    return folder


def count_frames(path: Path) -> int:
    with open_source(path) as source:
        return len(list(source))


@pytest.mark.skipif(sys.platform == "win32", reason="names have no colons")
class TestColons:
    @pytest.mark.parametrize("name", ["2026-01-31T12:30:05.mkv", "file:a.mkv", "md5:a.mkv", "http:a.mkv", "pipe:1.mkv"])
    def test_name_with_a_colon_is_the_name_of_a_file(
        self, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a.mkv").write_bytes(PRECIOUS)
        assert bgsub("run", clip, "-o", name, "-d", "mog2", "-q") == 0
        assert (tmp_path / "a.mkv").read_bytes() == PRECIOUS
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a.mkv", name])
        assert count_frames(tmp_path / name) == COUNT
        assert bgsub("run", clip, "-o", name, "-d", "mog2", "-q") == 1  # exists

    def test_overlay_too(self, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert bgsub("run", clip, "--overlay", "cam-7:30.mp4", "-d", "mog2", "-q") == 0
        assert count_frames(tmp_path / "cam-7:30.mp4") == COUNT


def test_hard_link_of_the_input_is_refused(clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, link = tmp_path / "square.mkv", tmp_path / "link.mkv"
    source.write_bytes(clip.read_bytes())
    link.hardlink_to(source)
    assert bgsub("run", source, "-o", link, "-d", "mog2", "--force") == 1
    assert capsys.readouterr().err.startswith(f"bgsub: error: cannot write {link}: it is the input or another output")
    assert source.read_bytes() == clip.read_bytes()


class TestEvaluate:
    @pytest.fixture
    def unmeasured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("bgsub.evaluation.evaluate", lambda *_, **__: pytest.fail("it is measured"))

    @pytest.mark.usefixtures("unmeasured")
    @pytest.mark.parametrize("option", ["--json", "--csv", "--roc", "--sheet"])
    def test_existing_file_is_kept(
        self, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
    ) -> None:
        path = tmp_path / "report.png"
        path.write_bytes(PRECIOUS)
        assert bgsub("evaluate", data, "-d", "mog2", option, path) == 1
        assert f"{path} exists; choose another name or force overwriting" in capsys.readouterr().err
        assert path.read_bytes() == PRECIOUS

    def test_force_overwrites(self, data: Path, tmp_path: Path) -> None:
        path = tmp_path / "report.csv"
        path.write_bytes(PRECIOUS)
        assert bgsub("evaluate", data, "-d", "mog2", "--csv", path, "--force", "-q") == 0
        assert path.read_bytes() != PRECIOUS

    @pytest.mark.usefixtures("unmeasured")
    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            (["--json", "none/r.json"], "there is no folder none"),
            (["--csv", "."], "it is a folder"),
            (["--roc", "r.xyz"], "the name must end in .png or .svg or .pdf"),
            (["--sheet", "r.jpg"], "the name must end in .png"),
            (["--json", "r.png", "--sheet", "./r.png"], "it is another output"),
        ],
    )
    def test_path_is_checked_before_measuring(
        self,
        data: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        options: list[str],
        reason: str,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert bgsub("evaluate", data, "-d", "mog2", *options) == 1
        assert reason in capsys.readouterr().err
        assert not list(tmp_path.iterdir())


def run_with_closed(stream: int, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a process without one of its standard streams, as daemons and pythonw do."""
    code = f"import os; os.close({stream}); os.execv({sys.executable!r}, [{sys.executable!r}, '-m', 'bgsub', *{{}}])"
    command = [str(argument) for argument in arguments]
    return subprocess.run(
        [sys.executable, "-c", code.format(command)], check=False, timeout=120, capture_output=True, env=os.environ
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has other streams")
@pytest.mark.parametrize("stream", [0, 1, 2])
def test_closed_standard_stream_does_not_stop_a_run(clip: Path, tmp_path: Path, stream: int) -> None:
    mask, table = tmp_path / "m.mkv", tmp_path / "s.csv"
    assert run_with_closed(stream, "run", clip, "-o", mask, "--stats", table, "-d", "mog2").returncode == 0
    assert count_frames(mask) == COUNT
    assert len(table.read_text().splitlines()) == COUNT + 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no /dev/stdout")
@pytest.mark.parametrize("to_file", [True, False])
def test_output_on_the_standard_output_is_refused_where_the_summary_would_overwrite_it(
    clip: Path, tmp_path: Path, to_file: bool
) -> None:
    table = tmp_path / "all.csv"
    link = tmp_path / "stats.csv"
    link.symlink_to("/dev/stdout")
    command = [sys.executable, "-m", "bgsub", "run", str(clip), "-d", "mog2", "-f", "--stats", str(link)]

    def run(*options: str) -> tuple[int, str, str]:
        with table.open("wb") as file:
            output = file if to_file else subprocess.PIPE
            done = subprocess.run([*command, *options], check=False, timeout=120, stdout=output, stderr=subprocess.PIPE)
        return done.returncode, table.read_text() if to_file else done.stdout.decode(), done.stderr.decode()

    assert len(run("--quiet")[1].splitlines()) == COUNT + 1
    status, out, error = run("--json")
    if to_file:
        assert (status, out) == (1, "")
        assert "it is where the summary goes; give --quiet or choose another name" in error
    else:
        assert len(out.splitlines()) == COUNT + 2
