"""Where functions are known and examples can be given: `Grid`, `Points`, `Box`."""

from nimt.pools.base import Grid, Points, Pool, as_pool, same_points, values_on
from nimt.pools.box import Box

__all__ = ["Box", "Grid", "Points", "Pool", "as_pool", "same_points", "values_on"]
