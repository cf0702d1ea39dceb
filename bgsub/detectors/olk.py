"""OLK_N: model-based online novelty detection with kernels, at every pixel."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.detectors._jit import olk as kernels
from bgsub.detectors.parameters import Parameter
from bgsub.detectors.ring_bank import RING_PARAMETERS, RingBank
from bgsub.frames import Frame, Mask, Score

__all__ = ["Olk"]

_RULES = {
    "fixed": kernels.FIXED,
    "published": kernels.PUBLISHED,
    "quantile": kernels.QUANTILE,
    "pooled": kernels.POOLED,
}
_QUANTILE_WARMUP = 20  # samples before a pixel has a threshold of its own


class Olk(RingBank):
    """Bank of OLK_N novelty detectors, one a pixel.

    Each pixel keeps f(x) = sum_j a_j exp(-|s_j - x|^2 / width^2) over a ring of the last `slots` learned colours.
    A learned frame shrinks all a_j by 1 / (1 + r) and stores the colour with
    clip(1 + r - f(x), v, C) / (1 + r), the exact minimiser of the regularised loss. The density
    q = f / sum_j a_j lies in [0, 1].

    Source: Li, Wen, Li, Zhang, Yang, Mao, Model-based online learning with kernels, IEEE Trans. Neural Networks and
    Learning Systems 24(3), 2013, eq. 67. Its rule for the threshold, eq. 69, leaves it at 0 for ever; `rho_rule`
    offers that ("published": foreground where f < 1 + r - C) and three that work on q.

    Parameters
    ----------
    slots : int
        Support vectors a pixel, 1 to 254. The state takes slots * (channels + 4) + 1 bytes a pixel: 225 for 32
        slots in colour.
    width : float
        Kernel width in grey levels over all channels, on a scale where white is 255.
    r : float
        Regulariser: a learned frame shrinks coefficients by 1 / (1 + r).
    v, C : float
        Least and largest new coefficient, 0 <= v < C.
    rho_rule : {"fixed", "quantile", "pooled", "published"}
        fixed: foreground where q < level. quantile: where q < theta, each pixel's theta adapted so that the share
        nu of learned colours is below. pooled: one such theta for the whole frame, starting at level.
    level : float
        Threshold on q for rho_rule fixed.
    nu : float
        Share of learned colours to flag, for quantile and pooled.
    eta_rho : float
        Step size of theta in the long run.
    learn_every : int
        One frame in so many is learned; all are scored.
    memory_s : float, optional
        About how many seconds a colour is remembered; sets learn_every.
    rate_hz : float
        Frames per second, needed only for memory_s.
    warmup : int
        So many first frames are all learned and reported as background.
    white : float, optional
        Value of white; by default 255, 65535 or 1.0 for uint8, uint16 or float32.
    threads : int
        Threads to use; 0 for one a processor. Results do not depend on it.

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
    PARAMETERS = (
        *RING_PARAMETERS,
        Parameter("r", float, "regulariser; a learned frame shrinks coefficients by 1 / (1 + r)", 0),
        Parameter("v", float, "least new coefficient, below C", 0),
        Parameter("C", float, "largest new coefficient", 0, low_open=True),
        Parameter("rho_rule", str, "what the threshold is", choices=tuple(_RULES), shapes_state=True),
        Parameter(
            "level",
            float,
            "threshold on the density, for rho_rule fixed and at the start of pooled",
            0,
            1,
            low_open=True,
        ),
        Parameter(
            "nu",
            float,
            "share of learned colours to flag, for quantile and pooled",
            0,
            1,
            low_open=True,
            high_open=True,
        ),
        Parameter("eta_rho", float, "step size of the threshold, for quantile and pooled", 0, 1, low_open=True),
    )

    def __init__(
        self,
        *,
        slots: int = 32,
        width: float = 30.0,
        r: float = 0.001,
        v: float = 0.1,
        C: float = 0.2,  # noqa: N803, the paper's and scikit-learn's name
        rho_rule: str = "fixed",
        level: float = 0.1,
        nu: float = 0.05,
        eta_rho: float = 0.05,
        learn_every: int = 16,
        memory_s: float | None = None,
        rate_hz: float = 25.0,
        warmup: int = 32,
        white: float | None = None,
        threads: int = 0,
    ) -> None:
        super().__init__(
            slots=slots,
            width=width,
            r=r,
            v=v,
            C=C,
            rho_rule=rho_rule,
            level=level,
            nu=nu,
            eta_rho=eta_rho,
            learn_every=learn_every,
            memory_s=memory_s,
            rate_hz=rate_hz,
            warmup=warmup,
            white=white,
            threads=threads,
        )
        if self._parameters["v"] >= self._parameters["C"]:
            raise ValueError(f"v must be below C, got v = {v} and C = {C}")

    def _initial_arrays(self, shape: tuple[int, int], colours: NDArray[Any]) -> dict[str, NDArray[Any]]:
        arrays = super()._initial_arrays(shape, colours)
        if self._parameters["rho_rule"] == "quantile":
            arrays |= {"theta": np.zeros(shape, np.float32), "counts": np.zeros(shape, np.int32)}
        return arrays

    def _initial_scalars(self) -> dict[str, float]:
        # 1 while all pixels have learned the same frames, so that one slot is next everywhere
        return {"pooled_theta": self._parameters["level"], "uniform": 1}

    def _judgement(self, row: int, column: int) -> tuple[str, float, str]:
        rule = self._parameters["rho_rule"]
        if rule == "published":
            return "f", self._published_level, "1 + r - C"
        if rule == "quantile":
            warm = int(self._arrays["counts"][row, column]) >= _QUANTILE_WARMUP
            return "g", float(self._arrays["theta"][row, column]) if warm else 0.0, "theta"
        if rule == "pooled":
            return "g", float(self._scalars["pooled_theta"]), "theta"
        return "g", self._parameters["level"], "level"

    @property
    def _published_level(self) -> float:
        return float(1.0 + self._parameters["r"] - self._parameters["C"])

    @property
    def _memory_in_steps(self) -> float:
        slots, r = self._parameters["slots"], self._parameters["r"]
        return float(min(slots, 1.0 / r)) if r > 0 else float(slots)

    def _run(self, frame: Frame, learn: bool, where: Mask, mask: Mask, score: Score) -> None:
        rule, r, scale = self._parameters["rho_rule"], self._parameters["r"], self._scalars["scale"]
        level = {"published": self._published_level, "pooled": self._scalars["pooled_theta"]}.get(
            rule, self._parameters["level"]
        )
        pooled_learns = learn and rule == "pooled"
        if pooled_learns and mask.size == 0:
            mask = np.empty(frame.shape[:2], np.uint8)  # theta is moved by the share of foreground
        if learn and where.size > 0:
            self._scalars["uniform"] = 0
        none = np.empty((0, 0), np.float32)
        self._run_kernel(
            kernels.step,
            frame,
            self._arrays["colours"],
            self._arrays["coefficients"],
            self._arrays["heads"],
            self._arrays.get("theta", none),
            self._arrays.get("counts", np.empty((0, 0), np.int32)),
            where,
            self._gain(frame.dtype),
            np.float32(scale),
            np.int32(_RULES[rule]),
            np.float32(level),
            learn,
            np.int32(self._arrays["heads"][0, 0] if self._scalars["uniform"] else -1),
            np.float32(1.0 / scale),
            np.float32(r),
            np.float32(self._parameters["v"]),
            np.float32(self._parameters["C"]),
            np.float32(self._parameters["nu"]),
            np.float32(self._parameters["eta_rho"]),
            np.int32(_QUANTILE_WARMUP),
            mask,
            score,
        )
        if pooled_learns:
            chosen = mask if where.size == 0 else mask[where != 0]
            if chosen.size > 0:
                change = self._parameters["eta_rho"] * (self._parameters["nu"] - float((chosen != 0).mean()))
                self._scalars["pooled_theta"] *= math.exp(change)
        if learn:
            self._fade(1.0 / (1.0 + r))
