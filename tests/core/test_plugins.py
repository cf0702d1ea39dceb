"""Sources and sinks of other packages, found by entry points."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bgsub as library
from bgsub._plugins import Registry, find_plugins, warn_once
from bgsub.detectors import detector_class
from bgsub.errors import DependencyError, SourceError
from bgsub.testing import check_detector, check_sink, check_source
from bgsub.video.sinks import SINKS
from bgsub.video.sources import SOURCES, open_source
from tests.command import bgsub

SINK = '''
import json

from bgsub._files import check_file
from bgsub.video.sinks import Sink, SinkOption, SinkSetting


class JsonLines(Sink):
    """One JSON object per frame: its number and the share of foreground."""

    option = SinkOption("lines", "JSON lines (.jsonl)", settings=(SinkSetting("unit", ("share", "percent"), "share"),))
    suffixes = (".jsonl",)

    def __init__(self, path, *, unit="share", force=False):
        check_file(path, self.suffixes, force)
        self.path, self.file, self.factor = path, None, 100 if unit == "percent" else 1

    def write(self, result):
        if self.file is None:
            self.file = self.path.open("w")
        share = float((result.mask > 0).mean()) * self.factor
        self.file.write(json.dumps({"number": result.packet.number, "foreground": share}) + "\\n")

    def close(self):
        if self.file is not None:
            self.file.close()
'''

SOURCE = '''
import numpy as np

from bgsub.errors import SourceError
from bgsub.frames import VideoInfo
from bgsub.video.sources import Grab, LazySource


class NpyStack(LazySource):
    """Frames of a (frames, H, W) array in a .stack file."""

    text_form = "an array of frames in a .stack file"

    def __init__(self, text):
        try:
            self.frames = np.load(text, mmap_mode="r")
        except (OSError, ValueError) as error:
            raise SourceError(f"cannot read {text} ({error}); save it with numpy.save") from error
        self.next = 0

    @classmethod
    def accepts(cls, text):
        return text.endswith(".stack")

    @property
    def info(self):
        return VideoInfo("stack", size=self.frames.shape[1:3], rate_hz=25.0, count=len(self.frames))

    def grab(self):
        if self.next == len(self.frames):
            return None
        index, self.next = self.next, self.next + 1
        return Grab(index + 1, index / 25, lambda: np.array(self.frames[index]))

    def seek(self, start):
        self.next = (start.estimate_number(25.0) or 1) - 1
'''

BROKEN = "raise RuntimeError('compiled for another numpy')\n"

FAILS = '''
from bgsub.video.sources import FrameSource


class Fails(FrameSource):
    """Fails whenever it is asked."""

    @classmethod
    def accepts(cls, text):
        raise ZeroDivisionError("division by zero")

    info = None

    def read(self):
        return None
'''

ENTRY_POINTS = """
[bgsub.sinks]
lines = stranger_sink:JsonLines
broken = stranger_broken:Sink
nothing = stranger_sink:json
mask = stranger_broken:Sink

