"""OLK_N: model-based online novelty detection with kernels, at every pixel."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bgsub._threads import exclusive
from bgsub.detectors._jit.olk import FIXED, POOLED, PUBLISHED, QUANTILE, Rule, Thresholds, step
from bgsub.detectors._jit.ring import Outputs, Ring
from bgsub.detectors.kernel_bank import SLOTS, WIDTH, Judgement
from bgsub.detectors.model_file import BIT, NOT_NEGATIVE, Snapshot, Span
from bgsub.detectors.parameters import param
from bgsub.detectors.ring_bank import LEARN_EVERY, RingBank
from bgsub.frames import Frame, Mask, Score

__all__ = ["Olk"]

_RULES = {"fixed": FIXED, "published": PUBLISHED, "quantile": QUANTILE, "pooled": POOLED}
_QUANTILE_WARMUP = 20  # samples before a pixel has a threshold of its own
_NO_THETA, _NO_COUNTS = np.empty((0, 0), np.float32), np.empty((0, 0), np.int32)


class Olk(RingBank):
    """One OLK_N novelty detector per pixel.

    Each pixel keeps f(x) = sum_j a_j exp(-|s_j - x|^2 / width^2) over a ring of the last `slots` learned colours.
    A learned frame shrinks all a_j by 1 / (1 + r) and stores the colour with
    clip(1 + r - f(x), v, C) / (1 + r), the exact minimiser of the regularised loss. The density
    q = f / sum_j a_j lies in [0, 1].

    Source: Li, Wen, Li, Zhang, Yang, Mao, Model-based online learning with kernels, IEEE Trans. Neural Networks and
    Learning Systems 24(3), 2013, eq. 67. Its rule for the threshold, eq. 69, leaves it at 0 forever; `rho_rule`
    offers that ("published") and three that work on q.

    The state takes slots * (channels + 4) + 1 bytes per pixel: 225 for 32 slots in colour.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> model = Olk(slots=8, warmup=8, threads=1)
    >>> street = np.full((4, 4), 90, np.uint8)
    >>> for _ in range(10):
    ...     mask = model.apply(street)
    >>> street[2, 2] = 200
    >>> round(float(model.score(street)[2, 2]), 3), int(model.background_image()[2, 2])
    (1.0, 90)
    """

    name = "olk"
    slots: int = SLOTS(32)
    width: float = WIDTH(30.0)
    r: float = param(
        0.001, "regulariser; a learned frame shrinks coefficients by 1 / (1 + r)", "[0, inf)", group="expert"
    )
    v: float = param(0.1, "least new coefficient, below C", "[0, inf)", group="expert")
    C: float = param(0.2, "largest new coefficient", "(0, inf)", group="expert")
    rho_rule: Literal["fixed", "published", "quantile", "pooled"] = param(
        "fixed",
        "rule for the threshold",
        note="fixed: foreground where q < level. quantile: where q < theta, and the theta of each pixel adapts so that "
        "the share nu of learned colours is below. pooled: one such theta for the whole frame, starting at level. "
        "published: foreground where f < 1 + r - C.",
        shapes_state=True,
    )
    level: float = param(0.1, "threshold on the density, for rho_rule fixed and at the start of pooled", "(0, 1]")
    nu: float = param(0.05, "share of learned colours to flag, for quantile and pooled", "(0, 1)")
    eta_rho: float = param(
        0.05, "step size of the threshold in the long run, for quantile and pooled", "(0, 1]", group="expert"
    )
    learn_every: int = LEARN_EVERY(16)

    @classmethod
    def _check_combination(cls, values: dict[str, Any]) -> None:
        if values["v"] >= values["C"]:
            raise ValueError(f"v must be below C, got v = {values['v']} and C = {values['C']}")

    def _initial_arrays(self, size: tuple[int, int]) -> dict[str, NDArray[Any]]:
        if self._parameters["rho_rule"] != "quantile":
            return {}
        return {"theta": np.zeros(size, np.float32), "counts": np.zeros(size, np.int32)}

    def _initial_scalars(self) -> dict[str, float]:
        # 1 while all pixels have learned the same frames, so that one slot is next everywhere
        return {"pooled_theta": self._parameters["level"], "uniform": 1}

    def _spans(self) -> dict[str, Span]:
        spans = super()._spans() | {"pooled_theta": NOT_NEGATIVE, "uniform": BIT}
        return spans | dict.fromkeys(self._initial_arrays((0, 0)), NOT_NEGATIVE)

    @exclusive
    def restore(self, model: Snapshot) -> None:
        """Take over the state of a saved model; see `Detector.restore`."""
        heads = model.arrays.get("heads")
        if model.scalars.get("uniform") and heads is not None and np.ptp(heads) > 0:
            raise ValueError("the next slots of its pixels differ, but are said not to")
        super().restore(model)

    def _judgement(self, row: int, column: int) -> Judgement:
        rule = self._parameters["rho_rule"]
        if rule == "published":
            return Judgement("f", self._published_level, "1 + r - C")
        if rule == "quantile":
            warm = int(self._arrays["counts"][row, column]) >= _QUANTILE_WARMUP
            return Judgement("g", float(self._arrays["theta"][row, column]) if warm else 0.0, "theta")
        if rule == "pooled":
            return Judgement("g", float(self._scalars["pooled_theta"]), "theta")
        return Judgement("g", self._parameters["level"], "level")

    @property
    def _published_level(self) -> float:
        return float(1.0 + self._parameters["r"] - self._parameters["C"])

    @property
    def _memory_in_steps(self) -> float:
        slots, r = self._parameters["slots"], self._parameters["r"]
        return float(min(slots, 1.0 / r)) if r > 0 else float(slots)

    def _run_ring(self, frame: Frame, learn: bool, where: Mask, mask: Mask, score: Score) -> None:
        arrays, parameters = self._arrays, self._parameters
        name, r, scale = parameters["rho_rule"], parameters["r"], self._scalars["scale"]
        levels = {"published": self._published_level, "pooled": self._scalars["pooled_theta"]}
        moves_pooled = learn and name == "pooled"
        if moves_pooled and mask.size == 0:
            mask = np.empty(frame.shape[:2], np.uint8)  # theta is moved by the share of foreground
        if learn and where.size > 0:
            self._scalars["uniform"] = 0
        rule = Rule(
            learn=learn,
            gain=self._gain(frame.dtype),
            scale=np.float32(scale),
            rule=np.int32(_RULES[name]),
            level=np.float32(levels.get(name, parameters["level"])),
            only_slot=np.int32(arrays["heads"][0, 0] if self._scalars["uniform"] else -1),
            stored=np.float32(1.0 / scale),
            r=np.float32(r),
            v=np.float32(parameters["v"]),
            C=np.float32(parameters["C"]),
            nu=np.float32(parameters["nu"]),
            eta_rho=np.float32(parameters["eta_rho"]),
            warmup=np.int32(_QUANTILE_WARMUP),
        )
        ring = Ring(arrays["colours"], arrays["coefficients"], arrays["heads"])
        thresholds = Thresholds(arrays.get("theta", _NO_THETA), arrays.get("counts", _NO_COUNTS))
        self._run_bands(step, frame, ring, thresholds, where, rule, Outputs(mask, score))
        if moves_pooled:
            self._move_pooled_theta(mask, where)
        if learn:
            self._fade(1.0 / (1.0 + r))

    def _move_pooled_theta(self, mask: Mask, where: Mask) -> None:
        """Move the threshold of the whole frame by the share of foreground among the pixels that learned."""
        chosen = mask if where.size == 0 else mask[where != 0]
        if chosen.size > 0:
            change = self._parameters["eta_rho"] * (self._parameters["nu"] - float((chosen != 0).mean()))
            self._scalars["pooled_theta"] *= math.exp(change)
