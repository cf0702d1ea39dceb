"""The base class of banks: learners of different parameters, and weights that follow their losses."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bgsub.learners._checks import check_real
from bgsub.learners.hypotheses.kernels import Array, scale_gamma
from bgsub.learners.hypotheses.samples import dense_blocks
from bgsub.learners.meta.hedge import AdaHedge

__all__ = ["Bank"]

_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Widths of a bank that was given none, in units of the usual one."""


class Bank(BaseEstimator, ABC):  # type: ignore[misc]
    """The base class of banks: learners of different parameters, and their weights."""

    _kind: ClassVar[Any] = None

    def __init__(self, learner: Any = None, grid: Any = None, *, discount: float = 1.0) -> None:
        self.learner = learner
        self.grid = grid
        self.discount = discount

    @abstractmethod
    def _usual(self) -> Any:
        """Return the learner where none is given."""

    def _settings(self, learner: Any, gamma: float) -> list[dict[str, Any]]:
        """Return the parameters of each learner; `gamma` is that of the usual width."""
        given = learner.get_params()
        exponent = {"gaussian": 2, "laplacian": 1}.get(given["kernel"]) if isinstance(given["kernel"], str) else None
        if self.grid is None:
            if exponent is None:
                raise ValueError(f"grid must be given where the kernel has no width, got None with {given['kernel']!r}")
            widths = {"sigma": None, "width": None}
            return [{**widths, "gamma": gamma / factor**exponent} for factor in _FACTORS]
        settings = list(ParameterGrid(self.grid))
        named = {"gamma", "sigma", "width"}
        if exponent is not None and all(given[name] is None for name in named):
            return [
                {**chosen, "gamma": gamma} if not named & set(chosen) and _by_name(chosen) else chosen
                for chosen in settings
            ]
        return settings

    def _begin(self, n_features: int, samples: Array | None) -> None:
        learner = self._usual() if self.learner is None else self.learner
        if not isinstance(learner, self._kind):
            raise ValueError(f"learner must be a {self._kind.__name__} or None, got {learner!r}")
        check_real("discount", self.discount, "be in (0, 1]", above=0, most=1)
        gamma = 1 / n_features if samples is None or samples.shape[0] < 2 else scale_gamma(samples)
        self.settings_ = self._settings(learner, gamma)
        self.experts_: list[Any] = [clone(learner).set_params(**chosen) for chosen in self.settings_]
        self.hedge_ = AdaHedge(len(self.experts_), self.discount)
        self.n_features_in_ = n_features
        self.t_ = 0

    @property
    def weights_(self) -> Array:
        """(experts,) weights of the next prediction."""
        check_is_fitted(self, "experts_")
        return self.hedge_.weights()

    @property
    def losses_(self) -> Array:
        """(experts,) total loss of each, discounted."""
        check_is_fitted(self, "experts_")
        return self.hedge_.totals.copy()

    @property
    def best_params_(self) -> dict[str, Any]:
        """The parameters of the grid that had the least loss."""
        check_is_fitted(self, "experts_")
        return dict(self.settings_[int(self.hedge_.totals.argmin())])

    def _learn_rows(self, samples: Any, targets: list[Any], importance: Array) -> Self:
        """Learn rows in order; each expert learns all, then the weights follow their losses."""
        for part, rows in dense_blocks(samples):
            known = list(zip(rows, targets[part], importance[part].tolist(), strict=True))
            lessons = [(x, y, weight) for x, y, weight in known if weight]
            losses = np.empty((len(lessons), len(self.experts_)))
            for column, expert in zip(losses.T, self.experts_, strict=True):
                for t, (x, y, weight) in enumerate(lessons):
                    column[t] = weight * self._loss(expert, x, y, weight)
            for row in losses:
                self.hedge_.learn(row)
            self.t_ += len(lessons)
        return self

    @abstractmethod
    def _loss(self, expert: Any, x: Array, y: Any, weight: float) -> float:
        """Let an expert learn a sample; return its loss before."""

    def _learn_sample(self, x: Array, y: Any, sample_weight: float) -> float:
        losses = [sample_weight * self._loss(expert, x, y, sample_weight) for expert in self.experts_]
        self.t_ += 1
        return self.hedge_.learn(np.array(losses))

    def _rows(self, X: Any) -> Any:  # noqa: N803
        check_is_fitted(self, "experts_")
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def _importance(self, sample_weight: Any, samples: Array) -> Array:
        if sample_weight is None:
            return np.ones(samples.shape[0])
        weights: Array = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        if not weights.any():
            raise ValueError("sample_weight must have an element that is not zero, got zeros only")
        return weights

    def _state(self) -> dict[str, Any]:
        """Return the numbers and arrays of a saved bank, without its experts."""
        hedge = self.hedge_
        return {"totals": hedge.totals.tolist(), "gap": hedge.gap, "mean_total": hedge.mean_total, "t": self.t_}

    def _resume(self, experts: list[Any], settings: list[dict[str, Any]], state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.experts_, self.settings_, self.t_ = experts, settings, state["t"]
        self.hedge_ = AdaHedge(len(experts), self.discount)
        self.hedge_.totals[:] = state["totals"]
        self.hedge_.gap, self.hedge_.mean_total = state["gap"], state["mean_total"]
        self.n_features_in_ = experts[0].n_features_in_
        if hasattr(experts[0], "classes_"):
            self.classes_ = experts[0].classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _by_name(setting: dict[str, Any]) -> bool:
    """Whether a setting leaves the kernel, or chooses it by name, so that a width can be given beside it."""
    return isinstance(setting.get("kernel", ""), str)
