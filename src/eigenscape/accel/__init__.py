"""Drop-in acceleration of scikit-learn: unchanged scripts, the same results, computed by eigenscape.

Three ways to use it::

    python -m eigenscape.accel script.py        # or -m module; --verbose prints a report

    from eigenscape import accel
    accel.install()                             # or: with accel.accelerated(): ...

    %load_ext eigenscape.accel                  # in a notebook

Classes and functions may also be imported from here, as from scikit-learn. What cannot be computed in the
same way is left to scikit-learn, and :func:`report` gives the reason.
"""

from __future__ import annotations

from typing import Any

from eigenscape._lazy import attach
from eigenscape.accel._patch import accelerated, install, is_installed, uninstall
from eigenscape.accel._record import REPLACED, Report, report, reset

__all__ = ["Report", "accelerated", "install", "is_installed", "report", "reset", "uninstall"]

__getattr__, __dir__ = attach(__name__, {each.name: f"{__name__}.{each.module}" for each in REPLACED})


def load_ipython_extension(ipython: Any) -> None:  # noqa: ARG001, IPython passes its shell
    """Install, by ``%load_ext eigenscape.accel`` in IPython."""
    install()


def unload_ipython_extension(ipython: Any) -> None:  # noqa: ARG001, IPython passes its shell
    """Uninstall, by ``%unload_ext eigenscape.accel`` in IPython."""
    uninstall()
