"""`nimt.sweep`: give many lessons side by side, write each down as it ends, and go on where an earlier call stopped."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

from nimt import defaults
from nimt.errors import InvalidInput
from nimt.option_table import Tolerance
from nimt.runs.combinations import plan_combinations
from nimt.runs.runs import Runs, check_rules
from nimt.runs.sweep_progress import Listener, check_sweep_progress, sweep_bar
from nimt.runs.sweep_table import Sweep
from nimt.runs.workers import check_jobs

NOT_OF_A_SWEEP = ("seed", "callback", "checkpoint", "snapshots")


def sweep(
    problems: object,
    learners: object,
    teachers: object,
    *,
    max_iterations: int = defaults.MAX_ITERATIONS,
    tol: Tolerance = defaults.TOL,
    seeds: int | Iterable[int] = defaults.SEEDS,
    out: str | PathLike[str] | None = None,
    n_jobs: int = -1,
    keep_lessons: bool = False,
    retry_failed: bool = False,
    progress: bool | str | Listener = False,
    **options: Any,
) -> Sweep:
    """Give every learner a lesson by every teacher on every problem, over several seeds, and keep the numbers.

    Lessons run side by side in threads. In `joblib.parallel_config(backend="loky")` they run in processes, in
    `joblib.parallel_config(backend="dask")` on the cluster of the Dask client.

    Parameters
    ----------
    problems : pair (X, y), nimt.sources.Problem, name such as "gmm"; or a list, or a dict of name -> one
    learners : learner, list, or dict of name -> learner
        A function of the problem may stand for one: `lambda problem: KernelLearner(..., initial=problem.initial)`.
    teachers : teacher, list, or dict of name -> teacher
        A function of the problem may stand for a teacher too.
    max_iterations, tol : as in `teach`
    seeds : int or list of int
        A count n means 0, ..., n - 1. A teacher that draws nothing from the seed is run once.
    out : path of a folder, optional
        One line is appended per finished lesson, and lessons that take long have checkpoints. The same call again gives
        only the lessons that are missing; several processes may share the folder. A lesson is known by its settings,
        its names, the version of nimt, and the code of your functions and classes: where that changes, the lesson is
        given again.
    n_jobs : int
        Lessons at a time; -1 is one per core. A cluster decides for itself.
    keep_lessons : bool
        Keep the whole lessons too; `Sweep.lesson(key)` loads one.
    retry_failed : bool
        Give the lessons again that failed in an earlier call.
    progress : bool, "auto" or callable of SweepProgress
        True shows a bar: lessons done, lessons failed, time left; "auto" shows it in a terminal or a notebook if the
        sweep takes longer than a second. A function is called after every lesson instead.
    **options : as in `teach`
        `measure`, `stop_when_stationary`, `patience`, `time_limit`, `engine`, `record`, `holdout`.

    Returns
    -------
    Sweep
        A lesson that cannot be given is an entry with the sentence that says why. Ctrl-C raises KeyboardInterrupt; what
        was finished is in `out`.

    Examples
    --------
    >>> import nimt, numpy as np
    >>> learners = {rate: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate) for rate in (0.1, 0.5)}
    >>> found = nimt.sweep((nimt.Grid(np.arange(-3, 3, 0.1)), np.sin), learners, nimt.GreedyTeacher(),
    ...                    max_iterations=500, tol=1e-2)
    >>> [(entry.learner, entry.itd) for entry in found.entries]
    [('0.1', 60), ('0.5', 8)]
    """
    for name in NOT_OF_A_SWEEP:
        if name in options:
            why = f"seeds=[{options[name]!r}]" if name == "seed" else "use teach() for a single lesson"
            raise InvalidInput(f"sweep() does not take {name}: {why}")
    check_jobs(n_jobs)
    check_sweep_progress(progress)
    if keep_lessons and out is None:
        raise InvalidInput("keep_lessons=True needs a folder: give out=")
    rules = check_rules("sweep", max_iterations=max_iterations, tol=tol, **options)
    runs = Runs(
        plan_combinations(problems, learners, teachers), seeds, rules, out,
        n_jobs=n_jobs, keep_lessons=keep_lessons, retry_failed=retry_failed,
    )  # fmt: skip
    with sweep_bar(progress) as listener:
        runs.run(listener)
    return Sweep.of(runs)
