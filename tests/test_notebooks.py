"""What a notebook shows: small, escaped, and of every object that a user meets."""

import html
import re
import xml.etree.ElementTree as tree
from dataclasses import dataclass
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import nimt
from nimt import display

X = np.linspace(-3, 3, 40)
ATTACK = "</b><script>alert('x')</script>\"&"


def learner(**options):
    return nimt.KernelLearner(nimt.rbf(0.5), **{"learning_rate": 0.2} | options)


def lesson(teacher=None, **options):
    rules = {"max_iterations": 60, "tol": 1e-2} | options
    return nimt.teach(learner(), teacher or nimt.GreedyTeacher(), nimt.Grid(X), np.sin, **rules)


@dataclass(frozen=True, eq=False)
class Attacker(nimt.Teacher):
    note: str = ATTACK

    @property
    def name(self):
        return ATTACK

    @property
    def colour(self):
        return ATTACK

    def select(self, view):
        return view.show(view.step % len(view))


class AttackerByName(Attacker):
    colour = None  # a lesson refuses what is no colour


class AttackMeasure(nimt.measures.Measure):
    name = ATTACK

    def of(self, pupil, target):
        return float(np.max(np.abs(pupil.values - target)))


def comparison(**options):
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}
    return nimt.compare(learner(), teachers, nimt.Grid(X), np.sin, max_iterations=40, tol=1e-2, seeds=2, **options)


SHOWN = {
    "lesson": lesson,
    "lesson of no steps": lambda: lesson(max_iterations=0),
    "lesson that failed": lambda: nimt.teach(
        learner(), nimt.GreedyTeacher(), X, np.sin, max_iterations=3, tol=None, measure=AttackMeasure()
    ),
    "lesson with several outputs": lambda: nimt.teach(
        learner(), nimt.GreedyTeacher(), X, np.column_stack([X, X]), max_iterations=3, tol=None
    ),
    "comparison": comparison,
    "plan": lambda: nimt.plan(learner(), nimt.GreedyTeacher(), X, np.sin),
    "forecast": lambda: nimt.forecast(learner(), nimt.GreedyTeacher(k=1.0), nimt.Grid(X), np.sin, tol=1e-2),
    "check": lambda: nimt.theory.check(lesson()),
    "bounds": lambda: nimt.theory.bounds(lesson()),
    "grid": lambda: nimt.Grid(X, X[:5]),
    "points": lambda: nimt.Points(np.random.default_rng(0).normal(size=(9, 30))),
    "box": lambda: nimt.Box([(-1, 1), (0, 2)]),
    "greedy": nimt.GreedyTeacher,
    "random": lambda: nimt.RandomTeacher(
        labels=nimt.teachers.AlternativeLabels(np.zeros(10_000)), pool=np.ones(10_000, bool)
    ),
    "soft": nimt.teachers.SoftTeacher,
    "synthesis": nimt.SynthesisTeacher,
    "interpolation": lambda: nimt.teachers.InterpolationTeacher(kernel=nimt.rbf(0.5)),
    "kernel learner": learner,
    "taught learner": lambda: lesson().learner,
    "linear learner": lambda: nimt.LinearLearner([0.1, 0.2]),
    "orthogonal learner": lambda: nimt.learners.OrthogonalLearner(nimt.rbf(0.5)),
    "attacking teacher": Attacker,
    "attacking lesson": lambda: lesson(AttackerByName(), measure=AttackMeasure()),
    "attacking comparison": lambda: nimt.compare(
        learner(), {ATTACK: nimt.GreedyTeacher(), "b": AttackerByName()}, X, np.sin, max_iterations=5, tol=None
    ),
    "attacking learner": lambda: learner(initial=Named()),
}


class Named:
    def __call__(self, x):
        return x[:, 0]

    def __repr__(self):
        return ATTACK


class Balanced(HTMLParser):
    """A reader that insists on closed elements, and lists those it met."""

    def __init__(self):
        super().__init__()
        self.open, self.met = [], []

    def handle_starttag(self, tag, attrs):
        self.met.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs), "no code in attributes"
        if tag != "path" and tag != "polyline":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.met.append(tag)


@pytest.mark.long
@pytest.mark.parametrize("make", SHOWN.values(), ids=SHOWN)
@pytest.mark.sampled(2)
def test_everything_is_shown_small_and_escaped(make):
    thing = make()
    shown = thing._repr_html_()
    reader = Balanced()
    reader.feed(shown)
    assert not reader.open
    assert "script" not in reader.met
    assert len(shown) < 15_000
    assert shown.startswith('<div class="nimt">')
    for picture in re.findall(r"<svg.*?</svg>", shown):
        tree.fromstring(picture)  # well-formed XML


def test_a_lesson_shows_its_figures_and_its_curve():
    shown = lesson()._repr_html_()
    found = lesson()
    for text in (str(found.outcome), f"{found.itd}", "GFT-1", "Grid(40)", "KernelLearner", "0.01"):
        assert html.escape(text) in shown
    assert shown.count("<polyline") == 1 and found.colour in shown


def test_a_comparison_shows_a_row_and_a_curve_per_teacher():
    shown = comparison()._repr_html_()
    assert shown.count("<polyline") == 2
    assert shown.count("<tr>") == 3
    assert ">random</text>" in shown and shown.count("<polyline") == len(re.findall('stroke-width="1.6"', shown))


