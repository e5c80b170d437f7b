"""scikit-learn's ClassicalMDS with eigenvectors from eigenscape."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scipy import linalg
from sklearn import manifold
from sklearn.base import _fit_context

from eigenscape.accel._rebind import rebound
from eigenscape.accel._record import recorded, replaces
from eigenscape.accel._solve import leading

_ClassicalMDS: Any = manifold.ClassicalMDS  # AttributeError in old versions, which have none


class ClassicalMDS(_ClassicalMDS):
    """:class:`sklearn.manifold.ClassicalMDS`, computed by eigenscape."""

    @_fit_context(prefer_skip_nested_validation=True)
    @recorded("ClassicalMDS.fit")
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Compute and return the embedding, as :meth:`sklearn.manifold.ClassicalMDS.fit_transform`."""

        @replaces("eigenvectors", linalg.eigh)
        def eigh(B: Any) -> Any:
            return leading(B, min(self.n_components, len(B)))

        return rebound(_ClassicalMDS.fit_transform, linalg=SimpleNamespace(eigh=eigh))(self, X, y)
