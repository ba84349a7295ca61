"""What a lecturer sees in the first minute: it plays, everything is on one screen, and it can be presented."""

from __future__ import annotations

import pytest

from browsers import a_browser, a_page
from studio.test_page import OVER

pytestmark = pytest.mark.long

SIZES = ((1024, 768), (1280, 720), (1366, 768), (1440, 900), (1920, 1080))


@pytest.fixture(scope="module")
def page(studio):
    with a_browser() as browser, a_page(browser, viewport={"width": 1280, "height": 720}) as page:
        page.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        page.goto(studio.address)
        page.wait_for_function(OVER)
        yield page


def bottom_of(page, name):
    box = page.locator(name).last.bounding_box()
    return box["y"] + box["height"]


def test_it_plays_by_itself_for_about_twelve_seconds_at_the_largest_safe_rate(page):
    page.wait_for_function("() => studio.clock.playing && studio.clock.place > 0")
    page.wait_for_function("() => studio.form.teachers.safe")
    assert page.evaluate("[studio.form.teachers.safe, ...studio.racers.map(({ header }) => header.rate)]") == [0.5] * 3
    assert page.is_checked("#why") and page.inner_text("#why-text").startswith("Next comes x = ")
    # the choices that are seen come slowly, the rest of the lesson faster, and what the other takes longer faster still
    speeds = "import('/static/clock.js').then(({ speedAt }) => [0, 11, 12, 125, 126].map(" \
        "(step) => speedAt(step, studio.racers[0], studio.racers[1].end, step > 125)))"  # fmt: skip
    assert page.evaluate(speeds) == [2, 2, 20, 20, 100]
    assert page.evaluate("[studio.racers[0].early, studio.racers[0].end]") == [12, 126]  # about twelve seconds
    series = page.evaluate(
        "(({ series, place }) => [series.map(({ steps }) => steps.length), place])(studio.time.timeline)"
    )
    assert len(series[0]) == 2  # both are known to their ends, and drawn up to the playhead
    page.evaluate("studio.seek(14)")


