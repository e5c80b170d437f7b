"""New cells in the representation of a reference: genes by name, projection on its principal axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from eigenscape.estimators._rows import gene_positions
from eigenscape.sc._data import in_memory, numeric_rows


def new_rows(adata: Any, adata_ref: Any, field: str, n_pcs: int | None) -> Any:
    """Return the rows of new cells in the representation ``field`` of the reference."""
    if field == "X":
        order = gene_positions(adata, adata_ref.var_names, "adata", "adata_ref")
        return numeric_rows(adata.X, "adata.X")[:, order]
    if field == "X_pca" and "PCs" in adata_ref.varm:
        return Projection.of(adata_ref).scores(adata)[:, : n_pcs or None]
    if field not in adata.obsm:
        raise ValueError(
            f"adata.obsm has no {field!r}, the representation of adata_ref; compute it for the new cells with"
            " the same model"
        )
    rows = numeric_rows(adata.obsm[field], f"adata.obsm[{field!r}]")
    width = adata_ref.obsm[field].shape[1]
    if rows.shape[1] != width:
        raise ValueError(
            f"adata.obsm[{field!r}] has {rows.shape[1]} columns, but {width} in adata_ref; compute it"
            " with the same model"
        )
    return rows[:, : n_pcs or None]


@dataclass(frozen=True, eq=False)
class Projection:
    """The PCA of a reference, ``X_pca = X @ axes - offset``, on the genes with loadings."""

    adata: Any
    genes: np.ndarray  # (g,) positions of the genes with loadings
    axes: np.ndarray  # (g, r)
    offset: np.ndarray  # (r,)

    @staticmethod
    def of(adata: Any) -> Projection:
        """Derive the offset from some reference cells; raise if their scores are not projections of ``X``."""
        axes = np.asarray(in_memory(adata.varm["PCs"]), dtype=np.float64)
        genes = np.flatnonzero(axes.any(axis=1))
        stored = np.asarray(in_memory(adata.obsm["X_pca"]), dtype=np.float64)
        which = np.unique(np.linspace(0, adata.n_obs - 1, min(adata.n_obs, 200)).astype(np.intp))
        rows = _columns(numeric_rows(adata[which].X, "adata_ref.X"), genes)
        difference = rows @ axes[genes] - stored[which]
        offset = difference.mean(axis=0)
        if np.abs(difference - offset).max() > 1e-3 * np.abs(stored).max():
            raise ValueError(
                "adata_ref.obsm['X_pca'] is not the projection of adata_ref.X on varm['PCs'], so new cells"
                " cannot be projected; keep the X of the PCA in adata_ref"
            )
        return Projection(adata, genes, axes[genes], offset)

    def rows(self, adata: Any) -> Any:
        """Return the genes with loadings of any cells, matched by name."""
        names = self.adata.var_names[self.genes]
        order = gene_positions(adata, names, "adata", "adata_ref")
        return _columns(numeric_rows(adata.X, "adata.X"), order)

    @cached_property
    def _mean(self) -> np.ndarray:
        return np.asarray(self.rows(self.adata).mean(axis=0)).ravel()

    def scores(self, adata: Any) -> np.ndarray:
        """Return the coordinates (n, r) of any cells on the principal axes."""
        return np.asarray(self.rows(adata) @ self.axes) - self.offset

    def residuals(self, adata: Any) -> np.ndarray:
        """Return the distances (n,) of cells to the principal subspace, ``sqrt(|x - mu|^2 - |scores|^2)``."""
        rows, mean = self.rows(adata), self._mean
        squares = row_norms(rows, squared=True) - 2 * np.asarray(rows @ mean) + mean @ mean
        scores = np.asarray(rows @ self.axes) - mean @ self.axes
        return np.sqrt(np.maximum(squares - np.square(scores).sum(axis=1), 0.0))


def _columns(rows: Any, order: np.ndarray) -> Any:
    """Return the columns in the given order, in double precision."""
    return rows[:, order].astype(np.float64)
