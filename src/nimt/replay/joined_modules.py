"""Modules of a page as one script that the page holds: a browser loads no module from a file on a disk."""

from __future__ import annotations

import re
from collections.abc import Callable

IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:class|function|const) )(\w+)", re.MULTILINE)


def join_modules(first: str, read: Callable[[str], str], *, begin: str = "") -> str:
    """Return a script of a module and all that it imports, each in a scope of its own; `begin` is called at last."""
    joined: dict[str, str] = {}

    def add(name: str) -> None:
        text = read(f"{name}.js")
        for _, needed in IMPORT.findall(text):
            if needed not in joined:
                add(needed)
        names = ", ".join(name for _, name in EXPORT.findall(text))
        body = EXPORT.sub(r"\1\2", IMPORT.sub(r"const \1 = $\2;\n", text))
        joined[name] = f"const ${name} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"

    add(first)
    return "\n" + "".join(joined.values()) + (f"${first}.{begin}();\n" if begin else "")
