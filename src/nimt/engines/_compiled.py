"""Every compiled function: they call each other, so they share one file and one disk cache.

Symbols: f values, y target (the true labels), c coefficients, w the kernel's window, q outputs. A *slot* is a place in
the layout of an array; greedy teaching stores a grid tile by tile, so that one step touches few tiles and a tile is
contiguous. Arrays with outputs are flat, the outputs of a slot side by side. `outputs` is a tuple of q numbers: its
length is known to the compiler, so that loops over one output cost nothing.

Where every output is shown examples of its own, the pool is there once per output, and arrays hold one copy after
another; `outputs` then has one number. `copies` is (1,), or (how many, 0): so the compiler knows where there is one. A
slot counts through all copies, an index in the record is that of the pool.

Scores are compared as the bits of non-negative floats, which order like the numbers themselves: integer maxima can be
vectorised where floating ones may not, and a NaN counts as the largest. A slot that may not be shown has score -1.

No function uses fastmath: it assumes that there are no NaN and no infinity, so a diverging lesson could go unnoticed,
and the arithmetic of a step must be that of the reference loop. Every function releases Python's lock: lessons in
several threads use several cores.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from nimt.engines.caching import njit

TILE = 64  # slots per leaf of the tournament
FAN = 8  # nodes that are compared in one match
LANES = 8  # slots of a row, which is a line of cache

SQUARE, HINGE, LOGISTIC, HUBER, ABSOLUTE = 0, 1, 2, 3, 4  # any other number is the address of a compiled function
CROSSENTROPY = 5  # its outputs are coupled: whoever needs the slope or the value computes it from all of them
RESIDUAL = -1  # the rule by which |f - y| is the score
GOING, DIVERGED, CONVERGED, STALLED, STATIONARY, AT_REST = 0, 1, 2, 3, 4, 5
EUCLIDEAN, MANHATTAN, MAXIMUM = 0, 1, 2  # the norms over outputs
BY_LOSS = -2  # a rule of this or less is BY_LOSS - code: the score is the value of that loss, not the size of its slope

# places in the array of the sum of squares that is kept by changes: its value, what rounding cut off, its error
TOTAL, CARRY, ERROR = 0, 1, 2
# places in the array of rules
SCALE, TOL, LIMIT, STILL, PATIENCE, REPEATS = 0, 1, 2, 3, 4, 5
# places in the array of the watch
BEST, BEST_AT = 0, 1
# places in the array of what is known of the learner's responses (`synthesising.LabelMaker`)
RADIUS, REACH, PROBES, WARNED, NEAR, FAR, SEEN_AT, LOW, HIGH, PENDING = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
COMMON, COMMON_SIZE = 10, 11  # sum(offset * movement), sum(offset^2) over all points
OF_COMMON, OF_MOVEMENT, OF_COMMON_AGAIN, OF_OWN_AGAIN = 12, 13, 14, 15  # sums of squared errors
IN_PROPORTION, THE_SAME = 16, 17  # squared errors of two explanations of how the movement grows
USED = 18  # the last row of marks that belongs to a point; row 0 is that of all points not shown yet
# columns of the marks of a point
OWN, OWN_SIZE, DISTANCE, MOVED, WHEN = 0, 1, 2, 3, 4
# rows of the latest pack, the last four of them room to compute in
BEFORE, OFFSET, NOW, MOVE, DISTANCE_BEFORE, MOVED_BEFORE = 0, 1, 2, 3, 4, 5

ROUNDING = 2.0**-50  # relative error that one change may add to the sum of squares
DIGITS = 1e-9  # relative error at which the sum of squares is computed again from all points
SMALLEST_SQUARE, LARGEST_SQUARE = (
    1e-280,
    1e280,
)  # outside this range squares underflow or overflow, and the sum is scaled


@intrinsic
def called_at(typing_context, address, f, y):
    """Call the function of two numbers at an address: a loss that is not nimt's own (`nimt.compiled`)."""

    def generate(context, builder, signature, arguments):
        number = ir.DoubleType()
        pointer = ir.FunctionType(number, [number, number]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], pointer), arguments[1:])

    return types.float64(types.int64, types.float64, types.float64), generate


@njit(cache=True, nogil=True)
def number_of(copies):
    return copies[0] if len(copies) > 1 else 1


@njit(cache=True, nogil=True)
def slope(loss, delta, f, y):
    if loss == SQUARE:
        return 2.0 * (f - y)
    if loss == HINGE:
        return -y if y * f < 1.0 else 0.0
    if loss == LOGISTIC:
        z = -y * f
        if z >= 0.0:
            return -y / (1.0 + np.exp(-z))
        e = np.exp(z)
        return -y * e / (1.0 + e)
    if loss == HUBER:
        return 2.0 * min(max(f - y, -delta), delta)
    if loss == ABSOLUTE:
        return np.sign(f - y)
    return called_at(loss, f, y)


@njit(cache=True, nogil=True)
def loss_value(loss, delta, f, y):
    if loss == SQUARE:
        return (y - f) ** 2
    if loss == HINGE:
        return max(0.0, 1.0 - y * f)
    if loss == LOGISTIC:
        z = -y * f
        return max(0.0, z) + np.log1p(np.exp(-abs(z)))
    distance = abs(y - f)
    if loss == HUBER:
        return distance**2 if distance <= delta else delta * (2.0 * distance - delta)
    if loss == ABSOLUTE:
        return distance
    return called_at(loss, f, y)


# ---------------------------------------------------------------- the discrepancy, kept by changes


@njit(cache=True, nogil=True)
def sum_of_squares(f, y):
    total = 0.0
    for block in range(0, f.size, 1024):
        part = 0.0
        for s in range(block, min(block + 1024, f.size)):
            r = f[s] - y[s]
            part += r * r
        total += part
    return total


@njit(cache=True, nogil=True)
def scaled_distance(f, y):
    """sqrt(sum (f - y)^2) where squares would leave the range of floating-point numbers."""
    largest = 0.0
    for s in range(f.size):
        r = abs(f[s] - y[s])
        if not r <= largest:
            largest = r
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    total = 0.0
    for s in range(f.size):
        r = (f[s] - y[s]) / largest
        total += r * r
    return largest * np.sqrt(total)


@njit(cache=True, nogil=True)
def measured(scale, total, f, y):
    """The discrepancy from a sum of squares."""
    if SMALLEST_SQUARE < total < LARGEST_SQUARE:
        return scale * np.sqrt(total)
    return scale * scaled_distance(f, y)


@njit(cache=True, nogil=True)
def changed(total, carry, error, change):
    """Add a change to a compensated sum, and to the bound on its error."""
    new = total + change
    carry += (total - new) + change if abs(total) >= abs(change) else (change - new) + total
    return new, carry, error + ROUNDING * (abs(new) + abs(change))


@njit(cache=True, nogil=True)
def must_be_exact(total, error, tol_square):
    """Whether the error of a kept sum matters: for the digits reported, or for the comparison with the tolerance."""
    return not (error <= DIGITS * total and total - error > tol_square and total < LARGEST_SQUARE)


@njit(cache=True, nogil=True)
def over(step, m, tol, limit, patience, best, best_at):
    """The rules of `Watch.over`, in the same order: the outcome, and the best so far and its step."""
    if not np.isfinite(m) or m > limit:
        return DIVERGED, best, best_at
    if m < tol:
        return CONVERGED, best, best_at
    if m < best:
        best, best_at = m, step
    if patience > 0 and step - best_at >= patience:
        return STALLED, best, best_at
    return GOING, best, best_at


@njit(cache=True, nogil=True)
def larger(a, b):
    """The larger of two numbers; NaN if either is, so that a slope that is not a number never counts as none."""
    return b if b > a or b != b else a


@njit(cache=True, nogil=True)
def stillness(largest, m, still, repeats):
    """The rules of `ReferenceEngine.stillness`: `largest` is the largest |slope| K(x, x) of the pack."""
    if still >= 0.0 and largest * largest <= still:
        return STATIONARY
    if repeats > 0.0 and largest == 0.0 and m > 0.0:
        return AT_REST
    return GOING


# ---------------------------------------------------------------- scores


