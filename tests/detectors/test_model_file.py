"""Model files that are missing, damaged or foreign, and models that cannot be written."""

import numpy as np
import pytest

import bgsub
from bgsub.errors import ModelFileError
from tests.detectors.test_contract import quick


@pytest.mark.parametrize(
    "damage",
    ["missing", "garbage", "empty", "other npz", "version", "truncated", "shape", "header", "detector", "scalars"],
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
        elif damage == "shape":
            content["state_rho"] = np.zeros((2, 2), np.float32)
        elif damage == "header":
            content["header"] = np.str_("[1, 2")
        elif damage == "detector":
            content["header"] = np.str_(str(content["header"]).replace('"norma"', '"nothing"'))
        elif damage == "scalars":
            content["header"] = np.str_(str(content["header"]).replace('"scale"', '"scales"'))
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
