"""Jobs in several processes: every result comes back, and the death of a process costs one job."""

import os
import signal
import time

import pytest

from bgsub._lab.jobs import WorkerDiedError, run_jobs
from bgsub.errors import BgsubError


def square(number):
    if number == 3:
        raise BgsubError("three is refused")
    if number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number, os.getpid()


def stumble(number):
    raise ZeroDivisionError(number)


def wait(number):
    time.sleep(60)
    return number


def test_one_process_runs_here_and_in_order():
    results = list(run_jobs(square, [2, 1, 3]))
    assert [index for index, _ in results] == [0, 1, 2]
    assert results[0][1] == (4, os.getpid())
    assert isinstance(results[2][1], BgsubError)


@pytest.mark.slow
def test_a_process_that_dies_costs_one_job():
    results = dict(run_jobs(square, list(range(8)), processes=2))
    assert sorted(results) == list(range(8))
    assert isinstance(results[4], WorkerDiedError)
    assert str(results[3]) == "three is refused"
    good = [results[index] for index in (0, 1, 2, 5, 6, 7)]
    assert [value for value, _ in good] == [0, 1, 4, 25, 36, 49]
    assert os.getpid() not in {process for _, process in good}


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_defect_is_raised(processes):
    with pytest.raises(ZeroDivisionError):
        list(run_jobs(stumble, [1, 2], processes))


@pytest.mark.slow
def test_processes_end_with_the_one_who_gives_up():
    jobs = run_jobs(wait, [1, 2, 3], processes=2)
    begin = time.monotonic()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(2)
    with pytest.raises(KeyboardInterrupt):  # as Ctrl-C while it waits
        next(jobs)
    assert time.monotonic() - begin < 30
