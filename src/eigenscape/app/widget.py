"""A map of points in a notebook, whose selection is readable from Python. Needs the extra ``notebook``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._extras import optional_import
from eigenscape.app.page import asset, bundle
from eigenscape.app.report._columns import DataColumn, as_column, as_pixels, data_column
from eigenscape.app.report._texts import shorten
from eigenscape.plot.thumbnails import check_images

anywidget = optional_import("anywidget", "a map in a notebook")
traitlets = optional_import("traitlets", "a map in a notebook")


class MapWidget(anywidget.AnyWidget):  # type: ignore[name-defined]
    """A map of points: colours, hovering, box and lasso selection.

    Parameters
    ----------
    coordinates : array-like of shape (n_samples, n_components)
        Coordinates of the points, at least two for each.
    labels : array-like of shape (n_samples,) or None, default=None
        Labels by which the points are coloured: categories, or numbers.
    columns : dict of str to array-like of shape (n_samples,) or None, default=None
        Further columns to colour by and to show at the cursor.
    ids : array-like of shape (n_samples,) or None, default=None
        Names of the points. If None, the indices of their rows.
    images : array-like of shape (n_samples, height, width[, 3]) or None, default=None
        Images of the samples, shown at the cursor; they are sent one by one.
    height : int, default=480
        Height of the map in pixels.

    Attributes
    ----------
    selected : ndarray of int
        Indices of the selected points, in ascending order. It can be set, and observed:
        ``widget.observe(function, "selected")``.
    color : str
        Name of the column that colours the points; "" for one colour.
    axes : list of two or three int
        Indices of the coordinates drawn; three give a view that rotates.
    """

    _esm = bundle("widget.js")
    _css = asset("map.css").replace(":root", ".eigenscape-widget") + asset("widget.css")
    _n = traitlets.Int().tag(sync=True)
    _d = traitlets.Int().tag(sync=True)
    _coordinates = traitlets.Bytes().tag(sync=True)
    _columns = traitlets.List().tag(sync=True)
    _ids = traitlets.List().tag(sync=True)
    _has_images = traitlets.Bool(False).tag(sync=True)
    _mask = traitlets.Bytes().tag(sync=True)
    color = traitlets.Unicode("").tag(sync=True)
    axes = traitlets.List([0, 1]).tag(sync=True)
    height = traitlets.Int(480).tag(sync=True)
    selected = traitlets.Any()

    def __init__(
        self,
        coordinates: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        columns: Mapping[str, ArrayLike] | None = None,
        ids: ArrayLike | None = None,
        images: ArrayLike | None = None,
        height: int = 480,
    ) -> None:
        Y = np.ascontiguousarray(coordinates, dtype="<f4")
        if Y.ndim != 2 or Y.shape[1] < 2 or not len(Y):
            raise ValueError(f"coordinates must have shape (n_samples, 2 or more), got {Y.shape}")
        n = len(Y)
        made = [] if labels is None else [data_column("label", labels, "label", n, "labels")]
        made += [
            data_column(name, values, "extra", n, f"columns[{name!r}]")
            for name, values in (columns or {}).items()
        ]
        self._images = None if images is None else check_images(images, n, (1, 3))
        super().__init__(
            _n=n,
            _d=Y.shape[1],
            _coordinates=Y.tobytes(),
            _columns=[_encode(column) for column in made],
            _ids=[] if ids is None else [shorten(one) for one in as_column("id", ids, "id", n, "ids").values],
            _has_images=self._images is not None,
            _mask=bytes((n + 7) // 8),
            color="" if labels is None else "label",
            height=int(height),
            selected=np.empty(0, dtype=np.intp),
        )
        self.on_msg(self._answer)

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> np.ndarray:
        indices = np.asarray(proposal["value"])
        if indices.dtype == bool:
            if indices.shape != (self._n,):
                raise ValueError(
                    f"selected must be indices or a mask of shape ({self._n},), got {indices.shape}"
                )
            return np.flatnonzero(indices)
        indices = np.unique(indices.astype(np.intp, casting="safe") if indices.size else np.empty(0, np.intp))
        if indices.size and (indices[0] < 0 or indices[-1] >= self._n):
            raise ValueError(
                f"selected must be between 0 and {self._n - 1}, got {indices[0]} to {indices[-1]}"
            )
        return indices

    @traitlets.observe("selected")
    def _write_mask(self, change: Any) -> None:
        bits = np.zeros(self._n, dtype=bool)
        bits[change["new"]] = True
        mask = np.packbits(bits, bitorder="little").tobytes()
        if mask != self._mask:
            self._mask = mask

    @traitlets.observe("_mask")
    def _read_mask(self, change: Any) -> None:
        bits = np.unpackbits(np.frombuffer(change["new"], np.uint8), bitorder="little", count=self._n)
        indices = np.flatnonzero(bits)
        if not np.array_equal(indices, self.selected):
            self.selected = indices

    @traitlets.validate("axes")
    def _check_axes(self, proposal: Any) -> list[int]:
        axes = list(proposal["value"])
        if len(axes) not in (2, 3) or not all(
            isinstance(a, (int, np.integer)) and 0 <= a < self._d for a in axes
        ):
            raise ValueError(f"axes={axes!r} must be two or three of the coordinates 0 to {self._d - 1}")
        return [int(axis) for axis in axes]

    def _answer(self, widget: Any, content: Any, buffers: Sequence[Any]) -> None:
        """Send the image of a point."""
        row = content.get("image") if isinstance(content, dict) else None
        if self._images is None or not isinstance(row, int) or not 0 <= row < self._n:
            return
        picture = as_pixels(self._images[row])
        shape = [*picture.shape[:2], 1 if picture.ndim == 2 else picture.shape[2]]
        self.send({"image": row, "shape": shape}, [picture.tobytes()])


def _encode(column: DataColumn) -> dict[str, Any]:
    """Return a column for the script: codes of categories, or numbers."""
    dtype = "<u2" if column.kind == "category" else "<f4"
    data = column.values.astype(dtype).tobytes()
    return {"name": column.name, "kind": column.kind, "names": list(column.categories), "data": data}
