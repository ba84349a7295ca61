"""A colour picture through every command: taught in colour, in grey where asked, resumed, shown, compared, planned."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest
from PIL import Image

from nimt.lesson import Lesson

pytestmark = pytest.mark.long

ROWS, COLUMNS = np.mgrid[:8, :10]
PHOTO = np.stack([30 * ROWS, 25 * COLUMNS, 255 - 20 * ROWS - 10 * COLUMNS], axis=2).astype(np.uint8)
QUICK = ("-n", "300", "--tol", "1e-3")


@pytest.fixture
def photo(tmp_path):
    Image.fromarray(PHOTO).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_photo_is_taught_in_colour_by_every_command(nimt, photo, tmp_path):
    answer = nimt("teach", "photo.png", *QUICK, "--out", "run")
    assert answer.code == 0, answer.err
    lesson = Lesson.load(tmp_path / "run" / "lesson.npz")
    np.testing.assert_array_equal(lesson.target, PHOTO.reshape(-1, 3) / 255)
    assert lesson.labels.shape == (len(lesson), 1, 3)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["outputs"] == 3 and summary["psnr_at_end"] == pytest.approx(lesson.psnr()[-1])
    assert "PSNR at the end, dB" in answer.out
    assert "PSNR at the end" in (tmp_path / "run" / "report.html").read_text()
    assert tomllib.loads((tmp_path / "run" / "run.toml").read_text())["grey"] is False
    with Image.open(tmp_path / "run" / "panels.png") as panels:
        pixels = np.asarray(panels.convert("RGB")).astype(int)
    assert np.ptp(pixels, axis=2).max() > 150
    shown = nimt("show", "run")
    assert shown.code == 0 and "PSNR at the end, dB" in shown.out
    assert nimt("plan", "photo.png").out.startswith("grid engine")
    compared = nimt(
        "compare", "photo.png", *QUICK, "--teachers", "greedy:1,random:0.1", "--seeds", "2", "--out", "both"
    )
    assert compared.code == 0 and "random:0.1" in compared.out


def test_grey_is_one_output_and_is_kept_in_the_file(nimt, photo, tmp_path, monkeypatch):
    monkeypatch.setattr("nimt.cli.written_results._draw", lambda *given, **more: [])
    assert nimt("teach", "photo.png", "--grey", *QUICK, "--out", "run").code == 0
    lesson = Lesson.load(tmp_path / "run" / "lesson.npz")
    assert lesson.target.shape == (80,)
    assert tomllib.loads((tmp_path / "run" / "run.toml").read_text())["grey"] is True
    assert nimt("teach", "--config", "run/run.toml", "--out", "again").code == 0
    again = Lesson.load(tmp_path / "again" / "lesson.npz")
    np.testing.assert_array_equal(again.discrepancy, lesson.discrepancy)
    assert nimt("teach", "--config", "run/run.toml", "--colour", "--out", "colour").code == 0
    assert Lesson.load(tmp_path / "colour" / "lesson.npz").target.shape == (80, 3)


def test_a_colour_lesson_goes_on_as_if_it_had_never_stopped(nimt, photo, tmp_path, monkeypatch):
    monkeypatch.setattr("nimt.cli.written_results._draw", lambda *given, **more: [])
    assert nimt("teach", "photo.png", "-n", "20", "--tol", "0", "--out", "half").code == 0
    assert nimt("resume", "half", "-n", "50").code == 0
    assert nimt("teach", "photo.png", "-n", "50", "--tol", "0", "--out", "whole").code == 0
    half, whole = (Lesson.load(tmp_path / name / "lesson.npz") for name in ("half", "whole"))
    np.testing.assert_array_equal(half.final, whole.final)
    np.testing.assert_array_equal(half.discrepancy, whole.discrepancy)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("teach", "photo.png", "--loss", "logistic"), "takes the labels -1 and +1 only"),
        (("teach", "photo.png", "--teacher", "synthesis"), "the target has 3"),
        (("teach", "photo.png", "--from", "gmm"), "they cannot be in one lesson"),
    ],
)
def test_what_cannot_be_taught_in_colour_is_refused_in_a_sentence(nimt, photo, arguments, said):
    answer = nimt(*arguments)
    assert answer.code == 2 and answer.is_one_sentence() and said in answer.err


@pytest.mark.slow
def test_each_colour_is_taught_by_itself_and_colours_communicate(nimt, photo, tmp_path):
    answer = nimt("teach", "photo.png", *QUICK, "--teacher", "greedy-per-output", "--communicate", "20", "--out", "run")
    assert answer.code == 0, answer.err
    lesson = Lesson.load(tmp_path / "run" / "lesson.npz")
    assert lesson.method == "GFT-1 per output communicating"
    assert lesson.indices.shape == (len(lesson), 3)
    assert lesson.mix_steps.tolist() == list(range(0, len(lesson) + 1, 20))
    repeated = nimt("teach", "--config", "run/run.toml", "--out", "again")
    assert repeated.code == 0, repeated.err
    np.testing.assert_array_equal(Lesson.load(tmp_path / "again" / "lesson.npz").final, lesson.final)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--grey", "--teacher", "greedy-per-output"), "the target has one output"),
        (("--grey", "--communicate", "5"), "the target has one output"),
        (("--communicate", "0"), "communicate must be a whole number >= 1, got 0"),
        (("--communicate-until", "9"), "give --communicate"),
        (("--teacher", "greedi-per-output"), "with -per-output at its end, got 'greedi'"),
    ],
)
def test_what_cannot_be_taught_by_itself_is_said_in_one_sentence(nimt, photo, options, sentence):
    answer = nimt("teach", "photo.png", *options, "--out", "run")
    assert answer.code != 0 and answer.is_one_sentence() and sentence in answer.err
