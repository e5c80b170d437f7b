"""``explore``: a fitted map as a notebook widget."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted


class ExploreMixin:
    """``explore`` of estimators with ``embedding_``."""

    def explore(
        self,
        labels: ArrayLike | None = None,
        *,
        columns: Mapping[str, ArrayLike] | None = None,
        ids: ArrayLike | None = None,
        images: ArrayLike | None = None,
        height: int = 480,
    ) -> Any:
        """Show the map of the training points as a widget in a notebook.

        Needs the extra ``notebook`` (anywidget).

        Parameters
        ----------
        labels : array-like of shape (n_samples,) or None, default=None
            Labels by which the points are coloured: categories, or numbers.
        columns : dict of str to array-like of shape (n_samples,) or None, default=None
            Further columns to colour by and to show next to the cursor.
        ids : array-like of shape (n_samples,) or None, default=None
            Names of the points. If None, the indices of their rows.
        images : array-like of shape (n_samples, height, width[, 3]) or None, default=None
            Images of the samples, shown next to the cursor.
        height : int, default=480
            Height of the map in pixels.

        Returns
        -------
        MapWidget
            Its attribute ``selected`` is an array of the indices of the selected points.
        """
        check_is_fitted(self)
        embedding = getattr(self, "embedding_", None)
        if embedding is None or not hasattr(embedding, "shape"):
            raise AttributeError(
                f"this {type(self).__name__} has no embedding_; pass coordinates to"
                " eigenscape.app.widget.MapWidget"
            )
        # The application is above this room, so it is looked up by name when it is asked for.
        widget = import_module("eigenscape.app.widget")
        return widget.MapWidget(embedding, labels, columns=columns, ids=ids, images=images, height=height)
