"""A replay holds the lesson: coefficients that add up to f, and a page that gives Python's numbers in a browser."""

import dataclasses
import json
import re

import numpy as np
import pytest

import nimt
from browsers import a_browser, a_page
from nimt.replay import Recording, player_page, record_of, replay_page
from nimt.replay.lesson_recording import describe_pool
from problems import BOUNDARY, MIXTURE, scattered

pytestmark = pytest.mark.long

STEPS = [0, 1, 7, 100, 450, 999, 1000]


def picture_lesson(teacher=None, **options):
    rng = np.random.default_rng(3)
    target = rng.normal(size=(12, 17))
    learner = nimt.KernelLearner(nimt.rbf(1.3), learning_rate=0.05)
    options = {"max_iterations": 1000, "tol": None} | options
    options["snapshots"] = [step for step in STEPS if step <= options["max_iterations"]]
    return nimt.teach(learner, teacher or nimt.GreedyTeacher(), nimt.Grid.like(target), target, **options)


def points_lesson(**options):
    points, target, initial = scattered(40)
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.2, initial=initial)
    return nimt.teach(
        learner, nimt.GreedyTeacher(), points, target, max_iterations=1000, snapshots=STEPS, **{"tol": None} | options
    )


def colour_lesson(teacher=None, from_nothing=False, **options):
    rng = np.random.default_rng(4)
    target, initial = rng.uniform(size=(2, 12 * 17, 3))
    learner = nimt.KernelLearner(nimt.rbf(1.3), learning_rate=0.05, initial=0.0 if from_nothing else initial)
    grid = nimt.Grid.like(np.zeros((12, 17)))
    options = {"max_iterations": 1000, "tol": None, "snapshots": STEPS} | options
    return nimt.teach(learner, teacher or nimt.GreedyTeacher(), grid, target, **options)


def orthogonal_lesson(snapshots=(2, 5)):
    points, target, _ = scattered(30)
    learner = nimt.learners.OrthogonalLearner(nimt.rbf(0.7))
    return nimt.teach(
        learner, nimt.GreedyTeacher(), points, target, max_iterations=10, tol=None, snapshots=list(snapshots)
    )


LESSONS = {
    "curve": lambda: MIXTURE.teach(max_iterations=1000, snapshots=STEPS, tol=1e-4),
    "boundary": lambda: BOUNDARY.teach(max_iterations=1000, tol=None, snapshots=STEPS),
    "picture": picture_lesson,
    "packs": lambda: picture_lesson(nimt.RandomTeacher(k=9)),
    "made labels": lambda: picture_lesson(nimt.SynthesisTeacher()),
    "large packs": lambda: picture_lesson(nimt.GreedyTeacher(k=0.5)),
    "points": points_lesson,
    "colours": colour_lesson,
    "colours in packs": lambda: colour_lesson(nimt.RandomTeacher(k=5)),
    "colours from nothing": lambda: colour_lesson(from_nothing=True, measure="rms"),
    "each colour": lambda: colour_lesson(nimt.teachers.PerOutput(nimt.GreedyTeacher()), from_nothing=True),
    "mixed colours": lambda: colour_lesson(nimt.teachers.Communicating(nimt.GreedyTeacher(), every=250)),
    "each colour mixed": lambda: colour_lesson(
        nimt.teachers.Communicating(nimt.teachers.PerOutput(nimt.RandomTeacher()), every=7)
    ),
    "each colour in packs": lambda: colour_lesson(nimt.teachers.PerOutput(nimt.RandomTeacher(k=2))),
}


