"""Where functions are known and examples can be given: `Grid`, `Points`, `Box`."""

from nimt.pools.box import Box
from nimt.pools.pool import Grid, Points, Pool, as_pool, same_points, values_on

__all__ = ["Box", "Grid", "Points", "Pool", "as_pool", "same_points", "values_on"]
