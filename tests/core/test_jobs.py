"""Jobs in several processes: every result comes back, and the death of a process costs one job."""

import multiprocessing
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

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


def die_once(path):
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return "alive"
    os.kill(os.getpid(), signal.SIGKILL)
    return None


@pytest.mark.slow
def test_a_job_whose_process_dies_is_tried_once_more(tmp_path):
    assert list(run_jobs(die_once, [str(tmp_path / "mark")], processes=2)) == [(0, "alive")]
    assert (tmp_path / "mark").exists()


@pytest.mark.slow
def test_an_executor_runs_the_jobs_and_stays_open():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        results = dict(run_jobs(square, [1, 2, 3], executor=executor))
        assert results[0][0] == 1
        assert results[1][0] == 4
        assert str(results[2]) == "three is refused"
        with pytest.raises(ZeroDivisionError):
            list(run_jobs(stumble, [1], executor=executor))
        assert executor.submit(square, 5).result()[0] == 25


@pytest.mark.slow
def test_a_broken_executor_is_named():
    context = multiprocessing.get_context("spawn")
    refused = pytest.raises(WorkerDiedError, match="the executor takes no more jobs")
    with ProcessPoolExecutor(1, mp_context=context) as executor, refused:
        list(run_jobs(square, [4, 1], executor=executor))


def test_jobs_elsewhere_end_when_they_are_asked_to():
    with ThreadPoolExecutor(1) as executor:
        begin = time.monotonic()
        waiting = run_jobs(time.sleep, [0.5, 1, 30], executor=executor, stop=lambda: time.monotonic() - begin > 0.2)
        assert list(waiting) == []
        assert time.monotonic() - begin < 5
        executor.shutdown(wait=False, cancel_futures=True)


@pytest.mark.slow
def test_processes_end_with_the_one_who_gives_up():
    jobs = run_jobs(wait, [1, 2, 3], processes=2)
    begin = time.monotonic()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(2)
    with pytest.raises(KeyboardInterrupt):  # as Ctrl-C while it waits
        next(jobs)
    assert time.monotonic() - begin < 30
