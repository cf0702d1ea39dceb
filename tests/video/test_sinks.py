"""The contract of all sinks, and what each does with bad luck."""

import csv
import functools
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.errors import SinkError
from bgsub.frames import Packet, Result, Timings
from bgsub.testing import check_sink
from bgsub.video.sinks import (
    SINKS,
    BackgroundImage,
    MaskVideo,
    OverlayVideo,
    PngSequence,
    RunContext,
    Sink,
    StatsCsv,
    find_sink,
    recordable_sinks,
    sink_options,
)
from bgsub.video.sinks.overlay import draw_overlay, to_display
from tests.video.moving_square import SIZE, square_frame, square_mask

COUNT = 12


def result(index: int, time_s: float | None = None, size: tuple[int, int] = SIZE) -> Result:
    time_s = index / 25 if time_s is None else time_s
    packet = Packet(index, time_s, square_frame(index, size), index + 1)
    return Result(packet, square_mask(index, size), timings=Timings(detect_ms=1.5, postprocess_ms=0.25))


def background() -> np.ndarray:
    return square_frame(0)


class Learned:
    """The part of a detector that sinks need."""

    name, can_save = "learned", True

    def background_image(self) -> np.ndarray:
        return background()

    def save(self, path: Path) -> None:
        np.savez(path, a=1)

    def snapshot(self) -> "Learned":
        return self


def from_path(name: str, path: Path, force: bool = False) -> Sink:
    """Make a registered sink as the command line does."""
    return SINKS.load(name).from_path(path, RunContext(force=force, model=Learned()))


FILES = {
    f"{name}{suffix}": functools.partial(from_path, name)
    for name, kind in SINKS.items()
    for suffix in kind.suffixes or ("",)
}
"""Every registered sink with each kind of file that it writes."""


def readable(path: Path) -> int:
    """Count what can be read back: frames, images or lines."""
    if path.is_dir():
        return sum(cv2.imread(str(file)) is not None for file in path.iterdir())
    if path.suffix == ".png":
        return int(cv2.imread(str(path)) is not None)
    if path.suffix == ".npz":
        return int(np.load(path)["a"])
    if path.suffix == ".csv":
        return len(path.read_text().splitlines()) - 1
    if path.suffix in (".jsonl", ".txt"):
        return len(path.read_text().splitlines())
    if path.suffix == ".json":
        return len(json.loads(path.read_text())["images"])
    with av.open(str(path)) as container:
        return sum(1 for _ in container.decode(video=0))


@pytest.mark.parametrize("name", FILES)
class TestContract:
    def test_is_kept(self, name: str, tmp_path: Path) -> None:
        check_sink(FILES[name], readable, name=name, once=Path(name).suffix in (".png", ".npz"))

    def test_read_only_folder_is_refused_at_once(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write everywhere
        with pytest.raises(SinkError, match="check its permissions"):
            FILES[name](tmp_path / name)


class TestRegistry:
    def test_options_of_the_command_line(self) -> None:
        usage = {option.name: option.usage for option in sink_options()}
        assert (
            usage
            | {
                "mask": "-o mask.mkv",
                "overlay": "--overlay",
                "background": "--background",
                "stats": "--stats",
                "save-model": "--save-model",
            }
            == usage
        )
        assert sink_options()[0].help == "Mask video (.mkv), or a folder of masks (bin%06d.png)"

    @pytest.mark.parametrize(
        ("path", "kind"),
        [
            ("m.mkv", MaskVideo),
            ("m.avi", MaskVideo),
            ("m.mp4", MaskVideo),
            ("m", PngSequence),
            ("m/%d.png", PngSequence),
        ],
    )
    def test_path_decides_among_the_sinks_of_an_option(self, path: str, kind: type[Sink]) -> None:
        assert find_sink("mask", Path(path)) is kind

    def test_unknown_option_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"option must be one of mask, overlay, .*, got 'masks'"):
            find_sink("masks", Path("m.mkv"))

    def test_what_needs_no_detector_can_be_recorded(self) -> None:
        found = recordable_sinks()
        assert {
            "mask": MaskVideo,
            "images": PngSequence,
            "overlay": OverlayVideo,
            "stats": StatsCsv,
        }.items() <= found.items()
        assert not {"background", "model"} & found.keys()
        assert {name for name, kind in found.items() if kind.continuous} >= {"mask", "overlay"}
        assert not StatsCsv.continuous

    def test_model_is_needed_where_its_state_is_written(self, tmp_path: Path) -> None:
        for name, kind in SINKS.items():
            if kind.needs_model:
                with pytest.raises(ValueError, match="run must have a model"):
                    kind.from_path(tmp_path / f"{name}{kind.suffixes[0]}", RunContext())


