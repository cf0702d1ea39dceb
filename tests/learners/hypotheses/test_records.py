"""Records: numbers that compiled code and Python share by name."""

import importlib
import pkgutil
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import pytest

from bgsub.learners import _jit
from bgsub.learners._jit.records import State, as_record, record_type

RECORDS = {
    name: kind
    for module in pkgutil.walk_packages(_jit.__path__, f"{_jit.__name__}.")
    for name, kind in vars(importlib.import_module(module.name)).items()
    if isinstance(kind, type) and is_dataclass(kind)
}


@dataclass
class Longer(State):
    more: int = 0


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_no_field_is_an_attribute_that_every_record_of_numpy_has(name):
    """Compiled code would read the field, plain Python the attribute."""
    assert not {field.name for field in fields(RECORDS[name])} & set(dir(np.record))


def test_the_element_of_the_array_reads_and_writes_it():
    state = as_record(Longer(t=2.0, more=3.9))
    record = state[0]
    record.t += 1
    assert (state["t"][0], record.more, record.last) == (3.0, 3, 0.0)


def test_no_record_begins_as_that_of_its_base_class_does():
    """Numba would use what was compiled for the base class, with a warning."""
    assert record_type(Longer).names[0] != record_type(State).names[0]
