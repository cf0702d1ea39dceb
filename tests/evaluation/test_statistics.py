"""Intervals have the coverage they claim, and agree with slow loops that share no code with them."""

import itertools
import math
import random
import statistics

import numpy as np
import pytest

from bgsub.evaluation import Report, bootstrap_mean, compare, compare_by_family, mean_intervals
from bgsub.evaluation.reports.statistics import FEWEST_VIDEOS, _acceleration, _bca, _resampled_means
from tests.evaluation.reports.made_reports import make_report, make_row


def slow_bca(values, groups, level, resamples, seed):
    """The interval by the formulas of Efron (1987), one resample at a time, with Python's generator."""
    draw = random.Random(seed)  # noqa: S311
    parts = {}
    for value, group in zip(values, groups, strict=True):
        parts.setdefault(group, []).append(value)
    parts = list(parts.values())
    means = []
    for _ in range(resamples):
        drawn = []
        for _ in parts:
            part = draw.choice(parts)
            drawn += [draw.choice(part) for _ in part]
        means.append(statistics.fmean(drawn))
    means.sort()
    mean, normal = statistics.fmean(values), statistics.NormalDist()
    bias = normal.inv_cdf(sum(each < mean for each in means) / resamples)
    without = []
    for index in range(len(parts)):
        kept = [value for other, part in enumerate(parts) if other != index for value in part]
        without.append(statistics.fmean(kept))
    centre = statistics.fmean(without)
    skew = sum((centre - each) ** 3 for each in without) / (6 * sum((centre - each) ** 2 for each in without) ** 1.5)
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(share)
        ends.append(means[round(normal.cdf(bias + z / (1 - skew * z)) * (resamples - 1))])
    return ends


class TestBootstrapMean:
    @pytest.mark.parametrize("level", [0.8, 0.95])
    def test_videos_drawn_singly_agree_with_a_slow_loop(self, level):
        values = np.random.default_rng(1).beta(4, 1, 20)
        estimate = bootstrap_mean(values, level=level)
        expected = slow_bca(values.tolist(), range(20), level, 10_000, 5)
        assert estimate.mean == pytest.approx(values.mean())
        assert [estimate.low, estimate.high] == pytest.approx(expected, abs=0.05 * values.std())

    def test_videos_drawn_with_their_families_agree_with_a_slow_loop(self):
        rng = np.random.default_rng(2)
        groups = [0] * 2 + [1] * 9 + [2] * 4 + [3] * 5 + [4]
        values = rng.normal(0, 1, 5)[groups] + rng.normal(0, 1, len(groups))
        estimate = bootstrap_mean(values, groups=groups)
        expected = slow_bca(values.tolist(), groups, 0.95, 10_000, 5)
        assert [estimate.low, estimate.high] == pytest.approx(expected, abs=0.05)
        alone = bootstrap_mean(values)
        assert estimate.high - estimate.low > alone.high - alone.low

    def test_ends_are_those_of_all_resamples(self):
        values = [0.0, 0.0, 0.0, 1.0, 6.0]
        every = [sum(drawn) / 5 for drawn in itertools.product(values, repeat=5)]
        below = (sum(mean < 1.4 for mean in every) + sum(mean == 1.4 for mean in every) / 2) / len(every)
        assert below == pytest.approx(0.54368)  # of the resamples 17 % have exactly the mean of the sample
        normal, deviations = statistics.NormalDist(), [value - 1.4 for value in values]
        skew = sum(d**3 for d in deviations) / (6 * sum(d**2 for d in deviations) ** 1.5)
        bias = normal.inv_cdf(below)
        parts = [np.array([value]) for value in values]
        assert _acceleration(parts) == pytest.approx(skew)
        for level in (0.5, 0.8, 0.95):
            ends = _bca(1.4, np.array(every), skew, level)
            for share, end in zip(((1 - level) / 2, (1 + level) / 2), ends, strict=True):
                z = bias + normal.inv_cdf(share)
                assert end == pytest.approx(np.quantile(every, normal.cdf(bias + z / (1 - skew * z))))
        drawn = _resampled_means(parts, 40_000, np.random.default_rng(0))
        for mean in set(every):
            assert np.mean(np.isclose(drawn, mean)) == pytest.approx(every.count(mean) / len(every), abs=0.01)

    @pytest.mark.parametrize(("count", "least"), [(15, 0.90), (40, 0.92)])
    def test_intervals_cover_the_mean_as_often_as_claimed(self, count, least):
        covered = 0
        for trial in range(400):
            values = np.random.default_rng(trial).beta(4, 2, count)  # skewed, as F is
            estimate = bootstrap_mean(values, resamples=1000, seed=trial)
            covered += estimate.low <= 4 / 6 <= estimate.high
        assert least <= covered / 400 <= 0.98

    def test_intervals_over_families_cover_the_mean_where_single_videos_do_not(self):
        covered = alone = 0
        groups = np.repeat(np.arange(10), 5)
        for trial in range(400):
            rng = np.random.default_rng(trial)
            values = np.repeat(rng.normal(size=10), 5) + rng.normal(size=50)
            estimate = bootstrap_mean(values, groups=groups, resamples=500, seed=trial)
            covered += estimate.low <= 0 <= estimate.high
            estimate = bootstrap_mean(values, resamples=500, seed=trial)
            alone += estimate.low <= 0 <= estimate.high
        assert 0.90 <= covered / 400 <= 0.98
        assert alone / 400 < 0.80

    def test_the_seed_decides(self):
        values = np.random.default_rng(0).random(30)
        assert bootstrap_mean(values) == bootstrap_mean(values)
        assert bootstrap_mean(values) != bootstrap_mean(values, seed=1)

    def test_one_group_is_none_and_groups_of_one_are_none(self):
        values = np.random.default_rng(0).random(30)
        assert bootstrap_mean(values, groups=["a"] * 30) == bootstrap_mean(values)
        assert bootstrap_mean(values, groups=range(30)) == bootstrap_mean(values)

    def test_few_videos_have_no_interval_and_equal_ones_an_interval_of_no_width(self):
        few = bootstrap_mean([0.5] * (FEWEST_VIDEOS - 1) + [math.nan])
        assert (few.mean, few.videos) == (0.5, FEWEST_VIDEOS - 1)
        assert math.isnan(few.low)
        assert math.isnan(few.high)
        nothing = bootstrap_mean([math.nan])
        assert math.isnan(nothing.mean)
        assert nothing.videos == 0
        equal = bootstrap_mean([0.1] * 10)
        assert (equal.low, equal.high) == pytest.approx((0.1, 0.1))

    def test_wrong_arguments_are_refused(self):
        with pytest.raises(ValueError, match=r"level must be in \(0, 1\), got 1"):
            bootstrap_mean([1.0], level=1)
        with pytest.raises(ValueError, match="resamples must be at least 1, got 0"):
            bootstrap_mean([1.0], resamples=0)
        with pytest.raises(ValueError, match="groups must have one entry per value, 1, got 2"):
            bootstrap_mean([1.0], groups=[1, 2])


