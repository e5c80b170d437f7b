"""scikit-learn's SpectralEmbedding with neighbours and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context
from sklearn.manifold import _spectral_embedding as theirs

from eigenscape.accel._laplacian import spectral_embedding as _embed
from eigenscape.accel._neighbors import kneighbors_graph
from eigenscape.accel._rebind import rebound, validated
from eigenscape.accel._record import recorded

_fit = rebound(theirs.SpectralEmbedding.fit, _spectral_embedding=_embed)
_affinity = rebound(theirs.SpectralEmbedding._get_affinity_matrix, kneighbors_graph=kneighbors_graph)
_function = rebound(theirs.spectral_embedding, _spectral_embedding=_embed)


class SpectralEmbedding(theirs.SpectralEmbedding):
    """:class:`sklearn.manifold.SpectralEmbedding`, computed by eigenscape; same parameters and attributes."""

    def _get_affinity_matrix(self, X: Any, Y: Any = None) -> Any:
        return _affinity(self, X, Y)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> SpectralEmbedding:
        """Fit the model, as :meth:`sklearn.manifold.SpectralEmbedding.fit`."""
        with recorded("SpectralEmbedding.fit"):
            return _fit(self, X, y)


def _recorded(*args: Any, **kwargs: Any) -> Any:
    with recorded("spectral_embedding"):
        return _function(*args, **kwargs)


spectral_embedding = validated(theirs.spectral_embedding, _recorded, __name__)
