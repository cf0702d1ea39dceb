"""Times of the stages of a detector's step, measured by wrapping its methods from outside."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bgsub.detectors import Detector, TwoStepDetector
from bgsub.detectors.adaptive.detector import Adaptive
from bgsub.detectors.ring_bank import RingBank

__all__ = ["StageTimes", "stages"]

_Stage = str | Callable[..., str]


def _ring_stage(_frame: Any, learn: bool, *_others: Any) -> str:
    return "learn" if learn else "decide"


_METHODS: dict[type, Mapping[str, _Stage]] = {
    Adaptive: {
        "_follow_exposure": "light and noise",
        "_score_frame": "score",
        "_find_masks": "final mask",
        "_find_forgotten": "ghosts and light",
        "_forget_pixels": "ghosts and light",
        "_update": "update",
        "_find_details": "details",
        "_mark_shadows": "shadows",
    },
    RingBank: {"_run_ring": _ring_stage},
    TwoStepDetector: {"_score": "score", "_learn": "learn"},
    Detector: {"_step": "step"},
}
"""Methods and their stages, or functions from a method's arguments to its stage; a class is found before its bases."""


class StageTimes:
    """Times of stages, without those of stages inside them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        """Total time by stage, in the order in which the stages were first reached."""
        self.calls: dict[str, int] = {}
        """Number of calls by stage."""
        self._inner_s: list[float] = []  # for each stage that is running, the time of stages inside it

    def _wrap(self, method: Callable[..., Any], stage: _Stage) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            name = stage if isinstance(stage, str) else stage(*arguments)
            self.calls[name] = self.calls.get(name, 0) + 1
            result = self._time(name, lambda: method(*arguments, **named))
            return self._time_items(name, result) if isinstance(result, Iterator) else result

        return timed

    def _time_items(self, name: str, items: Iterator[Any]) -> Iterator[Any]:
        """Yield items; each is made while it is asked for, so that is the time that counts."""
        end = object()
        while (item := self._time(name, lambda: next(items, end))) is not end:
            yield item

    def _time(self, name: str, call: Callable[[], Any]) -> Any:
        self._inner_s.append(0.0)
        start = time.perf_counter()
        try:
            return call()
        finally:
            elapsed_s = time.perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + elapsed_s - self._inner_s.pop()
            if self._inner_s:
                self._inner_s[-1] += elapsed_s


@contextlib.contextmanager
def stages(model: Detector) -> Iterator[StageTimes]:
    """Measure the stages of a detector while the block runs; its masks and its state do not depend on that.

    The methods of this one object are wrapped and unwrapped again: other detectors, and this one outside the block,
    run as ever. A wrapped call costs about a microsecond, and there are at most ten per frame.

    Stages of adaptive are light and noise, score, final mask, ghosts and light, update, details, shadows; of norma and
    olk decide (frames that are not learned) and learn (those that are, decided in the same pass); of a
    `TwoStepDetector` score and learn. All others are one step.

    Parameters
    ----------
    model : Detector
        Used by one thread at a time.

    Yields
    ------
    StageTimes
        Grows with each frame.

    Examples
    --------
    >>> import numpy as np
    >>> from bgsub.detectors import create
    >>> model = create("olk", learn_every=2, warmup=0, threads=1)
    >>> with stages(model) as times:
    ...     for _ in range(6):
    ...         mask = model.apply(np.zeros((20, 30), np.uint8))
    >>> times.calls
    {'learn': 3, 'decide': 3}
    """
    methods = next(_METHODS[kind] for kind in type(model).__mro__ if kind in _METHODS)
    times, own = StageTimes(), vars(model)
    before = {name: own[name] for name in methods if name in own}
    try:
        for name, stage in methods.items():
            own[name] = times._wrap(getattr(model, name), stage)
        yield times
    finally:
        for name in methods:
            own.pop(name, None)
        own.update(before)
