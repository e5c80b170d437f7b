"""eigenscape: spectral dimensionality reduction as function learning.

Every method is a data-dependent kernel; its eigenfunctions embed the training set and every later point.
"""

# ruff: noqa: F403 (type checkers learn the estimators from their room)
from __future__ import annotations

from eigenscape import estimators
from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from eigenscape import datasets as datasets
    from eigenscape import distributed as distributed
    from eigenscape import exceptions as exceptions
    from eigenscape import io as io
    from eigenscape import kernels as kernels
    from eigenscape import nystrom as nystrom
    from eigenscape import options as options
    from eigenscape import plot as plot
    from eigenscape import quality as quality
    from eigenscape import report as report
    from eigenscape import sc as sc
    from eigenscape.app.explore import explore as explore
    from eigenscape.estimators import *
    from eigenscape.io import load as load
    from eigenscape.io import read as read
    from eigenscape.io import save as save

_MODULES = "datasets distributed exceptions io kernels nystrom options plot quality report sc"
_HOMES = {
    **dict.fromkeys(estimators._HOMES, "eigenscape.estimators"),
    **dict.fromkeys(("load", "save"), "eigenscape.io"),
    "read": "eigenscape.app.io.reading",  # without scikit-learn, which model files need
    "explore": "eigenscape.app.explore",
    **{name: f"eigenscape.{name}" for name in _MODULES.split()},
}
__getattr__, __dir__ = attach(__name__, _HOMES)
if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = sorted(_HOMES)
