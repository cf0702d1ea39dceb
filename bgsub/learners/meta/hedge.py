"""Weights of experts that follow their losses."""

import math

import numpy as np

from bgsub.learners.hypotheses.kernels import Array

__all__ = ["AdaHedge"]


class AdaHedge:
    """Weights of experts, by exponentials of their losses, at a rate that needs no tuning.

    The algorithm of de Rooij, van Erven, Grünwald and Koolen (2014, figure 1): with L the total losses of N experts,
    the weights are proportional to exp(-rate · L), and the rate is log(N) / gap, where gap is the sum so far of how
    much the mean loss under the weights exceeded the mix loss -log(sum of w exp(-rate · loss)) / rate. On any losses,
    in any range, the sum of the mean losses exceeds the least total loss by at most twice the gap (lemma 3 there).

    Parameters
    ----------
    size : int
        Number of experts.

    Attributes
    ----------
    totals : (size,) array
        Total losses.
    gap : float
        Sum of the mixability gaps.
    mean_total : float
        Sum of the mean losses.

    Examples
    --------
    >>> hedge = AdaHedge(2)
    >>> for _ in range(20):
    ...     mean = hedge.learn(np.array([0.0, 1.0]))
    >>> hedge.weights().round(3), hedge.mean_total <= 2 * hedge.gap
    (array([1., 0.]), True)
    """

    def __init__(self, size: int) -> None:
        self.totals = np.zeros(size)
        self.gap = 0.0
        self.mean_total = 0.0

    def weights(self) -> Array:
        """Return the weights (size,) of the next prediction; they sum to 1."""
        return self._weights_and_mix()[0]

    def _weights_and_mix(self) -> tuple[Array, float]:
        """Return the weights, and -log(mean of exp(-rate · totals)) / rate."""
        least = float(self.totals.min())
        if self.gap == 0:
            first = (self.totals == least).astype(np.float64)
            return first / first.sum(), least
        rate = math.log(len(self.totals)) / self.gap
        powers = np.exp(-rate * (self.totals - least))
        return powers / powers.sum(), least - math.log(float(powers.mean())) / rate

    def learn(self, losses: Array) -> float:
        """Add the losses (size,) of one sample; return their mean under the weights before it."""
        weights, before = self._weights_and_mix()
        mean = float(weights @ losses)
        self.totals += losses
        # The mix loss of this sample is the difference of those of all samples; the gap, and so the rate, is the same.
        mix = self._weights_and_mix()[1] - before
        self.gap += max(0.0, mean - mix)
        self.mean_total += mean
        return mean
