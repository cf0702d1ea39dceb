"""The kernel recursive least-squares tracker: Gaussian process regression that forgets, with predictive variance."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bgsub.learners._base.regressor import OnlineKernelRegressor
from bgsub.learners._checks import check_choice, check_integer, check_real
from bgsub.learners._jit.filters import krls_t as jit
from bgsub.learners.hypotheses.expansion import KernelExpansion
from bgsub.learners.hypotheses.kernels import Array, Kernel
from bgsub.learners.hypotheses.samples import dense_blocks, one_sample

__all__ = ["KRLSTRegressor"]

_MATRICES = ("gram", "inverse", "covariance")


class _Posterior(KernelExpansion):
    """A dictionary with mean and covariance of f at its vectors; coefficients are computed on demand."""

    def __init__(self, kernel: Kernel, n_features: int, budget: int, dtype: str) -> None:
        super().__init__(kernel, n_features, budget + 1, dtype=dtype)  # one more, until one is pruned
        self.solution: Array | None = None
        self._allocate()

    def _allocate(self) -> None:
        capacity = len(self.arrays.norms)
        square = {name: np.zeros((capacity, capacity)) for name in _MATRICES}
        self.tracker = jit.Tracker(
            expansion=self.arrays, **square, mean=np.zeros(capacity), q=np.zeros(capacity), h=np.zeros(capacity)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "tracker": None, "_saved": self.state()}  # a copy would not share the arrays

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.pop("_saved")
        super().__setstate__(state)
        self._allocate()
        self.restore(saved)

    def grow(self) -> None:
        """Double the arrays, up to the budget and one."""
        old, size = self.tracker, self.size
        super().grow()
        self._allocate()
        self.tracker.mean[:size] = old.mean[:size]
        for name in _MATRICES:
            getattr(self.tracker, name)[:size, :size] = getattr(old, name)[:size, :size]

    def solve(self) -> Array:
        """Return the coefficients (cap,), computed once after samples were learned, into an array of its own."""
        known = self.solution
        if known is None:
            known = np.zeros(len(self.arrays.norms))
            jit.coefficients(self.tracker, known)
            self.solution = known
        return known

    def value(self, x: Array, weights: Array | None = None) -> Any:
        """f(x) of one sample (d,)."""
        used = self.solve()
        return super().value(x, used if self.compiled else used[: self.size])

    def values(self, samples: Array, weights: Array | None = None) -> Array:
        """Return f of each row of samples (m, d): (m,)."""
        used = self.solve()
        return super().values(samples, used if self.compiled else used[: self.size])

    def variances(self, samples: Array) -> Array:
        """Return the variance of f at each row of samples (m, d), in units of that of the function: (m,)."""
        out, size = np.zeros(len(samples)), self.size
        row, q, product = np.zeros((3, len(self.arrays.norms)))
        if self.compiled:
            jit.function_variances(self.tracker, np.require(samples, np.float64, ["C", "W", "E"]), row, q, product, out)
            return out
        for t, x in enumerate(samples):
            row[:size] = self.row(x)
            out[t] = jit.function_variance(self.tracker, row, self.kernel.diag(x), q, product)
        return out

    def coefficients(self) -> Array:
        """Return the coefficients: an (n,) array."""
        return self.solve()[: self.size].copy()

    def state(self) -> dict[str, Any]:
        """Return the arrays that a saved expansion consists of."""
        size = self.size
        square = {name: getattr(self.tracker, name)[:size, :size].copy() for name in _MATRICES}
        return {**super().state(), **square, "mean": self.tracker.mean[:size].copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the arrays of `state`, of an expansion with the same parameters."""
        super().restore(state)
        size, self.solution = self.size, None
        self.tracker.mean[:size] = state["mean"]
        for name in _MATRICES:
            getattr(self.tracker, name)[:size, :size] = state[name]


