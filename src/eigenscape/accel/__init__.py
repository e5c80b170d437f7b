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

from eigenscape.accel._patch import accelerated, install, is_installed, uninstall
from eigenscape.accel._record import Report, report, reset
from eigenscape.accel._settings import REPLACED

_SOURCES = {name: (package, module) for package, name, module, _ in REPLACED}

__all__ = ["Report", "accelerated", "install", "is_installed", "report", "reset", "uninstall"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    package, module = _SOURCES[name]
    if not hasattr(import_module(package), name):
        raise AttributeError(f"the installed scikit-learn has no {name}")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SOURCES])


def load_ipython_extension(ipython: Any) -> None:  # noqa: ARG001, IPython passes its shell
    """Install, by ``%load_ext eigenscape.accel`` in IPython."""
    install()


def unload_ipython_extension(ipython: Any) -> None:  # noqa: ARG001, IPython passes its shell
    """Uninstall, by ``%unload_ext eigenscape.accel`` in IPython."""
    uninstall()
