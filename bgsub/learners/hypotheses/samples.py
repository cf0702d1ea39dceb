"""Samples and stored arrays: checked, rounded to the type in which they are stored, enlarged."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import ddot
from scipy.sparse import issparse

from bgsub.learners.hypotheses.kernels import Array

__all__ = ["check_width", "dense_blocks", "enlarged", "hold_sample", "one_sample", "rounded", "writable"]


_BLOCK_NUMBERS = 2**19  # 4 MB: more makes nothing faster


def dense_blocks(samples: Any) -> Iterator[tuple[slice, Array]]:
    """Yield dense rows with their place: all at once, or those of a CSR matrix some at a time."""
    if not issparse(samples):
        yield slice(0, len(samples)), samples
        return
    size = max(1, _BLOCK_NUMBERS // max(1, samples.shape[1]))
    for start in range(0, samples.shape[0], size):
        part = slice(start, min(start + size, samples.shape[0]))
        yield part, samples[part].toarray()


def rounded(samples: Array, dtype: Any) -> Array:
    """Return float64 samples as they are when they have been stored as dtype.

    What is learned and scored is rounded as well, so that a stored sample has no distance from itself.

    Raises
    ------
    ValueError
        If a number is too large for float32.
    """
    if np.dtype(dtype) == np.float64:
        return samples
    with np.errstate(over="ignore", under="ignore"):
        result: Array = samples.astype(np.float32).astype(np.float64)
    if not np.isfinite(result).all():
        raise ValueError(f"X must be within the range of float32, got {np.abs(samples).max():g}")
    return result


def writable(state: dict[str, Any]) -> dict[str, Any]:
    """Copy arrays that were restored read-only, as from joblib's memory maps: compiled loops write into theirs."""
    return {name: _writable(value) for name, value in state.items()}


def _writable(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_writable, value))
    return np.array(value) if isinstance(value, np.ndarray) and not value.flags.writeable else value


def enlarged(array: Array, capacity: int) -> Array:
    """Copy to an array with `capacity` rows, the new ones zero."""
    result: Array = np.zeros((capacity, *array.shape[1:]), array.dtype)
    result[: len(array)] = array
    return result


def check_width(samples: Array, n_features: int) -> None:
    """Require rows (m, d) of the length that was learned: compiled loops do not look where a row ends.

    Raises
    ------
    ValueError
        If they are of another length.
    """
    if samples.ndim != 2 or samples.shape[1] != n_features:
        raise ValueError(f"X must be rows of {n_features} features, got an array of shape {samples.shape}")


def hold_sample(held: Array, x: Any, single: bool = False) -> Array:
    """Write one sample (d,) to held (1, d) float64 and return that; rounded to float32 where `single` says so.

    Raises
    ------
    ValueError
        If the sample is of another length or not finite.
    """
    flat, given = held[0], np.asarray(x)
    if given.shape != flat.shape:
        raise ValueError(f"x must have {len(flat)} features, got {_extent(given)}")
    flat[:] = given
    if single:
        _round(flat)
    if not ddot(flat, flat) < np.inf:  # a third of the time of numpy's, which would also warn of an overflow
        raise ValueError(f"x must be finite, and so must its square, got {flat}")
    return held


def one_sample(x: Any, n_features: int | None, single: bool = False) -> Array:
    """Return one sample as a new (d,) float64 array: what a call that learns nothing works on.

    Parameters
    ----------
    x : (d,) array
        The sample.
    n_features : int or None
        Its length; None for any.
    single : bool
        Whether to round it to float32, as support vectors are.

    Raises
    ------
    ValueError
        If the sample is of another length or not finite.
    """
    sample: Array = np.array(x, np.float64)
    if sample.shape != (n_features,) and (n_features is not None or sample.ndim != 1 or not len(sample)):
        wanted = "be a row of features" if n_features is None else f"have {n_features} features"
        raise ValueError(f"x must {wanted}, got {_extent(sample)}")
    if single:
        _round(sample)
    if not ddot(sample, sample) < np.inf:
        raise ValueError(f"x must be finite, and so must its square, got {sample}")
    return sample


def _extent(x: Array) -> str:
    return str(len(x)) if x.ndim == 1 else f"an array of shape {x.shape}"


def _round(sample: Array) -> None:
    with np.errstate(over="ignore", under="ignore"):
        sample[:] = sample.astype(np.float32)
