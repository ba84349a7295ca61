"""The experiments of the family: several outputs at once, in a registry and a report of their own."""

import json

import numpy as np
import pytest

import nimt
from nimt.datasets import astronaut
from nimt.errors import InvalidInput
from nimt.paper import EXPERIMENTS, FAMILY, reproduce
from nimt.paper.experiment import PaperSetting
from nimt.paper.registry import choose_experiments
from nimt.paper.several_outputs import EACH, MIXED, SHARED, first_below, rms, together

pytestmark = pytest.mark.long


def test_names_belong_to_one_registry():
    assert not set(EXPERIMENTS) & set(FAMILY)
    assert choose_experiments(None, family=True) == list(FAMILY) and choose_experiments(None) == list(EXPERIMENTS)
    with pytest.raises(InvalidInput, match="belongs to another report: ask for it with family"):
        choose_experiments(["mint-rgb"])
    with pytest.raises(InvalidInput, match="belongs to another report: ask for it without family"):
        choose_experiments(["gmm"], family=True)
    with pytest.raises(InvalidInput, match="did you mean 'mint-rgb'"):
        choose_experiments(["mint-rbg"], family=True)


@pytest.mark.slow
def test_the_report_of_the_family(tmp_path):
    summary = reproduce(["mint-gmm"], tmp_path, iterations=50, jobs=1, family=True)
    assert list(summary["experiments"]) == ["mint-gmm"] and summary["family"]
    assert json.loads((tmp_path / "summary.json").read_text())["experiments"]["mint-gmm"]["notes"]
    page = (tmp_path / "report.html").read_text()
    assert "several outputs taught at once" in page and "MINT" in page
    again = reproduce(["mint-gmm"], tmp_path, iterations=50, jobs=1, family=True)
    assert again["run_now"] == []


def test_lessons_of_single_outputs_are_the_lesson_of_each_output():
    """What the experiments draw as examples of each output is what PerOutput does, and so are its steps."""
    x = nimt.Grid(np.linspace(-3, 3, 60))
    target = np.column_stack([np.sin(x.points[:, 0]), np.cos(2 * x.points[:, 0])])
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.05)
    lesson = nimt.teach(learner, nimt.teachers.PerOutput(nimt.GreedyTeacher()), x, target, max_iterations=300, tol=None)
    alone = [nimt.teach(learner, nimt.GreedyTeacher(), x, target[:, o], max_iterations=300, tol=None) for o in range(2)]
    np.testing.assert_allclose(together(alone), lesson.discrepancy, rtol=1e-11)
    again = nimt.teach(
        learner, nimt.teachers.PerOutput(nimt.GreedyTeacher()), x, target, max_iterations=300, measure="rms", tol=0.2
    )
    assert first_below(rms(together(alone), target), 0.2) == again.itd


def test_the_photo_ships_in_colour():
    photo = astronaut()
    assert photo.values.shape == (92, 92, 3) and 0 <= photo.values.min() < photo.values.max() <= 1
    assert photo.licence == "public domain"
    assert np.ptp(photo.values, axis=2).max() > 0.5  # it is in colour


def test_communication_is_ahead_on_the_mixtures():
    found = FAMILY["mint-gmm"].run(PaperSetting(), ())
    steps = {way: first_below(found.curves[way], 0.005) for way in (SHARED, EACH, MIXED)}
    assert steps == {SHARED: 1548, EACH: 1352, MIXED: 733}


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_steps_on_the_photo():
    """Shared examples need a third of the examples for 4 to 6 % more steps than examples of each colour."""
    experiment = FAMILY["mint-rgb"]
    found = experiment.run(PaperSetting(), experiment.pictures(None))
    steps = {way: [first_below(found.curves[way], level) for level in (0.2, 0.1, 0.05)] for way in found.curves}
    assert steps[SHARED] == [276_255, 498_787, 728_684]
    assert steps[EACH] == [259_498, 474_378, 699_677]
    assert all(mixed < shared for mixed, shared in zip(steps[MIXED], steps[SHARED], strict=True))
    assert steps["communicating more often"] == [214_189, 408_639, 616_583]
    ratios = [shared / each for shared, each in zip(steps[SHARED], steps[EACH], strict=True)]
    assert min(ratios) > 1.04 and max(ratios) < 1.065


@pytest.mark.exhaustive
def test_what_communication_saves():
    experiment = FAMILY["mint-communication"]
    found = experiment.run(PaperSetting(), experiment.pictures(None))
    assert first_below(found.curves[EACH], 0.2) == 228_914
    assert first_below(found.curves[MIXED], 1e-6) == 0
    assert first_below(found.curves[f"{EACH} with noise"], 0.02) == 1_021_473
    assert first_below(found.curves[f"{MIXED} with noise"], 0.02) == 212_150
