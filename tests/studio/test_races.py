"""What the studio sends is what the library teaches."""

import io
import json
import re
import shlex
import threading
import time
import warnings

import numpy as np
import pytest
from PIL import Image

import nimt
from nimt.errors import InvalidInput
from nimt.studio import lists, races, requests, server
from nimt.studio.racer import Racer
from nimt.studio.requests import read_recipe, read_recipes, read_setting
from nimt.studio.server import read_shipped_files
from nimt.studio.stored_frames import MOST_FRAMES, Frames
from studio.conftest import unpack

pytestmark = pytest.mark.long


def taught(racer=None, target="gmm", start="gmm:start", **rules):
    problem = nimt.sources.read_problem(target, start)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=problem.initial)
    rules = {"max_iterations": 5000, "tol": 1e-4} | rules
    return nimt.teach(learner, racer or nimt.GreedyTeacher(), problem.pool, problem.target, **rules)


def test_a_race_is_the_lesson(studio, mixture):
    mixture["racers"].append({"teacher": "random", "rate": 0.01, "k": 3})
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until_over(2)
    for number, teacher in enumerate((nimt.GreedyTeacher(), nimt.RandomTeacher(k=3))):
        lesson = taught(teacher)
        np.testing.assert_array_equal(talk.joined(number, "indices"), lesson.indices.ravel())
        np.testing.assert_array_equal(talk.joined(number, "curve"), lesson.discrepancy[1:])
        header, blocks = talk.racers[number]
        values = np.array(blocks["initial"])
        kernel = nimt.rbf(0.5)(lesson.pool.points)
        added = np.zeros(len(values))
        np.add.at(added, talk.joined(number, "indices"), talk.joined(number, "coefficients"))
        np.testing.assert_allclose(values + kernel @ added, lesson.final, atol=1e-10)
        assert header["pack"] == (1, 3)[number]
    assert talk.status[0]["said"] == str(nimt.lesson.Outcome.CONVERGED)
    assert talk.status[0]["taken"] == 3056


def test_what_is_told_in_frames_is_the_lesson_too(studio, mixture):
    mixture["racers"] = [{"teacher": "greedy", "k": 1.0, "rate": 0.01}, {"teacher": "greedy", "learner": "orthogonal"}]
    mixture["rules"]["steps"] = 600
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until_over(2)
    lesson = taught(nimt.GreedyTeacher(k=1.0), max_iterations=600, snapshots=[1, 600])
    frames = {frame["step"]: blocks["values"].reshape(len(header["frames"]), -1)[place]
              for header, blocks in talk.steps[0] for place, frame in enumerate(header.get("frames", []))}  # fmt: skip
    assert frames.keys() >= {1, 2, 3, 600}
    np.testing.assert_allclose(frames[1], lesson.snapshots[1], rtol=1e-6)
    np.testing.assert_allclose(frames[600], lesson.snapshots[600], rtol=1e-5, atol=1e-7)
    assert talk.racers[1][0]["kernel"] == "frames"


def test_a_person_teaches(studio, mixture):
    mixture["racers"] = [{"teacher": "you", "rate": 0.01}]
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until(lambda it: 0 in it.racers)
        race = talk.racers[0][0]["race"]
        for point in (40, 120, 40):
            talk.say(type="show", race=race, racer=0, point=point)
        talk.until(lambda it: sum(len(b["curve"]) for _, b in it.steps[0]) == 3)
        assert talk.joined(0, "indices").tolist() == [40, 120, 40]
        for nonsense in (-1, 280, "4", None, 1.5, True):
            talk.say(type="show", race=race, racer=0, point=nonsense, request=7)
            said = talk.hear()[0]
            while said["type"] != "refused":
                said = talk.hear()[0]
            assert "there is no point" in said["said"]
    x = nimt.sources.read_problem("gmm", "gmm:start")
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=x.initial)

    class Told:
        def select(self, view):
            return view.show([(40, 120, 40)[view.step]])

    lesson = nimt.teach(learner, Told(), x.pool, x.target, max_iterations=3, tol=None)
    np.testing.assert_allclose(talk.joined(0, "curve"), lesson.discrepancy[1:], rtol=1e-12)


