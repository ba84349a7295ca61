"""Teach the line by several teachers and by a plan, and draw their lessons: docs/images/shortest-line.png."""

from __future__ import annotations

import argparse
from pathlib import Path

from nimt.paper.experiment import PaperSetting
from nimt.paper.experiments.shortest_lessons import CASES, DRAWN, RATE, Shortest, draw, give, plan_at


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images/shortest-line.png"))
    out = parser.parse_args().out
    case, setting = CASES[DRAWN](), PaperSetting()
    plan = plan_at(setting, DRAWN, case, RATE, None)
    assert plan is not None
    teachers = (*case.teachers(RATE), plan.teacher)
    lessons = {teacher.name: give(setting, teacher.name, case, RATE, teacher) for teacher in teachers}
    for drawn in draw(Shortest({DRAWN: lessons}, {DRAWN: plan.fewest}, {DRAWN: {}})):
        drawn.figure.savefig(out, dpi=160)


if __name__ == "__main__":
    main()
