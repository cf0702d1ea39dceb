"""The arithmetic below the banks: exp2, bands, and the compiled functions against plain numpy."""

import os
import re
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

from bgsub._numba import JIT_ENABLED, banded, bands, compiled, exp2_nonpositive, helpers_awake, run_bands
from bgsub._numba.atomics import add
from bgsub.detectors import create
from tests.detectors.reference import noisy_video
from tests.overlap import checked


@compiled
def _exponentials(first_row, last_row, values, results):
    for y in range(first_row, last_row):
        for x in range(values.shape[1]):
            results[y, x] = exp2_nonpositive(values[y, x])


def test_exp2_is_right_to_5e_6_and_stays_at_its_lowest_below():
    values = np.concatenate([-np.geomspace(1e-7, 100, 3000), [0.0, -100.0, -101.0, -1e4, -1e9]]).astype(np.float32)
    results = np.empty((1, values.size), np.float32)
    _exponentials(0, 1, values[None], results)
    exact = np.exp2(values.astype(np.float64))
    seen = values >= -100
    assert (np.abs(results[0][seen] / exact[seen] - 1) < 5e-6).all()
    np.testing.assert_allclose(results[0][~seen], 2.0**-100, rtol=5e-6)
    assert results[0, 3000] == pytest.approx(1, abs=1e-6)


@banded
def _count_rows(first, last, counts, slow):
    for y in range(first, last):
        counts[y] += 1
        for x in range(slow[y]):  # so that other threads come in between
            counts[y] += x - x


@pytest.fixture
def seven_processors(monkeypatch):
    """As many threads as there may be elsewhere, for bands of single pixels."""
    monkeypatch.setattr(bands, "_MIN_PIXELS_PER_BAND", 1)
    monkeypatch.setattr(bands, "available_threads", lambda: 7)
    monkeypatch.setattr(bands, "_crew", None)


@pytest.mark.usefixtures("seven_processors")
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (17, 64), (64, 300), (2000, 64)])
@pytest.mark.parametrize("threads", [1, 2, 7, 0])
@pytest.mark.parametrize("pieces", [1, 4, 100])
def test_threads_share_every_row_out_once(shape, threads, pieces):
    slow = np.arange(shape[0]) % 7 * (100 if JIT_ENABLED else 1)
    for _ in range(20 if JIT_ENABLED else 2):
        rows = np.zeros(shape[0], int)
        run_bands(_count_rows, shape, threads, rows, slow, pieces=pieces)
        assert (rows == 1).all()


@banded
def _note_order(first, last, order, counter, work):
    for y in range(first, last):
        order[y] = add(counter.ctypes.data, 1)
        for _ in range(20_000):
            work[y] = exp2_nonpositive(work[y])
            work[y] = -work[y]


@pytest.mark.skipif(not JIT_ENABLED, reason="plain Python has no bands")
@pytest.mark.usefixtures("seven_processors")
def test_several_threads_are_at_work():
    order, counter, work = np.zeros(8, np.int64), np.zeros(1, np.int64), np.zeros(8, np.float32)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:  # the others may come late
        counter[:] = 0
        run_bands(_note_order, (8, 8), 2, order, counter, work, pieces=1)
        assert sorted(order) == list(range(8))
        if order[4] < order[3]:  # alone, one thread would go through the rows in their order
            return
    pytest.fail("no thread helped")


@pytest.mark.usefixtures("seven_processors")
def test_callers_at_once_get_all_rows_done(monkeypatch):
    done, slow = [], np.full(64, 200 if JIT_ENABLED else 1)

    def call():
        for _ in range(300 if JIT_ENABLED else 3):
            rows = np.zeros(64, int)
            run_bands(_count_rows, (64, 64), 3, rows, slow)
            done.append((rows == 1).all())

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert len(done) == (1200 if JIT_ENABLED else 12)
    assert all(done)


class _Rows(NamedTuple):
    counts: Any
    parts: Any


@banded
def _copy_rows(first, last, rows, twice):
    for y in range(first, last):
        copied = np.empty(1, np.int64)  # counted, as no argument is
        copied[0] = rows.counts[y] + rows.parts[0][y]
        part = rows.parts[1][y : y + 1]
        part[0] = copied[0]
        twice[y] = 2 * copied[0]


@pytest.mark.usefixtures("seven_processors")
def test_arrays_outlive_bands_and_are_then_held_as_often_as_before():
    counts, twice = np.arange(64), np.zeros(64, int)
    rows = _Rows(counts, (np.ones(64, int), np.zeros(64, int)))
    arrays = counts, twice, *rows.parts
    before = [sys.getrefcount(array) for array in arrays]
    for _ in range(100 if JIT_ENABLED else 2):
        run_bands(_copy_rows, (64, 64), 3, rows, twice)
    assert [sys.getrefcount(array) for array in arrays] == before
    np.testing.assert_array_equal(rows.parts[1], np.arange(1, 65))
    np.testing.assert_array_equal(twice, 2 * np.arange(1, 65))


