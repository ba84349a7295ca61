"""Kernels between the nodes of a graph: diffusion, and Matern's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, check_positive, is_number
from nimt.errors import InvalidInput
from nimt.kernels.precomputed import Precomputed

LARGEST = 5000  # nodes; the eigenvalues of more take minutes


def diffusion(graph: Any, time: float = 1.0) -> Precomputed:
    """Return exp(-time L), L the Laplacian of a graph: how much heat goes from one node to another in that time.

    It is scaled so that the mean of K(x, x) is 1.

    Parameters
    ----------
    graph : graph of networkx, sparse matrix of scipy, or array (n, n)
        Undirected; the weights of the edges are at least 0. The nodes of networkx bring their names.
    time : float

    Examples
    --------
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> diffusion(path, time=0.5).gram.round(2)
    array([[1.1 , 0.42, 0.11],
           [0.42, 0.79, 0.42],
           [0.11, 0.42, 1.1 ]])
    """
    check_positive("time", time)
    return _of_spectrum(graph, lambda values: np.exp(-time * values))


def graph_matern(graph: Any, nu: float = 1.5, width: float = 1.0) -> Precomputed:
    """Return (2 nu / width^2 + L)^(-nu), Matern's kernel on a graph (Borovitskiy et al., 2021).

    It is scaled like `diffusion`.

    Parameters
    ----------
    graph : graph of networkx, sparse matrix of scipy, or array (n, n)
    nu : float
        How smooth functions are.
    width : float
        How far, in edges, a node is like others.

    Examples
    --------
    >>> graph_matern([[0, 1], [1, 0]], nu=1.0).gram
    array([[1.        , 0.33333333],
           [0.33333333, 1.        ]])
    """
    check_positive("nu", nu)
    check_positive("width", width)
    return _of_spectrum(graph, lambda values: (2.0 * nu / width**2 + values) ** -nu)


def _of_spectrum(graph: Any, weigh: Any) -> Precomputed:
    weights, names = _weights(graph)
    values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    gram = (vectors * weigh(np.maximum(values, 0.0))) @ vectors.T
    gram = (gram + gram.T) / 2.0
    return Precomputed(gram / np.diagonal(gram).mean(), names, _edges(weights))


def _edges(weights: Array) -> NDArray[np.intp]:
    return np.argwhere(np.triu(weights, 1) > 0)


def _weights(graph: Any) -> tuple[Array, tuple[str, ...]]:
    """Return the symmetric weights of a graph, and the names of its nodes if it has any."""
    names: tuple[str, ...] = ()
    if hasattr(graph, "adjacency") and hasattr(graph, "nodes"):  # of networkx, which need not be installed
        nodes = list(graph.nodes)
        names, place = tuple(map(str, nodes)), {node: number for number, node in enumerate(nodes)}
        _check_size(len(nodes))
        matrix = np.zeros((len(nodes), len(nodes)))
        for one, other, weight in graph.edges(data="weight", default=1.0):
            if not is_number(weight):
                raise InvalidInput(f"has an edge of weight {weight!r}: weights are at least 0", parameter="graph")
            matrix[place[one], place[other]] += weight  # of a multigraph there may be several
            matrix[place[other], place[one]] = matrix[place[one], place[other]]
        if graph.is_directed():
            raise InvalidInput("is directed", parameter="graph", way_out="give graph.to_undirected()")
    else:
        _check_size(np.shape(graph)[0] if np.ndim(graph) or hasattr(graph, "toarray") else 1)
        matrix = np.asarray(graph.toarray() if hasattr(graph, "toarray") else graph, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise InvalidInput(
            f"must be a graph of two nodes or more, as an adjacency matrix (n, n), got shape {matrix.shape}",
            parameter="graph",
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        wrong = matrix[~np.isfinite(matrix) | (matrix < 0)][0]
        raise InvalidInput(f"has an edge of weight {wrong:g}: weights are at least 0", parameter="graph")
    if not np.array_equal(matrix, matrix.T):
        raise InvalidInput(
            "is directed", parameter="graph", way_out="give np.maximum(A, A.T), or graph.to_undirected()"
        )
    return matrix - np.diag(np.diagonal(matrix)), names


def _check_size(count: int) -> None:
    if count > LARGEST:
        raise InvalidInput(
            f"has {count:,} nodes, at most {LARGEST:,} are taken",
            parameter="graph",
            way_out="give a part of it, or a kernel of your own as nimt.Precomputed(gram)",
        )
