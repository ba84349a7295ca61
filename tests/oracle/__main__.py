"""Judge random lessons on every engine: `python -m oracle COUNT SEED` in the folder `tests`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from oracle.generator import draw
from oracle.giving import ENGINES, give
from oracle.lesson import Wrong, judge
from oracle.problem import Problem

BATCH = 20  # lessons that a process takes at once


@dataclass
class Verdict:
    """What was found in some lessons."""

    wrong: list[str] = field(default_factory=list)
    given: Counter[str] = field(default_factory=Counter)  # lessons by the engine that ran them
    undecided: int = 0


def judge_number(number: int, seed: int, verdict: Verdict, fewest: int = 2) -> None:
    """Draw one lesson, give it on every engine that covers it, and judge each; `fewest` is that of `draw`."""
    problem = draw(np.random.default_rng([seed, number]), fewest)
    ran: set[str] = set()
    for engine in ENGINES:
        if engine in ran:  # "auto" took it
            continue
        try:
            record = give(problem, engine)
            if record is None:
                continue
            ran.add(record["engine"])
            verdict.given[record["engine"]] += 1
            verdict.undecided += not judge(problem, record)
        except Wrong as error:
            verdict.wrong.append(f"lesson {number} of seed {seed} on {engine}: {error}\n  {describe(problem)}")
        except Exception as error:  # nothing that is drawn may be refused, nor end in an error
            verdict.wrong.append(
                f"lesson {number} of seed {seed} on {engine}: {type(error).__name__}: {error}\n  {describe(problem)}"
            )


def describe(problem: Problem) -> str:
    teacher = {name: value for name, value in problem.teacher.items() if not isinstance(value, np.ndarray)}
    pool = (
        "box"
        if problem.box is not None
        else f"{len(problem.points)} points"
        if problem.axes is None
        else f"grid {[*map(len, problem.axes)]}"
    )
    learner = f"{problem.kernel}, {problem.loss}, start {problem.start[0]}"
    return f"{pool}, {problem.q} outputs, {learner}, {teacher}, {problem.rules}"


def judge_batch(numbers: range, seed: int) -> Verdict:
    verdict = Verdict()
    for number in numbers:
        judge_number(number, seed, verdict)
    return verdict


def main(count: int, seed: int, processes: int = 1) -> int:
    """Judge so many lessons and print what is wrong; return how many are."""
    whole = Verdict()
    batches = [range(first, min(first + BATCH, count)) for first in range(0, count, BATCH)]
    with ProcessPoolExecutor(processes) if processes > 1 else nullcontext() as pool:
        give_out = map if pool is None else pool.map
        for verdict in give_out(judge_batch, batches, [seed] * len(batches)):
            for sentence in verdict.wrong:
                print(sentence, flush=True)
            whole.wrong += verdict.wrong
            whole.given += verdict.given
            whole.undecided += verdict.undecided
    ran = ", ".join(f"{engine} {lessons}" for engine, lessons in sorted(whole.given.items()))
    print(f"{count} lessons of seed {seed} ({ran}): {len(whole.wrong)} wrong, {whole.undecided} judged up to a tie")
    return len(whole.wrong)


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), int(sys.argv[2]), os.cpu_count() or 1) else 0)