@njit(cache=True, nogil=True)
def norm_of(part, so_far, norm):
    """Take one more output into a norm: its square, its size, or the largest."""
    if norm == EUCLIDEAN:
        return so_far + part * part
    if norm == MANHATTAN:
        return so_far + abs(part)
    return max(so_far, abs(part))


@njit(cache=True, nogil=True)
def softmax_parts(f, first, outputs):
    """The largest of the outputs from `first` on, and the sum of exp(f - largest)."""
    top = f[first]
    for o in range(1, len(outputs)):
        top = max(top, f[first + np.uint64(o)])
    total = 0.0
    for o in range(len(outputs)):
        total += np.exp(f[first + np.uint64(o)] - top)
    return top, total


@njit(cache=True, nogil=True)
def score_at(s, f, y, rule, rule_delta, weight, outputs, norm):
    """The score of a slot: the norm of f - y, that of the slope times the slot's weight, or the loss."""
    q = len(outputs)
    first = s * np.uint64(q)
    coupled = rule == CROSSENTROPY or rule == BY_LOSS - CROSSENTROPY
    top, parts = softmax_parts(f, first, outputs) if coupled else (0.0, 1.0)
    if rule == BY_LOSS - CROSSENTROPY:
        total = 0.0
        for o in range(q):
            at = first + np.uint64(o)
            total += y[at] * -(f[at] - top - np.log(parts))
        return total
    if rule <= BY_LOSS:
        total = 0.0
        for o in range(q):
            total += loss_value(BY_LOSS - rule, rule_delta, f[first + np.uint64(o)], y[first + np.uint64(o)])
        return total
    if q == 1:
        if rule == RESIDUAL:
            return abs(f[first] - y[first])
        return abs(slope(rule, rule_delta, f[first], y[first])) * weight[s]
    total = 0.0
    for o in range(q):
        at = first + np.uint64(o)
        if rule == RESIDUAL:
            part = f[at] - y[at]
        elif rule == CROSSENTROPY:
            part = np.exp(f[at] - top) / parts - y[at]
        else:
            part = slope(rule, rule_delta, f[at], y[at])
        total = norm_of(part, total, norm)
    size = np.sqrt(total) if norm == EUCLIDEAN else total
    return size if rule == RESIDUAL else size * weight[s]


@njit(cache=True, nogil=True, inline="always")
def score_by_loss(loss, delta, f, y, score):
    for s in range(score.size):
        score[s] = -1.0 if score[s] < 0.0 else loss_value(loss, delta, f[s], y[s])


@njit(cache=True, nogil=True, inline="always")
def score_by_slope(loss, delta, f, y, score, weight):
    for s in range(score.size):
        score[s] = -1.0 if score[s] < 0.0 else abs(slope(loss, delta, f[s], y[s])) * weight[s]


@njit(cache=True, nogil=True)
def score_one_output(f, y, score, rule, delta, weight):
    """`score_at` for all slots of one output: a loop for each rule without branches, which can be vectorised."""
    if rule == RESIDUAL:
        for s in range(score.size):
            score[s] = -1.0 if score[s] < 0.0 else abs(f[s] - y[s])
    elif rule == BY_LOSS - SQUARE:
        score_by_loss(SQUARE, delta, f, y, score)
    elif rule == BY_LOSS - HINGE:
        score_by_loss(HINGE, delta, f, y, score)
    elif rule == BY_LOSS - HUBER:
        score_by_loss(HUBER, delta, f, y, score)
    elif rule <= BY_LOSS:
        score_by_loss(BY_LOSS - rule, delta, f, y, score)
    elif rule == SQUARE:
        score_by_slope(SQUARE, delta, f, y, score, weight)
    else:
        score_by_slope(rule, delta, f, y, score, weight)


@njit(cache=True, nogil=True)
def score_all(f, y, score, rule, delta, weight, outputs, norm):
    if len(outputs) == 1:
        score_one_output(f, y, score, rule, delta, weight)
        return
    if rule == RESIDUAL and norm == EUCLIDEAN:  # the usual one, as `score_at` computes it
        q = len(outputs)
        for s in range(score.size):
            total = 0.0
            for o in range(q):
                part = f[s * q + o] - y[s * q + o]
                total += part * part
            score[s] = -1.0 if score[s] < 0.0 else np.sqrt(total)
        return
    for s in range(score.size):
        if not score[s] < 0.0:
            score[s] = score_at(np.uint64(s), f, y, rule, delta, weight, outputs, norm)


# ---------------------------------------------------------------- the tournament
#
# Leaves are tiles; a node is the best of FAN children, which lie side by side in memory, so that a match reads one line
# of cache. node_bits holds the winning score of each node and node_tile its tile, level after level from the leaves up;
# every level is padded to a multiple of FAN with scores that never win; several copies have a tree each, with spare
# leaves. Ties go to the lowest index in the pool.


@njit(cache=True, nogil=True)
def play_off(first, node_bits, node_tile, best_slot, order):
    """The best of the FAN nodes from `first` on: its score and its tile."""
    top = node_bits[first]
    tile = node_tile[first]
    for q in range(1, FAN):
        bits = node_bits[first + q]
        if bits > top:
            top = bits
            tile = node_tile[first + q]
        elif bits == top and top >= 0 and order[best_slot[node_tile[first + q]]] < order[best_slot[tile]]:
            tile = node_tile[first + q]
    return top, tile


