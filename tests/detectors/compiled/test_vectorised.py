"""Loops that every frame runs through use vectors on processors without AVX-512, too."""

import platform

import pytest

from bench.vectorised import find_scalar_loops
from bgsub._numba import JIT_ENABLED


def has_avx2() -> bool:
    from llvmlite import binding

    return platform.machine() in ("x86_64", "AMD64") and bool(binding.get_host_cpu_features().get("avx2"))


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT"),
    pytest.mark.skipif(not has_avx2(), reason="code for AVX2 does not run on this processor"),
]

# Judges a frame and learns it, which calls the two functions that take most of the time.
ADAPTIVE = """
import numpy as np
from bgsub.detectors.adaptive import Adaptive
from bgsub.detectors.adaptive.final_mask import scaled_sides
from bgsub.detectors.learning import Learning
frame = np.zeros((8, 16, 3), np.uint8)
model = Adaptive(threads=1)
model._begin(frame)
model._sides = scaled_sides(15, model._size)
model._fit_units()
model._score_frame(frame, None)
model._update(Learning(None, None))
"""
# What made loops scalar: a byte that is loaded under a condition, and sums that numba widens to 64 bits.
SCALAR = """
import numba, numpy as np
@numba.njit
def choose(chosen, numbers, sums):
    for x in range(sums.shape[0]):
        sums[x] = numbers[x] + np.uint8(1) if chosen[x] != 0 else sums[x]
bytes_ = np.zeros(64, np.uint8)
choose(bytes_, bytes_.copy(), bytes_.copy())
"""


def test_a_scalar_loop_is_found():
    scalar, _ = find_scalar_loops(SCALAR, lines=False)
    assert scalar


def test_scoring_and_learning_are_vectorised():
    scalar, vectorised = find_scalar_loops(ADAPTIVE, lines=False)
    assert scalar == []
    assert vectorised > 40
