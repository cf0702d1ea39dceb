"""Arguments that compiled functions take from Python once."""

import gc
import sys
from typing import Any, NamedTuple

import numpy as np

from bgsub._numba import Holder, banded, compiled, hold, run_bands, unpack
from bgsub._numba.held import HOLDS


class _Pair(NamedTuple):
    rows: Any
    factor: Any


@compiled
def _add_up(held, more):
    pair, (flag, columns) = unpack(held)
    total = np.float32(0.0)
    for y in range(pair.rows.shape[0]):
        for x in range(pair.rows.shape[1]):
            total += np.float32(pair.rows[y, x]) * pair.factor * columns[x]
    columns[0] += np.float32(1.0)
    return (total if flag else -total) + more


@banded
def _double(first, last, pair, out):
    for y in range(first, last):
        out[y] = pair.factor * pair.rows[y, 0]


def _arguments():
    rows, columns = np.arange(12, dtype=np.uint8).reshape(3, 4), np.ones(4, np.float32)
    return (_Pair(rows, np.float32(0.5)), (True, columns)), rows, columns


def test_what_is_held_is_seen_as_it_is_now():
    arguments, rows, columns = _arguments()
    held = hold(*arguments)
    assert _add_up(held, 1) == 34
    rows[2, 3] += 2  # seen, as what compiled code writes is
    assert columns[0] == 2
    assert _add_up(held, 1) == 35 + 6  # the first column counts twice


def test_a_tuple_is_taken_instead():
    arguments, *_ = _arguments()
    assert _add_up(arguments, 1) == _add_up(hold(*_arguments()[0]), 1)


def test_arrays_live_as_long_as_they_are_held_and_no_longer():
    arguments, rows, columns = _arguments()
    before = [sys.getrefcount(array) for array in (rows, columns)]
    held = hold(*arguments)
    for _ in range(10):
        _add_up(held, 0)
    del arguments
    gc.collect()
    assert [sys.getrefcount(array) for array in (rows, columns)] == before  # by the held tuples instead
    del held
    gc.collect()
    assert [sys.getrefcount(array) for array in (rows, columns)] == [count - 1 for count in before]


def test_bands_get_what_is_held_before_other_arguments():
    (pair, _), rows, _ = _arguments()
    for given in (hold(pair), (pair,)):
        out = np.zeros(3, np.float32)
        run_bands(_double, (3, 4), 1, out, held=given)
        np.testing.assert_array_equal(out, rows[:, 0] * 0.5)


def test_a_holder_knows_the_same_objects_again_but_not_equal_ones():
    keep, (arguments, *_), (others, *_) = Holder(), _arguments(), _arguments()
    assert _add_up(keep(*arguments), 0) == _add_up(keep(*others), 0) == 33
    assert _add_up(keep(*arguments), 0) > 33  # its own columns, which were written
    if HOLDS:
        assert keep(*arguments) is keep(*arguments)
        assert keep(*arguments) is not keep(*others)


def test_a_holder_lets_go_of_what_was_given_long_ago():
    keep, rows = Holder(), np.zeros((3, 4), np.uint8)
    before = sys.getrefcount(rows)
    for i in range(100):
        keep(_Pair(rows, np.float32(i)))
    gc.collect()
    assert sys.getrefcount(rows) <= before + 32