@njit(cache=True, nogil=True)
def spare_leaves(slots, levels, copies):
    """How many leaves of a copy have no tile: with several copies each has a tree of its own, filled to the end."""
    return (levels[1] - slots // TILE) // number_of(copies) if len(copies) > 1 else 0


@njit(cache=True, nogil=True)
def build_tournament(bits, best_slot, order, levels, node_bits, node_tile, copies):
    node_bits[:] = -1
    tiles = bits.size // TILE
    spare = spare_leaves(bits.size, levels, copies)
    for tile in range(tiles):
        slot = tile * TILE
        top = bits[slot]
        for s in range(tile * TILE, tile * TILE + TILE):
            if bits[s] > top:
                top = bits[s]
                slot = s
        leaf = tile + tile // (tiles // number_of(copies)) * spare
        best_slot[leaf] = slot
        node_bits[leaf] = top
        node_tile[leaf] = leaf
    for level in range(1, levels.size - 1):
        for node in range((levels[level] - levels[level - 1]) // FAN):
            top, tile = play_off(levels[level - 1] + FAN * node, node_bits, node_tile, best_slot, order)
            node_bits[levels[level] + node] = top
            node_tile[levels[level] + node] = tile


# ---------------------------------------------------------------- draws by odds
#
# `teachers.soft.one_by_odds`: the odds of every slot, and their sums over the nodes of the tournament. A sum is always
# computed anew from what it sums, so that it depends on the scores alone, not on how they came about. Here slots are in
# the order of the pool, as in the reference loop.


@njit(cache=True, nogil=True)
def scale_above(top, constants):
    root_1, root_2, root_3, cold, smallest, largest, temperature = constants
    if temperature < cold or not smallest < top < largest:
        return top
    fraction, exponent = math.frexp(top)
    if fraction <= root_2:
        return math.ldexp(root_1 if fraction <= root_1 else root_2, exponent)
    return math.ldexp(root_3 if fraction <= root_3 else 1.0, exponent)


@njit(cache=True, nogil=True)
def odds_at(score, scale, temperature):
    if score < 0.0:
        return 0.0
    if scale == 0.0:
        return 1.0
    power = (score / scale - 1.0) / temperature
    return np.exp(power) if power > -746.0 else 0.0  # below, exp is 0


@njit(cache=True, nogil=True)
def sum_of_tile(odds, tile):
    s0 = s1 = s2 = s3 = 0.0
    for s in range(tile * TILE, tile * TILE + TILE, 4):
        s0 += odds[s]
        s1 += odds[s + 1]
        s2 += odds[s + 2]
        s3 += odds[s + 3]
    return (s0 + s1) + (s2 + s3)


@njit(cache=True, nogil=True)
def sum_of_children(node_sum, child):
    total = 0.0
    for v in range(FAN):
        total += node_sum[child + v]
    return total


@njit(cache=True, nogil=True)
def renew_all_odds(drawing, score, top, levels):
    constants, _, scale, odds, node_sum = drawing
    scale[0] = scale_above(top, constants)
    for s in range(odds.size):
        odds[s] = odds_at(score[s], scale[0], constants[6])
    node_sum[:] = 0.0
    for tile in range(odds.size // TILE):
        node_sum[tile] = sum_of_tile(odds, tile)
    for level in range(1, levels.size - 1):
        for node in range((levels[level] - levels[level - 1]) // FAN):
            node_sum[levels[level] + node] = sum_of_children(node_sum, levels[level - 1] + FAN * node)


@njit(cache=True, nogil=True)
def renew_sums(drawing, touched, count, levels):
    """Sum up again what the touched tiles are part of."""
    _, _, _, odds, node_sum = drawing
    for j in range(count):
        node_sum[touched[j]] = sum_of_tile(odds, touched[j])
    span = 1
    for level in range(1, levels.size - 1):
        span *= FAN
        before = -1
        for j in range(count):
            node = touched[j] // span
            if node != before:
                node_sum[levels[level] + node] = sum_of_children(node_sum, levels[level - 1] + FAN * node)
            before = node


@njit(cache=True, nogil=True)
def walk_to(u, first, count, sums):
    """Which of `count` numbers from `first` on contains u when they are laid end to end, and how far into it u is."""
    found, left = 0, 0.0
    for v in range(count):
        part = sums[first + v]
        if part > 0.0:
            found, left = v, u
            if u < part:
                break
            u -= part
    return found, left


@njit(cache=True, nogil=True)
def draw_by_odds(drawing, score, top, levels):
    constants, rng, scale, odds, node_sum = drawing
    temperature = constants[6]
    if scale_above(top, constants) != scale[0]:
        renew_all_odds(drawing, score, top, levels)
    root = levels.size - 2
    while True:
        u = rng.random() * node_sum[levels[root]]
        node = 0
        for level in range(root, 0, -1):
            step, u = walk_to(u, levels[level - 1] + FAN * node, FAN, node_sum)
            node = FAN * node + step
        step, u = walk_to(u, node * TILE, TILE, odds)
        slot = node * TILE + step
        share = (score[slot] / top - 1.0) * (1.0 - top / scale[0]) / temperature if top > 0.0 else 0.0
        if rng.random() < np.exp(share):
            return slot


# ---------------------------------------------------------------- made labels
#
# The estimator of `teachers.responses.Responses`, method by method; its constants are handed over as numbers.


@njit(cache=True, nogil=True)
def fitted(product, square):
    return product / square if square > 0.0 else 0.0


@njit(cache=True, nogil=True)
def root_mean_square(values, count):
    largest = values[0]
    for j in range(1, count):
        largest = max(largest, values[j])
    total = 0.0
    for j in range(count):
        total += (values[j] / largest) ** 2
    return largest * np.sqrt(total / count)


@njit(cache=True, nogil=True)
def movement_towards(distance, moved, size, count):
    total = 0.0
    for j in range(count):
        total += distance[j] * (moved[j] / size)
    return total / count


@njit(cache=True, nogil=True)
def shown_together(marks, rows, shown, count):
    """Whether all of these were shown before, and the latest time in one pack."""
    for j in range(count):
        r = rows[shown[j]]
        if not marks[r, DISTANCE] > 0.0 or marks[r, WHEN] != marks[rows[shown[0]], WHEN]:
            return False
    return count > 0


@njit(cache=True, nogil=True)
def look_for_growth(constants, known, now, moved, now_before, moved_before, count, step):
    """`Responses._look_for_growth` from where the pack is known to be the one before at a scaled distance."""
    telling, sure = constants[3], constants[4]
    near = root_mean_square(now, count)
    moved_near = movement_towards(now, moved, near, count)
    far = root_mean_square(now_before, count)
    moved_far = movement_towards(now_before, moved_before, far, count)
    if far < near or (far == near and moved_far < moved_near):
        near, moved_near, far, moved_far = far, moved_far, near, moved_near
    if far < telling * near:
        return
    known[PROBES] = max(0.0, known[PROBES] - 1.0)
    known[IN_PROPORTION] += (moved_near - moved_far * near / far) ** 2
    known[THE_SAME] += (moved_near - moved_far) ** 2
    in_proportion, the_same = known[IN_PROPORTION], known[THE_SAME]
    if sure * in_proportion < the_same and moved_far > 0.0:
        known[REACH] = min(known[RADIUS], max(known[REACH], 2.0 * far))
        known[IN_PROPORTION] = known[THE_SAME] = known[PROBES] = 0.0
    elif sure * the_same < in_proportion or moved_far <= 0.0 < moved_near:
        known[REACH] = min(known[REACH], near / 4.0)
        known[IN_PROPORTION] = known[THE_SAME] = known[PROBES] = 0.0
        if known[WARNED] == 0.0:
            known[WARNED], known[NEAR], known[FAR], known[SEEN_AT] = 1.0, near, far, step


@njit(cache=True, nogil=True)
def observe(constants, known, marks, rows, shown, pack, f, step):
    """`Responses.observe`: update the estimates by the effect of the latest pack."""
    forget, forget_errors = constants[0], constants[1]
    count = 0
    for j in range(shown.size):  # keep what is of use, in place
        s = shown[j]
        if pack[OFFSET, j] != 0.0 and np.isfinite(f[s]):
            shown[count] = s
            pack[OFFSET, count] = pack[OFFSET, j]
            pack[NOW, count] = abs(pack[OFFSET, j])
            pack[BEFORE, count] = f[s] - pack[BEFORE, j]  # from here on the movement
            pack[MOVE, count] = pack[BEFORE, count] * np.sign(pack[OFFSET, j])
            count += 1
    if known[COMMON_SIZE] != 0.0:
        common = fitted(known[COMMON], known[COMMON_SIZE])
        errors = sizes = errors_again = own_errors = 0.0
        for j in range(count):
            r, offset, movement = rows[shown[j]], pack[OFFSET, j], pack[BEFORE, j]
            error = (movement - common * offset) ** 2
            errors += error
            sizes += movement**2
            if marks[r, OWN_SIZE] > 0.0:
                errors_again += error
                own_errors += (movement - fitted(marks[r, OWN], marks[r, OWN_SIZE]) * offset) ** 2
        known[OF_COMMON] = forget_errors * known[OF_COMMON] + errors
        known[OF_MOVEMENT] = forget_errors * known[OF_MOVEMENT] + sizes
        known[OF_COMMON_AGAIN] = forget_errors * known[OF_COMMON_AGAIN] + errors_again
        known[OF_OWN_AGAIN] = forget_errors * known[OF_OWN_AGAIN] + own_errors
    scaled = shown_together(marks, rows, shown, count)
    least, most = np.inf, -np.inf
    products = squares = 0.0
    for j in range(count):
        r, offset, movement = rows[shown[j]], pack[OFFSET, j], pack[BEFORE, j]
        pack[DISTANCE_BEFORE, j], pack[MOVED_BEFORE, j] = marks[r, DISTANCE], marks[r, MOVED]
        if scaled:
            ratio = pack[NOW, j] / marks[r, DISTANCE]
            least, most = min(least, ratio), max(most, ratio)
        marks[r, DISTANCE], marks[r, MOVED], marks[r, WHEN] = pack[NOW, j], pack[MOVE, j], step
        marks[r, OWN] = forget * marks[r, OWN] + offset * movement
        marks[r, OWN_SIZE] = forget * marks[r, OWN_SIZE] + offset**2
        products += offset * movement
        squares += offset**2
    if scaled and most - least <= 1e-6:
        look_for_growth(constants, known, pack[NOW], pack[MOVE], pack[DISTANCE_BEFORE], pack[MOVED_BEFORE], count, step)
    if count:
        known[COMMON] = forget * known[COMMON] + products
        known[COMMON_SIZE] = forget * known[COMMON_SIZE] + squares


@njit(cache=True, nogil=True)
def make_labels(making, chosen, f, y, step, out_label):
    """Observe the effect of the latest pack, and label this one: `SynthesisTeacher.select` after its choice."""
    constants, known, marks, rows, shown, pack = making
    telling = constants[3]
    if known[PENDING] > 0.0:
        observe(constants, known, marks, rows, shown, pack, f, step)
        known[PENDING] = 0.0
    agree = known[OF_COMMON] <= constants[2] * known[OF_MOVEMENT] or (
        0.0 < known[OF_COMMON_AGAIN] <= known[OF_OWN_AGAIN]
    )
    common = fitted(known[COMMON], known[COMMON_SIZE])
    k = chosen.size
    for j in range(k):
        if rows[chosen[j]] == 0:  # shown for the first time
            known[USED] += 1.0
            rows[chosen[j]] = np.int32(known[USED])
    alike = known[PROBES] > 0.0 and shown_together(marks, rows, chosen, k)
    for j in range(k):
        s = chosen[j]
        r = rows[s]
        shown[j] = s
        pack[BEFORE, j] = f[s]
        error = abs(y[s] - f[s])
        response = common if agree else fitted(marks[r, OWN], marks[r, OWN_SIZE])
        before = marks[r, DISTANCE]
        responds = response > 0.0 and (before == 0.0 or marks[r, MOVED] > 0.0)
        size = min(error / response if responds else error, max(known[REACH], error))
        alike = alike and responds and size < telling * before and before < telling * size
        pack[OFFSET, j] = size
    for j in range(k):
        s = chosen[j]
        r = rows[s]
        error = y[s] - f[s]
        size = marks[r, DISTANCE] / 2.0 if alike else pack[OFFSET, j]
        offset = np.sign(error) * min(size, known[RADIUS])
        label = y[s] if offset == error else f[s] + offset
        kept = min(max(label, known[LOW]), known[HIGH])
        pack[OFFSET, j] = offset if kept == label else kept - f[s]
        out_label[j] = kept
    known[PENDING] = k


@njit(cache=True, nogil=True)
def true_labels(chosen, whole, source, outputs, copies, out_label):
    q = len(outputs)
    if whole:
        for s in range(source.size):
            out_label[s] = source[s]
        return
    each = chosen.size // number_of(copies)
    n = source.size // (q * number_of(copies))
    for j in range(chosen.size):
        slot = chosen[j] + j // each * n if len(copies) > 1 else chosen[j]
        for o in range(q):
            out_label[j * q + o] = source[slot * q + o]


# ---------------------------------------------------------------- lessons


@njit(cache=True, nogil=True)
def by_columns(
    on_grid, grid, lists, at, rates, other_label, making, drawing, diverse, greedy, tournament, diagonal, f, y, other,
    c, shown, score, bits, rule, rule_delta, weight, norm, loss, loss_delta, outputs, copies, order, best_slot, levels,
    node_bits, node_tile, stamp, touched, work, guess, sums, rules, watch, out_index, out_label, out_m,
):  # fmt: skip
    """Teach by adding the columns of K at the shown points one after another; returns the steps taken and the outcome.

    What is shown is the tournament's winner, the k largest scores, or already in `out_index`. A column is a window laid
    around a cell of a grid, or a list of neighbours.

    One long body on purpose: every array handed to another function would have its references counted, which costs
    more than a whole step. Slots are unsigned, which spares every access a test for negative indices.
    """
    shape, strides, tables, places, across, here, lead, first, start, window = grid
    begin, members, list_weights = lists
    q = len(outputs)
    d = shape.size
    runs = first.size
    k = out_index.shape[1]
    each = k // number_of(copies)
    size_of_copy = f.size // (q * number_of(copies))
    spare = spare_leaves(score.size, levels, copies)
    # with short columns the new scores compete with the best of their tile one by one, which mostly saves scanning it
    compete = (window.size if on_grid else list_weights.size // max(1, begin.size - 1)) <= TILE
    moves = np.empty(k * q)
    root = levels[-2]
    scale, tol, limit, still = rules[SCALE], rules[TOL], rules[LIMIT], rules[STILL]
    patience, repeats = rules[PATIENCE], rules[REPEATS]
    tol_square = (tol / scale) ** 2 if tol > 0.0 else -1.0
    total, carry, error = sums[TOTAL], sums[CARRY], sums[ERROR]
    best, best_at = watch[BEST], watch[BEST_AT]
    m = measured(scale, max(total + carry, 0.0), f, y)
    state = GOING
    taken = 0
    for t in range(rates.size):
        step = at + t
        state, best, best_at = over(step, m, tol, limit, patience, best, best_at)
        if state != GOING:
            break

        # the teacher
        if drawing is not None:
            out_index[t, 0] = draw_by_odds(drawing, score, score[best_slot[node_tile[root]]], levels)
        elif tournament:
            for v in range(number_of(copies)):
                out_index[t, v] = best_slot[node_tile[root + v]] - v * size_of_copy
        elif greedy:
            choose_packs(diverse, bits, work, guess, f, y, score, copies, out_index[t])
        use_other = other_label.size > 0 and other_label[t]
        if making is not None:
            make_labels(making, out_index[t], f, y, step, out_label[t])
        largest = 0.0
        for j in range(k):
            copy = j // each if len(copies) > 1 else 0
            slot = np.uint64(out_index[t, j] + copy * size_of_copy)
            height = diagonal[slot if diagonal.size > 1 else np.uint64(0)]
            top_output, parts = softmax_parts(f, slot * np.uint64(q), outputs) if loss == CROSSENTROPY else (0.0, 1.0)
            for o in range(q):
                s = slot * np.uint64(q) + np.uint64(o)
                if making is None:
                    out_label[t, j * q + o] = other[s] if use_other else y[s]
                if loss == CROSSENTROPY:
                    g = np.exp(f[s] - top_output) / parts - out_label[t, j * q + o]
                else:
                    g = slope(loss, loss_delta, f[s], out_label[t, j * q + o])
                largest = larger(largest, abs(g) * height)
                moves[j * q + o] = -rates[t] / each * g
        state = stillness(largest, m, still, repeats)
        if state != GOING:
            break

        # the learner
        change = 0.0
        count = 0
        for j in range(k):
            copy = j // each if len(copies) > 1 else 0
            home = np.uint64(copy * size_of_copy)
            skip = np.uint64(copy * spare)
            slot = np.uint64(out_index[t, j]) + home
            for o in range(q):
                c[slot * np.uint64(q) + np.uint64(o)] += moves[j * q + o]
            shown[slot] = True
            if on_grid:
                last = np.int64(order[slot]) if tournament else np.int64(out_index[t, j])
                out_index[t, j] = last
                for i in range(d - 1):
                    here[i] = last // strides[i]
                    last -= here[i] * strides[i]
                for r in range(runs):
                    base = home
                    inside = True
                    for i in range(d - 1):
                        x = here[i] + lead[r, i]
                        if x < 0 or x >= shape[i]:
                            inside = False
                            break
                        base += tables[np.uint64(places[i] + x)]
                    if not inside:
                        continue
                    lo = last + first[r]
                    offset = start[r] - lo
                    hi = min(start[r + 1] - offset, shape[d - 1])
                    lo = max(lo, 0)
                    for x in range(lo, hi):
                        s = base + across[np.uint64(x)]
                        w = window[np.uint64(offset + x)]
                        size = 0.0
                        for o in range(q):
                            a = s * np.uint64(q) + np.uint64(o)
                            before = f[a] - y[a]
                            f[a] += moves[j * q + o] * w
                            after = f[a] - y[a]
                            change += (after - before) * (after + before)
                            size = abs(after) if q == 1 else norm_of(after, size, norm)
                        if greedy and not score[s] < 0.0:
                            if rule != RESIDUAL:
                                size = score_at(s, f, y, rule, rule_delta, weight, outputs, norm)
                            elif q > 1 and norm == EUCLIDEAN:
                                size = np.sqrt(size)
                            score[s] = size
                            if drawing is not None:
                                drawing[3][s] = odds_at(size, drawing[2][0], drawing[0][6])
                            if tournament:
                                tile = s // np.uint64(TILE) + skip
                                now = bits[s]
                                if compete and (
                                    now > node_bits[tile] or (now == node_bits[tile] and np.int64(s) < best_slot[tile])
                                ):
                                    node_bits[tile] = now
                                    best_slot[tile] = s
                                if stamp[tile] != step:
                                    stamp[tile] = step
                                    touched[np.uint64(count)] = tile
                                    count += 1
            else:
                if tournament:
                    out_index[t, j] = order[slot]
                own = slot - home
                for p in range(begin[own], begin[own + np.uint64(1)]):
                    s = np.uint64(members[p]) + home
                    w = list_weights[p]
                    size = 0.0
                    for o in range(q):
                        a = s * np.uint64(q) + np.uint64(o)
                        before = f[a] - y[a]
                        f[a] += moves[j * q + o] * w
                        after = f[a] - y[a]
                        change += (after - before) * (after + before)
                        size = abs(after) if q == 1 else norm_of(after, size, norm)
                    if greedy and not score[s] < 0.0:
                        if rule != RESIDUAL:
                            size = score_at(s, f, y, rule, rule_delta, weight, outputs, norm)
                        elif q > 1 and norm == EUCLIDEAN:
                            size = np.sqrt(size)
                        score[s] = size
                        if drawing is not None:
                            drawing[3][s] = odds_at(size, drawing[2][0], drawing[0][6])
                        if tournament:
                            tile = s // np.uint64(TILE) + skip
                            now = bits[s]
                            if compete and (
                                now > node_bits[tile] or (now == node_bits[tile] and np.int64(s) < best_slot[tile])
                            ):
                                node_bits[tile] = now
                                best_slot[tile] = s
                            if stamp[tile] != step:
                                stamp[tile] = step
                                touched[np.uint64(count)] = tile
                                count += 1

        # the discrepancy: a compensated sum with a bound on its error, computed again where the error matters
        if change != 0.0 or largest > 0.0:  # the change of very small numbers may round to 0 although they moved
            total, carry, error = changed(total, carry, error, change)
            if must_be_exact(total + carry, error, tol_square):
                total, carry, error = sum_of_squares(f, y), 0.0, 0.0
            m = measured(scale, total + carry, f, y)
        out_m[t] = m
        taken = t + 1

        if drawing is not None:
            renew_sums(drawing, touched, count, levels)

        # the tournament: scan the tiles whose best score may have fallen, then repeat matches as far up as needed
        for j in range(count):
            tile = np.uint64(touched[j])
            if compete and bits[np.uint64(best_slot[tile])] == node_bits[tile]:
                continue
            low = np.uint64(best_slot[tile]) // np.uint64(TILE) * np.uint64(TILE)
            top = bits[low]
            for v in range(TILE):
                top = max(top, bits[low + np.uint64(v)])
            while bits[low] != top:
                low += np.uint64(1)
            node_bits[tile] = top
            best_slot[tile] = low
        span = 1
        for level in range(1, levels.size - 1):
            if count == 0:
                break
            down, up = levels[level - 1], levels[level]
            kept = 0
            for j in range(count):
                node = touched[j] // FAN
                here_ = np.uint64(up + node)
                if stamp[here_] == step:
                    continue
                if node_bits[down + touched[j]] < node_bits[here_] and node_tile[here_] // span != touched[j]:
                    continue  # it lost this match before, and would lose it again
                stamp[here_] = step
                child = np.uint64(down + node * FAN)
                top = node_bits[child]
                wins = np.uint64(node_tile[child])
                for v in range(1, FAN):
                    other_bits = node_bits[child + np.uint64(v)]
                    if other_bits > top:
                        top = other_bits
                        wins = np.uint64(node_tile[child + np.uint64(v)])
                    elif other_bits == top and top >= 0:
                        rival = np.uint64(node_tile[child + np.uint64(v)])
                        if order[best_slot[rival]] < order[best_slot[wins]]:
                            wins = rival
                if node_bits[here_] != top or node_tile[here_] != wins or stamp[wins] == step:
                    node_bits[here_] = top
                    node_tile[here_] = wins
                    touched[kept] = node
                    kept += 1
            count = kept
            span *= FAN
        if making is not None and making[1][WARNED] == 1.0:  # only Python can warn: return to it after this step
            break
    sums[TOTAL], sums[CARRY], sums[ERROR] = total, carry, error
    watch[BEST], watch[BEST_AT] = best, best_at
    return taken, state


# ---------------------------------------------------------------- one greedy example per step, on a grid
#
# A *row* is a line of cache: LANES slots along the last axis of the grid. A step computes with whole rows, in vector
# registers. Lanes that the window does not reach keep their values, but take part in the largest
# score of the row: so it is known without a scan, and no score is stored. The rows are the leaves of a tournament;
# every node has its winning score, as bits, and the index of its winner in the pool.
#
# f[(row * q + output) * LANES + lane], and so y, c and the other labels; with one output that is f[slot].


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
        sizes = none
        for output in range(q):
            here = builder.add(at, index(output * LANES))
            value, target = vectors.load(f, of[0], here, reals), vectors.load(y, of[1], here, reals)
            move = vectors.everywhere(builder.load(vectors.place(moves, of[6], index(output))), reals)
            moved = builder.select(reached, builder.fadd(value, builder.fmul(move, w)), value)
            builder.store(moved, vectors.at(f, of[0], here, reals), align=8)
            before, after = builder.fsub(value, target), builder.fsub(moved, target)
            added = builder.fmul(builder.fsub(after, before), builder.fadd(after, before))
            changes = builder.fadd(changes, builder.select(reached, added, none))
            size = vectors.of_each("fabs", after)
            if q == 1:
                sizes = size
            elif by == EUCLIDEAN:
                sizes = builder.fadd(sizes, builder.fmul(after, after))
            elif by == MANHATTAN:
                sizes = builder.fadd(sizes, size)
            else:
                sizes = builder.select(builder.fcmp_ordered(">", size, sizes), size, sizes)
        builder.store(changes, vectors.at(change, of[7], index(0), reals), align=8)
        if q > 1 and by == EUCLIDEAN:
            sizes = vectors.of_each("sqrt", sizes)
        bits = builder.bitcast(sizes, wholes)
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


@njit(cache=True, nogil=True)
def winner_of(node_bits, node_index, first):
    """The largest score of FAN nodes, and the lowest index that has it."""
    top, which = match(node_bits, first)
    index = node_index[np.uint64(first + first_in(which))]
    which &= which - 1
    while which != 0 and top >= 0:
        index = min(index, node_index[np.uint64(first + first_in(which))])
        which &= which - 1
    return top, index


@njit(cache=True, nogil=True)
def rows_of_grid(grid, f, y, forbidden, outputs, norm, levels, node_bits, node_index):
    """Build the tournament of rows; a step of zero in every row finds its largest score."""
    shape, _, tables, places, across, here, _, _, _, _ = grid
    d = shape.size
    length = shape[d - 1]
    q = len(outputs)
    nothing, moves, change = np.zeros(LANES), np.zeros(q), np.zeros(LANES)
    node_bits[:] = -1
    here[:] = 0
    rows = 1
    for i in range(d - 1):
        rows *= shape[i]
    for line in range(rows):
        base = np.uint64(0)
        for i in range(d - 1):
            base += tables[np.uint64(places[i] + here[i])]
        for x in range(0, length, LANES):
            slot = np.int64(base + across[np.uint64(x)])
            row = slot // LANES
            top, which = step_in_row(
                f, y, row * LANES * q, nothing, 0, length - x, moves, change, forbidden, slot, outputs, norm
            )
            node_bits[row] = top
            node_index[row] = line * length + x + first_in(which)
        i = d - 2
        while i >= 0:
            here[i] += 1
            if here[i] < shape[i]:
                break
            here[i] = 0
            i -= 1
    for level in range(1, levels.size - 1):
        down, up = levels[level - 1], levels[level]
        for node in range((up - down) // FAN):
            node_bits[up + node], node_index[up + node] = winner_of(node_bits, node_index, down + FAN * node)


@njit(cache=True, nogil=True)
def by_rows(
    grid, margin, ahead, at, rates, other_label, making, forbidden, height, f, y, other, c, shown, loss, loss_delta,
    outputs, norm, levels, node_bits, node_index, touched, sums, rules, watch, out_index, out_label, out_m,
):  # fmt: skip
    """Teach one greedy example per step on a grid; returns the steps taken and the outcome.

    The window has `margin` zeros around each of its runs, so that a whole row of it can be read anywhere. `ahead` is
    the level of the tournament in which the second best is looked for, 0 where all arrays are in the cache.
    """
    shape, strides, tables, places, across, here, lead, first, start, window = grid
    q = len(outputs)
    d = shape.size
    runs = first.size
    length = shape[d - 1]
    moves, change = np.empty(q), np.empty(LANES)
    root = levels[-2]
    scale, tol, limit, still = rules[SCALE], rules[TOL], rules[LIMIT], rules[STILL]
    patience, repeats = rules[PATIENCE], rules[REPEATS]
    tol_square = (tol / scale) ** 2 if tol > 0.0 else -1.0
    total, carry, error = sums[TOTAL], sums[CARRY], sums[ERROR]
    best, best_at = watch[BEST], watch[BEST_AT]
    m = measured(scale, max(total + carry, 0.0), f, y)
    state = GOING
    taken = 0
    for t in range(rates.size):
        step = at + t
        state, best, best_at = over(step, m, tol, limit, patience, best, best_at)
        if state != GOING:
            break

        # the teacher
        index = np.int64(node_index[root])
        last = index
        slot = np.uint64(0)
        for i in range(d - 1):
            here[i] = last // strides[i]
            last -= here[i] * strides[i]
            slot += tables[np.uint64(places[i] + here[i])]
        slot += across[np.uint64(last)]
        if making is not None:
            out_index[t, 0] = slot
            make_labels(making, out_index[t], f, y, step, out_label[t])
        out_index[t, 0] = index
        use_other = other_label.size > 0 and other_label[t]
        largest = 0.0
        own = slot // np.uint64(LANES) * np.uint64(LANES * q) + slot % np.uint64(LANES)
        for o in range(q):
            s = own + np.uint64(o * LANES)
            if making is None:
                out_label[t, o] = other[s] if use_other else y[s]
            g = slope(loss, loss_delta, f[s], out_label[t, o])
            largest = larger(largest, abs(g) * height)
            moves[o] = -rates[t] * g
        state = stillness(largest, m, still, repeats)
        if state != GOING:
            break

        # the learner
        for o in range(q):
            c[own + np.uint64(o * LANES)] += moves[o]
        shown[slot] = True
        for lane in range(LANES):
            change[lane] = 0.0
        kept = 0
        for r in range(runs):
            base = np.uint64(0)
            inside = True
            line = np.int64(0)
            for i in range(d - 1):
                x = here[i] + lead[r, i]
                if x < 0 or x >= shape[i]:
                    inside = False
                    break
                base += tables[np.uint64(places[i] + x)]
                line += x * strides[i]
            if not inside:
                continue
            lo = last + first[r]
            offset = start[r] + (2 * r + 1) * margin - lo
            hi = min(lo + start[r + 1] - start[r], length)
            for x in range(max(lo, 0) // LANES * LANES, hi, LANES):
                piece = np.int64(base + across[np.uint64(x)])
                row = piece // LANES
                top, which = step_in_row(
                    f, y, row * (LANES * q), window, offset + x, length - x, moves, change, forbidden, piece,
                    outputs, norm,
                )  # fmt: skip
                node_bits[np.uint64(row)] = top
                node_index[np.uint64(row)] = line + x + first_in(which)
                tile = row // FAN
                j = kept - 1
                while j >= 0 and touched[j] != tile:
                    j -= 1
                if j < 0:
                    touched[kept] = tile
                    kept += 1

        # the discrepancy: a compensated sum with a bound on its error, computed again where the error matters
        added = 0.0
        for lane in range(LANES):
            added += change[lane]
        if added != 0.0 or largest > 0.0:  # the change of very small numbers may round to 0 although they moved
            total, carry, error = changed(total, carry, error, added)
            if must_be_exact(total + carry, error, tol_square):
                total, carry, error = sum_of_squares(f, y), 0.0, 0.0
            m = measured(scale, total + carry, f, y)
        out_m[t] = m
        taken = t + 1

        # the tournament: repeat the matches of nodes that changed
        for level in range(1, levels.size - 1):
            down, up = levels[level - 1], levels[level]
            so_far = kept
            kept = 0
            before = np.int64(-1)
            for j in range(so_far):
                node = touched[j] if level == 1 else touched[j] // FAN
                if node == before:
                    continue
                before = node
                top, index = winner_of(node_bits, node_index, down + FAN * node)
                if node_bits[up + node] != top or node_index[up + node] != index:
                    node_bits[up + node] = top
                    node_index[up + node] = index
                    touched[kept] = node
                    kept += 1
        if making is not None and making[1][WARNED] == 1.0:  # only Python can warn: return to it after this step
            break
        if ahead == 0:
            continue

        # memory: the second best is probably shown after the next step, and what it needs is fetched during that step
        second = np.int64(-1)
        node = levels[ahead]
        for v in range(node, levels[ahead + 1]):
            bits = node_bits[np.uint64(v)]
            second = max(second, bits if bits < node_bits[root] else np.int64(-1))
        if second < 0:
            continue
        while node_bits[np.uint64(node)] != second:
            node += 1
        last = np.int64(node_index[np.uint64(node)])
        slot = np.uint64(0)
        for i in range(d - 1):
            here[i] = last // strides[i]
            last -= here[i] * strides[i]
            slot += tables[np.uint64(places[i] + here[i])]
        slot += across[np.uint64(last)]
        for o in range(q):
            fetch(c, (np.int64(slot) // LANES * q + o) * LANES)
        fetch(shown, np.int64(slot))
        before = np.int64(-1)
        for r in range(runs):
            base = np.uint64(0)
            inside = True
            for i in range(d - 1):
                x = here[i] + lead[r, i]
                if x < 0 or x >= shape[i]:
                    inside = False
                    break
                base += tables[np.uint64(places[i] + x)]
            if not inside:
                continue
            lo = last + first[r]
            hi = min(lo + start[r + 1] - start[r], length)
            for x in range(max(lo, 0) // LANES * LANES, hi, LANES):
                row = np.int64(base + across[np.uint64(x)]) // LANES
                for o in range(q):
                    fetch(f, (row * q + o) * LANES)
                    fetch(y, (row * q + o) * LANES)
                tile = row // FAN
                if tile != before:
                    before = tile
                    fetch(node_bits, row)
                    fetch(node_index, row)
                    fetch(node_bits, levels[1] + tile)
                    fetch(node_index, levels[1] + tile)
    sums[TOTAL], sums[CARRY], sums[ERROR] = total, carry, error
    watch[BEST], watch[BEST_AT] = best, best_at
    return taken, state


# ---------------------------------------------------------------- packs that are added at once
#
# In the layout `wide` every axis of the grid has as many empty cells behind it as the kernel reaches along it. So
# a convolution along an axis is one loop over all cells: what it reads beyond an edge is empty.


@njit(cache=True, nogil=True)
def pack_moves(chosen, whole, rate, labels, diagonal, f, loss, loss_delta, outputs, copies, moves, sizes):
    """Write the coefficients that a pack adds; returns the largest |slope| K(x, x), NaN if there is one."""
    each = chosen.size // number_of(copies)
    q = len(outputs)
    n = f.size // (q * number_of(copies))
    factor = -rate / each
    if q == 1 and loss == SQUARE and whole:
        for j in range(moves.size):
            g = slope(SQUARE, loss_delta, f[j], labels[j])
            moves[j] = factor * g
            sizes[j] = abs(g)
    else:
        for j in range(chosen.size):
            slot = chosen[j] + j // each * n if len(copies) > 1 else chosen[j]
            top, parts = softmax_parts(f, np.uint64(slot * q), outputs) if loss == CROSSENTROPY else (0.0, 1.0)
            for o in range(q):
                a = np.uint64(slot * q + o)
                to = np.uint64(j * q + o)
                if loss == SQUARE:
                    g = 2.0 * (f[a] - labels[to])
                elif loss == CROSSENTROPY:
                    g = np.exp(f[a] - top) / parts - labels[to]
                else:
                    g = slope(loss, loss_delta, f[a], labels[to])
                moves[to] = factor * g
                sizes[to] = abs(g)
    if diagonal.size > 1 or diagonal[0] != 1.0:
        for j in range(sizes.size):
            sizes[j] *= diagonal[chosen[j // q] % diagonal.size]
    bits = sizes.view(np.int64)
    largest = np.zeros(1, np.int64)
    for j in range(bits.size):  # as integers, since a maximum of floating-point numbers is not vectorised
        largest[0] = max(largest[0], bits[j])
    return largest.view(np.float64)[0]


@njit(cache=True, nogil=True)
def take_moves(chosen, whole, moves, c, shown, outputs, copies, wide, spread):
    """Add a pack's coefficients to the learner's, and lay them out in `spread`, output after output."""
    place, _, lead, span, length = wide
    q = len(outputs)
    each = chosen.size // number_of(copies)
    n = place.size
    spread[:] = 0.0
    if whole and q == 1:
        for s in range(moves.size):
            c[s] += moves[s]
        shown[:] = True
        for v in range(number_of(copies)):
            for row in range(0, n, length):
                into = spread[lead + v * span + place[row] :]
                for x in range(length):
                    into[x] = moves[v * n + row + x]
        return
    for j in range(chosen.size):
        v = j // each if len(copies) > 1 else 0
        slot = np.uint64(chosen[j] + v * n)
        at = np.uint64(lead + v * span + place[np.uint64(chosen[j])])
        shown[slot] = True
        for o in range(q):
            move = moves[np.uint64(j * q + o)]
            c[slot * np.uint64(q) + np.uint64(o)] += move
            spread[at + np.uint64(o * span)] += move


@njit(cache=True, nogil=True)
def add_spread(scale, addition, f, outputs, wide):
    """Do f += scale * addition; `addition` is laid out as `wide` says, output after output."""
    place, _, lead, span, length = wide
    q = len(outputs)
    n = place.size
    for v in range(f.size // (n * q)):
        for o in range(q):
            for row in range(0, n, length):
                here = addition[lead + (v * q + o) * span + place[row] :]
                there = f[(v * n + row) * q + o : (v * n + row + length) * q]
                for x in range(length):
                    there[x * q] += scale * here[x]


@njit(cache=True, nogil=True)
def add_scaled(scale, addition, f):
    for s in range(f.size):
        f[s] += scale * addition[s]


@njit(cache=True, nogil=True)
def rescored(f, y, score, rule, delta, weight, keep_score, outputs, norm):
    """Bring the scores up to date after all values changed, and return the sum of squares."""
    q = len(outputs)
    if q > 1 and keep_score:
        score_all(f, y, score, rule, delta, weight, outputs, norm)
    total = 0.0
    for low in range(0, f.size, 1024):  # so few that they stay in the nearest cache
        f_, y_ = f[low : low + 1024], y[low : low + 1024]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0  # or one addition would wait for another
        end = f_.size // 8 * 8
        for s in range(0, end, 8):
            s0 += (f_[s] - y_[s]) ** 2
            s1 += (f_[s + 1] - y_[s + 1]) ** 2
            s2 += (f_[s + 2] - y_[s + 2]) ** 2
            s3 += (f_[s + 3] - y_[s + 3]) ** 2
            s4 += (f_[s + 4] - y_[s + 4]) ** 2
            s5 += (f_[s + 5] - y_[s + 5]) ** 2
            s6 += (f_[s + 6] - y_[s + 6]) ** 2
            s7 += (f_[s + 7] - y_[s + 7]) ** 2
        for s in range(end, f_.size):
            s0 += (f_[s] - y_[s]) ** 2
        total += ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
        if q == 1 and keep_score:
            score_one_output(f_, y_, score[low : low + 1024], rule, delta, weight[low : low + 1024])
    return total


@njit(cache=True, nogil=True)
def first_largest(bits):
    """The slot of the largest score, the lowest of equals."""
    top = bits[0]
    for s in range(bits.size):
        top = max(top, bits[s])
    s = 0
    while bits[s] != top:
        s += 1
    return s


@njit(cache=True, nogil=True)
def squared_distances(columns, index, result):
    """Write |x_s - x_index|^2 for every point; `columns` holds one row per coordinate."""
    result[:] = 0.0
    for i in range(columns.shape[0]):
        axis = columns[i]
        x = axis[index]
        for s in range(axis.size):
            r = axis[s] - x
            result[s] += r * r


@njit(cache=True, nogil=True)
def convolve_axis(source, result, lead, stride, taps):
    """Write result[p] = sum_t taps[reach + t] source[p - t stride]; taps are symmetric, so they are taken in pairs."""
    reach = taps.size // 2
    low, high = lead, source.size - lead
    there, here = result[low:high], source[low:high]
    first = 1
    while first == 1 or first <= reach:  # three pairs in one pass: each pass reads and writes the whole result
        t1, t2, t3 = first, first + 1, first + 2
        w0 = taps[reach] if first == 1 else 0.0
        w1 = taps[reach + t1] if t1 <= reach else 0.0
        w2 = taps[reach + t2] if t2 <= reach else 0.0
        w3 = taps[reach + t3] if t3 <= reach else 0.0
        t1 = t1 * stride if t1 <= reach else 0
        t2 = t2 * stride if t2 <= reach else 0
        t3 = t3 * stride if t3 <= reach else 0
        a1, b1 = source[low - t1 : high - t1], source[low + t1 : high + t1]
        a2, b2 = source[low - t2 : high - t2], source[low + t2 : high + t2]
        a3, b3 = source[low - t3 : high - t3], source[low + t3 : high + t3]
        if first == 1:
            for p in range(there.size):
                there[p] = w0 * here[p] + w1 * (a1[p] + b1[p]) + w2 * (a2[p] + b2[p]) + w3 * (a3[p] + b3[p])
        else:
            for p in range(there.size):
                there[p] += w1 * (a1[p] + b1[p]) + w2 * (a2[p] + b2[p]) + w3 * (a3[p] + b3[p])
        first += 3


@njit(cache=True, nogil=True)
def by_convolution(
    wide, taps, taps_at, height, at, rates, other_label, making, diverse, greedy, diagonal, f, y, other, c, shown,
    score, bits, rule, rule_delta, weight, norm, loss, loss_delta, outputs, copies, work, guess, sums, rules, watch,
    out_index, out_label, out_m,
):  # fmt: skip
    """Packs so large that convolving the whole grid, axis by axis, is cheaper than adding their columns."""
    place, strides, lead, span, _ = wide
    several = len(outputs) * number_of(copies)
    spread = np.zeros(2 * lead + several * span)
    result = np.zeros(spread.size)
    moves, sizes = np.empty(out_label.shape[1]), np.empty(out_label.shape[1])
    whole = greedy and out_index.shape[1] == place.size * number_of(copies)
    scale = rules[SCALE]
    m = measured(scale, sums[TOTAL], f, y)
    for t in range(rates.size):
        state, watch[BEST], watch[BEST_AT] = over(
            at + t, m, rules[TOL], rules[LIMIT], rules[PATIENCE], watch[BEST], watch[BEST_AT]
        )
        if state != GOING:
            return t, state
        row = t if out_index.shape[0] == rates.size else 0  # one row where every step shows the same
        if row == t:
            if greedy:
                choose_packs(diverse, bits, work, guess, f, y, score, copies, out_index[row])
            if making is None:
                use_other = other_label.size > 0 and other_label[t]
                true_labels(out_index[row], whole, other if use_other else y, outputs, copies, out_label[row])
            else:
                make_labels(making, out_index[row], f, y, at + t, out_label[row])
        shown_now, labels_now = out_index[row], out_label[row]
        largest = pack_moves(
            shown_now, whole, rates[t], labels_now, diagonal, f, loss, loss_delta, outputs, copies, moves, sizes
        )
        state = stillness(largest, m, rules[STILL], rules[REPEATS])
        if state != GOING:
            return t, state
        take_moves(shown_now, whole, moves, c, shown, outputs, copies, wide, spread)
        for i in range(strides.size):
            convolve_axis(spread, result, lead, strides[i], taps[taps_at[i] : taps_at[i + 1]])
            spread, result = result, spread
        add_spread(height, spread, f, outputs, wide)
        sums[TOTAL] = rescored(f, y, score, rule, rule_delta, weight, greedy and not whole, outputs, norm)
        m = measured(scale, sums[TOTAL], f, y)
        out_m[t] = m
        if making is not None and making[1][WARNED] == 1.0:
            return t + 1, GOING
    return rates.size, GOING


# ---------------------------------------------------------------- the k largest, in O(n)


@njit(cache=True, nogil=True)
def kth_largest(values, count, k):
    """The k-th largest of values[:count] (k from 1), by quickselect in place."""
    lo, hi, want = 0, count - 1, k - 1  # descending order
    while lo < hi:
        mid = (lo + hi) // 2
        a, b, e = values[lo], values[mid], values[hi]
        pivot = max(min(a, b), min(max(a, b), e))
        i, j = lo, hi
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if want <= j:
            hi = j
        elif want >= i:
            lo = i
        else:
            return values[want]
    return values[want]


@njit(cache=True, nogil=True)
def count_between(bits, lo, hi):
    above = 0
    within = 0
    for s in range(bits.size):
        above += bits[s] > hi
        within += bits[s] > lo
    return above, within - above


@njit(cache=True, nogil=True)
def largest_into(bits, work, guess, out):
    """Write the slots of the largest scores, ascending, ties to the lowest.

    guess[0] is the threshold of the step before, guess[1] how far around it to look, both as bits.
    """
    k = out.size
    if k == bits.size:
        for s in range(k):
            out[s] = s
        return
    lo, hi = guess[0] - guess[1], guess[0] + guess[1]
    above, within = count_between(bits, lo, hi)
    found = guess[1] > 0 and above < k <= above + within
    if found:
        count = 0
        for s in range(bits.size):
            work[count] = bits[s]
            count += lo < bits[s] <= hi
    else:
        above = 0
        count = bits.size
        for s in range(count):  # a loop: assigning a slice would take seconds to compile
            work[s] = bits[s]
    threshold = kth_largest(work, count, k - above)
    if found and count > 256:
        guess[1] = guess[1] // 2
    elif not found:
        guess[1] = 4 * guess[1] + (np.int64(1) << 44)
    guess[0] = threshold
    strictly, equal = above, 0
    for s in range(count):
        strictly += work[s] > threshold
        equal += work[s] == threshold
    s = j = np.uint64(0)
    if strictly + equal == k:  # no tie at the threshold: without a branch that is hard to predict
        while j < np.uint64(k):
            out[j] = s
            j += np.uint64(bits[s] >= threshold)
            s += np.uint64(1)
        return
    equal = k - strictly
    while j < np.uint64(k):
        if bits[s] > threshold:
            out[j] = s
            j += np.uint64(1)
        elif bits[s] == threshold and equal > 0:
            out[j] = s
            j += np.uint64(1)
            equal -= 1
        s += np.uint64(1)


# ---------------------------------------------------------------- diverse packs
#
# `teachers.greedy.diverse_pack`: points one by one, each as if the errors at those before were corrected. They are in
# the order of the pool, and every block of TILE points keeps its largest error, which is searched again only where it
# fell.

TAKEN = -2.0  # the size of an error at a point that was chosen; -1 at a point that may not be


@njit(cache=True, nogil=True)
def search_block(block, bits, top_bits, top_slot):
    s = np.uint64(block) * np.uint64(TILE)
    top = bits[s]
    for v in range(TILE):
        top = max(top, bits[s + np.uint64(v)])
    while bits[s] != top:
        s += np.uint64(1)
    top_bits[block], top_slot[block] = top, s


@njit(cache=True, nogil=True)
def diverse_into(diverse, f, y, score, out):
    """Write the points of a diverse pack, ascending."""
    on_grid, grid, lists, height, sizes, tops, reach, offsets, near, near_weight = diverse
    left, size, bits = sizes
    top_size, top_bits, top_slot = tops
    shape, strides, _, _, _, here, lead, first, start, window = grid
    begin, members, weights = lists
    d = shape.size
    for s in range(f.size):
        left[s] = f[s] - y[s]
        size[s] = -1.0 if score[s] < 0.0 else abs(left[s])
    for block in range(top_size.size):
        search_block(block, bits, top_bits, top_slot)
    for _ in range(out.size):
        top = top_bits[0]
        for block in range(top_bits.size):
            top = max(top, top_bits[block])
        best = np.uint64(0)
        while top_bits[best] != top:
            best += np.uint64(1)
        index = top_slot[best]
        coefficient = left[index] / height
        size[index] = TAKEN

        # the points that it corrects, counted from `origin`
        low, origin = np.uint64(0), np.int64(0)
        if on_grid:
            last = index
            inside = True
            for i in range(d - 1):
                here[i] = last // strides[i]
                last -= here[i] * strides[i]
                inside = inside and reach[i] <= here[i] < shape[i] - reach[i]
            if inside and reach[d - 1] <= last < shape[d - 1] - reach[d - 1]:
                cells, cell_weights, high, origin = offsets, window, np.uint64(offsets.size), index
            else:
                cells, cell_weights, high = near, near_weight, np.uint64(0)
                for r in range(first.size):
                    base = 0
                    inside = True
                    for i in range(d - 1):
                        x = here[i] + lead[r, i]
                        inside = inside and 0 <= x < shape[i]
                        base += x * strides[i]
                    offset = start[r] - (last + first[r])
                    if inside:
                        for x in range(max(last + first[r], 0), min(start[r + 1] - offset, shape[d - 1])):
                            near[high] = base + x
                            near_weight[high] = window[np.uint64(offset + x)]
                            high += np.uint64(1)
        else:
            cells, cell_weights = members, weights
            low, high = np.uint64(begin[index]), np.uint64(begin[index + 1])

        for p in range(low, high):
            s = np.uint64(origin + cells[p])
            left[s] -= coefficient * cell_weights[p]
            if size[s] < 0.0:
                continue
            now = abs(left[s])
            size[s] = now
            block = s // np.uint64(TILE)
            if now >= top_size[block]:
                if now > top_size[block] or np.int64(s) < top_slot[block]:
                    top_size[block] = now
                    top_slot[block] = s
            elif np.int64(s) == top_slot[block]:
                search_block(block, bits, top_bits, top_slot)
        search_block(best, bits, top_bits, top_slot)
    s = j = np.uint64(0)
    while j < np.uint64(out.size):
        out[j] = s
        j += np.uint64(size[s] == TAKEN)
        s += np.uint64(1)


@njit(cache=True, nogil=True)
def choose_packs(diverse, bits, work, guess, f, y, score, copies, out):
    """Write the pack of every copy, one after another: points of the largest scores, or diverse ones."""
    each = out.size // number_of(copies)
    n = score.size // number_of(copies)
    for v in range(number_of(copies)):
        own = out[v * each : (v + 1) * each]
        low, high = v * n, (v + 1) * n
        if diverse is not None:
            diverse_into(diverse, f[low:high], y[low:high], score[low:high], own)
        else:
            largest_into(bits[low:high], work, guess[v], own)


# ---------------------------------------------------------------- steps that are taken again


@njit(cache=True, nogil=True)
def take_again(f, offsets, w, places, y, rates, loss, delta, c):
    """Take steps on a grid with a margin, and write down what each example added.

    f is flat, the outputs of a place side by side; places (m, k), y and c (m, k, q), rates (m,).
    """
    steps, k, q = c.shape
    for t in range(steps):
        scale = -rates[t] / k
        for j in range(k):
            for o in range(q):
                c[t, j, o] = scale * slope(loss, delta, f[places[t, j] * q + o], y[t, j, o])
        for j in range(k):
            for i in range(len(offsets)):
                at = (places[t, j] + offsets[i]) * q
                for o in range(q):
                    f[at + o] += c[t, j, o] * w[i]