class TestComparisons:
    def test_wins_and_differences_by_hand(self):
        tp = {"one": [80, 60, 50, 70, 90, 30], "two": [70, 60, 60, 40, 50, 20]}
        rows = [make_row(m, f"a/{i}", n, 0, 100 - n) for m, counts in tp.items() for i, n in enumerate(counts)]
        rows.append(make_row("one", "a/only here", 1, 0, 99))
        pair = compare(Report(rows), "one", "two", "recall")
        assert (pair.wins, pair.losses, pair.ties, pair.difference.videos) == (4, 1, 1, 6)
        assert pair.difference.mean == pytest.approx((0.1 + 0 - 0.1 + 0.3 + 0.4 + 0.1) / 6)
        assert pair.difference.low < pair.difference.mean < pair.difference.high
        assert str(pair).startswith("one better than two on 4 of 6 videos, mean difference +0.133 [")
        other = compare(Report(rows), "two", "one", "recall")
        assert (other.wins, other.difference.mean) == (1, -pair.difference.mean)
        errors = compare(Report(rows), "one", "two", "fnr")
        assert errors.wins == 4
        assert errors.difference.mean == pytest.approx(-pair.difference.mean)

    def test_failed_videos_are_left_out(self):
        rows = [make_row(model, f"a/{video}", 50, 1, 50) for model in ("one", "two") for video in range(3)]
        rows.append(make_row("one", "a/x", 50, 1, 50))
        rows.append(make_row("two", "a/x", 50, 1, 50, error="cannot read"))
        pair = compare(Report(rows), "one", "two")
        assert (pair.ties, pair.difference.videos) == (3, 3)
        assert str(pair) == "one better than two on 0 of 3 videos, mean difference +0.000"

    def test_a_difference_may_be_clear_where_the_intervals_of_the_means_overlap(self):
        rng = np.random.default_rng(0)
        rows = []
        for video, tp in enumerate(rng.integers(20, 90, 20).tolist()):
            gain = int(rng.integers(1, 6))
            rows.append(make_row("one", f"a/{video}", tp + gain, 0, 100 - tp - gain))
            rows.append(make_row("two", f"a/{video}", tp, 0, 100 - tp))
        report = Report(rows)
        means = mean_intervals(report)
        assert means["one"].low < means["two"].high
        assert compare(report, "one", "two").difference.low > 0

    def test_families_are_compared_one_by_one(self):
        report = make_report(videos=24, categories=3)
        pairs = compare_by_family(report, "adaptive", "mog2")
        assert [pair.family for pair in pairs] == ["c0", "c1", "c2"]
        assert [pair.difference.videos for pair in pairs] == [8, 8, 8]
        everything = compare(report, "adaptive", "mog2")
        assert sum(pair.wins for pair in pairs) == everything.wins
        assert everything.difference.mean == pytest.approx(np.mean([pair.difference.mean for pair in pairs]))
        assert compare_by_family(make_report(family=""), "adaptive", "mog2") == []

    def test_means_are_those_of_the_report(self):
        report = make_report()
        for model, estimate in mean_intervals(report, "pwc").items():
            assert estimate.mean == pytest.approx(report.means(model)[-1].measures["pwc"])
            assert estimate.low < estimate.mean < estimate.high

    def test_wrong_names_are_refused(self):
        with pytest.raises(ValueError, match="model must be one of adaptive, mog2, got knn"):
            compare(make_report(), "adaptive", "knn")
        with pytest.raises(ValueError, match=r"measure must be one of recall, .*, got speed"):
            mean_intervals(make_report(), "speed")
        with pytest.raises(ValueError, match="measure must be one with an arithmetic mean, got ms"):
            compare(make_report(), "adaptive", "mog2", "ms")
