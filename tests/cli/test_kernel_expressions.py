"""Kernels from text: the right ones, and never anything else."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
)

import nimt
from nimt.errors import InvalidInput
from nimt.kernels import Kernel, as_kernel
from nimt.kernels.expressions import SIMPLE, WORDS, kernel_expression, parse_kernel
from nimt.kernels.radial import Gaussian

X = np.array([[0.0, 0.0], [0.3, 1.0], [2.0, -1.0]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rbf", nimt.rbf(0.7)),
        ("matern", Matern(0.7, nu=1.5)),
        ("linear", nimt.linear()),
        ("wendland", nimt.Wendland(0.7, dimension=2)),
        ("RBF(2.0)", RBF(2.0)),
        ("RBF(length_scale=[1, 2])", RBF([1.0, 2.0])),
        ("rbf(0.5)", nimt.rbf(0.5)),
        ("RBF(0.5) + 0.1 * Matern(2, nu=2.5)", RBF(0.5) + 0.1 * Matern(2.0, nu=2.5)),
        ("(DotProduct(sigma_0=1) + 1) ** 2", (DotProduct(1.0) + 1) ** 2),
        ("  RBF(2.0)\n", RBF(2.0)),
        ("rbf([0.5, 2.0])", nimt.rbf([0.5, 2.0])),
        (
            "RationalQuadratic(0.3, alpha=2) * ExpSineSquared(1, 3)",
            RationalQuadratic(0.3, 2.0) * ExpSineSquared(1.0, 3.0),
        ),
        ("ConstantKernel(0.4) + linear(2)", ConstantKernel(0.4) + DotProduct(2.0**0.5)),
    ],
)
def test_what_is_written_is_what_comes(text, expected):
    np.testing.assert_allclose(parse_kernel(text, width=0.7, dimension=2)(X), as_kernel(expected)(X), rtol=2e-15)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "1", "'fixed'", "RBF", "RBF()()", "RBF(1", "RBF(-1)", "RBF(0)", "RBF(1e400)", "RBF(nan)", "RBF(True)",
        "RBF(1j)", "RBF('x')", "RBF(*[1])", "RBF(**{})", "RBF(RBF(1))", "RBF([1, 2, 3])", "RBF(wide=1)", "-RBF(1)",
        "-2 * RBF(1)", "RBF(1) - RBF(2)", "RBF(1) / 2", "2 ** RBF(1)", "RBF(1) ** 0.5", "RBF(1) ** 99999999",
        "RBF(1) ** RBF(1)", "WhiteKernel(1)", "CompoundKernel([RBF(1)])", "Exponentiation(RBF(1), 2)", "open('x')",
        "__import__('os')", "().__class__", "[].append(1)", "RBF(1).theta", "(lambda: 1)()", "RBF(1) if 1 else 2",
        "[RBF(1) for x in y]", "f'{1}'", "x := 1", "RBF(1); 1", "Wendland(1, dimension=1)", "Matern(1, nu=0)", "\0",
        "RBF(" * 300, "(" * 400, "1" * 499, "-" * 400 + "1", "RBF(1)" + " + RBF(1)" * 1000, "10 ** 10 ** 10 * RBF(1)",
        "RBF(1, 'fixed')", "RBF(1, (1e-3, 10))", "0 * RBF(1)", "ConstantKernel(0)", "sum(RBF(1), RBF(2))", "rbf(0)",
    ],
)  # fmt: skip
def test_what_is_no_kernel_is_refused(text):
    with pytest.raises(InvalidInput):
        parse_kernel(text, dimension=2)


ATOMS = st.one_of(
    st.sampled_from([*SIMPLE, *WORDS, "fixed", "'fixed'", "x", "__class__", "lambda", "None", "True"]),
    st.floats().map(repr),
    st.integers(-10, 10**30).map(str),
)
TEXTS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "*", "**", "-", "/", ",", ".", " "]), inner).map("".join),
        inner.map("({})".format),
        st.tuples(st.sampled_from([*WORDS]), inner).map("{0[0]}({0[1]})".format),
        st.tuples(st.sampled_from([*WORDS]), inner).map("{0[0]}(nu={0[1]})".format),
    ),
    max_leaves=8,
)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.one_of(TEXTS, st.text(max_size=60)))
def test_any_text_gives_a_kernel_or_a_sentence(text):
    with contextlib.suppress(InvalidInput):
        kernel = parse_kernel(text, dimension=2)
        assert isinstance(kernel, Kernel)
        assert np.isfinite(kernel(X / 2)).all()


@pytest.mark.parametrize(
    "text",
    [
        "RBF(0.1234567890123)",
        "(RBF([0.5, 2.0]) + 0.3) * Matern(1.7, nu=2.5)",
        "DotProduct(0.0) ** 3 + RationalQuadratic(0.3, 1.9) * ExpSineSquared(1.1, 2.3)",
        "Wendland(2.5, dimension=2) + linear(0.7)",
        "2 * rbf(0.3) + (3 + 0.1 * (rbf(1) * Matern(2))) ** 2 * (rbf(3) + rbf(4))",
        "rbf(1) + (rbf(2) + rbf(3)) + 1.5",
        "ConstantKernel(2) * 3 * ConstantKernel(4) ** 2",
        "(rbf(1) ** 2) ** 3",
    ],
)
def test_a_kernel_is_written_with_all_digits_and_read_again(text):
    kernel = parse_kernel(text, dimension=2)
    points = np.random.default_rng(0).normal(size=(5, 2))
    again = parse_kernel(kernel_expression(kernel, dimension=2), dimension=2)
    assert again == kernel
    np.testing.assert_array_equal(again(points), kernel(points))


def test_a_kernel_that_cannot_be_read_is_not_written():
    class Mine(RBF):
        pass

    class rbf(Gaussian):
        pass

    for kernel in (Mine(), Mine() + RBF(), rbf(1.0), 2.0 * rbf(1.0), Matern(nu=np.inf)):
        assert kernel_expression(as_kernel(kernel)) is None
