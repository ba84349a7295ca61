"""The table of fields that every entrance but Python reads: type, default, meaning and word of each setting."""

from __future__ import annotations

from dataclasses import dataclass

from nimt import defaults
from nimt.option_table import FORECASTS, HOW, TABLE, WHAT, WHEN, OptionsAsText, entry

USUAL_K = str(defaults.K)
AUTO = "auto"
MOST_ROWS = 50_000  # of a table: a step on so many takes less than 2 ms in any dimension
TEACHERS = "greedy:1,random:1,greedy:0.05,random:0.05,synthesis:1"


@dataclass(frozen=True, kw_only=True)
class RecipeFields(OptionsAsText):
    """The fields of a `Recipe`; each is a setting of TOML files, and an option of the command line."""

    target: str
    initial: str = entry(
        AUTO, "Where the learner starts: like TARGET, zero or mean; zero, of a table of numbers mean, by default.",
        WHAT, "--from",
    )  # fmt: skip
    size: int | None = entry(None, "The longer side of a picture, 0 for its own; at most 96 by default.", WHAT)
    normalise: str = entry("none", "none, standard (mean 0, deviation 1) or unit (0 to 1).", WHAT)
    grey: bool = entry(False, "Teach the brightness of a colour picture.", WHAT, "--grey/--colour")
    strict: bool = entry(False, "Refuse an INITIAL of another size than TARGET.", WHAT, "--strict/--resample")
    features: str | None = entry(
        None, "Feature columns, separated by commas; by default all others.", TABLE, column="features"
    )
    target_column: str | None = entry(None, "The column that is taught; by default the last.", TABLE, column="target")
    scale_features: bool = entry(
        True, "Features to mean 0, deviation 1.", TABLE, "--scale-features/--raw-features", column="scale"
    )
    duplicates: str = entry(
        "mean", "Of points with several targets teach the mean, or refuse them.", TABLE, column="duplicates"
    )
    missing: str = entry("refuse", "Rows without a value: refuse, drop, or fill in the mean.", TABLE, column="missing")
    holdout: float | None = entry(
        None, "The share of rows for testing, not taught; by default 0.2.", TABLE, column="holdout"
    )
    most_rows: int = entry(
        MOST_ROWS, "The most rows that are taught; of more, so many are drawn at random.", TABLE, column="most_rows"
    )
    encoding: str | None = entry(
        None, "Of text, such as latin-1; by default UTF-8, or else Latin-1.", TABLE, column="encoding"
    )
    classes: bool | None = entry(
        None, "What whole numbers of a target are; by default classes if they are few and no other loss is given.",
        TABLE, "--classes/--numbers", column="classes",
    )  # fmt: skip
    reference: str = entry(
        AUTO, "What is taught of a table: auto, the best of some models of its rows; or none, the rows.", TABLE
    )
    teacher: str = entry(
        defaults.TEACHER,
        "greedy, random, soft, responsive, synthesis (makes the labels too) or whole (everything at every step); "
        "omniscient, surrogate, imitation, exam, classroom, rescaling, importance, pruning; "
        "the rules of kernel interpolation f, P, f*P, f/P; greedy-per-output and so on show every output examples of "
        "its own. A class of yours is package:Name, or package:Name(alpha=3).",
        HOW, key="teacher", of_racer=True, without=("compare", "shortest"),
    )  # fmt: skip
    teacher_option: str | None = entry(
        None, "A parameter of the teacher, alpha=3; may be given several times.", HOW, repeats=True
    )
    k: str = entry(
        USUAL_K, "Examples per step: a count (1), a share (0.05), or a schedule (cosine:0.05:1.0).", HOW,
        "-k", key="k", of_racer=True, without=("compare", "shortest"),
    )  # fmt: skip
    pool: float | None = entry(
        None, "The share of the points the teacher may show.", HOW,
        key="share", of_racer=True, least=1e-9, most=1.0, without=("shortest",),
    )  # fmt: skip
    temperature: float | None = entry(
        None, "Of the teacher soft: 0 chooses as greedy does, infinity as random; 0.1 by default.", HOW,
        key="temperature", of_racer=True, most=1e6,
    )  # fmt: skip
    sight: str | None = entry(
        None, "How the teacher sees the learner: noise=0.01, delay=20, every=10, at=shown; may be given several times.",
        HOW, repeats=True, without=FORECASTS,
    )  # fmt: skip
    communicate: int | None = entry(
        None, "Mix the outputs before every so many steps, to fit TARGET.", HOW, without=FORECASTS
    )
    communicate_until: int | None = entry(None, "The step at which mixing ends.", HOW, without=FORECASTS)
    other_target: str | None = entry(None, "Take labels from this target in some steps.", HOW, without=FORECASTS)
    probability: float = entry(0.2, "The probability of such a step.", HOW, without=FORECASTS)
    learner: str = entry(
        "kernel",
        "kernel (gradient steps), orthogonal (projects: interpolates all it was shown), classroom, package:Name.",
        HOW, key="learner", of_racer=True, without=FORECASTS,
    )  # fmt: skip
    pupils: str | None = entry(
        None, "Of the learner classroom: rate=0.01:0.05, width=0.5:1, start=0:1, a number per learner; by default "
        "three, with the rate, half and a quarter of it. May be given several times.", HOW, repeats=True,
        without=FORECASTS,
    )  # fmt: skip
    kernel: str = entry(
        "rbf", "rbf, matern, linear, wendland, or an expression such as 'rbf(0.5) + 0.1 * Matern(2)'.", HOW,
        key="kernel", most=200,
    )  # fmt: skip
    width: float | None = entry(
        None, "Of the kernel: rbf is exp(-|x - y|^2 / width^2); 0.5, for a table one that fits.", HOW,
        key="width", least=1e-6, most=1e6,
    )  # fmt: skip
    loss: str | None = entry(
        None, "square; for two classes logistic. hinge, perceptron, huber, absolute, crossentropy.", HOW,
        key="loss", without=FORECASTS,
    )  # fmt: skip
    learning_rate: str = entry(
        defaults.LEARNING_RATE, "A number, or auto: the largest that is safe; 0.01 for a loss without one.", HOW,
        key="rate", of_racer=True, least=1e-12, most=1e6,
    )  # fmt: skip
    momentum: float = entry(0.0, "Of the learner: how much of its velocity stays per step.", HOW, of_learner=True)
    nesterov: bool = entry(False, "Take the gradient where the momentum leads.", HOW, of_learner=True)
    decay: float = entry(0.0, "Of the learner: f shrinks by this times the rate per step.", HOW, of_learner=True)
    forgetting: float = entry(0.0, "The share of f that the learner forgets per step.", HOW, of_learner=True)
    budget: int | None = entry(None, "The most centres of the learner.", HOW, of_learner=True)
    averaging: float = entry(
        0.0, "Let the learner answer a mean: 1 of all steps, less a running one that keeps this share.", HOW,
        of_learner=True,
    )  # fmt: skip
    time_limit: float | None = entry(
        None, "Stop after so many seconds, without compiling; nimt resume continues.", WHEN, without=FORECASTS
    )
    every: int | None = entry(
        None, "Keep f every so many steps; by default 48 times, closer at the start.", WHEN,
        without=("compare", *FORECASTS),
    )  # fmt: skip
    keep: str = entry(
        "best", "Of a table: the learner that was best on the rows held out, or the last.", WHEN, only="teach"
    )
    figures: str = entry("png", "none, png (curve, panels and a page), or all, with an animation.", WHEN, only="teach")
    cmap: str | None = entry(None, "A colour map of matplotlib; by default grey for pictures.", WHEN, without=FORECASTS)
    teachers: str | None = entry(
        None, f"Teachers as in --teacher, each with :k. [dim]\\[{TEACHERS}][/dim]", HOW, only="compare"
    )
    seeds: int | None = entry(
        None, f"Lessons of each teacher that draws. [dim]\\[{defaults.SEEDS}][/dim]", WHEN, only="compare"
    )
