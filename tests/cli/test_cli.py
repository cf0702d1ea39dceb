"""The command line, called as a function: what each option does."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

import bgsub as library
from bgsub._opencv import cv2
from bgsub.postprocess import Postprocess
from bgsub.video.sources import open_source
from tests.command import bgsub
from tests.video.moving_square import SIZE, empty_frame, square_frame, square_mask, write_images, write_video

pytestmark = pytest.mark.usefixtures("no_leaked_threads", "compiled")

COUNT, EMPTY = 60, 34
"""Frames of the clip, the first of them without the square: longer than the detectors warm up."""

TIMES_MS = [40 * index + (index % 3) * 7 for index in range(COUNT)]
COMMANDS = ("run", "detectors", "sources", "config", "sample", "evaluate", "bench")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "square.mkv"
    return write_video(path, COUNT, times_ms=TIMES_MS, empty=EMPTY)


@pytest.fixture
def masks_of(clip: Path, tmp_path: Path) -> Callable[..., np.ndarray]:
    """Return a function that runs the command on the clip with options and gives the masks."""
    paths = (tmp_path / f"masks{number}.mkv" for number in range(99))

    def run(*options: object, source: object = clip) -> np.ndarray:
        path = next(paths)
        assert bgsub("run", source, "-o", path, "--threads", 1, "--quiet", *options) == 0
        return read_masks(path)

    return run


def read_masks(path: Path) -> np.ndarray:
    with open_source(path) as source:
        return np.array([packet.frame for packet in source])


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def counts(report: Path) -> dict[str, tuple[int, ...]]:
    """Return what each detector of a report got right and wrong."""
    rows = json.loads(report.read_text())["rows"]
    return {row["model"]: tuple(row[name] for name in ("tp", "fp", "fn", "tn")) for row in rows}


def truth() -> np.ndarray:
    return np.array([square_mask(index) * (index >= EMPTY) for index in range(COUNT)])


def overlap(masks: np.ndarray, expected: np.ndarray) -> float:
    return float(np.sum((masks > 0) & (expected > 0)) / np.sum((masks > 0) | (expected > 0)))


class TestRunOutputs:
    def test_all_at_once(self, clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        mask, overlay, background, stats, model = (
            tmp_path / name for name in ("mask.mkv", "overlay.mp4", "background.png", "stats.csv", "model.npz")
        )
        options = ("--overlay", overlay, "--background", background, "--stats", stats, "--save-model", model)
        assert bgsub("run", clip, "-o", mask, *options, "--threads", 1) == 0
        shown = capsys.readouterr()
        assert shown.out.startswith(f"{COUNT} frames in ")
        assert shown.out.splitlines()[1:] == [
            f"mask: {mask}",
            f"overlay: {overlay}",
            f"background: {background}",
            f"stats: {stats}",
            f"save model: {model}",
        ]
        assert shown.err == ""

        masks = read_masks(mask)
        assert masks.shape == (COUNT, *SIZE)
        assert set(np.unique(masks)) == {0, 255}
        assert overlap(masks, truth()) > 0.8
        for video in (mask, overlay):
            with av.open(str(video)) as container:
                times = [float(frame.time) for frame in container.decode(video=0)]
            np.testing.assert_allclose(times, np.array(TIMES_MS) / 1e3, atol=1e-3)
        np.testing.assert_array_equal(cv2.imread(str(background)), empty_frame())
        rows = read_table(stats)
        assert list(rows[0]) == ["index", "number", "time_s", "foreground", "blobs", "ms"]
        assert [int(row["number"]) for row in rows] == list(range(1, COUNT + 1))
        np.testing.assert_allclose([float(row["time_s"]) for row in rows], np.array(TIMES_MS) / 1e3, atol=1e-3)
        np.testing.assert_allclose([float(row["foreground"]) for row in rows], (masks > 0).mean((1, 2)), atol=1e-6)
        assert library.load(model).shape == (*SIZE, 3)

    @pytest.mark.parametrize(("mask", "name"), [("bins", "bin%06d.png"), ("bins/m%03d.png", "m%03d.png")])
    def test_images_are_numbered_like_the_input(self, tmp_path: Path, mask: str, name: str) -> None:
        (tmp_path / "bins").mkdir()
        images = write_images(tmp_path / "in", 5, first=17)
        assert bgsub("run", images, "-o", tmp_path / mask, "--quiet") == 0
        assert sorted(path.name for path in (tmp_path / "bins").iterdir()) == [
            name % number for number in range(17, 22)
        ]

    def test_json_is_all_there_is_on_the_screen(self, clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert bgsub("run", clip, "--json", "--quiet", "--threads", 1) == 0
        shown = capsys.readouterr()
        summary = json.loads(shown.out)
        assert (summary["source"], summary["detector"], summary["frames"]) == (str(clip), "adaptive", COUNT)
        assert 0 < summary["foreground"] < 0.1
        assert shown.err == ""

    def test_quiet_says_nothing(self, clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert bgsub("run", clip, "-o", tmp_path / "mask.mkv", "-q") == 0
        shown = capsys.readouterr()
        assert (shown.out, shown.err) == ("", "")

    @pytest.mark.parametrize(
        ("option", "name"),
        [
            ("-o", "mask.mkv"),
            ("--overlay", "overlay.mp4"),
            ("--background", "background.png"),
            ("--stats", "stats.csv"),
            ("--save-model", "model.npz"),
        ],
    )
    def test_existing_output_is_replaced_only_by_force(
        self, clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, name: str
    ) -> None:
        path = tmp_path / name
        path.write_text("precious")
        command = ("run", clip, option, path, "--end", "5", "--quiet")
        assert bgsub(*command) == 1
        assert re.fullmatch(r"bgsub: error: .* exists; choose another name .*force.*\n", capsys.readouterr().err)
        assert path.read_text() == "precious"
        assert bgsub(*command, "--force") == 0
        assert path.read_bytes() != b"precious"


class TestRunSettings:
    def test_raw_is_the_detector_s_word_and_the_steps_work_on_it(self, masks_of: Callable[..., np.ndarray]) -> None:
        noisy = ("--detector", "norma", "--set", "kappa=1", "--set", "nu=0.9")
        raw = masks_of("--raw", *noisy)
        detector = library.create("norma", kappa=1, nu=0.9)
        frames = [square_frame(index) if index >= EMPTY else empty_frame() for index in range(COUNT)]
        np.testing.assert_array_equal(raw, [detector.apply(frame) for frame in frames])
        for options, post in (
            (["--median", 7, "--min-area", 100], Postprocess(median=7, min_area=100)),
            (["--median", 1, "--fill-holes"], Postprocess(median=1, fill_holes=True)),
            ([], Postprocess()),
        ):
            np.testing.assert_array_equal(masks_of(*noisy, *options), [post(mask) for mask in raw])

    def test_adaptive_is_taken_at_its_word_by_default_and_by_raw(self, masks_of: Callable[..., np.ndarray]) -> None:
        scene = "synthetic:walkers?frames=60&size=160x120"
        with open_source(scene) as source:
            rate_hz, frames = source.info.rate_hz, [packet.frame for packet in source]
        final, raw = (
            np.array([model.apply(frame) for frame in frames])
            for model in (library.create(rate_hz=rate_hz, threads=1, raw=raw) for raw in (False, True))
        )
        np.testing.assert_array_equal(masks_of(source=scene), final)
        np.testing.assert_array_equal(masks_of("--raw", source=scene), raw)
        assert final.any()
        assert (final != raw).any()
        for options, post in (
            (["--median", 5], Postprocess(median=5)),
            (["--min-area", 300], Postprocess(median=1, min_area=300)),
        ):
            expected = np.array([post(mask) for mask in final])
            np.testing.assert_array_equal(masks_of(*options, source=scene), expected)
            assert (expected != final).any()

    def test_region_keeps_the_rest_empty(self, masks_of: Callable[..., np.ndarray]) -> None:
        masks = masks_of("--roi", "0,0 31,0 31,47 0,47")
        assert masks[:, :, :32].any()
        assert not masks[:, :, 32:].any()

    def test_part_of_the_video(self, clip: Path, tmp_path: Path) -> None:
        options = ("--start", "11", "--end", "1.2s", "--skip", 3, "--scale", 0.5)
        stats = tmp_path / "stats.csv"
        assert bgsub("run", clip, "-o", tmp_path / "mask.mkv", "--stats", stats, *options) == 0
        numbers = [index + 1 for index in range(10, COUNT, 3) if TIMES_MS[index] <= 1200]
        assert [int(row["number"]) for row in read_table(stats)] == numbers
        assert read_masks(tmp_path / "mask.mkv").shape == (len(numbers), 24, 32)

    @pytest.mark.parametrize("name", library.DETECTORS)
    def test_every_detector_runs(self, masks_of: Callable[..., np.ndarray], name: str) -> None:
        masks = masks_of("--detector", name)
        assert masks.shape == truth().shape
        assert set(np.unique(masks)) <= {0, 255}
        if name in ("adaptive", "norma", "olk", "mog2", "knn"):  # others may need more frames than these
            assert overlap(masks[EMPTY:], truth()[EMPTY:]) > 0.6

    def test_settings_from_a_file(self, masks_of: Callable[..., np.ndarray], tmp_path: Path) -> None:
        (tmp_path / "run.toml").write_text('detector = "olk"\n[postprocess]\nmedian = 3\n')
        from_file = masks_of("--config", tmp_path / "run.toml")
        np.testing.assert_array_equal(from_file, masks_of("--detector", "olk", "--median", 3))
        assert (from_file != masks_of("--detector", "olk")).any()

    def test_warmup_is_reported_as_background(self, masks_of: Callable[..., np.ndarray]) -> None:
        masks = masks_of("--warmup", EMPTY + 10)
        assert not masks[: EMPTY + 10].any()
        assert masks[EMPTY + 10 :].any()

    def test_warmup_of_adaptive_changes_no_later_mask(self, masks_of: Callable[..., np.ndarray]) -> None:
        scene = "synthetic:walkers?frames=40&size=160x120"
        whole, warm = masks_of(source=scene), masks_of("--warmup", 20, source=scene)
        assert whole[:20].any()
        assert not warm[:20].any()
        assert warm[20:].any()
        np.testing.assert_array_equal(warm[20:], whole[20:])

    def test_threads_do_not_change_the_masks(self, masks_of: Callable[..., np.ndarray]) -> None:
        scene = "synthetic:easy?frames=40&size=320x240"
        one, all_of_them = (masks_of("--threads", number, "--raw", source=scene) for number in (1, 0))
        assert one.any()
        np.testing.assert_array_equal(one, all_of_them)


class TestModels:
    def test_second_half_continues_with_the_same_bits(
        self, masks_of: Callable[..., np.ndarray], tmp_path: Path
    ) -> None:
        whole, model = masks_of(), tmp_path / "model.npz"
        first = masks_of("--end", 45, "--save-model", model)
        second = masks_of("--start", 46, "--load-model", model)
        np.testing.assert_array_equal(np.concatenate([first, second]), whole)
        assert second.any()

    def test_learning_rate_of_zero_is_a_frozen_model(
        self, masks_of: Callable[..., np.ndarray], clip: Path, tmp_path: Path
    ) -> None:
        masks_of("--end", EMPTY, "--save-model", tmp_path / "model.npz")
        frozen = library.load(tmp_path / "model.npz")
        with open_source(clip) as source:
            expected = [frozen.apply(packet.frame, None, 0.0) for packet in source]
        found = masks_of("--load-model", tmp_path / "model.npz", "--learning-rate", 0)
        np.testing.assert_array_equal(found, expected)
        assert overlap(found, truth()) > 0.8

    @pytest.mark.parametrize("saved_by", [(), ("--raw",)])
    @pytest.mark.parametrize("settings", ["adaptive", "norma"])
    def test_raw_belongs_to_the_run_and_not_to_the_model(
        self, masks_of: Callable[..., np.ndarray], tmp_path: Path, saved_by: tuple[str, ...], settings: str
    ) -> None:
        (tmp_path / "run.toml").write_text(f"detector = '{settings}'")
        scene, model = "synthetic:walkers?frames=60&size=160x120", tmp_path / "model.npz"
        final, raw = masks_of(source=scene), masks_of("--raw", source=scene)
        assert (final[40:] != raw[40:]).any()
        masks_of("--end", 40, "--save-model", model, *saved_by, source=scene)
        rest = ("--start", 41, "--load-model", model, "--config", tmp_path / "run.toml")
        np.testing.assert_array_equal(masks_of(*rest, source=scene), final[40:])
        np.testing.assert_array_equal(masks_of(*rest, "--raw", source=scene), raw[40:])

    def test_steps_that_were_not_chosen_suit_the_model(
        self, masks_of: Callable[..., np.ndarray], tmp_path: Path
    ) -> None:
        options, model = ("--detector", "norma", "--min-area", 30), tmp_path / "model.npz"
        whole = masks_of(*options)
        masks_of(*options, "--end", 45, "--save-model", model)
        np.testing.assert_array_equal(masks_of("--start", 46, "--load-model", model, "--min-area", 30), whole[45:])
        assert (whole != masks_of(*options, "--median", 1)).any()

    def test_model_is_replaced_by_what_it_became(self, masks_of: Callable[..., np.ndarray], tmp_path: Path) -> None:
        model = tmp_path / "model.npz"
        masks_of("--end", 10, "--save-model", model)
        masks_of("--start", 11, "--load-model", model, "--save-model", model, "--force")
        assert library.load(model).frames_seen == COUNT  # type: ignore[attr-defined]

    @pytest.mark.parametrize("option", [("--detector", "olk"), ("--set", "slots=3")])
    def test_model_brings_its_own_parameters(
        self, clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
    ) -> None:
        assert bgsub("run", clip, "-o", tmp_path / "mask.mkv", "--load-model", "model.npz", *option) == 2
        assert "leave out --detector and --set" in capsys.readouterr().err


class TestOtherCommands:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_help(self, command: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert bgsub(command, "--help") == 0
        assert capsys.readouterr().out.startswith(f"Usage: bgsub {command} ")

    def test_help_lists_every_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert bgsub("--help") == 0
        assert all(f"\n  {command} " in capsys_out for capsys_out in [capsys.readouterr().out] for command in COMMANDS)

    def test_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert bgsub("--version") == 0
        assert capsys.readouterr().out == f"bgsub, version {library.__version__}\n"

    def test_detectors_are_listed_with_ranges_and_defaults(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert bgsub("detectors") == 0
        text = capsys.readouterr().out
        assert re.search(r"^norma: ", text, re.MULTILINE)
        assert re.search(r"^  slots +8 +\[1, 254\] +support vectors per pixel$", text, re.MULTILINE)
        assert bgsub("detectors", "--json") == 0
        found = json.loads(capsys.readouterr().out)
        assert list(found) == list(library.DETECTORS)
        assert found["mog2"]["parameters"]["history"]["default"] == 500
        assert bgsub("detectors", "olk", "--json") == 0
        assert list(json.loads(capsys.readouterr().out)) == ["olk"]
        assert bgsub("detectors", "lok") == 2
        assert "detector must be one of adaptive, norma" in capsys.readouterr().err

    def test_sample_has_the_layout_and_is_refused_without_force(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = tmp_path / "street"
        command = ("sample", folder, "--frames", 4, "--size", "64x48", "--scene", "easy", "--seed", 3)
        assert bgsub(*command) == 0
        assert capsys.readouterr().out == f"4 frames of 64x48: {folder}\n"
        names = [f"input/in00000{n}.png" for n in range(1, 5)] + [f"groundtruth/gt00000{n}.png" for n in range(1, 5)]
        for name in names:
            assert cv2.imread(str(folder / name)).shape == (48, 64, 3)
        assert cv2.imread(str(folder / "ROI.bmp")) is not None
        assert (folder / "temporalROI.txt").read_text().split()[1] == "4"
        first = (folder / "input" / "in000001.png").read_bytes()
        assert bgsub(*command[:-1], 4) == 1
        assert "not empty" in capsys.readouterr().err
        assert (folder / "input" / "in000001.png").read_bytes() == first
        assert bgsub(*command[:-1], 4, "--force") == 0
        assert (folder / "input" / "in000001.png").read_bytes() != first

    def test_evaluate_prints_a_table(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert bgsub("sample", tmp_path / "street", "--frames", 50, "--size", "64x48", "--scene", "easy") == 0
        assert bgsub("evaluate", tmp_path / "street", "--compare", "mog2", "--json", tmp_path / "report.json") == 0
        assert {"adaptive", "mog2"} <= set(re.findall(r"\w+", capsys.readouterr().out))
        assert json.loads((tmp_path / "report.json").read_text())

    @pytest.mark.parametrize("options", [("--raw",), ("--min-area", 20)])
    def test_compared_detectors_are_scored_as_on_their_own(self, tmp_path: Path, options: tuple[object, ...]) -> None:
        assert bgsub("sample", tmp_path / "street", "--frames", 50, "--size", "80x60") == 0
        table, alone = tmp_path / "all.json", {}
        for name in ("norma", "mog2", "adaptive"):
            path = tmp_path / f"{name}.json"
            assert bgsub("evaluate", tmp_path / "street", "-d", name, *options, "--json", path) == 0
            alone.update(counts(path))
        assert len(alone) == 3
        for command in (("-d", "norma", "--compare", "mog2,adaptive"), ("--compare", "norma,mog2")):
            assert bgsub("evaluate", tmp_path / "street", *command, *options, "--json", table, "--force") == 0
            assert counts(table) == alone
