"""scikit-learn estimators: parameters in, one call down."""

from eigenscape.estimators.isomap import Isomap
from eigenscape.estimators.kernel_pca import KernelPCA
from eigenscape.estimators.laplacian_eigenmaps import LaplacianEigenmaps
from eigenscape.estimators.lle import LocallyLinearEmbedding
from eigenscape.estimators.mds import ClassicalMDS
from eigenscape.estimators.mixture_ppca import MixturePPCA
from eigenscape.estimators.pca import PCA
from eigenscape.estimators.probabilistic_pca import ProbabilisticPCA
from eigenscape.estimators.spectral_clustering import SpectralClustering

__all__ = [
    "PCA",
    "ClassicalMDS",
    "Isomap",
    "KernelPCA",
    "LaplacianEigenmaps",
    "LocallyLinearEmbedding",
    "MixturePPCA",
    "ProbabilisticPCA",
    "SpectralClustering",
]
