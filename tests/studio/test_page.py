"""The page, driven as a person drives it: mouse, keys, files, and a line that breaks."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

import nimt
from browsers import a_browser, a_page
from studio.conftest import running

pytestmark = pytest.mark.long

# nothing that was changed waits for its race, and every lesson is over
OVER = "() => window.studio && !studio.later && studio.racers.length && studio.racers.every((racer) => racer.over)"


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


# the page as it opens, without loading it again: that takes two seconds, of each test
AS_OPENED = """async () => {
  while (studio.later || studio.opening) await new Promise(requestAnimationFrame); // what the test before asked for
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  Object.assign(studio.time, { chosen: false });
  Object.assign(clock, { value: "steps" });
  Object.assign(why, { checked: true });
  Object.assign(kernel, { value: "rbf" });
  Object.assign(studio.form, { file: null, startFile: null, drawnStart: null });
  studio.settle();
  studio.alert("");
  studio.form.teachers.take("greedy", "random");
  studio.form.choose("named:gmm");
  await studio.describe();
  await studio.start();
}"""


@pytest.fixture(scope="module")
def opened(browser, studio):
    with a_page(browser, viewport={"width": 1280, "height": 900}, accept_downloads=True) as page:
        page.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        page.goto(studio.address)
        page.wait_for_function(OVER)
        yield page


@pytest.fixture
def page(opened):
    """A page with the race that it opens with, paused."""
    opened.evaluate(AS_OPENED)
    opened.wait_for_function(OVER)
    opened.evaluate("studio.seek(0)")
    opened.mouse.move(0, 0)
    opened.evaluate("document.activeElement.blur()")
    return opened


def settled(page, count=None):
    """Wait until a race of so many lessons is over."""
    more = "" if count is None else f" && studio.racers.length === {count}"
    page.wait_for_function(f"{OVER}{more}")


def race_of(page, target, count=None):
    """Choose a target and wait for its race."""
    before = page.evaluate("studio.race")
    page.select_option("#target-kind", target)
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)}")
    settled(page, count)


def drag(page, canvas, places):
    """Draw on a canvas through some places, given as shares of its sides; wait for the race that comes of it."""
    page.locator(canvas).scroll_into_view_if_needed()
    box = page.locator(canvas).bounding_box()
    before = page.evaluate("studio.race")
    for number, (across, down) in enumerate(places):
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=8)
        if number == 0:
            page.mouse.down()
    page.mouse.up()
    page.wait_for_function(f"() => studio.race && studio.race !== {json.dumps(before)}")
    settled(page)


def values_at(page, racer, step):
    return np.array(page.evaluate(f"Array.from(studio.racers[{racer}].valuesAt({step}))"))


def taught(target="gmm", start="gmm:start", teacher=None, rate=0.5, **rules):
    problem = nimt.sources.read_problem(target, start)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate, initial=problem.initial)
    rules = {"max_iterations": 12_000, "tol": 1e-4} | rules
    return nimt.teach(learner, teacher or nimt.GreedyTeacher(), problem.pool, problem.target, **rules)


def test_scrubbing_shows_the_lessons_numbers(page):
    steps = [0, 1, 15, 45, 100, 126]
    lesson = taught(snapshots=steps)
    assert page.evaluate("studio.racers[0].itd") == lesson.itd == 126
    box = page.locator("#timeline").bounding_box()
    for step in (100, 15, 126, 0, 45, 1):
        page.evaluate(f"studio.seek({step})")
        assert page.evaluate("studio.stepOf(studio.racers[0])") == step
        assert np.max(np.abs(values_at(page, 0, step) - lesson.snapshots[step])) <= 1e-12
        page.wait_for_function(
            f"() => document.getElementById('place-text').textContent.startsWith('step {step:,} of')"
        )
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert 300 < page.evaluate("studio.clock.place") < 420  # of the 705 of random


def test_keys_alone_are_enough(page):
    page.keyboard.press("End")
    end = page.evaluate("studio.clock.end")
    assert page.evaluate("studio.clock.place") == end
    page.keyboard.press("Home")
    for key, expected in (("ArrowRight", 1), ("Shift+ArrowRight", 101), ("ArrowLeft", 100), ("Shift+ArrowLeft", 0)):
        page.keyboard.press(key)
        assert page.evaluate("studio.clock.place") == expected, key
    page.keyboard.press("2")
    assert page.evaluate("studio.selected") == 1
    page.keyboard.press("w")
    assert not page.is_checked("#why")
    page.keyboard.press(" ")
    page.wait_for_function("() => studio.clock.place > 5")
    page.keyboard.press(" ")
    assert not page.evaluate("studio.clock.playing")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    for _ in range(60):  # every control can be reached
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "race":
            break
    before = page.evaluate("studio.race")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)}")


def test_playing_backwards_and_the_other_clocks(page):
    page.evaluate("studio.seek(700)")
    page.click("#play-back")
    page.wait_for_function("() => studio.clock.place < 690")
    page.click("#play-back")
    page.select_option("#clock", "examples")
    assert page.evaluate("studio.clock.end") == page.evaluate("Math.max(...studio.racers.map((racer) => racer.end))")
    page.select_option("#clock", "seconds")
    end = page.evaluate("studio.clock.end")
    assert 0 < end < 60
    page.keyboard.press("End")
    assert page.evaluate("studio.stepOf(studio.racers[0])") == 126


def test_why_names_the_next_example(page):
    lesson = taught()
    page.evaluate("studio.seek(45)")
    place = f"Next comes x = {lesson.pool.points[lesson.indices[45, 0], 0]:.4g} "
    page.wait_for_function("(place) => document.getElementById('why-text').textContent.includes(place)", arg=place)
    assert "runner-up" in page.inner_text("#why-text")
    moved = page.evaluate(
        """import('/static/why.js').then((why) =>
             why.explain(studio.racers[0], 45).footprint.reduce((count, value) => count + (value ? 1 : 0), 0))"""
    )
    assert 10 < moved < 280


def test_draw_a_curve_and_race(page):
    page.select_option("#target-kind", "draw:curve")
    page.wait_for_selector("#empty:visible")  # nothing is drawn yet, and nothing is raced
    assert page.evaluate("studio.racers.length") == 0 and not page.locator("#timeline").is_visible()
    assert page.locator("#sketch").bounding_box()["width"] > 700  # drawn on the stage
    drag(page, "#sketch", [(0.25, 0.75), (0.5, 0.3), (0.9, 0.2)])
    drawn = page.evaluate("studio.sketch.values")
    assert len(drawn) == 121 and max(drawn) > 0.3
    x = nimt.Grid(np.linspace(-3, 3, 121))
    learner = nimt.KernelLearner(nimt.rbf(0.07), learning_rate=0.5)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, np.array(drawn), max_iterations=5000, tol=1e-3, snapshots=[7])
    assert np.max(np.abs(values_at(page, 0, 7) - lesson.snapshots[7])) <= 1e-12
    assert page.evaluate("studio.racers[0].end") == len(lesson)
    # at one moment: what is said of the width moves both
    box_of = "(place) => document.querySelector(place).getBoundingClientRect().toJSON()"
    board, stage = page.evaluate(f"['#sketch', '#stages canvas'].map({box_of})")
    assert board["right"] < stage["left"]  # then it stands beside the lessons
    assert abs(board["top"] - stage["top"]) < 60
    assert lesson.itd and page.evaluate("studio.racers.every((racer) => racer.itd)")  # where the pen began is an edge
    assert page.locator("#narrow").is_hidden()
    drag(page, "#sketch", [(0.05, 0.2), (0.2, 0.8), (0.35, 0.2), (0.5, 0.8), (0.65, 0.2), (0.8, 0.8), (0.9, 0.2)])
    assert page.evaluate("studio.racers[0].itd") and page.locator("#narrow").is_hidden()  # nor is a zigzag too much
    page.fill("#width", "0.2")
    page.keyboard.press("Tab")
    page.wait_for_function("() => !studio.later")
    page.click("#race")
    page.wait_for_selector("#narrow:visible")
    assert "did not reach the tolerance in 5,000 steps" in page.inner_text("#narrow")
    top = "[true, false].map((hidden) => { narrow.hidden = hidden; return stages.getBoundingClientRect().top; })"
    hidden, shown = page.evaluate(top)
    assert hidden == shown  # what is about to be dragged stays where it is
    page.fill("#width", "0.7")
    page.keyboard.press("Tab")
    assert page.locator("#narrow").is_hidden()  # it spoke of another width
    page.fill("#width", "0.4")
    page.keyboard.press("Tab")
    page.wait_for_function("() => !studio.later")
    page.click("#race")
    page.wait_for_selector("#narrow:visible")
    before = page.evaluate("studio.race")
    page.click("#do-narrow")
    page.wait_for_function(f"() => studio.race && studio.race !== {json.dumps(before)}")
    settled(page)
    width, itd = page.evaluate("[studio.request.rules.width, studio.racers[0].itd]")
    assert width in (0.2, 0.1, 0.05, 0.025) and itd is not None  # narrowed until the forecast reaches
    assert page.locator("#narrow").is_hidden()
    page.click("#sketch-clear")
    page.wait_for_selector("#empty:visible")


def test_draw_with_the_arrow_keys(page):
    page.select_option("#target-kind", "draw:picture")
    page.focus("#sketch")
    page.keyboard.press("ArrowLeft")  # moves the pen, and draws nothing
    assert not any(page.evaluate("studio.sketch.values"))
    for key in ("Enter", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown"):
        page.keyboard.press(key)
    page.wait_for_function("() => studio.race")
    settled(page)
    inked = sum(value > 0 for value in page.evaluate("studio.sketch.values"))
    assert inked > 8
    before = page.evaluate("studio.race")
    page.keyboard.press("Delete")
    page.wait_for_function(f"() => studio.race && studio.race !== {json.dumps(before)}")
    assert sum(value > 0 for value in page.evaluate("studio.sketch.values")) < inked
    settled(page)


def test_the_start_is_drawn_typed_dropped_or_what_the_learner_is_now(page, tmp_path):
    before = page.evaluate("studio.race")
    page.select_option("#start-kind", "draw")
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)}")
    drag(page, "#start-sketch", [(0.3, 0.5), (0.6, 0.2)])
    drawn = page.evaluate("studio.startSketch.values")
    assert len(drawn) == 280 and max(drawn) > 0.1
    np.testing.assert_array_equal(values_at(page, 0, 0), drawn)
    before = page.evaluate("studio.race")
    page.evaluate("studio.seek(12)")
    now = values_at(page, 0, 12)
    page.select_option("#start-kind", "drawn")
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)}")
    settled(page)
    np.testing.assert_array_equal(values_at(page, 0, 0), now)
    assert "step 12" in page.inner_text("#start-note")
    page.select_option("#start-kind", "formula")
    page.fill("#start-formula", "x / 100")
    page.keyboard.press("Tab")
    page.wait_for_function("() => studio.racers[0]?.initial[0] < -0.1")
    settled(page)
    np.save(tmp_path / "start.npy", np.linspace(0, 1, 280))
    page.select_option("#start-kind", "file")
    page.set_input_files("#start-file", tmp_path / "start.npy")
    page.wait_for_function("() => studio.racers[0]?.initial[279] === 1")
    settled(page)


def test_a_start_is_drawn_for_a_picture_and_not_for_a_table(page, tmp_path):
    race_of(page, "named:digit:0")
    before = page.evaluate("studio.race")
    page.select_option("#start-kind", "draw")
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)}")
    drag(page, "#start-sketch", [(0.45, 0.3), (0.55, 0.6)])
    assert values_at(page, 0, 0).max() == page.evaluate("Math.max(...studio.startSketch.values)") > 0.5
    (tmp_path / "t.csv").write_text("\n".join(f"{i},{i * i % 7},{i % 3}" for i in range(30)))
    page.set_input_files("#file", tmp_path / "t.csv")
    page.wait_for_function("() => studio.racers[0]?.header.points === 24 && studio.racers[0].header.held_out === 6")
    page.select_option("#start-kind", "draw")
    page.wait_for_function("() => document.getElementById('alert').textContent.includes('a start can be drawn')")


def test_two_classes_on_a_plane(page):
    race_of(page, "draw:classes")
    assert page.evaluate("studio.racers[0].header.view") == "boundary"
    assert set(page.evaluate("Array.from(studio.racers[0].target)")) == {-1, 1}
    greedy, other = page.evaluate("studio.racers.map(({ itd }) => itd)")
    assert greedy < other  # the kernel that it opens with is narrow enough for an edge


def test_type_a_formula_and_be_told_what_is_wrong(page):
    race_of(page, "formula")
    page.fill("#formula", "alert(1)")
    page.keyboard.press("Tab")
    page.wait_for_function("() => !document.getElementById('alert').hidden")
    assert "alert(1)" in page.inner_text("#alert")
    before = page.evaluate("studio.race")
    page.fill("#axis-count", "20")
    page.fill("#formula", "x * y")
    page.keyboard.press("Tab")
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)}")
    assert page.evaluate("studio.racers[0]?.header.pool.shape ?? studio.described.header.pool.shape") == [20, 20]


def test_be_the_teacher(page):
    page.click("#be-teacher")
    page.wait_for_function("() => studio.teaching && studio.racers.length === 2 && studio.racers[1].over")
    problem = nimt.sources.read_problem("gmm", "gmm:start")
    greedy = taught(tol=page.evaluate("studio.game.goal"))
    assert page.evaluate("[studio.game.greedy, studio.game.steps, studio.game.rate]") == [len(greedy), 20, 0.5]
    assert len(greedy) == 12 and "greedy needs 12" in page.inner_text("#said")
    assert "drag" not in page.inner_text("#stages") and page.locator("#again").is_hidden()
    box = page.locator("#stages canvas").first.bounding_box()
    for share in (0.17, 0.6, 0.17):
        taken = page.evaluate("studio.racers[0].taken")
        across, down = box["x"] + share * box["width"], box["y"] + box["height"] / 2
        page.mouse.move(across, down)  # what a click would add to f, before it
        before = values_at(page, 0, taken) + np.array(
            page.evaluate(
                """import('/static/game.js').then(({ bumpAt }) =>
                     Array.from(bumpAt(studio.racers[0], studio.racers[0].taken, studio.stages[0].cursor.point)))"""
            )
        )
        page.mouse.click(across, down)
        page.wait_for_function(f"() => studio.racers[0].taken === {taken + 1}")
        assert np.max(np.abs(values_at(page, 0, taken + 1) - before)) <= 1e-12
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function("() => studio.racers[0].taken === 4")
    shown = page.evaluate("Array.from(studio.racers[0].lesson.indices.view)")

    class Clicked:
        def select(self, view):
            return view.show([shown[view.step]])

    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5, initial=problem.initial)
    lesson = nimt.teach(learner, Clicked(), problem.pool, problem.target, max_iterations=4, tol=None, snapshots=[3])
    assert np.max(np.abs(values_at(page, 0, 4) - lesson.final)) <= 1e-12
    gaps = np.abs(lesson.snapshots[3] - problem.target)
    points = round(100 * gaps[shown[3]] / gaps.max())
    page.wait_for_function("() => document.getElementById('said').textContent.startsWith('Click 4 of 20')")
    assert f"Click 4 of 20: {points} of 100 points" in page.inner_text("#said")
    assert page.inner_text("#be-teacher") == "End my lesson"
    line = "[studio.time.timeline.end, Number(scrub.max), studio.clock.end]"
    assert page.evaluate(line) == [20, 20, 4]  # the time line has the length of the game from the first click on
    page.click("#be-teacher")
    page.wait_for_function("() => document.getElementById('said').textContent.startsWith('The end. The goal was not')")
    assert page.evaluate(line) == [12, 12, 12]
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2)  # it is over
    assert page.evaluate("[studio.racers[0].taken, studio.clock.end]") == [4, 12]
    page.click("#open-take")
    page.click("#copy-python")
    page.wait_for_function("() => document.getElementById('copied').value.includes('class Person')")
    names = {}
    exec(compile(page.input_value("#copied"), "copied", "exec"), names)
    np.testing.assert_allclose(names["lesson"].final, values_at(page, 0, 4), atol=1e-12)
    page.keyboard.press("Escape")
    assert page.inner_text("#be-teacher") == "Again"
    page.click("#again")
    page.wait_for_function("() => studio.time.alone && studio.racers[0]?.taken === 0 && studio.racers[1]?.over")
    for point in greedy.indices[:, 0]:  # who shows what greedy shows is as fast, and that is the end
        page.evaluate(f"studio.lessons.show({point})")
    page.wait_for_function("() => document.getElementById('said').textContent.includes('as fast as greedy!')")
    assert "On average 100 of 100 points per click" in page.inner_text("#said")


def test_poke_with_the_keys(page):
    page.evaluate("studio.seek(100)")
    page.keyboard.press("p")
    for key in ("Shift+ArrowRight", "ArrowLeft", "Shift+ArrowUp", "Enter"):
        page.keyboard.press(key)
    settled(page, 3)
    changed = np.array(page.evaluate("Array.from(studio.racers[2].target)")) - taught().target
    assert np.argmax(np.abs(changed)) == 149 and changed[149] == pytest.approx(0.1, abs=0.01)
    assert page.get_attribute("#poke", "aria-pressed") == "false"


def test_poke_and_fork_keep_both_branches(page):
    page.evaluate("studio.seek(50)")
    page.click("#poke")
    page.locator("#stages canvas").first.click(position={"x": 300, "y": 80})
    settled(page, 3)
    page.evaluate("studio.select(0)")
    page.evaluate("studio.seek(50)")
    page.fill("#fork-rate", "0.25")
    page.click("#do-fork-rate")
    settled(page, 4)
    page.evaluate("studio.select(0)")
    page.select_option("#fork-teacher", "random")
    page.click("#do-fork-teacher")
    settled(page, 5)
    before = taught(max_iterations=50, tol=None)
    for number in (2, 3, 4):
        assert page.evaluate(f"studio.racers[{number}].offset") == 50
        np.testing.assert_allclose(values_at(page, number, 50), before.final, atol=1e-12)
        np.testing.assert_array_equal(values_at(page, number, 20), values_at(page, 0, 20))
    changed = np.array(page.evaluate("Array.from(studio.racers[2].target)")) - before.target
    assert np.count_nonzero(changed) > 5
    assert page.evaluate("studio.racers[3].itd") > 126 - 50
    assert page.evaluate("studio.racers[0].itd") == 126
    for number in (2, 3, 4):  # the copied program takes the fork too
        page.evaluate(f"studio.select({number})")
        page.click("#open-take")
        page.evaluate("document.getElementById('copied').value = ''")
        page.click("#copy-python")
        page.wait_for_function("() => document.getElementById('copied').value.includes('before.final')")
        names = {}
        exec(compile(page.input_value("#copied"), "copied", "exec"), names)
        assert len(names["lesson"]) == page.evaluate(f"studio.racers[{number}].taken")
        end = page.evaluate(f"studio.racers[{number}].end")
        np.testing.assert_allclose(names["lesson"].final, values_at(page, number, end), atol=1e-9)
        page.keyboard.press("Escape")


def fork_at(page, racer, step, rate):
    """Fork a lesson at a step of the race with another rate, and wait until the branch is over."""
    count = page.evaluate("studio.racers.length")
    page.evaluate(f"studio.select({racer})")
    page.evaluate(f"studio.seek({step})")
    page.fill("#fork-rate", str(rate))
    page.click("#do-fork-rate")
    settled(page, count + 1)


def table(page):
    """Return the rows of the results as they are shown."""
    page.wait_for_function("() => !studio.asked")
    return page.evaluate(
        "Array.from(document.querySelectorAll('#results tbody tr'), (row) => row.innerText.split('\\t'))"
    )


def test_who_reached_the_tolerance_first_is_ahead(page):
    page.evaluate("studio.seek(200)")  # nothing is told of what has not happened yet
    rows = table(page)
    assert [row[0].strip() for row in rows] == ["1 greedy", "2 random"]
    assert [row[3] for row in rows] == ["126", "…"]
    page.keyboard.press("End")
    assert [row[3] for row in table(page)] == ["126", "705"]
    page.keyboard.press("Home")
    assert [row[3] for row in table(page)] == ["…", "…"]
    ordered = page.evaluate(
        """import('/static/results.js').then(({ ahead }) => {
             const one = (name, itd, m, offset = 0) =>
               ({ racer: { name, itd, offset, discrepancyAt: () => m }, step: 5000 });
             const rows = [one("lost", null, NaN), one("far", null, 0.5), one("late", 900, 0.001, 100),
                           one("near", null, 0.002), one("early", 999, 0.009), one("tied", 1000, 0.0005)];
             return ahead(rows).map(({ racer }) => racer.name); })"""
    )
    assert ordered == ["early", "tied", "late", "near", "far", "lost"]


def test_a_fork_of_a_fork_counts_from_the_start_of_the_race(page):
    fork_at(page, 0, 50, 0.25)
    fork_at(page, 2, 80, 0.4)
    problem = nimt.sources.read_problem("gmm", "gmm:start")
    start, lessons = problem.initial, []
    for rate, steps in ((0.5, 50), (0.25, 30), (0.4, 5000)):
        learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate, initial=start)
        tol = 1e-4 if rate == 0.4 else None
        options = {"max_iterations": steps, "tol": tol, "snapshots": [10]}
        lessons.append(nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target, **options))
        start = lessons[-1].final
    assert page.evaluate("studio.racers.map((racer) => racer.offset)") == [0, 0, 50, 80]
    low, high = np.transpose(page.evaluate("studio.stages.map(({ view }) => view.limits)"))
    assert (high == high[0]).all() and (low <= low[0]).all()  # one scale, on which the past of a branch has its room
    for step, number in ((10, 0), (60, 1), (90, 2)):
        np.testing.assert_allclose(values_at(page, 3, step), lessons[number].snapshots[10], atol=1e-9)
    itd = 80 + lessons[2].itd
    page.keyboard.press("End")
    assert f"{itd:,}" in [row[3] for row in table(page) if row[0].startswith("4 ")]
    page.evaluate("studio.select(3)")
    page.keyboard.press("Home")  # a branch of a step that it shares with others begins there
    fork_at(page, 3, 20, 0.04)
    assert page.evaluate("[studio.racers[4].offset, studio.racers[4].header.parent]") == [20, 0]


def test_a_fork_with_another_teacher_has_its_name(page):
    page.evaluate("studio.seek(30)")
    page.select_option("#fork-teacher", "random")
    page.click("#do-fork-teacher")
    settled(page, 3)
    assert page.evaluate("studio.racers.map(({ name }) => name)") == ["greedy", "random", "random from step 30"]


def test_why_names_the_row_of_a_table_and_its_class(page, tmp_path):
    rows = [f"{i % 7},{i * i % 5},{i % 3},{i % 4},{'cat' if i % 2 else 'dog'}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["size,age,legs,ears,animal", *rows]))
    page.set_input_files("#file", tmp_path / "t.csv")
    page.wait_for_function("() => studio.racers[0]?.rows && studio.racers[0].taken")
    page.evaluate("studio.seek(0)")
    page.wait_for_function("() => document.getElementById('why-text').textContent.startsWith('Next comes row ')")
    row = page.evaluate("(({ lesson, rows }) => rows[lesson.shownAt(0)[0]])(studio.racers[0])")
    size, age, legs, _, animal = rows[row - 2].split(",")  # as a spreadsheet counts: the names are row 1
    text = page.inner_text("#why-text")
    assert text.startswith(f"Next comes row {row} with size = {size}, age = {age}, legs = {legs} and 1 more (circle)")
    assert f"It is {animal}, and the learner says " in text


def test_the_game_ends_in_its_own_words(page):
    page.click("#be-teacher")
    page.wait_for_function("() => studio.teaching && studio.racers[1]?.over")
    for _ in range(20):
        page.evaluate("studio.lessons.show(5)")
    page.wait_for_function("() => document.getElementById('said').textContent.startsWith('The end. The goal was not')")
    page.wait_for_function("() => studio.stages[0].foot.textContent.includes('the goal was not reached in 20 clicks')")
    page.keyboard.press("End")
    page.wait_for_function("() => studio.stages[1].foot.textContent.includes('the goal is reached')")


def test_a_divergence_is_said_and_the_page_lives(page):
    field = page.locator("#racers input[type=number]").first
    field.fill("3")
    field.press("Tab")
    before = page.evaluate("studio.race")
    page.click("#race")
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)}")
    settled(page)
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('.foot-note.bad')?.textContent.includes('moving away')")
    assert "above the safe bound" in page.inner_text("#racers")
    page.keyboard.press("Home")
    assert page.evaluate("studio.clock.place") == 0


def test_a_link_holds_the_race_and_the_drawing_and_never_the_token(page, browser, studio):
    page.select_option("#target-kind", "draw:picture")
    page.focus("#sketch")
    for key in ("Enter", "Shift+ArrowUp", "Shift+ArrowUp"):
        page.keyboard.press(key)
    page.wait_for_function("() => studio.race")
    settled(page)
    page.evaluate("studio.seek(33)")
    drawn, m = page.evaluate("studio.sketch.values"), page.evaluate("studio.racers[0].discrepancyAt(33)")
    page.click("#open-take")
    page.click("#copy-link")
    page.wait_for_function("() => document.getElementById('copied').value.includes('#race=')")
    link = page.input_value("#copied")
    assert studio.guard.token not in link
    with a_page(browser) as other:
        other.goto(studio.address)
        other.goto(link)
        other.reload()
        other.wait_for_function(
            "() => studio.racers[0]?.header.points === 784 && studio.racers.every((one) => one.over)"
        )
        assert other.evaluate("studio.sketch.values") == drawn
        other.wait_for_function("() => studio.clock.place === 33")
        assert other.evaluate("studio.racers[0].discrepancyAt(33)") == m


def link_of(page):
    """Copy the link of the page."""
    page.click("#open-take")
    page.evaluate("document.getElementById('copied').value = ''")
    page.click("#copy-link")
    page.wait_for_function("() => document.getElementById('copied').value.includes('#race=')")
    page.keyboard.press("Escape")
    return page.input_value("#copied")


def test_a_link_holds_the_forks_too(page, browser, studio):
    fork_at(page, 0, 50, 0.25)
    fork_at(page, 2, 80, 0.4)
    page.evaluate("studio.select(1)")
    page.evaluate("studio.seek(40)")
    page.keyboard.press("p")
    for key in ("Shift+ArrowRight", "Shift+ArrowUp", "Enter"):
        page.keyboard.press(key)
    settled(page, 5)
    page.evaluate("studio.seek(85)")
    told = """studio.racers.map((one) =>
      [one.offset, one.header.parent, one.itd, one.taken, one.name, ...one.valuesAt(85)])"""
    expected, link = page.evaluate(told), link_of(page)
    page.wait_for_function("(link) => location.href === link", arg=link)
    with a_page(browser) as other:
        other.goto(studio.address)
        other.goto(link)
        other.reload()
        settled(other, 5)
        assert other.evaluate(told) == expected
        other.wait_for_function("() => studio.clock.place === 85")
        assert link_of(other) == link  # and hands them on
        before = other.evaluate("studio.race")
        other.select_option("#target-kind", "named:sine")  # another race has none of them
        other.wait_for_function(f"() => studio.race !== {json.dumps(before)}")
        settled(other, 2)


def test_a_link_that_is_not_read_yet_is_not_written_over(page):
    """The address changes before the page hears of it: a race that began meanwhile must not take its place."""
    link = page.evaluate("location.hash")
    page.evaluate("history.pushState(null, '', '#race=2.another')")  # as a link does, before its event comes
    page.evaluate("studio.keepAddress()")
    assert page.evaluate("location.hash") == "#race=2.another"
    page.evaluate("(hash) => { history.pushState(null, '', hash); return studio.keepAddress(); }", link)
    assert page.evaluate("location.hash").startswith("#race=")


def test_curves_and_the_width_are_dragged_on_the_stage(page):
    at = """(what) => {
      const [stage] = studio.stages;
      const box = stage.canvas.getBoundingClientRect();
      const [x, values, point] = what === "target" ? [2, stage.racer.target, 160] : [-10, stage.racer.initial, 40];
      return [box.x + stage.view.toX(x), box.y + stage.view.toY(values[point]), values[point], point];
    }"""
    for what, away in (("target", -50), ("start", 50)):
        page.evaluate("studio.seek(0)")
        page.wait_for_function("() => !studio.asked")
        page.locator("#stages canvas").first.scroll_into_view_if_needed()
        x, y, before, point = page.evaluate(at, what)
        race = page.evaluate("studio.race")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + away, steps=4)
        page.mouse.up()
        page.wait_for_function(f"() => studio.race && studio.race !== {json.dumps(race)}")
        settled(page, 2)
        name = "target" if what == "target" else "initial"
        now = page.evaluate(f"studio.racers[0].{name}[{point}]")
        assert (now - before) * away < 0 and abs(now - before) > 0.02
    assert page.input_value("#target-kind") == "dragged" and page.input_value("#start-kind") == "drawn"
    page.locator("#kernel-picture").focus()
    race = page.evaluate("studio.race")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"() => studio.race && studio.race !== {json.dumps(race)}")
    assert float(page.input_value("#width")) == 0.55


@pytest.mark.parametrize("columns", [1, 2])
def test_scattered_points_are_dragged_where_they_are_drawn(page, tmp_path, columns):
    rows = [f"{i % 11}.{i},{(7 * i) % 13},{i % 5}.5" if columns == 2 else f"{i}.5,{(7 * i) % 13}.25" for i in range(40)]
    (tmp_path / "scattered.csv").write_text(("x,z,y\n" if columns == 2 else "x,y\n") + "\n".join(rows) + "\n")
    page.set_input_files("#file", tmp_path / "scattered.csv")
    page.wait_for_function("() => studio.racers[0]?.header.pool.kind === 'points'")
    settled(page, 2)
    page.evaluate("studio.seek(0)")
    page.wait_for_function("() => !studio.asked")
    page.locator("#stages figure canvas[tabindex]").first.scroll_into_view_if_needed()
    x, y, before = page.evaluate("""() => {
      const [stage] = studio.stages;
      const { view, racer } = stage;
      const box = stage.canvas.getBoundingClientRect();
      const [across, up] = view.order ? [view.toX(view.x[5]), view.toY(racer.target[5])] : [view.toX(5), view.toY(5)];
      return [box.x + across, box.y + up, Array.from(racer.target)];
    }""")
    race = page.evaluate("studio.race")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 25, steps=4)
    page.mouse.up()
    page.wait_for_function(f"() => studio.race && studio.race !== {json.dumps(race)}")
    settled(page, 2)
    after = page.evaluate("Array.from(studio.racers[0].target)")
    assert after[5] > before[5] + 0.05
    assert [i for i in range(len(after)) if abs(after[i] - before[i]) > 1e-3] == [5], "only the point that was taken"


def test_rows_of_a_table_are_held_out_and_its_columns_keep_their_units(page, studio, tmp_path):
    rows = [f"{50 + i},{i % 4},{100 + 3 * i + i % 4}" for i in range(60)]
    (tmp_path / "houses.csv").write_text("area,rooms,price\n" + "\n".join(rows) + "\n", encoding="utf-8")
    page.set_input_files("#file", tmp_path / "houses.csv")
    page.wait_for_function("() => studio.racers[0]?.header.pool.kind === 'points'")
    settled(page, 2)
    header = page.evaluate("studio.racers[0].header")
    assert header["pool"]["names"] == ["area", "rooms"] and header["pool"]["target"] == "price"
    assert header["held_out"] == 12 and header["points"] == 48
    page.evaluate("studio.seek(20)")
    page.wait_for_function("() => !studio.asked")
    assert page.locator("#results thead th").all_inner_texts()[-1] == "held out"
    told = page.evaluate("studio.racers.map((racer) => racer.heldOutAt(20).value)")
    for number, racer in enumerate(studio.classroom.races[page.evaluate("studio.race")].racers):
        aside, shown = racer.setting.aside, racer.indices.part(0, 20).astype(int)
        column = racer.learner.kernel(racer.setting.pool.points[shown], aside.points)
        f = racer.added.part(0, 20) @ column
        assert told[number] == pytest.approx(np.sqrt(np.mean((f - aside.target) ** 2)), rel=1e-9)
        r_squared = 1 - np.mean((f - aside.target) ** 2) / np.var(aside.target)
        cell = next(row[-1] for row in table(page) if row[0].startswith(f"{number + 1} "))
        assert cell.startswith("R² ") and float(cell[3:]) == pytest.approx(r_squared, abs=6e-4, rel=1e-3)


def test_a_link_says_what_of_a_fork_cannot_be_done(page):
    asked = page.evaluate("studio.shareable()")
    for forks, said in (
        (
            [{"racer": 0, "step": 9000, "change": {"rate": 0.1}}],
            "holds a branch at step 9,000 of lesson 1, which ends at",
        ),
        ([{"racer": 7, "step": 10, "change": {"rate": 0.1}}], "holds a branch of lesson 8, which there is not"),
        ([{"racer": 0, "step": 10, "change": {"rate": "x"}}], "rate must be a number"),
        ([{"racer": 0, "step": "x", "change": {"rate": 0.1}}], "this link is damaged"),
        ("x", "this link is damaged"),
    ):
        page.evaluate("location.hash = ''")
        page.evaluate(
            """(asked) => import('/static/share.js').then(
                 async (share) => { location.hash = await share.toHash(asked) })""",
            asked | {"forks": forks},
        )
        page.wait_for_function(
            "(said) => document.getElementById('alert').textContent.includes(said)", arg=said, timeout=20_000
        )


DAMAGED = {
    "cut short": lambda link: link[:-40],
    "one letter changed": lambda link: link[:-30] + ("A" if link[-30] != "A" else "B") + link[-29:],
    "a letter lost": lambda link: link[:-30] + link[-29:],
    "something after it": lambda link: link + "AAAA",
    "a sign of a mail program after it": lambda link: link + ">",
    "nonsense": lambda link: link.partition("#")[0] + "#race=AAAA",
    "nothing": lambda link: link.partition("#")[0] + "#race=",
}


@pytest.mark.sampled(3)
def test_a_damaged_link_says_so(page, browser, studio):
    link = link_of(page)
    shown = "() => document.getElementById('alert').textContent.includes('this link is damaged')"
    race = page.evaluate("studio.race")
    for damage in DAMAGED.values():
        page.evaluate("studio.settle(); studio.alert('')")
        page.evaluate("(link) => { location.href = link }", damage(link))
        page.wait_for_function(shown)
        assert page.evaluate("studio.race") == race  # what is there stays
    with a_page(browser) as other:
        other.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        other.goto(studio.address)
        other.goto("about:blank")
        other.goto(DAMAGED["cut short"](link))
        settled(other, 2)
        assert other.evaluate(shown)
        before = other.evaluate("studio.race")
        other.click("#race")  # until something else is done
        other.wait_for_function(f"() => studio.race !== {json.dumps(before)}")
        other.wait_for_function("() => document.getElementById('alert').hidden")


def test_a_link_that_would_unpack_without_end_is_damaged(page):
    page.evaluate(
        """import('/static/share.js').then(async (share) => {
             location.hash = await share.toHash({ target: "x".repeat(2e7), start: {}, rules: {}, racers: [] }) })"""
    )
    page.wait_for_function("() => document.getElementById('alert').textContent.includes('this link is damaged')")


def test_a_link_of_before_is_still_read(page):
    """Without a checksum, as links were written until version 0.2."""
    page.evaluate(
        """(async () => {
             const sine = { target: { kind: "named", name: "sine" }, start: { kind: "zero" } };
             const text = new Blob([JSON.stringify({ ...studio.shareable(), ...sine })]);
             const packed = text.stream().pipeThrough(new CompressionStream("deflate-raw"));
             const letters = String.fromCharCode(...new Uint8Array(await new Response(packed).arrayBuffer()));
             const safe = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
             location.hash = `#race=${safe}`; })()"""
    )
    page.wait_for_function("() => studio.request?.target.name === 'sine'")


HOSTILE_LINKS = [
    {"target": {"kind": "named", "name": "/etc/passwd"}, "start": {"kind": "zero"}, "rules": {}, "racers": [{}]},
    {
        "target": {"kind": "formula", "text": "__import__('os')", "axes": [[0, 1, 9]]},
        "start": {"kind": "zero"},
        "rules": {"kernel": "rbf", "width": 1, "loss": "square", "steps": 5},
        "racers": [{"teacher": "greedy"}],
    },
]


def test_a_hostile_link_is_refused_in_a_sentence(page, studio):
    for asked in HOSTILE_LINKS:
        text = json.dumps(asked)
        page.evaluate(
            f"import('/static/share.js').then(async (share) => {{ location.hash = await share.toHash({text}) }})"
        )
        page.wait_for_function("() => !document.getElementById('alert').hidden")
        page.evaluate("studio.alert('')")
    page.evaluate("location.hash = '#race=AAAA'")  # nonsense is no race
    page.wait_for_function("() => document.getElementById('alert').textContent.includes('this link is damaged')")
    assert page.evaluate("studio.racers.length") >= 1


def test_every_export(page, tmp_path):
    page.evaluate("studio.seek(100)")
    page.click("#open-take")
    files = {
        "#save-npz": ("lesson.npz", b"PK"),
        "#save-replay": ("replay.html", b"<!doctype"),
        "#save-gif": ("lesson.gif", b"GIF89a"),
        "#save-png": ("lesson.png", b"\x89PNG"),
    }
    for button, (name, begins) in files.items():
        with page.expect_download() as waiting:
            page.click(button)
        waiting.value.save_as(tmp_path / name)
        assert waiting.value.suggested_filename == name
        assert (tmp_path / name).read_bytes().startswith(begins)
    assert nimt.Lesson.load(tmp_path / "lesson.npz").itd == 126
    page.click("#copy-python")
    page.wait_for_function("() => document.getElementById('copied').value.includes('nimt.teach')")
    names = {}
    exec(compile(page.input_value("#copied"), "copied", "exec"), names)
    assert names["lesson"].itd == 126
    page.click("#copy-command")
    page.wait_for_function("() => document.getElementById('copied').value.startsWith('nimt teach gmm')")
    page.keyboard.press("Escape")
    page.set_input_files("#file", tmp_path / "lesson.npz")
    page.wait_for_function("() => studio.racers.length === 1 && studio.racers[0].known")
    assert np.max(np.abs(values_at(page, 0, 45) - taught(snapshots=[45]).snapshots[45])) <= 1e-12


def test_drop_a_picture_a_table_and_a_hostile_file(page, tmp_path):
    from PIL import Image

    Image.fromarray((np.arange(20 * 30).reshape(20, 30) % 255).astype(np.uint8)).save(tmp_path / "a.png")
    page.set_input_files("#file", tmp_path / "a.png")
    page.wait_for_function("() => studio.racers[0]?.header.points === 96 * 64")
    settled(page)
    assert page.inner_text("#file-name") == "a.png: 96 x 64 pixels are taught, of 30 x 20"
    first = "studio.racers[0]"
    assert page.evaluate(f"{first}.tol / {first}.discrepancyAt(0)") == pytest.approx(0.05, rel=0.35)  # one digit of it
    assert page.evaluate(f"{first}.itd") is not None  # within the budget
    rng = np.random.default_rng(0)
    table = "\n".join(f"{a},{b},{np.sin(3 * a) + b}" for a, b in rng.uniform(-1, 1, (60, 2)))
    (tmp_path / "t.csv").write_text(table)
    page.set_input_files("#file", tmp_path / "t.csv")
    page.wait_for_function("() => studio.racers[0]?.header.points === 48 && studio.racers[0].header.held_out === 12")
    assert page.evaluate("studio.racers[0].header.view") == "points"
    settled(page)
    page.wait_for_selector("#stages .foot-note:has-text('; bright: |f − f*|')")  # the colours are no longer those of f
    flowers = "\n".join(f"{a},{b},{a * b},{'abc'[i % 3]}" for i, (a, b) in enumerate(rng.uniform(-1, 1, (60, 2))))
    (tmp_path / "classes.csv").write_text("length,width,area,kind\n" + flowers)
    page.set_input_files("#file", tmp_path / "classes.csv")
    page.wait_for_function("() => studio.racers[0]?.header.outputs === 3 && studio.racers[0].taken >= 20")
    view = "studio.stages[0].view"
    counts = np.array(page.evaluate(f"{view}.count(studio.racers[0].valuesAt(20))"))
    target = np.array(page.evaluate("Array.from(studio.racers[0].target)")).reshape(48, 3)
    values = values_at(page, 0, 20).reshape(48, 3)
    expected = np.zeros((3, 3))
    np.add.at(expected, (target.argmax(axis=1), values.argmax(axis=1)), 1)
    np.testing.assert_array_equal(counts, expected)
    page.evaluate("studio.seek(20)")
    right = f"{round(1000 * np.trace(expected) / 48) / 10:g} % right"
    page.wait_for_function("(right) => studio.stages[0].m.textContent.includes(right)", arg=right)
    assert page.evaluate(f"{view}.names") == ["a", "b", "c"]
    notes = page.inner_text("#file-notes")
    assert "12 of 60 rows are held out" in notes and "Columns(" not in notes
    (tmp_path / "evil.png").write_bytes(b"<svg onload=alert(1)>")
    page.set_input_files("#file", tmp_path / "evil.png")
    page.wait_for_function("() => document.getElementById('alert').textContent.includes('not a picture')")
    (tmp_path / "evil.npz").write_bytes(b"PK\x03\x04header.npy" + b"\0" * 99)
    page.set_input_files("#file", tmp_path / "evil.npz")
    page.wait_for_function("() => document.getElementById('alert').textContent.includes('checksum')")


@pytest.mark.slow
def test_a_dropped_photo_is_taught_drawn_and_shared_in_colour(page, browser, studio, tmp_path):
    from PIL import Image

    rows, columns = np.mgrid[:24, :32]
    photo = np.stack([10 * rows, 8 * columns, 255 - 10 * rows], axis=2).astype(np.uint8)
    Image.fromarray(photo).save(tmp_path / "photo.png")
    before = page.evaluate("studio.race")
    page.set_input_files("#file", tmp_path / "photo.png")
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)} && studio.racers[0]?.header.outputs === 3")
    settled(page)
    rate = page.evaluate("studio.racers[0].header.rate")
    problem = nimt.sources.read_problem(str(tmp_path / "photo.png"), size=96)
    learner = nimt.KernelLearner(nimt.rbf(page.evaluate("Number(width.value)")), learning_rate=rate)
    steps = page.evaluate("Number(steps.value)")
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target, max_iterations=steps,
                        snapshots=[500], tol=page.evaluate("studio.racers[0].tol"))  # fmt: skip
    assert np.max(np.abs(values_at(page, 0, 500) - lesson.snapshots[500].ravel())) <= 1e-12
    page.uncheck("#why")
    page.evaluate("studio.seek(1e9)")
    page.wait_for_function("() => !studio.asked")
    painted = "Array.from(studio.stages[0].view.pixels.data)"
    pixels = np.array(page.evaluate(painted)).reshape(-1, 4)[:, :3]
    shown = np.clip(values_at(page, 0, steps), 0, 1).reshape(-1, 3)
    assert np.max(np.abs(pixels - 255 * shown)) <= 1  # neither grey nor a map of one output
    page.check("#why")
    page.wait_for_function("() => document.getElementById('why-text').textContent.includes('|f − f*|')")
    page.wait_for_selector("#stages .foot-note:has-text('; bright: |f − f*|')")
    link = page.evaluate("(async () => (await import('./static/share.js')).toHash(studio.shareable()))()")
    with a_page(browser, viewport={"width": 1280, "height": 900}) as other:
        other.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        other.goto(studio.address)
        other.goto(f"{studio.origin}/{link}")
        asked = "() => window.studio?.racers[0]?.header.outputs === 3 && Array.from(studio.racers[0].target)"
        shared = np.array(other.wait_for_function(asked).json_value())
    assert np.max(np.abs(shared - problem.target.ravel())) <= 0.5e-3 + 1e-12  # a link holds three digits


def test_the_guide_notices_what_the_reader_does(browser, studio):
    with a_page(browser, viewport={"width": 1280, "height": 900}) as page:
        page.goto(studio.address)
        page.wait_for_function(OVER)
        done = "() => document.querySelector('#guide .done')"
        following = '#guide button:text-is("Next")'
        page.wait_for_function(done)  # it plays by itself
        page.click(following)
        box = page.locator("#timeline").bounding_box()
        page.mouse.click(box["x"] + 200, box["y"] + 50)
        page.wait_for_function(done)
        page.click(following)
        assert page.evaluate("studio.clock.place") == 0 and page.locator("#why-panel.looked-at").count() == 1
        page.uncheck("#why")
        page.check("#why")
        page.wait_for_function(done)
        page.click(following)
        page.wait_for_function("() => document.querySelectorAll('#racers li').length === 2")
        page.click("#race")
        page.wait_for_function(done)
        page.click(following)
        field = page.locator("#racers input[type=number]").first
        field.fill("0.8")
        field.press("Tab")
        page.click("#race")
        page.wait_for_function(done)
        page.click(following)
        page.click("#be-teacher")
        page.wait_for_function("() => studio.teaching && studio.racers.length === 2")
        canvas = page.locator("#stages canvas").first.bounding_box()
        for i in range(5):
            page.mouse.click(canvas["x"] + 60 + 40 * i, canvas["y"] + 100)
        page.wait_for_function(done)
        page.click('#guide button:text-is("Finish")')
        page.reload()
        page.wait_for_function(OVER)
        assert page.locator("#guide").is_hidden()


def test_a_line_that_breaks_loses_nothing(browser):
    with running() as studio, a_page(browser) as page:
        page.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        page.goto(studio.address)
        page.wait_for_function(OVER)
        taken = page.evaluate("studio.racers[0].taken")
        page.evaluate("studio.line.socket.close()")
        page.wait_for_function("() => !studio.isOpen")
        page.wait_for_function("() => studio.isOpen")
        page.evaluate("studio.seek(45)")
        page.click("#do-fork-rate")
        settled(page, 3)
        assert page.evaluate("studio.racers[0].taken") == taken


def test_a_telephone_shows_everything_without_scrolling_sideways(browser, studio):
    with a_page(browser, viewport={"width": 390, "height": 800}, has_touch=True) as page:
        page.goto(studio.address)
        page.wait_for_function(OVER)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for name in ("#play", "#race", "#timeline", "#be-teacher", "#why"):
            assert page.locator(name).is_visible()


CHANGES = """(count) => new Promise((done) => { const seen = [[performance.now(), studio.clock.now]];
  studio.clock.speed = 100;
  const look = () => { const [, place] = seen[seen.length - 1];
    if (studio.clock.now !== place) seen.push([performance.now(), studio.clock.now]);
    if (seen.length > count) { studio.clock.pause(); done(seen.slice(1)); } else requestAnimationFrame(look); };
  studio.clock.play(1); look(); })"""


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_who_wants_less_motion_is_shown_stills(browser, studio, motion):
    with a_page(browser, reduced_motion=motion) as page:
        page.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        page.goto(studio.address)
        page.wait_for_function(OVER)
        assert page.evaluate("studio.clock.playing") == (motion != "reduce")  # it opens without motion too
        page.evaluate("studio.time.chosen = true; studio.seek(0)")
        changes = np.array(page.evaluate(CHANGES, 4))
        gaps, steps = np.diff(changes, axis=0).T
        if motion == "reduce":
            assert np.mean(gaps) > 450  # milliseconds of a still; a late picture shortens the next gap
            assert np.mean(steps) >= 50  # it goes through the lesson as fast
            assert page.inner_text("#speed-text") == "100 steps/s in stills"
        else:
            assert np.min(gaps) < 450
            assert page.inner_text("#speed-text") == "100 steps/s"


def test_every_control_has_a_name_and_nothing_is_loaded_from_elsewhere(browser, studio):
    asked = []
    with a_page(browser) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(studio.address)
        page.wait_for_function(OVER)
        nameless = page.evaluate(
            """Array.from(document.querySelectorAll('button, input, select, textarea, canvas[role]'))
               .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length))
               .map((one) => one.outerHTML.slice(0, 80))"""
        )
        assert nameless == []
    assert asked and all(url.startswith((studio.origin, "blob:")) for url in asked)


@pytest.mark.slow
def test_large_pictures_keep_their_pace(page):
    """No timed test: it is counted that frames are drawn while two lessons at 256 x 256 are taught and played."""
    page.select_option("#target-kind", "formula")
    page.fill("#axis-count", "256")
    page.fill("#steps", "30000")
    page.fill("#width", "0.06")
    page.fill("#tol", "0.0000001")
    before = page.evaluate("studio.race")
    page.fill("#formula", "sin(3*x) * cos(2*y)")
    page.keyboard.press("Tab")
    page.wait_for_function(f"() => studio.race !== {json.dumps(before)} && studio.racers.length === 2", timeout=60_000)
    page.wait_for_function("() => studio.racers.every((racer) => racer.taken > 2000)", timeout=60_000)
    if not page.evaluate("studio.clock.playing"):  # a race plays by itself where it is large enough
        page.click("#play")
    frames = page.evaluate("studio.frames")
    end = time.monotonic() + 60
    while page.evaluate("studio.frames") < frames + 30:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert page.evaluate("studio.clock.place") > 0
