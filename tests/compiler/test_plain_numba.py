"""Compiled functions compute the same bits without the private names of numba that make them faster."""

import pytest

from bgsub._numba import JIT_ENABLED
from tests.command import python

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT")

DIGEST = """
import hashlib, logging
logging.basicConfig(format="%(message)s")
import numpy as np, bgsub
generator = np.random.default_rng(0)
video = np.clip(generator.integers(0, 256, (70, 90, 3)) + generator.normal(0, 6, (50, 70, 90, 3)), 0, 255)
video = video.astype(np.uint8)
video[30:, 20:50, 20:60] = 250
model, seen = bgsub.create("norma"), hashlib.sha256()
for index, frame in enumerate(video):
    score = np.empty(frame.shape[:2], np.float32)
    seen.update(model.apply(frame, score=score if index % 3 else None).tobytes())
    seen.update(score.tobytes() if index % 3 else b"")
for array in model.state.values():
    seen.update(array.tobytes())
print(seen.hexdigest())
"""
# Of what a post-processing needs: a tenth of what a detector compiles, by the same means.
MEDIAN = """
import hashlib, logging
logging.basicConfig(format="%(message)s")
import numpy as np
from bgsub.postprocess import Postprocess

noise = np.where(np.random.default_rng(0).random((90, 120)) < 0.4, 255, 0).astype(np.uint8)
print(hashlib.sha256(Postprocess(median=5)(noise).tobytes()).hexdigest())
"""
MOVED = {
    "the lowering": "lowering.Lower",
    "the passes": "typed_passes.NativeLowering",
    "the compiler": "compiler.DefaultPassBuilder",
    "the intrinsics": "cgutils.unpack_tuple",
    "the literals": "types.unliteral",
}
WITHOUT = """
import numba.core.{module} as place
name = place.{name}
del place.{name}
import bgsub._numba
place.{name} = name  # numba itself needs it where it has not moved
"""


def run(code: str, **environment: str) -> tuple[str, str]:
    """Run code in a process of its own and return what it printed and what it logged."""
    done = python(code, **environment)
    return done.stdout, done.stderr


@pytest.mark.slow
def test_plain_numba_gives_the_same_bits(tmp_path):
    # The others are compiled by the same means, adaptive in a minute more.
    fast = run(DIGEST)
    assert fast[1] == ""
    assert run(DIGEST, BGSUB_PLAIN_NUMBA="1", NUMBA_CACHE_DIR=str(tmp_path)) == fast


@pytest.fixture(scope="module")
def usual_median() -> str:
    printed, logged = run(MEDIAN)
    assert logged == ""
    return printed


@pytest.mark.slow
@pytest.mark.parametrize("moved", MOVED)
def test_a_private_name_that_has_moved_costs_one_line_of_the_log(moved, usual_median, tmp_path):
    module, name = MOVED[moved].split(".")
    cache = str(tmp_path)  # a cache of its own: code of a process that has the name would serve, too
    plain, log = run(WITHOUT.format(module=module, name=name) + MEDIAN, NUMBA_CACHE_DIR=cache)
    assert plain == usual_median
    assert log.count("\n") == 1
    assert "results are the same, but slower" in log


SCIPY = """
import sys, numpy as np, numba, bgsub
bgsub.create("norma").apply(np.zeros((20, 30, 3), np.uint8))
assert "numba.np.arraymath" in sys.modules
print("scipy.linalg" in sys.modules)
print(numba.njit(lambda one, other: np.dot(one, other))(np.arange(3.0), np.arange(3.0)), "scipy.linalg" in sys.modules)
"""


@pytest.mark.slow
def test_linear_algebra_is_imported_only_when_a_function_uses_it():
    pytest.importorskip("scipy")
    assert run(SCIPY) == ("False\n5.0 True\n", "")
