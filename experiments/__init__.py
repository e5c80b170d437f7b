"""Every experiment of the five papers: what was printed, what comes out here, and whether they agree.

One module an experiment, ``bengio-1`` in ``bengio_1.py``; each has a docstring (its first line is the title),
``PAPER`` and ``run(context)``, which returns an :class:`Outcome`. Run them with ``python -m experiments``."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from experiments._experiment import Claim, Context, Outcome

__all__ = ["EXPERIMENTS", "Claim", "Context", "Outcome", "available", "experiment"]

#: In the order of the papers.
EXPERIMENTS = [
    "bengio-1",
    "bengio-2",
    "bengio-3",
    "bengio-4",
    "bengio-loss",
    "ouimet-2",
    "ouimet-3",
    "ouimet-table1",
    "ouimet-4",
    "belkin-1",
    "belkin-2",
    "belkin-3",
    "belkin-5",
    "burges-1.1",
    "burges-nystrom",
    "burges-spectra",
    "brand-1",
    "brand-3",
    "brand-6",
    "brand-7",
]


def _module(name: str) -> str:
    return "experiments." + name.replace("-", "_").replace(".", "_")


def available() -> list[str]:
    """The experiments that are there to be run."""
    return [name for name in EXPERIMENTS if find_spec(_module(name)) is not None]


def experiment(name: str) -> ModuleType:
    """The module of one experiment."""
    if name not in EXPERIMENTS:
        close = get_close_matches(name, EXPERIMENTS, n=3, cutoff=0.5)
        meant = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(EXPERIMENTS)}"
        raise ValueError(f"no such experiment: {name}; {meant} (`python -m experiments --list` lists them)")
    return import_module(_module(name))
