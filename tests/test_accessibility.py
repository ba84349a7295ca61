"""axe-core finds nothing on any page, at five sizes, light and dark, with and without motion."""

from __future__ import annotations

import pytest

import nimt
from browsers import a_browser, a_page
from nimt.challenge import Challenge, write_challenge
from nimt.reports.comparison_page import write_comparison_report

base = pytest.importorskip(
    "axe_playwright_python.base", reason="pages are checked by axe-core: pip install axe-playwright-python"
)

SIZES = ((390, 844), (768, 1024), (1024, 768), (1280, 720), (1920, 1080))
SCHEMES = ("light", "dark")
# two frames for what follows the size by code, and no colour half-way between light and dark
SETTLE = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
    document.getAnimations().filter((one) => one instanceof CSSTransition).forEach((one) => one.finish());
    done();
})))"""
OVER = "() => window.studio && !studio.later && studio.racers.length && studio.racers.every((one) => one.over)"


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def problem():
    return nimt.sources.read_problem("gmm", "gmm:start")


@pytest.fixture(scope="module")
def learner(problem):
    return nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.5, initial=problem.initial)


def find_faults(page):
    """Return what axe-core finds: the rule, and the elements that break it."""
    if not page.evaluate("!!window.axe"):
        page.evaluate(base.AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    return {one["id"]: [node["html"] for node in one["nodes"]] for one in found["violations"]}


def look(browser, address, ready, *acts):
    """Look at a page after each act, at every size, light and dark, the last size without motion.

    The page is loaded once and then shown otherwise: loading it takes longer than looking at it. Nothing is to be
    scrolled sideways.
    """
    with a_page(browser) as page:
        page.goto(address)
        page.wait_for_function(ready)
        for act in acts:
            act(page)
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                for scheme in SCHEMES:
                    less = "reduce" if width == SIZES[-1][0] else "no-preference"
                    page.emulate_media(color_scheme=scheme, reduced_motion=less)
                    page.evaluate(SETTLE)
                    assert find_faults(page) == {}, (width, height, scheme, act)
                    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, height)


def do_nothing(page):
    """Look at a page as it opens."""


def test_a_replay(browser, problem, learner, tmp_path):
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target, tol=1e-3, max_iterations=50)
    lesson.replay(tmp_path / "lesson.html")
    look(browser, f"{(tmp_path / 'lesson.html').as_uri()}#step=5&why", "() => window.player", open_details)


def test_a_race_that_is_replayed(browser, problem, learner, tmp_path):
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}
    options = {"tol": 1e-3, "max_iterations": 50, "seeds": 1}
    nimt.compare(learner, teachers, problem.pool, problem.target, **options).replay(tmp_path / "race.html")
    look(browser, (tmp_path / "race.html").as_uri(), "() => window.player", open_details)


def open_details(page):
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")


def test_the_reports(browser, problem, learner, tmp_path):
    options = {"tol": 1e-3, "max_iterations": 50}
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target, **options)
    look(browser, lesson.report(tmp_path / "lesson").as_uri(), "() => true", open_details)
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}
    comparison = nimt.compare(learner, teachers, problem.pool, problem.target, **options, seeds=2)
    *_, page = write_comparison_report(comparison, tmp_path)
    look(browser, page.as_uri(), "() => true", open_details)


def test_the_challenge(browser, problem, tmp_path):
    write_challenge(Challenge(problem, clicks=2), tmp_path / "challenge.html")

    def play(page):
        page.evaluate("challenge.spot = 40; challenge.show(); challenge.spot = 150; challenge.show()")

    look(browser, (tmp_path / "challenge.html").as_uri(), "() => window.challenge", play)
