"""``tl.dpt``: diffusion pseudotime."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape._extras import optional_import
from eigenscape._parameters import check_count, check_positive
from eigenscape.graph.components import component_labels
from eigenscape.methods.pseudotime import PseudotimeDistances, branches, pseudotime_coordinates
from eigenscape.sc._data import Fields, annotates, in_memory
from eigenscape.sc._graph import StoredGraph
from eigenscape.sc._maps import diffmap


@annotates
def dpt(
    adata: Any,
    n_dcs: int = 10,
    *,
    n_branchings: int = 0,
    min_group_size: float = 0.01,
    root: int | str | None = None,
    neighbors_key: str | None = None,
    basis: str = "diffmap",
    n_jobs: int | None = None,
    copy: bool = False,
) -> Fields:
    """Compute diffusion pseudotime, and the groups of cells at branchings (Haghverdi et al. 2016).

    The pseudotime of a cell is the distance of its row of the accumulated transition matrix to the row of the
    root; see :mod:`eigenscape.methods.pseudotime`.

    Parameters
    ----------
    adata : AnnData
        Data with a neighbour graph and its diffusion map (:func:`diffmap` here or in scanpy). The map is
        computed with its defaults if it is missing.
    n_dcs : int, default=10
        Number of eigenvectors, the stationary one included.
    n_branchings : int, default=0
        Number of branchings to detect.
    min_group_size : float, default=0.01
        Groups of at most this number of cells are not split. A value below 1 is a share of all cells.
    root : int, str or None, default=None
        Index or name of the root cell. None: ``uns["iroot"]``.
    neighbors_key : str or None, default=None
        Key of ``uns`` with the neighbour graph. If None, "neighbors".
    basis : str, default="diffmap"
        Name of the diffusion map, its ``key_added``.
    n_jobs : int or None, default=None
        Number of threads.
    copy : bool, default=False
        Whether to return a copy with the results instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        ``obs["dpt_pseudotime"]`` is at most 1, and infinite in components without the root.
        ``obs["dpt_groups"]`` (if ``n_branchings > 0``) has the categories "0", "1", ...: cells that belong
        to no single branch keep the number of the group that was split, branches get new ones. ``uns`` has
        "iroot" and the parameters in "dpt".

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.pp.neighbors(adata)
    >>> sc.tl.diffmap(adata)
    >>> sc.tl.dpt(adata, root=0)
    >>> float(adata.obs["dpt_pseudotime"].iloc[0])
    0.0
    """
    pandas = optional_import("pandas", "sc.tl.dpt")
    check_count("n_branchings", n_branchings, minimum=0)
    check_positive("min_group_size", min_group_size)
    iroot = root_cell(adata, root)
    if f"X_{basis}" not in adata.obsm:
        if basis != "diffmap":
            raise ValueError(f"adata.obsm has no 'X_{basis}'; run tl.diffmap with key_added={basis!r} first")
        diffmap(adata, neighbors_key=neighbors_key)
    distances = pseudotime_distances(adata, basis, n_dcs, neighbors_key)
    row = distances(iroot)
    scale = float(row[np.isfinite(row)].max())
    obs: dict[str, Any] = {"dpt_pseudotime": row / scale}
    if n_branchings:
        size = int(min_group_size * adata.n_obs if min_group_size < 1 else min_group_size)
        groups = branches(distances, n_branchings, iroot, size)
        names = np.arange(groups.max() + 1).astype(str)
        obs["dpt_groups"] = pandas.Categorical(names[groups], categories=names)
    params = {"n_dcs": n_dcs, "basis": basis, "scale": scale}
    return {"uns": {"iroot": iroot, "dpt": {"params": params}}, "obs": obs}


def root_cell(adata: Any, root: int | str | None) -> int:
    """Return the index of the root cell: ``root``, or ``uns["iroot"]``."""
    if isinstance(root, str):
        found = np.flatnonzero(np.asarray(adata.obs_names) == root)
        if len(found) != 1:
            raise ValueError(f"root={root!r} names {len(found)} cells; pass the name or index of one cell")
        return int(found[0])
    if root is None:
        if "iroot" not in adata.uns:
            raise ValueError("there is no root cell; pass root= (index or name), or set adata.uns['iroot']")
        root = int(np.asarray(adata.uns["iroot"]).reshape(()))
    root = check_count("root", root, minimum=0)
    if root >= adata.n_obs:
        raise ValueError(f"root={root} is not the index of a cell; there are {adata.n_obs} cells")
    return root


def pseudotime_distances(
    adata: Any, basis: str, n_dcs: int, neighbors_key: str | None = None
) -> PseudotimeDistances:
    """Return the distances of diffusion pseudotime from the stored diffusion map."""
    if f"{basis}_evals" not in adata.uns:
        raise ValueError(f"adata.uns has no '{basis}_evals'; run tl.diffmap first")
    values = np.asarray(adata.uns[f"{basis}_evals"], dtype=np.float64)
    vectors = np.asarray(in_memory(adata.obsm[f"X_{basis}"]), dtype=np.float64)
    n_dcs = min(check_count("n_dcs", n_dcs, minimum=2), len(values))
    key = adata.uns.get(basis, {}).get("params", {}).get("neighbors_key", neighbors_key)
    labels = component_labels(StoredGraph.of(adata, neighbors_key or key).connectivities())
    n_stationary = int(labels.max()) + 1
    if n_dcs <= n_stationary:
        raise ValueError(
            f"the neighbour graph has {n_stationary} connected components, each with a stationary"
            f" eigenvector, and only {n_dcs} eigenvectors are used; raise n_neighbors in pp.neighbors, or"
            " n_comps in tl.diffmap and n_dcs"
        )
    coordinates = pseudotime_coordinates(values[:n_dcs], vectors[:, :n_dcs], n_stationary)
    return PseudotimeDistances(coordinates, labels)