def test_a_point_shown_while_the_lesson_gets_ready_is_its_first_step(monkeypatch):
    setting = read_setting({"kind": "named", "name": "gmm"}, {"kind": "named", "name": "gmm:start"}, {})
    racer = Racer(read_recipe({"steps": 9, "tol": None}, {"teacher": "you", "rate": 0.01}), setting)
    make, began = racer._make_session, threading.Event()

    def make_slowly(task):
        began.set()
        time.sleep(0.2)
        return make(task)

    monkeypatch.setattr(racer, "_make_session", make_slowly)
    ready = threading.Thread(target=racer.begin)
    ready.start()
    began.wait()
    racer.show(40)
    ready.join()
    assert racer.taken == 1 and len(racer.curve.part(0, 9)) == 2  # at the start, and after one step


def test_a_fork_goes_on_from_its_step(studio, mixture):
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until_over()
        race = talk.racers[0][0]["race"]
        for change in ({"rate": 0.1}, {"teacher": "random"}, {"target": [[30, 0.4]]}):
            talk.say(type="fork", race=race, racer=0, step=450, change=change)
        talk.until(lambda it: len(it.racers) == 4 and all(it.steps.values()))
    before = taught(max_iterations=450, tol=None)
    for number in (1, 2, 3):
        header, blocks = talk.racers[number]
        assert header["parent"] == 0 and header["offset"] == 450
        np.testing.assert_allclose(blocks["initial"], before.final, atol=1e-14)
    assert talk.racers[1][0]["rate"] == 0.1
    assert talk.racers[3][1]["target"][30] == 0.4


def test_a_page_that_comes_back_picks_its_race_up(studio, mixture):
    mixture["racers"].append({"teacher": "random", "rate": 0.01})
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until(lambda it: it.steps.get(0))
        race = talk.racers[0][0]["race"]
        have = talk.joined(0, "curve")
    with studio.talk() as again:
        again.say(type="resume", race=race, known=[[len(have), 0]])
        again.until_over(2)
    assert 0 not in again.racers and 1 in again.racers  # the first was still there
    whole = np.concatenate([have, again.joined(0, "curve")]) if again.steps.get(0) else have
    np.testing.assert_array_equal(whole, taught().discrepancy[1:])


def test_a_divergence_is_a_sentence(studio, mixture):
    mixture["racers"][0]["rate"] = 3.0
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until_over()
    assert talk.status[0]["said"] == str(nimt.lesson.Outcome.DIVERGED)
    assert "learning rate" in talk.steps[0][0][0]["notes"][0]


def test_races_nobody_looks_at_are_stopped(studio, mixture, monkeypatch):
    with studio.talk("one-who-leaves") as talk:
        talk.say(**mixture)
        talk.until(lambda it: 0 in it.racers)
        name = talk.racers[0][0]["race"]
    time.sleep(0.2)
    assert name in studio.classroom.races
    monkeypatch.setattr(races, "PATIENCE", 0.05)
    end = time.monotonic() + 10
    while name in studio.classroom.races:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_two_races_per_browser(studio, mixture):
    mixture["rules"] |= {"steps": 1_000_000, "tol": None}
    with studio.talk("greedy-browser") as talk:
        for _ in range(5):
            talk.say(**mixture)
            while talk.hear()[0]["type"] != "started":
                pass
        mine = [race for race in studio.classroom.races.values() if race.browser == "greedy-browser"]
        assert len(mine) == 2
        for race in mine:
            talk.say(type="leave", race=race.name)
            studio.classroom.races.pop(race.name, None)  # unless it has ended by now


