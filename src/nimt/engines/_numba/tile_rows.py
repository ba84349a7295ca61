"""Tiles of a grid in vector registers: the steps that wait for a tile are taken in it together."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from nimt.engines._numba.radial_rows import Formulas
from nimt.engines.codes import FAN, LANES

AT_ONCE = FAN // 2  # rows whose values fit into the registers


@intrinsic
def take_in_tile(
    typing_context,
    f,
    y,
    first,
    window,
    place,
    row_places,
    widths,
    forbidden,
    waiting,
    begin,
    end,
    moves,
    centres,
    parts,
):
    """Take the steps waiting[begin:end] in a tile; return the largest f - y and the largest y - f after them.

    A step j adds moves[j] window[place - centres[j] + row_places[row]:] to each row, one step after another, so that
    the values are the same wherever the waiting ends. parts[begin:end] gets what each adds to the sum of squares. A row
    has `widths` cells on the grid, FAN numbers of this tile; None if all rows are whole.
    """

    def generate(context, builder, signature, arguments):
        f, y, first, window, place, row_places, widths, forbidden, waiting, begin, end, moves, centres, parts = (
            arguments
        )
        of = dict(zip(NAMES, signature.args, strict=True))
        here = Formulas(context, builder)
        index = ir.IntType(64)
        nothing, lowest = here.constant(0.0), here.constant(float("-inf"))
        top, bottom = lowest, lowest
        for half in range(0, FAN, AT_ONCE):
            rows = range(half, half + AT_ONCE)
            slots = [builder.add(first, index(row * LANES)) for row in rows]
            offsets = [builder.load(here.place(row_places, of["row_places"], index(row))) for row in rows]
            inside = [None] * AT_ONCE
            if not isinstance(of["widths"], types.NoneType):
                lanes = ir.Constant(here.wholes, list(range(LANES)))
                sizes = [builder.load(here.place(widths, of["widths"], index(row))) for row in rows]
                inside = [builder.icmp_signed("<", lanes, here.everywhere(size, here.wholes)) for size in sizes]

            def errors_of(values, slots=slots):
                targets = [here.load(y, of["y"], slot, here.reals) for slot in slots]
                return [builder.fsub(value, target) for value, target in zip(values, targets, strict=True)]

            def square_of(errors):
                total = nothing
                for error in errors:
                    total = here.fma(error, error, total)
                return here.total(total)

            loaded = [here.load(f, of["f"], slot, here.reals) for slot in slots]
            kept = [cgutils.alloca_once_value(builder, value) for value in loaded]
            square = cgutils.alloca_once_value(builder, square_of(errors_of(loaded)))
            with cgutils.for_range_slice(builder, begin, end, index(1), index) as (k, _):
                j = builder.zext(builder.load(here.place(waiting, of["waiting"], k)), index)
                base = builder.sub(place, builder.load(here.place(centres, of["centres"], j)))
                move = here.everywhere(builder.load(here.place(moves, of["moves"], j)), here.reals)
                values = []
                for row in range(AT_ONCE):
                    w = here.load(window, of["window"], builder.add(base, offsets[row]), here.reals)
                    if inside[row] is not None:
                        w = builder.select(inside[row], w, nothing)
                    value = builder.fadd(builder.load(kept[row]), builder.fmul(move, w))
                    builder.store(value, kept[row])
                    values.append(value)
                now = square_of(errors_of(values))
                added = builder.fsub(now, builder.load(square))
                builder.store(now, square)
                to = here.place(parts, of["parts"], k)
                builder.store(added if half == 0 else builder.fadd(builder.load(to), added), to)
            values = [builder.load(value) for value in kept]
            for row, (slot, error) in enumerate(zip(slots, errors_of(values), strict=True)):
                builder.store(values[row], here.at(f, of["f"], slot, here.reals), align=8)
                over, under = error, builder.fneg(error)
                barred = None if inside[row] is None else builder.not_(inside[row])
                if not isinstance(of["forbidden"], types.NoneType):
                    marks = here.load(forbidden, of["forbidden"], slot, here.wholes)
                    barred = builder.icmp_signed("!=", marks, ir.Constant(here.wholes, [0] * LANES))
                if barred is not None:
                    over, under = builder.select(barred, lowest, over), builder.select(barred, lowest, under)
                top, bottom = here.larger(top, over), here.larger(bottom, under)
        return context.make_tuple(
            builder, signature.return_type, [here.fold(end, here.larger) for end in (top, bottom)]
        )

    arguments = (
        f, y, first, window, place, row_places, widths, forbidden, waiting, begin, end, moves, centres, parts,
    )  # fmt: skip
    return types.UniTuple(types.float64, 2)(*arguments), generate


NAMES = (
    "f", "y", "first", "window", "place", "row_places", "widths", "forbidden", "waiting", "begin", "end", "moves",
    "centres", "parts",
)  # fmt: skip
