"""Code of the user by its name: package:Name, or the name under which an installed package lists it for nimt.

Code is imported only where the user names it: on the command line, or in a file whose packages were allowed (`allow`).
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import sys
import tomllib
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from nimt.errors import InvalidInput
from nimt.wording import Wording

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

NAME = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<thing>[A-Za-z_]\w*)(?P<call>\(.*\))?")
# fields of a recipe that may name code, with the group of entry points of each, and what a class of that kind has
GROUPS = {
    "teacher": "nimt.teachers", "learner": "nimt.learners", "kernel": "nimt.kernels", "loss": "nimt.losses",
    "measure": "nimt.measures",
}  # fmt: skip
TRAITS = {"teacher": "select", "learner": "predict", "kernel": "diag", "loss": "slope", "measure": "of"}
_allowed: set[str] = set()


def allow(names: Iterable[str]) -> None:
    """Let files name this code from now on: packages, or package:Name."""
    for name in names:
        if not re.fullmatch(r"[A-Za-z_][\w.]*(:[A-Za-z_]\w*)?", name):
            raise InvalidInput(f"must be a package, or package:Name, got {name!r}", parameter="allow")
        _allowed.add(name)


def list_offered(kind: str) -> list[str]:
    """Return the code of one kind that can be chosen from a list: what packages list for nimt, and what was allowed.

    A package that was allowed as a whole offers the public classes that it defines. What packages list is not
    imported here.
    """
    found = set()
    for name in sorted(_allowed):
        module, _, thing = name.partition(":")
        for one in [thing] if thing else _list_classes(kind, module):
            if hasattr(_import(kind, module, one), TRAITS[kind]):
                found.add(f"{module}:{one}")
    return [*sorted({one.name for one in _list_entry_points(kind)}), *sorted(found)]


def _list_classes(kind: str, module: str) -> list[str]:
    loaded = vars(_import_module(kind, module, module))
    own = [name for name, thing in loaded.items() if isinstance(thing, type) and thing.__module__.startswith(module)]
    return [name for name in own if not name.startswith("_")]


def names_code(text: str | None) -> bool:
    """Say whether a text is package:Name, with or without arguments.

    Examples
    --------
    >>> names_code("mine:Careful"), names_code("mine:Careful(alpha=3)"), names_code("greedy:1"), names_code("rbf(0.5)")
    (True, True, False, False)
    """
    return text is not None and NAME.fullmatch(text.strip()) is not None


def check_allowed(name: str, value: object, where: str) -> None:
    """Refuse code that a file, or a page, names and the user did not."""
    if name not in (*GROUPS, "teachers") or not isinstance(value, str):
        return
    for part in split_outside(value) if name == "teachers" else [value]:
        found = NAME.match(part.strip())
        if found is None or (name == "teachers" and found["thing"] in _shapes()):  # greedy:cosine:0.05:1.0
            continue
        module, thing = found["module"], f"{found['module']}:{found['thing']}"
        if not {module, module.partition(".")[0], thing} & _allowed:
            way_out = Wording(
                f"call nimt.named_code.allow([{module!r}]) first", f"write nimt --allow {module} before the command"
            )
            raise InvalidInput(
                way_out.embed(f"{where} names the code {thing}, which is imported only if you allow it: ")
            )


def find_code(kind: str, text: str) -> tuple[Any, dict[str, Any]] | None:
    """Return the class or function that a text names, and the arguments in it; None where it names none."""
    found = NAME.fullmatch(text.strip())
    if found is not None:
        return _import(kind, found["module"], found["thing"]), read_arguments(kind, found["call"])
    listed = [one for one in _list_entry_points(kind) if one.name == text.strip()]
    return (_load(kind, listed[0]), {}) if listed else None


def is_foreign(kind: str, text: str | None) -> bool:
    """Say whether a text names code of the user, by package:Name or by the name that a package lists."""
    return names_code(text) or any(one.name == str(text).strip() for one in _list_entry_points(kind))


def _list_entry_points(kind: str) -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # here, since it takes long to load

    return entry_points(group=GROUPS[kind])


def make_named(kind: str, text: str, told: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Any:
    """Return what a text names, made with its arguments and with what it asks for of `told`; None where it names none.

    `told` is what the program knows (k, kernel, learning_rate ...): each goes to a parameter of that name. What a class
    inherits of a teacher of nimt, the lesson tells it where it is used.
    """
    found = find_code(kind, text)
    if found is None:
        return None
    make, given = found
    given = given | dict(options or {})
    if not callable(make):
        if given:
            raise InvalidInput(f"{text!r} is a {type(make).__name__}, which takes no arguments", parameter=kind)
        return make
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):
        parameters = inspect.signature(lambda: None).parameters
    left_out = _list_inherited(make) & {"kernel", "loss", "learning_rate"}
    known = {name: told[name] for name in parameters if told.get(name) is not None and name not in left_out}
    for name in [name for name, value in known.items() if isinstance(value, str) and value == "auto"]:
        if parameters[name].default is not inspect.Parameter.empty:
            del known[name]  # a class has a rate of its own, which need not know that word
    try:
        return make(**known | given)
    except (TypeError, ValueError, LookupError) as error:
        raise InvalidInput(f"{text!r} cannot be made: {error}", parameter=kind) from None


def _list_inherited(make: object) -> set[str]:
    """Return the fields that a class has of a teacher of nimt: one that does not use them refuses them."""
    above = make.__mro__[1:] if isinstance(make, type) and hasattr(make, "select") else ()
    return {name for kind in above if kind.__module__.startswith("nimt.") for name in inspect.get_annotations(kind)}


def read_arguments(kind: str, call: str | None) -> dict[str, Any]:
    """Return the arguments of a text such as (alpha=3, name="x"); each has a name and is a plain value.

    Examples
    --------
    >>> read_arguments("teacher", "(alpha=3, names=['a', 'b'])")
    {'alpha': 3, 'names': ['a', 'b']}
    """
    if call is None:
        return {}
    try:
        found = ast.parse(f"f{call}", mode="eval").body
        assert isinstance(found, ast.Call) and not found.args and all(part.arg for part in found.keywords)
        return {str(part.arg): ast.literal_eval(part.value) for part in found.keywords}
    except (AssertionError, SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise InvalidInput(f"has arguments such as (alpha=3), got {call[:80]}", parameter=kind) from None


def read_options(name: str, text: str | None) -> dict[str, Any]:
    """Return options that are written as alpha=3,beta=0.5: values as in TOML, other words as text.

    Examples
    --------
    >>> read_options("teacher_option", "alpha=3,name=slow,often=true")
    {'alpha': 3, 'name': 'slow', 'often': True}
    """
    found: dict[str, Any] = {}
    for part in split_outside(text or ""):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not key.isidentifier():
            raise InvalidInput(f"must be name=value, got {part!r}", parameter=name)
        try:
            found[key] = tomllib.loads(f"x = {value}")["x"]
        except (ValueError, RecursionError):
            found[key] = value
    return found


def split_outside(text: str) -> list[str]:
    """Return the parts of a text between commas that are not inside brackets.

    Examples
    --------
    >>> split_outside("greedy:1,mine:Careful(a=1, b=2):3")
    ['greedy:1', 'mine:Careful(a=1, b=2):3']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts if text.strip() else []