def test_what_is_described_is_what_is_taught(studio):
    request = {"target": {"kind": "formula", "text": "sin(x)", "axes": [[-3, 3, 61]]},
            "start": {"kind": "zero"}, "rules": {"width": 0.5}}  # fmt: skip
    status, body = studio.post_json("/describe", request)
    assert status == 200
    header, blocks = unpack(body)
    np.testing.assert_allclose(blocks["target"], np.sin(np.linspace(-3, 3, 61)))
    assert header["safe"] == pytest.approx(0.5)
    assert blocks["profile"][60] == 1.0


def test_no_forecast_is_made_where_steps_overshoot(studio, mixture):
    """The page says that instead, and the library would warn once more."""
    asked = {name: mixture[name] for name in ("target", "start", "rules")}
    for rate, is_forecast in ((0.3, True), (0.8, False)):
        status, body = studio.post_json("/forecast", asked | {"racer": {"teacher": "greedy", "rate": rate}})
        assert status == 200 and (json.loads(body)["said"] is not None) is is_forecast, body


def test_every_export(studio, mixture, tmp_path):
    with studio.talk() as talk:
        talk.say(**mixture)
        talk.until_over()
        race = talk.racers[0][0]["race"]
        status, headers, body = studio.ask("GET", f"/export/{race}/0/lesson.npz")
        assert status == 200 and "attachment" in headers["content-disposition"]
        (tmp_path / "lesson.npz").write_bytes(body)
        lesson = nimt.Lesson.load(tmp_path / "lesson.npz")
        np.testing.assert_array_equal(lesson.indices, taught().indices)
        status, _, page = studio.ask("GET", f"/export/{race}/0/replay.html")
        assert status == 200 and b"<!doctype html>" in page[:20]
        status, _, gif = studio.ask("GET", f"/export/{race}/0/lesson.gif")
        assert status == 200 and gif[:6] == b"GIF89a"
        assert Image.open(io.BytesIO(gif)).n_frames > 30
        assert studio.ask("GET", f"/export/{race}/0/passwd")[0] == 404
        assert studio.ask("GET", f"/export/{race}/7/lesson.npz")[0] == 422
    boundary = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.npz"\r\n\r\n'
    status, _, body = studio.ask("POST", "/file", boundary + (tmp_path / "lesson.npz").read_bytes() + b"\r\n--x--\r\n",
                                 Content_Type="multipart/form-data; boundary=x")  # fmt: skip
    assert status == 200
    header, blocks = unpack(body)
    assert header["itd"] == 3056 and len(blocks["indices"]) == 3056


DRAWN = {"kind": "drawn", "axes": [[0, 1, 5]], "values": [0, 0.5, 1, 0.5, 0]}
PLANE = {"kind": "formula", "text": "x * y", "axes": [[-1, 1, 8], [-1, 1, 9]]}


@pytest.mark.parametrize(
    ("target", "start", "racer", "rules", "classes"),
    [
        ({"kind": "named", "name": "gmm"}, {"kind": "named", "name": "gmm:start"}, {"rate": 0.01}, {}, False),
        (DRAWN, {"kind": "zero"}, {"teacher": "soft", "temperature": 0.3}, {"width": 0.2}, False),
        (PLANE, {"kind": "formula", "text": "0.1"}, {"teacher": "synthesis"}, {}, False),
        (
            PLANE,
            {"kind": "zero"},
            {"teacher": "random", "k": 0.2, "share": 0.5, "rate": 0.1},
            {"loss": "logistic"},
            True,
        ),
        ({"kind": "named", "name": "gmm"}, {"kind": "zero"}, {"learner": "orthogonal"}, {}, False),
        (
            {"kind": "named", "name": "gmm"},
            {"kind": "named", "name": "gmm:start"},
            {"teacher": "classroom", "learner": "classroom", "rate": 0.2},
            {},
            False,
        ),
        (PLANE, {"kind": "zero"}, {"teacher": "uncertainty"}, {"loss": "hinge"}, True),  # "auto" has no safe rate here
    ],
)
def test_the_copied_python_gives_the_same_lesson(studio, target, start, racer, rules, classes):
    rules = {"steps": 300, "tol": 1e-4, "seed": 3} | rules
    with studio.talk() as talk:
        talk.say(type="race", target=target, start=start, rules=rules, racers=[racer], classes=classes)
        talk.until_over()
    status, body = studio.post_json("/code", {"target": target, "start": start, "rules": rules, "racer": racer,
                                              "classes": classes})  # fmt: skip
    assert status == 200
    names = {}
    exec(compile(json.loads(body)["python"].replace("print(lesson)", ""), "copied", "exec"), names)
    np.testing.assert_array_equal(talk.joined(0, "curve"), names["lesson"].discrepancy[1:])