def values_by_plain_loop(recording, step):
    """f at a step, from the numbers of the recording alone."""
    header, blocks = recording.header, recording.blocks
    values = np.array(blocks["initial"])
    matrices = blocks.get("mixes", np.zeros(0)).reshape(-1, header["outputs"], header["outputs"])
    mixes = dict(zip(blocks.get("mix_steps", ()), matrices, strict=True))
    for shown in range(header["pack"] * step):
        if shown and shown % header["pack"] == 0 and shown // header["pack"] in mixes:
            values = values @ mixes[shown // header["pack"]].T
        point, coefficient = int(blocks["indices"][shown]), blocks["coefficients"][shown]
        if header["kernel"] == "columns":
            (place,) = np.flatnonzero(blocks["columns"] == point)
            part = slice(*blocks["column_begin"][place : place + 2])
            values[blocks["members"][part]] += coefficient * blocks["weights"][part, np.newaxis]
            continue
        *row, last = np.unravel_index(point, header["pool"]["shape"])
        for run, first in enumerate(blocks["first"]):
            for cell in range(blocks["start"][run], blocks["start"][run + 1]):
                place = (
                    *(row + blocks["lead"].reshape(len(blocks["first"]), -1)[run]),
                    last + first + cell - blocks["start"][run],
                )
                if all(0 <= x < length for x, length in zip(place, header["pool"]["shape"], strict=True)):
                    values[np.ravel_multi_index(place, header["pool"]["shape"])] += (
                        coefficient * blocks["weights"][cell]
                    )
    return values @ mixes[step].T if step and step in mixes else values


@pytest.mark.parametrize("name", LESSONS)
def test_the_numbers_of_a_recording_add_up_to_the_lesson(name):
    lesson = LESSONS[name]()
    recording = record_of(lesson)
    for step in (0, 1, 7 if recording.header["pack"] > 1 else 100):
        assert values_by_plain_loop(recording, step) == pytest.approx(
            lesson.snapshots[step].reshape(len(lesson.pool), -1), abs=1e-13
        )


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.sampled(3)
def test_a_recording_is_the_same_without_recorded_coefficients(name, tmp_path):
    """A file holds none of packs: they follow from what was shown."""
    lesson = LESSONS[name]()
    lesson.save(tmp_path / "lesson")
    loaded = nimt.Lesson.load(tmp_path / "lesson")
    assert (loaded.coefficients is None) == (lesson.labels[0].size > 1)
    wanted = record_of(lesson).blocks["coefficients"]
    for other in (loaded, dataclasses.replace(lesson, coefficients=None)):
        np.testing.assert_allclose(record_of(other).blocks["coefficients"], wanted, rtol=1e-9, atol=1e-13)


def test_a_recording_of_single_examples_takes_no_step_again(monkeypatch, tmp_path):
    picture_lesson().save(tmp_path / "lesson")
    monkeypatch.setattr("nimt.learners.kernel_pupils.KernelPupil.add", lambda *_: pytest.fail("a step was taken again"))
    assert len(record_of(nimt.Lesson.load(tmp_path / "lesson")).blocks["coefficients"]) == 1000


def test_a_lesson_of_large_packs_is_thinned_and_says_so():
    lesson = picture_lesson(nimt.GreedyTeacher(k=1.0), max_iterations=300)
    recording = record_of(lesson, largest=100_000)
    every = recording.header["every"]
    assert every > 1
    assert recording.blocks["indices"].size * 10 < 100_000
    assert len(recording.blocks["begin"]) == -(-300 // every) + 1
    added = np.zeros(len(lesson.pool))
    np.add.at(added, recording.blocks["indices"], recording.blocks["coefficients"][:, 0])
    full = record_of(lesson, largest=10**9)
    whole = np.zeros(len(lesson.pool))
    np.add.at(whole, full.blocks["indices"], full.blocks["coefficients"][:, 0])
    np.testing.assert_allclose(added, whole, atol=1e-12)


@pytest.mark.parametrize("name", ["large packs", "picture", "other"])
def test_a_page_that_would_be_too_large_keeps_fewer_steps(name, tmp_path, monkeypatch):
    lesson = orthogonal_lesson(range(1, 10)) if name == "other" else LESSONS[name]()
    whole = lesson.replay(tmp_path / "whole.html").stat().st_size
    empty = len(player_page.replay_page([record_of(lesson, largest=1)]).encode())
    monkeypatch.setattr(player_page, "LEAST", 1)
    monkeypatch.setattr(player_page, "MOST_BYTES", (whole + empty) // 2)
    assert lesson.replay(tmp_path / "small.html").stat().st_size <= (whole + empty) // 2 < whole
    monkeypatch.setattr(player_page, "MOST_BYTES", 1000)
    with pytest.raises(nimt.InvalidInput, match=r"a replay takes at most 0\.001 MB, and the .* points of this"):
        lesson.replay(tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


def test_other_learners_are_played_from_their_snapshots():
    lesson = orthogonal_lesson()
    recording = record_of(lesson)
    assert recording.header["kernel"] == "frames"
    assert recording.blocks["frame_steps"].tolist() == [0, 2, 5, 10]
    np.testing.assert_array_equal(recording.blocks["frames"].reshape(4, 30)[1], lesson.snapshots[2])


def test_blocks_stand_where_the_header_says():
    recording = record_of(picture_lesson())
    data = recording.to_bytes()
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    for name, block in recording.blocks.items():
        place = header["blocks"][name]
        assert place["offset"] % 8 == 0
        read = np.frombuffer(data, place["kind"], place["length"], place["offset"])
        np.testing.assert_array_equal(read, block.ravel())


def test_a_block_no_page_can_read_is_refused():
    with pytest.raises(TypeError, match="int64"):
        Recording({}, {"a": np.zeros(2, np.int64)}).to_bytes()


def test_the_page_loads_nothing_and_its_title_is_text():
    page = replay_page([record_of(points_lesson(), title="</title><script>alert(1)</script>")])
    outside = re.sub(r'<script type="text/plain".*?</script>', "", page, flags=re.DOTALL)
    assert "<script>alert" not in outside
    assert not re.search(r"https?://|@import|url\(|^import |^export ", outside, re.MULTILINE)
    assert "default-src 'none'" in page


def test_a_diverged_lesson_has_a_page():
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=3.0)
    with pytest.warns(nimt.errors.StepSizeWarning):
        lesson = nimt.teach(
            learner, nimt.GreedyTeacher(), nimt.Grid(np.arange(0, 3, 0.1)), np.sin, max_iterations=400, tol=None
        )
    assert lesson.outcome is nimt.lesson.Outcome.DIVERGED
    assert "moving away" in json.dumps(record_of(lesson).header)


def test_where_it_cannot_be_written_is_said(tmp_path):
    lesson = points_lesson()
    with pytest.raises(nimt.errors.MissingFile, match="no folder"):
        lesson.replay(tmp_path / "nowhere" / "a.html")
    with pytest.raises(nimt.InvalidInput, match="is a folder"):
        lesson.replay(tmp_path)


# in a browser


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.sampled(3)
def test_a_browser_gives_pythons_numbers(browser, name, tmp_path):
    lesson = LESSONS[name]()
    lesson.replay(tmp_path / "lesson.html")
    with a_page(browser) as page:
        page.goto((tmp_path / "lesson.html").as_uri())
        page.wait_for_function("() => window.player")
        page.evaluate("player.lesson.every = 64")  # frames to go back to, also in so short a lesson
        for step in (1000, 450, 7, 999, 100, 1, 1000, 0):  # forwards and backwards
            page.evaluate(f"player.clock.seek({step})")
            shown = np.array(page.evaluate("Array.from(player.valuesAt(player.clock.now))"))
            assert np.max(np.abs(shown - lesson.snapshots[step].ravel())) <= 1e-12, step
            assert page.evaluate("player.m") == pytest.approx(lesson.discrepancy[step], rel=1e-9)


def test_keys_and_buttons_move_through_the_lesson(browser, tmp_path):
    lesson = LESSONS["curve"]()
    assert lesson.replay(str(tmp_path / "lesson.html"), title="The mixture") == tmp_path / "lesson.html"
    with a_page(browser) as page:
        page.goto((tmp_path / "lesson.html").as_uri())
        page.wait_for_function("() => window.player")
        now = "player.clock.now"
        for key, expected in (
            ("End", 1000),
            ("ArrowLeft", 999),
            ("Shift+ArrowLeft", 899),
            ("Home", 0),
            ("ArrowRight", 1),
        ):
            page.keyboard.press(key)
            assert page.evaluate(now) == expected, key
        assert "step 1 of 1,000" in page.inner_text("#step-text")
        page.click("#play")
        page.wait_for_function(f"() => {now} > 20")
        page.click("#play-back")
        page.wait_for_function(f"() => {now} === 0 && !player.clock.playing")
        assert page.get_attribute("#learner", "aria-label").startswith("The learner. At step 0")
        assert page.title() == "The mixture"


@pytest.mark.slow
def test_an_address_says_where_to_begin_and_whether_to_play(browser, tmp_path):
    LESSONS["curve"]().replay(tmp_path / "lesson.html")
    address = (tmp_path / "lesson.html").as_uri()
    with a_page(browser) as page:
        page.goto(f"{address}#step=40&speed=7")
        page.wait_for_function("() => window.player")
        assert page.evaluate("[player.clock.now, player.clock.speed, player.clock.playing]") == [40, 7, False]
        page.goto("about:blank")
        page.goto(f"{address}#play&loop&step=999&speed=2000")
        page.wait_for_function("() => window.player?.clock.playing && player.clock.now < 999")  # it began again
        page.wait_for_function("() => document.querySelector('#said').textContent === ''")  # no sentence of a past step
    with a_page(browser, reduced_motion="reduce") as page:
        page.goto(f"{address}#play")
        page.wait_for_function("() => window.player")
        assert not page.evaluate("player.clock.playing")


def race(tmp_path, **options):
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}
    rules = {"tol": 1e-3, "max_iterations": 400, "seeds": 2} | options
    comparison = nimt.compare(MIXTURE.learner(learning_rate=0.5), teachers, MIXTURE.pool, MIXTURE.target, **rules)
    return comparison, comparison.replay(tmp_path / "race.html", title="A race")


def test_a_race_plays_its_lessons_on_one_clock(browser, tmp_path):
    comparison, path = race(tmp_path)
    lessons = [comparison.lessons[name][0] for name in ("greedy", "random")]
    with a_page(browser) as page:
        page.goto(path.as_uri())
        page.wait_for_function("() => window.player")
        assert page.evaluate("player.clock.end") == max(len(lesson) for lesson in lessons)
        assert page.evaluate("player.timeline.isRace")  # nothing is drawn that has not happened yet
        assert str(len(lessons[0])) not in page.inner_text("#lead")
        for step in (0, 30, page.evaluate("player.clock.end")):
            page.evaluate(f"player.clock.seek({step})")
            for number, lesson in enumerate(lessons):
                own = min(step, len(lesson))
                assert page.evaluate(f"player.lessons[{number}].discrepancyAt({own})") == pytest.approx(
                    lesson.discrepancy[own], rel=1e-9
                )
        said = page.inner_text("#said")
        first, second = sorted(lessons, key=lambda lesson: (lesson.itd or np.inf, lesson.discrepancy[-1]))
        assert said.index({id(lessons[0]): "greedy", id(lessons[1]): "random"}[id(first)]) < said.index(
            {id(lessons[0]): "greedy", id(lessons[1]): "random"}[id(second)]
        )
        assert f"ITD {first.itd:,}" in said
        assert page.locator("#stages figure:visible").count() == 2


def test_a_race_of_many_teachers_is_refused(tmp_path):
    lesson = points_lesson()
    many = nimt.runs.Comparison.of({f"teacher {number}": lesson for number in range(7)})
    with pytest.raises(nimt.InvalidInput, match="6 lessons side by side, and this comparison has 7 teachers"):
        many.replay(tmp_path / "race.html")


@pytest.mark.parametrize("size", [(1280, 720), (760, 520), (1920, 1080)])
def test_everything_to_be_seen_fits_into_a_slide(browser, tmp_path, size):
    _, path = race(tmp_path)
    picture_lesson(max_iterations=100).replay(tmp_path / "picture.html")
    for file in (path, tmp_path / "picture.html"):
        with a_page(browser, viewport={"width": size[0], "height": size[1]}) as page:
            page.goto(f"{file.as_uri()}#step=20&why")
            page.wait_for_function("() => window.player")
            assert page.evaluate("document.querySelector('.screen').getBoundingClientRect().bottom <= innerHeight")
            assert page.evaluate("document.querySelector('#said').getBoundingClientRect().bottom <= innerHeight")
            assert page.evaluate("document.querySelector('#learner').getBoundingClientRect().height") >= 150
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            tops = "(place) => new Set([...document.querySelectorAll(place)].map((one) => one.offsetTop)).size"
            assert page.evaluate(tops, ".stage canvas:not(#target-figure canvas)") == 1  # plots that are compared
            tops = "[...document.querySelectorAll('.controls > :not([hidden], .switches)')].map((one) => one.offsetTop)"
            assert page.evaluate(f"Math.max(...{tops}) - Math.min(...{tops})") < 12  # none stands below the others
            switches = "[...document.querySelectorAll('.switch')].map((one) => one.offsetTop)"
            assert len(set(page.evaluate(switches))) == 1
            assert size[1] > 520 or page.evaluate("document.documentElement.scrollHeight <= innerHeight")


def test_a_map_lies_as_in_figures_and_says_what_its_colours_are(browser, tmp_path):
    pool = nimt.Grid(np.linspace(-2, 2, 9), np.linspace(0, 3, 6))
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), pool, lambda X: X[:, 0] + 2 * X[:, 1], max_iterations=20)
    lesson.replay(tmp_path / "lesson.html")
    with a_page(browser, viewport={"width": 760, "height": 520}) as page:
        page.goto((tmp_path / "lesson.html").as_uri())
        page.wait_for_function("() => window.player")
        places = np.array(page.evaluate("Array.from({length: 54}, (_, i) => player.targetView.middle(i))"))
        back = "player.targetView.pointAt(...player.targetView.middle(i))"
        found = page.evaluate(f"Array.from({{length: 54}}, (_, i) => {back})")
        assert found == list(range(54))
        across, up = (np.corrcoef(places[:, axis], pool.points[:, axis])[0, 1] for axis in (0, 1))
        assert across == pytest.approx(1) and up == pytest.approx(-1)  # pixels count from the top
        colours = page.evaluate(
            """[0, 53].map((i) => {
              const [x, y] = player.targetView.middle(i).map((place) => Math.round(place * devicePixelRatio));
              return Array.from(document.getElementById("target").getContext("2d").getImageData(x, y, 1, 1).data);
            })"""
        )
        assert colours[0][2] > colours[0][0] and colours[1][0] > colours[1][2]  # the lowest is blue, the highest orange
        assert page.inner_text("#target-figure .scale").split() == ["-2", "8"]
        name = "figure:has(#learner) figcaption"
        assert page.inner_text(name) == "learner fᵗ"
        page.keyboard.press("w")
        assert page.inner_text(name).startswith("|fᵗ − f*|")  # the picture shows another thing now
        assert "Next comes x1 = 2, x2 = 3 (circle)" in page.inner_text("#said")


