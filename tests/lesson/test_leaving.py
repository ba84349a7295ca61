"""What a lesson leaves when asked from Python: an animation, a report, in colours of one's choice."""

import shutil

import numpy as np
import pytest
from PIL import Image

import nimt
from nimt.plots.animation import draw_frames, keep_frames
from nimt.plots.animation_frames import frame_steps

pytestmark = pytest.mark.slow

RAMP = np.linspace(0, 1, 8 * 6).reshape(8, 6)


@pytest.fixture(scope="module")
def picture():
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2)
    return nimt.teach(
        learner, nimt.GreedyTeacher(), nimt.Grid.like(RAMP), RAMP, max_iterations=20, tol=None, snapshots=[0, 5, 10]
    )


def is_grey(image, at):
    pixel = image.convert("RGB").getpixel(at)
    return max(pixel) - min(pixel) <= 2


def middle_of(picture):
    """The frames of an animation, and a pixel within the target."""
    frame = next(iter(draw_frames(picture)))
    return (frame.width // 4, frame.height // 2)


def test_a_gif_has_a_frame_per_snapshot(picture, tmp_path):
    assert picture.animate(str(tmp_path / "lesson.gif")) == tmp_path / "lesson.gif"
    with Image.open(tmp_path / "lesson.gif") as film:
        assert film.n_frames == 4  # 0, 5, 10 and the end
        assert film.format == "GIF"


def test_pictures_are_grey_unless_a_colour_map_is_named(picture):
    at = middle_of(picture)
    assert is_grey(next(iter(draw_frames(picture))), at)
    assert not is_grey(next(iter(draw_frames(picture, "viridis"))), at)
    panels = nimt.plots.panels(picture)
    assert {
        mesh.get_cmap().name for ax in panels.axes[:-1] for mesh in ax.collections if mesh.get_array() is not None
    } == {"gray"}
    coloured = nimt.plots.panels(picture, cmap="magma")
    assert coloured.axes[0].collections[0].get_cmap().name == "magma"


def test_other_planes_stay_in_viridis():
    plane = nimt.Grid(np.linspace(0, 1, 5), np.linspace(0, 1, 5))
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(0.5)), nimt.GreedyTeacher(), plane, np.zeros(25) + 1, max_iterations=3, tol=None
    )
    assert nimt.plots.panels(lesson).axes[0].collections[0].get_cmap().name == "viridis"


@pytest.mark.parametrize("ask", ["panels", "animate", "report"])
def test_an_unknown_colour_map_is_refused_with_one_that_is_near(picture, tmp_path, ask):
    asked = {
        "panels": lambda: nimt.plots.panels(picture, cmap="virids"),
        "animate": lambda: picture.animate(tmp_path / "a.gif", cmap="virids"),
        "report": lambda: picture.report(tmp_path / "a", cmap="virids"),
    }
    with pytest.raises(
        nimt.InvalidInput, match=r"cmap must name a colour map of matplotlib, got 'virids': did you mean 'v"
    ):
        asked[ask]()
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_one_page_with_its_figures(picture, tmp_path):
    page = picture.report(tmp_path / "new", title="<mine>")
    assert page == tmp_path / "new" / "report.html"
    text = page.read_text()
    assert "&lt;mine&gt;" in text and "<mine>" not in text
    names = {path.name for path in page.parent.iterdir()}
    assert {"summary.json", "curve.png", "panels.png", "lesson.gif", "report.html"} <= names
    picture.report(tmp_path / "new")  # again, over itself


def test_bad_places_are_refused(picture, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(nimt.InvalidInput, match=r"\.gif or an \.mp4 file, got .*lesson\.avi"):
        picture.animate(tmp_path / "lesson.avi")
    with pytest.raises(nimt.errors.MissingFile, match="there is no folder"):
        picture.animate(tmp_path / "nowhere" / "lesson.gif")
    with pytest.raises(nimt.InvalidInput, match=r"is a file: name a folder"):
        picture.report(tmp_path / "file")
    with pytest.raises(nimt.errors.MissingFile, match="there is no folder"):
        picture.report(tmp_path / "no" / "folder")


def test_an_mp4_needs_ffmpeg(picture, tmp_path, monkeypatch):
    if shutil.which("ffmpeg"):
        picture.animate(tmp_path / "lesson.mp4")
        assert (tmp_path / "lesson.mp4").read_bytes()[4:8] == b"ftyp"
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(nimt.errors.MissingExtra, match=r"needs the program ffmpeg.*write a \.gif instead"):
        picture.animate(tmp_path / "other.mp4")


def test_an_animation_makes_the_snapshots_it_needs(tmp_path):
    """Before, a lesson without snapshots became two pictures."""
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2)
    x = nimt.Grid(np.linspace(-2, 2, 41))
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, np.sin, max_iterations=20, tol=None)
    watched = nimt.teach(
        learner, nimt.GreedyTeacher(), x, np.sin, max_iterations=20, tol=None, snapshots=list(range(21))
    )
    made = keep_frames(lesson)
    steps = frame_steps(20, 41)
    assert lesson.snapshots == {} and sorted(made.snapshots) == steps and len(steps) > 15
    for step in steps:
        np.testing.assert_allclose(made.snapshots[step], watched.snapshots[step], atol=1e-12)
    with Image.open(lesson.animate(tmp_path / "lesson.gif")) as picture:
        assert picture.n_frames == len(steps)
