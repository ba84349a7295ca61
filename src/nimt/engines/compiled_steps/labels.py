"""The labels of a pack: those of the target, or made ones.

Labels are made by the estimator of `teachers.responses.Responses`, method by method; its constants are handed over as
numbers.
"""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import compiled, part
from nimt.engines.codes import (
    BEFORE,
    COMMON,
    COMMON_SIZE,
    DISTANCE,
    DISTANCE_BEFORE,
    FAR,
    HIGH,
    IN_PROPORTION,
    LOW,
    MOVE,
    MOVED,
    MOVED_BEFORE,
    NEAR,
    NOW,
    OF_COMMON,
    OF_COMMON_AGAIN,
    OF_MOVEMENT,
    OF_OWN_AGAIN,
    OFFSET,
    OWN,
    OWN_SIZE,
    PENDING,
    PROBES_LEFT,
    RADIUS,
    REACH,
    SEEN_AT,
    THE_SAME,
    USED,
    WARNED,
    WHEN,
)
from nimt.engines.compiled_steps.outputs import number_of


@part
def fit_slope(product, square):
    return product / square if square > 0.0 else 0.0


@part
def root_mean_square(values, count):
    largest = values[0]
    for j in range(1, count):
        largest = max(largest, values[j])
    total = 0.0
    for j in range(count):
        total += (values[j] / largest) ** 2
    return largest * np.sqrt(total / count)


@part
def movement_towards(distance, moved, size, count):
    total = 0.0
    for j in range(count):
        total += distance[j] * (moved[j] / size)
    return total / count


@part
def were_shown_together(marks, rows, shown, count):
    """Whether all of these were shown before, and the latest time in one pack."""
    for j in range(count):
        r = rows[shown[j]]
        if not marks[r, DISTANCE] > 0.0 or marks[r, WHEN] != marks[rows[shown[0]], WHEN]:
            return False
    return count > 0


@part
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
    known[PROBES_LEFT] = max(0.0, known[PROBES_LEFT] - 1.0)
    known[IN_PROPORTION] += (moved_near - moved_far * near / far) ** 2
    known[THE_SAME] += (moved_near - moved_far) ** 2
    in_proportion, the_same = known[IN_PROPORTION], known[THE_SAME]
    if sure * in_proportion < the_same and moved_far > 0.0:
        known[REACH] = min(known[RADIUS], max(known[REACH], 2.0 * far))
        known[IN_PROPORTION] = known[THE_SAME] = known[PROBES_LEFT] = 0.0
    elif sure * the_same < in_proportion or moved_far <= 0.0 < moved_near:
        known[REACH] = min(known[REACH], near / 4.0)
        known[IN_PROPORTION] = known[THE_SAME] = known[PROBES_LEFT] = 0.0
        if known[WARNED] == 0.0:
            known[WARNED], known[NEAR], known[FAR], known[SEEN_AT] = 1.0, near, far, step


@part
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
        common = fit_slope(known[COMMON], known[COMMON_SIZE])
        errors = sizes = errors_again = own_errors = 0.0
        for j in range(count):
            r, offset, movement = rows[shown[j]], pack[OFFSET, j], pack[BEFORE, j]
            error = (movement - common * offset) ** 2
            errors += error
            sizes += movement**2
            if marks[r, OWN_SIZE] > 0.0:
                errors_again += error
                own_errors += (movement - fit_slope(marks[r, OWN], marks[r, OWN_SIZE]) * offset) ** 2
        known[OF_COMMON] = forget_errors * known[OF_COMMON] + errors
        known[OF_MOVEMENT] = forget_errors * known[OF_MOVEMENT] + sizes
        known[OF_COMMON_AGAIN] = forget_errors * known[OF_COMMON_AGAIN] + errors_again
        known[OF_OWN_AGAIN] = forget_errors * known[OF_OWN_AGAIN] + own_errors
    scaled = were_shown_together(marks, rows, shown, count)
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


@compiled
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
    common = fit_slope(known[COMMON], known[COMMON_SIZE])
    k = chosen.size
    for j in range(k):
        if rows[chosen[j]] == 0:  # shown for the first time
            known[USED] += 1.0
            rows[chosen[j]] = np.int32(known[USED])
    alike = known[PROBES_LEFT] > 0.0 and were_shown_together(marks, rows, chosen, k)
    for j in range(k):
        s = chosen[j]
        r = rows[s]
        shown[j] = s
        pack[BEFORE, j] = f[s]
        error = abs(y[s] - f[s])
        response = common if agree else fit_slope(marks[r, OWN], marks[r, OWN_SIZE])
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


@compiled
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
