"""Radial kernels in vector registers: squared distances, and the formula of a kernel of them."""

from __future__ import annotations

import math

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from nimt.engines._numba.vectors import Vectors
from nimt.engines.codes import FEWER_TERMS, GAUSSIAN, LANES, MATERN_1, MATERN_3, MATERN_5, WENDLAND

TWO_ROWS = 2 * LANES  # computed at once, so that fewer instructions load constants
LOG2_E = math.log2(math.e)
LN_2_HIGH, LN_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has 32 digits
SHIFT = 1.5 * 2.0**52  # added to a number, it leaves the nearest whole number in the lowest bits
LEAST = -1000.0  # below, a power of 2 would be a number of few digits, or none

# (2^r - 1) / r for |r| <= 1/2, the closest polynomials of their degree; of a power below 2^-first, as many digits are
# right as of one near 1
SERIES = dict(zip((0.0, *FEWER_TERMS), (
    (0.6931471805599453, 0.24022650695910097, 0.0555041086648216, 0.009618129107606888, 0.0013333558146416936,
          0.0001540353044173605, 1.525273382983612e-05, 1.321544258792169e-06, 1.0178062445845774e-07,
          7.072585949269223e-09, 4.4549605981865186e-10),
    (0.6931471805599462, 0.24022650695910075, 0.05550410866465167, 0.009618129107618665, 0.0013333558200794592,
          0.00015403530424776529, 1.5252672924850737e-05, 1.3215451633221434e-06, 1.0205905413765595e-07,
          7.070977866508138e-09),
    (0.6931471805568324, 0.24022650695888503, 0.055504109063258665, 0.00961812913523614, 0.0013333478473685416,
           0.00015403475186530786, 1.5303700711365693e-05, 1.325080551750225e-06),
    (0.6931471880262288, 0.24022650760568126, 0.05550357114219078, 0.009618082557277852, 0.0013390863364671234,
           0.0001545316294512069),
    (0.6931367338836215, 0.24022530097412242, 0.055838282946219855, 0.009656710288544356),
), strict=True))  # fmt: skip
WHOLE_SERIES = SERIES[0.0]


