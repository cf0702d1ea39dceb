"""Data and measures of the published experiments on OLK."""

import numpy as np
import pytest

from bgsub import learners as bl
from bgsub.papers import olk, olk_figures


def test_example_1_has_the_best_possible_error_of_the_page():
    errors = [100 * (x.sum(axis=1) * y <= 0).mean() for x, y in map(olk.two_classes, range(10))]
    assert np.mean(errors) == pytest.approx(7.86, abs=3 * np.std(errors, ddof=1) / np.sqrt(10))


def test_the_steps_of_the_perceptron_fall_as_published():
    x, y = olk.two_classes(0)
    model = olk._learn("perceptron", bl.Perceptron(unit=False), x[:300], y[:300])
    weights = np.zeros(3)
    for t, (row, label) in enumerate(zip(x[:300], y[:300], strict=True), 1):
        sample = np.append(row, 1.0)
        if label * (weights @ sample) <= 0:
            weights += np.exp(-t / 50) * label * sample
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), weights, rtol=1e-12)


def test_a_threshold_drops_the_vectors_that_a_plain_loop_drops(monkeypatch):
    monkeypatch.setattr(olk, "RUNS", 1)
    x, y = olk.two_classes(0)
    kept, coefficients = np.empty((0, 2)), np.empty(0)
    counts = []
    for t, (sample, label) in enumerate(zip(x[:500], y[:500], strict=True), 1):
        f = coefficients @ np.exp(-((kept - sample) ** 2).sum(axis=1) / 1.2**2)
        alpha = np.clip(1.01 - label * f, 0, 0.8)
        coefficients = np.append(coefficients, label * alpha) / 1.01
        kept = np.vstack([kept, sample])
        large = np.abs(coefficients) >= 0.01
        kept, coefficients = kept[large], coefficients[large]
        if t % 100 == 0:
            counts.append(len(kept))
    found = olk.class_vectors.__wrapped__(0.01, 0.01)
    assert found[0, :5].tolist() == counts


def test_rare_samples_are_a_twentieth_about_the_other_centre():
    x, novel = olk.rare(0, 20000)
    assert novel.mean() == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 20000))
    np.testing.assert_allclose(x[novel].mean(axis=0), -2, atol=0.1)
    np.testing.assert_allclose(x[~novel].mean(axis=0), 2, atol=0.05)


@pytest.mark.slow
def test_the_plots_of_olk_are_written(monkeypatch, tmp_path):
    """With few runs and sizes; nothing that is kept from them is seen by others."""
    for name in ("class_vectors", "classifier_errors", "classifier_times", "regression_errors"):
        monkeypatch.setattr(olk, name, getattr(olk, name).__wrapped__)
    monkeypatch.setattr(olk, "RUNS", 1)
    monkeypatch.setattr(olk, "SIZES", (50, 100))
    monkeypatch.setattr(olk, "CURVE_SIZES", (10, 50))
    olk_figures.draw_olk(tmp_path)
    written = {path.name: path.read_bytes()[:4] for path in tmp_path.iterdir()}
    assert written == dict.fromkeys(("vectors.png", "classes.png", "fits.png", "roc.png"), b"\x89PNG")
