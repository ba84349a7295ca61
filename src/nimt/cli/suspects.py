"""`nimt suspects`: rows of a table whose label disagrees with a model of the others."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from nimt.cli.console import Doing, note, plain
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
from nimt.counting import say_count

DOING = "reading the table"
EXAMPLES = (
    "nimt suspects table.csv",
    "nimt suspects table.csv --target-column price --out doubtful.csv",
)


def suspects(
    table: Table,
    target_column: TargetColumn = None,
    features: FeatureColumns = None,
    classes: Kind = None,
    encoding: Encoding = None,
    seed: Annotated[int, typer.Option("--seed", help="Every random choice flows from it.")] = 0,
    out: Annotated[str | None, typer.Option("--out", help="The .csv file to write; else it is printed.")] = None,
    overwrite: ReplaceFiles = False,
    quiet: Quiet = False,
) -> None:
    """List the rows of a table whose label disagrees with what a model of the other rows answers, the strongest first.

    Each row is answered by a model that did not see it. With --out, all columns are kept; else the number of the row,
    its label, the answer and the strength are printed. Rows are numbered as in the file, where the names are row 1
    (nimt.suspects in Python counts from 0, without the names).
    """
    from nimt.datasets.places import as_path

    if out is not None:
        check_free(as_path(out), overwrite=overwrite)
    watch = Doing(quiet=quiet)
    rows = read_labelled_rows(table, target_column, features, classes, encoding, watch)

    watch("loading models of rows, of which one becomes f*")
    from nimt.store.whole_files import write_text
    from nimt.teaching_sets.making_reference import reference
    from nimt.teaching_sets.suspicious_rows import suspects as find

    made = reference(rows.X, rows.y, out_of_fold=True, classes=rows.classes, seed=seed, watch=watch)
    for sentence in (made.sentence, *(one for one in made.notes if one not in rows.notes)):
        note(sentence, quiet=quiet)
    found = find(rows.X, rows.y, made, seed=seed)
    places = found["row"].to_numpy()
    columns, separator, decimal = rows.keep_columns(places)
    if out is None:
        columns = {"row": next(iter(columns.values())), "label": found["label"].to_numpy()}
    columns[find_free_name("reference", columns)] = found["reference"].to_numpy()
    columns[find_free_name("strength", columns)] = found["strength"].to_numpy().round(3)
    text = as_csv(columns, separator, decimal)
    note(f"{say_count(len(found), 'row')} of {len(rows.y):,} disagree", quiet=quiet)
    if out is None:
        sys.stdout.write("".join(f"{plain(line)}\n" for line in text.splitlines()))
    else:
        write_text(as_path(out), text)
        note(f"written to {out}", quiet=quiet)
