"""What a program written for OpenCV's subtractors finds in a detector."""

import copy

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import DETECTORS, create
from bgsub.errors import UnsupportedError
from tests.detectors.reference import noisy_video

MAKERS = {"mog2": cv2.createBackgroundSubtractorMOG2, "knn": cv2.createBackgroundSubtractorKNN}
OTHER = {bool: lambda value: not value, int: lambda value: value + 1, float: lambda value: value * 0.75}

needs_opencv_5 = pytest.mark.skipif(int(cv2.__version__.split(".")[0]) < 5, reason="OpenCV below 5 has no known mask")


def accessors(subtractor, kind):
    return sorted(name[3:] for name in dir(subtractor) if name.startswith(kind) and name[3:] not in IGNORED)


IGNORED = ("BackgroundImage", "DefaultName")


@pytest.mark.parametrize("name", MAKERS)
class TestOpenCvsOwn:
    def test_every_getter_and_setter_is_there_and_agrees(self, name):
        theirs, ours = MAKERS[name](), create(name)
        names = accessors(theirs, "get")
        assert names == accessors(ours, "get") == accessors(ours, "set")
        assert len(names) > 6
        for one in names:
            value = getattr(theirs, f"get{one}")()
            if one == "ShadowValue":
                continue
            assert getattr(ours, f"get{one}")() == pytest.approx(value), one
            changed = OTHER[type(value)](value)
            getattr(ours, f"set{one}")(changed)
            assert getattr(ours, f"get{one}")() == changed

    def test_changes_before_and_during_a_run_reach_opencv(self, name):
        video = noisy_video(60, (24, 31))
        theirs, ours = MAKERS[name](), create(name)
        later = {"mog2": {"VarThreshold": 40.0, "VarMin": 9.0}, "knn": {"Dist2Threshold": 90.0, "kNNSamples": 3}}[name]
        first = {"History": 90, "ShadowThreshold": 0.7} | {"mog2": {"NMixtures": 3}, "knn": {"NSamples": 5}}[name]
        for one in (theirs, ours):
            for key, value in first.items():
                getattr(one, f"set{key}")(value)
        different = 0
        for index, frame in enumerate(video):
            if index == 30:
                for one in (theirs, ours):
                    for key, value in later.items():
                        getattr(one, f"set{key}")(value)
            if name == "mog2":  # samples of KNN are drawn at random
                expected = np.where(theirs.apply(frame) == 255, 255, 0)
                assert (ours.apply(frame) == expected).all()
                different += np.count_nonzero(expected)
            else:
                ours.apply(frame)
        assert different or name == "knn"
        for key, value in (first | later).items():
            assert getattr(ours._model, f"get{key}")() == pytest.approx(value)

    def test_defaults_are_opencv_s_to_the_bit(self, name):
        if name == "knn":
            pytest.skip("samples of KNN are drawn at random")
        theirs, ours = MAKERS[name](), create(name)
        for frame in noisy_video(60, (24, 31)):
            assert (ours.apply(frame) == np.where(theirs.apply(frame) == 255, 255, 0)).all()

    def test_shape_of_the_model_cannot_change_while_it_is_kept(self, name):
        model = create(name)
        model.apply(np.zeros((9, 9, 3), np.uint8))
        with pytest.raises(ValueError, match=r"cannot change .* call reset\(\) first"):
            {"mog2": lambda: model.setNMixtures(9), "knn": lambda: model.setNSamples(9)}[name]()

    def test_shadows_are_background(self, name):
        model = create(name)
        assert model.getShadowValue() == 0
        model.setShadowValue(0)
        with pytest.raises(ValueError, match=f"value must be 0, as {name} marks shadows, got 127"):
            model.setShadowValue(127)

    def test_keywords_of_the_create_function_are_accepted(self, name):
        keyword = {"mog2": "varThreshold", "knn": "dist2Threshold"}[name]
        model = create(name, history=300, detectShadows=False, **{keyword: 33.0})
        ours = keyword.replace("T", "_t")
        assert model.parameters | {"history": 300, "detect_shadows": False, ours: 33.0} == model.parameters
        with pytest.raises(ValueError, match=f"{keyword} and {ours} are one parameter of {name}"):
            create(name, **{keyword: 33.0, ours: 34.0})
        with pytest.raises(ValueError, match=f"{name} has no parameter 'varThresh'"):
            create(name, varThresh=3)


