"""Formulas of the pages as MathML, which every browser typesets: the site loads no script for them."""

from __future__ import annotations

from typing import Any

from docutils import nodes

from nimt.reports.mathematics import typeset


def show_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(typeset(node.astext()))
    raise nodes.SkipNode


def show_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(typeset(node.astext(), display=True))
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    return {"parallel_read_safe": True}
