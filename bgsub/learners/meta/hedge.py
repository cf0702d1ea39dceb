"""Weights of experts that follow their losses."""

import math

import numpy as np

from bgsub.learners.hypotheses.kernels import Array

__all__ = ["AdaHedge"]

_NOTHING = 1e-300  # a gap that a discount has made so small has no rate


class AdaHedge:
    """Weights of experts, by exponentials of their losses, at a rate that needs no tuning.

    The algorithm of de Rooij, van Erven, Grünwald and Koolen (2014, figure 1): with L the total losses of N experts,
    the weights are proportional to exp(-rate · L), and the rate is log(N) / gap, where gap is the sum so far of how
    much the mean loss under the weights exceeded the mix loss -log(sum of w exp(-rate · loss)) / rate. On any losses,
    in any range, the sum of the mean losses exceeds the least total loss by at most twice the gap (lemma 3 there).

    With a discount, all sums are multiplied by it before each sample, as Chernov and Zhdanov (2010) discount losses.
    The bound holds for these sums, since the rate then grows by no more than the losses shrink.

    Parameters
    ----------
    size : int
        Number of experts.
    discount : float
        Factor of past losses, in (0, 1]; 1 forgets nothing.

    Attributes
    ----------
    totals : (size,) array
        Total losses, discounted.
    gap : float
        Sum of the mixability gaps, discounted.
    mean_total : float
        Sum of the mean losses, discounted.

    Examples
    --------
    >>> hedge = AdaHedge(2)
    >>> for _ in range(20):
    ...     mean = hedge.learn(np.array([0.0, 1.0]))
    >>> hedge.weights().round(3), hedge.mean_total <= 2 * hedge.gap
    (array([1., 0.]), True)
    """

    def __init__(self, size: int, discount: float = 1.0) -> None:
        self.discount = discount
        self.totals = np.zeros(size)
        self.gap = 0.0
        self.mean_total = 0.0

    def weights(self) -> Array:
        """Return the weights (size,) of the next prediction; they sum to 1."""
        return self._weights_and_mix()[0]

    def _weights_and_mix(self) -> tuple[Array, float]:
        """Return the weights, and -log(mean of exp(-rate · totals)) / rate."""
        least = float(self.totals.min())
        if self.gap < _NOTHING:
            first = (self.totals == least).astype(np.float64)
            return first / first.sum(), least
        rate = math.log(len(self.totals)) / self.gap
        powers = np.exp(-rate * (self.totals - least))
        return powers / powers.sum(), least - math.log(float(powers.mean())) / rate

    def learn(self, losses: Array) -> float:
        """Add the losses (size,) of one sample; return their mean under the weights before it."""
        if self.discount < 1:  # this changes no weight: the rate grows as the losses shrink
            self.totals *= self.discount
            self.gap *= self.discount
            self.mean_total *= self.discount
        weights, before = self._weights_and_mix()
        mean = float(weights @ losses)
        self.totals += losses
        # The mix loss of this sample is the difference of those of all samples; the gap, and so the rate, is the same.
        mix = self._weights_and_mix()[1] - before
        self.gap += max(0.0, mean - mix)
        self.mean_total += mean
        return mean
