"""Formulas as MathML, which browsers show without scripts or a network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _formula(latex: str, display: str) -> str:
    return convert(latex.strip(), display=display)


def visit_math(self: Any, node: nodes.math) -> None:
    """Write an inline formula."""
    self.body.append(_formula(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(_formula(node.astext(), "block"))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True}
