"""`nimt.compare`: give the same lesson by several teachers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from nimt import defaults
from nimt.errors import InvalidInput
from nimt.learners.learner import Learner
from nimt.option_table import Tolerance
from nimt.pools.box import Box
from nimt.pools.pool import FunctionLike, Pool
from nimt.runs.combinations import ONLY, plan_combinations
from nimt.runs.comparison import Comparison, list_known_times
from nimt.runs.runs import Runs, check_rules
from nimt.session.session import Callback, check_run_options
from nimt.teachers.teacher import SelectsExamples
from nimt.teaching.lesson_progress import both, progress_bar


def compare(
    learner: Learner,
    teachers: Mapping[str, SelectsExamples] | Sequence[SelectsExamples],
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    *,
    max_iterations: int = defaults.MAX_ITERATIONS,
    tol: Tolerance = defaults.TOL,
    seeds: int | Iterable[int] = defaults.SEEDS,
    engine: str = "auto",
    callback: Callback | None = None,
    out: str | PathLike[str] | None = None,
    n_jobs: int = 1,
    progress: bool | str = False,
    **options: Any,
) -> Comparison:
    """Run the same lesson with several teachers; those that draw at random are run for several seeds.

    Parameters
    ----------
    learner, X, y, max_iterations, tol, callback : as in `teach`
    teachers : dict of name -> teacher, or a list
        In a list, each is called by its `name`: GFT-1, RFT-0.05, whole ...
    seeds : int or list of int
        A count n means 0, ..., n - 1. A teacher that draws nothing from the seed is run once.
    engine : str
        With "reference" the time of choosing is measured apart from that of learning; faster engines do not separate
        the two.
    out : path of a folder, optional
        As in `nimt.sweep`: finished lessons are kept there, with the checkpoints of those under way. The same call goes
        on where it was stopped or killed, and `Comparison.load` reads the folder.
    n_jobs : int
        How many lessons run at a time, in threads; -1 is one per core. Their seconds are then longer, and the callback
        is called from several threads.
    progress : bool or "auto"
        As in `teach`: a bar for the lesson under way, with several jobs for the one that reported last.
    **options : as in `teach`
        `measure`, `stop_when_stationary`, `patience`, `time_limit`, `snapshots`, `record`, `holdout`.

    Returns
    -------
    Comparison
        Ctrl-C raises KeyboardInterrupt.
    """
    if "seed" in options:
        raise InvalidInput(f"compare() takes seeds, a count or a list, instead of seed: seeds=[{options['seed']!r}]")
    rules = check_rules("compare", max_iterations=max_iterations, tol=tol, engine=engine, **options)
    check_run_options(callback, options.get("time_limit"), "return")
    plans = plan_combinations({ONLY: (X, y)}, [learner], teachers)
    failed = next((plan.error for plan in plans if plan.error is not None), None)
    if failed is not None:
        raise InvalidInput(failed)
    with progress_bar(progress) as bar:
        runs = Runs(
            plans, seeds, rules, out,
            n_jobs=n_jobs, in_memory=True, retry_failed=True, raises=True, watch=both(callback, bar),
        )  # fmt: skip
        runs.run()
    assert runs.lessons is not None
    found = {plan.teacher: runs.entries_of(place) for place, plan in enumerate(plans)}
    lessons = {name: tuple(runs.lessons[entry.key] for entry in entries) for name, entries in found.items()}
    settled = next(iter(lessons.values()))[0].tol  # as a number, of tol="auto" too
    return Comparison(
        lessons, settled, list_known_times({name: [one.choosing for one in of] for name, of in found.items()})
    )
