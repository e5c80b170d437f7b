"""Docstrings whose shared entries are written once.

A room has a table of entries in numpydoc format, without defaults (``estimators/_docs.py``,
``quality/_docs.py``, ...), and a decorator made from it::

    documented = documented_by(parse_entries('''
    n_neighbors : int or None
        Number of nearest neighbours of each sample.
    metric : str or callable
        Metric of the neighbour search.
    metric/graph : str or callable
        Any metric of scikit-learn or "precomputed".
    '''))

    @documented
    class Isomap(...):
        '''...

        Parameters
        ----------
        {n_neighbors} {metric/graph}
            This sentence is added to the description of the metric.
        '''

A line of names in braces is replaced by their entries, in a class also in the docstrings of its methods.
``{name/variant}`` selects one of several descriptions. Defaults are read from the signature; types that end
with "ignored" or "optional" are shown without one. An unknown name raises at import.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])
Entries = dict[str, tuple[str, str]]

_NAME = r"\{[A-Za-z_0-9]+(?:/[a-z]+)?\}"
#: A line of a docstring that is replaced.
NAMES_LINE = re.compile(rf"( *)({_NAME}(?: {_NAME})*)")


def parse_entries(text: str) -> Entries:
    """Return the type and the indented description of each entry of a table, by name."""
    entries = re.findall(r"^(\S+) : (.*)\n((?: .*\n)+)", text, flags=re.MULTILINE)
    return {name: (kind, description.rstrip("\n")) for name, kind, description in entries}


def documented_by(entries: Entries) -> Callable[[Documented], Documented]:
    """Return a decorator that replaces names in the docstrings of a class or function by entries."""

    def documented(target: Documented) -> Documented:
        methods = filter(inspect.isfunction, vars(target).values()) if isinstance(target, type) else ()
        for each in (target, *methods):
            if "{" in (each.__doc__ or ""):  # None with python -OO
                each.__doc__ = _expanded(each, entries)
        return target

    return documented


def _expanded(target: Callable[..., Any], entries: Entries) -> str:
    """Return the docstring of a class or function with the entries of all names."""
    parameters, lines = inspect.signature(target).parameters, []
    for line in (target.__doc__ or "").split("\n"):
        match = NAMES_LINE.fullmatch(line)
        if match is None:
            lines.append(line)
            continue
        for name in match[2].replace("{", "").replace("}", "").split(" "):
            if name not in entries:
                raise KeyError(f"{target.__qualname__} refers to {{{name}}}, which has no entry")
            bare, (kind, description) = name.split("/")[0], entries[name]
            lines.append(f"{match[1]}{bare} : {kind}{_default(parameters.get(bare), kind)}")
            lines += [match[1] + each for each in description.split("\n")]
    return "\n".join(lines)


def _default(parameter: inspect.Parameter | None, kind: str) -> str:
    """Return the default of a parameter as the end of its type; empty if it has none or it is not shown."""
    if parameter is None or parameter.default is parameter.empty or kind.endswith(("ignored", "optional")):
        return ""
    default = parameter.default
    shown = f'"{default}"' if isinstance(default, str) else repr(default).replace("e-0", "e-")
    return f", default={shown}"
