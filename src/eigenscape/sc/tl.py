"""Tools: embeddings, clustering, pseudotime, and the mapping of new cells."""

from eigenscape.sc._maps import diffmap, isomap, kernel_pca, laplacian_eigenmaps, spectral_clustering
from eigenscape.sc._place import loss, place
from eigenscape.sc._pseudotime import dpt

__all__ = ["diffmap", "isomap", "kernel_pca", "laplacian_eigenmaps", "spectral_clustering"]
__all__ += ["dpt", "loss", "place"]
