"""Shared entries of docstrings: current in the source, and how tests/docstrings.py writes them."""

from __future__ import annotations

import ast
import re

import docstrings

SOURCE = '''
class Example:
    """An example.

    Parameters
    ----------
    k
    w : float, default=3
        Outdated.

        An addition.
    own : int
        Text of the class.

    Other Parameters
    ----------------
    tol : float

    Notes
    -----
    k
    """

    def __init__(self, k=None, *, w="a", own=1, tol=1e-8): ...

    def fit(self, k, w=None):
        """Fit.

        Parameters
        ----------
        k : int
        w : array
            Weights.
        """
'''
ENTRIES = [
    {"entry": "k : int or None", "text": "Number." + 20 * " word"},
    {"entry": "k : int", "text": "Another number.", "users": ["Example.fit"]},
    {"entry": 'w : {"a", "b"}', "text": "Weights.", "own": ["Example.fit"]},
    {"entry": "tol : float", "text": "Tolerance."},
    {"entry": "own : str", "text": "Another one.", "users": []},
]


def test_shared_entries_are_current() -> None:
    outdated = [
        path.name for path, source in docstrings.current_sources().items() if source != path.read_text()
    ]
    assert not outdated, "run `make docstrings`"


def test_docstrings_are_literal() -> None:
    template = re.compile(r"^ *(\{\w+(/\w+)?\} ?)+$", re.MULTILINE)
    suspects = [path for path in docstrings.SOURCE.rglob("*.py") if template.search(path.read_text())]
    for path in suspects:  # some have templates of other texts
        for owner, node in docstrings.documented(ast.parse(path.read_text())):
            assert not template.search(ast.get_docstring(node)), f"{path.name}: {owner}"


def test_entries_are_written_by_name() -> None:
    table = docstrings.Table(ENTRIES)
    written = docstrings.rewrite(SOURCE, table)
    assert written == SOURCE.replace(
        "    k\n    w : float, default=3\n        Outdated.\n",
        "    k : int or None, default=None\n"
        f"        Number.{19 * ' word'}\n        word\n"
        '    w : {"a", "b"}, default="a"\n        Weights.\n',
    ).replace("    tol : float\n", "    tol : float, default=1e-8\n        Tolerance.\n").replace(
        "        k : int\n", "        k : int\n            Another number.\n"
    )
    assert docstrings.rewrite(written, table) == written


def test_parts_of_the_table_without_docstrings_are_reported() -> None:
    table = docstrings.Table([{"entry": "k : int", "text": "Number.", "users": ["Example", "Gone"]}])
    docstrings.rewrite(SOURCE, table)
    assert table.problems() == ["Gone has no k", "one docstring at most has this entry: k : int"]
