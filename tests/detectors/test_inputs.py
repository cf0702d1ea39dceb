"""Frames that are not numpy arrays of BGR or grey."""

import numpy as np
import pytest

from bgsub._opencv import cv2
from bgsub.detectors import create
from bgsub.frames import check_frame
from tests.detectors.reference import SMALL, noisy_video


class Tensor:
    """Has DLPack's methods, as tensors of other libraries have."""

    def __init__(self, array, device=(1, 0)):
        self._array, self._device = array, device

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._device


class Wrapped:
    """Has `__array__` alone."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


class Failing(Wrapped):
    def __array__(self, dtype=None, copy=None):
        raise TypeError("it lies on another device")


def with_alpha(frame):
    alpha = np.random.default_rng(0).integers(0, 256, frame.shape[:2], dtype=np.uint8)
    return np.dstack([frame, alpha])


FORMS = {
    "UMat": cv2.UMat,
    "DLPack": Tensor,
    "__array__": Wrapped,
    "BGRA": with_alpha,
    "UMat of BGRA": lambda frame: cv2.UMat(with_alpha(frame)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["mog2"] if SMALL else ["adaptive", "mog2"])
def test_masks_are_those_of_the_array(name, form):
    plain, other = create(name), create(name)
    for frame in noisy_video(12, (24, 31)):
        given = FORMS[form](frame)
        assert (other.apply(given) == plain.apply(frame)).all()
    if name == "adaptive":
        assert (other.score(given) == plain.score(frame)).all()
        assert (other.background_image() == plain.background_image()).all()
        assert other.background_image().shape == (24, 31, 3)


def test_selections_may_be_of_these_kinds_too():
    frame = np.full((9, 9, 3), 90, np.uint8)
    known = np.zeros((9, 9), np.uint8)
    known[3:5, 3:6] = 255
    for given in (cv2.UMat(known), Tensor(known), Wrapped(known)):
        assert (create().apply(frame, knownForegroundMask=given) == known).all()


def test_nothing_is_copied_where_it_need_not_be():
    frame = np.zeros((9, 9, 3), np.uint8)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # earlier ones make arrays of DLPack read-only
        assert np.shares_memory(check_frame(Tensor(frame)), frame)
    assert np.shares_memory(check_frame(Wrapped(frame)), frame)
    frame.flags.writeable = False
    assert check_frame(Wrapped(frame)).flags.writeable  # else everything would be compiled once more


def test_a_read_only_array_is_copied_since_code_for_it_would_be_compiled_once_more():
    received = np.frombuffer(bytes(range(48)), np.uint8).reshape(4, 4, 3)
    frame = check_frame(received, "frame")
    assert frame.flags.writeable
    np.testing.assert_array_equal(frame, received)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (Tensor(np.zeros((9, 9), np.uint8), device=(2, 0)), "image must be in main memory"),
        (Failing(None), "image cannot be read as an array: it lies on another device"),
        ([[0, 0]], "image must be a numpy array, or have __dlpack__ or __array__, got list"),
        (None, "got NoneType"),
        (Wrapped(np.zeros((9, 9), np.int64)), "image must be uint8, uint16 or float32, got int64"),
        (np.zeros((9, 9, 2), np.uint8), r"image must have shape \(H, W\) or \(H, W, 3 or 4\)"),
        (np.zeros((9, 9, 5), np.uint8), "image must have shape"),
    ],
)
def test_others_are_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        create().apply(frame)


def test_torch_tensors_are_frames():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    frame = noisy_video(1, (24, 31))[0]
    assert (create().apply(torch.from_numpy(frame.copy())) == create().apply(frame)).all()