def test_curves_of_one_colour_differ_by_their_dashes():
    teachers = {"one": nimt.RandomTeacher(), "five": nimt.RandomTeacher(k=5)}
    shown = nimt.compare(learner(), teachers, nimt.Grid(X), np.sin, max_iterations=5, tol=None)._repr_html_()
    assert len(re.findall(r'<polyline [^>]*stroke-dasharray="4.8 2.4"/>', shown)) == 1


def test_a_learner_says_how_long_it_was_taught():
    assert "KernelLearner</b>" in learner()._repr_html_()
    assert "KernelLearner, taught in 1 step<" in learner().partial_fit([[0.0]], [1.0])._repr_html_()
    bundle = learner()._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/html"] == learner()._repr_html_() and bundle["text/plain"].startswith("KernelLearner(")


def points_of(svg):
    return [
        [tuple(map(float, place.split(","))) for place in line.split()] for line in re.findall(r'points="(.*?)"', svg)
    ]


def test_a_curve_is_drawn_on_a_logarithmic_axis_within_the_picture():
    steps = np.arange(1001)
    svg = display.curves([display.Line("", "red", steps, 10.0 ** (-steps / 250))], "M", 1e-2)
    ((first, *_, last),) = points_of(svg)
    assert first == (display.LEFT, display.TOP)
    assert last == (display.WIDTH - 8, display.HEIGHT - display.BOTTOM)
    middle = points_of(svg)[0][len(points_of(svg)[0]) // 2]
    assert middle[1] == pytest.approx((display.TOP + display.HEIGHT - display.BOTTOM) / 2, abs=1.0)
    assert len(points_of(svg)[0]) == display.MOST_POINTS
    assert ">1<" in svg and ">0.0001<" in svg and ">1,000<" in svg


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([1.0, np.nan, np.inf, 0.5], 2),
        ([0.0, 0.0], 2),
        ([1.0, 0.0, 1e-9], 2),
        ([3.0], 1),
        ([np.nan], None),
    ],
)
def test_what_cannot_be_drawn_is_left_out(values, count):
    svg = display.curves([display.Line("", "red", np.arange(len(values)), np.array(values))], "M", 0.1)
    assert "nan" not in svg and "inf" not in svg
    assert svg == "" if count is None else len(points_of(svg)[0]) == count


@pytest.mark.parametrize("seed", range(20))
def test_names_are_moved_apart_and_keep_their_order(seed):
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 100, size=rng.integers(1, 8)).tolist()
    moved = np.array(display.spread(places, 12.0, 0.0, 100.0))
    order = np.argsort(places, kind="stable")
    assert (np.diff(moved[order]) >= 12 - 1e-9).all()
    assert moved.min() >= -1e-9 and moved.max() <= 100 + 1e-9
    apart = np.diff(np.sort(places)) >= 12
    if apart.all():
        np.testing.assert_allclose(moved, places)


# ---------------------------------------------------------------- figures


FIGURES = {
    "curve": lambda one, several: nimt.plots.curve(one),
    "comparison": lambda one, several: several.plot(),
    "panels": lambda one, several: nimt.plots.panels(one),
    "forecast": lambda one, several: nimt.plots.forecast(
        nimt.forecast(learner(), nimt.GreedyTeacher(k=1.0), nimt.Grid(X), np.sin, tol=1e-2)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_shows_itself(draw, tmp_path):
    figure = draw(lesson(), comparison())
    assert isinstance(figure, Figure)
    picture, size = figure._repr_png_()
    (tmp_path / "shown.png").write_bytes(picture)
    with Image.open(tmp_path / "shown.png") as drawn:
        assert drawn.size == pytest.approx((2 * size["width"], 2 * size["height"]), abs=2)
        assert len(set(drawn.convert("L").tobytes())) > 10, "not blank"


@pytest.mark.long
def test_axes_of_ones_own_are_drawn_on_and_returned():
    ax = Figure().subplots()
    assert comparison().plot(ax=ax) is ax
    assert len(ax.lines) == 3  # two teachers and the tolerance


@pytest.mark.long
def test_the_names_of_a_comparison_stand_apart_at_the_ends_of_its_curves():
    figure = comparison().plot()
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert [text.get_text() for text in figure.axes[0].texts] == ["greedy", "random"]
    assert not boxes[0].overlaps(boxes[1])
    assert all(box.x0 >= figure.axes[0].bbox.x1 and box.x1 <= figure.bbox.x1 for box in boxes)


@pytest.mark.long
def test_a_name_is_never_read_as_mathematics():
    teachers = {"$x_": nimt.GreedyTeacher(), "a$\\frac$": nimt.RandomTeacher()}
    compared = nimt.compare(learner(), teachers, X, np.sin, max_iterations=5, tol=None, seeds=2)
    compared.plot()._repr_png_()


def test_a_value_just_below_the_tolerance_is_seen_to_be_below_it():
    """ "M at end 0.01" beside a tolerance of 0.01 would look like a lesson that did not reach it."""
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    tol = 0.01
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 5.0], [1.0, 3.0], tol=tol, max_iterations=9)
    lesson.discrepancy[-1] = np.nextafter(tol, 0.0) - 1e-9
    comparison = nimt.runs.Comparison.of({"greedy": lesson})
    for text in (repr(lesson), lesson._repr_html_(), str(comparison), comparison._repr_html_()):
        assert "0.00999999" in text