def run_copied(studio, body, **more):
    """Run the copied command and return its lesson."""
    from nimt.cli.app import run

    command = json.loads(studio.post_json("/code", body)[1])["command"]
    assert run([*shlex.split(command)[1:], "--out", "here", "--quiet"]) == 0
    return nimt.Lesson.load("here/lesson.npz")


def test_the_copied_command_gives_the_same_lesson(studio, mixture, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rules = mixture["rules"] | {"steps": 200, "tol": 0.0045}  # met on the way, by the same measure
    body = {"target": mixture["target"], "start": mixture["start"], "rules": rules, "racer": mixture["racers"][0]}
    lesson = run_copied(studio, body)
    expected = taught(max_iterations=200, tol=0.0045)
    np.testing.assert_array_equal(lesson.indices, expected.indices)
    assert lesson.itd == expected.itd is not None


def test_what_the_command_line_cannot_say_is_said(studio, mixture):
    body = {"target": mixture["target"], "start": mixture["start"], "rules": mixture["rules"]}
    for racer, expected in (
        ({"teacher": "soft", "temperature": 0.3}, "nimt teach gmm --from gmm:start --teacher soft --temperature 0.3"),
        ({"learner": "orthogonal"}, "nimt teach gmm --from gmm:start --learner orthogonal"),
        ({"teacher": "you"}, "# the command line has no such lesson: copy it as Python"),
    ):
        command = json.loads(studio.post_json("/code", body | {"racer": racer})[1])["command"]
        assert command.startswith(expected)


def test_what_the_page_offers_is_what_the_classes_are_and_can_race(monkeypatch):
    page = read_shipped_files()["index.html"][0].decode()
    offered = json.loads(re.search(r'id="lists">(.*?)</script>', page)[1])
    assert offered == lists.list_choices()
    assert {way["request"]["teacher"] for way in offered["ways"]} == {*requests.teachers()} - {requests.PERSON}
    assert offered["losses"] == list(requests.LOSSES_OF_ONE_OUTPUT)
    setting = requests.read_setting({"kind": "named", "name": "gmm"}, {"kind": "zero"}, {})
    for way in offered["ways"]:
        Racer(read_recipe({"steps": 5}, way["request"]), setting)
    for kernel in offered["kernels"]:
        Racer(read_recipe({"steps": 5, "kernel": kernel}, {}), setting)
    monkeypatch.setattr(lists, "teachers", lambda: ("greedy", "omniscient"))
    assert [way["says"] for way in lists.list_choices()["ways"]][:2] == ["greedy", "omniscient"]  # a new one appears


def test_a_lesson_that_waits_to_be_compiled_holds_up_no_other(mixture):
    """The thread that teaches takes no racer before it is ready; a lesson that has not begun says so."""
    room = races.RaceRunner()
    asked = requests.read_recipes(mixture["rules"], [{"rate": 0.01}, {"teacher": "random", "rate": 0.01}])
    setting = requests.read_setting(mixture["target"], mixture["start"], {})
    race = room.start("me", asked, setting)
    first, second = race.racers
    with pytest.raises(InvalidInput, match="has not begun"):
        first.lesson()
    assert first.values_at(5)[0] == 0 and first.introduction().header["points"] == len(setting.pool)
    first.begin()
    assert first.is_begun and first.taken == 1 and not second.is_begun and second.walk is None
    with pytest.raises(InvalidInput, match="has not begun"):
        second.lesson()


def test_a_small_lesson_begins_in_the_plain_loop_while_another_process_compiles(mixture, monkeypatch):
    """It shows the same examples, and what is compiled in the meantime changes nothing."""
    compiled = threading.Event()

    class Compiler:
        is_running = True

        def rest(self):
            pass

        close = rest

    begin = Racer.begin

    def begin_late(racer):
        assert compiled.wait(60)
        begin(racer)

    monkeypatch.setattr(Racer, "begin", begin_late)
    monkeypatch.setattr(races.RaceRunner, "_usual_kinds", staticmethod(lambda: iter(())))
    room = races.RaceRunner(Compiler())
    setting = requests.read_setting(mixture["target"], mixture["start"], {})
    kinds = [{"rate": 0.5}, {"teacher": "random", "rate": 0.5}, {"k": 1.0, "rate": 0.01}]
    room.open()
    try:
        race = room.start("me", requests.read_recipes(mixture["rules"] | {"steps": 2000}, kinds), setting)
        small, large = race.racers[:2], race.racers[2]
        end = time.monotonic() + 60
        while not all(racer.over for racer in small):
            assert time.monotonic() < end
            time.sleep(0.01)
        assert not large.can_begin_plainly and not large.is_begun
        compiled.set()
        while not large.over:
            assert time.monotonic() < end
            time.sleep(0.01)
    finally:
        compiled.set()
        room.close()
    for racer in small:
        again = Racer(racer.recipe, setting)
        again.begin()
        again.take(2000)
        assert racer.lesson().settings["engine"] == "reference" != again.lesson().settings["engine"]
        np.testing.assert_array_equal(racer.lesson().indices, again.lesson().indices)
        np.testing.assert_allclose(racer.curve.part(0, 2001), again.curve.part(0, 2001), rtol=1e-9)
        assert len(racer.curve.part(0, 2001)) == racer.taken + 1 == again.taken + 1


def test_compiling_is_said_only_while_someone_waits(mixture, monkeypatch):
    room = races.RaceRunner()
    assert not room.is_compiling
    room._at_work_since = time.monotonic()
    assert not room.is_compiling  # it may be loaded in a moment
    monkeypatch.setattr(races, "LOADING", 0.0)
    assert room.is_compiling
    setting = requests.read_setting(mixture["target"], mixture["start"], {})
    race = room.start("me", requests.read_recipes(mixture["rules"], mixture["racers"]), setting)
    assert room.is_compiling
    race.racers[0].begin()
    assert not room.is_compiling


def test_code_of_a_dropped_picture_names_it(studio, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Image.fromarray((255 * PHOTO).astype(np.uint8)).save("photo of mine.png")
    answer = dropped(studio, (255 * PHOTO).astype(np.uint8))
    target = {"kind": "file", "id": answer["id"], "name": "photo of mine.png"}
    request = {"target": target, "start": {"kind": "zero"}, "rules": {"steps": 30, "tol": None}}
    racer = {"teacher": "random", "k": 3, "rate": 0.1}
    with studio.talk() as talk:
        talk.say(type="race", racers=[racer], **request)
        talk.until_over()
    names = {}
    python = json.loads(studio.post_json("/code", request | {"racer": racer})[1])["python"]
    exec(compile(python.replace("print(lesson)", ""), "copied", "exec"), names)
    np.testing.assert_array_equal(talk.joined(0, "indices"), names["lesson"].indices.ravel())
    np.testing.assert_array_equal(run_copied(studio, request | {"racer": racer}).indices, names["lesson"].indices)


@pytest.mark.parametrize(
    "start", [{"kind": "formula", "text": "x / 9"}, {"kind": "drawn", "values": [0.1, 1 / 3, 0, 1, 2]}]
)
def test_the_copied_python_of_a_fork_of_a_fork(studio, start):
    rules = {"steps": 80, "tol": None, "width": 0.4}
    asked = {"target": DRAWN, "start": start, "rules": rules}
    with studio.talk() as talk:
        talk.say(type="race", racers=[{"teacher": "random", "rate": 0.05}], **asked)
        talk.until_over()
        race = talk.racers[0][0]["race"]
        talk.say(type="fork", race=race, racer=0, step=30, change={"target": [[2, 0.25], [4, -1]]})
        talk.until(lambda it: it.status.get(1, {}).get("over"))
        talk.say(type="fork", race=race, racer=1, step=20, change={"rate": 0.2})
        talk.until(lambda it: it.status.get(2, {}).get("over"))
        body = asked | {"racer": {}, "race": race, "number": 2}
        code = json.loads(studio.post_json("/code", body)[1])
    assert [talk.racers[number][0]["offset"] for number in range(3)] == [
        0,
        30,
        50,
    ]  # counted from the start of the race
    names = {}
    exec(compile(code["python"].replace("print(lesson)", ""), "copied", "exec"), names)
    assert "forked has no command" in code["command"]
    np.testing.assert_allclose(talk.joined(2, "curve"), names["lesson"].discrepancy[1:], rtol=1e-9)


def pictures(steps, side):
    """Frames of a picture that comes nearer to its target with every step."""
    pool = nimt.Grid(np.arange(side), np.arange(side))
    target = np.random.default_rng(0).uniform(size=side * side)
    frames = Frames(pool, target)
    for step in range(1, steps + 1):
        if step == frames.next:
            frames.keep(step, target * (1 - 0.99**step))
    return frames, target


def test_the_page_names_every_script_it_loads():
    """Named on the page they come at once; otherwise one after the other, as each is seen to be needed."""
    pages = read_shipped_files()
    named = set(re.findall(rb'static/([\w-]+\.js)"', pages["index.html"][0]))
    loaded, open_ones = set(), {b"studio.js"}
    while open_ones:
        name = open_ones.pop()
        loaded.add(name)
        open_ones |= set(re.findall(rb'from "\./([\w-]+\.js)"', pages[name.decode()][0])) - loaded
    assert named == loaded


@pytest.mark.parametrize("steps", [3, 399, 5000])
def test_frames_are_few_and_evenly_spaced_after_the_first(steps):
    frames, _ = pictures(steps, 12)
    kept = [frame.step for frame in frames.kept]
    assert len(kept) <= MOST_FRAMES and kept[:16] == list(range(1, min(steps, 16) + 1)) and kept[-1] > 0.98 * steps
    assert set(np.diff(kept[20:])) <= {frames.every}
    assert len(kept) > min(steps, MOST_FRAMES) // 2 - 16  # enough of them for 30 per second in ten seconds


def test_a_large_picture_is_sent_shrunk_in_256_levels():
    frames, target = pictures(40, 400)  # 400 x 400 are more than a canvas shows
    assert frames.shrink == 2
    small = target.reshape(200, 2, 200, 2).mean(axis=(1, 3)).ravel()
    for frame in frames.kept:
        assert frame.data.dtype == np.uint8 and frame.data.size == 200 * 200
        gap = frame.low + frame.scale * frame.data
        exact = -small * 0.99**frame.step
        assert np.max(np.abs(gap - exact)) <= 0.5 * np.ptp(exact) / 255 * (1 + 1e-9)  # finer as f comes nearer


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e300])
def test_a_frame_of_what_diverged_can_be_sent(value):
    frames, target = pictures(1, 400)
    frames.keep(2, np.where(target > 0.5, value, target))
    assert np.isfinite([frames.kept[-1].low, frames.kept[-1].scale]).all()


