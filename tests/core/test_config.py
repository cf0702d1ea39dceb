"""Settings: from text, files and options to the same run."""

from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest

from bgsub.cli.shared.options import detector_options, make_config
from bgsub.config import Config
from bgsub.detectors import DETECTORS, detector_class
from bgsub.detectors.parameters import defaults
from bgsub.errors import ConfigError
from bgsub.postprocess import RAW, Postprocess
from bgsub.video.sources import open_source
from tests.command import bgsub

FULL = Config(
    detector="olk",
    parameters={"slots": 5, "memory_s": 3.5, "threads": 1},
    postprocess=Postprocess(median=7, fill_holes=True, min_area=12),
    learning_rate=0.25,
    warmup=9,
    roi="0,0 30,0 30,30",
)


@pytest.mark.parametrize("name", DETECTORS)
def test_toml_makes_the_same_detector(name: str) -> None:
    config = Config(detector=name)
    again = Config.from_toml_text(config.to_toml())
    assert again.make_detector().parameters == config.make_detector().parameters
    assert again.to_toml() == config.to_toml()


def test_toml_keeps_every_setting() -> None:
    again = Config.from_toml_text(FULL.to_toml())
    assert {**again.parameters, **FULL.parameters} == again.parameters
    assert again.postprocess == FULL.postprocess
    assert (again.learning_rate, again.warmup, again.roi) == (0.25, 9, FULL.roi)


def test_toml_leaves_the_frame_rate_to_the_source_unless_it_was_given() -> None:
    written = Config.from_toml_text(Config(parameters={"memory_s": 2.0}).to_toml())
    assert written.make_detector(rate_hz=50.0).parameters["rate_hz"] == 50.0
    fixed = Config.from_toml_text(Config(parameters={"memory_s": 2.0, "rate_hz": 10.0}).to_toml())
    assert fixed.make_detector(rate_hz=50.0).parameters["rate_hz"] == 10.0


def test_warmup_is_the_detector_s_where_it_has_one() -> None:
    assert Config(detector="norma", warmup=3, parameters={"warmup": 9}).make_detector().parameters["warmup"] == 3
    for name in ("adaptive", "mog2"):
        made = Config(detector=name, warmup=3)
        detector = made.make_detector()
        assert "warmup" not in detector.parameters
        assert made.make_pipeline(detector).warmup == 3


@pytest.mark.parametrize("name", DETECTORS)
def test_post_processing_suits_the_detector_unless_told(name: str) -> None:
    config = Config(detector=name)
    suits = RAW if name == "adaptive" else Postprocess(median=5)
    assert config.postprocess is None
    assert config.make_pipeline(config.make_detector()).postprocess == suits
    assert Config.from_toml_text(config.to_toml()).postprocess == suits
    partial = Config.from_toml_text(f"detector = '{name}'\n[postprocess]\nmin_area = 7")
    assert partial.postprocess == replace(suits, min_area=7)
    told = Config(detector=name, postprocess=Postprocess(median=9))
    assert told.make_pipeline(told.make_detector()).postprocess == Postprocess(median=9)