def test_adaptive_has_what_means_the_same():
    model = create(rate_hz=20, memory_s=30)
    assert model.getHistory() == 600
    model.setHistory(200)
    assert model.memory_s == 10
    assert model.getDetectShadows() is False
    model.setDetectShadows(True)
    assert model.detect_shadows
    assert model.getShadowValue() == 127
    assert create(detectShadows=True).detect_shadows
    with pytest.raises(ValueError, match="value must be 127"):
        model.setShadowValue(0)
    for wrong in (0, "500", True, float("nan")):
        with pytest.raises(ValueError, match="history must be a number of frames, at least 1"):
            model.setHistory(wrong)


@pytest.mark.parametrize("name", ["adaptive", "norma", "olk"])
def test_what_means_nothing_is_an_attribute_error_that_says_so(name):
    model = create(name)
    with pytest.raises(
        AttributeError, match=f"{name} has no setVarThreshold, which means nothing here; .* slots, width"
    ):
        model.setVarThreshold(20)
    assert not hasattr(model, "getNMixtures")
    with pytest.raises(AttributeError, match="object has no attribute 'setNonsense'"):
        _ = model.setNonsense
    with pytest.raises(ValueError, match="has no parameter 'varThreshold'"):
        create(name, varThreshold=16)


@pytest.mark.parametrize("name", DETECTORS)
def test_copies_still_work(name):
    assert copy.copy(create(name).parameters) == create(name).parameters
    if create(name).can_save:
        assert copy.deepcopy(create(name)).parameters == create(name).parameters


@needs_opencv_5
def test_mog2_leaves_known_foreground_out_as_opencv_does():
    video = noisy_video(60, (24, 31))
    known = np.zeros((24, 31), np.uint8)
    known[4:9, 6:20] = 1
    theirs, ours, without = MAKERS["mog2"](), create("mog2"), create("mog2")
    for index, frame in enumerate(video):
        frame = frame.copy()
        if index == 30:
            before = ours.background_image()
        if index >= 30:
            frame[known != 0] = 255
        now = known if index >= 30 else np.zeros_like(known)
        score = np.empty((24, 31), np.float32)
        mask = ours.apply(frame, score=score, knownForegroundMask=now)
        assert (mask == np.where(theirs.apply(frame, knownForegroundMask=now) == 255, 255, 0)).all()
        assert (score[now != 0] == 1).all()
        without.apply(frame)
    background = ours.background_image()
    assert (background == theirs.getBackgroundImage()).all()
    assert (background[known != 0] == before[known != 0]).all()
    assert without.background_image()[known != 0].mean() - background[known != 0].mean() > 20


def test_knn_refuses_known_foreground_which_it_would_learn():
    with pytest.raises(UnsupportedError, match=r"knn cannot learn only a part .* leave out knownForegroundMask"):
        create("knn").apply(np.zeros((9, 9, 3), np.uint8), knownForegroundMask=np.ones((9, 9), bool))


@pytest.mark.parametrize("name", MAKERS)
def test_opencv_s_models_refuse_where(name):
    with pytest.raises(UnsupportedError, match=f"{name} cannot learn only a part of the frame; leave out where"):
        create(name).apply(np.zeros((9, 9, 3), np.uint8), where=np.ones((9, 9), bool))


@pytest.mark.parametrize("name", MAKERS)
def test_models_have_all_that_opencv_s_have_but_file_storage(name):
    theirs, ours = MAKERS[name](), create(name)
    assert {member for member in dir(theirs) if not hasattr(ours, member)} <= {"read", "write"}
    assert ours.getDefaultName() == f"BackgroundSubtractor_{name.upper()}"  # as OpenCV 5 has it


def test_a_model_is_empty_before_it_learns():
    model = create()
    assert model.empty()
    model.apply(np.zeros((9, 9, 3), np.uint8))
    assert not model.empty()
    model.clear()
    assert model.empty()


def test_known_foreground_outside_the_region_is_not_marked():
    model = create(warmup=0) if "warmup" in create().parameters else create()
    model.roi = np.vstack([np.zeros((10, 20), np.uint8), np.full((10, 20), 255, np.uint8)])
    known = np.zeros((20, 20), bool)
    known[5:15, 5:10] = True
    score = np.empty((20, 20), np.float32)
    mask = model.apply(np.full((20, 20, 3), 90, np.uint8), score=score, knownForegroundMask=known)
    assert (mask == 255).tolist() == (known & (model.roi != 0)).tolist()
    assert (score[:10] < 0).all()


@pytest.mark.parametrize("argument", ["where", "knownForegroundMask"])
@pytest.mark.parametrize("wrong", [np.ones((5, 5), bool), np.ones((9, 9), np.float32), [[1]]])
def test_pixels_of_another_shape_or_type_are_refused(argument, wrong):
    with pytest.raises(ValueError, match=argument):
        create().apply(np.zeros((9, 9, 3), np.uint8), **{argument: wrong})
