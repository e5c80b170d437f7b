"""Maps stored in AnnData objects as functions of new cells.

See docs/decisions/sc-stored-maps.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms

from eigenscape.eigenfunctions import Eigenfunctions, Embedding, RootScale, divide_nonzero
from eigenscape.estimators._rows import gene_positions
from eigenscape.graph.components import component_labels
from eigenscape.kernels import kernel_by_name
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.distance import GeodesicKernel
from eigenscape.methods.laplacian import GeneralizedScale
from eigenscape.methods.transitions import Transitions
from eigenscape.normalize import CenteredKernel, uniform_weights
from eigenscape.pieces import split_graph
from eigenscape.sc._data import in_memory, numeric_rows, representation_field
from eigenscape.sc._graph import StoredGraph
from eigenscape.solvers import EigenPairs

METHODS = ("diffmap", "laplacian_eigenmaps", "isomap", "kernel_pca")


@dataclass(frozen=True, eq=False)
class StoredMap:
    """The map ``basis`` of an AnnData object: its parameters, coordinates and eigenvalues."""

    adata: Any
    basis: str
    params: Mapping[str, Any]
    coordinates: np.ndarray  # (n_obs, n_comps)
    values: np.ndarray  # (n_comps,)

    @staticmethod
    def of(adata: Any, basis: str) -> StoredMap:
        """Find a map written by a function of ``tl``, or the diffusion map of scanpy."""
        name, evals = f"X_{basis}", f"{basis}_evals"
        if name not in adata.obsm or evals not in adata.uns:
            raise ValueError(
                f"adata_ref has no map {basis!r} (obsm[{name!r}] and uns[{evals!r}]); run"
                f" eigenscape.sc.tl.{basis if basis in METHODS else 'diffmap'} on it first, or pass basis="
            )
        params = adata.uns.get(basis, {}).get("params", {"method": "diffmap"} if basis == "diffmap" else {})
        if str(params.get("method")) not in METHODS:
            raise ValueError(
                f"adata_ref.uns[{basis!r}] does not say how the map was made; new cells are placed on maps"
                f" of eigenscape.sc.tl: {', '.join(METHODS)}"
            )
        coordinates = np.asarray(in_memory(adata.obsm[name]), dtype=np.float64)
        return StoredMap(adata, basis, params, coordinates, np.asarray(adata.uns[evals], dtype=np.float64))

    @property
    def method(self) -> str:
        return str(self.params["method"])

    def stored_graph(self, neighbors_key: str | None = None) -> StoredGraph:
        """Return the neighbour graph of the map, or the one named by ``neighbors_key``."""
        key = self.params.get("neighbors_key", neighbors_key)
        return StoredGraph.of(self.adata, None if key is None else str(key), "adata_ref")

    def field(self) -> tuple[str, int | None]:
        """Return the name of the representation and the number of its columns, None for all."""
        params = self.params if self.method == "kernel_pca" else self.stored_graph().params
        n_pcs = params.get("n_pcs")
        return representation_field(self.adata, params.get("use_rep"), n_pcs), n_pcs

    def embedding(self, rows: Any, affinity: BoundKernel | None) -> Embedding:
        """Return the map as a function of rows, given the rows of the cells and their affinity."""
        if self.method in ("diffmap", "laplacian_eigenmaps"):
            assert affinity is not None
            return self._of_walk(affinity)
        if self.method == "isomap":
            graph = self.stored_graph().distinct_graph(rows)
            kernel: BoundKernel = GeodesicKernel(split_graph(graph, "connect").parts[0])
        else:
            names = [name for name in ("gamma", "degree", "coef0") if name in self.params]
            options: dict[str, Any] = {name: float(self.params[name]) for name in names}
            kernel = kernel_by_name(str(self.params["kernel"]), **options, around_mean=True).bind(rows)
        means = np.asarray(self.adata.uns[self.basis]["column_means"], dtype=np.float64)
        pairs = self._pairs(divide_nonzero(self.coordinates, np.sqrt(self.values)), self.values)
        centered = CenteredKernel(kernel, uniform_weights(len(means)), means, float(means.mean()))
        return Embedding(Eigenfunctions(centered, pairs), RootScale(np.sqrt(pairs.values / len(means))))

    def _of_walk(self, affinity: Any) -> Embedding:
        transitions = Transitions.of(affinity.weights, 1.0 if self.method == "diffmap" else 0.0)
        kernel, m = transitions.kernel(affinity), len(self.coordinates)
        if self.method == "diffmap":
            pairs = self._pairs(self.coordinates, self.values)
            return Embedding(Eigenfunctions(kernel, pairs), RootScale(np.full(len(pairs), m**-0.5)))
        largest = np.where(component_labels(transitions.matrix) == 0, transitions.sums, 0.0)
        vectors = self.coordinates * np.sqrt(transitions.sums / m)[:, None]
        trivial = np.sqrt(largest / largest.sum())
        pairs = self._pairs(np.column_stack([trivial, vectors]), np.concatenate([[1.0], self.values]))
        scale = GeneralizedScale(float(transitions.sums.mean()))
        return Embedding(Eigenfunctions(kernel, pairs), scale, trivial=1)

    def _pairs(self, vectors: np.ndarray, values: np.ndarray) -> EigenPairs:
        """Return the stored eigenpairs; raise ValueError if the vectors are no longer orthonormal."""
        if np.abs(vectors.T @ vectors - np.eye(len(values))).max() > 1e-3:
            raise ValueError(
                f"adata_ref.obsm['X_{self.basis}'] no longer belongs to these cells (were some removed?); run"
                f" tl.{self.method} again"
            )
        return EigenPairs(values, np.ascontiguousarray(vectors), np.zeros(len(values)), "stored")


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
        rows = numeric_rows(adata[which].X, "adata_ref.X")[:, genes].astype(np.float64)
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
        return numeric_rows(adata.X, "adata.X")[:, order].astype(np.float64)

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