FULL_DISK = """
import resource, signal, sys
import numpy as np
from bgsub.errors import SinkError
from bgsub.frames import Packet, Result
from bgsub.video.sinks import MaskVideo, ObjectFile, OverlayVideo, StatsCsv

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
path = sys.argv[1]
kinds = {"/mask.": MaskVideo, "/overlay.": OverlayVideo, "/stats.": StatsCsv, "/objects.": ObjectFile}
sink = next(kind for name, kind in kinds.items() if name in path)(path)
rng = np.random.default_rng(0)
try:
    for index in range(5000):
        mask = np.zeros((240, 320), np.uint8)
        if "/objects." in path:
            mask[20:30, index % 300 :][:, :20] = 255
        else:
            mask[rng.random(mask.shape) > 0.5] = 255
        sink.write(Result(Packet(index, index / 25, mask, index + 1), mask))
except SinkError as error:
    sink.close()
    sink.close()
    print(index, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be removed")
@pytest.mark.parametrize("name", ["mask.mkv", "overlay.mp4", "stats.csv", "objects.jsonl"])
def test_an_output_that_is_removed_while_it_is_written_is_an_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "folder" / name
    path.parent.mkdir()
    sink = from_path(Path(name).stem, path)
    sink.write(result(0))
    shutil.rmtree(path.parent)
    sink.write(result(1))
    with pytest.raises(SinkError, match=rf"{name}(:| was removed or replaced while it was written)"):
        sink.close()
    sink.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on file sizes")
@pytest.mark.parametrize(
    "name",
    ["mask.mkv", "mask.avi", "overlay.mp4", "overlay.mkv", "stats.csv", "objects.jsonl", "objects.csv", "objects.txt"],
)
def test_full_disk_is_one_line_and_the_part_before_is_readable(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    lines = name.endswith(("csv", "jsonl", "txt"))
    limit = 3000 if lines else 1_500_000
    command = [sys.executable, "-c", FULL_DISK, str(path), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "cannot write" in done.stdout
    assert name in done.stdout
    assert "free space" in done.stdout
    assert done.stderr == ""
    count = 0
    if lines:
        assert path.read_text().endswith("\n")
        count = readable(path)
    else:
        with av.open(str(path)) as container:
            try:
                for _ in container.decode(video=0):
                    count += 1
            except av.InvalidDataError:
                assert name != "mask.mkv"  # the last picture may be cut, those before play
    assert count > 5


KILLED = """
import os, signal, sys
from tests.video.test_sinks import FILES, Path, result

path = Path(sys.argv[1])
sink = FILES[path.name](path)
for index in range(300):
    sink.write(result(index))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
@pytest.mark.parametrize(
    "name",
    ["mask.mkv", "mask.avi", "overlay.mp4", "overlay.mkv", "stats.csv", "objects.jsonl", "objects.csv", "objects.txt"],
)
def test_killed_process_leaves_a_readable_output(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60, cwd=Path(__file__).parents[2])
    assert done.returncode == -9, done.stderr
    assert readable(tmp_path / name) >= 150


class TestMaskVideo:
    @pytest.mark.parametrize("size", [SIZE, (47, 65), (3, 3), (240, 321)])
    @pytest.mark.parametrize("suffix", [".mkv", ".avi"])
    def test_masks_are_exact(self, tmp_path: Path, size: tuple[int, int], suffix: str) -> None:
        rng = np.random.default_rng(1)
        masks = [np.where(rng.random(size) < 0.3, 255, 0).astype(np.uint8) for _ in range(5)]
        path = tmp_path / f"m{suffix}"
        with MaskVideo(path) as sink:
            for index, mask in enumerate(masks):
                sink.write(Result(Packet(index, index / 25, mask, index + 1), mask))
        with av.open(str(path)) as container:
            frames = [frame.to_ndarray() for frame in container.decode(video=0)]
        assert len(frames) == 5
        for frame, mask in zip(frames, masks, strict=True):
            assert np.array_equal(frame, mask)

    def test_times_are_kept_to_the_millisecond(self, tmp_path: Path) -> None:
        times = [1.8601, 1.9, 2.0333333, 2.0666667, 61.25, 3600.5]
        with MaskVideo(tmp_path / "m.mkv") as sink:
            for index, time_s in enumerate(times):
                sink.write(result(index, time_s))
        with av.open(str(tmp_path / "m.mkv")) as container:
            assert [frame.time for frame in container.decode(video=0)] == pytest.approx(times, abs=1e-3)

    def test_equal_and_backward_times_become_rising(self, tmp_path: Path) -> None:
        with MaskVideo(tmp_path / "m.mkv") as sink:
            for index, time_s in enumerate([1.0, 1.0, 0.5, 1.002, 1.1]):
                sink.write(result(index, time_s))
        with av.open(str(tmp_path / "m.mkv")) as container:
            times = [round(float(frame.time) * 1000) for frame in container.decode(video=0)]
        assert times == [1000, 1001, 1002, 1003, 1100]

    @pytest.mark.parametrize("name", ["m.mp4", "m.mov", "m"])
    def test_lossy_formats_are_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(SinkError, match=r"would not keep masks exactly.*\.mkv"):
            MaskVideo(tmp_path / name)

    def test_change_of_size_is_refused_and_the_rest_readable(self, tmp_path: Path) -> None:
        with MaskVideo(tmp_path / "m.mkv") as sink:
            sink.write(result(0))
            with pytest.raises(SinkError, match="changes from 64x48 to 32x24"):
                sink.write(result(1, size=(24, 32)))
        assert readable(tmp_path / "m.mkv") == 1


