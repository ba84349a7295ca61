"""A few of the random lessons that `make soak` gives by the thousand."""

import pytest

import soaking


@pytest.mark.slow
def test_random_lessons_equal_the_plain_loop(capsys):
    assert soaking.main(30, seed=0) == 0, capsys.readouterr().out
