"""Methods are named by specs: detectors with settings, OpenCV's contributed ones, and anything importable."""

import copy

import numpy as np
import pytest

from bgsub._lab.specs import split_spec
from bgsub.config import Config
from bgsub.errors import ConfigError, DependencyError
from bgsub.evaluation import parse_method
from bgsub.postprocess import Postprocess

FRAME = np.full((12, 16, 3), 80, np.uint8)


class Constant:
    """A method of somebody else."""

    def __init__(self, value=255):
        self.value = value

    def apply(self, image):
        return np.full(image.shape[:2], self.value, np.uint8)


def test_a_detector_with_settings_and_the_rest_of_a_config():
    base = Config("norma", {"slots": 4}, Postprocess(median=3), warmup=5)
    method = parse_method("norma:nu=0.3,width=20", base)
    assert method.label == "norma:nu=0.3,width=20"
    assert method.config == Config("norma", {"slots": 4, "nu": 0.3, "width": 20.0}, Postprocess(median=3), warmup=5)
    other = parse_method("olk", base)  # its parameters are other ones
    assert other.config == Config("olk", {}, Postprocess(median=3), warmup=5)
    assert method.settings()["parameters"]["learn_every"] == 32
    assert method.make(threads=1).apply(FRAME).shape == (12, 16)
    assert copy.deepcopy(method) == method


def test_a_class_of_any_module():
    method = parse_method("tests.evaluation.test_methods:Constant:value=7")
    assert int(method.make().apply(FRAME)[0, 0]) == 7
    assert method.settings() == {"factory": "tests.evaluation.test_methods:Constant", "arguments": {"value": 7}}
    mog2 = parse_method("cv2:createBackgroundSubtractorMOG2:history=20,detectShadows=false").make()
    assert (mog2.getHistory(), mog2.getDetectShadows()) == (20, False)


def test_a_module_beside_the_data_is_found(tmp_path, monkeypatch):
    (tmp_path / "beside_the_data.py").write_text(
        "import numpy as np\n"
        "class None_:\n"
        "    def apply(self, image):\n"
        "        return np.zeros(image.shape[:2], np.uint8)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/nowhere"])
    assert not parse_method("beside_the_data:None_").make().apply(FRAME).any()


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("nothing", ValueError, "nothing"),
        ("norma:nu=2", ValueError, r"nu must be a number in \(0, 1\), got 2"),
        ("norma:mu=0.2", ValueError, "no parameter 'mu'"),
        ("norma:nu=0.2,nu=0.3", ValueError, "must be like name:parameter=value"),
        ("norma:nu=0.2,0.3", ValueError, "must be like name:parameter=value"),
        (":nu=0.2", ValueError, "detector"),
    ],
)
def test_wrong_specs(spec, error, message):
    with pytest.raises(error, match=message):
        parse_method(spec)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("no_such_module:Class", ConfigError, "cannot import no_such_module:Class: No module named"),
        ("tests.evaluation.test_methods:Missing", ConfigError, "has no attribute 'Missing'"),
        ("tests.evaluation.test_methods:FRAME", ConfigError, "cannot make a detector"),
        ("tests.evaluation.test_methods:Constant:size=3", ConfigError, "unexpected keyword argument 'size'"),
        ("fractions:Fraction", ConfigError, "makes Fraction, which has no method apply"),
    ],
)
def test_what_cannot_be_made_says_why(spec, error, message):
    method = parse_method(spec)
    with pytest.raises(error, match=message):
        method.make()


def test_contributed_methods_of_opencv_are_run_or_say_what_to_install():
    method = parse_method("cnt")
    try:
        import cv2.bgsegm  # noqa: TID251, F401 - whether it is there
    except ImportError:
        with pytest.raises(DependencyError, match="install opencv-contrib-python"):
            method.make()
    else:
        assert method.make().apply(FRAME).shape == (12, 16)


def test_specs_are_split_at_the_last_colon_with_settings():
    assert split_spec(" a.b:C:x=1, y=z ") == ("a.b:C", {"x": "1", "y": "z"})
