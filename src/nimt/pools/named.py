"""A pool of things that have names and no coordinates: words, molecules, the nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt import display
from nimt.arrays import Array, freeze, real_array
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.pools.graph_layout import lay_out
from nimt.pools.pool import Pool

NAMES_SHOWN = 5  # in a notebook


class Named(Pool):
    """Things known by their names; a kernel such as `nimt.Precomputed` says how alike two of them are.

    Point i of the pool is the number i, so that a kernel can look it up.

    Parameters
    ----------
    names : words, all different
    edges : pairs of numbers of names, optional
        Between which the nodes of a graph are joined; figures then draw the graph.
    positions : array (n, 2), optional
        Where figures draw the nodes; by default joined nodes lie close together.

    Examples
    --------
    >>> pool = Named(["cat", "cart", "dog"])
    >>> len(pool), pool.numbers(["dog", "cat"])
    (3, array([2, 0]))
    >>> pool.coordinates(np.array([1]))
    {'name': array(['cart'], dtype='<U4')}
    """

    def __init__(
        self, names: Iterable[str], edges: ArrayLike | None = None, positions: ArrayLike | None = None
    ) -> None:
        self.names: tuple[str, ...] = check_words(names)
        self._edges = _check_edges(edges, len(self.names))
        self._given_positions = None if positions is None else _check_positions(positions, len(self.names))

    @cached_property
    def points(self) -> Array:
        return freeze(np.arange(len(self.names), dtype=np.float64)[:, np.newaxis])

    @cached_property
    def positions(self) -> Array:
        """Where figures draw the nodes, shape (n, 2)."""
        return lay_out(len(self), self.edges) if self._given_positions is None else self._given_positions

    @property
    def edges(self) -> NDArray[np.intp]:
        return self._edges

    def numbers(self, names: Iterable[str]) -> NDArray[np.intp]:
        """Return the number of each of some names."""
        places = {name: number for number, name in enumerate(self.names)}
        asked = list(names)
        if (unknown := next((name for name in asked if name not in places), None)) is not None:
            raise InvalidInput(f"{unknown!r} is not a name of this pool of {len(self)}: it has {_some(self.names)}")
        return np.array([places[name] for name in asked], dtype=np.intp)

    @property
    def point_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def view(self) -> str:
        return "graph" if len(self.edges) else "agreement"

    def coordinates(self, indices: NDArray[np.intp]) -> Mapping[str, NDArray[Any]]:
        return {"name": np.array(self.names)[indices]}

    def describe(self) -> dict[str, Any]:
        edges = {"edges": self.edges} if len(self.edges) else {}
        placed = {} if self._given_positions is None else {"positions": self._given_positions}
        return {"names": list(self.names)} | edges | placed

    def __len__(self) -> int:
        return len(self.names)

    def _repr_html_(self) -> str:
        rows = {"names": _some(self.names)} | ({"edges": f"{len(self.edges):,}"} if len(self.edges) else {})
        return display.cell(repr(self), display.pairs(rows))

    def __repr__(self) -> str:
        edges = f", {say_count(len(self.edges), 'edge')}" if len(self.edges) else ""
        return f"Named({len(self)}{edges})"


def check_words(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; refuse what is not a list of different words."""
    if isinstance(names, str):
        raise InvalidInput(f"must be a list of words, got the one word {names!r}", parameter="names")
    words = tuple(names)
    if not words:
        raise InvalidInput("is empty", parameter="names", way_out="give at least one word")
    if (wrong := next((word for word in words if not isinstance(word, str)), None)) is not None:
        raise InvalidInput(
            f"must be words, got {wrong!r}", parameter="names", way_out="give [str(name) for name in ...]"
        )
    if len(set(words)) < len(words):
        twice = next(word for at, word in enumerate(words) if word in words[:at])
        raise InvalidInput(f"{twice!r} is there twice", parameter="names", way_out="give each thing a name of its own")
    return tuple(str(word) for word in words)


def _check_edges(edges: ArrayLike | None, count: int) -> NDArray[np.intp]:
    if edges is None or np.size(edges) == 0:
        return np.empty((0, 2), np.intp)
    pairs = real_array("edges", edges)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InvalidInput(f"must be pairs of numbers of names, shape (m, 2), got {pairs.shape}", parameter="edges")
    wrong = (pairs != np.floor(pairs)) | (pairs < 0) | (pairs >= count)
    if wrong.any():
        raise InvalidInput(
            f"{pairs[wrong][0]:g} is no number of a name",
            parameter="edges",
            way_out=f"give numbers from 0 to {count - 1}",
        )
    whole = pairs.astype(np.intp)
    whole.setflags(write=False)
    return whole


def _check_positions(positions: ArrayLike, count: int) -> Array:
    placed = real_array("positions", positions)
    if placed.shape != (count, 2) or not np.isfinite(placed).all():
        raise InvalidInput(
            f"must be finite, of shape ({count}, 2), one row for each name, got shape {placed.shape}",
            parameter="positions",
        )
    return freeze(placed)


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
