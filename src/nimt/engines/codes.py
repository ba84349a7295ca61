"""The numbers by which Python and compiled code understand each other; to read them loads no compiler."""

from __future__ import annotations

from typing import NamedTuple

from nimt.arrays import Array, Flags


class Values(NamedTuple):
    """Functions on the pool, flat and in the layout of an engine.

    Attributes
    ----------
    f, y, other : array (slots q,)
        Values, target, and the target that some steps are labelled by: y where there is none.
    c : array (slots q,)
        Coefficients.
    shown : array (slots,) of bool
    """

    f: Array
    y: Array
    other: Array
    c: Array
    shown: Flags


class Scoring(NamedTuple):
    """By what score points are chosen; None where that is |f - y|.

    Attributes
    ----------
    number : int
        Of the score (`nimt.teachers.scores`).
    loss : tuple of two int
        By which the slope and the value of the teacher's loss are known.
    delta : float
        The parameter of that loss.
    constants : array (m, slots)
        What the score needs of each slot beside f and y.
    """

    number: int
    loss: tuple[int, int]
    delta: float
    constants: Array


class Motion(NamedTuple):
    """What moves with f, for a learner with momentum and so on (`learners/update_parts`).

    Attributes
    ----------
    momentum, decay, forgetting : float
    nesterov : bool
    budget : int
        0 where there is none.
    averaging : float
        0 for none, 1 for the mean of all steps, else the share of the mean that stays.
    steps_before : int
        Of the lesson.
    function, velocity, c_function, c_velocity : arrays
        Values and coefficients of f and of the velocity, flat.
    of_start : array (rows, rows)
        As in `UpdatingPupil`.
    ahead : array
        Room for the values at which slopes are taken.
    """

    momentum: float
    nesterov: bool
    decay: float
    forgetting: float
    budget: int
    averaging: float
    steps_before: int
    function: Array
    velocity: Array
    c_function: Array
    c_velocity: Array
    of_start: Array
    ahead: Array


TILE = 64  # slots per leaf of the tournament
FAN = 8  # nodes that are compared in one match
LANES = 8  # slots of a row, which is a line of cache

NO_SCORE = -(2**63)  # the bits of the score of a slot that may not be shown, or is padding: lower than any score
GOING, DIVERGED, CONVERGED, STALLED, STATIONARY, AT_REST = 0, 1, 2, 3, 4, 5
EUCLIDEAN, MANHATTAN, MAXIMUM = 0, 1, 2  # the norms over outputs
NOTHING_MISSING, FETCH, ADD = 0, 1, 2  # what Python has to do before the next step of `streaming`

# places in the array of the sum of squares that is kept by changes: its value, what rounding cut off, its error
TOTAL, CARRY, ERROR = 0, 1, 2
ROUNDING = 2.0**-50  # relative error that one change may add to it
# places in the array of rules
SCALE, TOL, LIMIT, STILL, PATIENCE, REPEATS, TOL_SQUARE = 0, 1, 2, 3, 4, 5, 6  # the last: of the sum of squares
# places in the array of the watch
BEST, BEST_AT = 0, 1
# places in the array of what is known of the learner's responses (`synthesising.LabelMaker`)
RADIUS, REACH, PROBES_LEFT, WARNED, NEAR, FAR, SEEN_AT, LOW, HIGH, PENDING = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
COMMON, COMMON_SIZE = 10, 11  # sum(offset * movement), sum(offset^2) over all points
OF_COMMON, OF_MOVEMENT, OF_COMMON_AGAIN, OF_OWN_AGAIN = 12, 13, 14, 15  # sums of squared errors
IN_PROPORTION, THE_SAME = 16, 17  # squared errors of two explanations of how the movement grows
USED = 18  # the last row of marks that belongs to a point; row 0 is that of all points not shown yet
KNOWN = 19  # numbers in all
# columns of the marks of a point
OWN, OWN_SIZE, DISTANCE, MOVED, WHEN = 0, 1, 2, 3, 4
MARKS = 5  # columns in all
# rows of the latest pack, the last four of them room to compute in
BEFORE, OFFSET, NOW, MOVE, DISTANCE_BEFORE, MOVED_BEFORE = 0, 1, 2, 3, 4, 5
PACK = 6  # rows in all
# formulas of radial kernels that compiled code computes
GAUSSIAN, MATERN_1, MATERN_3, MATERN_5, WENDLAND = 0, 1, 2, 3, 4
WAITING = 64  # steps that wait for a tile of a grid at most
WAITING_IN_CELLS = 512  # for a cell of scattered points
FEWER_TERMS = (3.0, 15.0, 26.0, 36.0)  # squared distances from which a power 2^-square needs fewer terms
GROUP = 64  # tiles whose largest bound is kept
CELL = 64  # points that lie close together, and are computed with at once