def test_the_replay_says_why_this_one(browser, tmp_path):
    lesson = LESSONS["curve"]()
    lesson.replay(tmp_path / "lesson.html")
    with a_page(browser) as page:
        page.goto(f"{(tmp_path / 'lesson.html').as_uri()}#step=7")
        page.wait_for_function("() => window.player")
        page.keyboard.press("w")
        x = float(lesson.pool.points[lesson.indices[7, 0], 0])
        assert f"Next comes x = {x:.4g} (circle)" in page.inner_text("#said")
        page.keyboard.press("End")
        assert "The lesson is over" in page.inner_text("#said")


@pytest.mark.parametrize("name", ["large packs", "other"])
def test_why_claims_nothing_of_steps_that_were_not_kept(browser, tmp_path, name):
    lesson = orthogonal_lesson() if name == "other" else LESSONS[name]()
    lesson.replay(tmp_path / "lesson.html")
    with a_page(browser) as page:
        page.goto(f"{(tmp_path / 'lesson.html').as_uri()}#step=3&why")
        page.wait_for_function("() => window.player")
        said = page.inner_text("#said")
        assert "Next comes" not in said and "|f − f*| is largest at" in said


def test_points_of_many_columns_are_drawn_along_any_of_them(browser, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    table = pandas.DataFrame(rng.normal(size=(60, 10)), columns=[f"feature {i}" for i in range(10)])
    target = pandas.Series(np.sin(table["feature 0"]), name="price")
    learner = nimt.KernelLearner(nimt.rbf(3.0), learning_rate=0.5)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), table, target, max_iterations=20, tol=None)
    lesson.replay(tmp_path / "lesson.html")
    with a_page(browser) as page:
        page.goto((tmp_path / "lesson.html").as_uri())
        page.wait_for_function("() => window.player")
        names = page.locator("#against option").all_inner_texts()
        assert names == ["price", *table.columns]
        page.select_option("#against", "feature 3")
        across = page.evaluate("Array.from({length: 60}, (_, i) => player.lanes[0].view.across(i))")
        assert across == pytest.approx(table["feature 3"].tolist())


