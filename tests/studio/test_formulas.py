"""A typed formula means the same wherever it is written: on the page, in copied Python, in a copied command."""

from __future__ import annotations

import ast
import random
import shlex
from dataclasses import replace

import numpy as np
import pytest
import typer.main

from nimt.cli.app import program
from nimt.errors import InvalidInput
from nimt.recipe.recipe import FIELDS, Recipe
from nimt.sources import read_problem
from nimt.studio import exports
from nimt.studio.requests import read_recipe, teachers, write_racer
from nimt.studio.typed_formulas import CONSTANTS, FUNCTIONS, LONGEST, read_formula

pytestmark = pytest.mark.long

POINTS = np.stack(np.meshgrid([-2.5, -1.0, -0.3, 0.0, 0.7, 1.0, 3.2], [-1.7, 0.0, 0.4, 2.0]), axis=-1).reshape(-1, 2)
LEAVES = ("x", "x", "y", *CONSTANTS, "0", "1", "2", "3", "0.5", "1e-3", "400", "0x1f", "1_000")
SIGNS = ("-", "+", "--", "-+")
OPERATORS = ("+", "-", "*", "/", "^", "^", "**", " - ", " / ", " ^ ")
CHOSEN = (
    "(-x)^2",
    "-x^2",
    "(-x)^2^(-y)^2",
    "2^-x",
    "(-(-x))^3",
    "(-8)^(1/3)*0 + x",  # a root of a negative number: Python has a complex one, the page none
    "max(0, (-8)^(1/3)) * 0 + x",
    "1/(1/0) + x",  # Python refuses to divide, NumPy continues with infinity
    "exp(-10^400) + x",  # and with a power that is too large
    "1/exp(9^999)",
    "sin(pi/2*x)",
)


def drawn_formula(rng, depth):
    """Return a formula of the grammar that the page reads, with and without brackets."""
    kind = rng.choice(("leaf", "sign", "call", "pair", "pair", "brackets", "power")) if depth else "leaf"
    inner = lambda: drawn_formula(rng, depth - 1)  # noqa: E731
    if kind == "leaf":
        return rng.choice(LEAVES) if rng.random() < 0.8 else repr(rng.uniform(0, 10) ** rng.randrange(1, 6))
    if kind == "sign":
        return rng.choice(SIGNS) + inner()
    if kind == "call":
        name = rng.choice(sorted(FUNCTIONS))
        return f"{name}({', '.join(inner() for _ in range(FUNCTIONS[name][1]))})"
    if kind == "pair":
        return inner() + rng.choice(OPERATORS) + inner()
    if kind == "power":
        return f"({rng.choice(SIGNS)}{inner()})^{rng.choice(LEAVES)}"
    return f"({inner()})"


def drawn_formulas(count, seed=0):
    rng = random.Random(seed)
    drawn = (drawn_formula(rng, rng.randrange(1, 6)) for _ in range(count))
    return [*CHOSEN, *(text for text in drawn if len(text) <= LONGEST)]


def test_a_formula_has_the_same_values_in_python_as_on_the_page():
    taught = signs_under_powers = 0
    for text in drawn_formulas(4000):
        formula = read_formula(text, 2)
        try:
            expected = formula(POINTS)
        except InvalidInput:
            continue  # not finite somewhere, so it is never taught, nor copied
        copied = exports._values_text({"kind": "formula", "text": text})
        with np.errstate(all="ignore"):
            values = eval(copied, {"np": np})(POINTS)  # what a person does with what was copied
        np.testing.assert_array_equal(values, expected, err_msg=text)
        taught += 1
        powers = [one for one in ast.walk(formula.tree) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Pow)]
        signs_under_powers += any(isinstance(power.left, ast.UnaryOp) for power in powers)
    assert taught > 1000 and signs_under_powers > 50  # the generator reaches what it is for


def test_what_is_copied_stays_readable():
    assert read_formula("sin(pi/2*x)").as_python() == "np.sin(((np.pi / 2.0) * x[:, 0]))"
    assert read_formula("(-x)^2").as_python() == "((-x[:, 0]) ** 2.0)"
    assert read_formula("-x^2").as_python() == "(-(x[:, 0] ** 2.0))"


NAMED = {"kind": "named", "name": "gmm"}


@pytest.mark.parametrize("place", ["target", "start"])
def test_no_command_is_written_for_a_formula(place):
    """A command names files: rather none than one with another target."""
    given = {"target": NAMED, "start": {"kind": "zero"}} | {place: {"kind": "formula", "text": "(-x)^2", "axes": []}}
    with pytest.raises(InvalidInput, match=f"the {place} was drawn, dragged or typed"):
        exports.as_command(
            given["target"], given["start"], [exports.LessonPart(Recipe(target=""))], read_problem("gmm")
        )


def drawn_kernel(rng, depth):
    """Return a kernel expression, with signs in it that only brackets keep where they are."""
    if not depth or rng.random() < 0.2:
        return rng.choice(("RBF(0.5)", "RBF(2)", "Matern(1.0, nu=1.5)", "RationalQuadratic(0.7)", "Wendland(2)"))
    left, right = (drawn_kernel(rng, depth - 1) for _ in range(2))
    return rng.choice((
        f"{left} + {right}", f"({left} + {right}) * {right}", f"{left} * {right}", f"({left}) ** 2",
        f"{rng.uniform(0.1, 2)!r} * ({left} + {right})",
    ))  # fmt: skip


def test_a_copied_command_is_parsed_into_the_recipe_it_was_made_of():
    teach = typer.main.get_command(program()).commands["teach"]
    rng, compared = random.Random(1), 0
    problem = read_problem("gmm")
    for _ in range(300):
        kernel = rng.choice(("rbf", drawn_kernel(rng, 3)[:200].rpartition(" ")[0] or "rbf", drawn_kernel(rng, 2)))
        rules = {
            "kernel": kernel, "width": 10 ** rng.uniform(-6, 6), "loss": rng.choice(("square", "huber")),
            "steps": rng.randrange(1, 10**6), "tol": rng.choice((None, "auto", 1e-4, 10 ** rng.uniform(-300, 300))),
            "seed": rng.randrange(2**32),
        }  # fmt: skip
        racer = {
            "teacher": rng.choice([name for name in teachers() if name != "you"]),
            "k": rng.choice((1, 7, 1.0, "whole", 0.05, rng.uniform(1e-9, 1))), "share": rng.choice((None, 0.5, 1e-9)),
            "temperature": rng.choice((0.1, 0.0, rng.uniform(0, 9))), "learner": rng.choice(("kernel", "orthogonal")),
            "rate": rng.choice(("auto", 1e-12, rng.uniform(1e-6, 1))),
        }  # fmt: skip
        recipe = read_recipe(rules, racer)
        command = exports.as_command(NAMED, {"kind": "zero"}, [exports.LessonPart(recipe)], problem)
        words = shlex.split(command)
        assert words[:2] == ["nimt", "teach"]
        read = teach.make_context("teach", words[2:], resilient_parsing=False).params
        found = Recipe.of(read["target"], {name: value for name, value in read.items() if name in FIELDS})
        assert found == replace(recipe, target="gmm", initial="zero", loss=recipe.loss or "square")
        assert write_racer(found)["k"] == ("whole" if racer["k"] == 1.0 and type(racer["k"]) is float else racer["k"])
        compared += 1
    assert compared == 300
