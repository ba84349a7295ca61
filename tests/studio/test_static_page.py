"""The studio as files: lessons are computed in the browser, as the library computes them."""

from __future__ import annotations

import numpy as np
import pytest

import nimt
from browsers import a_browser, a_page
from nimt.cli.app import run

pytestmark = pytest.mark.long

OVER = "() => window.studio && !studio.later && studio.racers.length && studio.racers.every((racer) => racer.over)"


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run(["studio", "--static", str(tmp_path / "file" / "page")]) == 2
    assert "cannot be made" in capsys.readouterr().err


def test_the_page_is_one_file_that_names_no_other(tmp_path, capsys):
    assert run(["studio", "--static", str(tmp_path)]) == 0
    assert f"the studio is in {tmp_path / 'index.html'}" in " ".join(capsys.readouterr().out.split())
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "static/" not in page and "\nimport " not in page and "\nexport " not in page


def values_at(page, racer, step):
    return np.array(page.evaluate(f"Array.from(studio.racers[{racer}].valuesAt({step}))"))


def test_the_page_teaches_as_the_library_does_without_a_server(browser, tmp_path):
    assert run(["studio", "--static", str(tmp_path / "page")]) == 0
    problem = nimt.sources.read_problem("gmm", "gmm:start")
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5, initial=problem.initial)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target, tol=1e-4, snapshots=[40])
    asked = []
    with a_page(browser, viewport={"width": 1280, "height": 900}) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        page.goto((tmp_path / "page" / "index.html").as_uri())  # from a disk, without any server
        page.wait_for_function(OVER)
        assert page.evaluate("[studio.clock.playing, studio.racers[0].itd]") == [True, lesson.itd]
        shown = page.evaluate("Array.from(studio.racers[0].lesson.indices.view)")
        assert shown == lesson.indices[:, 0].tolist()
        assert np.max(np.abs(values_at(page, 0, 40) - lesson.snapshots[40])) <= 1e-12
        assert page.evaluate("studio.racers[1].itd") > 3 * lesson.itd
        page.evaluate("studio.seek(40)")
        page.click("#do-fork-rate")
        page.wait_for_function(f"{OVER} && studio.racers.length === 3")
        assert page.evaluate("[studio.racers[2].offset, studio.racers[2].header.rate]") == [40, 0.25]
        np.testing.assert_array_equal(values_at(page, 2, 40), values_at(page, 0, 40))
        page.click("#be-teacher")
        page.wait_for_function("() => studio.time.alone && studio.racers[1]?.over && studio.racers[0].taken === 0")
        for point in shown[:12]:
            page.evaluate(f"studio.lessons.show({point})")
        page.wait_for_function("() => document.getElementById('said').textContent.includes('as fast as greedy!')")
        bent = [[-3, 3, 121], [float(np.sign(np.sin(3 * x))) for x in np.linspace(-3, 3, 121)]]
        asked_for = {"target": {"kind": "drawn", "axes": bent[:1], "values": bent[1]}, "start": {"kind": "zero"}}
        rules = {"kernel": "rbf", "width": 0.4, "loss": "square", "steps": 2000, "tol": 1e-3}
        page.evaluate(
            "(request) => studio.start(request)",
            asked_for | {"rules": rules, "racers": [{"teacher": "greedy", "k": 1, "rate": 0.5}]},
        )
        page.wait_for_selector("#narrow:visible")
        assert "the forecast is M < 0.001 after " in page.inner_text("#narrow")
        page.select_option("#target-kind", "named:digit:0")
        page.wait_for_function(f"{OVER} && studio.racers[0].header.points === 784")
        digit = nimt.sources.read_problem("digit:0", "digit:8")
        learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5, initial=digit.initial)
        lesson = nimt.teach(learner, nimt.GreedyTeacher(), digit.pool, digit.target, tol=2.5e-4, snapshots=[99])
        assert page.evaluate("studio.racers[0].itd") == lesson.itd
        assert np.max(np.abs(values_at(page, 0, 99) - lesson.snapshots[99])) <= 1e-12
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == asked[:1]
