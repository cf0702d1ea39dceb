"""Detectors named by text."""

import sys
import types

import numpy as np
import pytest

from bgsub._lab.specs import split_specs
from bgsub._opencv import cv2
from bgsub.bench import default_specs, parse
from bgsub.errors import ConfigError, DependencyError
from tests.bench.models import Difference, Recorder

FRAME = np.zeros((20, 24, 3), np.uint8)
CONTRIB = hasattr(getattr(cv2, "bgsegm", None), "createBackgroundSubtractorCNT")


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("adaptive", ["adaptive"]),
        ("adaptive,mog2", ["adaptive", "mog2"]),
        ("adaptive:slots=2,width=20,mog2", ["adaptive:slots=2,width=20", "mog2"]),
        ("norma:slots=4,norma:slots=8,nu=0.3", ["norma:slots=4", "norma:slots=8,nu=0.3"]),
        ("a.b:C,a.b:C:x=1,y=2 , knn", ["a.b:C", "a.b:C:x=1,y=2", "knn"]),
        (",,", []),
    ],
)
def test_lists_are_split_between_detectors_only(text: str, specs: list[str]) -> None:
    assert split_specs(text) == specs


def test_parameters_reach_the_model() -> None:
    model = parse("olk:slots=4,rho_rule=quantile").make(threads=1, rate_hz=None)
    assert (model.slots, model.rho_rule) == (4, "quantile")


def test_threads_and_rate_are_those_of_the_measurement_unless_given() -> None:
    assert parse("adaptive").make(threads=2, rate_hz=50.0).parameters.items() >= {"threads": 2, "rate_hz": 50.0}.items()
    chosen = parse("adaptive:threads=1,rate_hz=10").make(threads=2, rate_hz=50.0)
    assert (chosen.threads, chosen.rate_hz) == (1, 10.0)
    assert parse("adaptive").make(threads=1, rate_hz=None).rate_hz == 25.0


def test_mog2_and_knn_are_objects_of_opencv_with_our_parameters() -> None:
    mog2 = parse("mog2:history=7,detect_shadows=false").make(threads=1, rate_hz=25.0)
    assert isinstance(mog2, cv2.BackgroundSubtractorMOG2)
    assert (mog2.getHistory(), mog2.getVarThreshold(), mog2.getDetectShadows()) == (7, 16.0, False)
    knn = parse("knn:dist2_threshold=99").make(threads=1, rate_hz=25.0)
    assert (knn.getDist2Threshold(), knn.getDetectShadows()) == (99.0, True)


def test_classes_of_other_packages() -> None:
    spec = parse("tests.bench.models:Difference:threshold=3")
    assert spec.detector is Difference
    assert spec.make(threads=1, rate_hz=None).threshold == 3.0
    other = parse("tests.bench.models:Recorder:level=4")
    assert other.detector is None
    assert other.make(threads=1, rate_hz=None).level == 4
    function = parse("cv2:createBackgroundSubtractorMOG2:history=9,detectShadows=False")
    assert function.make(threads=1, rate_hz=None).getHistory() == 9


def test_a_step_fills_the_mask_where_the_model_takes_one() -> None:
    mask = np.ones(FRAME.shape[:2], np.uint8)
    spec = parse("adaptive")
    spec.step(spec.make(threads=1, rate_hz=None), mask)(FRAME)
    assert not mask.any()
    other = parse("tests.bench.models:Recorder")
    other.step(other.make(threads=1, rate_hz=None), mask)(FRAME)
    assert Recorder.shown == [FRAME]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "must be one of adaptive, .*, cnt, gmg, gsoc, lsbp, mog, or package.module:Class, got 'nothing'"),
        ("", "must be one of"),
        ("slots=3", "must be one of"),
        ("norma:slot=4", "no parameter 'slot'"),
        ("norma:slots=many", "slots"),
        ("norma:slots=0", "slots"),
        ("norma:eta=1,lam=2", "below 1"),
        ("norma:=3", "name:parameter=value"),
        ("norma:slots=3,4", "name:parameter=value"),
        ("norma:slots", "name:parameter=value"),
        ("mog2:history=0", "history"),
    ],
)
def test_wrong_specifications_are_explained(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text)


@pytest.mark.parametrize("text", ["no.such.module:Class", "tests.bench.models:Nothing", "tests.bench.models:np", ":X"])
def test_what_cannot_be_imported_names_the_remedy(text: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot import|cannot make a detector"):
        parse(text)


def test_abstract_classes_are_refused() -> None:
    with pytest.raises(ConfigError, match="without abstract methods"):
        parse("bgsub.detectors:TwoStepDetector")


def test_a_module_that_fails_when_it_is_imported_is_one_line(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fails_at_import.py").write_text("raise SystemExit('leaving')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="cannot import fails_at_import:X: leaving"):
        parse("fails_at_import:X")


def test_a_model_without_apply_is_refused() -> None:
    with pytest.raises(ValueError, match=r"apply\(frame\), got 'tests.bench.models:Broken'"):
        parse("tests.bench.models:Broken").make(threads=1, rate_hz=None)


@pytest.mark.skipif(CONTRIB, reason="OpenCV's contrib modules are installed")
@pytest.mark.parametrize("name", ["cnt", "gsoc"])
def test_missing_contrib_modules_are_reported_only_if_named(name: str) -> None:
    assert name not in [spec.name for spec in default_specs()]
    with pytest.raises(DependencyError, match=f"{name.upper()} belongs to .* install opencv-contrib-python"):
        parse(name)


@pytest.mark.parametrize("name", ["cnt", "gsoc"])
def test_contrib_modules_are_measured_where_installed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not CONTRIB:
        fake = types.ModuleType("cv2.bgsegm")
        for kind in ("CNT", "GSOC"):
            setattr(fake, f"createBackgroundSubtractor{kind}", cv2.createBackgroundSubtractorKNN)
        monkeypatch.setitem(sys.modules, "cv2.bgsegm", fake)
        monkeypatch.setattr(cv2, "bgsegm", fake, raising=False)
    specs = {spec.name: spec for spec in default_specs()}
    model = specs[name].make(threads=1, rate_hz=25.0)
    mask = np.full(FRAME.shape[:2], 7, np.uint8)
    for _ in range(3):
        specs[name].step(model, mask)(FRAME)
    assert np.isin(mask, (0, 127, 255)).all()