[bgsub.sources]
fails = stranger_fails:Fails
stack = stranger_source:NpyStack
broken = stranger_broken:Source
"""


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that brings a sink and a source, and others that do not work."""
    site = tmp_path / "site"
    info = site / "stranger-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    modules = {"sink": SINK, "source": SOURCE, "broken": BROKEN, "fails": FAILS}
    for name, text in modules.items():
        (site / f"stranger_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(site)
    for cached in (find_plugins, warn_once):
        cached.cache_clear()
    yield
    for name in modules:
        sys.modules.pop(f"stranger_{name}", None)
    for cached in (find_plugins, warn_once):
        cached.cache_clear()


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    frames = np.full((30, 24, 32), 60, np.uint8)
    for index in range(10, 30):
        frames[index, 8:16, index : index + 8] = 220
    with (tmp_path / "frames.stack").open("wb") as file:
        np.save(file, frames)
    return tmp_path / "frames.stack"


@pytest.mark.usefixtures("stranger")
class TestStranger:
    def test_sink_and_source_keep_their_contracts(self, stack: Path) -> None:
        check_sink(SINKS.load("lines"), lambda path: len(path.read_text().splitlines()))
        check_source(lambda: open_source(stack))

    def test_run_uses_both(self, stack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        lines = tmp_path / "out.jsonl"
        command = ("run", stack, "--lines", lines, "--detector", "norma", "--set", "warmup=5")
        assert bgsub(*command, "--lines-unit", "percent") == 0
        shown = capsys.readouterr()
        assert shown.out.splitlines()[1:] == [f"lines: {lines}"]
        rows = [json.loads(line) for line in lines.read_text().splitlines()]
        assert [row["number"] for row in rows] == list(range(1, 31))
        assert max(row["foreground"] for row in rows) > 1
        assert bgsub(*command) == 1
        assert "out.jsonl exists; choose another name" in capsys.readouterr().err

    def test_help_and_messages_name_both(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert bgsub("run", "--help") == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "--lines PATH JSON lines (.jsonl). --lines-unit [share|percent] [default: share]" in shown
        assert bgsub("run", "synthetic:easy") == 2
        assert " or --lines\n" in capsys.readouterr().err
        assert bgsub("sources") == 0
        assert "stack: an array of frames in a .stack file" in capsys.readouterr().out
        with pytest.raises(SourceError, match=r"an array of frames in a \.stack file"):
            open_source("ftp://host/x.mp4")

    @pytest.mark.usefixtures("compiled")  # else the first run of all reports that it compiles
    def test_broken_ones_are_named_once_and_the_rest_works(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert bgsub("run", "synthetic:easy?frames=3&size=40x32", "-o", tmp_path / "mask.mkv") == 0
        shown = capsys.readouterr().err
        assert sorted(shown.splitlines()) == [
            "bgsub: cannot load broken of the package stranger (compiled for another numpy); "
            "update or uninstall that package",
            "bgsub: cannot load nothing of the package stranger (it is not a subclass of Sink); "
            "update or uninstall that package",
            "bgsub: stranger_broken:Sink is not used: mask of bgsub.sinks is built in; rename that entry point",
        ]
        with open_source(tmp_path / "mask.mkv") as written:
            assert len(list(written)) == 3

    def test_kind_that_fails_when_asked_is_passed_over(self, stack: Path, caplog: pytest.LogCaptureFixture) -> None:
        with open_source(stack) as source:
            assert source.info.count == 30
        assert f"the source kind fails fails on {stack} (division by zero); it is not used" in caplog.messages

    def test_built_in_name_cannot_be_taken(self) -> None:
        assert SINKS.names()[-3:] == ["lines", "broken", "nothing"]
        assert SINKS.load("mask").__module__ == "bgsub.video.sinks.videos"

    def test_broken_one_asked_for_by_name_is_an_error(self) -> None:
        with pytest.raises(DependencyError, match="cannot load broken of the package stranger"):
            SOURCES.load("broken")


def test_damaged_metadata_leaves_the_built_in_kinds(
    stranger: None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "site" / "stranger-1.0.dist-info" / "entry_points.txt").write_text("[bgsub.sinks]\nno equals sign\n")
    assert SINKS.names() == list(SINKS.built_in)
    assert "cannot read the entry points of installed packages" in caplog.text


def test_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"name must be one of camera, .*, file, got 'tape'"):
        SOURCES.load("tape")


def test_built_in_that_cannot_be_imported_is_not_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_more.py").write_text(
        "from bgsub.errors import DependencyError\nraise DependencyError('cannot be imported')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry = Registry("bgsub.none", object, {"needy": "needs_more:Kind"})
    with pytest.raises(DependencyError, match="cannot be imported"):
        list(registry.items())


DETECTOR = '''
import numpy as np

from bgsub.detectors import TwoStepDetector, param


class Difference(TwoStepDetector):
    """Foreground differs from the last frame."""

    name = "elsewhere"
    threshold: float = param(40.0, "difference of foreground, where 255 is white", "(0, inf)")

    def _start(self, frame):
        self._arrays["last"] = frame.copy()

    def _score(self, frame):
        gap = np.abs(frame.astype(np.float32) - self._arrays["last"])
        gap = gap if frame.ndim == 2 else gap.max(2)
        level = np.float32(self.threshold * self._white(frame.dtype) / 255)
        return 1 - level / np.maximum(gap, np.float32(1e-6))

    def _learn(self, frame, learning):
        may = ... if learning.where is None else learning.where != 0
        self._arrays["last"][may] = frame[may]

    def background_image(self):
        self._need_state()
        return self._arrays["last"].copy()
'''


class TestDetector:
    """A detector of another package."""

    @pytest.fixture(autouse=True)
    def package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        (tmp_path / "difference_package.py").write_text(DETECTOR)
        info = tmp_path / "difference_package-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: difference-package\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[bgsub.detectors]\nelsewhere = difference_package:Difference\nmisnamed = difference_package:Difference\n"
            "gone = difference_package:Gone\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        find_plugins.cache_clear()
        warn_once.cache_clear()
        yield
        find_plugins.cache_clear()
        sys.modules.pop("difference_package", None)

    def test_it_is_made_checked_saved_and_loaded(self, tmp_path: Path) -> None:
        kind = detector_class("elsewhere")
        check_detector(kind)
        model = library.create("elsewhere", threshold=9.0)
        model.apply(np.zeros((4, 5), np.uint8))
        model.save(tmp_path / "model.npz")
        assert library.load(tmp_path / "model.npz").parameters == {"threshold": 9.0}
        with pytest.raises(ValueError, match="elsewhere has no parameter 'slots'; it has threshold"):
            library.create("elsewhere", slots=3)

    def test_command_line_settings_and_evaluation_know_it(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert bgsub("detectors") == 0
        assert "elsewhere: Foreground differs from the last frame." in capsys.readouterr().out
        assert bgsub("config", "-d", "elsewhere", "--set", "threshold=7") == 0
        settings = tmp_path / "settings.toml"
        settings.write_text(capsys.readouterr().out)
        mask = tmp_path / "mask.mkv"
        assert bgsub("run", "synthetic:easy?frames=8", "-o", mask, "--config", settings, "--json") == 0
        assert json.loads(capsys.readouterr().out)["detector"] == "elsewhere"
        assert bgsub("sample", tmp_path / "clip", "--frames", 30, "--size", "64x48") == 0
        capsys.readouterr()
        assert bgsub("evaluate", tmp_path / "clip", "-d", "elsewhere") == 0
        assert "elsewhere" in capsys.readouterr().out

    def test_broken_ones_are_named_and_the_rest_works(self, caplog: pytest.LogCaptureFixture) -> None:
        with pytest.raises(DependencyError, match="misnamed of the package difference-package"):
            detector_class("misnamed")
        with pytest.raises(DependencyError, match="cannot load gone of the package difference-package"):
            library.create("gone")
        assert {"adaptive", "elsewhere"} <= set(library.DETECTORS.available())
        assert "gone" not in library.DETECTORS.available()
        assert sum("cannot load gone" in record.message for record in caplog.records) == 1
