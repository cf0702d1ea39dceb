"""Stages of detectors and of a run."""

import numpy as np
import pytest

from bgsub.bench import Clip, parse, profile, stages
from bgsub.bench.stage_times import _METHODS
from bgsub.detectors import DETECTORS, Detector, create
from bgsub.detectors.two_step import TwoStepDetector
from tests.bench.models import Difference
from tests.video.moving_square import empty_frame, square_frame

FRAMES = [empty_frame() if index < 20 else square_frame(index) for index in range(70)]
STAGES = {
    "adaptive": {"light and noise", "score", "final mask", "ghosts and light", "update", "details", "shadows"},
    "norma": {"learn", "decide"},
    "olk": {"learn", "decide"},
    "mog2": {"step"},
}
RUN = ["decode", "convert", "detect", "post-process", "objects", "write"]


@pytest.mark.parametrize("kind", list(_METHODS))
def test_every_wrapped_method_exists(kind: type) -> None:
    for name in _METHODS[kind]:
        assert callable(getattr(kind, name))


@pytest.mark.parametrize("name", list(STAGES))
def test_masks_and_state_are_the_same_to_the_bit(name: str) -> None:
    plain, measured = create(name), create(name)
    for index, frame in enumerate(FRAMES):
        expected = plain.apply(frame)
        if index % 7 < 5:  # measured in some frames only
            with stages(measured):
                mask = measured.apply(frame)
        else:
            mask = measured.apply(frame)
        np.testing.assert_array_equal(mask, expected)
    for key, array in plain.state.items():
        np.testing.assert_array_equal(measured.state[key], array)


@pytest.mark.parametrize("name", list(STAGES))
def test_stages_cover_the_step_of_a_detector(name: str) -> None:
    model = create(name)
    with stages(model) as times:
        for frame in FRAMES:
            model.apply(frame)
    assert set(times.seconds) == set(times.calls) == STAGES[name]
    assert min(times.seconds.values()) > 0


def test_every_built_in_detector_has_stages() -> None:
    for name in DETECTORS.built_in:
        with stages(create(name)) as times:
            assert times.seconds == {}


def test_learned_frames_are_counted_apart() -> None:
    model = create("norma", warmup=4, learn_every=8)
    with stages(model) as times:
        for frame in FRAMES[:40]:
            model.apply(frame)
    assert times.calls == {"learn": 4 + 4, "decide": 32}


def test_nothing_is_left_on_the_model_after_a_failure() -> None:
    model = create("adaptive")
    model.apply(FRAMES[0])
    before = dict(vars(model))
    with stages(model):
        assert set(vars(model)) > set(before)
        with pytest.raises(ValueError):
            model.apply(FRAMES[0][:10])
    assert vars(model).keys() == before.keys()
    with pytest.raises(InterruptedError), stages(model):
        raise InterruptedError
    assert vars(model).keys() == before.keys()


def test_blocks_may_be_nested() -> None:
    model = create("olk")
    with stages(model) as outer:
        model.apply(FRAMES[0])
        with stages(model) as inner:
            model.apply(FRAMES[1])
        model.apply(FRAMES[2])
    assert (outer.calls, inner.calls) == ({"learn": 3}, {"learn": 1})
    assert "_run_ring" not in vars(model)


def test_time_inside_another_stage_counts_once() -> None:
    class Nested(TwoStepDetector):
        name = "nested"

        def _start(self, frame):
            self._arrays["last"] = frame.copy()

        def _score(self, frame):
            return -np.ones(frame.shape[:2], np.float32)

        def _learn(self, frame, learning):
            self._score(frame)
            raise InterruptedError

        def background_image(self):
            return self._arrays["last"]

    now = iter(range(0, 1000, 1))
    model = Nested()
    with pytest.MonkeyPatch.context() as patch, stages(model) as times:
        patch.setattr("time.perf_counter", lambda: next(now))
        with pytest.raises(InterruptedError):
            model.apply(FRAMES[0])
    # The clock ticks once per look: scoring takes 1 twice, learning 3 of which 1 is scoring.
    assert times.seconds == {"score": 2, "learn": 2}
    assert times.calls == {"score": 2, "learn": 1}


def test_other_models_are_not_touched() -> None:
    measured, other = create("olk"), create("olk")
    with stages(measured) as times:
        other.apply(FRAMES[0])
    assert times.calls == {}


@pytest.mark.parametrize("name", ["adaptive", "norma:learn_every=4", "tests.bench.models:Difference"])
def test_a_profile_adds_up(name: str) -> None:
    clip = Clip("square", FRAMES, decode_ms=0.5, convert_ms=0.25)
    rows = profile(clip, parse(name), 1, 20)
    times = {row.stage: row.ms for row in rows}
    assert [stage for stage in times if ":" not in stage] == RUN
    assert (times["decode"], times["convert"]) == (0.5, 0.25)
    assert all(row.ms >= 0 for row in rows)
    parts = [row for row in rows if row.stage.startswith("detect: ")]
    assert sum(row.ms for row in parts) == pytest.approx(times["detect"], rel=1e-6)
    assert len(parts) >= 3
    assert sum(row.share for row in rows if ":" not in row.stage) == pytest.approx(1)
    assert {row.calls for row in rows if ":" not in row.stage} == {1.0}


def test_a_profile_leaves_out_what_a_clip_has_not() -> None:
    rows = profile(Clip("square", FRAMES), parse("norma"), 1, 4)
    assert [row.stage for row in rows if ":" not in row.stage] == RUN[2:]


def test_a_profile_writes_nowhere_but_to_a_temporary_file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    profile(Clip("square", FRAMES), parse("norma"), 1, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_detector_from_elsewhere_has_stages_of_its_base() -> None:
    model: Detector = Difference()
    with stages(model) as times:
        model.apply(FRAMES[0])
    assert times.calls == {"score": 1, "learn": 1}
