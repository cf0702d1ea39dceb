"""What reads a learner may run in any number of threads at once."""

import sys
import threading

import numpy as np
import pytest

from tests.learners.every import EVERY, MANY_CLASSES, fitted, kinds

MODELS = [*(pytest.param(model, False, id=repr(model)) for model in EVERY)]
MODELS += [pytest.param(model, True, id=f"three classes: {model!r}") for model in MANY_CLASSES]
READERS = ("predict", "decision_function", "score_samples")
READERS_OF_ONE = ("score_one", "predict_one", "value_one", "density_one")


@pytest.fixture(autouse=True)
def _switch_threads_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def wrong_calls(model, samples, threads, calls):
    """Read from several threads at once, each its own rows; return the number of calls with another result than alone.

    A part of the calls is for rows, the others are for one sample. All start together.
    """
    parts = [samples[i::threads] for i in range(threads)]
    readers = [name for name in READERS if hasattr(model, name)]
    singles = [name for name in READERS_OF_ONE if hasattr(model, name)]
    expected = [{name: getattr(model, name)(part) for name in readers} for part in parts]
    alone = [{name: [getattr(model, name)(x) for x in part] for name in singles} for part in parts]
    start, wrong = threading.Barrier(threads), [0] * threads

    def read(i):
        start.wait()
        for call in range(calls):
            if call % 20 == 0:
                name = readers[call // 20 % len(readers)]
                right = np.array_equal(getattr(model, name)(parts[i]), expected[i][name])
            else:
                name, k = singles[call % len(singles)], call % len(parts[i])
                right = np.array_equal(getattr(model, name)(parts[i][k]), alone[i][name][k])
            wrong[i] += not right

    running = [threading.Thread(target=read, args=(i,)) for i in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return sum(wrong)


def test_every_learner_is_there():
    assert {type(model) for model in EVERY} == set(kinds())


@pytest.mark.parametrize(("model", "many"), MODELS)
def test_four_threads_read_what_one_reads(model, many):
    model, samples = fitted(model, many)
    assert wrong_calls(model, samples, 4, 60) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("model", "many"), MODELS)
def test_two_thousand_calls_from_four_threads_are_right(model, many):
    model, samples = fitted(model, many)
    assert wrong_calls(model, samples, 4, 500) == 0


def test_the_first_threads_to_ask_a_least_squares_machine_get_the_same_answer():
    from bgsub.learners import KRLSRegressor

    samples = np.random.default_rng(0).normal(size=(300, 2))
    known = KRLSRegressor(sigma=0.2, nu=1e-9).fit(samples, samples[:, 0]).predict(samples)
    for _ in range(10):
        model = KRLSRegressor(sigma=0.2, nu=1e-9).fit(samples, samples[:, 0])
        start, found = threading.Barrier(4), []

        def read(model=model, start=start, found=found):
            start.wait()
            found.append(model.predict(samples))

        running = [threading.Thread(target=read) for _ in range(4)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        assert len(found) == 4
        for scores in found:
            np.testing.assert_array_equal(scores, known)
