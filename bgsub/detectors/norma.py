"""NORMA: novelty detection by stochastic gradient descent in a reproducing kernel Hilbert space, at every pixel."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgsub.detectors._jit import norma as kernels
from bgsub.detectors.parameters import Parameter
from bgsub.detectors.ring_bank import RING_PARAMETERS, RingBank
from bgsub.frames import Frame, Mask, Score

__all__ = ["Norma"]

_BOXES_PAY = 8
"""Least learn_every with which it pays to look for boxes of background colours."""
_RENEWAL = 8
"""Frames from one time that boxes are renewed to the next."""


class Norma(RingBank):
    """Bank of NORMA nu-novelty detectors, one a pixel.

    Each pixel keeps f(x) = sum_j a_j exp(-|s_j - x|^2 / width^2) over a ring of `slots` colours and a threshold
    rho. A colour x is *novel* when f(x) < rho and *foreground* when f(x) < kappa rho. A learned frame shrinks all
    a_j by 1 - eta lam, stores a novel colour with a_j = eta, and moves rho by eta (nu - [novel]), so that the share
    nu of the learned colours is novel.

    Source: Kivinen, Smola, Williamson, Online learning with kernels, IEEE Trans. Signal Processing 52(8), 2004.
    The sign of rho's update is that of the gradient, opposite to the printed one, under which |rho| diverges.
    `kappa` separates the alarm from the update; kappa = 1 is the paper.

    Parameters
    ----------
    slots : int
        Support vectors a pixel, 1 to 254. The state takes slots * (channels + 4) + 5 bytes a pixel: 61 for 8
        slots in colour, and 6 more for the boxes that make frames cheap that are not learned.
    width : float
        Kernel width in grey levels over all channels, on a scale where white is 255.
    eta : float
        Step size: the coefficient of a new support vector. Keep it at most nu / 5.
    lam : float
        Regulariser: a learned frame shrinks coefficients by 1 - eta lam. eta * lam must be below 1.
    nu : float
        Share of learned colours that count as novel, in (0, 1). Large for video: small ones model rare colours.
    kappa : float
        Foreground is f < kappa rho.
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
    PARAMETERS = (
        *RING_PARAMETERS,
        Parameter("eta", float, "step size, the coefficient of a new support vector", 0, low_open=True),
        Parameter("lam", float, "regulariser; a learned frame shrinks coefficients by 1 - eta lam", 0),
        Parameter("nu", float, "share of learned colours that count as novel", 0, 1, low_open=True, high_open=True),
        Parameter("kappa", float, "foreground is f < kappa rho", 0, 1, low_open=True),
    )

    def __init__(
        self,
        *,
        slots: int = 8,
        width: float = 30.0,
        eta: float = 0.05,
        lam: float = 1.0,
        nu: float = 0.5,
        kappa: float = 0.25,
        learn_every: int = 32,
        memory_s: float | None = None,
        rate_hz: float = 25.0,
        warmup: int = 32,
        white: float | None = None,
        threads: int = 0,
    ) -> None:
        super().__init__(
            slots=slots,
            width=width,
            eta=eta,
            lam=lam,
            nu=nu,
            kappa=kappa,
            learn_every=learn_every,
            memory_s=memory_s,
            rate_hz=rate_hz,
            warmup=warmup,
            white=white,
            threads=threads,
        )
        if self._parameters["eta"] * self._parameters["lam"] >= 1:
            raise ValueError(f"eta * lam must be below 1, got {eta} * {lam}")

        self._boxes: tuple[Frame, Frame] | None = None
        self._boxes_known = False

    def change(self, **parameters: Any) -> None:
        """Change parameters of a running model; see `Detector.change`."""
        super().change(**parameters)
        self._boxes_known = False

    def reset(self) -> None:
        """Forget everything that was learned; parameters and region stay."""
        super().reset()
        self._boxes = None

    @property
    def memory_bytes(self) -> int:
        """Size of the model's arrays and of the boxes in bytes, 0 before the first frame."""
        return super().memory_bytes + sum(array.nbytes for array in self._boxes or ())

    def _start(self, frame: Frame) -> None:
        super()._start(frame)
        self._boxes, self._boxes_known = None, False

    def _initial_arrays(self, shape: tuple[int, int], colours: NDArray[Any]) -> dict[str, NDArray[Any]]:
        # rho starts between two values it can take, so that no decision is a tie (f of an unseen colour is 0).
        return super()._initial_arrays(shape, colours) | {
            "rho": np.full(shape, self._parameters["eta"] * self._parameters["nu"] / 2, np.float32)
        }

    def _judgement(self, row: int, column: int) -> tuple[str, float, str]:
        return "f", self._parameters["kappa"] * float(self._arrays["rho"][row, column]), "kappa rho"

    @property
    def _memory_in_steps(self) -> float:
        fading = self._parameters["eta"] * self._parameters["lam"]
        ring = self._parameters["slots"] / self._parameters["nu"]
        return float(min(ring, 1.0 / fading)) if fading > 0 else float(ring)

    def _run(self, frame: Frame, learn: bool, where: Mask, mask: Mask, score: Score) -> None:
        only_mask = not learn and mask.size > 0 and score.size == 0
        wide = frame.shape[1] >= kernels.SEGMENT
        if only_mask and wide and frame.dtype != np.float32 and self.learn_interval >= _BOXES_PAY:
            self._look(frame, mask)
            return
        eta, scale = self._parameters["eta"], self._scalars["scale"]
        decay = 1.0 - eta * self._parameters["lam"]
        self._run_kernel(
            kernels.step,
            frame,
            self._arrays["colours"],
            self._arrays["coefficients"],
            self._arrays["heads"],
            self._arrays["rho"],
            where,
            self._gain(frame.dtype),
            np.float32(scale),
            np.float32(self._parameters["kappa"]),
            learn,
            np.float32(eta),
            np.float32(self._parameters["nu"]),
            np.float32(decay),
            np.float32(eta / (scale * decay)),
            mask,
            score,
        )
        if learn:
            self._fade(decay)
            self._boxes_known = False

    def _look(self, frame: Frame, mask: Mask) -> None:
        """Write the mask of a frame that is not learned; boxes are a cache, which masks do not depend on."""
        if self._boxes is None:
            self._boxes = np.empty_like(frame), np.empty_like(frame)
        self._run_kernel(
            kernels.look,
            frame,
            self._arrays["colours"],
            self._arrays["coefficients"],
            self._arrays["rho"],
            *self._boxes,
            self._boxes_known,
            not self._boxes_known or self.frames_seen % _RENEWAL == 0,
            self._gain(frame.dtype),
            np.float32(self._scalars["scale"]),
            np.float32(self._parameters["kappa"]),
            np.float32(np.iinfo(frame.dtype).max),
            mask,
        )
        self._boxes_known = True