def test_a_racer_is_warned_without_catching_the_warnings_of_all_threads(monkeypatch):
    setting = read_setting({"kind": "named", "name": "gmm"}, {"kind": "named", "name": "gmm:start"}, {})
    racer = Racer(read_recipe({"steps": 9, "tol": None}, {"rate": 50.0}), setting)
    monkeypatch.setattr(warnings, "catch_warnings", None)
    racer.begin()
    assert racer.error is None
    assert "learning rate 50 is above" in racer.notes[0]


def test_a_racer_knows_its_values_at_any_step():
    setting = read_setting({"kind": "named", "name": "digit:0"}, {"kind": "named", "name": "digit:8"}, {})
    racer = Racer(read_recipe({"steps": 300, "tol": None}, {"rate": 0.05}), setting)
    while not racer.over:
        racer.slice()
    lesson = nimt.teach(racer.learner, nimt.GreedyTeacher(), setting.pool, setting.target, max_iterations=300, tol=None,
                        snapshots=[0, 17, 300])  # fmt: skip
    for step, values in lesson.snapshots.items():
        np.testing.assert_allclose(racer.values_at(step)[1], values, atol=1e-13)


ROWS, COLUMNS = np.mgrid[:9, :12]
PHOTO = np.stack([ROWS / 8, COLUMNS / 11, 1 - ROWS / 16], axis=2)
COLOURS = {
    "kind": "drawn", "axes": [[0, 8, 9], [0, 11, 12]], "outputs": 3, "values": PHOTO.ravel().round(3).tolist(),
}  # fmt: skip
BOUNDARY = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'


