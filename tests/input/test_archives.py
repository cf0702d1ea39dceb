"""Models and learners from others take no more memory than their files explain."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgsub
from bgsub.errors import ConfigError, ModelFileError
from bgsub.learners import KernelPerceptron, load, save

BOMB = 300 * 2**20  # bytes; more than is allowed


def write_model(path: Path) -> Path:
    model = bgsub.create("norma", threads=1)
    model.apply(np.zeros((48, 64, 3), np.uint8))
    model.save(path)
    return path


def write_learner(path: Path) -> Path:
    save(KernelPerceptron().fit(np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2), path)
    return path


KINDS = [(write_model, bgsub.load, "state_rho"), (write_learner, load, "scalars")]
kinds = pytest.mark.parametrize(("make", "read", "member"), KINDS, ids=["model", "learner"])
Maker, Reader = Callable[[Path], Path], Callable[[Path], Any]


def array_header(shape: tuple[int, ...], dtype: str = "|u1") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def replace(path: Path, name: str, write: Callable[[Any], None]) -> None:
    """Replace a member of an archive by what `write` puts into it, compressed."""
    with zipfile.ZipFile(path) as archive:
        others = {item.filename: archive.read(item) for item in archive.infolist() if item.filename != f"{name}.npy"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for other, data in others.items():
            archive.writestr(other, data)
        with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
            write(file)


def refusal(read: Reader, path: Path) -> str:
    """Return the one line with which a file is refused, in little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as caught:
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@kinds
@pytest.mark.parametrize("known", [True, False])
def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, make: Maker, read: Reader, member: str, known: bool
) -> None:
    def write(file: Any) -> None:
        file.write(array_header((BOMB,)))
        for _ in range(300):
            file.write(bytes(2**20))

    path = make(tmp_path / "m.npz")
    replace(path, member if known else "extra", write)
    assert path.stat().st_size < 3e6
    message = refusal(read, path)
    assert "unpacks to 314" in message
    assert "BGSUB_MAX_MODEL_BYTES" in message


@kinds
def test_an_array_that_claims_more_than_it_holds_is_refused(
    tmp_path: Path, make: Maker, read: Reader, member: str
) -> None:
    path = make(tmp_path / "m.npz")
    replace(path, member, lambda file: file.write(array_header((10**11,)) + bytes(10)))
    assert "which it does not hold" in refusal(read, path)


@kinds
@pytest.mark.parametrize("data", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff{", b"text", b"\x93NUMPY\x09\x00aa"])
def test_a_member_that_is_no_array_is_refused(
    tmp_path: Path, make: Maker, read: Reader, member: str, data: bytes
) -> None:
    path = make(tmp_path / "m.npz")
    replace(path, member, lambda file: file.write(data))
    assert "learn and save it again" in refusal(read, path)


@kinds
def test_a_header_of_great_size_or_depth_is_refused(tmp_path: Path, make: Maker, read: Reader, member: str) -> None:
    for text in ("[" * 100_000, " " * 2**20):
        path = make(tmp_path / "m.npz")
        replace(path, "header", lambda file, text=text: np.save(file, np.str_(text)))
        refusal(read, path)


@kinds
def test_memory_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Maker, read: Reader, member: str
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 93 GiB")

    path = make(tmp_path / "m.npz")
    monkeypatch.setattr(np, "load", exhausted)
    with pytest.raises(ModelFileError, match="needs more memory than there is"):
        read(path)


@kinds
def test_the_limit_can_be_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Maker, read: Reader, member: str
) -> None:
    path = make(tmp_path / "m.npz")
    read(path)
    monkeypatch.setenv("BGSUB_MAX_MODEL_BYTES", "1000")
    with pytest.raises(ModelFileError, match=r"more than 1000; .* or set BGSUB_MAX_MODEL_BYTES to \d+ or more"):
        read(path)
    monkeypatch.setenv("BGSUB_MAX_MODEL_BYTES", "lots")
    with pytest.raises(ConfigError, match="BGSUB_MAX_MODEL_BYTES must be a positive whole number, got 'lots'"):
        read(path)


@pytest.mark.parametrize("name", ["adaptive", "adaptive-fast", "norma", "olk"])
@pytest.mark.parametrize("shape", [[8000, 8000, 3], [1, 9 * 10**7, 3], [10**8, 1], [10**6, 10**6], [48, 64, 2**31]])
def test_a_header_that_claims_larger_frames_is_refused_before_they_are_allocated(
    tmp_path: Path, name: str, shape: list[int]
) -> None:
    path = tmp_path / "m.npz"
    model = bgsub.create("adaptive", quality="fast") if name == "adaptive-fast" else bgsub.create(name, threads=1)
    model.apply(np.zeros((48, 64, 3), np.uint8))
    model.save(path)
    content = dict(np.load(path))
    header = json.loads(str(content["header"])) | {"shape": shape}
    content["state_coefficients"] = np.zeros(10**8, np.uint8)  # as many numbers as pixels
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member, array in (content | {"header": np.str_(json.dumps(header))}).items():
            with archive.open(f"{member}.npy", "w") as file:
                np.save(file, array)
    tracemalloc.start()
    try:
        refused = "do not fit its header|more than 134217728 pixels|no frame size"
        with pytest.raises(ModelFileError, match=refused):
            bgsub.load(path)
        assert tracemalloc.get_traced_memory()[1] < 300e6  # a model of every pixel would take gigabytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "shape", [[], [48], [48, 64, 1], [48, 64, 4], [48, 64, 3, 1], [48.0, 64], [True, 64], ["48", 64]]
)
def test_a_header_without_a_frame_size_is_one_line(tmp_path: Path, shape: list[object]) -> None:
    path = write_model(tmp_path / "m.npz")
    content = dict(np.load(path))
    header = json.loads(str(content["header"])) | {"shape": shape}
    np.savez(path, **(content | {"header": np.str_(json.dumps(header))}))
    assert "its header has no frame size" in refusal(bgsub.load, path)


@pytest.mark.parametrize("name", ["adaptive", "norma", "olk"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3, 3), (1, 200, 3), (200, 1), (37, 61, 3)])
def test_models_of_any_frame_size_are_read(tmp_path: Path, name: str, shape: tuple[int, ...]) -> None:
    model = bgsub.create(name, threads=1)
    model.apply(np.zeros(shape, np.uint8))
    model.save(tmp_path / "m.npz")
    assert bgsub.load(tmp_path / "m.npz").shape == shape


@pytest.mark.parametrize("dtype", ["9" * 5000, "(", "u1, (", [], {}, "O", "V99999999999", 7, None, "f2"])
def test_a_pixel_type_that_is_none_is_one_line(tmp_path: Path, dtype: object) -> None:
    path = write_model(tmp_path / "m.npz")
    content = dict(np.load(path))
    header = json.loads(str(content["header"])) | {"dtype": dtype}
    np.savez(path, **(content | {"header": np.str_(json.dumps(header))}))
    refusal(bgsub.load, path)


@pytest.mark.parametrize("text", [b"{'descr': (", b"{'descr': '9L'", b"9" * 5000, b"(" * 3000, b"\xff", b"{}", b"[]"])
@kinds
def test_a_damaged_header_of_an_array_is_one_line(
    tmp_path: Path, make: Maker, read: Reader, member: str, text: bytes
) -> None:
    path = make(tmp_path / "m.npz")
    header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    replace(path, member, lambda file: file.write(header))
    refusal(read, path)
