"""eigenscape: spectral dimensionality reduction as function learning.

Every method is a data-dependent kernel; its eigenfunctions embed the training set and every later point.
"""

# ruff: noqa: F403, F405 (type checkers learn the estimators from their room)
from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

__version__ = "0.2.0.dev0"

__all__ = [
    "PCA",
    "AlignedSpectralMaps",
    "ClassicalMDS",
    "DiffusionMap",
    "DistortionDiscriminantAnalysis",
    "EigenfunctionClassifier",
    "EigenfunctionRegressor",
    "EigenspaceDensity",
    "FactorAnalysis",
    "FastMap",
    "GreedySpectralEmbedding",
    "Isomap",
    "KernelEigenmap",
    "KernelPCA",
    "LandmarkMDS",
    "LaplacianEigenmaps",
    "LocalityPreservingProjection",
    "LocallyLinearEmbedding",
    "ManifoldParzen",
    "MetricMap",
    "MixturePPCA",
    "NeighborEmbedding",
    "OrdinalMDS",
    "OrientedPCA",
    "ParametricMap",
    "PotentialMap",
    "ProbabilisticPCA",
    "ProjectionPursuit",
    "ProjectionPursuitDensity",
    "ProjectionPursuitRegressor",
    "SpectralClustering",
    "align",
    "datasets",
    "distributed",
    "exceptions",
    "explore",
    "graph_embedding",
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
    from eigenscape.estimators import *
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
    **dict.fromkeys(__all__, "eigenscape.estimators"),
    **dict.fromkeys(("load", "read", "save"), "eigenscape.io"),
    "explore": "eigenscape.app.explore",
    **{name: f"eigenscape.{name}" for name in _MODULES},
}
__getattr__, __dir__ = attach(__name__, _HOMES)
