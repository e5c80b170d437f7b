"""The functions that five calls execute, for ARCHITECTURE.md and tests/budgets.toml.

``python tests/walks.py`` prints how many functions and files each call executes; with ``--write`` it also
writes the lists between the markers ``<!-- walk: ... -->`` of ARCHITECTURE.md (``make walks``).
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from inspect import CO_OPTIMIZED
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from types import CodeType

from sklearn.datasets import load_digits, load_iris
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

import eigenscape
from eigenscape import Isomap, KernelPCA, LaplacianEigenmaps
from eigenscape.app.cli.app import app

PAGE = Path(__file__).parents[1] / "ARCHITECTURE.md"
SOURCE = Path(eigenscape.__file__).parent

FIT, TRANSFORM = "LaplacianEigenmaps().fit(X)", "LaplacianEigenmaps().transform(Y)"
EMBED = "eigenscape embed flowers.csv -m isomap -o map.csv"
ON_THE_PAGE = (FIT, TRANSFORM, EMBED)

#: Which functions of these modules run depends on the machine and on the time, so they are never counted.
MACHINE = ("_memory.py", "_progress_displays.py")
#: Modules that the lists leave out: optional input types, validation, error messages.
PLUMBING = re.compile(
    r"_\w+\.py"  # threads, memory, progress, warnings, lazy imports
    r"|options\.py|distributed/_presence\.py"
    r"|estimators/_(collections|method|rows|running)\.py"
    r"|app/cli/errors\.py"
)
#: Length of a line in characters.
LINE_LENGTH = 140


@dataclass(frozen=True)
class Function:
    """A function of the package: its file below ``src/eigenscape`` and its qualified name."""

    file: str
    name: str

    @property
    def room(self) -> str:
        return self.file.rpartition("/")[0] or self.file

    def is_step(self) -> bool:
        """Return whether a list names the function.

        It leaves out plumbing, checks, properties, nested functions, special methods other than ``__call__``
        and functions whose body has at most two lines.
        """
        last = self.name.rpartition(".")[2]
        if PLUMBING.fullmatch(self.file) or "<locals>" in self.name or last == "_":
            return False
        if last.lstrip("_").startswith("check") or (last.startswith("__") and last != "__call__"):
            return False
        definition = _definitions(self.file)[self.name]
        decorators = {ast.unparse(decorator) for decorator in definition.decorator_list}
        body = definition.body[ast.get_docstring(definition) is not None :]
        n_lines = sum(_n_lines(statement) for statement in body)
        return n_lines > 2 and not decorators & {"property", "cached_property"}


def _n_lines(statement: ast.stmt) -> int:
    return (statement.end_lineno or statement.lineno) - statement.lineno + 1


@cache
def _definitions(file: str) -> dict[str, ast.FunctionDef]:
    """Return the functions and methods of a module by their qualified names."""
    found = {}
    for node in ast.parse((SOURCE / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            found |= {f"{node.name}.{each.name}": each for each in methods}
    return found


def _function(code: CodeType) -> Function | None:
    """Return the function of a code object, or None if it was not defined by ``def`` in the package.

    Comprehensions, lambdas and class bodies do not count: Python 3.12 has no code objects for the former.
    """
    if code.co_name.startswith("<") or not code.co_flags & CO_OPTIMIZED:
        return None
    path = Path(code.co_filename)
    if not path.is_relative_to(SOURCE):
        return None
    file = path.relative_to(SOURCE).as_posix()
    return None if file in MACHINE else Function(file, code.co_qualname)


def trace(call: Callable[[], object]) -> list[Function]:
    """Return the functions of the package that a call executes, in the order of their first calls."""
    codes: dict[CodeType, None] = {}

    def record(frame, event, argument):
        if event == "call":
            codes.setdefault(frame.f_code)

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [function for code in codes if (function := _function(code)) is not None]


def write_flowers() -> None:
    """Write flowers.csv into the current folder."""
    flowers = load_iris()
    rows = zip(flowers.data, flowers.target_names[flowers.target], strict=True)
    lines = [f"f{i},{a},{b},{c},{d},{species}" for i, ((a, b, c, d), species) in enumerate(rows)]
    Path("flowers.csv").write_text("\n".join(["flower,a,b,c,d,species", *lines]) + "\n")


def embed() -> None:
    """Run the command of the page in the current folder, which must not have a map."""
    name, *arguments = EMBED.split()
    CliRunner().invoke(app, arguments, prog_name=name, catch_exceptions=False)


def _calls() -> dict[str, Callable[[], object]]:
    """Return the five calls by name; the command reads and writes files of the current folder."""
    digits = load_digits().data
    X, Y = digits[:-20], digits[-20:]
    model = LaplacianEigenmaps()
    return {
        FIT: lambda: model.fit(X),
        TRANSFORM: lambda: model.transform(Y),
        "Isomap().fit(X)": lambda: Isomap().fit(X),
        "KernelPCA().fit(X)": lambda: KernelPCA().fit(X),
        EMBED: embed,
    }


@cache
def walks() -> dict[str, list[Function]]:
    """Return the functions that each of the five calls executes.

    Each call is traced the second time it is made, so that imports, compilation and caches make no
    difference; loops over points run on one thread.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        threadpool_limits(1),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        write_flowers()
        calls = _calls()
        for call in calls.values():
            call()
        Path("map.csv").unlink()
        return {name: trace(call) for name, call in calls.items()}


def figures() -> dict[str, int]:
    """Return the numbers of functions and of files that the calls execute."""
    found = {}
    for name, functions in walks().items():
        found[f"functions of {name}"] = len(functions)
        found[f"files of {name}"] = len({function.file for function in functions})
    return found


def as_list(functions: list[Function]) -> str:
    """Return the list of a walk: all steps, by room and module; a room that fits on a line is not broken."""
    lines: list[str] = []
    steps = [function for function in functions if function.is_step()]
    for room, group in groupby(steps, key=lambda step: step.room):
        modules = [_names(file, list(each)) for file, each in groupby(group, key=lambda step: step.file)]
        text = f"**{room}** {'; '.join(modules)}."
        if lines and len(lines[-1]) + 1 + len(text) <= LINE_LENGTH:
            lines[-1] += f" {text}"
        else:
            lines += wrap(text, LINE_LENGTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def _names(file: str, steps: list[Function]) -> str:
    """Return a module and its functions; a method of the same class as the one before is ``.method``."""
    names, before = [], ""
    for step in steps:
        cls, _, method = step.name.rpartition(".")
        names.append(f".{method}" if cls and cls == before else step.name)
        before = cls
    module = "" if steps[0].room == file else f"`{Path(file).stem}` "
    return module + ", ".join(names)


def with_walks(page: str) -> str:
    """Return the text of ARCHITECTURE.md with the traced lists between its markers."""
    for name in ON_THE_PAGE:
        start, end = f"<!-- walk: {name} -->\n", "\n<!-- end -->"
        before, found, rest = page.partition(start)
        if not found:
            raise ValueError(f"{PAGE.name} has no marker {start.strip()!r}")
        page = f"{before}{start}{as_list(walks()[name])}{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    for _label, _figure in figures().items():
        print(f"{_figure:5d} {_label}")
    if "--write" in sys.argv[1:]:
        PAGE.write_text(with_walks(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
