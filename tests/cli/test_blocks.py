"""`nimt teach --blocks`: an array larger than memory, resumed, and refused in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytestmark = pytest.mark.long


@pytest.fixture
def rough(tmp_path):
    np.save(tmp_path / "rough.npy", np.random.default_rng(0).normal(size=(24, 20)))
    return "rough.npy"


def test_an_array_is_taught_in_blocks_stopped_and_resumed(nimt, rough, tmp_path):
    command = ("teach", rough, "--blocks", "2x2", "--tol", "20%", "--measure", "rms", "--out", "run")
    told = nimt(*command, "--json")
    assert told.code == 0, told.err
    whole = json.loads(told.out)
    assert (whole["outcome"], whole["blocks"]) == ("converged", 4)
    values = np.load(tmp_path / "run" / "values.npy")
    assert np.sqrt(np.mean((values - np.load(tmp_path / rough)) ** 2)) < whole["tol"]
    refused = nimt(*command)
    assert refused.is_one_sentence() and "nimt resume run" in refused.err
    assert nimt(*command, "--overwrite", "-n", "50", "-q").code == 0
    again = nimt("resume", "run", "-n", "100000", "--json")
    assert json.loads(again.out)["outcome"] == "converged"
    more = nimt("resume", "run", "-n", "1000000")
    assert more.out.startswith("the discrepancy fell below the tolerance after ")
    shown = nimt("show", "run")
    assert shown.code == 0 and shown.out.splitlines()[0].startswith(more.out.splitlines()[0])
    told = json.loads(nimt("show", "run", "--json").out)
    assert told["outcome"] == "converged" and told["discrepancy"] < told["tol"]
    assert nimt("show", "run", "--figures").is_one_sentence()


def test_a_zarr_array_is_taught_and_results_are_written_as_asked(nimt, rough, tmp_path):
    zarr = pytest.importorskip("zarr", reason="Zarr arrays are an extra: pip install 'nimt[zarr]'")
    values = np.load(tmp_path / rough)
    zarr.create_array(tmp_path / "rough.zarr", shape=values.shape, chunks=(7, 9), dtype=values.dtype)[:] = values
    options = ("--blocks", "2x2", "--tol", "20%", "--measure", "rms")
    told = nimt("teach", "rough.zarr", *options, "--out", "one")
    assert told.code == 0, told.err
    assert "values.zarr, coefficients.zarr, picks.zarr" in told.out
    assert nimt("teach", rough, *options, "--results", "zarr", "--out", "two", "-q").code == 0
    assert nimt("teach", "rough.zarr", *options, "--results", "npy", "--out", "three", "-q").code == 0
    found = np.load(tmp_path / "three" / "values.npy")
    for run in ("one", "two"):
        assert np.array_equal(zarr.open_array(tmp_path / run / "values.zarr", mode="r")[:], found)
    assert nimt("teach", "rough.zarr", *options, "--out", "one", "--overwrite", "--results", "npy", "-q").code == 0
    assert not (tmp_path / "one" / "values.zarr").exists()


def test_the_plan_says_memory_turns_and_time_on_many_workers(nimt, rough):
    few, many = (
        json.loads(nimt("plan", rough, "--blocks", "4x2", "--tol", "20%", "--workers", workers, "--json").out)
        for workers in (1, 64)
    )
    assert few["blocks"] == 8 and few["turns"] == many["turns"] > 0
    assert (few["busy"], many["busy"]) == (1, 2)
    assert "8 blocks in 4 colours" in nimt("plan", rough, "--blocks", "4x2").out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("rough.npy", "--blocks", "2by2"), "must be a count such as 64, or one for each axis such as 8x8"),
        (("rough.npy", "--blocks", "9x9"), "and the kernel reaches"),
        (("rough.npy", "--blocks", "2x2", "--kernel", "linear"), "blocks need a kernel with a finite reach"),
        (("rough.npy", "--blocks", "2x2", "--teacher", "random"), "for the teacher greedy with -k 1"),
        (("rough.npy", "--blocks", "2x2", "--memory", "0.00001"), "one block takes about"),
        (("cat", "--blocks", "2x2"), "an array in a file"),
        (("missing.npy", "--blocks", "2x2"), "missing.npy"),
        (("rough.npy", "--workers", "2"), "is for --blocks"),
        (("rough.npy", "--blocks", "2x2", "--results", "csv"), "must be 'npy' or 'zarr', got 'csv'"),
    ],
)
def test_what_blocks_cannot_teach_is_refused_in_one_sentence(nimt, rough, options, sentence):
    answer = nimt("teach", *options)
    assert answer.code == 2
    assert answer.is_one_sentence(), answer.err
    assert sentence in answer.err
