"""Write the shared entries of tests/docstrings.toml into the docstrings of the package (``make docstrings``).

A name in the section "Parameters", "Other Parameters" or "Attributes" of a docstring gets the type and the
text of its entry in the table of the room, and its default from the signature. The docstrings in ``users``
have the entry; an entry without ``users`` belongs to all docstrings of the room that have the name, except
those in ``own``, which describe it themselves. Docstrings are named ``Class``, ``Class.method`` or
``function``.

Only the first paragraph of an entry is written. A class adds sentences as a second paragraph, after a blank
line. A line with the name alone is sufficient in a new docstring.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("docstrings.toml")
SOURCE = Path(__file__).parents[1] / "src" / "eigenscape"
SECTIONS = ("Parameters", "Other Parameters", "Attributes")
WIDTH = 110  # the line-length of pyproject.toml

Documented = ast.ClassDef | ast.FunctionDef


class Table:
    """The shared entries of a room, and which of them the docstrings have."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self.entries: dict[str, list[dict[str, Any]]] = {}
        self.found: set[tuple[str, str]] = set()  # (docstring, name)
        self.used: list[dict[str, Any]] = []
        for entry in entries:
            name, kind = entry["entry"].split(" : ", 1)
            self.entries.setdefault(name, []).append({**entry, "type": kind})

    def find(self, owner: str, name: str) -> dict[str, Any] | None:
        """Return the shared entry of a name in a docstring, None if the docstring has its own."""
        self.found.add((owner, name))
        entries = self.entries.get(name, ())
        chosen = [entry for entry in entries if owner in entry.get("users", ())] or [
            entry for entry in entries if "users" not in entry and owner not in entry.get("own", ())
        ]
        self.used += chosen
        return chosen[0] if chosen else None

    def problems(self) -> list[str]:
        """Return the parts of the table that no docstring needs, after ``find`` for all of them."""
        problems = []
        for name, entries in self.entries.items():
            for entry in entries:
                listed = (*entry.get("users", ()), *entry.get("own", ()))
                problems += [f"{owner} has no {name}" for owner in listed if (owner, name) not in self.found]
                if self.used.count(entry) < 2:
                    problems.append(f"one docstring at most has this entry: {entry['entry']}")
        return problems


def current_sources() -> dict[Path, str]:
    """Return the source with current entries of each file in a room that has a table."""
    sources = {}
    for room, entries in tomllib.loads(FILE.read_text()).items():
        table = Table(entries)
        for path in sorted((SOURCE / room).rglob("*.py")):
            sources[path] = rewrite(path.read_text(), table)
        if problems := table.problems():
            raise ValueError(f"{FILE.name}, {room}: {'; '.join(problems)}")
    return sources


def rewrite(source: str, table: Table) -> str:
    """Return a source with the entries of a table in its docstrings."""
    lines = source.split("\n")
    for owner, node in reversed(list(documented(ast.parse(source)))):
        docstring = node.body[0]
        place = slice(docstring.lineno - 1, docstring.end_lineno)
        lines[place] = _rewrite_docstring(lines[place], docstring.col_offset, owner, _defaults(node), table)
    return "\n".join(lines)


def documented(node: ast.Module | Documented, prefix: str = "") -> Iterator[tuple[str, Documented]]:
    """Yield name and node of each class and function with a docstring, in the order of the source."""
    for child in node.body:
        if isinstance(child, Documented):
            if ast.get_docstring(child) is not None:
                yield prefix + child.name, child
            yield from documented(child, f"{prefix}{child.name}.")


def _defaults(node: Documented) -> dict[str, str]:
    """Return the default of each parameter of a function or constructor that has one."""
    if isinstance(node, ast.ClassDef):
        made = [child for child in node.body if getattr(child, "name", "") == "__init__"]
        if not made:  # fields of a dataclass
            fields = [child for child in node.body if isinstance(child, ast.AnnAssign)]
            return {field.target.id: _shown(field.value) for field in fields if field.value}
        node = made[0]
    arguments, last = node.args, len(node.args.defaults)
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(positional[len(positional) - last :], arguments.defaults, strict=True)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {argument.arg: _shown(value) for argument, value in pairs if value is not None}


def _shown(default: ast.expr) -> str:
    if isinstance(default, ast.Constant) and isinstance(default.value, str):
        return f'"{default.value}"'
    return ast.unparse(default).replace("e-0", "e-")


def _rewrite_docstring(
    lines: list[str], indent: int, owner: str, defaults: dict[str, str], table: Table
) -> list[str]:
    """Return the lines of a docstring with current entries."""
    written: list[str] = []
    section, replaced = "", False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(" *-+", following):
            section = line.strip()
        name = re.fullmatch(rf" {{{indent}}}(\w+)(?: : .*)?", line)
        if name and section in SECTIONS:
            entry = table.find(owner, name[1])
            replaced = entry is not None
            written += _entry_lines(name[1], entry, defaults, " " * indent) if entry else [line]
        elif not (replaced and line.startswith(" " * (indent + 1))):
            replaced = False
            written.append(line)
    return written


def _entry_lines(name: str, entry: dict[str, Any], defaults: dict[str, str], indent: str) -> list[str]:
    """Return the lines of an entry; types that end with "ignored" or "optional" have no default."""
    shown = name in defaults and not entry["type"].endswith(("ignored", "optional"))
    default = f", default={defaults[name]}" if shown else ""
    deeper = indent + "    "
    text = textwrap.wrap(
        entry["text"],
        WIDTH,
        initial_indent=deeper,
        subsequent_indent=deeper,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [f"{indent}{name} : {entry['type']}{default}", *text]


if __name__ == "__main__":
    for path, source in current_sources().items():
        if source != path.read_text():
            path.write_text(source)
            print(path.relative_to(SOURCE))
