"""The studio as files: lessons are computed in the browser, as the library computes them."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading

import numpy as np
import pytest

import nimt
from browsers import a_browser, a_page
from nimt.cli.app import run

pytestmark = pytest.mark.long

OVER = "() => window.studio && !studio.later && studio.racers.length && studio.racers.every((racer) => racer.over)"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """Hand the files of a folder out, as any web server does."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run(["studio", "--static", str(tmp_path / "file" / "page")]) == 2
    assert "cannot be made" in capsys.readouterr().err


def values_at(page, racer, step):
    return np.array(page.evaluate(f"Array.from(studio.racers[{racer}].valuesAt({step}))"))


def test_the_page_teaches_as_the_library_does_without_a_server(browser, tmp_path):
    assert run(["studio", "--static", str(tmp_path / "page")]) == 0
    problem = nimt.sources.read_problem("gmm", "gmm:start")
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5, initial=problem.initial)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target, tol=1e-4, snapshots=[40])
    asked = []
    with served(tmp_path / "page") as address, a_page(browser, viewport={"width": 1280, "height": 900}) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.add_init_script("try { localStorage.setItem('nimt-guided', 'yes') } catch {}")
        page.goto(address)
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
        page.select_option("#target-kind", "named:digit:0")
        page.wait_for_function(f"{OVER} && studio.racers[0].header.points === 784")
        digit = nimt.sources.read_problem("digit:0", "digit:8")
        learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5, initial=digit.initial)
        lesson = nimt.teach(learner, nimt.GreedyTeacher(), digit.pool, digit.target, tol=2.5e-4, snapshots=[99])
        assert page.evaluate("studio.racers[0].itd") == lesson.itd
        assert np.max(np.abs(values_at(page, 0, 99) - lesson.snapshots[99])) <= 1e-12
    assert all(url.startswith(address) for url in asked)
