"""Data sets for learners, which are not part of the repository."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from tests.data import shared_data


def learning_file(name: str) -> Path:
    """Return the path of a data set, or skip the test."""
    path = shared_data() / "learning" / name
    if not path.is_file():
        pytest.skip(f"no {path}")
    return path


def adult() -> tuple[np.ndarray, np.ndarray]:
    """Return a9a: 32561 samples, 123 features."""
    samples, labels = load_svmlight_file(str(learning_file("a9a.gz")), n_features=123)
    return samples.toarray(), labels.astype(int)


def german() -> tuple[np.ndarray, np.ndarray]:
    """Return german.numer: 1000 samples, 24 features in [-1, 1]."""
    samples, labels = load_svmlight_file(str(learning_file("german.numer")))
    return samples.toarray(), labels.astype(int)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the training part of USPS, pixels in [0, 1]."""
    data = np.load(learning_file("usps.npz"))
    return data["x_train"].astype(np.float64), data["y_train"]
