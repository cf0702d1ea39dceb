"""Structure among labels: distances in a graph or a taxonomy, and kernels of labels."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from bgsub.learners._checks import check_real
from bgsub.learners.hypotheses.kernels import Array

__all__ = ["check_label_kernel", "graph_distances", "taxonomy_distances", "taxonomy_kernel"]


def _hashable(name: str, label: Any) -> Any:
    if not isinstance(label, Hashable):
        raise ValueError(f"{name} must have hashable labels, got {label!r}")
    return label


def _position(name: str, positions: Mapping[Any, int], label: Any) -> int:
    if label not in positions:
        raise ValueError(f"{name} must contain every label, lacks {label!r}")
    return positions[label]


def graph_distances(edges: Iterable[Any], labels: Iterable[Any]) -> Array:
    """Length of the shortest path between any two labels in a graph.

    Parameters
    ----------
    edges : iterable of (node, node) or (node, node, weight)
        Undirected edges; nodes are labels or anything hashable between them. Weights are positive, 1 by default.
    labels : iterable
        Labels in the order of the result.

    Returns
    -------
    (Q, Q) array

    Raises
    ------
    ValueError
        If an edge is no edge, the graph is not connected or lacks a label.

    Examples
    --------
    >>> graph_distances([("a", "b"), ("b", "c", 2.0)], ["a", "c"])
    array([[0., 3.],
           [3., 0.]])
    """
    positions: dict[Any, int] = {}
    known: list[tuple[int, int, float]] = []
    for edge in edges:
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) not in (2, 3):
            raise ValueError(f"label_graph must be edges (node, node) or (node, node, weight), got {edge!r}")
        first, second, weight = edge if len(edge) == 3 else (*edge, 1.0)
        check_real("label_graph's weight", weight, "be positive", above=0)
        ends = [positions.setdefault(_hashable("label_graph", node), len(positions)) for node in (first, second)]
        known.append((ends[0], ends[1], float(weight)))
    wanted = [_position("label_graph", positions, label) for label in labels]
    paths = np.full((len(positions), len(positions)), np.inf)
    np.fill_diagonal(paths, 0.0)
    for i, j, weight in known:
        paths[i, j] = paths[j, i] = min(paths[i, j], weight)
    for k in range(len(positions)):  # Floyd and Warshall
        np.minimum(paths, paths[:, k : k + 1] + paths[k], out=paths)
    if not np.isfinite(paths).all():
        nodes = list(positions)
        i, j = np.argwhere(~np.isfinite(paths))[0]
        raise ValueError(f"label_graph must be connected, got no path from {nodes[i]!r} to {nodes[j]!r}")
    result: Array = paths[np.ix_(wanted, wanted)]
    return result


def _ancestors(parents: Mapping[Any, Any], labels: Iterable[Any]) -> Array:
    """Return (Q, nodes): which nodes are ancestors of a label, itself among them."""
    if not isinstance(parents, Mapping):
        raise ValueError(f"taxonomy must be a mapping from node to parent, got {type(parents).__name__}")
    positions: dict[Any, int] = {}
    for node, parent in parents.items():
        for name in (node, parent):
            if name is not None:
                positions.setdefault(_hashable("taxonomy", name), len(positions))
    roots = [node for node in positions if parents.get(node) is None]
    if len(roots) != 1:
        raise ValueError(f"taxonomy must be connected, with one root, got {len(roots)} nodes without a parent")
    rows = []
    for label in labels:
        _position("taxonomy", positions, label)
        row, node = np.zeros(len(positions)), label
        while node is not None:
            if row[positions[node]]:
                raise ValueError(f"taxonomy must be a tree, got a cycle through {node!r}")
            row[positions[node]] = 1.0
            node = parents.get(node)
        rows.append(row)
    return np.array(rows).reshape(len(rows), len(positions))


def taxonomy_distances(parents: Mapping[Any, Any], labels: Iterable[Any]) -> Array:
    """Half the number of nodes that are ancestors of exactly one of two labels: equation 65 of the SVMD paper.

    A node is its own ancestor; two leaves below one parent have distance 1.

    Parameters
    ----------
    parents : mapping
        From each node to its parent; the root's is None, or it is no key.
    labels : iterable
        Labels in the order of the result.

    Returns
    -------
    (Q, Q) array

    Raises
    ------
    ValueError
        If that is no tree, or lacks a label.

    Examples
    --------
    >>> taxonomy_distances({"cat": "animal", "dog": "animal", "animal": "thing", "car": "thing"}, ["car", "cat", "dog"])
    array([[0. , 1.5, 1.5],
           [1.5, 0. , 1. ],
           [1.5, 1. , 0. ]])
    """
    above = _ancestors(parents, labels)
    result: Array = np.abs(above[:, None, :] - above[None, :, :]).sum(axis=2) / 2
    return result


def taxonomy_kernel(parents: Mapping[Any, Any], labels: Iterable[Any]) -> Array:
    """Count the common ancestors of any two labels: equation 68 of the SVMD paper.

    Parameters
    ----------
    parents, labels
        As in `taxonomy_distances`.

    Returns
    -------
    (Q, Q) array

    Examples
    --------
    >>> taxonomy_kernel({"cat": "animal", "dog": "animal", "animal": "thing", "car": "thing"}, ["car", "cat", "dog"])
    array([[2., 1., 1.],
           [1., 3., 2.],
           [1., 2., 3.]])
    """
    above = _ancestors(parents, labels)
    result: Array = above @ above.T
    return result


def check_label_kernel(matrix: Any, count: int) -> Array:
    """Return a matrix that is a kernel of `count` labels: symmetric and positive semi-definite."""
    kappa = np.asarray(matrix, np.float64)
    if kappa.shape != (count, count) or not np.isfinite(kappa).all() or not np.allclose(kappa, kappa.T):
        raise ValueError(
            f"label_kernel must be a symmetric matrix of {count} x {count} finite numbers, got shape {kappa.shape}"
        )
    smallest = float(np.linalg.eigvalsh(kappa)[0])
    if smallest < -1e-9 * max(1.0, float(np.abs(kappa).max())):
        raise ValueError(f"label_kernel must be positive semi-definite, got the eigenvalue {smallest:g}")
    return kappa
