"""Several learners on one stream, live: the decision function and the mistakes of each; no Qt."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.gui.learners_page.streams import STREAMS, Kind, Sample, Stream
from bgsub.learners import (
    ALMAClassifier,
    ForgetronClassifier,
    KernelPerceptron,
    KRLSRegressor,
    NORMAClassifier,
    NORMANovelty,
    NORMARegressor,
    OLKClassifier,
    OLKNovelty,
    OLKRegressor,
    PassiveAggressiveKernel,
    ProjectronClassifier,
    RBPClassifier,
    SVMDClassifier,
    SVMDNovelty,
    SVMDRegressor,
)

__all__ = ["METHODS", "LearnerView", "LearningThread", "Method", "Race", "RaceView", "Setup"]


@dataclass(frozen=True, slots=True)
class Method:
    """One learner to compare."""

    id: str
    label: str
    make: Callable[[float], Any]
    """Makes the learner for a width sigma of the Gaussian kernel."""


def _by_id(*methods: Method) -> dict[str, Method]:
    return {method.id: method for method in methods}


METHODS: dict[Kind, dict[str, Method]] = {
    Kind.CLASSES: _by_id(
        Method("norma", "NORMA", lambda sigma: NORMAClassifier(sigma=sigma, eta=0.2, lam=0.05, budget=200)),
        Method("olk", "OLK", lambda sigma: OLKClassifier(sigma=sigma, r=0.01, budget=200)),
        Method("perceptron", "Perceptron", lambda sigma: KernelPerceptron(sigma=sigma, budget=200)),
        Method("pa-1", "PA-I", lambda sigma: PassiveAggressiveKernel(sigma=sigma, C=0.5, budget=200)),
        Method("projectron", "Projectron", lambda sigma: ProjectronClassifier(sigma=sigma)),
        Method("forgetron", "Forgetron", lambda sigma: ForgetronClassifier(sigma=sigma, budget=100)),
        Method("rbp", "RBP", lambda sigma: RBPClassifier(sigma=sigma, budget=100, random_state=0)),
        Method("alma", "ALMA", lambda sigma: ALMAClassifier(sigma=sigma, budget=200)),
        Method("svmd", "SVMD", lambda sigma: SVMDClassifier(sigma=sigma, lam=0.05, budget=200)),
    ),
    Kind.NOVELTY: _by_id(
        Method("norma", "NORMA", lambda sigma: NORMANovelty(sigma=sigma, nu=0.07, budget=300)),
        Method("olk-n", "OLK_N", lambda sigma: OLKNovelty(sigma=sigma, nu=0.07, r=0.004, budget=300)),
        Method("svmd", "SVMD", lambda sigma: SVMDNovelty(sigma=sigma, nu=0.07, budget=300)),
    ),
    Kind.REGRESSION: _by_id(
        Method("norma", "NORMA", lambda sigma: NORMARegressor(sigma=sigma, eta=0.3, lam=0.01, budget=200)),
        Method(
            "norma-huber",
            "NORMA, Huber",
            lambda sigma: NORMARegressor(sigma=sigma, loss="huber", eta=0.1, delta=0.4, lam=0.02, budget=200),
        ),
        Method("olk", "OLK", lambda sigma: OLKRegressor(sigma=sigma, C=0.2, r=0.004, budget=200)),
        Method("krls", "KRLS", lambda sigma: KRLSRegressor(sigma=sigma, nu=0.01)),
        Method("svmd", "SVMD", lambda sigma: SVMDRegressor(sigma=sigma, lam=0.02, budget=200)),
    ),
}
"""Methods for each kind of stream, by id."""

GRID = (48, 48)
"""Rows and columns of the points at which a decision function is drawn."""

_RECENT = 250
_RECENT_ERRORS = 200
_HISTORY = 4000
_TICK_S = 1 / 20


@dataclass(frozen=True, slots=True)
class Setup:
    """Stream and methods of a race."""

    stream: Stream = STREAMS[0]
    methods: tuple[str, ...] = ("norma", "olk", "perceptron")
    """Ids."""
    sigma: float = 0.5
    """Width of the kernel: exp(-|x - s|^2 / (2 sigma^2))."""
    seed: int = 0
    rate_hz: float = 200.0
    """Samples per second."""


@dataclass(frozen=True, slots=True, eq=False)
class LearnerView:
    """State of one method."""

    method: Method
    values: NDArray[np.float64]
    """(rows, columns) of the decision function, top row first; of a regression (columns,) of predictions."""
    support: NDArray[np.float64]
    """(n, d) support vectors."""
    errors: NDArray[np.float64]
    """(m,) cumulative mistakes, or absolute error of a regression, at the times of the view."""
    recent_errors: NDArray[np.float64]
    """(m,) the same as a mean per sample, over the last 200 samples."""
    failure: str
    """Why it stopped; empty while it learns."""


@dataclass(frozen=True, slots=True, eq=False)
class RaceView:
    """Everything shown at one moment."""

    setup: Setup
    t: int
    """Samples so far."""
    recent: tuple[Sample, ...]
    """The last samples, oldest first."""
    times: NDArray[np.float64]
    """(m,) numbers of samples after which the errors were recorded."""
    learners: tuple[LearnerView, ...]
    target: NDArray[np.float64] | None
    """(columns,) of noiseless targets of a regression."""


class _Runner:
    """One method with its learner and its errors."""

    def __init__(self, method: Method, setup: Setup) -> None:
        self.method, self.model, self.kind = method, method.make(setup.sigma), setup.stream.kind
        self.total = 0.0
        self.last: deque[float] = deque(maxlen=_RECENT_ERRORS)
        self.errors: deque[float] = deque(maxlen=_HISTORY)
        self.recent_errors: deque[float] = deque(maxlen=_HISTORY)
        self.failure = ""
        self.started = False

    def learn(self, sample: Sample) -> None:
        if self.failure:
            return
        try:
            error = self._learn(sample)
        except Exception as problem:  # noqa: BLE001 - one method that fails must not stop the others
            self.failure = f"{type(problem).__name__}: {problem}"
            return
        self.started = True
        self.total += error
        self.last.append(error)

    def _learn(self, sample: Sample) -> float:
        if self.kind is Kind.NOVELTY:
            novel = bool(self.model.learn_one(sample.x))
            return float(novel != (sample.y < 0))
        before = float(self.model.score_one(sample.x))
        self.model.learn_one(sample.x, int(sample.y) if self.kind is Kind.CLASSES else sample.y)
        if self.kind is Kind.CLASSES:
            return float((before > 0) != (sample.truth > 0))
        return abs(before - sample.truth)

    def record(self) -> None:
        self.errors.append(self.total)
        self.recent_errors.append(sum(self.last) / len(self.last) if self.last else 0.0)

    def view(self, points: NDArray[np.float64], shape: tuple[int, ...]) -> LearnerView:
        values = np.zeros(shape)
        if self.started and not self.failure:
            decide = self.model.predict if self.kind is Kind.REGRESSION else self.model.decision_function
            values = np.asarray(decide(points), np.float64).reshape(shape)
        support = np.asarray(self.model.support_vectors_) if self.started else np.empty((0, points.shape[1]))
        return LearnerView(
            self.method, values, support, np.array(self.errors), np.array(self.recent_errors), self.failure
        )


class Race:
    """Several methods that learn the same samples.

    Parameters
    ----------
    setup : Setup
        Stream and methods; methods that do not suit the stream are left out.

    Examples
    --------
    >>> race = Race(Setup(methods=("norma",)))
    >>> race.advance(300)
    >>> view = race.view()
    >>> view.t, view.learners[0].errors[-1] < 100
    (300, np.True_)
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._random = np.random.default_rng(setup.seed)
        methods = METHODS[setup.stream.kind]
        self._runners = [_Runner(methods[name], setup) for name in setup.methods if name in methods]
        self._t = 0
        self._recent: deque[Sample] = deque(maxlen=_RECENT)
        self._times: deque[float] = deque(maxlen=_HISTORY)

    def advance(self, samples: int) -> None:
        """Draw and learn this number of samples."""
        for _ in range(samples):
            sample = self.setup.stream.draw(self._t, self._random)
            self._t += 1
            self._recent.append(sample)
            for runner in self._runners:
                runner.learn(sample)
            if self._t % 5 == 0:
                self._times.append(self._t)
                for runner in self._runners:
                    runner.record()

    def view(self) -> RaceView:
        """Return the present state."""
        left, right, bottom, top = self.setup.stream.extent
        rows, columns = GRID
        x = np.linspace(left, right, columns)
        target: NDArray[np.float64] | None = None
        shape: tuple[int, ...]
        if self.setup.stream.kind is Kind.REGRESSION:
            x = np.linspace(left, right, 4 * columns)
            points, shape = x[:, np.newaxis], (4 * columns,)
            if self.setup.stream.target is not None:
                target = self.setup.stream.target(x, self._t)
        else:
            across, down = np.meshgrid(x, np.linspace(top, bottom, rows))
            points, shape = np.column_stack([across.ravel(), down.ravel()]), (rows, columns)
        learners = tuple([runner.view(points, shape) for runner in self._runners])
        return RaceView(self.setup, self._t, tuple(self._recent), np.array(self._times), learners, target)


