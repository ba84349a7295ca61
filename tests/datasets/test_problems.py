"""The paper's formulas in the library are those the tests wrote down for themselves."""

import numpy as np
import pytest

import nimt
import problems as written
from nimt.datasets import formulas as problems
from nimt.pools.pool import values_on

SAME = {
    "mixture": (written.MIXTURE, problems.mixture_pool, problems.mixture, problems.mixture_start),
    "boundary": (written.BOUNDARY, problems.boundary_pool, problems.boundary, problems.boundary_start),
    "line up": (written.LINE_UP, problems.line_pool, problems.line(1.0, 1.0), problems.two_bumps),
    "line down": (written.LINE_DOWN, problems.line_pool, problems.line(-1.0, 1.0), problems.two_bumps),
    "from above": (written.PLANE_FROM_ABOVE, problems.plane_pool, problems.plane, problems.bowl(-1.0)),
    "from below": (written.PLANE_FROM_BELOW, problems.plane_pool, problems.plane, problems.bowl(1.0)),
}


@pytest.mark.parametrize("name", SAME)
def test_a_formula_is_the_one_written_down_in_the_tests(name):
    expected, pool, target, start = SAME[name]
    np.testing.assert_array_equal(pool().points, expected.pool.points)
    for ours, theirs in ((target, expected.target), (start, expected.initial)):
        np.testing.assert_allclose(
            values_on(pool(), ours, "ours"), values_on(pool(), theirs, "theirs"), rtol=1e-15, atol=1e-15
        )


def test_settings_given_as_a_target_are_sent_to_their_option(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('target = "gmm"')
    with pytest.raises(nimt.InvalidInput, match="only the command line reads such a file") as caught:
        nimt.sources.read_problem(str(path))
    assert caught.value.tell_in_program({}).endswith(f"use --config {path}")
