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

#: The name that each module defines, methods in the order of their list on the command line.
_NAMES = {
    "pca": "PCA",
    "kernel_pca": "KernelPCA",
    "mds": "ClassicalMDS",
    "isomap": "Isomap",
    "lle": "LocallyLinearEmbedding",
    "laplacian_eigenmaps": "LaplacianEigenmaps",
    "diffusion_map": "DiffusionMap",
    "spectral_clustering": "SpectralClustering",
    "neighbor_embedding": "NeighborEmbedding",
    "potential_map": "PotentialMap",
    "greedy_spectral_embedding": "GreedySpectralEmbedding",
    "landmark_mds": "LandmarkMDS",
    "fastmap": "FastMap",
    "metric_map": "MetricMap",
    "ordinal_mds": "OrdinalMDS",
    "kernel_eigenmap": "KernelEigenmap",
    "locality_preserving": "LocalityPreservingProjection",
    "oriented_pca": "OrientedPCA",
    "distortion_discriminant": "DistortionDiscriminantAnalysis",
    "probabilistic_pca": "ProbabilisticPCA",
    "factor_analysis": "FactorAnalysis",
    "mixture_ppca": "MixturePPCA",
    "projection_pursuit": "ProjectionPursuit",
    "aligned_map": "align",
    "aligned_spectral_maps": "AlignedSpectralMaps",
    "eigenfunction_classifier": "EigenfunctionClassifier",
    "eigenfunction_regressor": "EigenfunctionRegressor",
    "eigenspace_density": "EigenspaceDensity",
    "graphs": "graph_embedding",
    "manifold_parzen": "ManifoldParzen",
    "parametric_map": "ParametricMap",
    "pursuit_density": "ProjectionPursuitDensity",
    "pursuit_regression": "ProjectionPursuitRegressor",
}
_HOMES = {name: f"{__name__}.{module}" for module, name in _NAMES.items()}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = attach(__name__, _HOMES)
