"""Times of a camera whose stream or whose computer's clock jumps."""

import datetime

import pytest

from bgsub.watching.cameras.clocks import Clocks

NOON = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.UTC)


def later(seconds: float) -> datetime.datetime:
    return NOON + datetime.timedelta(seconds=seconds)


def begin(clocks: Clocks, *, live: bool = True, path: str | None = None) -> None:
    clocks.begin("yard", live=live, size=(120, 160), rate_hz=10.0, path=path)


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0, 5.0, -5.0])
def test_a_clock_that_is_set_begins_a_stretch_and_changes_no_duration(jump_s):
    clocks = Clocks()
    begin(clocks)
    times = [clocks.see(0.1 * i, later(0.1 * i + (jump_s if i >= 30 else 0.0))) for i in range(60)]
    assert times == pytest.approx([0.1 * i for i in range(60)])
    assert clocks.stretch == 1
    before, after = clocks.report(0), clocks.report(1)
    assert before.clock == NOON
    assert after.clock == later(3 + jump_s)
    assert after.first_s == pytest.approx(3.0)


def test_a_clock_that_drifts_or_frames_that_come_late_are_no_jump():
    clocks = Clocks()
    begin(clocks)
    for i in range(100):
        clocks.see(0.1 * i, later(0.1 * i + (1.5 if i % 7 == 0 else 0.0)))
    assert clocks.stretch == 0


def test_a_stream_whose_times_go_back_loses_those_frames_alone():
    clocks = Clocks()
    begin(clocks)
    assert [clocks.see(time_s, later(time_s)) for time_s in (0.0, 0.5, 0.3, 0.5, 0.6)] == [0.0, 0.5, None, None, 0.6]


@pytest.mark.parametrize(("pause_s", "expected_s"), [(10.0, 10.0), (-3600.0, 0.1), (0.0, 0.1)])
def test_a_camera_that_is_back_goes_on_after_the_pause_even_if_the_clock_was_set_back(pause_s, expected_s):
    clocks = Clocks()
    begin(clocks)
    clocks.see(100.0, NOON)
    begin(clocks)  # the new connection counts its times from 0
    assert clocks.see(0.0, later(pause_s)) == pytest.approx(100.0 + expected_s)
    assert clocks.see(0.1, later(pause_s + 0.1)) == pytest.approx(100.1 + expected_s)


def test_segments_whose_names_go_back_in_time_follow_each_other():
    clocks = Clocks()
    begin(clocks, live=False, path="yard_20261122_120000.mp4")
    clocks.see(0.0, NOON)
    clocks.see(9.9, NOON)
    begin(clocks, live=False, path="yard_20261122_110010.mp4")  # the end of summer time
    assert clocks.see(0.0, NOON) == pytest.approx(10.0)
    begin(clocks, live=False, path="yard_20261122_110120.mp4")
    assert clocks.see(0.0, NOON) == pytest.approx(80.0)


def test_only_the_newest_stretches_are_remembered():
    clocks = Clocks()
    begin(clocks)
    for i in range(5000):
        clocks.see(0.1 * i, later(100.0 * i))
    assert clocks.stretch == 4999
    assert clocks.report(0).clock == clocks.report(5000 - 4096).clock  # the oldest that is left
