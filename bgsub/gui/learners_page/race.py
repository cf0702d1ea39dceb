"""Several learners on one stream, live: the decision function and the mistakes of each; no Qt."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.gui.learners_page.methods import METHODS, Method
from bgsub.gui.learners_page.streams import STREAMS, Kind, Sample, Stream
from bgsub.learners import DriftAware, KRLSTRegressor
from bgsub.learners.meta.experts import Bank

__all__ = ["LearnerView", "LearningThread", "Race", "RaceView", "Setup"]

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
    """(rows, columns) of the decision function, top row first; of three classes, of the predicted class, 0 to 2; of a
    regression (columns,) of predictions."""
    support: NDArray[np.float64]
    """(n, d) support vectors."""
    errors: NDArray[np.float64]
    """(m,) cumulative mistakes, or absolute error of a regression, at the times of the view."""
    recent_errors: NDArray[np.float64]
    """(m,) the same as a mean per sample, over the last 200 samples."""
    failure: str
    """Why it stopped; empty while it learns."""
    deviation: NDArray[np.float64] | None = None
    """(columns,) standard deviation of targets around the predictions, where the learner knows it."""
    shares: NDArray[np.float64] | None = None
    """(m, members) weights of the members of a bank at the times of the view."""
    share_names: tuple[str, ...] = ()
    """What the members are."""
    resets: tuple[int, ...] | None = None
    """Numbers of samples after which a drift made the learner start again; None where nothing looks for drift."""


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
        self.shares: deque[NDArray[np.float64]] = deque(maxlen=_HISTORY)
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
        if self.kind is Kind.REGRESSION:
            guess = float(self.model.predict_one(sample.x)) if self.started else 0.0
            self.model.learn_one(sample.x, sample.y)
            return abs(guess - sample.truth)
        if not self.started:
            self.model.start(len(sample.x), [0, 1, 2] if self.kind is Kind.REGIONS else [-1, 1])
        label = self.model.predict_one(sample.x)
        self.model.learn_one(sample.x, int(sample.y))
        return float(label != sample.truth)

    def record(self) -> None:
        self.errors.append(self.total)
        self.recent_errors.append(sum(self.last) / len(self.last) if self.last else 0.0)
        if isinstance(self.model, Bank) and self.started:
            self.shares.append(self.model.weights_)

    @property
    def _reader(self) -> Any:
        """What decides: of a learner that looks for drift, the one inside."""
        return self.model.learner_ if isinstance(self.model, DriftAware) else self.model

    @property
    def _kernel_learner(self) -> Any:
        """What has support vectors: of a bank, the member with the largest share."""
        reader = self._reader
        return reader.experts_[int(reader.weights_.argmax())] if isinstance(reader, Bank) else reader

    def view(self, points: NDArray[np.float64], shape: tuple[int, ...]) -> LearnerView:
        values, deviation = np.zeros(shape), None
        if self.started and not self.failure:
            reader = self._reader
            if isinstance(reader, KRLSTRegressor):
                values, deviation = reader.predict(points, return_std=True)
            else:
                by_class = self.kind in (Kind.CLASSES, Kind.NOVELTY)
                values = np.asarray((reader.decision_function if by_class else reader.predict)(points), np.float64)
        support = np.empty((0, points.shape[1]))
        names: tuple[str, ...] = ()
        resets: tuple[int, ...] | None = None
        if self.started:
            support = np.asarray(self._kernel_learner.support_vectors_)
            if isinstance(self.model, Bank):
                names = tuple([f"\u03c3 {setting['sigma']:.3g}" for setting in self.model.settings_])
            elif isinstance(self.model, DriftAware):
                resets = tuple(self.model.drifts_)
        return LearnerView(
            method=self.method,
            values=values.reshape(shape),
            support=support,
            errors=np.array(self.errors),
            recent_errors=np.array(self.recent_errors),
            failure=self.failure,
            deviation=deviation,
            shares=np.array(self.shares) if self.shares else None,
            share_names=names,
            resets=resets,
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