def dropped(studio, picture):
    content = io.BytesIO()
    Image.fromarray(picture).save(content, "PNG")
    form = {"Content_Type": "multipart/form-data; boundary=x"}
    status, _, body = studio.ask("POST", "/file", BOUNDARY + content.getvalue() + b"\r\n--x--\r\n", **form)
    assert status == 200
    return json.loads(body)


@pytest.mark.parametrize("racer", [{"k": 1}, {"k": 3, "teacher": "random"}, {"k": "whole"}, {"learner": "orthogonal"}])
def test_colours_are_raced_as_they_are_taught(studio, racer):
    rules = {"steps": 120, "tol": None, "width": 0.7, "seed": 2}
    request = {"target": COLOURS, "start": {"kind": "zero"}, "rules": rules}
    with studio.talk() as talk:
        talk.say(type="race", racers=[racer], **request)
        talk.until_over()
    header, blocks = talk.racers[0]
    assert header["outputs"] == 3 and header["view"] == "picture"
    np.testing.assert_array_equal(blocks["target"], COLOURS["values"])
    _, body = studio.post_json("/code", request | {"racer": racer})
    names = {}
    exec(compile(json.loads(body)["python"].replace("print(lesson)", ""), "copied", "exec"), names)
    lesson = names["lesson"]
    assert lesson.final.shape == (108, 3)
    np.testing.assert_allclose(talk.joined(0, "curve"), lesson.discrepancy[1:], rtol=1e-12)
    if header["kernel"] == "frames":
        values = talk.steps[0][-1][1]["values"].reshape(-1, 108, 3)[-1]
        np.testing.assert_allclose(values, lesson.final, atol=1e-6)
        return
    added = np.zeros((108, 3))
    np.add.at(added, talk.joined(0, "indices"), talk.joined(0, "coefficients").reshape(-1, 3))
    np.testing.assert_allclose(nimt.rbf(0.7)(lesson.pool.points) @ added, lesson.final, atol=1e-10)


