"""Instructions that numba does not write by itself: vectors, fetching from memory, calls by address."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from nimt.engines.codes import EUCLIDEAN, FAN, LANES, MANHATTAN


class Vectors:
    """Writes code that computes with vectors of `count` numbers."""

    def __init__(self, context, builder, count):
        self.context, self.builder, self.count = context, builder, count
        self.reals = ir.VectorType(ir.DoubleType(), count)
        self.wholes = ir.VectorType(ir.IntType(64), count)

    def place(self, array, kind, index):
        """The address of an entry of an array; the array is not handed on, so that nobody counts references to it."""
        return self.builder.gep(self.context.make_array(kind)(self.context, self.builder, array).data, [index])

    def at(self, array, kind, index, vector):
        return self.builder.bitcast(self.place(array, kind, index), vector.as_pointer())

    def load(self, array, kind, index, vector):
        return self.builder.load(self.at(array, kind, index, vector), align=8)

    def everywhere(self, value, vector):
        nothing = ir.Constant(vector, ir.Undefined)
        first = self.builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), self.count), [0] * self.count)
        )

    def spread_entry(self, array, kind, entry):
        """An entry of an array of real numbers in all lanes."""
        return self.everywhere(self.builder.load(self.place(array, kind, ir.IntType(64)(entry))), self.reals)

    def of_each(self, name, value):
        """A function of one number, such as `sqrt`, of every entry."""
        function = ir.FunctionType(self.reals, [self.reals])
        name = f"llvm.{name}.v{self.count}f64"
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, function, name), [value])

    def largest(self, bits):
        """The largest of the entries, and as the bits of a number which entries are equal to it."""
        function = ir.FunctionType(ir.IntType(64), [self.wholes])
        name = f"llvm.vector.reduce.smax.v{self.count}i64"
        top = self.builder.call(cgutils.get_or_insert_function(self.builder.module, function, name), [bits])
        equal = self.builder.icmp_signed("==", bits, self.everywhere(top, self.wholes))
        which = self.builder.bitcast(equal, ir.IntType(self.count))
        return top, self.builder.zext(which, ir.IntType(64)) if self.count < 64 else which

    def halves(self, value, count):
        """The lower and the upper half of a vector of `count` entries."""
        nothing = ir.Constant(value.type, ir.Undefined)
        kind = ir.VectorType(ir.IntType(32), count // 2)
        halves = (range(count // 2), range(count // 2, count))
        return [self.builder.shuffle_vector(value, nothing, ir.Constant(kind, list(half))) for half in halves]

    def fold(self, value, combine):
        """The entries of a vector combined to one number, halves first."""
        count = self.count
        while count > 1:
            value = combine(*self.halves(value, count))
            count //= 2
        return self.builder.extract_element(value, ir.IntType(32)(0))

    def total(self, value):
        return self.fold(value, self.builder.fadd)

    def larger(self, a, b):
        return self.builder.select(self.builder.fcmp_ordered(">", b, a), b, a)

    def smaller(self, a, b):
        return self.builder.select(self.builder.fcmp_ordered("<", b, a), b, a)

    def move(self, of, places, factors, w, reached, changes, by):
        """Add factors times w to f at some places, one per output; return the norms of f - y as bits, and the changes.

        `of` holds f, y and their types; lanes that are not `reached` keep their values, None reaches all. `changes`
        gets what is added to the sum of squares, lane by lane. `by` is the code of the norm of outputs.
        """
        builder = self.builder
        f, y, kind_of_f, kind_of_y = of
        none = ir.Constant(self.reals, [0.0] * self.count)
        sizes = none
        for place, factor in zip(places, factors, strict=True):
            value, target = self.load(f, kind_of_f, place, self.reals), self.load(y, kind_of_y, place, self.reals)
            moved = builder.fadd(value, builder.fmul(factor, w))
            moved = moved if reached is None else builder.select(reached, moved, value)
            builder.store(moved, self.at(f, kind_of_f, place, self.reals), align=8)
            before, after = builder.fsub(value, target), builder.fsub(moved, target)
            added = builder.fmul(builder.fsub(after, before), builder.fadd(after, before))
            changes = builder.fadd(changes, added if reached is None else builder.select(reached, added, none))
            size = self.of_each("fabs", after)
            if len(places) == 1:
                sizes = size
            elif by == EUCLIDEAN:
                sizes = builder.fadd(sizes, builder.fmul(after, after))
            elif by == MANHATTAN:
                sizes = builder.fadd(sizes, size)
            else:
                sizes = builder.select(builder.fcmp_ordered(">", size, sizes), size, sizes)
        if len(places) > 1 and by == EUCLIDEAN:
            sizes = self.of_each("sqrt", sizes)
        return builder.bitcast(sizes, self.wholes), changes


@intrinsic
def step_in_row(typing_context, f, y, at, window, offset, width, moves, change, forbidden, slot, outputs, norm):
    """Add a piece of a window to a row; return its largest score, as bits, and which lanes have it.

    The first `width` lanes belong to the grid. `change` gets, lane by lane, what the step adds to the sum of squares.
    The norm is the one of outputs with the code `len(norm)`.
    """
    q, by = len(outputs), len(norm)

    def generate(context, builder, signature, arguments):
        f, y, at, window, offset, width, moves, change, forbidden, slot = arguments[:10]
        of = signature.args
        vectors = Vectors(context, builder, LANES)
        reals, wholes, index = vectors.reals, vectors.wholes, ir.IntType(64)
        none = ir.Constant(reals, [0.0] * LANES)
        w = vectors.load(window, of[3], offset, reals)
        lane = ir.Constant(wholes, list(range(LANES)))
        reached = builder.and_(
            builder.fcmp_unordered("!=", w, none),
            builder.icmp_signed("<", lane, vectors.everywhere(width, wholes)),
        )
        changes = vectors.load(change, of[7], index(0), reals)
        places = [builder.add(at, index(output * LANES)) for output in range(q)]
        factors = [vectors.spread_entry(moves, of[6], output) for output in range(q)]
        bits, changes = vectors.move((f, y, of[0], of[1]), places, factors, w, reached, changes, by)
        builder.store(changes, vectors.at(change, of[7], index(0), reals), align=8)
        if not isinstance(of[8], types.NoneType):
            bits = builder.or_(bits, vectors.load(forbidden, of[8], slot, wholes))
        return context.make_tuple(builder, signature.return_type, vectors.largest(bits))

    pair = types.UniTuple(types.int64, 2)
    return pair(f, y, at, window, offset, width, moves, change, forbidden, slot, outputs, norm), generate


@intrinsic
def match(typing_context, node_bits, first):
    """The largest score of the FAN nodes from `first` on, and which of them have it."""

    def generate(context, builder, signature, arguments):
        vectors = Vectors(context, builder, FAN)
        bits = vectors.load(arguments[0], signature.args[0], arguments[1], vectors.wholes)
        return context.make_tuple(builder, signature.return_type, vectors.largest(bits))

    return types.UniTuple(types.int64, 2)(node_bits, first), generate


@intrinsic
def first_in(typing_context, which):
    """The lowest bit that is set."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@intrinsic
def fetch(typing_context, array, index):
    """Tell the processor that the line of cache with this entry will be needed soon."""

    def generate(context, builder, signature, arguments):
        place = Vectors(context, builder, FAN).place(arguments[0], signature.args[0], arguments[1])
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        prefetch = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
        builder.call(prefetch, [builder.bitcast(place, byte), whole(1), whole(3), whole(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def call_at(typing_context, address, f, y):
    """Call the function of two numbers at an address: a loss that is not nimt's own (`nimt.compiled`)."""

    def generate(context, builder, signature, arguments):
        number = ir.DoubleType()
        pointer = ir.FunctionType(number, [number, number]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], pointer), arguments[1:])

    return types.float64(types.int64, types.float64, types.float64), generate


@intrinsic
def call_score_at(typing_context, address, f, y, kappa):
    """Call the function of three numbers at an address: a score that is not nimt's own."""

    def generate(context, builder, signature, arguments):
        number = ir.DoubleType()
        pointer = ir.FunctionType(number, [number] * 3).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], pointer), arguments[1:])

    return types.float64(types.int64, *[types.float64] * 3), generate
