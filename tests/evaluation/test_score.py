"""Masks of any program get the measures that an independent loop computes from their definitions."""

import math

import cv2  # noqa: TID251 - files as a user would have them
import numpy as np
import pytest

from bgsub.errors import DatasetError
from bgsub.evaluation import RunOptions, evaluate_methods, find_sequences, parse_method, score_masks
from tests.evaluation.made import moving, write_moving


def measures_by_definition(masks, labels, roi):
    """The seven measures of changedetection.net, pixel by pixel."""
    tp = fp = fn = tn = 0
    for mask, truth in zip(masks, labels, strict=True):
        for y in range(truth.shape[0]):
            for x in range(truth.shape[1]):
                if truth[y, x] in (85, 170) or not roi[y, x]:
                    continue
                if mask[y, x]:
                    tp, fp = (tp + 1, fp) if truth[y, x] == 255 else (tp, fp + 1)
                else:
                    fn, tn = (fn + 1, tn) if truth[y, x] == 255 else (fn, tn + 1)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return {
        "recall": recall,
        "specificity": tn / (tn + fp),
        "fpr": fp / (fp + tn),
        "fnr": fn / (tp + fn),
        "pwc": 100 * (fn + fp) / (tp + fn + fp + tn),
        "f_measure": 2 * precision * recall / (precision + recall),
        "precision": precision,
    }


def write_masks(folder, masks, *, first=1, suffix=".png", scale=255):
    folder.mkdir(parents=True)
    for i, mask in enumerate(masks):
        assert cv2.imwrite(str(folder / f"bin{first + i:06d}{suffix}"), (mask * np.uint8(scale)).astype(np.uint8))


@pytest.fixture
def tree(tmp_path):
    folder = write_moving(tmp_path / "data" / "baseline" / "square", count=12, interval=(4, 12))
    roi = np.full((48, 64), 255, np.uint8)
    roi[:12, :20] = 0
    assert cv2.imwrite(str(folder / "ROI.bmp"), roi)
    random = np.random.default_rng(3)
    labels = moving(12)
    masks = np.where(random.random(labels.shape) < 0.1, labels != 255, labels == 255)
    return tmp_path / "data", labels, masks, roi


def test_measures_agree_with_their_definitions(tree, tmp_path):
    data, labels, masks, roi = tree
    write_masks(tmp_path / "mine" / "baseline" / "square", masks)
    report, failures = score_masks(find_sequences(data), tmp_path / "mine")
    (row,) = report.rows
    expected = measures_by_definition(masks[3:], labels[3:], roi)
    for name, value in row.counts.measures().items():
        assert value == pytest.approx(expected[name], abs=1e-12)
    assert (row.model, row.scored, failures) == ("mine", 9, [])
    assert math.isnan(row.model_hz)


@pytest.mark.parametrize(("suffix", "scale"), [(".png", 1), (".bmp", 255), (".jpg", 255)])
def test_files_of_other_programs(tree, tmp_path, suffix, scale):
    data, labels, *_ = tree
    calm = labels == 255  # edges of single pixels do not survive JPEG
    write_masks(tmp_path / "reference" / "square", calm)
    write_masks(tmp_path / "other" / "square", calm, suffix=suffix, scale=scale)
    sequences = find_sequences(data)
    expected, got = (score_masks(sequences, tmp_path / name)[0].rows[0].counts for name in ("reference", "other"))
    assert got.f_measure == pytest.approx(expected.f_measure, abs=0.02 if suffix == ".jpg" else 0)
    assert expected.f_measure == 1


def test_grey_in_a_lossless_mask_is_background(tree, tmp_path):
    data, labels, *_ = tree
    write_masks(tmp_path / "shadows" / "square", np.ones_like(labels), scale=127)
    assert score_masks(find_sequences(data), tmp_path / "shadows")[0].rows[0].counts.tp == 0


def test_the_masks_that_evaluate_keeps_get_the_score_that_it_gave(tmp_path):
    for seed in range(2):
        write_moving(tmp_path / "data" / "made" / f"s{seed}", seed=seed)
    sequences = find_sequences(tmp_path / "data")
    options = RunOptions(threads=1, results=tmp_path / "res")
    report, _ = evaluate_methods(sequences, [parse_method("norma:warmup=5")], options=options)
    again, _ = score_masks(sequences, tmp_path / "res")
    assert [row.counts for row in again.rows] == [row.counts for row in report.rows]
    assert report.rows[0].counts.tp > 100
    first = tmp_path / "res" / "made" / "s0" / "bin000001.png"
    assert cv2.imread(str(first), cv2.IMREAD_UNCHANGED).shape == (48, 64)
    assert len(list(first.parent.iterdir())) == 30


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "bin000005.png").unlink(), "no mask of frame 5 of baseline/square, 1 are missing"),
        (lambda f: (f / "bin000005.png").write_bytes(b"no image"), "bin000005.png is not a readable image"),
        (lambda f: (f / "x5.png").write_bytes(b""), "two images of number 5"),
        (lambda f: f.rename(f.parent / "other"), "no masks of baseline/square"),
        (
            lambda f: cv2.imwrite(str(f / "bin000006.png"), np.zeros((5, 5), np.uint8)),
            "must have the size of its frame",
        ),
    ],
)
def test_what_is_wrong_is_named_or_left_out(tree, tmp_path, damage, message):
    data, _, masks, _ = tree
    write_moving(data / "baseline" / "two", count=12)
    for name in ("square", "two"):
        write_masks(tmp_path / "mine" / "baseline" / name, masks)
    damage(tmp_path / "mine" / "baseline" / "square")
    with pytest.raises(DatasetError, match=message):
        score_masks(find_sequences(data), tmp_path / "mine")
    report, failures = score_masks(find_sequences(data), tmp_path / "mine", keep_going=True)
    assert [row.sequence for row in report.rows] == ["two"]
    assert [failure.sequence for failure in failures] == ["baseline/square"]