class TestOverlay:
    @pytest.mark.parametrize("size", [(48, 64), (47, 65)])
    def test_odd_sizes_are_padded(self, tmp_path: Path, size: tuple[int, int]) -> None:
        with OverlayVideo(tmp_path / "o.mp4") as sink:
            for index in range(5):
                sink.write(result(index, size=size))
        with av.open(str(tmp_path / "o.mp4")) as container:
            frames = list(container.decode(video=0))
        assert {(frame.height, frame.width) for frame in frames} == {(48, 66 if size[1] == 65 else 64)}
        assert frames[0].format.name == "yuv420p"

    @pytest.mark.parametrize("name", ["overlay.mp4", "overlay.mkv"])
    @pytest.mark.parametrize("begin_s", [0.0, 0.5])
    def test_times_are_kept_to_the_millisecond(self, tmp_path: Path, name: str, begin_s: float) -> None:
        times = [begin_s + 0.04 * index + 0.007 * (index % 3) for index in range(COUNT)]
        with OverlayVideo(tmp_path / name) as sink:
            for index, time_s in enumerate(times):
                sink.write(result(index, time_s))
        with av.open(str(tmp_path / name)) as container:
            found = [frame.time for frame in container.decode(video=0)]
        np.testing.assert_allclose(found, times, atol=1e-3)

    def test_tint_dyes_the_foreground_only(self) -> None:
        frame, mask = square_frame(3), square_mask(3)
        image = draw_overlay(frame, mask, style="tint", color=(0, 255, 0), opacity=1)
        assert (image[mask > 0] == (0, 255, 0)).all()
        assert np.array_equal(image[mask == 0], frame[mask == 0])
        assert np.array_equal(frame, square_frame(3))

    def test_contour_leaves_the_inside(self) -> None:
        frame, mask = square_frame(3), square_mask(3)
        image = draw_overlay(frame, mask, color=(1, 2, 3))
        assert (image[16, 10] == (1, 2, 3)).all()
        assert np.array_equal(image[22, 12], frame[22, 12])

    @pytest.mark.parametrize(
        "frame",
        [
            np.full(SIZE, 128, np.uint8),
            np.full(SIZE, 32896, np.uint16),
            np.full((*SIZE, 3), 2056, np.uint16),
            np.full(SIZE, 0.502, np.float32),
            np.full((*SIZE, 3), 128.2, np.float32),
        ],
    )
    def test_every_kind_of_frame_is_shown(self, frame: np.ndarray) -> None:
        image = to_display(frame)
        assert image.shape == (*SIZE, 3)
        assert image.dtype == np.uint8
        assert abs(int(image.flat[0]) - 128) <= 1

    @pytest.mark.parametrize(
        "settings", [{"style": "dots"}, {"color": (0, 0)}, {"color": (0, 0, 300)}, {"opacity": 2.0}]
    )
    def test_marks_are_checked_at_construction(self, tmp_path: Path, settings: dict[str, object]) -> None:
        with pytest.raises(ValueError, match=next(iter(settings))):
            OverlayVideo(tmp_path / "o.mp4", **settings)


