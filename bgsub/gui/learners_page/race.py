"""Several learners on one stream, live: what each has learned and how often it is wrong; no Qt."""

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

__all__ = ["METHODS", "LearnerView", "LearningThread", "Race", "RaceView", "Setup"]

Make = Callable[[float], Any]

METHODS: dict[Kind, dict[str, Make]] = {
    Kind.CLASSES: {
        "NORMA": lambda sigma: NORMAClassifier(sigma=sigma, eta=0.2, lam=0.05, budget=200),
        "OLK": lambda sigma: OLKClassifier(sigma=sigma, r=0.01, budget=200),
        "Perceptron": lambda sigma: KernelPerceptron(sigma=sigma, budget=200),
        "PA-I": lambda sigma: PassiveAggressiveKernel(sigma=sigma, C=0.5, budget=200),
        "Projectron": lambda sigma: ProjectronClassifier(sigma=sigma),
        "Forgetron": lambda sigma: ForgetronClassifier(sigma=sigma, budget=100),
        "RBP": lambda sigma: RBPClassifier(sigma=sigma, budget=100, random_state=0),
        "ALMA": lambda sigma: ALMAClassifier(sigma=sigma, budget=200),
        "SVMD": lambda sigma: SVMDClassifier(sigma=sigma, lam=0.05, budget=200),
    },
    Kind.NOVELTY: {
        "NORMA": lambda sigma: NORMANovelty(sigma=sigma, nu=0.07, budget=300),
        "OLK_N": lambda sigma: OLKNovelty(sigma=sigma, nu=0.07, r=0.004, budget=300),
        "SVMD": lambda sigma: SVMDNovelty(sigma=sigma, nu=0.07, budget=300),
    },
    Kind.REGRESSION: {
        "NORMA": lambda sigma: NORMARegressor(sigma=sigma, eta=0.3, lam=0.01, budget=200),
        "NORMA, Huber": lambda sigma: NORMARegressor(
            sigma=sigma, loss="huber", eta=0.1, delta=0.4, lam=0.02, budget=200
        ),
        "OLK": lambda sigma: OLKRegressor(sigma=sigma, C=0.2, r=0.004, budget=200),
        "KRLS": lambda sigma: KRLSRegressor(sigma=sigma, nu=0.01),
        "SVMD": lambda sigma: SVMDRegressor(sigma=sigma, lam=0.02, budget=200),
    },
}
"""What can be compared on each kind of stream; makers take the width sigma of the Gaussian kernel."""

GRID = (48, 48)
"""Rows and columns at which a decision function is drawn."""

_RECENT = 250
_LATELY = 200
_HISTORY = 4000
_TICK_S = 1 / 20


@dataclass(frozen=True, slots=True)
class Setup:
    """What to learn from, with which methods."""

    stream: Stream = STREAMS[0]
    methods: tuple[str, ...] = ("NORMA", "OLK", "Perceptron")
    sigma: float = 0.5
    """Width of the kernel: exp(-|x - s|^2 / (2 sigma^2))."""
    seed: int = 0
    rate_hz: float = 200.0
    """Samples a second."""


@dataclass(frozen=True, slots=True, eq=False)
class LearnerView:
    """What one method knows."""

    name: str
    values: NDArray[np.float64]
    """(rows, columns) of the decision function, top row first; of a regression (columns,) of predictions."""
    support: NDArray[np.float64]
    """(n, d) support vectors."""
    errors: NDArray[np.float64]
    """(m,) cumulated mistakes, or absolute error of a regression, at the times of the view."""
    lately: NDArray[np.float64]
    """(m,) the same, a sample, over the last 200."""
    failure: str
    """Why it stopped; empty while it goes on."""


@dataclass(frozen=True, slots=True, eq=False)
class RaceView:
    """All that is shown at one moment."""

    setup: Setup
    t: int
    """Samples so far."""
    recent: tuple[Sample, ...]
    """The last ones, oldest first."""
    times: NDArray[np.float64]
    """(m,) numbers of samples at which errors are told."""
    learners: tuple[LearnerView, ...]
    target: NDArray[np.float64] | None
    """(columns,) of a regression without noise."""


class _Runner:
    """One method with its record."""

    def __init__(self, name: str, model: Any, kind: Kind) -> None:
        self.name, self.model, self.kind = name, model, kind
        self.total = 0.0
        self.last: deque[float] = deque(maxlen=_LATELY)
        self.errors: deque[float] = deque(maxlen=_HISTORY)
        self.lately: deque[float] = deque(maxlen=_HISTORY)
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

    def note(self) -> None:
        self.errors.append(self.total)
        self.lately.append(sum(self.last) / len(self.last) if self.last else 0.0)

    def view(self, points: NDArray[np.float64], shape: tuple[int, ...]) -> LearnerView:
        values = np.zeros(shape)
        if self.started and not self.failure:
            decide = self.model.predict if self.kind is Kind.REGRESSION else self.model.decision_function
            values = np.asarray(decide(points), np.float64).reshape(shape)
        support = np.asarray(self.model.support_vectors_) if self.started else np.empty((0, points.shape[1]))
        return LearnerView(self.name, values, support, np.array(self.errors), np.array(self.lately), self.failure)


class Race:
    """Several methods that learn the same samples.

    Parameters
    ----------
    setup : Setup
        Stream and methods; those that do not suit its kind are left out.

    Examples
    --------
    >>> race = Race(Setup(methods=("NORMA",)))
    >>> race.advance(300)
    >>> view = race.view()
    >>> view.t, view.learners[0].errors[-1] < 100
    (300, np.True_)
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._random = np.random.default_rng(setup.seed)
        methods = METHODS[setup.stream.kind]
        self._runners = [
            _Runner(name, methods[name](setup.sigma), setup.stream.kind) for name in setup.methods if name in methods
        ]
        self._t = 0
        self._recent: deque[Sample] = deque(maxlen=_RECENT)
        self._times: deque[float] = deque(maxlen=_HISTORY)

    def advance(self, samples: int) -> None:
        """Draw and learn so many samples."""
        for _ in range(samples):
            sample = self.setup.stream.draw(self._t, self._random)
            self._t += 1
            self._recent.append(sample)
            for runner in self._runners:
                runner.learn(sample)
            if self._t % 5 == 0:
                self._times.append(self._t)
                for runner in self._runners:
                    runner.note()

    def view(self) -> RaceView:
        """Return what is known now."""
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
    """Runs a race on a thread of its own.

    Parameters
    ----------
    put : callable
        Takes each `RaceView`, on that thread.
    setup : Setup
        To begin with.
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
        """Begin anew."""
        with self._changed:
            self._wanted, self._rate_hz = setup, setup.rate_hz
            self._changed.notify_all()

    def set_rate(self, rate_hz: float) -> None:
        """Learn so many samples a second."""
        self._rate_hz = rate_hz

    def pause(self, paused: bool) -> None:
        """Hold, or go on."""
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