@pytest.mark.usefixtures("seven_processors")
def test_helpers_sleep_when_no_step_is_under_way():
    if not JIT_ENABLED:
        pytest.skip("plain Python has no helpers")
    rows, slow = np.zeros(64, int), np.zeros(64, int)
    with helpers_awake((64, 64), 3):
        run_bands(_count_rows, (64, 64), 3, rows, slow)
        crew = bands._crew
        assert crew._held[0] == 1
    assert crew._held[0] == 0
    deadline = time.monotonic() + 10
    while any(crew._awake) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(crew._awake)
    run_bands(_count_rows, (64, 64), 3, rows, slow)
    assert (rows == 2).all()


@banded
def _allocate(first, last, size, out):
    scratch = np.empty(size, np.uint8)
    for y in range(first, last):
        out[y] = scratch.shape[0]


@pytest.mark.skipif(not JIT_ENABLED, reason="plain Python raises numpy's own error")
@pytest.mark.usefixtures("seven_processors")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_lack_of_memory_in_a_band_reaches_the_caller(threads):
    out = np.zeros(64, np.int64)
    with pytest.raises(MemoryError, match="working memory"):
        run_bands(_allocate, (64, 64), threads, 2**60, out)
    run_bands(_allocate, (64, 64), threads, 3, out)
    assert (out == 3).all()


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (7, 33)])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_scores_equal_plain_numpy(size, channels, dtype):
    model = create("norma", slots=4, width=40, learn_every=1, warmup=0)
    factor = {np.uint8: 1, np.uint16: 257, np.float32: 1 / 255}[dtype]
    video = (noisy_video(12, size, channels).astype(np.float64) * factor).astype(dtype)
    for frame in video[:-1]:
        model.apply(frame)
    frame = video[-1].astype(np.float64).reshape(*size, channels)
    white = {np.uint8: 255, np.uint16: 65535, np.float32: 1}[dtype]
    colours = model._arrays["colours"].astype(np.float64)  # (H, D, B, W)
    square = ((colours - frame.transpose(0, 2, 1)[:, :, None]) ** 2).sum(1)
    coefficients = model._arrays["coefficients"] * model._scalars["scale"]
    f = (coefficients * np.exp(-square / (40 * white / 255) ** 2)).sum(1)
    level = 0.25 * model._arrays["rho"].astype(np.float64)
    expected = np.where(level > 0, 1 - f / level, -1e6)
    np.testing.assert_allclose(model.score(video[-1]), expected, rtol=2e-5, atol=2e-5)


def test_background_image_equals_plain_numpy():
    model = create("olk", slots=6, width=25, learn_every=1, warmup=0)
    for frame in noisy_video(20, (5, 7)):
        model.apply(frame)
    colours = model._arrays["colours"].astype(np.float64)
    coefficients = model._arrays["coefficients"].astype(np.float64)
    square = ((colours[:, :, :, None] - colours[:, :, None]) ** 2).sum(1)  # (H, i, j, W)
    f = (coefficients[:, None] * np.exp(-square / 25**2)).sum(2)
    best = f.argmax(1)
    rows, columns = np.indices(best.shape)
    expected = colours[rows, :, best, columns]
    chosen = model.background_image()
    second = np.sort(f, axis=1)[:, -2]
    clear = f.max(1) - second > 1e-5 * f.max(1)
    assert clear.mean() > 0.5
    assert (chosen[clear] == expected[clear]).all()


@pytest.mark.slow
@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT")
def test_kernels_work_where_no_cache_can_be_written(tmp_path):
    program = (
        "import numpy as np, numba.core.caching as caching\n"
        "def refuse(self): raise OSError('read-only')\n"
        "caching._CacheLocator.ensure_cache_path = refuse\n"
        "import bgsub\n"
        "model = bgsub.create('norma', threads=1)\n"
        "assert model.apply(np.zeros((4, 5, 3), np.uint8)).shape == (4, 5)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=120, cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT")
def test_the_inner_loop_is_vectorised_with_all_bits_of_a_register(tmp_path):
    from llvmlite import binding

    # a process and a cache of its own, because the assembly of cached code cannot be seen
    program = (
        "import numpy as np, bgsub\n"
        "from bgsub.detectors._jit.norma import step\n"
        "bgsub.create('norma', threads=1).apply(np.zeros((4, 64, 3), np.uint8))\n"
        "print(next(iter(step.inspect_asm().values())))\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    packed = re.findall(r"(?:v?mulps|v?fn?m(?:add|sub)(?:132|213|231)ps|fmul\s+v|fml[as]\s+v).*", done.stdout)
    assert packed, done.stderr
    if binding.get_host_cpu_features().get("avx512f"):
        assert any("zmm" in line for line in packed)


def test_kernels_that_write_to_arguments_that_overlap_are_noticed():
    numbers = np.arange(10.0)
    shift = checked(lambda target, origin: np.copyto(target, origin))
    shift(numbers[:5], numbers[5:])
    with pytest.raises(AssertionError, match="target and origin overlap"):
        shift(numbers[:5], numbers[1:6])


@pytest.mark.skipif(JIT_ENABLED, reason="functions that are compiled are not checked")
def test_plain_kernels_are_checked_for_overlaps():
    numbers = -np.ones((1, 3), np.float32)
    with pytest.raises(AssertionError, match="values and results overlap"):
        _exponentials(0, 1, numbers, numbers)
