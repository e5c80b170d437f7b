"""scikit-learn's SpectralClustering with neighbours and eigenvectors from eigenscape."""

from __future__ import annotations

from sklearn.cluster import _spectral as theirs

from eigenscape.accel._neighbors import kneighbors_graph
from eigenscape.accel._rebind import function, method
from eigenscape.accel._spectral_embedding import embed


class SpectralClustering(theirs.SpectralClustering):
    """:class:`sklearn.cluster.SpectralClustering`, computed by eigenscape."""

    fit = method(
        "SpectralClustering.fit",
        theirs.SpectralClustering.fit,
        _spectral_embedding=embed,
        kneighbors_graph=kneighbors_graph,
    )


spectral_clustering = function(theirs.spectral_clustering, __name__, SpectralClustering=SpectralClustering)