def test_a_dropped_photo_is_raced_in_colour_and_a_grey_one_in_grey(studio):
    answer = dropped(studio, (255 * PHOTO).astype(np.uint8))
    assert answer["outputs"] == 3
    grey = dropped(studio, np.repeat((255 * PHOTO[:, :, :1]).astype(np.uint8), 3, axis=2))
    assert grey["outputs"] == 1
    files = {"colour": {"kind": "file", "id": answer["id"]}, "grey": {"kind": "file", "id": grey["id"]}}
    for target, start, outputs in (("colour", "grey", 3), ("grey", "colour", 1)):
        request = {"target": files[target], "start": files[start], "rules": {"width": 0.5}}
        status, body = studio.post_json("/describe", request)
        header, blocks = unpack(body)
        assert status == 200 and header["outputs"] == outputs
        assert len(blocks["initial"]) == len(blocks["target"]) == outputs * header["points"]


@pytest.mark.parametrize("racer_request", [{}, {"k": 1.0}, {"learner": "orthogonal"}])
def test_an_animation_shows_the_lesson_on_its_way(racer_request):
    setting = read_setting(COLOURS, {"kind": "zero"}, {})
    racer = Racer(read_recipe({"steps": 40, "tol": None, "width": 0.7}, racer_request), setting)
    while not racer.over:
        racer.take(7)
    snapshots = racer.animate().snapshots
    assert len(snapshots) > 10 and max(snapshots) == 40
    for step in (1, 5, 40):
        known, values = racer.values_at(step)
        np.testing.assert_allclose(snapshots[step], values, atol=1e-12)
        assert known == step


