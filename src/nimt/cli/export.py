"""`nimt export`: a lesson as tables and arrays that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import note, say
from nimt.cli.lesson_options import Quiet
from nimt.cli.show import find_lesson
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from nimt.lesson.lesson import Lesson

EXPORTS = ("examples.csv", "curve.csv", "learner.npz")
DOING = "reading the run"
EXAMPLES = (
    "nimt demo",
    "nimt export nimt-demo",
)


def export(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its lesson.npz.", metavar="RUN")],
    out: Annotated[str | None, typer.Option("--out", help="The folder to write to; by default the run's.")] = None,
    quiet: Quiet = False,
) -> None:
    """Write what was shown, in order (examples.csv), the curve (curve.csv), and the learner (learner.npz).

    Coordinates and labels are as the table has them; learner.npz holds the kernel as text and the centres, scaled as
    they were taught, with the means and deviations of the columns.
    """
    from nimt.datasets.places import as_path
    from nimt.store.whole_files import refuse_links

    path = as_path(run)
    lesson = find_lesson(path)
    folder = as_path(out) if out is not None else (path if path.is_dir() else path.parent)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"the folder {str(folder)!r} cannot be made ({error.strerror}): name another --out"
        ) from None
    refuse_links(folder, EXPORTS)
    written = write_exports(lesson, folder)
    if "examples.csv" not in written:
        note("this lesson kept only how often each point was shown, so that there is no examples.csv", quiet=quiet)
    if "learner.npz" not in written:
        note("the learner has no centres and coefficients, so that there is no learner.npz", quiet=quiet)
    if not quiet:
        say(f"written to {folder}: {', '.join(written)}")


def write_exports(lesson: Lesson, folder: Path) -> list[str]:
    """Write the files and return their names."""
    import numpy as np

    from nimt.cli.writing_tables import as_csv
    from nimt.store.whole_files import whole_file, write_text

    written = ["curve.csv"]
    write_text(folder / "curve.csv", as_csv(curve_columns(lesson)))
    if lesson.indices is not None:
        examples = {str(name): column.to_numpy() for name, column in lesson.examples().items()}
        write_text(folder / "examples.csv", as_csv(examples))
        written.insert(0, "examples.csv")
    arrays = learner_arrays(lesson)
    if arrays:
        with whole_file(folder / "learner.npz") as temporary, open(temporary, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        written.append("learner.npz")
    return written


def curve_columns(lesson: Lesson) -> dict[str, Any]:
    """Return the measure after each step, and the error on held-out points at the steps where it was measured."""
    import numpy as np

    columns = {"step": np.arange(len(lesson.discrepancy)), lesson.measure.name: lesson.discrepancy}
    if lesson.held_out_curve:
        held = np.full(len(lesson.discrepancy), np.nan)
        held[list(lesson.held_out_curve)] = list(lesson.held_out_curve.values())
        columns["held_out"] = held
    return columns


def learner_arrays(lesson: Lesson) -> dict[str, Any]:
    """Return the expansion of the learner, and how the columns of a table were scaled; {} where it has none."""
    import numpy as np

    from nimt.arrays import is_number
    from nimt.kernels import Kernel
    from nimt.kernels.expressions import kernel_expression
    from nimt.pools.pool import Points
    from nimt.pools.prepared_points import PreparedPoints

    learner = lesson.taught
    if not hasattr(learner, "centers_") or not hasattr(learner, "coefficients_"):
        return {}
    arrays: dict[str, Any] = {"centers": learner.centers_, "coefficients": learner.coefficients_}
    if is_number(start := getattr(learner, "initial", None)):
        arrays["start"] = np.array(float(start))
    if isinstance(kernel := getattr(learner, "kernel", None), Kernel):
        text = kernel_expression(kernel, dimension=lesson.pool.dimension)
        arrays["kernel"] = np.array(repr(kernel) if text is None else text)
    if isinstance(lesson.pool, Points) and lesson.pool.names:
        arrays["names"] = np.array(lesson.pool.names)
    if isinstance(lesson.pool, PreparedPoints):
        preparation = lesson.pool.preparation
        scales = [(column.mean, column.deviation) for column in preparation.columns for _ in column.names]
        arrays |= {
            "mean": np.array([mean for mean, _ in scales]),
            "deviation": np.array([deviation for _, deviation in scales]),
        }
        if preparation.classes:
            arrays["classes"] = np.array(preparation.classes)
    return arrays