@dataclass(kw_only=True, eq=False, repr=False)
class KRLSTRegressor(OnlineKernelRegressor):
    """The KRLS tracker (Van Vaerenbergh, Lázaro-Gredilla, Santamaría 2012): it forgets, and knows how sure it is.

    f is a Gaussian process known by its mean m and covariance S at the vectors of a dictionary with Gram matrix K.
    Before each sample it forgets: back to the prior, S <- lam S + (1 - lam) K and m <- sqrt(lam) m; or by
    uncertainty, S <- S / lam. With k the kernel values of x, q = K^-1 k and h = S q, its prediction is q·m with
    the variance of f v = k(x, x) - k·q + q·h, and that of y is v + noise. x then joins the dictionary,
    [m; q·m] + (y - q·m) / (v + noise) [h; v], and S shrinks by [h; v] [h; v]^T / (v + noise). A dictionary beyond
    the budget loses the vector with the least |K^-1 m| / diag(K^-1), whose loss changes the mean least. x does not join
    where it is in the span of the others.

    With lam = 1 and budget enough it is Gaussian process regression; back to the prior, it is that with the kernel
    k(x, x') lam^(|t - t'| / 2) of samples and times. All variances are in units of the function's, which is estimated
    from the errors, with the same forgetting.

    The weight of a sample divides its noise.

    Parameters
    ----------
    kernel, gamma, sigma, width, degree, coef0, dtype
        As in `NORMANovelty`.
    lam : float
        Forgetting factor, in (0, 1]; 1 forgets nothing.
    forgetting : {"prior", "uncertainty"}
        See above.
    noise : float
        Variance of the noise in units of the variance of the function, positive.
    budget : int
        Most vectors stored. A sample costs its square.

    Attributes
    ----------
    scale_ : float
        Estimated variance of the function, for k(x, x) = 1.
    t_, n_support_, support_vectors_, dual_coef_, intercept_
        As in `KernelPerceptron`. Vectors are in no order.

    Raises
    ------
    ValueError
        From `fit`, `partial_fit` or `learn_one` where a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> model = KRLSTRegressor(sigma=1.0, budget=30).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[1.5], [9.0]], return_std=True)
    >>> round(float(mean[0]), 1), bool(std[1] > 3 * std[0])
    (1.0, True)
    """

    lam: float = 0.999
    forgetting: str = "prior"
    noise: float = 0.01
    budget: int = 100

    _state: ClassVar[Any] = jit.TrackerState

    def _checked_parameters(self) -> jit.TrackerParameters:
        check_real("lam", self.lam, "be in (0, 1]", above=0, most=1)
        check_choice("forgetting", self.forgetting, ("prior", "uncertainty"))
        check_real("noise", self.noise, "be positive", above=0)
        check_integer("budget", self.budget, "be an integer of at least 1", least=1)
        to_prior = self.forgetting == "prior"
        return jit.TrackerParameters(lam=self.lam, to_prior=to_prior, noise=self.noise, budget=self.budget)

    def _expansion(self, kernel: Kernel, n_features: int, budget: int | None, outputs: int | None) -> Any:
        return _Posterior(kernel, n_features, self.budget, self.dtype)

    def _run(self, first: int, samples: Array, targets: Array, importance: Array) -> int:
        e = self.expansion_
        e.solution = None
        return int(jit.track_rows(first, self._p, self._s, e.tracker, samples, targets, importance))

    def _learn_plainly(self, x: Array, y: float) -> None:
        expansion = self.expansion_
        row, k_tt = expansion.row(x), expansion.kernel.diag(x)
        expansion.make_room()
        expansion.solution = None
        expansion.arrays.row[: len(row)] = row
        jit.track(self._p[0], self._s[0], expansion.tracker, x, k_tt, y)

    @property
    def scale_(self) -> float:
        """Estimated variance of the function, for k(x, x) = 1; 0 before the first sample."""
        check_is_fitted(self)
        return float(self._s["squares"][0] / max(self._s["count"][0], np.finfo(np.float64).tiny))

    def predict(self, X: Array, return_std: bool = False) -> Any:  # noqa: N803
        """Return the prediction for each row of X (n, d), and on demand how far targets are from it.

        Parameters
        ----------
        X : (n, d) array
            Samples, finite.
        return_std : bool
            Whether to return standard deviations as well.

        Returns
        -------
        (n,) array, or two of them
            Means of y; with `return_std` also the standard deviations of y, noise included.
        """
        means = super().predict(X)
        if not return_std:
            return means
        blocks = dense_blocks(self._valid(X, reset=False))
        variances = np.concatenate([self.expansion_.variances(rows) for _, rows in blocks])
        return means, np.sqrt(self.scale_ * (self.noise + variances))

    def std_one(self, x: Array) -> float:
        """Return the standard deviation of y, noise included, at one sample (d,).

        Raises
        ------
        ValueError
            If x is of another length or not finite.
        """
        check_is_fitted(self)
        sample = one_sample(x, self.n_features_in_, self.dtype == "float32")
        return float(np.sqrt(self.scale_ * (self.noise + self.expansion_.variances(sample[None])[0])))
