"""Running, keeping and reporting: what is finished is kept, whatever happens to the rest."""

import dataclasses
import json
import re
import shutil
from html import escape

import pytest
from typer.testing import CliRunner

import nimt
from nimt.cli.reproduce import reproduce as command
from nimt.paper import EXPERIMENTS, FAMILY, reproduce
from nimt.paper.experiments import digits
from nimt.paper.finished import RECORDS, find_finished
from nimt.paper.methods import ALTERNATIVE, POOL
from nimt.paper.picture_problems import PictureLessons
from nimt.paper.report_page import TIMES, comparisons, data_in_words, headline, remarks
from nimt.paper.reproducing import seconds_of
from nimt.runs.giving import give

pytestmark = pytest.mark.long

SHORT = {"iterations": 5, "jobs": 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make the lines once."""
    folder = tmp_path_factory.mktemp("made")
    reproduce(["lines"], folder, **SHORT)
    return folder


@pytest.fixture
def lines(made, tmp_path):
    """Return a folder of its own that holds the lines, finished."""
    return shutil.copytree(made, tmp_path / "lines")


class Ear:
    """Remembers what a progress callback is told."""

    def __init__(self):
        self.events = []

    def __call__(self, event):
        self.events.append(event)

    def states(self, name):
        return [event.state for event in self.events if event.experiment == name]


def test_a_run_writes_figures_a_summary_and_a_report(tmp_path):
    ear = Ear()
    summary = reproduce(["lines", "gmm"], tmp_path / "new" / "out", progress=ear, **SHORT)
    out = tmp_path / "new" / "out"
    assert json.loads((out / "summary.json").read_text()) == summary
    assert list(summary["experiments"]) == ["gmm", "lines"]  # the order of the report
    for name in ("gmm", "lines"):
        assert (out / "figures" / f"{name}.png").stat().st_size > 10_000
        assert (out / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert ear.states(name)[-1] == "finished"
        assert "teaching" in ear.states(name)
        assert "drawing" in ear.states(name)
    first = summary["experiments"]["gmm"]["lessons"][0]
    assert first["name"] == "GFT-1"
    assert first["steps"] == 5
    assert first["engine"]
    assert first["seconds"] > 0
    assert first["itd"] == {"measured": None, "published": 3056, "ratio": None, "tolerance": 1e-4}
    (start,) = (row for row in first["checkpoints"] if row["step"] == 0)
    assert start["ratio"] == pytest.approx(1, abs=1e-9)


def test_the_time_of_lessons_is_told_without_that_of_compiling(tmp_path, monkeypatch):
    def timed(task, checkpoint=None, **options):
        lesson, went_on = give(task, checkpoint, **options)
        return dataclasses.replace(lesson, elapsed=0.25, compiling=29.4), went_on

    monkeypatch.setattr("nimt.paper.experiment.give", timed)
    told = run_command("lines", "--iterations", 5, "--jobs", 1, "--out", tmp_path)
    record = json.loads((tmp_path / "summary.json").read_text())["experiments"]["lines"]
    count = len(record["lessons"])
    assert (record["seconds"]["lessons"], record["seconds"]["compiling"]) == (0.25 * count, 29.4 * count)
    head, row = (next(line for line in told.output.splitlines() if line.startswith(word)) for word in ("exp", "lines "))
    assert re.search(r"lessons +compiling +figures", head)
    assert re.search(rf"{0.25 * count:.1f} s +{29.4 * count:.1f} s", row)
    page = (tmp_path / "report.html").read_text()
    assert f">{29.4 * count:.1f} s<" in page and TIMES in page


def test_what_was_computed_beside_the_lessons_is_told_apart():
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), [0.0, 1.0], [1.0, 2.0], max_iterations=1, tol=None
    )
    timed = dataclasses.replace(lesson, elapsed=1.0, compiling=2.0)
    found = seconds_of([timed, timed], teaching=7.0, drawing=3.0)
    assert found == {"lessons": 1.0, "compiling": 2.0, "other": 4.0, "drawing": 3.0, "total": 10.0}


def test_the_fonts_of_the_figures_are_truetype(made):
    content = (made / "figures" / "lines.pdf").read_bytes()
    assert b"/CIDFontType2" in content and b"/Type3" not in content


def test_the_report_is_one_page_that_needs_nothing_else(tmp_path):
    summary = reproduce(["gmm", "faces"], tmp_path, **SHORT)
    page = (tmp_path / "report.html").read_text()
    assert not re.search(r'(?:src|href)="(?!data:image/png;base64,|#)', page)
    assert "<script" not in page
    assert page.count("data:image/png;base64,") == 2
    assert re.findall(r"Figure \d+\.", page) == ["Figure 1.", "Figure 2."]
    assert re.findall(r'href="#([^"]+)"', page) == re.findall(r'<h2 id="([^"]+)"', page) == ["overview", "gmm", "faces"]
    assert "published" in page
    assert "cut at 5 steps" in page
    for record in summary["experiments"].values():
        for figure in record["figures"]:
            assert figure["caption"].replace("'", "&#x27;") in page
        for note in record["notes"]:
            assert note[:40].replace("'", "&#x27;") in page
    assert "Stand-in for the published data" in page


def test_the_overview_explains_what_is_far_from_published(lines):
    def number(ratio, **more):
        return {"measured": None, "published": None, "ratio": ratio, **more}

    record = {
        "title": "A title",
        "lessons": [
            {"name": "near", "itd": number(1.04), "checkpoints": [number(None, step=5)], "differs": "it is not said"},
            {"name": "far", "itd": number(None), "checkpoints": [number(1.2, step=6000)], "differs": "the O is ours"},
        ],
        "quantities": [{"name": "rest", "differs": None} | number(0.8)],
    }
    assert comparisons(record) == [1.04, 1.2, 0.8]
    assert remarks([record]) == [
        "A title, far, t = 6,000: measured / published is 1.2000; the O is ours.",
        "A title, rest: measured / published is 0.8000; we do not know why.",
    ]
    assert headline([record]) == (
        "Of 3 published numbers, 0 are met within 0.1% and 1 within 5%; the other 2 are explained below the table."
    )
    assert headline([]) == ""
    assert f"<li>{escape(TIMES)}</li>" in (lines / "report.html").read_text()


def test_every_known_difference_has_its_reason():
    eight, zero, letter = digits.pictures(None)
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(0.5)), nimt.GreedyTeacher(), [0.0], [1.0], max_iterations=0, tol=None
    )
    found = PictureLessons(dict.fromkeys(digits.METHODS, lesson), (eight, zero, letter))
    differs = {taught.name: taught.summary()["differs"] for taught in digits.lessons(found)}
    assert {name for name, why in differs.items() if why} == {POOL, ALTERNATIVE}
    assert "our letter O stands in" in differs[ALTERNATIVE]
    assert data_in_words({"data": [vars(picture) for picture in found.pictures]}) == "published, stand-in: letter O"


def test_finished_experiments_are_kept(lines):
    written = (lines / "figures" / "lines.png").stat().st_mtime_ns
    ear = Ear()
    summary = reproduce(["lines", "planes"], lines, progress=ear, **SHORT)
    assert ear.states("lines") == ["kept"]
    assert ear.states("planes")[-1] == "finished"
    assert summary["run_now"] == ["planes"]
    assert set(summary["experiments"]) == {"lines", "planes"}
    assert (lines / "figures" / "lines.png").stat().st_mtime_ns == written
    # one that was not asked for stays in the report
    assert set(reproduce(["planes"], lines, **SHORT)["experiments"]) == {"lines", "planes"}


def spoil_figure(out):
    (out / "figures" / "lines.pdf").write_bytes(b"%PDF spoiled")


def lose_figure(out):
    (out / "figures" / "lines.png").unlink()


def cut_record(out):
    path = out / "records" / "lines.json"
    path.write_text(path.read_text()[:200])


def replace_record(out):
    (out / "records" / "lines.json").write_text("[1, 2]")


@pytest.mark.parametrize(
    "harm",
    [
        spoil_figure,
        cut_record,
        *(pytest.param(harm, marks=pytest.mark.exhaustive) for harm in (lose_figure, replace_record)),
    ],
)
def test_what_was_damaged_is_made_again(lines, harm):
    whole = (lines / "figures" / "lines.pdf").read_bytes()
    harm(lines)
    assert reproduce(["lines"], lines, **SHORT)["run_now"] == ["lines"]
    assert (lines / "figures" / "lines.pdf").read_bytes() == whole


def test_other_settings_make_another_result(lines):
    longer = reproduce(["lines"], lines, iterations=6, jobs=1)
    assert longer["run_now"] == ["lines"]
    assert longer["experiments"]["lines"]["lessons"][0]["steps"] == 6


def test_another_version_makes_another_result(lines, monkeypatch):
    monkeypatch.setattr("nimt.paper.finished.__version__", "99")
    assert reproduce(["lines"], lines, **SHORT)["run_now"] == ["lines"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
def test_an_interrupted_run_goes_on_with_the_rest(tmp_path, jobs):
    finished = []

    def interrupt(event):
        if event.state == "finished":
            finished.append(event.experiment)
        elif finished:
            raise KeyboardInterrupt

    names = ["lines", "planes", "spaces", "gmm"]
    with pytest.raises(KeyboardInterrupt):
        reproduce(names, tmp_path, iterations=5, jobs=jobs, progress=interrupt)
    assert finished
    kept = json.loads((tmp_path / "summary.json").read_text())
    assert finished[0] in kept["experiments"]
    assert EXPERIMENTS[finished[0]].title in (tmp_path / "report.html").read_text()
    rest = reproduce(names, tmp_path, iterations=5, jobs=1)
    assert finished[0] not in rest["run_now"]
    assert set(rest["experiments"]) == set(names)


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", ["[" * 100_000, '{"fingerprint": ' + "9" * 5000 + "}", "null", ""])
def test_a_record_that_cannot_be_read_is_made_again(tmp_path, text):
    (tmp_path / RECORDS).mkdir()
    (tmp_path / RECORDS / "lines.json").write_text(text)
    assert find_finished(tmp_path, "lines", "expected") is None


def test_finished_lessons_of_an_unfinished_experiment_are_kept(tmp_path):
    taught = []

    def interrupt(event):
        if event.state == "teaching" and event.lesson not in taught:
            taught.append(event.lesson)
            if len(taught) == 3:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(["digits"], tmp_path, progress=interrupt, **SHORT)
    assert [entry.teacher for entry in nimt.runs.Sweep.load(tmp_path).entries] == taught[:2]
    assert len(list((tmp_path / "lessons").iterdir())) == 2
    ear = Ear()
    again = reproduce(["digits"], tmp_path, progress=ear, **SHORT)
    told = {event.lesson for event in ear.events if event.state == "teaching"}
    assert told.isdisjoint(taught[:2])
    assert taught[2] in told
    assert list((tmp_path / "lessons").iterdir()) == [], "they are in the report now"
    fresh = reproduce(["digits"], tmp_path / "fresh", **SHORT)
    for a, b in zip(again["experiments"]["digits"]["lessons"], fresh["experiments"]["digits"]["lessons"], strict=True):
        assert a["checkpoints"] == b["checkpoints"]


def test_every_lesson_is_written_as_a_curve_and_as_a_file(lines):
    (first,) = (lines / RECORDS).glob("*.json")
    assert json.loads(first.read_text())["files_of_lessons"] is None and not list(lines.glob("lessons/**/*.csv"))
    found = reproduce(["lines"], lines, keep_lessons=True, **SHORT)["experiments"]["lines"]
    assert [one["name"] for one in found["files_of_lessons"]] == [one["name"] for one in found["lessons"]]
    for one, told in zip(found["files_of_lessons"], found["lessons"], strict=True):
        lesson = nimt.Lesson.load(lines / one["npz"])
        rows = [line.split(",") for line in (lines / one["csv"]).read_text().split()]
        assert rows[0] == ["step", "discrepancy"] and len(lesson) == told["steps"]
        assert [(int(step), float(value)) for step, value in rows[1:]] == list(enumerate(lesson.discrepancy.tolist()))
    ear = Ear()
    reproduce(["lines"], lines, keep_lessons=True, progress=ear, **SHORT)
    assert [event.state for event in ear.events] == ["kept"]


def test_lessons_that_draw_are_given_with_several_seeds(tmp_path):
    found = reproduce(["gmm"], tmp_path, seeds=3, keep_lessons=True, **SHORT)["experiments"]["gmm"]
    assert found["seeds"] and all("RFT" in one["name"] or "pool" in one["name"] for one in found["seeds"])
    for one in found["seeds"]:
        assert one["seeds"] == [0, 1, 2] and len(set(one["final"])) == 3
        (first,) = (lesson for lesson in found["lessons"] if lesson["name"] == one["name"])
        assert first["final"] == one["final"][0]
    assert len(found["files_of_lessons"]) == len(found["lessons"]) + 2 * len(found["seeds"])
    assert "Other seeds" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_other_widths_and_rates_leave_published_numbers_out(tmp_path):
    summary = reproduce(["lines"], tmp_path, width=1.0, learning_rate=0.1, keep_lessons=True, **SHORT)
    found = summary["experiments"]["lines"]
    lesson = nimt.Lesson.load(tmp_path / found["files_of_lessons"][0]["npz"])
    assert (lesson.learner.kernel.width, lesson.learner.learning_rate) == (1.0, 0.1)
    assert comparisons(found) == [] and found["lessons"][0]["checkpoints"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "kernel width 1, learning rate 0.1 instead of what was published" in page
    with pytest.raises(nimt.InvalidInput, match=r"width.*'kernel-width' compares several"):
        reproduce(["kernel-width"], tmp_path, width=1.0, **SHORT)
    with pytest.raises(nimt.InvalidInput, match="cannot be changed in its family"):
        reproduce(["mint-gmm"], tmp_path, width=1.0, family=True, **SHORT)


@pytest.mark.slow
def test_lessons_that_were_kept_make_the_same_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr("nimt.runs.runs_folder.RunsFolder.drop_lessons", lambda *_: None)
    first = reproduce(["boundary"], tmp_path, **SHORT)["experiments"]["boundary"]
    (tmp_path / RECORDS / "boundary.json").unlink()
    monkeypatch.setattr("nimt.paper.experiment.give", None)
    again = reproduce(["boundary"], tmp_path, **SHORT)["experiments"]["boundary"]
    for part in ("lessons", "quantities", "notes"):
        assert again[part] == first[part]


@pytest.mark.exhaustive
def test_processes_find_the_same_numbers(tmp_path):
    names = ["spaces", "lines"]
    one = reproduce(names, tmp_path / "one", iterations=20, jobs=1)
    ear = Ear()
    two = reproduce(names, tmp_path / "two", iterations=20, jobs=2, progress=ear)
    for name in names:
        assert ear.states(name)[-1] == "finished"
        for a, b in zip(one["experiments"][name]["lessons"], two["experiments"][name]["lessons"], strict=True):
            assert a["name"] == b["name"]
            assert a["checkpoints"] == b["checkpoints"]
            assert a["final"] == b["final"]
        for figure in one["experiments"][name]["figures"]:
            pages = [(tmp_path / run / figure["png"]).read_bytes() for run in ("one", "two")]
            assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"names": ["digit"]}, "did you mean 'digits'"),
        ({"names": ["lines"], "iterations": 0}, "iterations must be a whole number >= 1, got 0"),
        ({"names": ["lines"], "iterations": 2.5}, "iterations must be a whole number >= 1, got 2.5"),
        ({"names": ["lines"], "jobs": 0}, "jobs must be a whole number >= 1, got 0"),
        ({"names": ["lines"], "data": "no/such/folder"}, "no data folder 'no/such/folder'"),
    ],
)
def test_bad_input_is_refused_before_any_work(tmp_path, options, sentence):
    with pytest.raises(nimt.InvalidInput, match=re.escape(sentence)):
        reproduce(out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_output_folder(tmp_path):
    (tmp_path / "out").write_text("something else")
    with pytest.raises(nimt.InvalidInput, match="output folder"):
        reproduce(["lines"], tmp_path / "out", **SHORT)
    assert (tmp_path / "out").read_text() == "something else"


def test_one_name_may_be_given_as_text(tmp_path):
    assert list(reproduce("lines", tmp_path, **SHORT)["experiments"]) == ["lines"]


def run_command(*arguments):
    import typer

    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, [str(part) for part in arguments])


def test_the_command_lists_the_experiments():
    result = run_command("--list")
    assert result.exit_code == 0
    assert all(name in result.output for name in EXPERIMENTS)
    family = run_command("--family", "--list")
    assert all(name in family.output for name in FAMILY) and "cheetah" not in family.output


def test_the_command_prints_a_table(tmp_path):
    result = run_command("lines", "--iterations", 5, "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "lines" in result.output
    assert "report.html" in result.output
    again = run_command("lines", "--iterations", 5, "--jobs", 1, "--out", tmp_path)
    assert "kept" in again.output
    assert run_command("lines", "--iterations", 5, "--jobs", 1, "--out", tmp_path, "--quiet").output == ""
