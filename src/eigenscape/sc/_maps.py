"""Maps and clusters of cells: the functions of ``tl`` that need no reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape._extras import optional_import
from eigenscape._warnings import warn
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators import KernelPCA, SpectralClustering
from eigenscape.estimators._types import Seed
from eigenscape.exceptions import DisconnectedGraphWarning
from eigenscape.graph.components import component_labels
from eigenscape.methods.isomap import isomap as geodesic_map
from eigenscape.methods.kernel_pca import with_components
from eigenscape.methods.transitions import Transitions
from eigenscape.normalize import CenteredKernel
from eigenscape.pieces import split_graph
from eigenscape.sc._data import Fields, annotates, check_components, map_fields, representation, solver_config
from eigenscape.sc._graph import StoredGraph
from eigenscape.solvers import EigenPairs


@annotates
def diffmap(
    adata: Any,
    n_comps: int = 15,
    *,
    neighbors_key: str | None = None,
    random_state: Seed = 0,
    key_added: str = "diffmap",
    n_jobs: int | None = None,
    copy: bool = False,
) -> Fields:
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
    check_components(n_comps, adata.n_obs)
    pairs = _walk(adata, neighbors_key, 1.0, n_comps, random_state)[1]
    params = {"method": "diffmap", "neighbors_key": neighbors_key, "n_comps": n_comps}
    return map_fields(key_added, pairs.vectors, pairs.values, params)


@annotates
def laplacian_eigenmaps(
    adata: Any,
    n_comps: int = 2,
    *,
    neighbors_key: str | None = None,
    random_state: Seed = 0,
    key_added: str = "laplacian_eigenmaps",
    n_jobs: int | None = None,
    copy: bool = False,
) -> Fields:
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
    check_components(n_comps, adata.n_obs, trivial=1)
    transitions, pairs = _walk(adata, neighbors_key, 0.0, n_comps + 1, random_state)
    coordinates = np.sqrt(adata.n_obs) * pairs.vectors[:, 1:] / np.sqrt(transitions.sums)[:, None]
    params = {"method": "laplacian_eigenmaps", "neighbors_key": neighbors_key, "n_comps": n_comps}
    return map_fields(key_added, coordinates, pairs.values[1:], params)


def _walk(
    adata: Any, neighbors_key: str | None, alpha: float, count: int, random_state: Seed
) -> tuple[Transitions, EigenPairs]:
    """Return the random walk on the stored graph, and its ``count`` largest eigenpairs."""
    weights = StoredGraph.of(adata, neighbors_key).connectivities()
    n_components = int(component_labels(weights).max()) + 1
    if n_components > 1:
        warn(
            f"the neighbour graph has {n_components} connected components, whose relative positions are not"
            " determined; raise n_neighbors in pp.neighbors to connect them",
            DisconnectedGraphWarning,
        )
    transitions = Transitions.of(weights, alpha)
    return transitions, transitions.eigenpairs(count, solver_config(random_state))


@annotates
def isomap(
    adata: Any,
    n_comps: int = 2,
    *,
    neighbors_key: str | None = None,
    random_state: Seed = 0,
    key_added: str = "isomap",
    n_jobs: int | None = None,
    copy: bool = False,
) -> Fields:
    """Compute Isomap: coordinates whose distances are the lengths of shortest paths in the graph.

    Parameters
    ----------
    adata : AnnData
        Data with a neighbour graph, computed by :func:`eigenscape.sc.pp.neighbors` or scanpy.

        Its distances are the lengths of the edges. Components are connected by their shortest missing edges,
        with a warning.
    n_comps : int, default=2
        Number of coordinates.
    neighbors_key : str or None, default=None
        Key of ``uns`` with the neighbour graph. If None, "neighbors".
    random_state : int, RandomState or None, default=0
        Seed of the eigensolver.
    key_added : str, default="isomap"
        Name of the results.
    n_jobs : int or None, default=None
        Number of threads.
    copy : bool, default=False
        Whether to return a copy with the results instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        ``obsm["X_isomap"]`` (n_obs, n_comps), ``uns["isomap_evals"]``, and in ``uns["isomap"]`` the
        parameters and what places new cells. Memory is proportional to ``n_obs ** 2``.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.pp.neighbors(adata)
    >>> sc.tl.isomap(adata)
    >>> adata.obsm["X_isomap"].shape
    (100, 2)
    """
    check_components(n_comps, adata.n_obs, trivial=1)
    stored = StoredGraph.of(adata, neighbors_key)
    graph = split_graph(stored.distinct_graph(stored.rows()), "connect").parts[0]
    embedding = with_components(geodesic_map(graph, n_comps, solver_config(random_state)), n_comps)
    params = {"method": "isomap", "neighbors_key": neighbors_key, "n_comps": n_comps}
    return _centered_fields(key_added, embedding, params)


@annotates
def kernel_pca(
    adata: Any,
    n_comps: int = 2,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    kernel: str = "rbf",
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
    random_state: Seed = 0,
    key_added: str = "kernel_pca",
    n_jobs: int | None = None,
    copy: bool = False,
) -> Fields:
    """Compute kernel PCA of a representation of the cells; see :class:`eigenscape.KernelPCA`.

    Parameters
    ----------
    adata : AnnData
    n_comps : int, default=2
        Number of coordinates.
    use_rep : str or None, default=None
        Representation of the cells: "X" or a key of ``obsm``. If None, "X_pca" if there are more than 50
        genes, otherwise "X".
    n_pcs : int or None, default=None
        Number of columns of the representation. If None, all columns. If 0, ``X`` is used.
    kernel : str, default="rbf"
        Name of a kernel.
    gamma : float or None, default=None
        Width of the kernel; None: estimated from the data.
    degree : float, default=3
        Degree of a polynomial kernel.
    coef0 : float, default=1
        Constant of a polynomial or sigmoid kernel.
    random_state : int, RandomState or None, default=0
        Seed of the eigensolver.
    key_added : str, default="kernel_pca"
        Name of the results.
    n_jobs : int or None, default=None
        Number of threads.
    copy : bool, default=False
        Whether to return a copy with the results instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        ``obsm["X_kernel_pca"]`` (n_obs, n_comps), ``uns["kernel_pca_evals"]``, and in ``uns["kernel_pca"]``
        the parameters and what places new cells.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.tl.kernel_pca(adata, n_comps=3)
    >>> adata.obsm["X_kernel_pca"].shape
    (100, 3)
    """
    check_components(n_comps, adata.n_obs, trivial=1)
    rows, field = representation(adata, use_rep, n_pcs)
    options: dict[str, Any] = {"kernel": kernel, "degree": degree, "coef0": coef0}
    model = KernelPCA(n_comps, gamma=gamma, random_state=random_state, **options).fit(rows)
    params = {"method": "kernel_pca", "use_rep": field, "n_pcs": n_pcs, "n_comps": n_comps, **options}
    params["gamma"] = getattr(model, "gamma_", None)
    return _centered_fields(key_added, model._model_, params)


def _centered_fields(key: str, embedding: Embedding, params: dict[str, Any]) -> Fields:
    """Return the map of a centred kernel with the means by which new cells are centred."""
    assert isinstance(embedding.kernel, CenteredKernel)
    means = embedding.kernel.column_means
    return map_fields(key, embedding.coordinates, embedding.eigenvalues, params, column_means=means)


@annotates
def spectral_clustering(
    adata: Any,
    n_clusters: int = 8,
    *,
    neighbors_key: str | None = None,
    n_init: int = 10,
    random_state: Seed = 0,
    key_added: str = "spectral_clustering",
    n_jobs: int | None = None,
    copy: bool = False,
) -> Fields:
    """Cluster the cells by k-means on the eigenvectors of the neighbour graph (Bengio sec. 2.3).

    Parameters
    ----------
    adata : AnnData
        Data with a neighbour graph, computed by :func:`eigenscape.sc.pp.neighbors` or scanpy.

        It may have at most ``n_clusters`` connected components.
    n_clusters : int, default=8
        Number of clusters.
    neighbors_key : str or None, default=None
        Key of ``uns`` with the neighbour graph. If None, "neighbors".
    n_init : int, default=10
        Number of runs of k-means; the best is used.
    random_state : int, RandomState or None, default=0
        Seed.
    key_added : str, default="spectral_clustering"
        Name of the results.
    n_jobs : int or None, default=None
        Number of threads.
    copy : bool, default=False
        Whether to return a copy with the results instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        ``obs["spectral_clustering"]`` has the categories "0", "1", ..., and
        ``uns["spectral_clustering"]`` the parameters and the normalised cut.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.pp.neighbors(adata)
    >>> sc.tl.spectral_clustering(adata, n_clusters=3)
    >>> list(adata.obs["spectral_clustering"].cat.categories)
    ['0', '1', '2']
    """
    pandas = optional_import("pandas", "sc.tl.spectral_clustering")
    weights = StoredGraph.of(adata, neighbors_key).connectivities()
    options: dict[str, Any] = {"affinity": "precomputed", "on_disconnected": "per_component"}
    model = SpectralClustering(n_clusters, n_init=n_init, random_state=random_state, **options).fit(weights)
    names = np.arange(n_clusters).astype(str)
    params = {"method": "spectral_clustering", "n_clusters": n_clusters, "neighbors_key": neighbors_key}
    labels = pandas.Categorical(names[model.labels_], categories=names)
    uns = {key_added: {"params": params, "ncut": float(model.ncut_)}}
    return {"obs": {key_added: labels}, "uns": uns}
