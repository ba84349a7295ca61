"""What stops a row that misses its goal, measured when it does; each function returns one clause with its figure."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
import time

import numpy as np

ENOUGH = 0.9  # of a core: less than that is other work on the machine


def other_work(seconds=0.3):
    """Return what other programs take from a loop that only counts, None where it is little."""
    began, work = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        pass
    share = (time.process_time() - work) / (time.perf_counter() - began)
    return None if share >= ENOUGH else f"a loop that only counts gets {share:.2f} of a core now"


def memory(megabytes):
    """The time to read so many megabytes once, by NumPy's sum from memory."""

    def say():
        speed = read_from_memory()
        return f"memory: {megabytes:.3g} MB are read in {1e6 * megabytes / speed:,.3g} us, at {1e-3 * speed:.1f} GB/s"

    return say


@functools.cache
def read_from_memory(size=2**25):
    """Return the megabytes per second that one core reads where nothing is in its cache."""
    values = np.ones(size)
    return 8e-6 * size / shortest(values.sum, 5)


def passes(n, count=1):
    """The time of so many additions of a column of n numbers, which is the least that a step does."""

    def say():
        values, column = np.zeros((2, n))
        one = shortest(lambda: np.add(values, column, out=values), 50)
        times = "" if count == 1 else f" {count:,} times"
        return f"arithmetic: to add a column of {n:,} numbers{times} takes NumPy {1e6 * count * one:.3g} us"

    return say


def arithmetic(points, had):
    """The time of K at so many points in 3-D; where it is short, the rest of a step is the bound."""

    def say():
        values = points * value_of_k()
        what = "arithmetic" if 2 * values > had else "memory and what a step itself takes"
        return f"{what}: K at {points:,.0f} points would take {values:.0f} us, {1e3 * value_of_k():.2f} ns each"

    return say


@functools.cache
def value_of_k(n=4096):
    """Return the microseconds of a distance in 3-D and its Gaussian, from the nearest cache."""
    import nimt
    from nimt.engines.streamed_engine import find_compiled_column

    points = nimt.Points(np.random.default_rng(0).random((n, 3)))
    fill, column = find_compiled_column(nimt.rbf(0.5), points), np.empty(n)
    fill(5, column)
    return 1e6 * shortest(lambda: fill(5, column), 500) / n


def imports(*modules):
    """The time of a process that only imports what is needed."""

    def say():
        least = shortest(lambda: run("-c", f"import {', '.join(modules)}"), 3)
        nothing = shortest(lambda: run("-c", ""), 3)
        return f"imports: {', '.join(modules)} alone take {least:.2f} s, Python itself {nothing:.2f} s"

    return say


def calls(hand, had, what):
    """The time of the same step by hand in NumPy."""
    return lambda: f"calls of NumPy and Python: {hand:.1f} us by hand, {had - hand:.1f} us {what}"


def more(extra, what, unit="us"):
    """The time that one part takes, which was measured with the row."""
    return lambda: f"{what}: {extra:.3g} {unit}"


def cores():
    """What two threads gain where nothing is read from memory: the most that is possible now."""
    gain = gain_of_arithmetic()
    return f"{'memory' if gain >= 1.7 else 'the cores'}: in arithmetic alone two threads gain {gain:.2f}x"


def gain_of_arithmetic(n=20_000, repeat=200):
    """Return how much faster two threads fill columns that stay in their caches."""
    import nimt
    from nimt.engines.streamed_engine import find_compiled_column

    points = nimt.Points(np.random.default_rng(0).random((n, 3)))
    fills = [find_compiled_column(nimt.rbf(0.5), points) for _ in range(2)]
    columns = np.empty((2, n))

    def fill_often(part):
        for _ in range(repeat):
            fills[part](5, columns[part])

    both = [(seconds(lambda: [fill_often(part) for part in range(2)]), in_threads(fill_often)) for _ in range(10)]
    one, two = np.min(both, axis=0)
    return one / two


def in_threads(function):
    """Return the seconds of function(0) and function(1) in two threads."""
    threads = [threading.Thread(target=function, args=(part,)) for part in range(2)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def run(*arguments):
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def shortest(function, repeat):
    return min(seconds(function) for _ in range(repeat))


def seconds(function):
    began = time.perf_counter()
    function()
    return time.perf_counter() - began
