"""Looking into one pixel, and changing parameters of a running model."""

import numpy as np
import pytest

from bgsub.detectors import DETECTORS, create, detector_class
from bgsub.detectors.parameters import Parameter, defaults
from bgsub.errors import BgsubError, UnsupportedError
from tests.detectors.reference import SMALL, noisy_video
from tests.marks import needs_compiler

SIZE = (7, 9)
RULES = [("olk", {"rho_rule": rule}) for rule in ("published", "quantile", "pooled")]
BANKS = [("adaptive", {}), ("norma", {"learn_every": 2, "warmup": 4}), ("olk", {"slots": 8, "warmup": 4}), *RULES]


@pytest.mark.parametrize(("name", "parameters"), BANKS)
@pytest.mark.parametrize("kind", ["colour", "grey", "uint16"])
def test_value_and_threshold_are_those_of_the_score(name, parameters, kind):
    video = noisy_video(12 if SMALL else 40, SIZE)
    video = video if kind == "colour" else video[..., 0] if kind == "grey" else video.astype(np.uint16) * 257
    model = create(name, **parameters)
    for frame in video[:-1]:
        model.apply(frame)
    score = model.score(video[-1])
    for row in range(SIZE[0]):
        for column in range(SIZE[1]):
            state = model.inspect(video[-1], row, column)
            if state.threshold > 0:
                assert 1 - state.value / state.threshold == pytest.approx(score[row, column], abs=2e-3, rel=1e-3)
            assert np.array_equal(state.colour, np.atleast_1d(video[-1][row, column]))


@pytest.mark.parametrize(("name", "parameters"), BANKS)
def test_f_is_the_sum_over_the_support_vectors(name, parameters):
    video = noisy_video(30, SIZE)
    model = create(name, **parameters)
    for frame in video:
        model.apply(frame)
    state = model.inspect(video[-1], 3, 4)
    f = float(state.coefficients @ state.kernel)
    assert state.value == pytest.approx(f if state.symbol == "f" else f / state.coefficients.sum())
    distance = np.linalg.norm(state.support.astype(float) - state.colour, axis=1)
    assert state.kernel == pytest.approx(np.exp(-((distance / state.width) ** 2)), abs=1e-6)
    assert (np.diff(state.coefficients) <= 0).all()
    assert 1 <= len(state.support) <= model.parameters["slots"]


def test_looking_changes_nothing():
    video = noisy_video(12, SIZE)
    looked, left = create("adaptive"), create("adaptive")
    for frame in video:
        if looked.shape:
            looked.inspect(frame, 0, 0)
        assert np.array_equal(looked.apply(frame), left.apply(frame))


def test_what_cannot_be_inspected_says_so():
    frame = np.zeros((*SIZE, 3), np.uint8)
    with pytest.raises(BgsubError, match="show it a frame first"):
        create("norma").inspect(frame, 0, 0)
    for name in ("mog2", "knn"):
        with pytest.raises(UnsupportedError, match="use adaptive, norma or olk"):
            create(name).inspect(frame, 0, 0)
    model = create("norma")
    model.apply(frame)
    with pytest.raises(ValueError, match="rows 0 to 6"):
        model.inspect(frame, 7, 0)
    with pytest.raises(ValueError, match="frame must be uint8"):
        model.inspect(frame[1:], 0, 0)


def other(parameter: Parameter, value: object) -> object:
    """Return another allowed value."""
    if parameter.choices:
        return next(choice for choice in parameter.choices if choice != value)
    if parameter.kind is bool:
        return not value
    if value is None:
        return 5.0
    return parameter.kind(value + 2 if parameter.kind is int else value * 0.9)  # type: ignore[operator]


@needs_compiler
@pytest.mark.parametrize("name", list(DETECTORS))
def test_a_running_model_takes_every_parameter_that_does_not_shape_it(name):
    video = noisy_video(6, SIZE)
    for parameter in detector_class(name).PARAMETERS:
        model = create(name)
        model.apply(video[0])
        value = other(parameter, defaults(type(model))[parameter.name])
        before = [array.shape for array in getattr(model, "_arrays", {}).values()]
        if parameter.shapes_state:
            with pytest.raises(ValueError, match=parameter.name):
                model.change(**{parameter.name: value})
            model.reset()
        model.change(**{parameter.name: value})
        assert model.parameters[parameter.name] == value
        for frame in video[1:]:
            model.apply(frame)
        after = create(name, **{parameter.name: value})
        after.apply(video[0])
        now = [array.shape for array in getattr(after, "_arrays", {}).values()]
        assert before == now or parameter.shapes_state


def test_a_changed_width_counts_from_the_next_frame():
    video = noisy_video(10, SIZE)
    model = create("norma", learn_every=1, warmup=0)
    for frame in video:
        model.apply(frame)
    narrow = model.score(video[0])
    model.change(width=90.0)
    assert model.score(video[0]).mean() < narrow.mean()


def test_opencv_hears_of_a_change():
    model = create("mog2", detect_shadows=False)
    grey = np.full((*SIZE, 3), 100, np.uint8)
    for _ in range(50):
        model.apply(grey)
    model.change(var_threshold=1e6)
    assert not model.apply(np.full_like(grey, 250)).any()


def test_a_wrong_change_leaves_the_parameters():
    model = create("norma")
    with pytest.raises(ValueError, match="nu must be"):
        model.change(nu=2.0, width=10.0)
    assert model.parameters["width"] == 30.0