class Formulas(Vectors):
    """Writes code that computes kernels of LANES points at once."""

    def __init__(self, context, builder, count=LANES):
        super().__init__(context, builder, count)

    def constant(self, value):
        return ir.Constant(self.reals, [float(value)] * self.count)

    def fma(self, a, b, c):
        """Return a b + c, in one instruction where the processor has it."""
        function = ir.FunctionType(self.reals, [self.reals] * 3)
        name = f"llvm.fmuladd.v{self.count}f64"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, function, name), [a, b, c])

    def split(self, x):
        """Return x + SHIFT and the whole number nearest to x, for x > LEAST."""
        shifted = self.builder.fadd(x, self.constant(SHIFT))
        return shifted, self.builder.fsub(shifted, self.constant(SHIFT))

    def power(self, shifted, r, series):
        """Return 2^(k + r), where `shifted` has k in its lowest bits."""
        b = self.builder
        value = self.horner((1.0, *series), r)
        exponent = b.shl(b.bitcast(shifted, self.wholes), ir.Constant(self.wholes, [52] * self.count))
        return b.bitcast(b.add(b.bitcast(value, self.wholes), exponent), self.reals)

    def horner(self, coefficients, x):
        value = self.constant(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            value = self.fma(value, x, self.constant(coefficient))
        return value

    def exp(self, x):
        """Return the exponential of x <= 0 within a unit of the last digit."""
        x = self.larger(self.constant(LEAST * math.log(2.0)), x)
        shifted, k = self.split(self.builder.fmul(x, self.constant(LOG2_E)))
        r = self.fma(k, self.constant(-LN_2_LOW), self.fma(k, self.constant(-LN_2_HIGH), x))
        return self.power(shifted, self.builder.fmul(r, self.constant(LOG2_E)), WHOLE_SERIES)

    def gaussian(self, squares, series=WHOLE_SERIES):
        """Return 2^-squares: the scale of the points makes it the kernel (`cell_layout.Formula`)."""
        x = self.larger(self.constant(LEAST), self.builder.fneg(squares))
        shifted, k = self.split(x)
        return self.power(shifted, self.builder.fsub(x, k), series)

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
        kept = cgutils.alloca_once(b, self.reals)
        b.store(self.fma(factor, r, self.constant(1.0)), kept)
        with cgutils.for_range(b, b.fptosi(power, ir.IntType(64))):
            b.store(b.fmul(b.load(kept), rest), kept)
        return b.load(kept)

    def cases(self, value, writers):
        """Write code for each case of a whole number; `writers` has a function for each, None for all others."""
        b = self.builder
        end = b.append_basic_block("after_cases")
        other = b.append_basic_block("other_case") if None in writers else end
        switch = b.switch(value, other)
        for case, write in writers.items():
            block = other if case is None else b.append_basic_block(f"case_{case}")
            if case is not None:
                switch.add_case(ir.IntType(64)(case), block)
            b.position_at_end(block)
            write()
            b.branch(end)
        b.position_at_end(end)


@intrinsic
def fill_squares(typing_context, points, at, stride, centres, first, d, result, to, count):
    """Write the squared distances of `count` points from a centre to result[to:]; return the least of them.

    The coordinates of the points on axis i are points[at + i stride:], that of the centre is centres[first + i]. The
    count is a multiple of LANES. This is a pass of its own, since the processor looks some hundred instructions ahead:
    distances and a formula in one pass would wait for each other.
    """

    def generate(context, builder, signature, arguments):
        points, at, stride, centres, first, d, result, to, count = arguments
        of = signature.args
        here = Formulas(context, builder)
        index = ir.IntType(64)
        least = cgutils.alloca_once_value(builder, here.constant(float("inf")))
        total = cgutils.alloca_once(builder, here.reals)

        def middle_on(axis):
            place = here.place(centres, of[3], builder.add(first, axis))
            return here.everywhere(builder.load(place), here.reals)

        def gap_on(begin, row, middle):
            return builder.fsub(here.load(points, of[0], builder.add(begin, row), here.reals), middle)

        def keep(row, squares):
            builder.store(squares, here.at(result, of[6], builder.add(to, row), here.reals), align=8)
            builder.store(here.smaller(builder.load(least), squares), least)

        def on_few_axes(few):
            axes = [index(axis) for axis in range(few)]
            middles = [middle_on(axis) for axis in axes]  # once: for the compiler, a result may overwrite them
            begins = [builder.add(at, builder.mul(axis, stride)) for axis in axes]
            with cgutils.for_range_slice(builder, index(0), count, index(LANES), index) as (row, _):
                gaps = [gap_on(begin, row, middle) for begin, middle in zip(begins, middles, strict=True)]
                squares = builder.fmul(gaps[0], gaps[0])
                for gap in gaps[1:]:
                    squares = here.fma(gap, gap, squares)
                keep(row, squares)

        def on_many_axes():
            with cgutils.for_range_slice(builder, index(0), count, index(LANES), index) as (row, _):
                builder.store(here.constant(0.0), total)
                with cgutils.for_range(builder, d) as loop:
                    gap = gap_on(builder.add(at, builder.mul(loop.index, stride)), row, middle_on(loop.index))
                    builder.store(here.fma(gap, gap, builder.load(total)), total)
                keep(row, builder.load(total))

        here.cases(d, {2: lambda: on_few_axes(2), 3: lambda: on_few_axes(3), None: on_many_axes})
        return here.fold(builder.load(least), here.smaller)

    return types.float64(points, at, stride, centres, first, d, result, to, count), generate


@intrinsic
def apply_formula(typing_context, form, numbers, least, values, at, count):
    """Replace `count` squared distances, none below `least`, by K, which is the formula with the number `form`.

    A Gaussian far from its centre needs few terms: what is left out is less than the rounding of K at the centre.
    """

    def generate(context, builder, signature, arguments):
        form, numbers, least, values, at, count = arguments
        of = signature.args
        here = Formulas(context, builder, TWO_ROWS)
        index = ir.IntType(64)

        def passing(formula):
            def write():
                with cgutils.for_range_slice(builder, index(0), count, index(TWO_ROWS), index) as (row, _):
                    place = here.at(values, of[3], builder.add(at, row), here.reals)
                    builder.store(formula(builder.load(place, align=8)), place, align=8)

            return write

        def gaussian():
            which = index(0)
            for number, first in enumerate(SERIES):
                beyond = builder.fcmp_ordered(">=", least, ir.Constant(ir.DoubleType(), first))
                which = builder.select(beyond, index(number), which)
            here.cases(which, {
                number: passing(lambda squares, series=series: here.gaussian(squares, series))
                for number, series in enumerate(SERIES.values())
            })  # fmt: skip

        def number_at(i):
            return builder.load(here.place(numbers, of[1], index(i)))

        here.cases(form, {
            GAUSSIAN: gaussian,
            MATERN_1: passing(lambda squares: here.matern(squares, 1)),
            MATERN_3: passing(lambda squares: here.matern(squares, 3)),
            MATERN_5: passing(lambda squares: here.matern(squares, 5)),
            WENDLAND: passing(lambda squares: here.wendland(squares, number_at)),
        })  # fmt: skip
        return context.get_dummy_value()

    return types.void(form, numbers, least, values, at, count), generate
