"""Weights of classes, as scikit-learn's classifiers take them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bgsub.learners._checks import check_real
from bgsub.learners.hypotheses.kernels import Array

__all__ = ["class_weights"]


def class_weights(given: Any, classes: Array, labels: Array | None) -> Array:
    """Return the factor of the weights of each class's samples: a (Q,) array.

    Parameters
    ----------
    given : mapping, "balanced" or None
        The parameter `class_weight`.
    classes : (Q,) array
        All classes, sorted.
    labels : (n,) array or None
        Classes of all samples, where they are known.

    Raises
    ------
    ValueError
        If `given` is nothing of that, names no class, or is "balanced" where labels are not known or lack a class.

    Examples
    --------
    >>> class_weights("balanced", np.array([0, 1]), np.array([0, 1, 1, 1]))
    array([2.        , 0.66666667])
    """
    result = np.ones(len(classes))
    if given is None:
        return result
    if isinstance(given, str) and given == "balanced":
        if labels is None:
            raise ValueError("class_weight must be None or a mapping unless fit is called first, got 'balanced'")
        counts = np.array([np.count_nonzero(labels == label) for label in classes])
        if not counts.all():
            missing = classes.tolist()[int(np.argmin(counts))]
            raise ValueError(f"class_weight 'balanced' must find samples of every class, got none of {missing!r}")
        balanced: Array = len(labels) / (len(classes) * counts)
        return balanced
    if not isinstance(given, Mapping):
        raise ValueError(f"class_weight must be a mapping of classes, 'balanced' or None, got {given!r}")
    positions = {label: i for i, label in enumerate(classes.tolist())}
    for label, weight in given.items():
        if label not in positions:
            raise ValueError(f"class_weight must name classes of {list(positions)}, got {label!r}")
        check_real("class_weight", weight, "have positive values", above=0)
        result[positions[label]] = weight
    return result
