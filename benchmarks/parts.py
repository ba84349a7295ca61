"""The parts of a step with large packs on a grid, each compiled function by itself; and what schedules cost."""

from __future__ import annotations

import time

import numba
import numpy as np
from rich.table import Table

import nimt
from benchmarks.results import RATE, picture
from benchmarks.teachers import per_step
from nimt import schedules
from nimt.engines.compiled_steps.convolution import convolve_axis
from nimt.engines.compiled_steps.labels import true_labels
from nimt.engines.compiled_steps.pack_steps import add_spread, choose_packs, pack_moves, rescore, take_moves

SIDE, WIDTH = 92, 0.5
AT_ONCE = 50  # calls that are timed together, within compiled code


def parts(bench):
    """Print the tables; they have no goals, and so no rows."""
    found = {"GFT-0.05": times_of_parts(greedy(0.05)), "GFT-0.5": times_of_parts(greedy(0.5))}
    diverse = times_of_parts(nimt.GreedyTeacher(k=0.05, diverse=True, kernel=nimt.rbf(WIDTH)))
    table = Table(title=f"microseconds of the parts of a step, {SIDE}x{SIDE}, width {WIDTH}")
    for name in ("part", *found):
        table.add_column(name)
    for part in diverse:
        table.add_row(part, *(f"{times[part]:.1f}" for times in found.values()))
    table.add_row("select diverse points", f"{diverse['select the points']:.1f}", "")
    bench.console.print(table)
    print_schedules(bench)


def greedy(k, **options):
    return nimt.GreedyTeacher(k=k, **options)


def times_of_parts(teacher, warm=100, repeat=40):
    """Return the microseconds of each part as it is after some steps of a lesson; the shortest of some times."""
    image = picture(SIDE)
    learner = nimt.KernelLearner(nimt.rbf(WIDTH), learning_rate=RATE)
    walk = nimt.steps(learner, teacher, nimt.Grid.like(image), image, max_iterations=10**6, tol=None)
    walk.advance(warm)
    return {name: 1e6 * shortest(*call, repeat) for name, call in calls(walk.engine).items()}


def calls(engine):
    """Return the functions of one step of `by_convolution`, in its order, with their arguments."""
    wide, taps, taps_at, height = engine._separable
    place, strides, lead, span, _ = wide
    f, y, c, shown = engine.f.copy(), engine.y, engine.c.copy(), engine.shown.copy()
    chosen, labels = np.zeros(engine.k, dtype=np.int64), np.zeros(engine.k)
    spread, result, work = np.zeros(2 * lead + span), np.zeros(2 * lead + span), np.zeros(place.size, dtype=np.int64)
    moves, sizes = np.zeros(engine.k), np.zeros(engine.k)
    shape, loss = (engine.outputs, engine.copies), (engine.loss, engine.delta)
    scored_by = engine.scoring, True, engine.outputs, engine.norm
    chosen_by = engine.diverse, engine.bits, work, engine.guess, f, y, engine.score, engine.copies, chosen
    choose_packs(*chosen_by)
    return {
        "select the points": (choose_packs, chosen_by),
        "read their labels": (true_labels, (chosen, False, y, *shape, labels)),
        "slopes and coefficients": (
            pack_moves, (chosen, False, RATE, labels, engine.diagonal, f, *loss, *shape, moves, sizes)
        ),
        "lay the coefficients out": (take_moves, (chosen, False, moves, c, shown, *shape, wide, spread)),
        "convolve along both axes": (both_axes, (spread, result, lead, strides, taps, taps_at)),
        "add to f": (add_spread, (height, result, f, engine.outputs, wide)),
        "scores and the discrepancy": (rescore, (f, y, engine.score, *scored_by)),
    }  # fmt: skip


@numba.njit
def both_axes(spread, result, lead, strides, taps, taps_at):
    for i in range(strides.size):
        convolve_axis(spread, result, lead, strides[i], taps[taps_at[i] : taps_at[i + 1]])


def shortest(function, arguments, repeat):
    """Return the seconds of one call of a compiled function from compiled code."""

    @numba.njit
    def loop(times, arguments):
        for _ in range(times):
            function(*arguments)

    loop(1, arguments)
    found = []
    for _ in range(repeat):
        began = time.perf_counter()
        loop(AT_ONCE, arguments)
        found.append((time.perf_counter() - began) / AT_ONCE)
    return min(found)


def print_schedules(bench, steps=100):
    """Print what a step costs where packs grow and where a teacher looks now and then."""
    table = Table(title=f"microseconds per step with schedules, {SIDE}x{SIDE}; {steps} steps")
    for name in ("teacher", "engine", "per step"):
        table.add_column(name)
    teachers = {
        "packs that grow from 0.001 to 0.05": greedy(schedules.geometric(0.001, 0.05)),
        "GFT-0.05 with a look every 10 steps": greedy(0.05, look=schedules.every(10)),
        "GFT-0.05": greedy(0.05),
    }
    for name, teacher in teachers.items():
        cost, lesson = per_step(teacher, picture(SIDE), steps)
        table.add_row(name, lesson.engine, f"{cost:.0f}")
    bench.console.print(table)
