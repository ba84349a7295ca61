"""Published lessons of other systems of iterative teaching: the moons of IMT and LAST, and exams."""

import os
from pathlib import Path

import numpy as np
import pytest

from nimt.errors import InvalidInput
from nimt.paper import FAMILY
from nimt.paper.experiment import PaperSetting
from nimt.paper.experiments import exams, imt_moons
from nimt.paper.experiments.imt_moons import FREE, JOINT, JOINT_LIMITED, LIMITED, OMNISCIENT, SGD, SURROGATE

pytestmark = pytest.mark.long

NOWHERE = Path(__file__).parent  # a folder without data
IMT = FAMILY["imt"]


def teach_by_hand(moons, steps, score):
    """|w - w*|^2 by a plain loop that shows the point with the largest `score(w, x, y)`."""
    w, distances = np.array(moons.start), [np.sum((moons.start - moons.target) ** 2)]
    rows = list(zip(moons.features, moons.signs, strict=True))
    for _ in range(steps):
        x, y = max(rows, key=lambda row: score(w, *row))
        w = w + 0.01 * y / (1 + np.exp(y * (w @ x))) * x
        distances.append(np.sum((w - moons.target) ** 2))
    return distances


def test_lessons_on_the_moons_are_those_of_plain_loops():
    moons = imt_moons.read_moons(NOWHERE)
    assert not moons.original and not moons.published
    found = IMT.run(PaperSetting(iterations=40), (moons,))

    def slope(w, x, y):
        return -y / (1 + np.exp(y * (w @ x)))

    def nearest(w, x, y):
        g = slope(w, x, y)
        return 2 * 0.01 * g * ((w - moons.target) @ x) - (0.01 * g) ** 2 * (x @ x)

    def loses_most(w, x, y):
        loss, known = (np.log1p(np.exp(-y * (v @ x))) for v in (w, moons.target))
        return 2 * 0.01 * (loss - known) - (0.01 * slope(w, x, y)) ** 2 * (x @ x)

    np.testing.assert_allclose(found.curves[OMNISCIENT], teach_by_hand(moons, 40, nearest), rtol=1e-9)
    np.testing.assert_allclose(found.curves[SURROGATE], teach_by_hand(moons, 40, loses_most), rtol=1e-9)
    assert found.curves[JOINT][1] < 1e-25 and found.curves[FREE][40] < 0.1
    assert found.curves[JOINT_LIMITED][40] < found.curves[OMNISCIENT][40] < found.curves[LIMITED][40]
    assert found.curves[OMNISCIENT][40] < found.curves[SGD][40]
    assert {quantity.published for quantity in IMT.quantities(found)} == {None}


def test_a_made_label_is_the_best_of_all():
    """Labels tried one by one are not better, free or limited, and a step with a free label lands on f* at x."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        w, target, x = rng.normal(size=3), rng.normal(size=3), np.append(rng.normal(size=2), 1.0)
        sigma = 1 / (1 + np.exp(-(w @ x)))
        for limited, tried in ((True, np.linspace(0, 1, 201)), (False, np.linspace(-300, 300, 2001))):
            made = imt_moons.make_label_step(w, target, x[np.newaxis], lambda f: 1 / (1 + np.exp(-f)), limited=limited)
            best = min(np.sum((w - 0.01 * (sigma - y) * x - target) ** 2) for y in tried)
            assert np.sum((made - target) ** 2) <= best + 1e-12
            label = sigma + ((made - w) @ x) / (0.01 * (x @ x))
            assert not limited or -1e-9 <= label <= 1 + 1e-9
        assert made @ x == pytest.approx(target @ x)


def test_a_file_that_is_not_that_of_the_moons_is_refused(tmp_path):
    path = tmp_path / imt_moons.FILE
    path.write_bytes(b"no archive")
    with pytest.raises(InvalidInput, match="is not the file of the published moons"):
        IMT.pictures(tmp_path)
    np.savez(path, x=np.zeros((4, 2)))
    with pytest.raises(InvalidInput, match="is not the file of the published moons"):
        IMT.pictures(tmp_path)


@pytest.mark.data
@pytest.mark.slow
def test_the_published_moons():
    folder = Path(os.environ.get("NIMT_DATA") or "nowhere")
    if not (folder / imt_moons.FILE).exists():
        pytest.skip("needs imt-moons.npz: set NIMT_DATA to the folder it is in")
    found = IMT.run(PaperSetting(), IMT.pictures(folder))
    np.testing.assert_allclose(found.curves[OMNISCIENT], found.moons.published[OMNISCIENT], atol=1e-5)
    steps = [10, 100, 1000]
    for name in (SGD, imt_moons.OLD_LIMITED):  # means of random orders beside one order
        np.testing.assert_allclose(found.curves[name][steps], found.moons.published[name][steps], rtol=0.04)
    assert found.curves[FREE][1000] < 1e-20
    assert 0.005 < found.curves[imt_moons.OLD_FREE][1000] < 0.02
    np.testing.assert_allclose(found.curves[JOINT_LIMITED][1], found.moons.published[JOINT_LIMITED][1], rtol=1e-5)
    assert found.curves[JOINT_LIMITED][1000] < found.curves[OMNISCIENT][1000]


@pytest.mark.slow
def test_answers_are_worth_nearly_as_much_as_sight():
    found = FAMILY["exams"].run(PaperSetting(), ())
    seen, heard, silent, random = (
        found.curves[name][[10, 50, 100]] for name in (exams.OMNISCIENT, exams.ANSWERS, exams.SILENT, exams.RANDOM)
    )
    assert all(curve[0] == pytest.approx(1.0412) for curve in found.curves.values())
    assert (seen < heard).all() and (heard < silent).all() and (silent < random).all()
    assert (heard[:2] < 1.2 * seen[:2]).all()
    np.testing.assert_allclose(random, [0.9412, 0.6345, 0.3844], atol=1e-3)