class TestFiles:
    def test_images_carry_the_number_of_their_frame(self, tmp_path: Path) -> None:
        with PngSequence(tmp_path / "bins") as sink:
            sink.write(Result(Packet(0, 0.0, square_frame(0), 1300), square_mask(0)))
        image = cv2.imread(str(tmp_path / "bins" / "bin001300.png"), cv2.IMREAD_UNCHANGED)
        assert np.array_equal(image, square_mask(0))

    @pytest.mark.parametrize("pattern", ["bin.png", "bin%06d.jpg", "a/bin%d.png", "%d%d.png", "%s%"])
    def test_pattern_is_checked(self, tmp_path: Path, pattern: str) -> None:
        with pytest.raises(ValueError, match="pattern must"):
            PngSequence(tmp_path, pattern)

    def test_other_files_in_the_folder_do_no_harm(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        with PngSequence(tmp_path) as sink:
            sink.write(result(0))
        assert sorted(file.name for file in tmp_path.iterdir()) == ["bin000001.png", "notes.txt"]

    def test_folder_that_is_removed_is_not_made_again(self, tmp_path: Path) -> None:
        with PngSequence(tmp_path / "bins") as sink:
            sink.write(result(0))
            shutil.rmtree(tmp_path / "bins")
            with pytest.raises(SinkError, match=r"bin000002\.png: there is no folder .*bins"):
                sink.write(result(1))
        assert not list(tmp_path.iterdir())

    def test_full_disk_leaves_no_torn_line(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Full(io.FileIO):
            def write(self, data: Any) -> int:
                if self.tell() + len(data) <= 200:
                    return super().write(data)
                if self.tell() == 200:
                    raise OSError(28, "No space left on device")
                return super().write(bytes(data[: 200 - self.tell()]))

        monkeypatch.setattr("bgsub.video.sinks.appended.io.FileIO", Full)
        sink = StatsCsv(tmp_path / "s.csv")

        def write() -> None:
            with sink:
                for index in range(COUNT):
                    sink.write(result(index))

        with pytest.raises(SinkError, match=r"cannot write .*s\.csv: No space left on device; choose"):
            write()
        text = (tmp_path / "s.csv").read_text()
        assert text.endswith("\n")
        assert [len(line.split(",")) for line in text.splitlines()] == [6] * text.count("\n")
        assert text.count("\n") > 3

    def test_table(self, tmp_path: Path) -> None:
        mask = np.zeros((10, 10), np.uint8)
        mask[0, 0] = mask[1, 1] = mask[5, 5] = 255
        with StatsCsv(tmp_path / "s.csv") as sink:
            packet = Packet(0, 1.5, mask, 7)
            sink.write(Result(packet, mask, timings=Timings(detect_ms=1.5, postprocess_ms=0.25)))
            lines = (tmp_path / "s.csv").read_text().splitlines()
        assert lines[0] == "index,number,time_s,foreground,blobs,ms"
        row = next(iter(csv.DictReader(lines)))
        assert {key: float(value) for key, value in row.items()} == {
            "index": 0,
            "number": 7,
            "time_s": 1.5,
            "foreground": 0.03,
            "blobs": 2,
            "ms": 1.75,
        }

    def test_deep_background(self, tmp_path: Path) -> None:
        image = np.full(SIZE, 40000, np.uint16)
        with BackgroundImage(tmp_path / "b.png", lambda: image) as sink:
            sink.write(result(0))
        assert np.array_equal(cv2.imread(str(tmp_path / "b.png"), cv2.IMREAD_UNCHANGED), image)

    def test_float_background_is_refused(self, tmp_path: Path) -> None:
        sink = BackgroundImage(tmp_path / "b.png", lambda: np.zeros(SIZE, np.float32))
        sink.write(result(0))
        with pytest.raises(SinkError, match="cannot hold float32"):
            sink.close()
        assert not list(tmp_path.iterdir())

    def test_failed_image_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*args: object, **_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", full)
        monkeypatch.setattr("os.link", full)
        with PngSequence(tmp_path) as sink, pytest.raises(SinkError, match=r"bin000001\.png: No space left"):
            sink.write(result(0))
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("name", ["b.jpg", "s.txt"])
    def test_other_suffixes_are_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(SinkError, match="must end in"):
            BackgroundImage(tmp_path / name, background) if name[0] == "b" else StatsCsv(tmp_path / name)


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (1, 640), (2, 640), (640, 1), (3, 3)])
def test_mask_video_of_the_smallest_frames_is_lossless(tmp_path: Path, size: tuple[int, int]) -> None:
    generator = np.random.default_rng(0)
    masks = [np.where(generator.random(size) < 0.5, 255, 0).astype(np.uint8) for _ in range(COUNT)]
    with MaskVideo(tmp_path / "m.mkv") as sink:
        for index, mask in enumerate(masks):
            sink.write(Result(Packet(index, index / 25, mask, index + 1), mask))
    with av.open(str(tmp_path / "m.mkv")) as container:
        written = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
    np.testing.assert_array_equal(written, masks)
