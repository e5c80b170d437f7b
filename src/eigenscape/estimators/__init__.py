"""Estimators with the interface of scikit-learn."""

from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

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
    "graph_embedding",
]

if TYPE_CHECKING:
    from eigenscape.estimators.aligned_map import align
    from eigenscape.estimators.aligned_spectral_maps import AlignedSpectralMaps
    from eigenscape.estimators.diffusion_map import DiffusionMap
    from eigenscape.estimators.distortion_discriminant import DistortionDiscriminantAnalysis
    from eigenscape.estimators.eigenfunction_classifier import EigenfunctionClassifier
    from eigenscape.estimators.eigenfunction_regressor import EigenfunctionRegressor
    from eigenscape.estimators.eigenspace_density import EigenspaceDensity
    from eigenscape.estimators.factor_analysis import FactorAnalysis
    from eigenscape.estimators.fastmap import FastMap
    from eigenscape.estimators.graphs import graph_embedding
    from eigenscape.estimators.greedy_spectral_embedding import GreedySpectralEmbedding
    from eigenscape.estimators.isomap import Isomap
    from eigenscape.estimators.kernel_eigenmap import KernelEigenmap
    from eigenscape.estimators.kernel_pca import KernelPCA
    from eigenscape.estimators.landmark_mds import LandmarkMDS
    from eigenscape.estimators.laplacian_eigenmaps import LaplacianEigenmaps
    from eigenscape.estimators.lle import LocallyLinearEmbedding
    from eigenscape.estimators.locality_preserving import LocalityPreservingProjection
    from eigenscape.estimators.manifold_parzen import ManifoldParzen
    from eigenscape.estimators.mds import ClassicalMDS
    from eigenscape.estimators.metric_map import MetricMap
    from eigenscape.estimators.mixture_ppca import MixturePPCA
    from eigenscape.estimators.neighbor_embedding import NeighborEmbedding
    from eigenscape.estimators.ordinal_mds import OrdinalMDS
    from eigenscape.estimators.oriented_pca import OrientedPCA
    from eigenscape.estimators.parametric_map import ParametricMap
    from eigenscape.estimators.pca import PCA
    from eigenscape.estimators.potential_map import PotentialMap
    from eigenscape.estimators.probabilistic_pca import ProbabilisticPCA
    from eigenscape.estimators.projection_pursuit import ProjectionPursuit
    from eigenscape.estimators.pursuit_density import ProjectionPursuitDensity
    from eigenscape.estimators.pursuit_regression import ProjectionPursuitRegressor
    from eigenscape.estimators.spectral_clustering import SpectralClustering

#: Names by module, methods in the order of their list on the command line.
_NAMES = {
    "pca": ("PCA",),
    "kernel_pca": ("KernelPCA",),
    "mds": ("ClassicalMDS",),
    "isomap": ("Isomap",),
    "lle": ("LocallyLinearEmbedding",),
    "laplacian_eigenmaps": ("LaplacianEigenmaps",),
    "diffusion_map": ("DiffusionMap",),
    "spectral_clustering": ("SpectralClustering",),
    "neighbor_embedding": ("NeighborEmbedding",),
    "potential_map": ("PotentialMap",),
    "greedy_spectral_embedding": ("GreedySpectralEmbedding",),
    "landmark_mds": ("LandmarkMDS",),
    "fastmap": ("FastMap",),
    "metric_map": ("MetricMap",),
    "ordinal_mds": ("OrdinalMDS",),
    "kernel_eigenmap": ("KernelEigenmap",),
    "locality_preserving": ("LocalityPreservingProjection",),
    "oriented_pca": ("OrientedPCA",),
    "distortion_discriminant": ("DistortionDiscriminantAnalysis",),
    "probabilistic_pca": ("ProbabilisticPCA",),
    "factor_analysis": ("FactorAnalysis",),
    "mixture_ppca": ("MixturePPCA",),
    "projection_pursuit": ("ProjectionPursuit",),
    "aligned_map": ("align",),
    "aligned_spectral_maps": ("AlignedSpectralMaps",),
    "eigenfunction_classifier": ("EigenfunctionClassifier",),
    "eigenfunction_regressor": ("EigenfunctionRegressor",),
    "eigenspace_density": ("EigenspaceDensity",),
    "graphs": ("graph_embedding",),
    "manifold_parzen": ("ManifoldParzen",),
    "parametric_map": ("ParametricMap",),
    "pursuit_density": ("ProjectionPursuitDensity",),
    "pursuit_regression": ("ProjectionPursuitRegressor",),
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}
__getattr__, __dir__ = attach(__name__, _HOMES)