def split_size(part: str, ours: Container[str]) -> tuple[str, str]:
    """Return the name of a teacher and the k after it: greedy:1, mine:Careful, mine:Careful:0.05.

    `ours` are the names that stand for no package.

    Examples
    --------
    >>> split_size("greedy:cosine:0.05:1.0", {"greedy"}), split_size("mine:Careful:3", {"greedy"})
    (('greedy', 'cosine:0.05:1.0'), ('mine:Careful', '3'))
    """
    part = part.strip()
    found = NAME.match(part)
    if found is None or found["module"] in ours or found["thing"] in _shapes():
        name, _, k = part.partition(":")
        return name, k
    return found.group(), part[found.end() :].removeprefix(":")


def _shapes() -> tuple[str, ...]:
    from nimt.schedules import SHAPES  # here, since it loads numpy

    return tuple(SHAPES)


def _import_module(kind: str, module: str, named: str) -> Any:
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # last, so that a file here hides no package
    try:
        return importlib.import_module(module)
    except Exception as error:  # code of the user may raise anything
        raise InvalidInput(
            f"names {named}, and {module} cannot be imported from here: {type(error).__name__}: {error}",
            parameter=kind,
        ) from None


def _import(kind: str, module: str, thing: str) -> Any:
    loaded = _import_module(kind, module, f"{module}:{thing}")
    if not hasattr(loaded, thing):
        raise InvalidInput(f"names {module}:{thing}, and {module} has no {thing}", parameter=kind)
    return getattr(loaded, thing)


def _load(kind: str, listed: EntryPoint) -> Any:
    try:
        return listed.load()
    except Exception as error:  # code of a package may raise anything
        raise InvalidInput(
            f"={listed.name!r} is {listed.value} of an installed package, and cannot be imported: "
            f"{type(error).__name__}: {error}",
            parameter=kind,
        ) from None
