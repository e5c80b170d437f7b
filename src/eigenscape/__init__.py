"""eigenscape: spectral dimensionality reduction as function learning.

Every method is a data-dependent kernel; its eigenfunctions embed the training set and every later point.
"""

from __future__ import annotations

from eigenscape import estimators
from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

__version__ = "0.2.0.dev0"

__all__ = [
    "datasets",
    "distributed",
    "exceptions",
    "explore",
    "io",
    "kernels",
    "load",
    "nystrom",
    "options",
    "plot",
    "quality",
    "read",
    "report",
    "save",
    "sc",
]
__all__ += estimators.__all__

if TYPE_CHECKING:
    from eigenscape import (
        datasets,
        distributed,
        exceptions,
        io,
        kernels,
        nystrom,
        options,
        plot,
        quality,
        report,
        sc,
    )
    from eigenscape.app.explore import explore
    from eigenscape.estimators import *  # noqa: F403
    from eigenscape.io import load, read, save

_MODULES = (
    "datasets",
    "distributed",
    "exceptions",
    "io",
    "kernels",
    "nystrom",
    "options",
    "plot",
    "quality",
    "report",
    "sc",
)
_HOMES = {
    **dict.fromkeys(estimators.__all__, "eigenscape.estimators"),
    **dict.fromkeys(("load", "read", "save"), "eigenscape.io"),
    "explore": "eigenscape.app.explore",
    **{name: f"eigenscape.{name}" for name in _MODULES},
}
__getattr__, __dir__ = attach(__name__, _HOMES)
