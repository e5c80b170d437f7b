"""How large the package is: figures that tests/budgets.toml records and that may only fall.

``python tests/budgets.py`` prints each figure with its recorded value and its goal, and lowers the recorded
values (``make budgets``). A recorded value rises in one case only: a room may grow if the others shrink by
at least as much. The versions of the file in the history of git are compared too, so that no value is raised
by hand. Code lines are lines without docstrings, comments and blank lines.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import walks

import eigenscape

FILE = Path(__file__).with_name("budgets.toml")
SOURCE = Path(__file__).parents[1] / "src" / "eigenscape"
#: Parts of the package with a budget; all other folders and modules belong to the core.
ROOMS = ("core", "estimators", "distributed", "accel", "sc", "plot", "app")
LINES = "lines of code: {}"
#: Relative clauses without a noun; plain English names the thing again.
PHRASE = re.compile(r"\b(of which|that of|those of|beside)\b")
#: Part of a figure by which it may fall before the recorded value must follow.
SLACK = 0.01


def room_of(path: Path) -> str:
    """Return the room of a file, given relative to the package."""
    return path.parts[0] if len(path.parts) > 1 and path.parts[0] in ROOMS else "core"


def code_lines(text: str, tree: ast.Module) -> int:
    """Return the number of lines that are no docstrings, comments or blank lines."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    in_docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            in_docstrings |= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    lines = ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))
    return sum(bool(line) and line[0] != "#" and number not in in_docstrings for number, line in lines)


def module_numbers(tree: ast.Module) -> int:
    """Return how many module-level names are assigned a number or an arithmetic expression."""
    assigned = [node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    values = [value.operand if isinstance(value, ast.UnaryOp) else value for value in assigned]
    return sum(
        isinstance(value, ast.BinOp)
        or (isinstance(value, ast.Constant) and type(value.value) in (int, float))
        for value in values
    )


def source_figures() -> dict[str, int]:
    """Return the figures that are counted in the source text."""
    lines: Counter[str] = Counter()
    counts = dict.fromkeys(("files", "compressed phrases", "module-level numbers"), 0)
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        lines[room_of(path.relative_to(SOURCE))] += code_lines(text, tree)
        counts["files"] += 1
        counts["compressed phrases"] += len(PHRASE.findall(text))
        counts["module-level numbers"] += module_numbers(tree)
    rooms = {LINES.format(room): lines[room] for room in ROOMS}
    return {**rooms, LINES.format("all"): lines.total(), **counts}


def class_figures() -> dict[str, int]:
    """Return the figures of the classes of the public namespace: the largest, and a sum."""
    public = [getattr(eigenscape, name) for name in eigenscape.__all__]
    classes = [each for each in public if inspect.isclass(each) and hasattr(each, "get_params")]
    own = [[base for base in each.__mro__ if base.__module__.startswith("eigenscape")] for each in classes]
    parameters = [len(inspect.signature(each).parameters) for each in classes]
    return {
        "constructor parameters": max(parameters),
        "constructor parameters, sum over classes": sum(parameters),
        "base classes": max(len(each.__bases__) for each in classes),
        "own classes in the method resolution order": max(map(len, own)),
    }


def measure() -> dict[str, int]:
    """Return all figures."""
    return {**source_figures(), **class_figures(), **walks.figures()}


def recorded() -> dict[str, dict[str, Any]]:
    """Return the rows of tests/budgets.toml: ``now``; some have a ``goal``, raised ones ``why``."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def now(rows: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Return the recorded value of each row."""
    return {name: row["now"] for name, row in rows.items()}


def committed() -> list[dict[str, dict[str, Any]]] | None:
    """Return the rows of all versions of the file in the history, the last one first.

    None if this is no checkout of git.
    """

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(FILE.parents[1]), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    name = f"tests/{FILE.name}"
    try:
        commits = git("log", "--format=%H", "--diff-filter=AM", "--", name).split()
        return [tomllib.loads(git("show", f"{commit}:{name}")) for commit in commits]
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None


def raised(rows: dict[str, dict[str, Any]], earlier: dict[str, dict[str, Any]]) -> list[str]:
    """Return one sentence for each recorded value that exceeds that of an earlier version.

    Rooms may exceed it if their sum does not, and a row may if it has a reason (``why``) that the earlier
    version had not.
    """
    values, before = now(rows), now(earlier)
    allowed = lowered(values, before)
    excused = {name for name in rows if rows[name].get("why") != earlier.get(name, {}).get("why")}
    return [
        f"{name}: {value} is recorded, {allowed[name]} was; it may only fall, unless another room shrinks"
        for name, value in values.items()
        if value > allowed[name] and name not in excused
    ]


def problems(figures: dict[str, int], records: dict[str, int]) -> list[str]:
    """Return one sentence for each figure that exceeds its recorded value, or is far below it."""
    found = []
    for name, figure in figures.items():
        excess = figure - records[name]
        if excess > 0:
            remedy = "remove code, or shrink another room" if name.startswith(LINES[:5]) else "lower it"
            found.append(f"{name}: {figure}, {excess} more than tests/budgets.toml allows; {remedy}")
        elif -excess > SLACK * records[name]:
            found.append(f"{name}: {figure}, {-excess} less than tests/budgets.toml; run make budgets")
    return found


def lowered(figures: dict[str, int], records: dict[str, int]) -> dict[str, int]:
    """Return the values to record.

    A figure that rose keeps its recorded value, except lines of code in rooms while the sum over all rooms
    does not rise: a room that grows pays by shrinking elsewhere.
    """
    rooms = {LINES.format(room) for room in ROOMS}
    paid = sum(figures[room] for room in rooms) <= sum(records[room] for room in rooms)
    return {
        name: figure if paid and name in rooms else min(figure, records.get(name, figure))
        for name, figure in figures.items()
    }


def main() -> int:
    """Print the table, record lower values, and return 1 if a figure exceeds its recorded value."""
    figures, rows = measure(), recorded()
    new = lowered(figures, now(rows))
    for name, figure in figures.items():
        row = rows.get(name, {})
        print(f"{name:60s} {figure:6d}  recorded {row.get('now', '-'):>6}  goal {row.get('goal', '-'):>6}")
    text = FILE.read_text(encoding="utf-8").partition('"')[0]
    for name, value in new.items():
        row = rows.get(name, {})
        goal = f", goal = {row['goal']}" if "goal" in row else ""
        why = f', why = "{row["why"]}"' if "why" in row else ""
        text += f'"{name}" = {{ now = {value}{goal}{why} }}\n'
    FILE.write_text(text, encoding="utf-8")
    refused = [
        f"{name}: {figures[name]} exceeds {new[name]}, which is not raised"
        for name in figures
        if figures[name] > new[name]
    ]
    rows = recorded()
    refused += sorted({sentence for before in committed() or () for sentence in raised(rows, before)})
    for sentence in refused:
        print(sentence, file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