class LearningThread:
    """Runs a race on a separate thread.

    Parameters
    ----------
    put : callable
        Receives each `RaceView`, on that thread.
    setup : Setup
        Initial setup.
    """

    def __init__(self, put: Callable[[RaceView], None], setup: Setup) -> None:
        self._put = put
        self._changed = threading.Condition()
        self._wanted: Setup | None = setup
        self._rate_hz = setup.rate_hz
        self._paused = self._stop = False
        self._thread = threading.Thread(target=self._run, name="bgsub-learn", daemon=True)
        self._thread.start()

    def start(self, setup: Setup) -> None:
        """Begin another race."""
        with self._changed:
            self._wanted, self._rate_hz = setup, setup.rate_hz
            self._changed.notify_all()

    def set_rate(self, rate_hz: float) -> None:
        """Learn this number of samples per second."""
        self._rate_hz = rate_hz

    def pause(self, paused: bool) -> None:
        """Pause or resume."""
        with self._changed:
            self._paused = paused
            self._changed.notify_all()

    def close(self) -> None:
        """Stop and join the thread. Closing twice does no harm."""
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        race: Race | None = None
        owed = 0.0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stop or self._wanted is not None or not self._paused)
                if self._stop:
                    return
                wanted, self._wanted = self._wanted, None
            if wanted is not None or race is None:
                race, owed = Race(wanted or Setup()), 0.0
            begin = time.perf_counter()
            if not self._paused:
                owed = min(owed + self._rate_hz * _TICK_S, 2 * self._rate_hz * _TICK_S)
                while owed >= 1 and not self._stop and time.perf_counter() - begin < 2 * _TICK_S:
                    race.advance(1)
                    owed -= 1
            self._put(race.view())
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stop or self._wanted is not None, max(0.0, begin + _TICK_S - time.perf_counter())
                )
