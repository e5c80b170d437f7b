"""Write the pages of the reference from the public names, before Sphinx reads its sources."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import public_names
from sphinx.application import Sphinx

_SHAPE = re.compile(r"shape \([^)]*\)")
_TABLE = """
.. autosummary::
   :toctree: generated
   :nosignatures:
   :template: {template}

{names}
"""


def _tables(module: str, names: list[str]) -> str:
    owner = import_module(module)
    parts = {"class.rst": [], "function.rst": []}  # type: dict[str, list[str]]
    for name in names:
        parts["class.rst" if inspect.isclass(getattr(owner, name)) else "function.rst"].append(name)
    return "".join(
        _TABLE.format(template=template, names="\n".join(f"   {name}" for name in listed))
        for template, listed in parts.items()
        if listed
    )


def _heading(title: str, line: str) -> str:
    return f"{title}\n{line * len(title)}\n\n"


def _estimators() -> str:
    page = _heading("Estimators and functions", "=") + ".. currentmodule:: eigenscape\n\n"
    page += "All estimators follow scikit-learn: ``fit``, ``transform``, ``get_params``, pipelines.\n\n"
    for title, (text, names) in public_names.top_level().items():
        page += _heading(title, "-") + f"{text}\n" + _tables("eigenscape", names) + "\n"
    return page


def _module(name: str, title: str, text: str) -> str:
    full = f"eigenscape.{name}"
    names = public_names.module_names(import_module(full))
    page = _heading(title, "=") + f"``{full}``. {text}\n\n.. currentmodule:: {full}\n"
    return page + _tables(full, names)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_pages(app: Sphinx, config: Any) -> None:
    """Write ``reference/api`` (not part of the repository)."""
    folder = Path(app.srcdir) / "reference" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"eigenscape": _estimators()}
    pages |= {name: _module(name, *words) for name, words in public_names.modules().items()}
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, page in pages.items():
        _write(folder / f"{name}.rst", page)


def skip_inherited(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out the methods of scikit-learn's base classes, which its own pages describe."""
    function = inspect.unwrap(member) if callable(member) else getattr(member, "fget", None)
    module = getattr(function, "__module__", None) or ""
    if what == "class" and module and not module.startswith("eigenscape"):
        return True
    return None


def escape_shapes(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape the underscore of ``shape (n_components_, n_features)``, which would be a link."""
    lines[:] = [_SHAPE.sub(lambda match: re.sub(r"_(?=[,) ])", r"\\_", match[0]), line) for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hooks; pages are written before autosummary looks for its tables."""
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("autodoc-process-docstring", escape_shapes, priority=900)
    return {"parallel_read_safe": True}
