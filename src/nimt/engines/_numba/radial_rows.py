"""Cells of points in vector registers: distances, the formula of a radial kernel, and a step of a lesson."""

from __future__ import annotations

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from nimt.engines._numba.vectors import Vectors
from nimt.engines.codes import CELL, GAUSSIAN, LANES, MATERN_1, MATERN_3, MATERN_5, WENDLAND

LOG2_E = math.log2(math.e)
LN_2_HIGH, LN_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has 32 digits
SHIFT = 1.5 * 2.0**52  # added to a number, it leaves the nearest whole number in the lowest bits
LEAST = -700.0  # below, exp would be a number of few digits, or none


class Formulas(Vectors):
    """Writes code that computes kernels of LANES points at once."""

    def __init__(self, context, builder):
        super().__init__(context, builder, LANES)

    def constant(self, value):
        return ir.Constant(self.reals, [float(value)] * self.count)

    def fma(self, a, b, c):
        """Return a b + c, in one instruction where the processor has it."""
        function = ir.FunctionType(self.reals, [self.reals] * 3)
        name = f"llvm.fmuladd.v{self.count}f64"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, function, name), [a, b, c])

    def exp(self, x):
        """Return the exponential of x <= 0 within a unit of the last digit: 2^k times Taylor's series at the rest."""
        b, one = self.builder, self.constant
        x = b.select(b.fcmp_ordered(">", x, one(LEAST)), x, one(LEAST))
        shifted = self.fma(x, one(LOG2_E), one(SHIFT))
        k = b.fsub(shifted, one(SHIFT))
        r = self.fma(k, one(-LN_2_LOW), self.fma(k, one(-LN_2_HIGH), x))
        r2 = b.fmul(r, r)
        r4 = b.fmul(r2, r2)
        pairs = [self.fma(one(1 / math.factorial(i + 1)), r, one(1 / math.factorial(i))) for i in range(2, 14, 2)]
        fours = [self.fma(high, r2, low) for low, high in zip(pairs[::2], pairs[1::2], strict=True)]
        rest = self.fma(self.fma(fours[2], r4, fours[1]), r4, fours[0])
        rest = self.fma(rest, r2, r)  # exp(r) - 1
        digits = b.add(b.bitcast(shifted, self.wholes), ir.Constant(self.wholes, [1023] * self.count))
        power = b.bitcast(b.shl(digits, ir.Constant(self.wholes, [52] * self.count)), self.reals)
        return self.fma(rest, power, power)

    def gaussian(self, squares, _numbers):
        return self.exp(self.builder.fmul(squares, self.constant(-0.5)))

    def matern(self, squares, half):
        """Return Matern's kernel of smoothness half / 2."""
        b = self.builder
        s = b.fmul(self.of_each("sqrt", squares), self.constant(math.sqrt(half)))
        decay = self.exp(b.fneg(s))
        if half == 1:
            return decay
        if half == 3:
            return b.fmul(b.fadd(self.constant(1.0), s), decay)
        return b.fmul(self.fma(self.fma(s, self.constant(1 / 3), self.constant(1.0)), s, self.constant(1.0)), decay)

    def wendland(self, squares, numbers):
        """Return (1 - r)_+^power (1 + b r + a r^2), r = distance / width; numbers: 1 / width, power, b, a."""
        b, nothing = self.builder, self.constant(0.0)
        inverse, power, linear, square = (numbers(i) for i in range(4))
        r = b.fmul(self.of_each("sqrt", squares), self.everywhere(inverse, self.reals))
        rest = b.fsub(self.constant(1.0), r)
        rest = b.select(b.fcmp_ordered(">", rest, nothing), rest, nothing)
        factor = self.fma(self.everywhere(square, self.reals), r, self.everywhere(linear, self.reals))
        kept = cgutils.alloca_once_value(b, self.fma(factor, r, self.constant(1.0)))
        with cgutils.for_range(b, b.fptosi(power, ir.IntType(64))):
            b.store(b.fmul(b.load(kept), rest), kept)
        return b.load(kept)


@intrinsic
def weigh(typing_context, points, at, stride, centre, form, numbers, result, to):
    """Write K(x, centre) of LANES points to result[to:].

    The coordinates of the points on axis i are points[at + i stride:]; `form` is the number of the kernel's formula,
    and `numbers` are what it needs.
    """

    def generate(context, builder, signature, arguments):
        points, at, stride, centre, form, numbers, result, to = arguments
        of = signature.args
        here = Formulas(context, builder)
        index = ir.IntType(64)
        axes = context.make_array(of[3])(context, builder, centre)
        d = builder.extract_value(axes.shape, 0)
        total = cgutils.alloca_once_value(builder, here.constant(0.0))
        with cgutils.for_range(builder, d) as loop:
            place = builder.add(at, builder.mul(loop.index, stride))
            x = here.load(points, of[0], place, here.reals)
            middle = here.everywhere(builder.load(here.place(centre, of[3], loop.index)), here.reals)
            gap = builder.fsub(x, middle)
            builder.store(here.fma(gap, gap, builder.load(total)), total)
        squares = builder.load(total)
        formulas = {
            GAUSSIAN: lambda: here.gaussian(squares, None),
            MATERN_1: lambda: here.matern(squares, 1),
            MATERN_3: lambda: here.matern(squares, 3),
            MATERN_5: lambda: here.matern(squares, 5),
            WENDLAND: lambda: here.wendland(
                squares, lambda i: builder.load(here.place(numbers, of[5], index(i)))
            ),
        }  # fmt: skip
        end = builder.append_basic_block("weighed")
        switch = builder.switch(form, end)
        for number, formula in formulas.items():
            block = builder.append_basic_block(f"formula_{number}")
            switch.add_case(index(number), block)
            builder.position_at_end(block)
            builder.store(formula(), here.at(result, of[6], to, here.reals), align=8)
            builder.branch(end)
        builder.position_at_end(end)
        return context.get_dummy_value()

    return types.void(points, at, stride, centre, form, numbers, result, to), generate


@intrinsic
def measure_gaps(typing_context, boxes, at, stride, centre, result, to):
    """Write the squared distances of LANES boxes from a point to result[to:].

    The lower sides of the boxes on axis i are boxes[at + 2 i stride:], the upper ones boxes[at + (2 i + 1) stride:].
    """

    def generate(context, builder, signature, arguments):
        boxes, at, stride, centre, result, to = arguments
        of = signature.args
        here = Formulas(context, builder)
        axes = context.make_array(of[3])(context, builder, centre)
        total = cgutils.alloca_once_value(builder, here.constant(0.0))
        with cgutils.for_range(builder, builder.extract_value(axes.shape, 0)) as loop:
            place = builder.add(at, builder.mul(builder.add(loop.index, loop.index), stride))
            low = here.load(boxes, of[0], place, here.reals)
            high = here.load(boxes, of[0], builder.add(place, stride), here.reals)
            middle = here.everywhere(builder.load(here.place(centre, of[3], loop.index)), here.reals)
            below, above = builder.fsub(low, middle), builder.fsub(middle, high)
            gap = builder.select(builder.fcmp_ordered(">", below, above), below, above)
            gap = builder.select(builder.fcmp_ordered(">", gap, here.constant(0.0)), gap, here.constant(0.0))
            builder.store(builder.fadd(builder.load(total), builder.fmul(gap, gap)), total)
        builder.store(builder.load(total), here.at(result, of[4], to, here.reals), align=8)
        return context.get_dummy_value()

    return types.void(boxes, at, stride, centre, result, to), generate


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
