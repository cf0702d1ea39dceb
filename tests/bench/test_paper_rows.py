"""Verdicts of the page of published numbers: what is off is said to be off."""

import pytest

from bgsub.papers.rows import claimed, counted, measured


@pytest.mark.parametrize(
    ("published", "values", "given", "verdict"),
    [
        ("10.0", [10.1, 9.9, 10.2], {}, "within chance"),
        ("10.0", [10.5, 10.5, 10.6], {}, "**missed by +0.53**: order"),
        ("10.0", [11.0, 11.0], {"spread": 1.2}, "within the published spread"),
        ("10.0", [11.4, 11.4], {"spread": 1.2}, "**missed by +1.4**: order"),
        ("10.0", [10.4, 10.4], {"interval": 0.4}, "within chance"),
        ("10.0", [10.6, 10.6], {"interval": 0.4}, "**missed by +0.6**: order"),
        ("10.0", [8.0, 12.0, 12.0, 8.0, 13.0], {"published_runs": 1000}, "within chance"),
        ("0.25", 0.254, {}, "as published"),
        ("0.25", 0.257, {}, "**missed by +0.007**: order"),
        ("0.25", 0.257, {"read_off": 0.01}, "as published"),
        ("-0.04", [0.5, 0.52], {}, "**missed by +0.55**: order"),
    ],
)
def test_a_number_is_compared_with_the_published_one(published, values, given, verdict):
    assert measured("S0", "what", published, values, because="order", **given).verdict == verdict


def test_a_mean_of_many_runs_has_less_room_than_a_single_one():
    runs = [1.0, 2.0, 3.0, 2.0] * 8
    assert measured("S0", "what", "3.0", runs).verdict == "within chance"
    assert measured("S0", "what", "3.0", runs, published_runs=30).verdict.startswith("**missed by -1**: we do not know")


def test_claims_fail_and_counts_differ():
    assert claimed("S0", "what", "A below B", "2, 1", False, "why").verdict == "**fails**: why"
    assert claimed("S0", "what", "A below B", "1, 2", True, "why").verdict == "holds"
    assert counted("X0", "what", "-", "7", "8", False).verdict == "**differs from** a plain loop: 8"
