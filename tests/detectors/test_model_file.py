"""Model files that are missing, damaged or foreign, and models that cannot be written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgsub
from bgsub.detectors import model_file
from bgsub.errors import ModelFileError
from tests.detectors.test_contract import quick


@pytest.mark.parametrize(
    "damage",
    [
        *("missing", "garbage", "empty", "other npz", "version", "no version", "truncated"),
        *("shape", "header", "detector", "scalars", "parameters"),
    ],
)
def test_bad_model_files_are_one_clear_line(damage, tmp_path):
    path = tmp_path / "model.npz"
    model = quick("norma")
    model.apply(np.zeros((6, 8, 3), np.uint8))
    model.save(path)
    content = dict(np.load(path))
    if damage == "missing":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"not a model at all")
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "other npz":
        np.savez(path, a=np.zeros(3))
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:-200])
    else:
        if damage == "version":
            content["bgsub_format"] = np.int64(99)
        elif damage == "no version":
            content["bgsub_format"] = np.float64("nan")
        elif damage == "shape":
            content["state_rho"] = np.zeros((2, 2), np.float32)
        elif damage == "header":
            content["header"] = np.str_("[1, 2")
        elif damage == "detector":
            content["header"] = np.str_(str(content["header"]).replace('"norma"', '"nothing"'))
        elif damage == "scalars":
            content["header"] = np.str_(str(content["header"]).replace('"scale"', '"scales"'))
        elif damage == "parameters":
            header = json.loads(str(content["header"])) | {"parameters": [["slots", 3]]}
            content["header"] = np.str_(json.dumps(header))
        np.savez(path, **content)
    with pytest.raises(ModelFileError, match="model") as caught:
        bgsub.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    model = quick("norma")
    model.apply(np.zeros((6, 8, 3), np.uint8))
    model.save(path)
    good = path.read_bytes()

    def full(*_args, **_named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(ModelFileError, match="No space left"):
        model.save(path)
    assert path.read_bytes() == good
    assert [item.name for item in tmp_path.iterdir()] == ["model.npz"]
    with pytest.raises(ModelFileError, match="cannot write the model"):
        model.save(tmp_path / "nowhere" / "model.npz")


def learned(name: str, **parameters: Any) -> bgsub.Detector:
    model = bgsub.create(name, threads=1, **parameters)
    generator = np.random.default_rng(0)
    for _ in range(3):
        model.apply(generator.integers(0, 255, (6, 8, 3), dtype=np.uint8))
    return model


def rewrite(model: bgsub.Detector, path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """Save a model whose arrays and header were changed."""
    model.save(path)
    content = dict(np.load(path))
    header = json.loads(str(content["header"]))
    change(content, header)
    np.savez(path, **(content | {"header": np.str_(json.dumps(header))}))
    return path


ARRAYS = [
    ("olk", "heads", 32),
    ("olk", "heads", 255),
    ("olk", "coefficients", np.nan),
    ("olk", "coefficients", -0.1),
    ("olk", "coefficients", 3e38),
    ("olk", "theta", -1),
    ("olk", "counts", -1),
    ("norma", "heads", 8),
    ("norma", "coefficients", np.inf),
    ("norma", "rho", np.nan),
    ("adaptive", "coefficients", np.nan),
    ("adaptive", "coefficients", 3e38),
    ("adaptive", "dominant", 2),
    ("adaptive", "width_factors", 0),
    ("adaptive", "width_factors", 65535),
    ("adaptive", "blink_rates", 0),
    ("adaptive", "previous_raw", 1),
    ("adaptive", "previous_mask", 254),
    ("adaptive", "static", 3),
]
SCALARS = [
    ("olk", "uniform", 2),
    ("olk", "pooled_theta", float("nan")),
    *(
        (name, scalar, value)
        for name in ("adaptive", "norma", "olk")
        for scalar, value in [
            ("scale", 0),
            ("scale", -1),
            ("scale", 2),
            ("scale", float("nan")),
            ("scale", float("inf")),
            ("scale", "1"),
            ("scale", None),
            ("scale", True),
            ("frames", -1),
            ("frames", 0.5),
            ("frames", 10**400),
        ]
    ),
    ("adaptive", "flooded", -1),
    ("adaptive", "threshold", 2),
]


@pytest.mark.parametrize(("name", "array", "value"), ARRAYS)
def test_one_array_value_that_no_run_leaves_is_refused(tmp_path: Path, name: str, array: str, value: float) -> None:
    def change(content: dict[str, Any], _header: dict[str, Any]) -> None:
        values = content[f"state_{array}"].reshape(-1)
        values[7 % values.size] = value

    path = rewrite(learned(name, **({"rho_rule": "quantile"} if name == "olk" else {})), tmp_path / "m.npz", change)
    with pytest.raises(ModelFileError, match=r"m.npz is not a valid model"):
        bgsub.load(path)


@pytest.mark.parametrize(("name", "scalar", "value"), SCALARS)
def test_scalar_that_no_run_leaves_is_refused(tmp_path: Path, name: str, scalar: str, value: object) -> None:
    def change(_content: dict[str, Any], header: dict[str, Any]) -> None:
        header["scalars"][scalar] = value

    path = rewrite(learned(name), tmp_path / "m.npz", change)
    with pytest.raises(ModelFileError, match=rf"m.npz is not a valid model .*'{scalar}'"):
        bgsub.load(path)


def test_next_slots_that_are_not_the_same_are_refused(tmp_path: Path) -> None:
    def change(content: dict[str, Any], _header: dict[str, Any]) -> None:
        content["state_heads"][3, 4] = 1

    with pytest.raises(ModelFileError, match="next slots"):
        bgsub.load(rewrite(learned("olk"), tmp_path / "m.npz", change))


def test_array_of_another_detector_is_refused(tmp_path: Path) -> None:
    def change(content: dict[str, Any], _header: dict[str, Any]) -> None:
        content["state_theta"] = np.zeros((6, 8), np.float32)

    with pytest.raises(ModelFileError, match="its arrays are"):
        bgsub.load(rewrite(learned("norma"), tmp_path / "m.npz", change))


def test_header_of_great_depth_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    learned("norma").save(path)
    np.savez(path, **(dict(np.load(path)) | {"header": np.str_("[" * 100_000)}))
    with pytest.raises(ModelFileError, match="its header is wrong"):
        bgsub.load(path)


def test_array_that_claims_more_memory_than_there_is_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.npz"
    learned("norma").save(path)

    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 93 GiB")

    monkeypatch.setattr(np, "load", exhausted)
    with pytest.raises(ModelFileError, match="needs more memory than there is"):
        bgsub.load(path)


@pytest.mark.parametrize("name", ["adaptive", "norma", "olk"])
def test_refused_state_leaves_the_model_that_was_to_take_it(tmp_path: Path, name: str) -> None:
    model = learned(name)
    model.save(tmp_path / "m.npz")
    before = {key: array.copy() for key, array in model.state.items()}
    saved = model_file.read(tmp_path / "m.npz")
    saved.arrays["coefficients"][:] = np.nan
    with pytest.raises(ValueError, match="'coefficients' are out of range"):
        model.restore(saved)
    for key, array in model.state.items():
        np.testing.assert_array_equal(array, before[key])
