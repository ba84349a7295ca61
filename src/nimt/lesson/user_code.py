"""What an object of the user is and does, as a short text: its code, its values, and what its code refers to.

A function is known by its bytecode, constants, defaults, closure, and the globals that it reads; a class by its methods
and those of its bases; any other object by its class and its attributes. What belongs to Python or to an installed
package is known by its name. Nothing is called but `__reduce_ex__`, by which Python copies objects.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = ("nimt", "numpy", "scipy", "sklearn")  # a lesson notes their versions, and may go on with others
ATOMS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
NOTES = {
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__annotations_cache__",
    "__annotate__", "__annotate_func__", "__firstlineno__", "__static_attributes__", "__dataclass_fields__",
    "__dataclass_params__", "__match_args__", "__abstractmethods__", "_abc_impl", "__orig_bases__", "__parameters__",
    "__type_params__", "__protocol_attrs__", "__non_callable_proto_members__", "_is_protocol", "_is_runtime_protocol",
}  # what Python writes down about a class, apart from what it does  # fmt: skip
AROUND = (staticmethod, classmethod, property, functools.cached_property)
AROUND_WHAT = ("__func__", "fget", "fset", "fdel", "func")
OF_A_CLASS = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
    types.MemberDescriptorType, types.GetSetDescriptorType,
)  # written in C  # fmt: skip
READS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


class Unidentified(Exception):
    """Something of which it cannot be said whether it is as it was."""


def code_mark(thing: object) -> str | None:
    """Return a short text, another one where the object does something else; None where that cannot be said.

    Examples
    --------
    >>> code_mark(lambda t: 0.1) == code_mark(lambda t: 0.1), code_mark(lambda t: 0.1) == code_mark(lambda t: 0.4)
    (True, False)
    >>> print(code_mark(n for n in (1, 2)))
    None
    """
    try:
        return _digest(Walk().parts(thing))
    except (Unidentified, RecursionError):
        return None


class Walk:
    """One way through an object and everything that it refers to; what was met before is told by its number."""

    def __init__(self) -> None:
        self.met: dict[object, tuple[int, object]] = {}  # with the object, so that no other gets its id

    def parts(self, thing: Any) -> Iterator[str]:
        """Yield texts by which this object is told from others."""
        kind = type(thing)
        if kind is int:
            yield f"int {thing:x}"  # decimal digits are limited
        elif kind in ATOMS:
            yield f"{kind.__name__} {thing!r}"
        elif kind in (tuple, list):
            yield from self._several(kind.__name__, thing)
        elif kind is dict:
            yield from self._name_things(thing)
        elif kind in (set, frozenset):
            yield f"{kind.__name__} {sorted(_digest(Walk().parts(one)) for one in thing)}"  # their order is arbitrary
        elif kind is np.ndarray and not thing.dtype.hasobject:
            yield f"array {thing.shape} {thing.dtype.str} {hashlib.sha256(thing.tobytes()).hexdigest()}"
        elif self._is_new(id(thing), thing):
            yield from self._object(thing)
        else:
            yield f"again {self.met[id(thing)][0]}"

    def _is_new(self, key: object, thing: object) -> bool:
        count = len(self.met)
        return self.met.setdefault(key, (count, thing))[0] == count

    def _several(self, kind: str, things: Iterable[object]) -> Iterator[str]:
        yield f"{kind} ("
        for thing in things:
            yield from self.parts(thing)
        yield ")"

    def _name_things(self, things: Mapping[Any, object]) -> Iterator[str]:
        names = sorted(things) if all(type(name) is str for name in things) else list(things)
        yield from self._several("dict", (part for name in names for part in (name, things[name])))

    def _object(self, thing: Any) -> Iterator[str]:
        if isinstance(thing, types.FunctionType):
            yield from self._function(thing)
        elif isinstance(thing, type):
            yield from self._class(thing)
        elif isinstance(thing, types.ModuleType):
            yield f"module {_name_in_package(thing.__name__, '')}"
        elif isinstance(thing, types.MethodType):
            yield from self._several("method", (thing.__func__, thing.__self__))
        elif isinstance(thing, types.CellType):
            yield from self._several("cell", _contents(thing))
        elif isinstance(thing, AROUND):
            yield from self._several(type(thing).__name__, (getattr(thing, name, None) for name in AROUND_WHAT))
        elif isinstance(thing, types.BuiltinFunctionType):
            yield f"built-in {thing.__name__}"
            yield from self.parts(thing.__self__)
        elif isinstance(thing, OF_A_CLASS):
            yield f"built-in {thing.__name__}"
        elif isinstance(thing, np.ufunc):
            yield f"ufunc {_name_of_ufunc(thing)}"
        elif type(thing) is np.ndarray:
            yield from self._several(f"array {thing.shape}", thing.ravel().tolist())
        else:
            yield from self._instance(thing)

    def _function(self, function: types.FunctionType) -> Iterator[str]:
        yield from self._several(
            "function", (function.__defaults__, function.__kwdefaults__, function.__closure__, vars(function))
        )
        package = _package_of(function.__module__)
        if package is None:
            yield from self._code(function.__code__, function.__globals__)
            return
        yield f"{package}: {function.__module__}.{function.__qualname__}"
        if "<" in function.__qualname__:  # a lambda, or made in another function: its name does not tell which
            yield from self._code(function.__code__, {})

    def _code(self, code: types.CodeType, scope: Mapping[str, Any]) -> Iterator[str]:
        """Yield a piece of code with its constants, and the globals that it reads as they are now."""
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        yield f"code {counts} {names} {code.co_code.hex()} {code.co_exceptiontable.hex()}"
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._code(constant, scope)
            else:
                yield from self.parts(constant)
        for step in dis.get_instructions(code):
            if step.opname in READS and step.argval in scope:
                yield f"global {step.argval}"
                yield from self._list_used(scope[step.argval], code.co_names)
            elif step.opname == "IMPORT_NAME" and _package_of(step.argval) is None:
                raise Unidentified(f"the module {step.argval}, which is imported inside a function")

    def _list_used(self, value: object, names: tuple[str, ...]) -> Iterator[str]:
        """Yield what code with these names uses of a value: of a module of the user, what is called so in it."""
        if not isinstance(value, types.ModuleType) or _package_of(value.__name__) is not None:
            yield from self.parts(value)
        elif self._is_new((id(value), names), value):
            for name in names:
                if name in vars(value):
                    yield f"of the module {name}"
                    yield from self._list_used(vars(value)[name], names)

    def _class(self, kind: type) -> Iterator[str]:
        package = _package_of(kind.__module__)
        if package is not None:
            yield f"class {package}: {kind.__module__}.{kind.__qualname__}"
            return
        yield f"class {kind.__qualname__}"
        yield from self._several("bases", kind.__mro__[1:])
        yield from self._name_things({name: value for name, value in vars(kind).items() if name not in NOTES})

    def _instance(self, thing: Any) -> Iterator[str]:
        """Yield how Python would copy an object: its class, its arguments, its attributes."""
        kind = type(thing)
        package = _package_of(kind.__module__)
        if package is not None and hasattr(thing, "__wrapped__"):  # a function with a cache, a compiled function
            yield from self._several(kind.__qualname__, (thing.__wrapped__, _options_of(thing)))
            return
        try:
            reduced = thing.__reduce_ex__(4)
        except Exception as error:
            raise Unidentified(repr(error)) from None
        if isinstance(reduced, str):
            yield f"called {_name_in_package(getattr(thing, '__module__', None) or kind.__module__, reduced)}"
            return
        copied: tuple[Any, ...] = (*reduced, None, None, None)
        make, arguments, state, listed, named = copied[:5]
        if isinstance(state, dict):
            state = {name: value for name, value in state.items() if not _is_cached(kind, name)} or None
        yield from self._several("made by", (kind, make, arguments, state, list(listed or ()), list(named or ())))


def _digest(parts: Iterable[str]) -> str:
    total = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        total.update(b"%d:" % len(content) + content)
    return total.hexdigest()[:32]


def _contents(cell: types.CellType) -> tuple[object, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # a name that has no value yet
        return ()


def _options_of(thing: Any) -> tuple[object, object]:
    """Return what a function was wrapped with: of a loss that nimt compiles its constants, of numba its options."""
    described = getattr(thing, "describe", None)
    return described() if callable(described) else None, getattr(thing, "targetoptions", None)


def _is_cached(kind: type, name: object) -> bool:
    """Say whether an attribute only keeps what a property once computed."""
    return isinstance(name, str) and any(
        isinstance(vars(one).get(name), functools.cached_property) for one in kind.__mro__
    )


def _name_of_ufunc(function: np.ufunc) -> str:
    """Return the name of a ufunc of numpy or scipy; others are made of functions that cannot be seen."""
    special = sys.modules.get("scipy.special")
    if not any(getattr(module, function.__name__, None) is function for module in (np, special)):
        raise Unidentified(f"the ufunc {function.__name__}")
    return str(function.__name__)


def _name_in_package(module: str, name: str) -> str:
    package = _package_of(module)
    if package is None:
        raise Unidentified(f"{module} {name}")
    return f"{package}: {module} {name}"


def _package_of(module: str | None) -> str | None:
    """Return the package of a module, with its version where no lesson notes that; None for a module of the user."""
    top = (module or "").partition(".")[0]
    if top in RECORDED:
        return top
    loaded = sys.modules.get(top)
    file = getattr(loaded, "__file__", None)
    if top in sys.stdlib_module_names and (file is None or _is_below(file, "stdlib", "platstdlib")):
        return "python"
    version = getattr(loaded, "__version__", None)
    return f"{top} {version}" if file and version and _is_below(file, "purelib", "platlib") else None


def _is_below(file: str, *places: str) -> bool:
    return any(Path(file).is_relative_to(sysconfig.get_path(place)) for place in places)
