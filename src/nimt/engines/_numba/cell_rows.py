"""Cells of points in vector registers: their boxes, and steps of a lesson in them."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from nimt.engines._numba.radial_rows import TWO_ROWS, Formulas
from nimt.engines.codes import CELL, LANES


@intrinsic
def measure_gaps(typing_context, boxes, at, stride, centre, near, far, to):
    """Write the squared distances of LANES boxes from a point to near[to:], of their farthest points to far[to:].

    The lower sides of the boxes on axis i are boxes[at + 2 i stride:], the upper ones boxes[at + (2 i + 1) stride:].
    None for `far` leaves it out.
    """

    def generate(context, builder, signature, arguments):
        boxes, at, stride, centre, near, far, to = arguments
        of = signature.args
        here = Formulas(context, builder)
        axes = context.make_array(of[3])(context, builder, centre)
        wanted = not isinstance(of[5], types.NoneType)
        nearest, farthest = (cgutils.alloca_once_value(builder, here.constant(0.0)) for _ in range(2))
        with cgutils.for_range(builder, builder.extract_value(axes.shape, 0)) as loop:
            place = builder.add(at, builder.mul(builder.add(loop.index, loop.index), stride))
            low = here.load(boxes, of[0], place, here.reals)
            high = here.load(boxes, of[0], builder.add(place, stride), here.reals)
            middle = here.everywhere(builder.load(here.place(centre, of[3], loop.index)), here.reals)
            below, above = builder.fsub(low, middle), builder.fsub(middle, high)
            gap = here.larger(here.constant(0.0), here.larger(above, below))
            builder.store(builder.fadd(builder.load(nearest), builder.fmul(gap, gap)), nearest)
            if wanted:
                reach = here.larger(builder.fneg(below), builder.fneg(above))
                builder.store(here.fma(reach, reach, builder.load(farthest)), farthest)
        builder.store(builder.load(nearest), here.at(near, of[4], to, here.reals), align=8)
        if wanted:
            builder.store(builder.load(farthest), here.at(far, of[5], to, here.reals), align=8)
        return context.get_dummy_value()

    return types.void(boxes, at, stride, centre, near, far, to), generate


@intrinsic
def step_in_cell(typing_context, f, y, cell, weights, moves, change, forbidden, outputs, norm):
    """Add weights[:CELL] times the moves to a cell; return its largest score, as bits.

    `change` gets, lane by lane, what the step adds to the sum of squares. The norm is that of code `len(norm)`.
    """
    q, by = len(outputs), len(norm)

    def generate(context, builder, signature, arguments):
        f, y, cell, weights, moves, change, forbidden = arguments[:7]
        of = signature.args
        here = Formulas(context, builder)
        index = ir.IntType(64)
        factors = [here.spread_entry(moves, of[4], o) for o in range(q)]
        changes = here.load(change, of[5], index(0), here.reals)
        top = ir.Constant(here.wholes, [-(2**63)] * LANES)
        first = builder.mul(cell, index(CELL))
        for row in range(CELL // LANES):
            w = here.load(weights, of[3], index(row * LANES), here.reals)
            start = builder.mul(first, index(q))
            places = [builder.add(start, index((row * q + o) * LANES)) for o in range(q)]
            bits, changes = here.move((f, y, of[0], of[1]), places, factors, w, None, changes, by)
            if not isinstance(of[6], types.NoneType):
                slot = builder.add(first, index(row * LANES))
                bits = builder.or_(bits, here.load(forbidden, of[6], slot, here.wholes))
            top = builder.select(builder.icmp_signed(">", bits, top), bits, top)
        builder.store(changes, here.at(change, of[5], index(0), here.reals), align=8)
        return here.largest(top)[0]

    return types.int64(f, y, cell, weights, moves, change, forbidden, outputs, norm), generate


@intrinsic
def add_to_cell(typing_context, f, y, first, columns, places, factors, begin, end, squares):
    """Add columns[places[k]:] times factors[k] to f[first:] for k from `begin` to `end`.

    squares[k] gets the sum of (f - y)^2 after it. The values of the cell stay in registers.
    """

    def generate(context, builder, signature, arguments):
        f, y, first, columns, places, factors, begin, end, squares = arguments
        of = signature.args
        here = Formulas(context, builder, TWO_ROWS)
        index = ir.IntType(64)
        rows = range(0, CELL, TWO_ROWS)
        slots = [builder.add(first, index(row)) for row in rows]
        values = [cgutils.alloca_once_value(builder, here.load(f, of[0], slot, here.reals)) for slot in slots]
        targets = [here.load(y, of[1], slot, here.reals) for slot in slots]
        with cgutils.for_range_slice(builder, begin, end, index(1), index) as (k, _):
            factor = here.everywhere(builder.load(here.place(factors, of[5], k)), here.reals)
            at = builder.load(here.place(places, of[4], k))
            total = here.constant(0.0)
            for row, value, target in zip(rows, values, targets, strict=True):
                w = here.load(columns, of[3], builder.add(at, index(row)), here.reals)
                moved = here.fma(factor, w, builder.load(value))
                builder.store(moved, value)
                error = builder.fsub(moved, target)
                total = here.fma(error, error, total)
            builder.store(here.total(total), here.place(squares, of[8], k))
        for slot, value in zip(slots, values, strict=True):
            builder.store(builder.load(value), here.at(f, of[0], slot, here.reals), align=8)
        return context.get_dummy_value()

    return types.void(f, y, first, columns, places, factors, begin, end, squares), generate


@intrinsic
def find_ends(typing_context, f, y, first, forbidden):
    """Return the largest f - y and the largest y - f of the candidates in a cell, and the sum of (f - y)^2 in it."""

    def generate(context, builder, signature, arguments):
        f, y, first, forbidden = arguments
        of = signature.args
        here = Formulas(context, builder, TWO_ROWS)
        index = ir.IntType(64)
        lowest, total = here.constant(float("-inf")), here.constant(0.0)
        top, bottom = lowest, lowest
        for row in range(0, CELL, TWO_ROWS):
            slot = builder.add(first, index(row))
            over = builder.fsub(here.load(f, of[0], slot, here.reals), here.load(y, of[1], slot, here.reals))
            total = here.fma(over, over, total)
            under = builder.fneg(over)
            if not isinstance(of[3], types.NoneType):
                marks = here.load(forbidden, of[3], slot, here.wholes)
                barred = builder.icmp_signed("!=", marks, ir.Constant(here.wholes, [0] * TWO_ROWS))
                over, under = builder.select(barred, lowest, over), builder.select(barred, lowest, under)
            top, bottom = here.larger(top, over), here.larger(bottom, under)
        ends = [here.fold(top, here.larger), here.fold(bottom, here.larger), here.total(total)]
        return context.make_tuple(builder, signature.return_type, ends)

    return types.UniTuple(types.float64, 3)(f, y, first, forbidden), generate
