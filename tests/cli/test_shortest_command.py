"""`nimt shortest`."""

import pytest

from nimt import Lesson

pytestmark = pytest.mark.long


@pytest.mark.slow
def test_a_plan_is_printed_and_its_lesson_written(nimt, tmp_path):
    path = tmp_path / "plan.npz"
    answer = nimt("shortest", "sine", "--learning-rate", "0.1", "--tol", "5e-3", "--starts", "1", "--out", str(path))
    assert answer.code == 0 and "planned steps; no lesson with true labels has fewer than" in answer.out
    lesson = Lesson.load(path)
    assert f"after {lesson.itd:,} planned steps" in answer.out


def test_the_rate_of_a_plan_is_below_that_at_which_one_step_corrects_an_error(nimt):
    answer = nimt("shortest", "sine", "--tol", "0.05", "--starts", "1")
    assert answer.code == 0 and "planned steps" in answer.out and "the learning rate is 0.25, half of" in answer.err


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--out", "plan.txt"), "--out must name"), (("--learning-rate", "0.5"), "a rate below")],
)
def test_what_cannot_be_planned_is_refused_in_one_sentence(nimt, options, words):
    answer = nimt("shortest", "sine", "--tol", "1e-2", *options)
    assert answer.code == 2 and words in answer.err and "Traceback" not in answer.err
