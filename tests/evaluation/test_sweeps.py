"""Sweeps over settings, and validation with a group left out."""

import math

import pytest

from bgsub.evaluation import Counts, Report, Row, grid, leave_one_out, leave_one_out_search, sample_settings


def row(model, sequence, f, family="", category="c"):
    """A row with an F of so many hundredths."""
    tp = round(100 * f)
    return Row(model, category, sequence, Counts(tp, 100 - tp, 100 - tp, 1000), 10, 10, 1.0, 1.0, None, family=family)


def test_a_grid_has_all_combinations():
    methods = grid("norma:slots=4", {"nu": ["0.2", "0.4"], "width": ["10", "20", "30"]})
    assert len({method.label for method in methods}) == 6
    assert {(m.config.parameters["nu"], m.config.parameters["width"]) for m in methods} == {
        (nu, width) for nu in (0.2, 0.4) for width in (10.0, 20.0, 30.0)
    }
    with pytest.raises(ValueError, match="nu must be a number"):
        grid("norma", {"nu": ["0.2", "4"]})


def test_random_settings_are_valid_different_and_the_same_again():
    methods = sample_settings("adaptive:slots=4", 30, seed=1)
    assert len({method.label for method in methods}) == 30
    assert methods[0].label == "adaptive:slots=4"
    assert all(method.config.parameters["slots"] == 4 for method in methods)
    assert len({method.config.parameters["smoothing"] for method in methods[1:]}) > 5
    assert [m.label for m in sample_settings("adaptive:slots=4", 30, seed=1)] == [m.label for m in methods]
    assert [m.label for m in sample_settings("adaptive:slots=4", 30, seed=2)] != [m.label for m in methods]
    few = sample_settings("adaptive", 5, over=["width", "fill"])
    assert all(set(method.config.parameters) == {"width", "fill"} for method in few[1:])
    with pytest.raises(ValueError, match="has no parameter 'wide'"):
        sample_settings("adaptive", 5, over=["wide"])


def test_the_setting_is_chosen_without_the_group_that_it_is_scored_on():
    # "b" is best on x and z, "a" on y; without y, "b" is chosen, and its F on y is the one that counts.
    table = {
        "first": {"x": 0.5, "y": 0.5, "z": 0.5},
        "a": {"x": 0.1, "y": 0.9, "z": 0.4},
        "b": {"x": 0.8, "y": 0.2, "z": 0.7},
    }
    report = Report([row(model, s, f, family=s) for model, fs in table.items() for s, f in fs.items()])
    result = leave_one_out(report)
    folds = {fold.group: (fold.chosen, fold.outside, fold.default) for fold in result.folds}
    assert folds["y"] == ("b", pytest.approx(0.2), pytest.approx(0.5))
    assert folds["x"][0] == "a"  # (0.9 + 0.4) / 2 is more than 0.5 and (0.2 + 0.7) / 2
    assert folds["z"][0] == "first"  # ties go to the first: a, b and first have 0.5
    assert result.default == pytest.approx(0.5)
    assert result.outside < result.inside
    assert "y" in result.to_table()


def test_groups_count_alike_however_many_videos_they_have():
    rows = [row("first", f"v{i}", 0.9, family="many") for i in range(9)] + [row("first", "w", 0.1, family="one")]
    rows += [row("a", f"v{i}", 0.5, family="many") for i in range(9)] + [row("a", "w", 0.8, family="one")]
    rows += [row("first", "u", 0.4, family="out"), row("a", "u", 0.6, family="out")]
    fold = {fold.group: fold for fold in leave_one_out(Report(rows)).folds}["out"]
    assert (fold.chosen, fold.inside, fold.outside) == ("a", pytest.approx(0.65), pytest.approx(0.6))


def test_videos_without_an_f_count_nowhere():
    empty = Row("m", "c", "s", Counts(tn=5), 1, 1, 1.0, 1.0, None, family="still")
    result = leave_one_out(Report([empty, row("m", "t", 0.5, family="x"), row("m", "u", 0.7, family="y")]))
    assert math.isnan({fold.group: fold.outside for fold in result.folds}["still"])
    assert result.outside == pytest.approx(0.6)


def test_wrong_reports():
    with pytest.raises(ValueError, match="at least two groups"):
        leave_one_out(Report([row("m", "s", 0.5, family="x")]))
    rows = [row("m", "s", 0.5, family="x"), row("m", "t", 0.5, family="y"), row("n", "s", 0.5, family="x")]
    with pytest.raises(ValueError, match="n lacks c/t"):
        leave_one_out(Report(rows))


class Video:
    def __init__(self, name, family):
        self.name, self.family, self.category, self.identity = name, family, "c", f"c/{name}"


def test_halving_finds_the_best_with_fewer_runs_and_never_looks_at_what_is_left_out():
    videos = [Video(f"{family}{i}", family) for family in "pqrs" for i in range(3)]
    methods = sample_settings("norma", 27, seed=0)
    quality = {method.label: (0.3 + 0.02 * (index * 7 % 27)) for index, method in enumerate(methods)}
    best = max(quality, key=quality.get)
    runs, folds = set(), []

    def run(some, shown):
        folds.append({video.family for video in shown})
        runs.update((method.label, video.identity) for method in some for video in shown)
        return Report(
            [
                row(m.label, v.name, quality[m.label] - 0.1 * (v.family == "p"), family=v.family)
                for m in some
                for v in shown
            ]
        )

    result = leave_one_out_search(methods, videos, run, by="family")
    assert [fold.chosen for fold in result.folds] == [best] * 4
    assert len(runs) < 0.6 * 27 * 12
    assert [fold.outside for fold in result.folds] == pytest.approx(
        [round(100 * (quality[best] - 0.1 * (group == "p"))) / 100 for group in "pqrs"]
    )
    for families in folds:  # while it searches a family is missing; scored is that one alone
        assert len(families) <= 3