@pytest.mark.parametrize("size", SIZES)
def test_a_race_and_why_are_seen_without_scrolling(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate("studio.seek(studio.clock.end)")
    page.wait_for_function("() => !studio.asked")
    assert page.locator(".controls").bounding_box()["height"] < 60  # one line
    for name in ("#stages canvas", "#timeline", "#scrub", "#results tr", "#why-text", "#race"):
        assert bottom_of(page, name) <= size[1], name
    assert page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(results.parentElement)")


@pytest.mark.parametrize("size", SIZES)
def test_why_is_seen_below_the_guide(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate("studio.guide.open(2)")
    page.wait_for_function("() => studio.racers.length && studio.racers.every(({ over }) => over) && !studio.asked")
    assert page.locator("#guide").bounding_box()["y"] >= 0 and bottom_of(page, "#why-text") <= size[1]
    page.evaluate("studio.guide.close(); scrollTo(0, 0)")


def test_long_numbers_leave_the_names_of_lessons_their_room(page):
    """Three pictures, and thousands of steps."""
    page.set_viewport_size({"width": 1024, "height": 768})
    page.select_option("#target-kind", "named:digit:0")
    page.wait_for_function(f"{OVER} && studio.racers[0].header.points === 784")
    page.evaluate("studio.seek(1234)")
    page.wait_for_function("() => !studio.asked")
    assert page.locator(".controls").bounding_box()["height"] < 60  # one line
    cut = "Array.from(document.querySelectorAll('figcaption .name')).filter((one) => one.scrollWidth > one.clientWidth)"
    assert page.evaluate(f"{cut}.map((one) => one.textContent)") == []
    before = page.evaluate("studio.race")
    page.select_option("#target-kind", "named:gmm")
    page.wait_for_function(f"() => studio.race !== '{before}' && ({OVER})()")


def test_the_race_stays_in_view_while_teachers_are_added(page):
    page.set_viewport_size({"width": 1280, "height": 720})
    for _ in range(2):
        page.click("#add-racer")
    page.click("#race")
    page.wait_for_function(f"{OVER} && studio.racers.length === 4")
    assert page.locator("#stages").bounding_box()["y"] >= 0
    assert bottom_of(page, "#scrub") <= 720  # four lessons and their time
    page.evaluate("studio.form.teachers.take('greedy', 'random'); studio.form.teachers.draw()")
    page.click("#race")
    page.wait_for_function(f"{OVER} && studio.racers.length === 2")


def test_what_has_the_focus_is_not_below_the_buttons(page):
    page.set_viewport_size({"width": 1280, "height": 720})
    covered = """() => {
      const [found, buttons] = [[], document.querySelector(".go")];
      document.querySelector("aside").scrollTop = 0;
      for (const one of document.querySelectorAll("#group-learner input, #group-teachers :is(select, input, button)")) {
        if (one.disabled) continue;
        one.focus();
        if (one.getBoundingClientRect().bottom > buttons.getBoundingClientRect().top) found.push(one.id);
      }
      document.activeElement.blur();
      return [found, scrollY];
    }"""
    assert page.evaluate(covered) == [[], 0]


def test_the_gap_has_the_colour_of_its_teacher(page):
    pixel = """async (number) => {
      studio.select(number);
      studio.seek(0);
      while (studio.asked) await new Promise(requestAnimationFrame);
      const { canvas, view } = studio.stages[number];
      const sharp = canvas.width / canvas.clientWidth;
      const [x, y] = [view.toX(-9.7), view.toY(0.2)].map((place) => Math.round(place * sharp));
      return Array.from(canvas.getContext("2d").getImageData(x, y, 1, 1).data);
    }"""
    red, _, blue, shade = page.evaluate(pixel, 0)
    assert red > blue and shade > 0  # orange
    red, _, blue, shade = page.evaluate(pixel, 1)
    assert red < blue and shade > 0


def test_a_low_picture_has_two_numbers_on_its_axis(page):
    ticks = "([low, high, about]) => import('/static/drawing.js').then(({ ticks }) => ticks(low, high, about))"
    assert page.evaluate(ticks, [-0.03, 0.43, 2]) == [0, 0.2, 0.4]  # half of its height would leave 0 alone
    assert page.evaluate(ticks, [0, 1, 5]) == [0, 0.2, 0.4, 0.6, 0.8, 1]


def test_a_step_is_counted_when_it_is_drawn(page):
    page.evaluate("(studio.seek(0), studio.clock.seek(7.9))")
    page.wait_for_function("() => !studio.asked")
    assert page.inner_text("#place-text") == "step 7 of 705"
    assert page.inner_text("#stages .foot-note >> nth=0") == "at step 7"


def test_numbers_and_steps_are_written_alike(page):
    page.evaluate("studio.seek(705)")
    page.wait_for_function("() => !studio.asked")
    assert page.inner_text("#place-text") == "step 705 of 705"
    assert page.inner_text("#stages .foot-note >> nth=1").startswith("at step 705: ")
    m = page.evaluate(
        "import('/static/drawing.js').then(({ numberText }) => numberText(studio.racers[1].discrepancyAt(705)))"
    )
    assert page.inner_text("#stages .m >> nth=1") == f"M = {m}" and m in page.inner_text("#results")


def test_f_presents_the_lessons_in_large_letters(page):
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("f")
    page.wait_for_function("() => document.documentElement.classList.contains('presenting')")
    assert page.locator("aside").is_hidden() and page.get_attribute("#present", "aria-pressed") == "true"
    for name in (".stage figcaption .name", "#why-text", "#results", "#place-text"):
        letters = page.evaluate("(name) => getComputedStyle(document.querySelector(name)).fontSize", name)
        assert float(letters.removesuffix("px")) >= 21, name
    assert page.evaluate("import('/static/drawing.js').then(({ TEXT }) => TEXT.scale)") == 1.6
    assert bottom_of(page, "#results tr") <= 1080
    page.keyboard.press("f")
    page.wait_for_function("() => !document.documentElement.classList.contains('presenting')")
    assert page.locator("aside").is_visible()
