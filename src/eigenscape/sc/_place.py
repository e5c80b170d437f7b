"""``tl.place``: new cells on the map of a reference; ``tl.loss``: how well the map describes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._extras import optional_import
from eigenscape._threads import kept_threads
from eigenscape.kernels.neighbor_weights import NeighborAffinity
from eigenscape.methods.pseudotime import pseudotime_coordinates
from eigenscape.quality.loss import kernel_loss
from eigenscape.sc._data import Fields, annotates, check_annotated, representation
from eigenscape.sc._model import Projection, StoredMap, new_rows
from eigenscape.sc._pseudotime import pseudotime_distances, root_cell


@annotates
def place(
    adata: Any,
    adata_ref: Any,
    *,
    basis: str = "diffmap",
    obs: str | Iterable[str] | None = None,
    neighbors_key: str | None = None,
    n_jobs: int | None = None,
    copy: bool = False,
) -> Fields:
    """Place new cells on the map of a reference, by the Nystrom formula (Bengio eq. 20).

    A new cell gets the edges and weights that it would have as a cell of the reference, and from these the
    values of the eigenfunctions. No cell of the reference moves, and no new cell affects another one. A cell
    of the reference gets its own coordinates.

    Parameters
    ----------
    adata : AnnData
        New cells, preprocessed as the reference was. Genes are matched by name. If the reference is
        represented by its PCA, they are projected on its axes (``varm["PCs"]``); other representations must
        be in ``obsm``.
    adata_ref : AnnData
        Reference with a map of ``eigenscape.sc.tl``, or scanpy's diffusion map. It may have been written to
        a file and read again.
    basis : str, default="diffmap"
        Name of the map, its ``key_added``.
    obs : str, iterable of str or None, default=None
        Columns of ``adata_ref.obs`` with labels for the new cells. A label is the one with the largest share
        of the weights of a cell's neighbours, and the share is its confidence. Missing labels of the
        reference are not counted.
    neighbors_key : str or None, default=None
        Neighbour graph of the reference for labels, if the map has none (kernel PCA); None: "neighbors".
    n_jobs : int or None, default=None
        Number of threads.
    copy : bool, default=False
        Whether to return a copy with the results instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        ``obsm["X_diffmap"]`` (or the name of another basis); for each column of labels ``obs[name]`` and
        ``obs[name + "_confidence"]``; ``obs["dpt_pseudotime"]`` if the reference has the pseudotime of
        :func:`eigenscape.sc.tl.dpt`; ``obs["place_distance"]``, the mean distance to the nearest reference
        cells over its median in the reference; ``obs["place_novelty"]``, the share of reference cells for
        which that distance is smaller; and, for a PCA, ``obs["place_residual"]``, the share of reference
        cells that are nearer to the principal subspace.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> reference, new = anndata.AnnData(X[:150]), anndata.AnnData(X[150:])
    >>> sc.pp.neighbors(reference)
    >>> sc.tl.diffmap(reference, n_comps=3)
    >>> sc.tl.place(new, reference)
    >>> new.obsm["X_diffmap"].shape
    (50, 3)
    """
    check_annotated(adata_ref, "adata_ref")
    columns = [obs] if isinstance(obs, str) else list(obs or [])
    stored = StoredMap.of(adata_ref, basis)
    field, n_pcs = stored.field()
    reference = Reference.of(stored, bool(columns), neighbors_key)
    rows, nearest, means = reference.cells(new_rows(adata, adata_ref, field, n_pcs))
    coordinates = stored.embedding(reference.rows, reference.affinity).transform(rows)
    found: dict[str, Any] = {}
    if reference.affinity is not None:
        weights = reference.affinity(rows)  # (n_new, n_ref)
        for name in columns:
            found.update(_labels(adata_ref, name, weights))
        known = reference.mean_distances
        found["place_distance"] = means / np.median(known)
        found["place_novelty"] = _shares(means, known)
    if stored.method == "diffmap":
        found.update(_pseudotime(stored, coordinates, nearest))
    if field == "X_pca" and "PCs" in adata_ref.varm:
        residuals = Projection.of(adata_ref).residuals
        found["place_residual"] = _shares(residuals(adata), residuals(adata_ref))
    return {"obsm": {f"X_{basis}": coordinates}, "obs": found}


def loss(adata: Any, adata_ref: Any = None, *, basis: str = "diffmap", n_jobs: int | None = None) -> float:
    """Compute the mean squared error of a kernel's expansion in the eigenfunctions of a map (Bengio sec. 4).

    Parameters
    ----------
    adata : AnnData
        Held-out cells, as for :func:`place`; or the cells of the map itself if ``adata_ref`` is None. The
        time is proportional to the square of the number of held-out cells.
    adata_ref : AnnData or None, default=None
        Reference with the map.
    basis : str, default="diffmap"
        Name of the map, its ``key_added``.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    float
        Lower is better. The loss of the cells of the map decreases with every further component; the loss of
        held-out cells increases again where components describe noise. Losses of maps of different kernels or
        graphs are not comparable.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.pp.neighbors(adata)
    >>> sc.tl.diffmap(adata, n_comps=4)
    >>> bool(sc.tl.loss(adata) > 0)
    True
    """
    check_annotated(adata)
    reference = adata if adata_ref is None else check_annotated(adata_ref, "adata_ref")
    stored = StoredMap.of(reference, basis)
    if adata_ref is not None and adata.n_obs < 2:
        raise ValueError("the loss is a mean over pairs of cells and needs at least 2, got 1")
    with kept_threads(n_jobs):
        known = Reference.of(stored)
        embedding = stored.embedding(known.rows, known.affinity)
        if adata_ref is None:
            return kernel_loss(embedding)
        rows, *_ = known.cells(new_rows(adata, adata_ref, *stored.field()))
        return kernel_loss(embedding, rows)


@dataclass(frozen=True, eq=False)
class Reference:
    """Rows of the reference cells and, unless the map has no graph, their affinity."""

    rows: Any
    affinity: NeighborAffinity | None

    @staticmethod
    def of(stored: StoredMap, labels: bool = False, neighbors_key: str | None = None) -> Reference:
        """Return the reference of a map; ``labels`` states whether a graph is needed in any case."""
        rows, _ = representation(stored.adata, *stored.field())
        if stored.method == "kernel_pca" and not labels:
            return Reference(rows, None)
        graph = stored.stored_graph(neighbors_key)
        if stored.method == "kernel_pca" and graph.rows().shape != rows.shape:
            raise ValueError(
                "the neighbour graph of adata_ref has another representation than the map; compute it with"
                " the use_rep and n_pcs of tl.kernel_pca, and pass its neighbors_key"
            )
        return Reference(rows, graph.affinity(rows))

    @property
    def mean_distances(self) -> np.ndarray:
        """Mean distance (n_ref,) of each reference cell to its neighbours."""
        assert self.affinity is not None
        lists = self.affinity.graph.neighbors
        return np.add.reduceat(lists.data, lists.indptr[:-1]) / np.diff(lists.indptr)

    def cells(self, rows: Any) -> tuple[Any, np.ndarray | None, np.ndarray]:
        """Return new cells, their nearest reference cells, and mean distances to those near.

        Without a graph nothing is near.
        """
        rows = rows.astype(self.rows.dtype)
        if self.affinity is None:
            return rows, None, np.empty(0)
        graph = self.affinity.graph
        assert graph.n_neighbors is not None
        lengths, indices = graph.index.nearest(rows, graph.n_neighbors)
        nearest, means = indices[:, 0], lengths.mean(axis=1)
        vertex = graph.find(rows)
        same = vertex >= 0
        means[same] = self.mean_distances[vertex[same]]
        return rows, nearest, means


def _labels(adata_ref: Any, name: str, weights: sparse.csr_array) -> dict[str, Any]:
    """Return the labels of new cells by the weights of their neighbours, and the shares of these weights."""
    pandas = optional_import("pandas", "sc.tl.place")
    if name not in adata_ref.obs:
        names = ", ".join(map(repr, adata_ref.obs.columns)) or "none"
        raise ValueError(f"adata_ref.obs has no column {name!r}; it has {names}")
    column = pandas.Series(np.asarray(adata_ref.obs[name]), dtype=adata_ref.obs[name].dtype)
    if pandas.api.types.is_float_dtype(column.dtype):
        raise ValueError(f"adata_ref.obs[{name!r}] is not categorical; labels must be categories or text")
    labels = column.astype("category").cat
    codes, categories = labels.codes.to_numpy(), labels.categories
    if not (codes >= 0).any():
        raise ValueError(f"adata_ref.obs[{name!r}] has no label; all are missing")
    votes = weights @ (codes[:, None] == np.arange(len(categories))).astype(np.float64)  # (n_new, n_labels)
    total = votes.sum(axis=1)
    best = np.where(total > 0, votes.argmax(axis=1), -1)
    confidence = np.divide(votes.max(axis=1), total, out=np.zeros(len(total)), where=total > 0)
    found = pandas.Categorical.from_codes(best, categories=categories)
    return {name: found, f"{name}_confidence": confidence}


def _shares(new: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return the share of reference values below each new value."""
    return np.searchsorted(np.sort(reference), new) / len(reference)


def _pseudotime(stored: StoredMap, coordinates: np.ndarray, nearest: np.ndarray | None) -> dict[str, Any]:
    """Return the pseudotime of new cells, if the reference has one computed from the same map."""
    recorded = stored.adata.uns.get("dpt", {}).get("params", {})
    if str(recorded.get("basis")) != stored.basis or "dpt_pseudotime" not in stored.adata.obs:
        return {}
    assert nearest is not None
    root, n_dcs = root_cell(stored.adata, None), int(recorded["n_dcs"])
    distances = pseudotime_distances(stored.adata, stored.basis, n_dcs)
    n_stationary, n_dcs = int(distances.labels.max()) + 1, min(n_dcs, len(stored.values))
    new = pseudotime_coordinates(stored.values[:n_dcs], coordinates[:, :n_dcs], n_stationary)
    times = np.linalg.norm(new - distances.coordinates[root], axis=1) / float(recorded["scale"])
    times[distances.labels[nearest] != distances.labels[root]] = np.inf
    return {"dpt_pseudotime": times}
