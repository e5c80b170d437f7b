"""scikit-learn's SpectralClustering with neighbours and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context
from sklearn.cluster import _spectral as theirs

from eigenscape.accel._laplacian import spectral_embedding
from eigenscape.accel._neighbors import kneighbors_graph
from eigenscape.accel._rebind import rebound, validated
from eigenscape.accel._record import recorded

_fit = rebound(
    theirs.SpectralClustering.fit, _spectral_embedding=spectral_embedding, kneighbors_graph=kneighbors_graph
)


class SpectralClustering(theirs.SpectralClustering):
    """:class:`sklearn.cluster.SpectralClustering`, computed by eigenscape; same parameters and attributes."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        """Perform spectral clustering, as :meth:`sklearn.cluster.SpectralClustering.fit`."""
        with recorded("SpectralClustering.fit"):
            return _fit(self, X, y)


_function = rebound(theirs.spectral_clustering, SpectralClustering=SpectralClustering)


def _recorded(*args: Any, **kwargs: Any) -> Any:
    with recorded("spectral_clustering"):
        return _function(*args, **kwargs)


spectral_clustering = validated(theirs.spectral_clustering, _recorded, __name__)
