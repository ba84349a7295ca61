"""Surfaces and paths in three dimensions, projected here: one patch collection per panel, drawn back to front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from nimt.arrays import Array
from nimt.plots.style import QUIET

LIGHT = np.array([-0.4, -0.5, 0.77])
COINCIDE = 1e-3  # of the box's height
FINE = 4  # parts of a cell along each axis, where surfaces cross
SHADE = 0.45  # how much darker a face is if it is turned away from the light


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface over a grid: heights (rows, columns), and one colour or the name of a colour map by height."""

    values: Array
    colour: str
    alpha: float = 1.0


@dataclass(frozen=True)
class Room:
    """A box in parallel projection; every axis is scaled to the box.

    Parameters
    ----------
    x, y, z : pairs of floats
        The range of each axis.
    azimuth, elevation : float
        Degrees, as in matplotlib's 3-D axes.
    height : float
        Height of the box; its sides are 1.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    z: tuple[float, float]
    azimuth: float = -60.0
    elevation: float = 30.0
    height: float = 0.7

    def place(self, points: Array) -> tuple[Array, Array]:
        """Return the projection of points (..., 3), shape (..., 2), and how near they are to the viewer."""
        spans = np.array([self.x, self.y, self.z], dtype=float)
        unit = (points - spans[:, 0]) / (spans[:, 1] - spans[:, 0]) - 0.5
        unit = unit * [1.0, 1.0, self.height]
        right, up, towards = self._directions()
        return np.stack([unit @ right, unit @ up], axis=-1), unit @ towards

    def spot(self, point: Array) -> tuple[float, float]:
        """Return the projection of one point (3,)."""
        seen, _ = self.place(point)
        return float(seen[0]), float(seen[1])

    def open(self, ax: Axes, names: Sequence[str] = (), ticks: Sequence[float] = ()) -> None:
        """Draw the floor, the two walls behind it, and the names of the axes; ticks are heights."""
        (x0, x1), (y0, y1), (z0, z1) = self.x, self.y, self.z
        right, _, towards = self._directions()
        back_x, front_x = (x0, x1) if towards[0] > 0 else (x1, x0)
        back_y, front_y = (y0, y1) if towards[1] > 0 else (y1, y0)
        loops = [
            [(x0, y0, z0), (x1, y0, z0), (x1, y1, z0), (x0, y1, z0)],
            [(back_x, y0, z0), (back_x, y1, z0), (back_x, y1, z1), (back_x, y0, z1)],
            [(x0, back_y, z0), (x1, back_y, z0), (x1, back_y, z1), (x0, back_y, z1)],
        ]
        seen = [self.place(np.array(loop))[0] for loop in loops]
        ax.add_collection(PolyCollection(seen, facecolors="#F6F6F6", edgecolors="#D0D0D0", linewidths=0.5, zorder=0))
        # heights are labelled at the vertical edge on the left
        edge_x, edge_y = (back_x, front_y) if right[1] * (front_y - back_y) < 0 else (front_x, back_y)
        for tick in ticks:
            at = self.spot(np.array([edge_x, edge_y, tick]))
            ax.annotate(
                f"{tick:g}", at, xytext=(-3, 0), textcoords="offset points", ha="right", va="center", fontsize=6.5,
                color=QUIET,
            )  # fmt: skip
        middles = [((x0 + x1) / 2, front_y, z0), (front_x, (y0 + y1) / 2, z0), (edge_x, edge_y, (z0 + z1) / 2)]
        for number, (name, middle) in enumerate(zip(names, middles, strict=False)):
            at = self.spot(np.array(middle))
            upright = number == 2
            side = "right" if upright or at[0] < 0 else "left"
            ax.annotate(
                name, at, xytext=(-14, 0) if upright else (-3 if at[0] < 0 else 3, -5), textcoords="offset points",
                ha=side, va="center" if upright else "top", fontsize=7.5, color="#4D4D4D",
            )  # fmt: skip
        corners = self.place(np.array([(a, b, c) for a in self.x for b in self.y for c in self.z]))[0]
        low, high = corners.min(axis=0), corners.max(axis=0)
        ax.set_xlim(low[0] - 0.02, high[0] + 0.02)
        ax.set_ylim(low[1] - 0.02, high[1] + 0.02)
        ax.set_aspect("equal")
        ax.set_axis_off()

    def show(self, ax: Axes, surfaces: Sequence[Surface]) -> None:
        """Draw surfaces that share one grid over the floor; where they cross, the nearer patch is in front."""
        parts = FINE if len(surfaces) > 1 else 1  # patches as large as cells would cross each other
        patches, depths, colours = zip(*(self._patches(surface, parts) for surface in surfaces), strict=True)
        # from back to front; where surfaces nearly coincide, the later one is on top
        order = np.argsort(np.concatenate([part + COINCIDE * number for number, part in enumerate(depths)]))
        faces = np.concatenate(colours)[order]
        # an edge closes the seams between solid patches, and would darken those of others
        edges = np.where(faces[:, 3:] == 1.0, faces, 0.0)
        shapes = list(np.concatenate(patches)[order])
        together = PolyCollection(shapes, facecolors=faces, edgecolors=edges, linewidths=0.25, zorder=2)
        together.set_rasterized(True)  # thousands of patches make a PDF slow to write and to show
        ax.add_collection(together)

    def path(self, ax: Axes, points: Array, **style: Any) -> None:
        """Draw a line through points (n, 3)."""
        seen, _ = self.place(points)
        ax.plot(seen[:, 0], seen[:, 1], **style)

    def _patches(self, surface: Surface, parts: int) -> tuple[Array, Array, Array]:
        """Return the projected patches, how near they are and their colours; each cell has parts x parts of them."""
        values = refine(refine(surface.values, parts).T, parts).T
        rows, columns = values.shape
        grid_x, grid_y = np.meshgrid(np.linspace(*self.x, columns), np.linspace(*self.y, rows))
        corners = np.stack([grid_x, grid_y, np.clip(values, *self.z)], axis=-1)
        quads = np.stack([corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1]], axis=2)
        quads = quads.reshape(-1, 4, 3)
        seen, near = self.place(quads)
        heights = (quads[:, :, 2].mean(axis=1) - self.z[0]) / (self.z[1] - self.z[0])
        if surface.colour in colormaps:
            base = colormaps[surface.colour](heights)[:, :3]
        else:
            base = np.broadcast_to(to_rgb(surface.colour), (len(quads), 3))
        shades = base * (1.0 - SHADE * (1.0 - self._lit(quads)))[:, np.newaxis]
        faces = np.column_stack([shades, np.full(len(shades), surface.alpha)])
        return seen, near.mean(axis=1), faces

    def _lit(self, quads: Array) -> Array:
        spans = np.array([np.ptp(self.x), np.ptp(self.y), np.ptp(self.z) / self.height])
        unit = quads / spans
        normals = np.cross(unit[:, 2] - unit[:, 0], unit[:, 3] - unit[:, 1])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return np.asarray(np.abs(normals @ (LIGHT / np.linalg.norm(LIGHT))))

    def _directions(self) -> tuple[Array, Array, Array]:
        a, e = np.radians([self.azimuth, self.elevation])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        up = np.array([-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)])
        return right, up, np.cross(right, up)


def refine(values: Array, parts: int) -> Array:
    """Return values (rows, columns) with so many parts between two rows, by straight lines.

    Examples
    --------
    >>> refine(np.array([[0.0], [3.0]]), 3).ravel()
    array([0., 1., 2., 3.])
    """
    places = np.linspace(0, len(values) - 1, parts * (len(values) - 1) + 1)
    low = np.minimum(places.astype(int), len(values) - 2)
    share = (places - low)[:, np.newaxis]
    return np.asarray((1 - share) * values[low] + share * values[low + 1])
