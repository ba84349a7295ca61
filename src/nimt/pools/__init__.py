"""Where functions are known and examples can be given: `Grid`, `Points`, `Box`, `Named`."""

from nimt.pools.box import Box
from nimt.pools.named import Named
from nimt.pools.pool import Grid, Points, Pool, as_pool, same_points, values_on
from nimt.pools.prepared_points import Column, Preparation, PreparedPoints

__all__ = [
    "Box", "Column", "Grid", "Named", "Points", "Pool", "Preparation", "PreparedPoints", "as_pool", "same_points",
    "values_on",
]  # fmt: skip
