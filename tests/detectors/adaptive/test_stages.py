"""The stages of masks: what a trace holds, which stage changed a pixel, and that a trace changes no bit."""

import copy

import numpy as np
import pytest

from bgsub import create
from bgsub.detectors import DETECTORS, detector_class
from bgsub.frames import Packet
from bgsub.pipeline import STAGES, Pipeline
from bgsub.postprocess import Postprocess
from bgsub.stages import RAW, StageTrace
from tests.marks import needs_compiler

pytestmark = needs_compiler

SIZE = (96, 128)


def scene(index: int) -> np.ndarray:
    """Noise with a square that moves, a ring that stands from frame 60 on, and single bright pixels."""
    noise = np.random.default_rng(index)
    frame = np.clip(90 + noise.normal(0, 4, (*SIZE, 3)), 0, 255).astype(np.uint8)
    if index >= 40:
        left = (index - 40) * 2 % 90
        frame[20:44, left : left + 24] = (40, 200, 220)
    if index >= 60:
        frame[60:84, 70:94] = 230
        frame[68:76, 78:86] = 90
        frame[5, 5], frame[90, 120] = 255, 255
    return frame


def traced(name: str, frames: int = 70, **parameters) -> tuple[Pipeline, list]:
    threads = {"threads": 1} if "threads" in detector_class(name).check_parameters({}) else {}
    detector = create(name, **threads, **parameters)
    pipeline = Pipeline(detector, want_stages=True)
    return pipeline, [pipeline.step(Packet(i, i / 25, scene(i), i + 1)) for i in range(frames)]


@pytest.mark.parametrize("name", DETECTORS.available())
def test_a_trace_changes_no_mask_and_ends_with_it(name):
    pipeline, results = traced(name)
    plain = Pipeline(create(name, **pipeline.detector.parameters))
    for result in results:
        again = plain.step(result.packet)
        assert again.stages is None
        np.testing.assert_array_equal(again.mask, result.mask)
        assert result.stages is not None
        np.testing.assert_array_equal(result.stages.steps[-1][1], result.mask)
        assert result.stages.steps[0][0] is RAW
    assert pipeline.detector.trace is None


@pytest.mark.parametrize("name", DETECTORS.available())
def test_every_stage_of_a_trace_is_declared_and_of_the_detector_in_its_order(name):
    pipeline, results = traced(name)
    own = list(pipeline.detector.STAGES)
    for result in results:
        stages = [stage for stage, _ in result.stages.steps]
        assert set(stages) <= {*own, *STAGES}
        positions = [own.index(stage) for stage in stages if stage in own]
        assert positions == sorted(positions), stages


def test_the_stages_of_adaptive_explain_each_pixel():
    _, results = traced("adaptive")
    trace = results[-1].stages
    assert [stage.name for stage, _ in trace.changes(5, 5)] == ["raw", "majority"]
    assert [(stage.name, added) for stage, added in trace.changes(72, 82)] == [("fill-holes", True)]
    assert [(stage.name, added) for stage, added in trace.changes(62, 72)] == [("raw", True)]
    assert trace.changes(50, 10) == []
    assert results[-1].mask[72, 82] == 255
    assert results[-1].mask[5, 5] == 0


def test_stages_that_add_or_remove_say_why():
    for name in DETECTORS.available():
        for stage in (*detector_class(name).STAGES, *STAGES):
            assert stage.adds or stage.removes
    _, results = traced("adaptive")
    for stage, mask in (step for result in results for step in result.stages.steps):
        assert mask.dtype == np.uint8
        assert stage.label


def test_changes_of_every_pixel_have_a_reason():
    _, results = traced("adaptive")
    for result in results[::7]:
        before = np.zeros(SIZE, np.uint8)
        for stage, mask in result.stages.steps:
            assert stage.adds or not (mask > before).any(), stage
            assert stage.removes or not (mask < before).any(), stage
            before = mask


def test_a_ghost_is_removed_by_its_stage():
    """What stands from the first frame on, is learned, and then leaves, is a ghost."""
    rng = np.random.default_rng(0)
    texture = rng.integers(60, 200, (*SIZE, 3)).astype(np.uint8)
    detector = create("adaptive", threads=1)
    stages = []
    detector.trace = StageTrace()
    for index in range(80):
        frame = texture.copy()
        if index < 50:
            frame[30:60, 40:80] = (250, 20, 20)
        detector.apply(frame)
        stages += [step for step in detector.trace.steps if step[0].name == "ghosts"]
    assert stages
    assert not stages[0][1].any()


def test_the_raw_mask_has_no_stage_after_it():
    _, results = traced("adaptive", raw=True)
    names = {stage.name for result in results for stage, _ in result.stages.steps}
    assert names == {"raw"}


def test_shadows_are_a_stage_of_their_own():
    pipeline = Pipeline(create("mog2", detect_shadows=True), want_stages=True, postprocess=Postprocess(median=1))
    rng = np.random.default_rng(3)
    street = rng.integers(120, 180, (*SIZE, 3)).astype(np.uint8)
    for index in range(60):
        pipeline.step(Packet(index, index / 25, street, index + 1))
    shaded = street.copy()
    shaded[30:60, 40:80] = (street[30:60, 40:80] * 0.6).astype(np.uint8)
    result = pipeline.step(Packet(60, 60 / 25, shaded, 61))
    assert [(stage.name, added) for stage, added in result.stages.changes(45, 60)] == [
        ("raw", True),
        ("shadows", False),
    ]


def test_region_and_post_processing_are_stages():
    region = np.zeros(SIZE, np.uint8)
    region[:, :100] = 255
    detector = create("norma", threads=1, warmup=2)
    detector.roi = region
    pipeline = Pipeline(detector, want_stages=True, postprocess=Postprocess(3, True, 20))
    results = [pipeline.step(Packet(i, i / 25, scene(i), i + 1)) for i in range(70)]
    assert [stage.name for stage, _ in results[0].stages.steps][:2] == ["raw", "warmup"]
    names = [stage.name for stage, _ in results[-1].stages.steps]
    assert names == ["raw", "region", "median", "fill-holes", "min-area", "region"]


def test_a_trace_is_not_copied_with_the_model():
    detector = create("adaptive", threads=1)
    detector.trace = StageTrace()
    detector.apply(scene(0))
    assert copy.deepcopy(detector).trace is None


@pytest.mark.parametrize("name", [name for name in DETECTORS.available() if detector_class(name).can_save])
def test_a_deep_copy_goes_on_with_the_same_bits(name):
    pipeline, _ = traced(name, 45)
    model = pipeline.detector
    model.roi = np.full(SIZE, 255, np.uint8)
    copied = copy.deepcopy(model)
    for array_name, array in model.state.items():
        np.testing.assert_array_equal(array, copied.state[array_name])
        assert array_name in ("frames",) or not np.shares_memory(array, copied.state[array_name])
    np.testing.assert_array_equal(copied.roi, model.roi)
    for index in range(45, 60):
        np.testing.assert_array_equal(model.apply(scene(index)), copied.apply(scene(index)))
