"""scikit-learn estimators: parameters in, one call down."""

from eigenscape.estimators.distortion import DistortionDiscriminantAnalysis
from eigenscape.estimators.graphs import graph_embedding
from eigenscape.estimators.isomap import Isomap
from eigenscape.estimators.kernel_eigenmap import KernelEigenmap
from eigenscape.estimators.kernel_pca import KernelPCA
from eigenscape.estimators.laplacian_eigenmaps import LaplacianEigenmaps
from eigenscape.estimators.lle import LocallyLinearEmbedding
from eigenscape.estimators.locality_preserving import LocalityPreservingProjection
from eigenscape.estimators.mds import ClassicalMDS
from eigenscape.estimators.oriented_pca import OrientedPCA
from eigenscape.estimators.projection_pursuit import ProjectionPursuit
from eigenscape.estimators.spectral_clustering import SpectralClustering

__all__ = [
    "ClassicalMDS",
    "DistortionDiscriminantAnalysis",
    "Isomap",
    "KernelEigenmap",
    "KernelPCA",
    "LaplacianEigenmaps",
    "LocalityPreservingProjection",
    "LocallyLinearEmbedding",
    "OrientedPCA",
    "ProjectionPursuit",
    "SpectralClustering",
    "graph_embedding",
]
