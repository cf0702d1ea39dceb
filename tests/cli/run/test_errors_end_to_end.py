"""What a user sees when something is wrong: one line that names thing and remedy, an exit code, no half output."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bgsub as library
from bgsub._opencv import cv2
from bgsub.video.sources import open_source
from tests.command import bgsub
from tests.video.moving_square import square_frame, write_images, write_video

pytestmark = pytest.mark.usefixtures("no_leaked_threads", "compiled")

COUNT = 40


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with everything that can be wrong, beside a good `square.mkv`."""
    folder = tmp_path_factory.mktemp("bad")
    good = write_video(folder / "square.mkv", COUNT)
    (folder / "empty.mp4").touch()
    (folder / "loop.mkv").symlink_to("loop.mkv")
    (folder / "text.mp4").write_text("This is no video.\n" * 99)
    whole = write_video(folder / "whole.mp4", COUNT, codec="libx264", pixels="yuv420p").read_bytes()
    (folder / "torn.mp4").write_bytes(whole[: len(whole) * 6 // 10])
    (folder / "torn.mkv").write_bytes(good.read_bytes()[: good.stat().st_size * 6 // 10])
    (folder / "no images").mkdir()
    write_images(folder / "sizes", 3)
    cv2.imwrite(str(folder / "sizes" / "in000004.png"), square_frame(0, (40, 40)))
    write_images(folder / "torn images", 1)
    picture = (folder / "sizes" / "in000001.png").read_bytes()
    (folder / "torn images" / "in000002.png").write_bytes(picture[:300])
    cv2.imwrite(str(folder / "small.png"), square_frame(0, (40, 40)))
    (folder / "torn.json").write_text('{"include": [[1, 2]')
    (folder / "deep.toml").write_text("a = " + "[" * 100_000)
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "torn.toml").write_text("median = = 3")
    (folder / "unknown.toml").write_text("[postprocess]\nmedain = 3\n")
    (folder / "garbage.npz").write_bytes(b"garbage" * 99)
    np.savez(folder / "other.npz", a=1)
    np.savez(folder / "version.npz", bgsub_format=99, header="{}")
    detector = library.create("norma", threads=1)
    detector.apply(square_frame(0, (40, 40)))
    detector.save(folder / "model.npz")
    (folder / "torn.npz").write_bytes((folder / "model.npz").read_bytes()[:500])
    detector.reset()
    detector.apply(square_frame(0, grey=True))
    detector.save(folder / "grey.npz")
    return folder


@pytest.fixture
def complaint(
    bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Return a function that runs a command in the folder of bad things and gives the one line it complains with."""

    def run(code: int, *arguments: object) -> str:
        monkeypatch.chdir(bad)
        monkeypatch.setenv("OPENCV_LOG_LEVEL", "SILENT")
        before = sorted(bad.rglob("*"))
        assert bgsub(*arguments) == code
        shown = capfd.readouterr()
        assert shown.out == ""
        # OpenCV reads the variable when it is imported, here long ago; a subprocess test looks at its silence.
        lines = [line for line in shown.err.splitlines() if not line.startswith("[ WARN:")]
        assert len(lines) == 1, shown.err
        assert lines[0].startswith("bgsub: error: ")
        assert "Traceback" not in shown.err
        assert sorted(bad.rglob("*")) == before, "something was left behind"
        return lines[0]

    return run


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("none.mp4", "cannot open none.mp4: no such file; check the path"),
        ("none%04d.png", "none%04d.png"),
        ("", "the name of the source is empty"),
        ("empty.mp4", "empty.mp4 is empty"),
        ("text.mp4", "cannot open text.mp4: .*no video"),
        ("torn.mp4", r"cannot open torn.mp4: \d+ bytes are missing at its end; copy"),
        ("no images", "the folder no images holds no images"),
        ("garbage.npz", "cannot open garbage.npz: .*no video"),
        (
            "ftp://host/x.mp4",
            "cannot open ftp://host/x.mp4: no kind of source accepts it; give .*an address that begins",
        ),
        ("http://127.0.0.1:9/x.mp4", "cannot open http://127.0.0.1:9/x.mp4: .*check address"),
        ("synthetic:sea", "no scene 'sea', there are walkers"),
        ("synthetic:walkers?size=3x3", "size must be at least 32"),
        ("synthetic:walkers?size=100000x100000", "size must have at most 134217728 pixels, got 100000x100000"),
        ("synthetic:walkers?rate=1e-308", r"rate_hz must be in \[1e-06, 1e\+06\], got 1e-308"),
        ("synthetic:walkers?rate=1e308", r"rate_hz must be in \[1e-06, 1e\+06\], got 1e\+308"),
        ("synthetic:walkers?noise=1e308", r"noise must be in \[0, 255\], got 1e\+308"),
        ("camera:99999999999999999999", "camera:99999999999999999999: the number of a camera is below 2147483648"),
        ("9" * 5000, "the number of a camera is below 2147483648"),
        ("loop.mkv", "cannot open loop.mkv: Too many levels of symbolic links; check the path"),
        ("a" * 5000, "File name too long; check the path"),
        ("in%0999999999d.png", "cannot open in%0999999999d.png: no such file"),
    ],
)
def test_source_that_cannot_be_opened(complaint: Callable[..., str], tmp_path: Path, source: str, reason: str) -> None:
    line = complaint(1, "run", source, "-o", tmp_path / "mask.mkv")
    assert re.search(reason, line)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("source", "reason", "least"),
    [
        ("torn.mkv", "torn.mkv is damaged after frame", 10),
        ("sizes", "in000004.png is 40x40 but the sequence began with 64x48", 3),
        ("torn images", "in000002.png is not a readable image", 1),
    ],
)
def test_source_that_breaks_off_leaves_the_masks_before(
    complaint: Callable[..., str], tmp_path: Path, source: str, reason: str, least: int
) -> None:
    assert reason in complaint(1, "run", source, "-o", tmp_path / "mask.mkv")
    with open_source(tmp_path / "mask.mkv") as written:
        assert least <= len(list(written)) < COUNT


@pytest.mark.parametrize(
    ("code", "options", "reason"),
    [
        (2, ["--set", "slots=0"], r"slots must be a whole number in \[1, 254\], got 0"),
        (2, ["--set", "width=wide"], "width must be a number .* got 'wide'"),
        (2, ["--set", "width=1e-300"], r"width must be a number in \[0.001, 1e\+06\], got 1e-300"),
        (2, ["--set", "width=1e300"], r"width must be a number in \[0.001, 1e\+06\]"),
        (2, ["--set", "white=1e-300"], r"white must be a number in \[1e-06, 1e\+12\]"),
        (2, ["--set", "absorb_s=1e308"], r"absorb_s must be a number in \[0, 1e\+09\]"),
        (2, ["--set", "rate_hz=1e308"], r"rate_hz must be a number in \[1e-06, 1e\+06\]"),
        (2, ["--detector", "norma", "--set", "memory_s=1e308"], r"memory_s must be a number in \[1e-06, 1e\+09\]"),
        (2, ["--detector", "norma", "--set", f"warmup={10**400}"], "warmup must be a whole number"),
        (2, ["--detector", "mog2", "--set", "history=99999999999"], "history must be 0 or from 1 to 2147483647"),
        (1, ["--config", "deep.toml"], "deep.toml is not a valid settings file.*nested too deeply"),
        (1, ["--roi", "deep.json"], "cannot read the region deep.json: its lists are nested too deeply"),
        (2, ["--set", "slos=3"], "adaptive has no parameter 'slos'; it has slots"),
        (2, ["--detector", "norma", "--set", "eta=2"], r"eta \* lam must be below 1"),
        (2, ["--detector", "nroma"], "detector must be one of adaptive, norma, olk, mog2, knn.*, got 'nroma'"),
        (2, ["--median", 4], "median must be an odd number"),
        (2, ["--min-area", -1], "min_area must be a whole number"),
        (2, ["--learning-rate", 2], "learning_rate must be -1"),
        (2, ["--warmup", -1], "warmup must be a whole number"),
        (1, ["--detector", "knn", "--learning-rate", 0], "knn cannot be frozen.* use adaptive, norma"),
        (1, ["--roi", "none.json"], "cannot read the region none.json: no such file"),
        (1, ["--roi", "1,1 2,2"], "at least 3 corners"),
        (1, ["--roi", "torn.json"], "cannot read the region torn.json"),
        (1, ["--roi", "small.png"], "image is 40x40, the frames are 64x48"),
        (1, ["--roi", "100,0 200,0 200,99"], "leaves nothing of a 64x48 frame"),
        (2, ["--start", "soon"], "start must be a frame number"),
        (1, ["--start", 100], "ends before the start asked for, with frame 40"),
        (2, ["--start", "9" * 5000], "start must be a frame number"),
        (2, ["--start", "9" * 400 + "s"], "start must be a frame number"),
        (2, ["--end", "9" * 400 + ":01:01"], "end must be a frame number"),
        (2, ["--skip", 10**20], "skip must be from 1 to 1000000000, got 1"),
        (1, ["--roi", "a" * 5000], "no such file, and no polygon"),
        (1, ["--config", "a" * 5000], "cannot read the settings a"),
        (1, ["--load-model", "a" * 5000], "cannot read the model a"),
        (1, ["--load-model", "loop.mkv"], "cannot read the model loop.mkv: Too many levels of symbolic links"),
        (2, ["--start", 30, "--end", 10], "end must not lie before start"),
        (2, ["--start", "2s", "--end", "1s"], "end must not lie before start"),
        (1, ["--start", 30, "--end", "0.5s"], "no frame from start to end"),
        (1, ["--end", 0], "no frame from start to end"),
        (2, ["--skip", 0], "skip must be from 1 to 1000000000, got 0"),
        (2, ["--scale", 2], r"scale must be in \(0, 1\]"),
        (2, ["--scale", "nan"], r"scale must be in \(0, 1\]"),
        (2, ["--rate", 5], "rate_hz applies to sources of the kinds camera and images, got 5.0 for the kind file"),
        (1, ["--config", "none.toml"], "cannot read the settings none.toml"),
        (1, ["--config", "torn.toml"], "torn.toml is not a valid settings file"),
        (1, ["--config", "unknown.toml"], "no entry 'medain'"),
        (1, ["--load-model", "none.npz"], "cannot read the model none.npz: no such file"),
        (1, ["--load-model", "garbage.npz"], "garbage.npz is not a bgsub model"),
        (1, ["--load-model", "torn.npz"], "torn.npz is not a bgsub model"),
        (1, ["--load-model", "other.npz"], "other.npz is not a bgsub model"),
        (1, ["--load-model", "version.npz"], "version.npz has model format 99, this bgsub reads 5"),
        (1, ["--load-model", "model.npz"], "learned on 40x40 colour uint8 frames, these are 64x48 colour"),
        (1, ["--load-model", "grey.npz"], "learned on 64x48 grey uint8 frames, these are 64x48 colour"),
        (1, ["--save-model", "none/model.npz"], "there is no folder none; create it first"),
        (1, ["--save-model", "new.model"], "the name must end in .npz"),
        (1, ["--detector", "mog2", "--save-model", "new.npz"], "mog2 cannot be saved"),
        (1, ["--overlay", "none/o.mp4"], "there is no folder none; create it first"),
        (1, ["--overlay", "o.gif"], "the name must end in .mp4 or .mkv"),
        (1, ["--stats", "no images"], "the name must end in .csv"),
        (1, ["--background", "text.mp4/b.png"], "there is no folder text.mp4"),
    ],
)
def test_wrong_option(
    complaint: Callable[..., str], tmp_path: Path, code: int, options: list[object], reason: str
) -> None:
    line = complaint(code, "run", "square.mkv", "-o", tmp_path / "mask.mkv", *options)
    assert re.search(reason, line)
    assert not list(tmp_path.iterdir())


def test_benchmark_of_frames_that_are_too_large(complaint: Callable[..., str]) -> None:
    line = complaint(1, "bench", "--size", "100000x100000")
    assert "100000x100000, more than 134217728 pixels" in line


@pytest.mark.parametrize("rate", ["1e-308", "1e308", "0", "nan", "-1"])
def test_frame_rate_of_images_that_is_absurd(complaint: Callable[..., str], tmp_path: Path, rate: str) -> None:
    line = complaint(2, "run", "sizes", "-o", tmp_path / "mask.mkv", "--rate", rate)
    assert "rate_hz must be in [1e-06, 1e+06], got" in line


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError("Unable to allocate 9 GiB"), "not enough memory for frames of this size; shrink them"),
        (OSError(28, "No space left on device"), "the system refuses: [Errno 28] No space left on device"),
    ],
)
def test_system_that_refuses_is_no_defect(
    complaint: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("bgsub.pipeline.Pipeline.step", fail)
    line = complaint(1, "run", "square.mkv", "-o", tmp_path / "mask.mkv")
    assert reason in line
    assert "unexpected" not in line


@pytest.mark.parametrize(
    ("code", "mask", "reason"),
    [
        (1, "none/mask.mkv", "there is no folder none"),
        (1, "mask.mp4", "would not keep masks exactly"),
        (1, "text.mp4/masks", "there is no folder text.mp4"),
        (2, "mask%d", "pattern must be a file name with one number that ends in .png"),
        (1, "square.mkv", "it is the input or another output"),
        (1, "./no images/../square.mkv", "it is the input or another output"),
    ],
)
def test_wrong_output(complaint: Callable[..., str], code: int, mask: str, reason: str) -> None:
    assert reason in complaint(code, "run", "square.mkv", "-o", mask, "--force")


def test_outputs_do_not_overwrite_images_that_are_read(complaint: Callable[..., str]) -> None:
    for source in ("sizes", "sizes/in%06d.png", "sizes/*.png"):
        for mask in ("sizes", "sizes/in%06d.png"):
            assert "it is the input" in complaint(1, "run", source, "-o", mask, "--force")


def test_two_outputs_in_one_file_are_refused(complaint: Callable[..., str], tmp_path: Path) -> None:
    line = complaint(1, "run", "square.mkv", "-o", tmp_path / "one.mkv", "--overlay", tmp_path / "one.mkv")
    assert "it is the input or another output" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("code", "options", "reason"),
    [
        (1, ["text.mp4"], "cannot write the sample text.mp4: Not a directory"),
        (1, ["street", "--scene", "sea"], "no scene 'sea', there are walkers"),
        (1, ["street", "--size", "9x9"], "size must be at least 32"),
        (1, ["street", "--size", "200000x200000"], "size must have at most 134217728 pixels, got 200000x200000"),
    ],
)
def test_wrong_sample(complaint: Callable[..., str], code: int, options: list[str], reason: str) -> None:
    assert reason in complaint(code, "sample", *options)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["run"], "Missing argument 'SOURCE'"),
        (["run", "square.mkv"], "nothing to write: give -o mask.mkv"),
        (["run", "square.mkv", "-o", "m.mkv", "--medain", "3"], "No such option:? '?--medain"),
        (["run", "square.mkv", "-o", "m.mkv", "--set", "slots"], "is not of the form name=value"),
        (["run", "square.mkv", "-o", "m.mkv", "--raw", "--median", "3"], "--raw excludes --median"),
        (["run", "square.mkv", "-o", "m.mkv", "--threads", "9" * 20], "Invalid value for '--threads'"),
        (["run", "square.mkv", "-o", "m.mkv", "--skip", "often"], "Invalid value for '--skip'"),
        (["sample", "street", "--size", "64"], "is not of the form 640x480"),
        (["sample", "street", "--size", "0x9"], "is not of the form 640x480"),
        (["walk"], "No such command 'walk'"),
    ],
)
def test_wrong_usage_is_explained(
    bad: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reason: str,
) -> None:
    monkeypatch.chdir(bad)
    before = sorted(bad.iterdir())
    assert bgsub(*arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(reason, shown.err)
    assert shown.err.startswith("Usage: bgsub")
    assert sorted(bad.iterdir()) == before


def test_traceback_only_when_asked_for(bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("run", bad / "text.mp4", "-o", tmp_path / "mask.mkv")
    for flags, expected in (((), False), (("-v",), False), (("-vv",), True)):
        assert bgsub(*flags, *command) == 1
        shown = capsys.readouterr().err
        assert ("Traceback" in shown) is expected
        assert shown.splitlines()[-1].startswith("bgsub: error: cannot open")


def test_defect_of_ours_is_still_one_line(
    bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bgsub.pipeline.Pipeline.step", lambda *_: {}["gone"])
    assert bgsub("run", bad / "square.mkv", "-o", tmp_path / "mask.mkv") == 1
    assert capsys.readouterr().err == "bgsub: error: unexpected KeyError: 'gone'\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "reason"), [(EOFError(), "a file ends too early"), (EOFError("Ran out of input"), "Ran out of input")]
)
def test_end_of_a_file_is_no_interrupt(
    bad: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: EOFError,
    reason: str,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("bgsub.pipeline.Pipeline.step", fail)
    assert bgsub("run", bad / "square.mkv", "-o", tmp_path / "mask.mkv") == 1
    assert capsys.readouterr().err == f"bgsub: error: unexpected EOFError: {reason}\n"


def test_interrupt_keeps_what_was_written(
    bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = library.StatsCsv.write

    def interrupted(sink: library.StatsCsv, result: library.Result) -> None:
        if result.packet.index == 7:
            raise KeyboardInterrupt
        write(sink, result)

    monkeypatch.setattr("bgsub.video.sinks.stats.StatsCsv.write", interrupted)
    assert bgsub("run", bad / "square.mkv", "-o", tmp_path / "m.mkv", "--stats", tmp_path / "s.csv") == 130
    assert capsys.readouterr().err.strip() == "bgsub: interrupted; outputs written so far are closed and complete"
    with open_source(tmp_path / "m.mkv") as written:
        assert len(list(written)) == 7
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 8
