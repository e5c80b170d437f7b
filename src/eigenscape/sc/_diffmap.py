"""``tl.diffmap`` and ``tl.laplacian_eigenmaps``."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape._threads import kept_threads
from eigenscape.estimators._types import Seed
from eigenscape.methods.transitions import Transitions
from eigenscape.sc._data import (
    check_components,
    check_writable,
    output,
    solver_config,
    write_map,
)
from eigenscape.sc._graph import StoredGraph, warn_if_disconnected


def diffmap(
    adata: Any,
    n_comps: int = 15,
    *,
    neighbors_key: str | None = None,
    random_state: Seed = 0,
    key_added: str = "diffmap",
    n_jobs: int | None = None,
    copy: bool = False,
) -> Any:
    r"""Compute the diffusion map of the neighbour graph (Coifman and Lafon 2006; Haghverdi et al. 2015).

    With the connectivities :math:`W` and their row sums :math:`Q`, the density-normalised kernel is
    :math:`Q^{-1} W Q^{-1}`; divided by the square roots of its row sums it is the symmetric transition matrix
    :math:`T`. The coordinates are its eigenvectors of unit length with the largest eigenvalues, the first
    being the stationary one, as in ``scanpy.tl.diffmap``.

    Parameters
    ----------
    adata : AnnData
        Data with a neighbour graph, computed by :func:`eigenscape.sc.pp.neighbors` or scanpy.
    n_comps : int, default=15
        Number of eigenvectors, the stationary one included.
    neighbors_key : str or None, default=None
        Key of ``uns`` with the neighbour graph. If None, "neighbors".
    random_state : int, RandomState or None, default=0
        Seed of the eigensolver.
    key_added : str, default="diffmap"
        Name of the results.
    n_jobs : int or None, default=None
        Number of threads.
    copy : bool, default=False
        Whether to return a copy with the results instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        ``obsm["X_diffmap"]`` (n_obs, n_comps), ``uns["diffmap_evals"]`` (n_comps,), and in
        ``uns["diffmap"]`` the parameters by which :func:`place` finds the graph.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.pp.neighbors(adata)
    >>> sc.tl.diffmap(adata, n_comps=4)
    >>> adata.obsm["X_diffmap"].shape
    (100, 4)
    """
    check_writable(adata, copy)
    check_components(n_comps, adata.n_obs)
    solver = solver_config(random_state, n_jobs)
    weights = StoredGraph.of(adata, neighbors_key).connectivities()
    warn_if_disconnected(weights)
    with kept_threads(n_jobs):
        pairs = Transitions.of(weights, 1.0).eigenpairs(n_comps, solver)
    adata = output(adata, copy)
    params = {"method": "diffmap", "neighbors_key": neighbors_key, "n_comps": n_comps}
    write_map(adata, key_added, pairs.vectors, pairs.values, params)
    return adata if copy else None


def laplacian_eigenmaps(
    adata: Any,
    n_comps: int = 2,
    *,
    neighbors_key: str | None = None,
    random_state: Seed = 0,
    key_added: str = "laplacian_eigenmaps",
    n_jobs: int | None = None,
    copy: bool = False,
) -> Any:
    r"""Compute Laplacian eigenmaps of the neighbour graph (Belkin and Niyogi 2003; Bengio eq. 13).

    With the connectivities :math:`W` and their row sums :math:`S`, the coordinates solve
    :math:`(S - W) z = \sigma S z` for the smallest :math:`\sigma` after the constant solution.

    Parameters
    ----------
    adata : AnnData
        Data with a neighbour graph, computed by :func:`eigenscape.sc.pp.neighbors` or scanpy.
    n_comps : int, default=2
        Number of coordinates.
    neighbors_key : str or None, default=None
        Key of ``uns`` with the neighbour graph. If None, "neighbors".
    random_state : int, RandomState or None, default=0
        Seed of the eigensolver.
    key_added : str, default="laplacian_eigenmaps"
        Name of the results.
    n_jobs : int or None, default=None
        Number of threads.
    copy : bool, default=False
        Whether to return a copy with the results instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        ``obsm["X_laplacian_eigenmaps"]`` (n_obs, n_comps), ``uns["laplacian_eigenmaps_evals"]``, the
        eigenvalues :math:`1 - \sigma`, and the parameters in ``uns["laplacian_eigenmaps"]``.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.pp.neighbors(adata)
    >>> sc.tl.laplacian_eigenmaps(adata, n_comps=3)
    >>> adata.obsm["X_laplacian_eigenmaps"].shape
    (100, 3)
    """
    check_writable(adata, copy)
    check_components(n_comps, adata.n_obs, trivial=1)
    solver = solver_config(random_state, n_jobs)
    weights = StoredGraph.of(adata, neighbors_key).connectivities()
    warn_if_disconnected(weights)
    with kept_threads(n_jobs):
        transitions = Transitions.of(weights, 0.0)
        pairs = transitions.eigenpairs(n_comps + 1, solver)
    coordinates = np.sqrt(adata.n_obs) * pairs.vectors[:, 1:] / np.sqrt(transitions.sums)[:, None]
    adata = output(adata, copy)
    params = {"method": "laplacian_eigenmaps", "neighbors_key": neighbors_key, "n_comps": n_comps}
    write_map(adata, key_added, coordinates, pairs.values[1:], params)
    return adata if copy else None
