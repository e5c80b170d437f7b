"""Experiments of the five papers: printed values compared with values measured by this library.

There is one module per experiment: ``bengio-1`` is in ``bengio_1.py``. Each module has a docstring (its first
line is the title), ``PAPER`` (the reference), optionally ``FILES`` (the data files it reads) and
``run(context)``, which returns an :class:`Outcome`. Run them with ``python -m experiments``.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from experiments._experiment import Claim, Context, Outcome

__all__ = ["EXPERIMENTS", "Claim", "Context", "Outcome", "available", "experiment"]

#: Names of all experiments, in the order of the papers.
EXPERIMENTS = [
    "bengio-1",
    "bengio-2",
    "bengio-3",
    "bengio-4",
    "bengio-loss",
    "bengio-convergence",
    "bengio-wide",
    "ouimet-2",
    "ouimet-3",
    "ouimet-table1",
    "ouimet-4",
    "belkin-1",
    "belkin-2",
    "belkin-3",
    "belkin-5",
    "belkin-outliers",
    "belkin-lle",
    "burges-normality",
    "burges-1.1",
    "burges-nystrom",
    "burges-spectra",
    "brand-1",
    "brand-3",
    "brand-6",
    "brand-7",
]


def _module_name(name: str) -> str:
    """Return the name of the module that contains an experiment."""
    return "experiments." + name.replace("-", "_").replace(".", "_")


def available() -> list[str]:
    """Return the names of the experiments whose modules exist."""
    return [name for name in EXPERIMENTS if find_spec(_module_name(name)) is not None]


def experiment(name: str) -> ModuleType:
    """Return the module of an experiment, given its name."""
    if name not in EXPERIMENTS:
        close = get_close_matches(name, EXPERIMENTS, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"choose from {', '.join(EXPERIMENTS)}"
        raise ValueError(f"unknown experiment {name!r}; {hint} (see `python -m experiments --list`)")
    return import_module(_module_name(name))
