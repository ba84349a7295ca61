"""Where the nodes of a graph are drawn: joined nodes close together, others apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, freeze

ROUNDS = 200
MOST_MOVED = 1500  # nodes; each round looks at all pairs, so that larger graphs stay as they begin
FIRST_MOVE = 0.1  # of the side of the drawing, falling to nothing


def lay_out(count: int, edges: NDArray[np.intp]) -> Array:
    """Return positions (n, 2) in a square, by springs along the edges and a push between all nodes.

    The start is a circle, so that the same graph is always drawn in the same way.

    Examples
    --------
    >>> places = lay_out(3, np.array([[0, 1]]))
    >>> gap = lambda i, j: np.hypot(*(places[i] - places[j]))
    >>> bool(gap(0, 1) < gap(0, 2))
    True
    """
    turns = 2 * np.pi * np.arange(count) / max(count, 1)
    places = 0.5 + 0.4 * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    if 1 < count <= MOST_MOVED:
        natural = np.sqrt(1.0 / count)
        for most in np.linspace(FIRST_MOVE, 0.0, ROUNDS, endpoint=False):
            gaps = places[:, np.newaxis] - places
            squares = np.maximum(np.einsum("ijk,ijk->ij", gaps, gaps), 1e-6)
            moves = np.einsum("ijk,ij->ik", gaps, natural**2 / squares)
            for one, other in ((0, 1), (1, 0)):
                pull = places[edges[:, other]] - places[edges[:, one]]
                np.add.at(moves, edges[:, one], pull * np.hypot(*pull.T)[:, np.newaxis] / natural)
            lengths = np.maximum(np.hypot(*moves.T), 1e-9)[:, np.newaxis]
            places = places + moves / lengths * np.minimum(lengths, most)
    low, high = places.min(axis=0), places.max(axis=0)
    return freeze((places - low) / np.maximum(high - low, 1e-9))