def test_empty_file_is_the_defaults() -> None:
    assert Config.from_toml_text("") == Config()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("median = = 3", "Invalid value"),
        ("median = 3", "settings has no entry 'median'"),
        ("[postprocess]\nmedain = 3", r"\[postprocess\] has no entry 'medain'"),
        ("[parameters]\nslos = 3", "adaptive has no parameter 'slos'; it has slots"),
        ("[parameters]\nslots = 'many'", r"slots must be a whole number in \[1, 254\], got 'many'"),
        ("[parameters]\nslots = 0", r"slots must be a whole number in \[1, 254\], got 0"),
        ("[parameters]\nslots = 2.5", "slots must be a whole number"),
        ("[parameters]\nwidth = inf", "width must be a number"),
        ("parameters = 3", "must be tables"),
        ("postprocess = 3", "must be tables"),
        ("[postprocess]\nmedian = 4", "median must be an odd number"),
        ("[postprocess]\nmedian = '5'", "median must be an odd number"),
        ("[postprocess]\nfill_holes = 'yes'", "fill_holes must be true or false, got 'yes'"),
        ("[postprocess]\nmin_area = -1", "min_area must be a whole number"),
        ("detector = 'nroma'", "detector must be one of adaptive, norma, olk, mog2, knn"),
        ("detector = 5", "detector must be a name"),
        ("detector = ['norma']", "detector must be a name"),
        ("learning_rate = 'fast'", "learning_rate must be a number"),
        ("learning_rate = 2", r"learning_rate must be -1 \(automatic\) or in \[0, 1\], got 2"),
        ("learning_rate = nan", "learning_rate must be -1"),
        ("warmup = -1", "warmup must be a whole number"),
        ("warmup = 2.5", "warmup must be a whole number"),
        ("warmup = true", "warmup must be a whole number"),
        ("roi = 3", "roi must be text"),
    ],
)
def test_wrong_settings_are_one_line_that_names_file_and_entry(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=reason) as caught:
        Config.from_toml(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=reason):
        Config.from_toml_text(text)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_unreadable_file_is_one_line_that_names_it(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "settings.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"settings\.toml.*`bgsub config` prints"):
        Config.from_toml(path)


def test_parameters_are_parsed_by_their_kind_and_keep_the_others() -> None:
    config = Config(detector="norma", parameters={"slots": 3, "width": 20.0})
    config = config.with_parameters({"slots": "12", "memory_s": "none"})
    assert config.parameters == {"slots": 12, "width": 20.0, "memory_s": None}
    assert Config(detector="mog2").with_parameters({"detect_shadows": "off"}).parameters == {"detect_shadows": False}


@pytest.mark.parametrize(("name", "text"), [("slots", "2.5"), ("slots", ""), ("width", "wide"), ("nu", "1")])
def test_wrong_parameter_text_is_named(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a .*got "):
        Config(detector="norma").with_parameters({name: text})
    with pytest.raises(ValueError, match="adaptive has no parameter 'var_threshold'"):
        Config().with_parameters({"var_threshold": "3"})


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> Config:
    assert bgsub("config", *arguments) == 0
    return Config.from_toml_text(capsys.readouterr().out)


class TestCommand:
    def test_options_win_over_the_file(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "full.toml"
        path.write_text(FULL.to_toml())
        same = shown(capsys, "--config", str(path))
        assert same.to_toml() == FULL.to_toml()
        options = ("--set", "slots=9", "--median", "3", "--keep-holes", "--learning-rate", "0", "--warmup", "0")
        changed = shown(capsys, "--config", str(path), *options, "--roi", "1,1 9,1 9,9")
        assert changed.parameters["slots"] == 9
        assert changed.parameters["memory_s"] == 3.5
        assert changed.postprocess == Postprocess(median=3, fill_holes=False, min_area=12)
        assert (changed.learning_rate, changed.warmup, changed.roi) == (0, 0, "1,1 9,1 9,9")

    def test_another_detector_does_not_inherit_the_file_s_parameters(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "full.toml"
        path.write_text(FULL.to_toml())
        changed = shown(capsys, "--config", str(path), "--detector", "mog2")
        usual = {name: value for name, value in defaults(detector_class("mog2")).items() if value is not None}
        assert changed.parameters == usual
        assert changed.postprocess == FULL.postprocess

    def test_raw_is_a_parameter_of_a_detector_that_cleans_its_masks_itself(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        plain, raw, norma = shown(capsys), shown(capsys, "--raw"), shown(capsys, "--detector", "norma", "--raw")
        assert (plain.detector, plain.parameters["raw"], plain.postprocess) == ("adaptive", False, RAW)
        assert (raw.detector, raw.parameters["raw"], raw.postprocess) == ("adaptive", True, RAW)
        assert norma.postprocess == RAW
        assert "raw" not in norma.parameters

    def test_printed_settings_give_the_masks_of_the_options(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        scene = "synthetic:easy?frames=50&size=64x48&rate=50"
        parameters = ("memory_s=4", "warmup=5", "threads=1", "kappa=0.5")
        chosen = ("--detector", "norma", *(word for pair in parameters for word in ("--set", pair)))
        options = (*chosen, "--min-area", "4", "--fill-holes")
        assert bgsub("config", *options) == 0
        (tmp_path / "run.toml").write_text(capsys.readouterr().out)
        assert bgsub("run", scene, "-o", tmp_path / "options.mkv", *options) == 0
        assert bgsub("run", scene, "-o", tmp_path / "file.mkv", "--config", tmp_path / "run.toml") == 0
        with open_source(tmp_path / "options.mkv") as one, open_source(tmp_path / "file.mkv") as other:
            masks = [packet.frame for packet in one]
            np.testing.assert_array_equal(masks, [packet.frame for packet in other])
        assert np.any(masks)


@pytest.mark.parametrize(
    "config",
    [
        *(Config(name) for name in DETECTORS),
        FULL,
        Config("adaptive", {"fill": False, "raw": True, "white": 200.0}, Postprocess(median=3)),
        Config("norma", {"slots": 8, "memory_s": None}, Postprocess(median=1)),
        Config("knn", {"detect_shadows": False}, learning_rate=0.5),
    ],
)
def test_arguments_lead_to_the_same_settings(config: Config) -> None:
    command = click.Command("any")
    given = detector_options(command).make_context("any", config.to_arguments()).params
    again = make_config(given)
    assert again.to_toml() == config.to_toml()
