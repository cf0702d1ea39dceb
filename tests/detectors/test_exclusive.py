"""One thread at a time uses a detector; copies of it go to other threads and processes."""

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from bgsub.detectors import Detector, create
from bgsub.errors import BgsubError, ConcurrencyError, UnsupportedError
from tests.detectors.reference import SMALL, noisy_video
from tests.marks import needs_compiler

SIZE = (7, 9) if SMALL else (24, 31)
SAVABLE = ["adaptive", "norma", "olk"]


class Slow(Detector):
    """Waits in each step until it may go on."""

    name = "slow"

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.may_end = threading.Event(), threading.Event()

    def _start(self, frame: np.ndarray) -> None:
        self._arrays["last"] = frame.copy()

    def _step(self, *_: object) -> None:
        self.entered.set()
        assert self.may_end.wait(60)

    def background_image(self) -> np.ndarray:
        return self._arrays["last"]


FRAME = np.zeros((4, 4), np.uint8)
USES: dict[str, Callable[[Detector], object]] = {
    "apply": lambda model: model.apply(FRAME),
    "score": lambda model: model.score(FRAME),
    "learn": lambda model: model.learn(FRAME),
    "inspect": lambda model: model.inspect(FRAME, 0, 0),
    "reset": lambda model: model.reset(),
    "clear": lambda model: model.clear(),
    "change": lambda model: model.change(),
    "save": lambda model: model.save("never.npz"),
    "snapshot": lambda model: model.snapshot(),
    "pickle": pickle.dumps,
    "roi": lambda model: setattr(model, "roi", None),
}


@pytest.mark.parametrize("use", USES)
def test_second_thread_is_refused_while_the_first_is_in_a_method(use: str) -> None:
    model = Slow()
    thread = threading.Thread(target=model.apply, args=(FRAME,))
    thread.start()
    assert model.entered.wait(60)
    try:
        with pytest.raises(ConcurrencyError, match=r"Slow\.\w+ was called while another thread uses the same object"):
            USES[use](model)
    finally:
        model.may_end.set()
        thread.join()
    model.apply(FRAME)  # afterwards any thread may


def test_error_is_a_runtime_error_and_one_of_ours() -> None:
    assert issubclass(ConcurrencyError, RuntimeError)
    assert issubclass(ConcurrencyError, BgsubError)


def test_method_that_fails_lets_others_in() -> None:
    model = create("norma", threads=1)
    with pytest.raises(ValueError, match="image"):
        model.apply(np.zeros(3))
    errors: list[BaseException] = []

    def use() -> None:
        try:
            model.apply(FRAME)
        except BaseException as error:  # noqa: BLE001 - compared below
            errors.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert errors == []


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])  # noqa: S301
@pytest.mark.parametrize("name", SAVABLE)
def test_copy_continues_with_the_same_bits_on_its_own(name: str, make: Callable[[Detector], Detector]) -> None:
    model, video = create(name, threads=1), noisy_video(30, SIZE)
    model.roi = np.pad(np.full((SIZE[0] - 2, SIZE[1] - 3), 255, np.uint8), ((0, 2), (0, 3)))
    for frame in video[:15]:
        model.apply(frame)
    other = make(model)
    assert type(other) is type(model)
    assert other.parameters == model.parameters
    masks = [other.apply(frame) for frame in video[15:]]
    np.testing.assert_array_equal(masks, [model.apply(frame) for frame in video[15:]])
    assert other.frames_seen == model.frames_seen == 30
    assert all((other.state[key] == value).all() for key, value in model.state.items())


def test_copy_before_the_first_frame_keeps_parameters_and_region() -> None:
    model = create("norma", slots=5, threads=1)
    model.roi = np.full((4, 4), 255, np.uint8)
    other = copy.deepcopy(model)
    assert (other.parameters["slots"], other.roi.shape, other.shape) == (5, (4, 4), None)


def test_model_of_opencv_cannot_be_copied() -> None:
    model = create("mog2")
    assert pickle.loads(pickle.dumps(model)).parameters == model.parameters  # noqa: S301
    model.apply(np.zeros((*SIZE, 3), np.uint8))
    with pytest.raises(UnsupportedError, match="mog2 cannot be copied with what it learned"):
        pickle.dumps(model)


PROCESSES = """
import multiprocessing, sys
import numpy as np
import bgsub

SIZE = (240, 320)  # large enough for several threads

def frames(start, stop):
    return [np.random.default_rng(i).integers(0, 60, (*SIZE, 3), dtype=np.uint8) for i in range(start, stop)]

def continue_with(model, results):
    results.put([model.apply(frame).tobytes() for frame in frames(8, 12)])

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    model = bgsub.create(sys.argv[2], threads=2)
    for frame in frames(0, 8):
        model.apply(frame)
    results = context.Queue()
    process = context.Process(target=continue_with, args=(model, results))
    process.start()
    there = results.get(timeout=60)
    process.join(60)
    here = [model.apply(frame).tobytes() for frame in frames(8, 12)]
    print(process.exitcode, there == here)
"""


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(sys.platform == "win32", reason="has only spawn")
@pytest.mark.parametrize(("method", "name"), [("fork", "adaptive"), ("spawn", "olk"), ("forkserver", "adaptive")])
def test_model_continues_in_a_child_process(tmp_path, method: str, name: str) -> None:
    script = tmp_path / "children.py"
    script.write_text(PROCESSES)
    done = subprocess.run(
        [sys.executable, script, method, name], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == "0 True\n", done.stderr
