"""The help of every learner is complete in itself."""

import inspect
import re

import pytest

from tests.learners.every import kinds


@pytest.mark.parametrize("kind", kinds())
def test_every_parameter_is_described_in_place(kind):
    text = inspect.getdoc(kind)
    assert "as in `" not in text.lower()
    assert "As in scikit-learn" not in text
    described = re.findall(r"^([\w, ]+) : .+\n    \S", text, re.MULTILINE)
    names = {name for group in described for name in group.split(", ")}
    assert set(inspect.signature(kind).parameters) <= names
    for section in ("Attributes", "Raises", "Examples"):
        assert f"\n{section}\n---" in text


@pytest.mark.parametrize("kind", kinds())
def test_every_attribute_that_is_described_is_there(kind):
    from tests.learners.every import EVERY, fitted

    model, _ = fitted(next(model for model in EVERY if type(model) is kind).set_params())
    section = inspect.getdoc(kind).split("\nAttributes\n")[1].split("\nRaises\n")[0]
    for group in re.findall(r"^([\w, ]+) : ", section, re.MULTILINE):
        for name in group.split(", "):
            if name != "step_sizes_":  # only where `record` is set
                assert hasattr(model, name) or hasattr(kind, name), name
