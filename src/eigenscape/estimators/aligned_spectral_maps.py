"""The AlignedSpectralMaps estimator."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import KW_ONLY, replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import with_constructor
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._graph import Neighborhood, given_neighborhood, neighborhood_graph
from eigenscape.estimators._method import GraphSolver, Seed
from eigenscape.estimators._rows import check_coordinates
from eigenscape.estimators._running import fitting
from eigenscape.estimators._verify import Verification
from eigenscape.estimators._views import (
    ViewMap,
    check_enough_links,
    check_table,
    linked_rows,
    linked_vertices,
    tables_by_name,
)
from eigenscape.methods.aligned_maps import COUPLINGS, Views, aligned_eigenmaps, choose_coupling, link_losses
from eigenscape.options import KNNGraph, Metric
from eigenscape.solvers import NAMES

#: Attributes that all views have in common.
_SPECTRUM = ("eigenvalues_", "residuals_", "solver_", "n_iter_")


@with_constructor
class AlignedSpectralMaps(Estimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    r"""Maps of several tables in common coordinates: Laplacian eigenmaps of their graphs, coupled by links.

    Views are tables of different times, batches or kinds of measurement. Some rows of different views are
    known to belong together. The neighbourhood graphs of the views, with affinities :math:`K_v`, become one
    graph by edges :math:`\mu C` between linked rows, and the coordinates solve one problem

    .. math:: (S - K)\, z_r = \sigma_r S z_r, \qquad K = \mathrm{diag}(K_1, K_2, \dots) + \mu C

    with the degrees :math:`S` of :math:`K` (Ham et al. 2005). They are functions of each view: the
    Nystrom formula (Bengio eq. 20) places new rows of any view in the map of all of them.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    coupling : float or "auto", default="auto"
        Weight of a link, relative to the mean degree of a row within its view. "auto" compares 0.1, 0.3, 1, 3
        and 10: a part of the links is left out, and the weakest coupling is used that brings their rows as
        near to each other as the best one does, within one standard error. Stronger links keep fewer
        neighbours within the views.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. If None, 10, or fewer for fewer than 40 distinct samples:
        ``min(10, max(5, m // 4), m - 1)`` for ``m`` distinct samples.
    metric : str or callable, default="euclidean"
        Metric of the neighbour search: any metric of scikit-learn, or a function of two rows.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    affinity : KNNGraph or None, default=None
        Graph of each view with weights of its edges (:class:`eigenscape.options.KNNGraph`), in place of
        ``n_neighbors`` and ``metric``.
    on_disconnected : {"connect", "raise"}, default="connect"
        Treatment of a view whose graph has several connected components: add the shortest edges that connect
        them, or raise an error.
    eigen_solver : str, Solver or EigenSolver, default="auto"
        "auto", "dense", "lanczos", "shift-invert" or "multilevel"; "auto" chooses by the shape of the graph,
        see :mod:`eigenscape.solvers.policy`. A :class:`~eigenscape.options.Solver` also sets the tolerance
        and the number of iterations. An object with the methods of :class:`~eigenscape.solvers.EigenSolver`
        is a user-defined solver, whose results are verified.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    maps_ : dict of ViewMap
        The map of each view by its name (0, 1, ... for a list): an estimator with ``transform``,
        ``embedding_`` and ``n_features_in_``, which can be saved alone.
    embeddings_ : list or dict of ndarray of shape (n_samples, n_components)
        Coordinates of the training rows of each view.
    view_names_ : list
        Names of the views.
    coupling_ : float
        Weight of a link, relative to the mean degree.
    coupling_losses_ : dict of float to float
        Loss of the links left out, by coupling: their mean squared distance, relative to the mean squared
        distance of unrelated rows. Set if ``coupling="auto"``.
    link_loss_ : float
        The same loss for all links that were used in the fit: 0 if linked rows have equal coordinates, 1 if
        they are as far from each other as unrelated rows.
    n_links_ : int
        Number of links.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the Gram matrix ``kernel_(X)`` of the training samples, largest first.

        Here of the coupled graph.
    residuals_ : ndarray
        Residual norms ``|K v - l v|`` of the eigenpairs, in the shape of ``eigenvalues_``.
    solver_ : str
        Name of the eigensolver used.
    n_iter_ : int
        Number of iterations of the eigensolver; 0 or 1 for direct solvers.

    Examples
    --------
    Two halves of the images of digits; every third pair is known to belong together:

    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from eigenscape import AlignedSpectralMaps
    >>> images = load_digits().images[:600]
    >>> left, right = images[:, :, :4].reshape(600, 32), images[:, :, 4:].reshape(600, 32)
    >>> ids = np.arange(600)
    >>> known = np.where(ids % 3 == 0, ids, np.nan)
    >>> model = AlignedSpectralMaps(coupling=1).fit([left, right], links=[known, known])
    >>> model.transform(right[:5], view=1).shape
    (5, 2)
    >>> bool(model.link_loss_ < 0.05)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    coupling: float | Literal["auto"] = "auto"
    n_neighbors: int | None = None
    metric: Metric = "euclidean"
    affinity: KNNGraph | None = None
    on_disconnected: Literal["connect", "raise"] = "connect"
    eigen_solver: GraphSolver = "auto"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _solvers = NAMES
    _has_embedding = False

    def fit(self, X: Any, y: object = None, *, links: Any = None) -> Self:
        """Fit the maps of all views.

        Parameters
        ----------
        X : list or dict of array-like or sparse matrices of shape (n_samples, n_features)
            The views, by name if a dict. Their numbers of rows and of columns may differ.
        y : ignored
            Not used, present for API consistency.
        links : list or dict of array-like, dict of pairs, or "rows"
            Which rows belong together. One sequence of ids for each view: a row is linked to the row of the
            same id in the next view that has it; None and NaN are no ids. Or pairs of row numbers by the
            names of two views, ``{(0, 1): [[i, j], ...]}``. Or "rows": row i of all views is one sample.

        Returns
        -------
        self
        """
        with fitting(self):
            n_components, neighborhood, solver = self.n_components, self._neighborhood(), self._solver()
            tables = tables_by_name(X)
            names = list(tables)
            maps = [ViewMap(name, n_jobs=self.n_jobs, verbose=self.verbose) for name in names]
            rows = [check_table(each, tables[each.view]) for each in maps]
            linked = linked_rows(links, names, [table.shape[0] for table in rows])
            check_enough_links(linked, names, n_components)
            graphs = [neighborhood_graph(table, neighborhood, n_components) for table in rows]
            splits = [each.split(self.on_disconnected) for each in graphs]  # each in one part
            pairs = linked_vertices(graphs, linked)
            views = Views.of([split.parts[0].kernel for split in splits], pairs)
            coupling, losses = self.coupling, None
            if coupling == "auto":
                coupling, losses, _ = choose_coupling(views, n_components, solver)
            coordinates, embeddings = aligned_eigenmaps(views, float(coupling), n_components, solver)
            start = 0
            for each, table, own, split, embedding in zip(
                maps, rows, graphs, splits, embeddings, strict=True
            ):
                each.embedding_ = check_coordinates(table, coordinates[start + own.vertex])
                each._model_ = embedding
                each.__dict__.update(own.result([embedding], split, n_components).fitted())
                start += own.graph.n_vertices
            if losses is not None:
                self.coupling_losses_ = dict(zip(COUPLINGS, losses.tolist(), strict=True))
            self.maps_, self.view_names_ = dict(zip(names, maps, strict=True)), names
            self.coupling_, self.n_links_ = float(coupling), len(views.pairs)
            self.link_loss_ = float(link_losses(coordinates, views.pairs).mean())
            self.__dict__.update({name: getattr(maps[0], name) for name in _SPECTRUM})
        return self

    def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> Any:
        """Fit the maps of all views, and return their coordinates.

        Parameters
        ----------
        X, y
            As for ``fit``.
        **fit_params
            Further arguments of ``fit``: ``links``.

        Returns
        -------
        list or dict of ndarray of shape (n_samples, n_components)
            As ``embeddings_``.
        """
        return self.fit(X, y, **fit_params).embeddings_

    def transform(self, X: Any, view: Hashable) -> np.ndarray:  # type: ignore[override]
        """Compute the coordinates of rows of one view.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
            Rows with the columns of that view.
        view : str or int
            Name of the view: its key if ``fit`` got a dict, its position if a list.

        Returns
        -------
        ndarray of shape (n_new, n_components)
            Coordinates. They do not depend on the other rows of ``X``; training rows of the view get their
            row of ``embeddings_``. For a dask collection, a lazy dask array.
        """
        self._check_fitted()
        if view not in self.maps_:
            raise ValueError(f"view={view!r} is not known; the model has the views {self.view_names_!r}")
        return self.maps_[view].transform(X)

    @property
    def embeddings_(self) -> Any:
        """Coordinates of the training rows of each view: a dict if ``fit`` got one, otherwise a list."""
        check_is_fitted(self, "maps_")
        coordinates = {name: each.embedding_ for name, each in self.maps_.items()}
        listed = self.view_names_ == list(range(len(coordinates)))
        return list(coordinates.values()) if listed else coordinates

    def verify(self, X: Any = None, *, n_rows: int = 200) -> Verification:
        """Check the map of each view; see :meth:`LaplacianEigenmaps.verify`.

        Parameters
        ----------
        X : list or dict of array-like, optional
            The training data, as for ``fit``.
        n_rows : int, default=200
            Number of training rows of each view that are checked.

        Returns
        -------
        Verification
        """
        check_is_fitted(self, "maps_")
        tables = dict.fromkeys(self.maps_) if X is None else tables_by_name(X)
        found = {name: each.verify(tables[name], n_rows=n_rows) for name, each in self.maps_.items()}
        return Verification(
            type(self).__name__,
            tuple(
                replace(check, detail=f"view {name!r}, {check.detail}")
                for name, each in found.items()
                for check in each.checks
            ),
        )

    def _neighborhood(self) -> Neighborhood:
        """Return the graph of each view, checked."""
        neighborhood = given_neighborhood(self, name="affinity", weights="binary")
        option = neighborhood.option
        if option.metric == "precomputed":
            raise ValueError("metric='precomputed' is not supported by AlignedSpectralMaps; pass rows")
        if not isinstance(option.search, str):
            raise ValueError(
                f"search={option.search!r} must be 'auto', 'exact' or 'approximate': an index belongs to one"
                " view"
            )
        return neighborhood