def test_a_share_is_drawn_between_nothing_and_all(browser, tmp_path):
    points, _, _ = scattered(40)
    classes = np.where(points[:, 0] > 0, 1.0, -1.0)
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.2)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, classes, max_iterations=30, tol=None, measure="accuracy")
    lesson.replay(tmp_path / "lesson.html")
    with a_page(browser) as page:
        page.goto((tmp_path / "lesson.html").as_uri())
        page.wait_for_function("() => window.player")
        assert page.evaluate("player.timeline.heights()") == [0, 1]
        above = """(() => {
          const canvas = document.getElementById("timeline");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, 14); // 100 % lies at 16
          let inked = 0;
          const isInk = (i) => data[i] > 150 && data[i + 2] < 60 && data[i + 3] > 99;
          for (let i = 0; i < data.length; i += 4) inked += Number(isInk(i));
          return inked;
        })()"""
        assert page.evaluate(above) == 0
        assert page.evaluate("player.m") == pytest.approx(lesson.discrepancy[0])


def test_columns_of_a_table_keep_their_units(tmp_path):
    """Pages show columns as the table has them, not as the kernel sees them."""
    file = tmp_path / "houses.csv"
    rows = "\n".join(f"{50 + 3 * i},{i % 4},{100 + i}" for i in range(12))
    file.write_text(f"area,rooms,price\n{rows}\n", encoding="utf-8")
    pool = nimt.sources.read_problem(str(file)).pool
    blocks = {}
    said = describe_pool(pool, blocks)["pool"]
    assert said["names"] == ["area", "rooms"] and said["target"] == "price"
    assert blocks["points"][:3].tolist() == [[50.0, 0.0], [53.0, 1.0], [56.0, 2.0]]


