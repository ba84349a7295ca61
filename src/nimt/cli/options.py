"""The options that say what a lesson is: one list, shared by every command that gives or plans one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Optional

import typer

from nimt.cli.settings import DEFAULTS

WHAT, HOW, WHEN = "What is taught", "Who teaches, and whom", "When it stops, and what is kept"
TARGET_HELP = (
    "A picture, an array (.npy, .npz) or a table (.csv, .csv.gz, .tsv, .xlsx, .parquet); or gmm, boundary, sine, "
    "digit:0, digit:8, cat, face:1, face:2."
)
TABLE = "Tables"

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the run that is in --out.")]


def _option(kind: Any, flags: tuple[str, ...], says: str, panel: str, **more: Any) -> Any:
    name = flags[0].lstrip("-").partition("/")[0].replace("-", "_")
    usual = DEFAULTS.get({"from": "initial"}.get(name, name))
    if usual is not None and usual is not False:
        says += f" [dim]\\[{usual}][/dim]"
    return Annotated[Optional[kind], typer.Option(*flags, help=says, rich_help_panel=panel, **more)]  # noqa: UP045 (typer reads it at run time)


LESSON_OPTIONS: dict[str, Any] = {
    "initial": _option(str, ("--from",), "Where the learner starts: like TARGET.", WHAT, metavar="INITIAL"),
    "size": _option(int, ("--size",), "The longer side of a picture, 0 for its own; at most 96 by default.", WHAT),
    "normalise": _option(str, ("--normalise",), "none, standard (mean 0, deviation 1) or unit (0 to 1).", WHAT),
    "grey": _option(bool, ("--grey/--colour",), "Teach the brightness of a colour picture.", WHAT),
    "strict": _option(bool, ("--strict/--resample",), "Refuse an INITIAL of another size than TARGET.", WHAT),
    "features": _option(str, ("--features",), "Feature columns, separated by commas; by default all others.", TABLE),
    "target_column": _option(str, ("--target-column",), "The column that is taught; by default the last.", TABLE),
    "scale_features": _option(bool, ("--scale-features/--raw-features",), "Features to mean 0, deviation 1.", TABLE),
    "duplicates": _option(str, ("--duplicates",), "refuse points with several targets, or teach their mean.", TABLE),
    "missing": _option(str, ("--missing",), "Rows without a value: refuse, drop, or fill in the mean.", TABLE),
    "holdout": _option(float, ("--holdout",), "The share of rows for testing, not taught; by default 0.2.", TABLE),
    "encoding": _option(str, ("--encoding",), "Of text, such as latin-1; by default UTF-8, or else Latin-1.", TABLE),
    "teacher": _option(
        str,
        ("--teacher",),
        "greedy, random, soft, synthesis (makes the labels too) or whole (everything at every step); "
        "the rules of kernel interpolation f, P, f*P, f/P; greedy-per-output and so on show every output examples of "
        "its own.",
        HOW,
    ),
    "k": _option(str, ("-k",), "Examples per step: a count (1), a share (0.05), or a schedule (cosine:0.05:1.0).", HOW),
    "pool": _option(float, ("--pool",), "The share of the points the teacher may show.", HOW),
    "communicate": _option(int, ("--communicate",), "Mix the outputs before every so many steps, to fit TARGET.", HOW),
    "communicate_until": _option(int, ("--communicate-until",), "The step at which mixing ends.", HOW),
    "other_target": _option(str, ("--other-target",), "Take labels from this target in some steps.", HOW),
    "probability": _option(float, ("--probability",), "The probability of such a step.", HOW),
    "learner": _option(
        str, ("--learner",), "kernel (gradient steps), or orthogonal (projects: interpolates all it was shown).", HOW
    ),
    "kernel": _option(
        str, ("--kernel",), "rbf, matern, linear, wendland, or an expression such as 'rbf(0.5) + 0.1 * Matern(2)'.", HOW
    ),
    "width": _option(
        float, ("--width",), "Of the kernel: rbf is exp(-|x - y|^2 / width^2); 0.5, for a table one that fits.", HOW
    ),
    "loss": _option(str, ("--loss",), "square; for two classes logistic. hinge, huber, absolute, crossentropy.", HOW),
    "learning_rate": _option(str, ("--learning-rate",), "A number, or auto: the largest that is safe.", HOW),
    "iterations": _option(int, ("--iterations", "-n"), "The most steps.", WHEN),
    "tol": _option(
        str,
        ("--tol",),
        "Stop when the measure is below it; 0 never stops. A share of the target's deviation (1% by default) or a "
        "number; the default is 0.0001 with --measure paper and 0.99 with accuracy.",
        WHEN,
    ),
    "measure": _option(
        str,
        ("--measure",),
        "rms, the default; paper (the n outside the root); or accuracy, the default for classes.",
        WHEN,
    ),
    "patience": _option(int, ("--patience",), "Stop when nothing improved for so many steps.", WHEN),
    "time_limit": _option(
        float, ("--time-limit",), "Stop after so many seconds, without compiling; nimt resume continues.", WHEN
    ),
    "seed": _option(int, ("--seed",), "Every random choice flows from it.", WHEN),
    "every": _option(int, ("--every",), "Keep f every so many steps; by default 48 times, closer at the start.", WHEN),
    "cmap": _option(str, ("--cmap",), "A colour map of matplotlib; by default grey for pictures.", WHEN),
    "engine": _option(str, ("--engine",), "auto takes the fastest that fits.", WHEN),
    "config": _option(str, ("--config",), "Settings from a TOML file; options given here win.", WHEN, metavar="FILE"),
}

# for sentences: what the library calls a parameter, and the option it comes from
NAMED = (*LESSON_OPTIONS, "teachers", "seeds", "host", "student", "labels", "rule")
OPTION_OF = {name: f"--{name.replace('_', '-')}" for name in NAMED} | {
    "initial": "--from", "k": "-k", "max_iterations": "--iterations",
}  # fmt: skip


def with_lesson_options(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace a command's `**given` by the options above, so that typer sees them all."""

    def replaced(command: Callable[..., Any]) -> Callable[..., Any]:
        own = [
            part
            for part in inspect.signature(command, eval_str=True).parameters.values()
            if part.kind is not part.VAR_KEYWORD
        ]
        shared = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in LESSON_OPTIONS.items()
            if name not in without
        ]
        parts = [part.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in own]
        arguments = [part for part in parts if part.default is inspect.Parameter.empty or part.name == "target"]
        rest = [part for part in parts if part not in arguments]
        everything = [*arguments, *shared, *rest]
        command.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
        command.__annotations__ = {part.name: part.annotation for part in everything} | {"return": None}
        return command

    return replaced
