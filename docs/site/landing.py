"""What the first page of the site shows: a race that plays, the studio, and the challenge; made while it is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nimt
from nimt.challenge import Challenge, write_challenge
from nimt.studio.static_page import write_static_studio


def write_pages(app: Any, failure: Exception | None) -> None:
    """Write the pages into the site that was built."""
    if failure is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "landing"
    folder.mkdir(parents=True, exist_ok=True)
    problem = nimt.sources.read_problem("gmm", "gmm:start")
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.5, initial=problem.initial)
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}
    race = nimt.compare(learner, teachers, problem.pool, problem.target, tol=1e-4, max_iterations=1000, seeds=1)
    race.replay(folder / "replay.html", title="Two learners that believe in one bump are taught two")
    write_challenge(Challenge(problem), folder / "challenge.html")
    write_static_studio(folder / "studio")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True}
