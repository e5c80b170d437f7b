"""Tools: embeddings, clustering, pseudotime, and the mapping of new cells."""

from eigenscape.sc._diffmap import diffmap, laplacian_eigenmaps
from eigenscape.sc._embeddings import isomap, kernel_pca, spectral_clustering
from eigenscape.sc._loss import loss
from eigenscape.sc._place import place
from eigenscape.sc._pseudotime import dpt

__all__ = [
    "diffmap",
    "dpt",
    "isomap",
    "kernel_pca",
    "laplacian_eigenmaps",
    "loss",
    "place",
    "spectral_clustering",
]