def test_a_million_steps_are_searched_at_once(browser, tmp_path):
    """No timed test: the number of steps taken again is what scrubbing costs, and it is counted."""
    replay_page_of_million(tmp_path / "long.html")
    with a_page(browser) as page:
        page.goto((tmp_path / "long.html").as_uri())
        page.wait_for_function("() => window.player")
        page.evaluate("player.valuesAt(1000000)")
        taken = page.evaluate(
            """(() => {
              const forward = player.lesson.forward.bind(player.lesson);
              let taken = 0;
              player.lesson.forward = () => { taken++; forward(); };
              const most = [];
              for (const step of [999999, 3, 500001, 123456, 777777]) {
                taken = 0; player.valuesAt(step); most.push(taken);
              }
              return most;
            })()"""
        )
        cells = page.evaluate("player.lesson.kernel.cells")
        assert max(taken) * cells <= 4e6


def replay_page_of_million(path):
    steps = 1_000_000
    rng = np.random.default_rng(0)
    lesson = picture_lesson(max_iterations=1)
    recording = record_of(lesson)
    blocks = recording.blocks | {
        "indices": rng.integers(204, size=steps).astype(np.uint16),
        "coefficients": 1e-3 * rng.normal(size=(steps, 1)),
    }
    path.write_text(replay_page([Recording(recording.header | {"steps": steps}, blocks)]), encoding="utf-8")
