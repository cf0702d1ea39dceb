"""Parts of compiled functions that Python calls, too."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bgsub._numba import JIT_ENABLED, compiled_views, part, shared

pytestmark = pytest.mark.compiled


@part
def square(x: float) -> float:
    return x * x


@shared
def cube(x: float) -> float:
    """Return x³."""
    return square(x) * x


@compiled_views
def sum_of_cubes(values: np.ndarray) -> float:
    total = 0.0
    for i in range(values.shape[0]):
        total += cube(values[i])
    return total


def test_compiled_functions_and_python_call_the_same_function() -> None:
    assert sum_of_cubes(np.array([1.0, 2.0, 3.0])) == 36.0
    assert cube(2.0) == 8.0
    assert (cube.__name__, cube.__doc__) == ("cube", "Return x³.")


@pytest.mark.skipif(not JIT_ENABLED, reason="compiles nothing under NUMBA_DISABLE_JIT")
def test_what_python_does_not_call_is_not_compiled_for_it() -> None:
    @shared
    def other(x: float) -> float:
        return x + 1.0

    assert "_for_python" not in vars(other)
    assert other(1.0) == 2.0
    assert "_for_python" in vars(other)


MODULE = """
from bgsub._numba import compiled_views, shared

@shared
def double(x):
    return 2.0 * x

@shared
def halve(x):
    return 0.5 * x

def make(rule):
    def call(x):
        return rule(x)
    call.__qualname__ = f"call_{rule.__name__}"
    return compiled_views(call)

calls = make(double), make(halve)
"""
USE = """
import sys
sys.path.insert(0, sys.argv[1])
from pkg._jit.rules import calls, double
print(calls[0](3.0), calls[1](3.0), double(5.0), *(sum(call.stats.cache_hits.values()) for call in calls))
"""


@pytest.mark.slow
@pytest.mark.skipif(not JIT_ENABLED, reason="caches nothing under NUMBA_DISABLE_JIT")
def test_functions_made_from_shared_ones_are_kept_on_disk(tmp_path: Path) -> None:
    (tmp_path / "pkg/_jit").mkdir(parents=True)
    (tmp_path / "pkg/_jit/rules.py").write_text(MODULE)
    said = [
        subprocess.run([sys.executable, "-c", USE, tmp_path], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert said == ["6.0 1.5 10.0 0 0\n", "6.0 1.5 10.0 1 1\n"]
