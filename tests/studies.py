"""A small study that the tests of sweeps share, also those that run it in a process of its own."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass

import numpy as np

import nimt

POOL = nimt.Grid(np.arange(-3, 3, 0.1))


def learner(rate=0.3, **options):
    return nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate, **options)


@dataclass(frozen=True, eq=False)
class SlowTeacher(nimt.Teacher):
    """Draw one point per step, and take a while for it."""

    pause: float = 0.01

    def select(self, view):
        time.sleep(self.pause)
        return view.show([int(view.rng.integers(len(view.target)))])


@dataclass(frozen=True, eq=False)
class FailingTeacher(nimt.Teacher):
    """Fail at the third step."""

    def select(self, view):
        if view.step == 2:
            raise RuntimeError("no chalk left")
        return view.show([view.step])


@dataclass(frozen=True, eq=False)
class WatchedTeacher(nimt.Teacher):
    """Write each step to the file that the environment names; stop at step 40 where it says so."""

    def select(self, view):
        with open(os.environ["NIMT_STEPS"], "a", encoding="utf-8") as file:
            file.write(f"{view.step}\n")
        if view.step == 40 and "NIMT_STOP" in os.environ:
            raise KeyboardInterrupt
        return view.show([int(view.rng.integers(len(view.target)))])


class Counted(nimt.Grid):
    """A grid that counts, in every process, how often it came there."""

    arrived = 0

    def __setstate__(self, state):
        self.__dict__.update(state)
        Counted.arrived += 1

    def __deepcopy__(self, memo):
        return self  # a copy within a process is not an arrival


def arrivals():
    return Counted.arrived


def slow_study(out, *, seeds=8, steps=10, pause=0.01, **options):
    return nimt.sweep(
        (POOL, np.sin), learner(), SlowTeacher(pause), seeds=seeds, max_iterations=steps, out=out, **options
    )


if __name__ == "__main__":  # python studies.py FOLDER SEEDS PAUSE
    slow_study(sys.argv[1], seeds=int(sys.argv[2]), pause=float(sys.argv[3]))
