"""`nimt teaching-set`: the rows of a table to keep for a student, and the labels to give them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nimt.cli.console import Doing, note, say
from nimt.cli.labelled_rows import (
    Encoding,
    FeatureColumns,
    Kind,
    Table,
    TargetColumn,
    find_free_name,
    read_labelled_rows,
)
from nimt.cli.lesson_options import Quiet
from nimt.cli.writing_tables import ReplaceFiles, as_csv, check_free
from nimt.errors import InvalidInput

DPI = 130
DOING = "reading the table"
EXAMPLES = (
    "nimt teaching-set table.csv --size 50 --student svm",
    "nimt teaching-set table.csv --tol 0.02 --student forest --out few.csv",
)


def teaching_set(
    table: Table,
    size: Annotated[int | None, typer.Option("--size", help="How many rows to keep.")] = None,
    tol: Annotated[
        float | None, typer.Option("--tol", help="Or: so few that the student is this near to that of all rows.")
    ] = None,
    student: Annotated[
        str, typer.Option("--student", help="linear, svm, kernel-ridge, forest, trees, network or neighbours.")
    ] = "svm",
    labels: Annotated[
        str, typer.Option("--labels", help="reference (f*'s answers) or rows (their own).")
    ] = "reference",
    rule: Annotated[
        str, typer.Option("--rule", help="auto, random, kmeans, p, f, fp, uncertainty or greedy.")
    ] = "auto",
    target_column: TargetColumn = None,
    features: FeatureColumns = None,
    classes: Kind = None,
    encoding: Encoding = None,
    seed: Annotated[int, typer.Option("--seed", help="Every random choice flows from it.")] = 0,
    out: Annotated[
        str | None,
        typer.Option("--out", help="The .csv file to write, and a .png beside it; by default TABLE-few.csv."),
    ] = None,
    overwrite: ReplaceFiles = False,
    quiet: Quiet = False,
) -> None:
    """Choose the rows of a table that teach a student most, with the labels to give.

    Labels are the answers of f*, a model of all rows, which are less noisy than the rows. The sentence at the end says
    what the student has on rows held out after the chosen rows and after random ones: whether choosing helped, and how
    much is due to the labels. The file written has all columns as TABLE has them, the number of each row and the column
    `label`.
    """
    from nimt.datasets.places import as_path

    place = as_path(out) if out is not None else Path(f"{as_path(table).name.partition('.')[0]}-few.csv")
    if place.suffix.lower() != ".csv":
        raise InvalidInput(f"--out must name a .csv file, got {str(place)!r}")
    if place.exists() and as_path(table).exists() and place.samefile(as_path(table)):
        raise InvalidInput(f"--out is the table itself, {str(place)!r}: give another name")
    figure = place.with_suffix(".png")
    check_free(place, figure, overwrite=overwrite)
    from nimt.teaching_sets.row_checks import check_size, check_student_name

    check_student_name(student)
    watch = Doing(quiet=quiet)
    rows = read_labelled_rows(table, target_column, features, classes, encoding, watch)
    check_size(size, tol, len(rows.y))

    watch("loading models of rows, of which one becomes f*")
    from nimt.store.whole_files import whole_file, write_text
    from nimt.teaching_sets.chosen_rows import teaching_set as choose

    found = choose(
        rows.X, rows.y, size=size, tol=tol, student=student, labels=labels, rule=rule, classes=rows.classes, seed=seed,
        watch=watch,
    )  # fmt: skip
    for sentence in (found.reference.sentence, *dict.fromkeys(one for one in found.notes if one not in rows.notes)):
        note(sentence, quiet=quiet)
    if found.certificate is not None:
        note(str(found.certificate), quiet=quiet)
    columns, separator, decimal = rows.keep_columns(found.indices)
    columns[find_free_name("label", columns)] = found.labels
    write_text(place, as_csv(columns, separator, decimal))
    written = [str(place)]
    if found.curve is not None:
        with whole_file(figure) as temporary:
            found.plot().savefig(temporary, dpi=DPI)  # type: ignore[union-attr]
        written.append(str(figure))
    note(f"written to {' and '.join(written)}", quiet=quiet)
    say(found.sentence)
