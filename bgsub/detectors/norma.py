"""NORMA: novelty detection by stochastic gradient descent in a reproducing kernel Hilbert space, at every pixel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub._threads import exclusive
from bgsub.detectors._jit.norma import Rule, step
from bgsub.detectors._jit.norma_boxes import SEGMENT, Boxes, BoxRule, Expansion, write_mask_by_boxes
from bgsub.detectors._jit.ring import Outputs, Ring
from bgsub.detectors.kernel_bank import SLOTS, WIDTH, Judgement
from bgsub.detectors.model_file import FINITE, Span
from bgsub.detectors.parameters import param
from bgsub.detectors.ring_bank import LEARN_EVERY, RingBank
from bgsub.frames import Frame, Mask, Score

__all__ = ["Norma"]

_BOXES_PAY = 8
"""Least learn_every with which it pays to look for boxes of background colours."""
_RENEWAL = 8
"""Boxes are renewed every so many frames."""


class Norma(RingBank):
    """One NORMA nu-novelty detector per pixel.

    Each pixel keeps f(x) = sum_j a_j exp(-|s_j - x|^2 / width^2) over a ring of `slots` colours and a threshold
    rho. A colour x is *novel* when f(x) < rho and *foreground* when f(x) < kappa rho. A learned frame shrinks all
    a_j by 1 - eta lam, stores a novel colour with a_j = eta, and moves rho by eta (nu - [novel]), so that the share
    nu of the learned colours is novel.

    Source: Kivinen, Smola, Williamson, Online learning with kernels, IEEE Trans. Signal Processing 52(8), 2004.
    The sign of rho's update is that of the gradient, opposite to the printed one, under which |rho| diverges.
    `kappa` separates the alarm from the update; kappa = 1 is the paper.

    The state takes slots * (channels + 4) + 5 bytes per pixel: 61 for 8 slots in colour, and 6 more for the boxes that
    make frames cheap that are not learned.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> model = Norma(warmup=2, learn_every=1, threads=1)
    >>> street = np.full((4, 4, 3), 90, np.uint8)
    >>> for _ in range(30):
    ...     mask = model.apply(street)
    >>> int(mask.max())
    0
    >>> street[1, 1] = 250
    >>> int(model.apply(street)[1, 1])
    255
    """

    name = "norma"
    slots: int = SLOTS(8)
    width: float = WIDTH(30.0)
    eta: float = param(
        0.05, "step size, the coefficient of a new support vector", "(0, inf)", note="Keep it at most nu / 5."
    )
    lam: float = param(
        1.0,
        "regulariser; a learned frame shrinks coefficients by 1 - eta lam",
        "[0, inf)",
        note="eta * lam must be below 1.",
    )
    nu: float = param(
        0.5,
        "share of learned colours that count as novel",
        "(0, 1)",
        note="Large for video: small ones model rare colours.",
    )
    kappa: float = param(0.25, "foreground is f < kappa rho", "(0, 1]")
    learn_every: int = LEARN_EVERY(32)

    @classmethod
    def _check_combination(cls, values: dict[str, Any]) -> None:
        if values["eta"] * values["lam"] >= 1:
            raise ValueError(f"eta * lam must be below 1, got {values['eta']} * {values['lam']}")

    @exclusive
    def change(self, **parameters: Any) -> None:
        """Change parameters of a running model; see `Detector.change`."""
        super().change(**parameters)
        self._boxes_known = False

    def _forget(self) -> None:
        super()._forget()
        self._boxes: Boxes | None = None
        self._boxes_known = False

    @property
    def memory_bytes(self) -> int:
        """Size of the model's arrays and of the boxes in bytes, 0 before the first frame."""
        return sum(array.nbytes for array in (*self._arrays.values(), *(self._boxes or ())))

    def _initial_arrays(self, size: tuple[int, int]) -> dict[str, NDArray[Any]]:
        # rho starts between two values it can take, so that no decision is a tie (f of an unseen colour is 0).
        return {"rho": np.full(size, self._parameters["eta"] * self._parameters["nu"] / 2, np.float32)}

    def _spans(self) -> dict[str, Span]:
        return super()._spans() | {"rho": FINITE}

    def _judgement(self, row: int, column: int) -> Judgement:
        return Judgement("f", self._parameters["kappa"] * float(self._arrays["rho"][row, column]), "kappa rho")

    @property
    def _memory_in_steps(self) -> float:
        fading = self._parameters["eta"] * self._parameters["lam"]
        ring = self._parameters["slots"] / self._parameters["nu"]
        return float(min(ring, 1.0 / fading)) if fading > 0 else float(ring)

    def _run_ring(self, frame: Frame, learn: bool, where: Mask, mask: Mask, score: Score) -> None:
        only_mask = not learn and mask.size > 0 and score.size == 0
        wide = frame.shape[1] >= SEGMENT
        if only_mask and wide and frame.dtype != np.float32 and self.learn_interval >= _BOXES_PAY:
            self._write_mask_by_boxes(frame, mask)
            return
        arrays, eta, scale = self._arrays, self._parameters["eta"], self._scalars["scale"]
        decay = 1.0 - eta * self._parameters["lam"]
        rule = Rule(
            learn=learn,
            gain=self._gain(frame.dtype),
            scale=np.float32(scale),
            kappa=np.float32(self._parameters["kappa"]),
            eta=np.float32(eta),
            nu=np.float32(self._parameters["nu"]),
            decay=np.float32(decay),
            new_coefficient=np.float32(eta / (scale * decay)),
        )
        ring = Ring(arrays["colours"], arrays["coefficients"], arrays["heads"])
        self._run_bands(step, frame, ring, arrays["rho"], where, rule, Outputs(mask, score))
        if learn:
            self._fade(decay)
            self._boxes_known = False

    def _write_mask_by_boxes(self, frame: Frame, mask: Mask) -> None:
        """Write the mask of a frame that is not learned; boxes are only a cache: masks do not depend on them."""
        if self._boxes is None:
            self._boxes = Boxes(np.empty_like(frame), np.empty_like(frame))
        arrays = self._arrays
        rule = BoxRule(
            known=self._boxes_known,
            renew=not self._boxes_known or self.frames_seen % _RENEWAL == 0,
            gain=self._gain(frame.dtype),
            scale=np.float32(self._scalars["scale"]),
            kappa=np.float32(self._parameters["kappa"]),
            top=np.float32(np.iinfo(frame.dtype).max),
        )
        expansion = Expansion(arrays["colours"], arrays["coefficients"], arrays["rho"])
        self._run_bands(write_mask_by_boxes, frame, expansion, self._boxes, rule, mask)
        self._boxes_known = True
