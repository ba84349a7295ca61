"""How functions are compiled, and the instructions they use: by numba's inner workings, or without them."""

from __future__ import annotations

from nimt.plain_numba import PLAIN_NUMBA

if PLAIN_NUMBA:
    from nimt.engines._numba.plain import (
        add_to_cell,
        apply_formula,
        call_at,
        call_score_at,
        compiled,
        fetch,
        fill_squares,
        find_ends,
        first_in,
        inlined,
        match,
        measure_gaps,
        part,
        rule,
        step_in_cell,
        step_in_row,
        take_in_tile,
    )
else:
    from nimt.engines._numba.caching import compiled, inlined, part, rule
    from nimt.engines._numba.cell_rows import add_to_cell, find_ends, measure_gaps, step_in_cell
    from nimt.engines._numba.radial_rows import apply_formula, fill_squares
    from nimt.engines._numba.tile_rows import take_in_tile
    from nimt.engines._numba.vectors import call_at, call_score_at, fetch, first_in, match, step_in_row

__all__ = [
    "add_to_cell", "apply_formula", "call_at", "call_score_at", "compiled", "fetch", "fill_squares", "find_ends",
    "first_in", "inlined", "match", "measure_gaps", "part", "rule", "step_in_cell", "step_in_row", "take_in_tile",
]  # fmt: skip
