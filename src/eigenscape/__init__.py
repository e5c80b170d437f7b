"""eigenscape: spectral dimensionality reduction as function learning.

Every method is a data-dependent kernel; its eigenfunctions embed the training set and every later point.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "PCA",
    "ClassicalMDS",
    "DiffusionMap",
    "DistortionDiscriminantAnalysis",
    "FastMap",
    "GreedySpectralEmbedding",
    "Isomap",
    "KernelEigenmap",
    "KernelPCA",
    "LandmarkMDS",
    "LaplacianEigenmaps",
    "LocalityPreservingProjection",
    "LocallyLinearEmbedding",
    "MetricMap",
    "MixturePPCA",
    "OrdinalMDS",
    "OrientedPCA",
    "ProbabilisticPCA",
    "ProjectionPursuit",
    "SpectralClustering",
    "datasets",
    "distributed",
    "exceptions",
    "graph_embedding",
    "io",
    "kernels",
    "load",
    "nystrom",
    "plot",
    "quality",
    "read",
    "report",
    "save",
]

if TYPE_CHECKING:
    from eigenscape import datasets, distributed, exceptions, io, kernels, nystrom, plot, quality, report
    from eigenscape.estimators import (
        PCA,
        ClassicalMDS,
        DiffusionMap,
        DistortionDiscriminantAnalysis,
        FastMap,
        GreedySpectralEmbedding,
        Isomap,
        KernelEigenmap,
        KernelPCA,
        LandmarkMDS,
        LaplacianEigenmaps,
        LocalityPreservingProjection,
        LocallyLinearEmbedding,
        MetricMap,
        MixturePPCA,
        OrdinalMDS,
        OrientedPCA,
        ProbabilisticPCA,
        ProjectionPursuit,
        SpectralClustering,
        graph_embedding,
    )
    from eigenscape.io import load, read, save

_MODULES = ("datasets", "distributed", "exceptions", "io", "kernels", "nystrom", "plot", "quality", "report")
_HOMES = {"load": "eigenscape.app.io", "read": "eigenscape.app.io", "save": "eigenscape.app.io"}


def __getattr__(name: str) -> Any:
    """Load on first use, so that ``import eigenscape`` costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'eigenscape' has no attribute {name!r}")
    room = _HOMES.get(name, "eigenscape.estimators")
    value = import_module(f"eigenscape.{name}") if name in _MODULES else getattr(import_module(room), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
