"""The options that say what a lesson is: the fields of a recipe, for every command that gives or plans one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Optional

import typer

from nimt.option_table import WHEN, Setting
from nimt.recipe.recipe import DEFAULTS, KINDS, TABLE_OF_FIELDS

TARGET_HELP = (
    "A picture, an array (.npy, .npz) or a table (.csv, .csv.gz, .tsv, .xlsx, .parquet); or gmm, boundary, sine, "
    "digit:0, digit:8, cat, face:1, face:2."
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
BLOCKS = "Blocks: one lesson in parts"
CutInto = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--blocks",
        help="Cut an array in a file into so many parts (8x8), taught at the same time.",
        rich_help_panel=BLOCKS,
    ),
]
Cluster = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--cluster", help="Teach blocks on the Dask scheduler at this address.", rich_help_panel=BLOCKS),
]
BlockWorkers = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--workers", help="Threads that teach blocks; all cores by default.", rich_help_panel=BLOCKS),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the run that is in --out.")]


def _option(name: str, line: Setting) -> Any:
    """Return the option of a field, as typer reads it."""
    usual = DEFAULTS[name]
    says = line.says if usual is None or usual is False else f"{line.says} [dim]\\[{usual}][/dim]"
    metavar = "INITIAL" if name == "initial" else None
    made = typer.Option(*_flags(name), help=says, rich_help_panel=line.panel, metavar=metavar)
    kind = list[str] if line.repeats else KINDS[name]
    return Annotated[Optional[kind], made]  # noqa: UP045 (typer reads it at run time)


def _flags(name: str) -> tuple[str, ...]:
    return TABLE_OF_FIELDS[name].flags or (f"--{name.replace('_', '-')}",)


CONFIG = typer.Option(
    "--config", help="Settings from a TOML file; options given here win.", rich_help_panel=WHEN, metavar="FILE"
)

# for sentences: what the library calls a parameter, and the option it comes from
OTHERS = (  # of single commands
    "config", "host", "student", "labels", "rule", "blocks", "cluster", "workers", "memory", "results",
)  # fmt: skip
OPTION_OF = {
    called: _flags(name)[0].partition("/")[0]
    for name, line in TABLE_OF_FIELDS.items()
    for called in {name, line.option or name}
} | {name: f"--{name}" for name in OTHERS}


def with_lesson_options(*, command: str = "teach") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace a command's `**given` by the fields of a recipe that it has, so that typer sees them all."""
    options = {
        name: _option(name, line)
        for name, line in TABLE_OF_FIELDS.items()
        if command not in line.without and line.only in (None, command)
    } | {"config": Annotated[Optional[str], CONFIG]}  # noqa: UP045

    def replace(command: Callable[..., Any]) -> Callable[..., Any]:
        own = {
            name: part
            for name, part in inspect.signature(command, eval_str=True).parameters.items()
            if part.kind is not part.VAR_KEYWORD
        }
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in options.items()
            if name not in own
        ]
        parts = [part.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in own.values()]
        arguments = [part for part in parts if part.default is inspect.Parameter.empty or part.name == "target"]
        rest = [part for part in parts if part not in arguments]
        everything = [*arguments, *shared, *rest]
        command.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
        command.__annotations__ = {part.name: part.annotation for part in everything} | {"return": None}
        return command

    return replace
