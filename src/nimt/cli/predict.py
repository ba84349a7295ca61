"""`nimt predict`: what a taught learner says of new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import note, plain
from nimt.cli.lesson_options import Quiet
from nimt.cli.show import find_lesson
from nimt.cli.writing_tables import ReplaceFiles, as_csv, check_free
from nimt.counting import say_count
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nimt.lesson.lesson import Lesson

DOING = "reading the run"
EXAMPLES = (
    "nimt demo",
    "nimt export nimt-demo",
    "nimt predict nimt-demo nimt-demo/examples.csv --out predictions.csv",
)


def predict(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its lesson.npz.", metavar="RUN")],
    rows: Annotated[str, typer.Argument(help="A table with the features of the lesson's.", metavar="NEW")],
    out: Annotated[str | None, typer.Option("--out", help="The .csv file to write; else it is printed.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Of text in NEW, such as latin-1.")] = None,
    overwrite: ReplaceFiles = False,
    quiet: Quiet = False,
) -> None:
    """Predict the rows of a table with the learner of a run, prepared as the table that was taught.

    All columns of the new table are kept, with its separator and its decimal sign. If it has the target column, the
    error on it is told. A lesson that was not on a table takes the columns x_1, x_2, ... as coordinates, or else the
    first ones.
    """
    from nimt.datasets.places import as_path
    from nimt.store.whole_files import write_text

    if out is not None:
        check_free(as_path(out), overwrite=overwrite)
    lesson = find_lesson(as_path(run))
    if lesson.learner is None:
        raise InvalidInput(f"the learner of {run!r} was not stored: load the lesson in Python with allow=[...]")
    columns, sentences = predict_rows(lesson, as_path(rows), encoding)
    columns, signs = keep_columns(lesson, as_path(rows), encoding, columns)
    for sentence in sentences:
        note(sentence, quiet=quiet)
    text = as_csv(columns, *signs)
    if out is None:
        lines = text.replace("\r\n", "\n")
        if sys.stdout.isatty():  # a program that reads them gets them as they are
            lines = "".join(f"{plain(line)}\n" for line in lines.split("\n")[:-1])
        sys.stdout.write(lines)
    else:
        write_text(as_path(out), text)
        note(f"written to {out}", quiet=quiet)


def predict_rows(lesson: Lesson, rows: Path, encoding: str | None = None) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return the features and the predictions as columns, and sentences about them."""
    import numpy as np

    from nimt.pools.prepared_points import PreparedPoints
    from nimt.sources.new_rows import has_value, read_new_rows, read_points

    if not isinstance(lesson.pool, PreparedPoints):
        points = read_points(rows, lesson.pool.dimension, encoding)
        values = np.asarray(lesson.learner.predict(points))
        return {f"x_{axis + 1}": points[:, axis] for axis in range(points.shape[1])} | _outputs(values), []
    preparation = lesson.pool.preparation
    new = read_new_rows(rows, preparation, encoding)
    if not new.complete.any():
        raise InvalidInput(f"{str(rows)!r} has no row with a value in every feature: there is nothing to predict")
    whole = {name: column[new.complete] for name, column in new.columns.items()}
    values = np.asarray(lesson.learner.decision_function(whole))
    answers = preparation.answers(values)
    column: NDArray[Any] = np.full(len(new.complete), np.nan)
    if answers.dtype.kind != "f":
        column = np.zeros(len(new.complete), answers.dtype)
    column[new.complete] = answers
    said = list(new.notes)
    if new.target is not None:
        told = has_value(new.target[new.complete])
        if told.any():
            said.append(_error(preparation, values[told], new.target[new.complete][told], rows.name))
    shown = new.columns if new.target is None else new.columns | {preparation.target: new.target}
    return shown | {_free_name(f"predicted {preparation.target}", shown): column}, said


def keep_columns(
    lesson: Lesson, rows: Path, encoding: str | None, found: dict[str, NDArray[Any]]
) -> tuple[dict[str, NDArray[Any]], tuple[str, str]]:
    """Return all columns of the new table as they are written, then the prediction; and its separator and decimal sign.

    Of a file that is not text, the columns of the lesson are kept, and those that can be read beside them.
    """
    import numpy as np

    from nimt.pools.prepared_points import PreparedPoints
    from nimt.sources.delimited import read_cells

    if not isinstance(lesson.pool, PreparedPoints):
        return found, (",", ".")
    name = list(found)[-1]
    if rows.suffix.lower() in (".parquet", ".xlsx"):
        others = _read_others(rows, set(found))
        return others | {one: found[one] for one in found if one != name} | {name: found[name]}, (",", ".")
    cells = read_cells(rows, encoding)
    kept = {one: np.array([row[place] for row in cells.rows], object) for place, one in enumerate(cells.names)}
    return kept | {_free_name(f"predicted {lesson.pool.preparation.target}", kept): found[name]}, (
        cells.separator,
        cells.decimal,
    )


def _read_others(rows: Path, known: set[str]) -> dict[str, NDArray[Any]]:
    """Return the other columns of a table that is not text, none where one of them cannot be read."""
    from nimt.cli.labelled_rows import as_columns
    from nimt.sources.table_files import read_columns

    try:
        return as_columns(read_columns(rows, lambda names: [name for name in names if name not in known])[0])
    except InvalidInput:  # such as words among numbers, which the prediction does not need
        return {}


def _outputs(values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    if values.ndim == 1:
        return {"prediction": values}
    return {f"prediction_{output + 1}": values[:, output] for output in range(values.shape[1])}


def _free_name(name: str, taken: dict[str, NDArray[Any]]) -> str:
    return name if name not in taken else f"{name} (2)"


def _error(preparation: Any, values: NDArray[Any], target: NDArray[Any], name: str) -> str:
    """Say how far the predictions are from the target that the new table has."""
    from nimt.lesson.held_out import error_on
    from nimt.sources.cells import as_word

    if preparation.classes:
        words = target if target.dtype.kind == "U" else [as_word(value) for value in target]
        right = sum(str(word) == answer for word, answer in zip(words, preparation.answers(values), strict=True))
        return f"{name} has the target: accuracy {right / len(target):.4f} on {say_count(len(target), 'row')}"
    if target.dtype.kind == "U":
        return f"{name} has words in the target column, which was one of numbers"
    found = error_on(values, target)
    share = "" if found.r_squared is None else f"R^2 {found.r_squared:.4f}, "
    return f"{name} has the target: {share}root mean square error {found.rms:.4g} on {say_count(found.count, 'row')}"
