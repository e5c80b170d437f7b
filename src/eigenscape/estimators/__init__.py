"""Estimators with the interface of scikit-learn."""

from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

if TYPE_CHECKING:
    from eigenscape.estimators.aligned_map import align as align
    from eigenscape.estimators.aligned_spectral_maps import AlignedSpectralMaps as AlignedSpectralMaps
    from eigenscape.estimators.diffusion_map import DiffusionMap as DiffusionMap
    from eigenscape.estimators.distortion_discriminant import (
        DistortionDiscriminantAnalysis as DistortionDiscriminantAnalysis,
    )
    from eigenscape.estimators.eigenfunction_classifier import (
        EigenfunctionClassifier as EigenfunctionClassifier,
    )
    from eigenscape.estimators.eigenfunction_regressor import EigenfunctionRegressor as EigenfunctionRegressor
    from eigenscape.estimators.eigenspace_density import EigenspaceDensity as EigenspaceDensity
    from eigenscape.estimators.factor_analysis import FactorAnalysis as FactorAnalysis
    from eigenscape.estimators.fastmap import FastMap as FastMap
    from eigenscape.estimators.graphs import graph_embedding as graph_embedding
    from eigenscape.estimators.greedy_spectral_embedding import (
        GreedySpectralEmbedding as GreedySpectralEmbedding,
    )
    from eigenscape.estimators.isomap import Isomap as Isomap
    from eigenscape.estimators.kernel_eigenmap import KernelEigenmap as KernelEigenmap
    from eigenscape.estimators.kernel_pca import KernelPCA as KernelPCA
    from eigenscape.estimators.landmark_mds import LandmarkMDS as LandmarkMDS
    from eigenscape.estimators.laplacian_eigenmaps import LaplacianEigenmaps as LaplacianEigenmaps
    from eigenscape.estimators.lle import LocallyLinearEmbedding as LocallyLinearEmbedding
    from eigenscape.estimators.locality_preserving import (
        LocalityPreservingProjection as LocalityPreservingProjection,
    )
    from eigenscape.estimators.manifold_parzen import ManifoldParzen as ManifoldParzen
    from eigenscape.estimators.mds import ClassicalMDS as ClassicalMDS
    from eigenscape.estimators.metric_map import MetricMap as MetricMap
    from eigenscape.estimators.mixture_ppca import MixturePPCA as MixturePPCA
    from eigenscape.estimators.neighbor_embedding import NeighborEmbedding as NeighborEmbedding
    from eigenscape.estimators.ordinal_mds import OrdinalMDS as OrdinalMDS
    from eigenscape.estimators.oriented_pca import OrientedPCA as OrientedPCA
    from eigenscape.estimators.parametric_map import ParametricMap as ParametricMap
    from eigenscape.estimators.pca import PCA as PCA
    from eigenscape.estimators.potential_map import PotentialMap as PotentialMap
    from eigenscape.estimators.probabilistic_pca import ProbabilisticPCA as ProbabilisticPCA
    from eigenscape.estimators.projection_pursuit import ProjectionPursuit as ProjectionPursuit
    from eigenscape.estimators.pursuit_density import ProjectionPursuitDensity as ProjectionPursuitDensity
    from eigenscape.estimators.pursuit_regression import (
        ProjectionPursuitRegressor as ProjectionPursuitRegressor,
    )
    from eigenscape.estimators.spectral_clustering import SpectralClustering as SpectralClustering

#: The module of each name, methods in the order of their list on the command line.
_MODULES = {
    "PCA": "pca",
    "KernelPCA": "kernel_pca",
    "ClassicalMDS": "mds",
    "Isomap": "isomap",
    "LocallyLinearEmbedding": "lle",
    "LaplacianEigenmaps": "laplacian_eigenmaps",
    "DiffusionMap": "diffusion_map",
    "SpectralClustering": "spectral_clustering",
    "NeighborEmbedding": "neighbor_embedding",
    "PotentialMap": "potential_map",
    "GreedySpectralEmbedding": "greedy_spectral_embedding",
    "LandmarkMDS": "landmark_mds",
    "FastMap": "fastmap",
    "MetricMap": "metric_map",
    "OrdinalMDS": "ordinal_mds",
    "KernelEigenmap": "kernel_eigenmap",
    "LocalityPreservingProjection": "locality_preserving",
    "OrientedPCA": "oriented_pca",
    "DistortionDiscriminantAnalysis": "distortion_discriminant",
    "ProbabilisticPCA": "probabilistic_pca",
    "FactorAnalysis": "factor_analysis",
    "MixturePPCA": "mixture_ppca",
    "ProjectionPursuit": "projection_pursuit",
    "align": "aligned_map",
    "AlignedSpectralMaps": "aligned_spectral_maps",
    "EigenfunctionClassifier": "eigenfunction_classifier",
    "EigenfunctionRegressor": "eigenfunction_regressor",
    "EigenspaceDensity": "eigenspace_density",
    "graph_embedding": "graphs",
    "ManifoldParzen": "manifold_parzen",
    "ParametricMap": "parametric_map",
    "ProjectionPursuitDensity": "pursuit_density",
    "ProjectionPursuitRegressor": "pursuit_regression",
}
_HOMES = {name: f"{__name__}.{module}" for name, module in _MODULES.items()}
__getattr__, __dir__ = attach(__name__, _HOMES)
if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = sorted(_HOMES)