@pytest.mark.parametrize("racer_request", [{}, {"k": 1.0}, {"learner": "orthogonal"}])
def test_a_colour_racer_knows_its_values_and_can_be_forked(racer_request):
    setting = read_setting(COLOURS, {"kind": "zero"}, {})
    racer = Racer(read_recipe({"steps": 40, "tol": None, "width": 0.7}, racer_request), setting)
    while not racer.over:
        racer.take(7)
    step, values = racer.values_at(40)
    assert step == 40
    np.testing.assert_allclose(values, racer.lesson().final, atol=1e-6)
    room = races.RaceRunner()
    race = room.start("me", [read_recipe({"steps": 40, "tol": None, "width": 0.7}, racer_request)], setting)
    race.racers[0] = racer
    number = room.fork(race, 0, 20, {"target": [[5, 0.25]]})
    fork = race.racers[number]
    assert fork.setting.target[5].tolist() == [0.25] * 3
    while fork.taken < 5:  # a racer that is told in frames stops at each
        fork.take(5 - fork.taken)
    assert fork.taken == 5 and fork.error is None


@pytest.mark.parametrize(
    ("target", "start", "classes", "said"),
    [
        (COLOURS | {"outputs": 2}, {"kind": "zero"}, False, "one output or three, got 2"),
        (COLOURS | {"outputs": 1}, {"kind": "zero"}, False, "324 values and 108 points"),
        (COLOURS, {"kind": "zero"}, True, "two classes are of one output"),
    ],
)
def test_colours_that_are_none(target, start, classes, said):
    with pytest.raises(nimt.InvalidInput, match=said):
        read_setting(target, start, {}, classes)


def test_a_class_of_forty_watches_its_races_at_once():
    room = races.RaceRunner()
    recipes = read_recipes({"steps": 5}, [{"teacher": "greedy"}, {"teacher": "random"}])
    setting = read_setting({"kind": "named", "name": "gmm"}, {"kind": "zero"}, {})
    for number in range(40):
        room.start(f"browser {number}", recipes, setting).watchers = 1
    assert len(room.races) == 40 and server.MOST_TALKS >= 40


def test_a_race_that_its_page_leaves_for_another_is_not_taught_on(studio, mixture):
    with studio.talk("leaves-one") as talk:
        talk.say(**mixture | {"rules": {"width": 0.5, "steps": 1_000_000, "tol": None}, "request": 1})
        talk.until(lambda talk: talk.racers)
        names = [name for name, race in studio.classroom.races.items() if race.browser == "leaves-one"]
        talk.say(type="leave", race=names[0])
        talk.say(type="nonsense", request=2)
        while talk.hear()[0].get("request") != 2:  # what was said before it has been done
            pass
        assert names[0] not in studio.classroom.races
