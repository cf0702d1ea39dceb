"""Streams and measures of the published experiments on moving targets, novel digits and budgets."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.neighbors import NearestNeighbors

from bgsub.papers import streams
from tests.learners.files import learning_file


def test_the_density_of_a_mixture_is_that_of_its_normals():
    rng = np.random.default_rng(0)
    x, means, deviations = rng.normal(size=(50, 2)), rng.normal(size=(2, 2)), np.array([0.4, 0.9])
    expected = sum(norm.pdf(x, mean, sd).prod(axis=1) for mean, sd in zip(means, deviations, strict=True))
    found = np.exp(streams._log_density(x, means, deviations)) / (2 * np.pi)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_classes_that_switch_are_separable_and_change():
    samples, labels = streams.moving(3, True, 4000)
    assert samples.shape == (4000, 2)
    assert set(labels.tolist()) == {-1, 1}
    for start in range(0, 4000, 1000):
        part, side = samples[start : start + 1000], labels[start : start + 1000]
        _, nearest = NearestNeighbors(n_neighbors=2).fit(part).kneighbors(part)
        assert (side == side[nearest[:, 1]]).mean() > 0.98
        if start:
            _, nearest = NearestNeighbors(n_neighbors=1).fit(samples[start - 1000 : start]).kneighbors(part)
            assert (side == labels[start - 1000 : start][nearest[:, 0]]).mean() < 0.9


def test_classes_that_drift_change_slowly():
    samples, labels = streams.moving(3, False, 4000)

    def known_from(start, stop):
        _, nearest = NearestNeighbors(n_neighbors=1).fit(samples[start:stop]).kneighbors(samples[-100:])
        return (labels[-100:] == labels[start:stop][nearest[:, 0]]).mean()

    assert known_from(3800, 3900) > 0.95 > 0.9 > known_from(0, 100)


def test_unusualness_is_the_squared_distance_to_the_tenth_neighbour():
    rng = np.random.default_rng(1)
    known, others = rng.normal(size=(700, 5)), rng.normal(size=(30, 5))
    trees = NearestNeighbors(n_neighbors=11).fit(known)
    np.testing.assert_allclose(streams.unusualness(others, known), trees.kneighbors(others)[0][:, 9] ** 2, rtol=1e-9)
    np.testing.assert_allclose(streams.unusualness(known, known), trees.kneighbors(known)[0][:, 10] ** 2, rtol=1e-9)


@pytest.mark.slow
def test_margins_help_on_targets_that_move():
    rows = list(streams.tracking(learning_file("usps.npz").parent))
    assert [row.verdict for row in rows] == ["holds"] * 4


@pytest.mark.slow
def test_what_is_flagged_on_the_way_is_not_what_is_ranked_last():
    left, middle, right = streams.novel_digits(learning_file("usps.npz").parent)
    assert left.verdict.startswith("**fails**: by chance half of them are")
    assert (middle.verdict, right.verdict) == ("holds", "holds")
