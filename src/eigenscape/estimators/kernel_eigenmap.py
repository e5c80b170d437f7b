"""The KernelEigenmap estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from eigenscape._numbers import as_contiguous_float64
from eigenscape._parameters import check_choice, check_enough, check_parameters, with_constructor
from eigenscape._progress import stage
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._graph import Vertices, vertices
from eigenscape.estimators._linear import check_rows
from eigenscape.estimators._method import Method, Seed
from eigenscape.estimators._rows import check_features, check_input, check_matrix, given_coordinates
from eigenscape.estimators._running import by_blocks, fitting, rowwise, running
from eigenscape.graph.row_index import distinct_rows
from eigenscape.methods.graph_embedding import Correction, FeatureMap, Transformation, feature_map
from eigenscape.methods.inverse_map import fit_inverse, rows_to_invert
from eigenscape.methods.iterative_reduction import IterativeOptions
from eigenscape.methods.kernel_centers import check_covariances
from eigenscape.methods.kernel_eigenmap import (
    KernelEigenmapOptions,
    choose_n_kernels,
    kernel_eigenmap,
    wide_kernels,
)
from eigenscape.methods.mixture import AffineMixture
from eigenscape.options import Graph, LocalKernels, Solver
from eigenscape.quality.edge_distortion import distortion

_DEFAULT_KERNELS = 64


@with_constructor
class KernelEigenmap(Estimator):
    r"""A continuous map from the space of the data that is smooth on a graph, and its inverse.

    With edge weights :math:`W`, degrees :math:`D` and features :math:`z(x)` of any point, collected in
    :math:`Z`, it solves the reduced eigenproblem (Brand eq. 8)

    .. math:: Z W Z' v = \lambda Z D Z' v

    and maps by :math:`y = [v_2, \dots, v_{d+1}]' z(x)`: of all such maps with :math:`Y' D Y = n` this one has
    the least :math:`\sum_{ij} |y_i - y_j|^2 W_{ij}` (eq. 16). With ``basis="kernels"``, :math:`z(x)` are
    local coordinates around Gaussian kernels :math:`p_k`, weighted by the posteriors of the kernels
    (eq. 14-17)

    .. math:: z(x) = \left[ (K_k (x - \mu_k), 1)\; \frac{p_k(x)}{\sum_j p_j(x)} \right]_k,

    so that the map is a smooth mixture of affine maps, defined everywhere. Far from all kernels it is the
    affine map of the nearest one.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_kernels : int, "auto" or None, default=None
        Number of kernels. If None, 64, or fewer if :math:`z` would have more entries than half the samples.
        If there are at least as many features as samples, about as many kernels as local coordinates.
        "auto" doubles the number from 4 to at most 256 and takes the smallest whose distortion of held-out
        edges is within 5 % of the least.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample; two samples are connected if at least one is among the
        neighbours of the other. If None, 12, or fewer for less than 48 distinct samples.
    random_state : int, RandomState instance or None, default=0
        Seed of all random choices, such as the start vectors of iterative eigensolvers. If None, results may
        differ between calls.
    n_jobs : int or None, default=None
        Number of threads. -1: all cores. None: all cores, unless BLAS or joblib is limited to fewer threads.
        The result does not depend on the number of threads.

    Other Parameters
    ----------------
    affinity : KNNGraph, RadiusGraph, SpanningTree or None, default=None
        Graph with weights of its edges (:mod:`eigenscape.options`), in place of ``n_neighbors`` and
        ``metric``. New rows are placed by their features, so that precomputed distances are not supported.
    kernels : LocalKernels or None, default=None
        Width, shape and centres of the kernels (:class:`eigenscape.options.LocalKernels`).
    correction : {"reweighted", "stochastic", "affine", "raw"}, default="reweighted"
        Correction if the constant function is not in the span of :math:`Z` and :math:`v_1` is not uniform
        (Brand sec. 2.1). With posteriors the constant is in the span: all four give the same map, and the
        constant is removed exactly. "reweighted" and "stochastic" divide by :math:`v_1'z(x)`. If it changes
        its sign, the map has a pole and a :class:`~eigenscape.exceptions.PoleWarning` is issued. Use "affine"
        for features that are centred or have both signs.
    posterior : bool, default=True
        Whether kernels are divided by their sum (eq. 14). The corrections differ only if False.
    basis : {"kernels", "features"}, default="kernels"
        "features" uses :math:`z(x) = x` (which may be sparse), for a graph with features at its vertices; see
        ``fit``.
    eigen_solver : {"auto", "dense", "iterative"} or Solver, default="auto"
        "dense" solves the eigenproblem of all entries of :math:`z` with dense matrices, "iterative" with
        sparse ones, for many kernels that each overlap few others (Brand sec. 6); it needs
        ``posterior=True``. "auto" is "iterative" for more than 3000 entries if that is possible and at most a
        quarter of the matrix is nonzero. Entries of :math:`z` that are linear combinations of others up to
        rounding are left out by "dense" and damped by "iterative"; where there are many, embeddings differ by
        some thousandths of their size. A :class:`~eigenscape.options.Solver` also sets the tolerance and the
        number of iterations. Ignored if ``basis="features"``.
    inverse : {"refined", "blocks"}, default="refined"
        Method of ``inverse_transform``. "blocks" maps the kernels and inverts their affine maps (eq. 19).
        "refined" then fits the coefficients to the training samples. The inverse is computed on first use,
        and the parameter may be changed after ``fit``.
    regularization : float, default=0
        Added to the diagonal of :math:`W`. Makes the map more isometric if all neighbourhoods have the same
        size (Brand sec. 4).
    on_disconnected : {"connect", "whole", "raise"}, default="connect"
        Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
        them; "whole" keeps the components, each with its own constant eigenvector. Both issue a
        :class:`~eigenscape.exceptions.DisconnectedGraphWarning`; "raise" raises an error.
    verbose : bool, default=False
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues :math:`\lambda`, largest first.
    distortion_ : float
        :func:`eigenscape.quality.distortion` of the embedding; comparable between methods on one graph.
    residuals_ : ndarray of shape (n_components,)
        Residual norms of the reduced eigenproblem, relative to :math:`|ZDZ'| |v|`; for the iterative solver,
        relative to :math:`v` in the norm of the eigenproblem.
    n_iter_ : int
        Number of restarts of the iterative solver; 1 for the dense one.
    rank_ : int
        Number of dimensions that :math:`Z` spans, without the constant if it was removed. The iterative
        solver does not determine it: the number of entries of :math:`z`.
    centers_ : ndarray of shape (n_kernels, n_features)
        Centres of the kernels.
    sigma_ : float
        Width of the kernels; the root of their mean variance unless they are spherical.
    covariances_ : ndarray of shape (n_kernels, n_features, n_features)
        Covariances of the kernels. Computed on access.
    n_kernels_ : int
        Number of kernels.
    local_components_ : int
        Number of local coordinates of each kernel.
    held_out_distortion_ : dict
        Distortion of held-out edges for each number of kernels tried by ``n_kernels="auto"``; infinite if
        there are too few kernels for a map.
    inverse_error_ : float
        Median distance between training samples and their reconstructions by ``inverse_transform``, relative
        to the diameter of the data. Computed on first access.
    graph_ : sparse array of shape (n_vertices, n_vertices)
        Edge weights; duplicate samples share a vertex.
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each sample, before components are connected; the largest is 0.
    n_connected_components_ : int
        Number of connected components, before components are connected.
    degrees_ : ndarray of shape (n_samples,)
        Number of edges of each sample, before components are connected. Equal samples share a vertex.
    n_neighbors_ : int
        Number of neighbours used. Set if the graph connects nearest neighbours.
    neighbor_recall_ : float
        Fraction of the true nearest neighbours found, measured on a sample; 1 for an exact search.
    width_ : float
        Width of heat weights. Set if the graph has ``weights="heat"``.
    n_features_in_ : int
        Number of features seen by ``fit``.

    Examples
    --------
    >>> from eigenscape import KernelEigenmap
    >>> from eigenscape.datasets import twisted_roll
    >>> X, _ = twisted_roll()
    >>> model = KernelEigenmap(n_components=2).fit(X)
    >>> Y = model.transform(X[:5] + 0.01)
    >>> model.inverse_transform(Y).shape, model.jacobian(X[:5]).shape
    ((5, 3), (5, 2, 3))
    >>> model.inverse_error_ < 0.02
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_kernels: int | Literal["auto"] | None = None
    kernels: LocalKernels | None = None
    correction: Correction = "reweighted"
    posterior: bool = True
    basis: Literal["kernels", "features"] = "kernels"
    eigen_solver: Literal["auto", "dense", "iterative"] | Solver = "auto"  # type: ignore[assignment]
    inverse: Literal["refined", "blocks"] = "refined"
    n_neighbors: int | None = None
    affinity: Graph | None = None
    regularization: float = 0.0
    on_disconnected: Literal["connect", "whole", "raise"] = "connect"
    random_state: Seed = 0
    n_jobs: int | None = None
    verbose: bool = False

    _edge_weights = "inverse"
    metric = "euclidean"
    _method = Method("kernel-eigenmap")
    _meaning = "The coordinates are smooth functions of the rows that keep neighbours close."
    _solvers = ("auto", "dense", "iterative")
    _no_sparse = "kernels need dense rows; set basis='features' or pass X.toarray()"

    @by_blocks("sample_fit.fit_without_graph")
    def fit(self, X: Any, y: object = None, *, graph: Any = None) -> Self:
        """Fit the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; may be sparse with ``basis="features"``. For a dask collection the map is fitted to
            a sample of its rows.
        y : ignored
            Not used, present for API consistency.
        graph : array or sparse matrix of shape (n_samples, n_samples), optional
            Symmetric edge weights between the rows of ``X``. If None, their neighbourhood graph is computed.
            New points are placed by their features alone.

        Returns
        -------
        self
        """
        with fitting(self):
            self._check_kernels()
            rows = check_rows(self, X)
            given = self._given_kernels(rows.shape[1]) if self.basis == "kernels" else None
            graph_data = vertices(self, rows, graph)
            if given is None:
                solution, Y = self._fit_features(graph_data)
            else:
                solution, Y = self._fit_kernels(graph_data, *given)
            self._to_invert_ = rows_to_invert(graph_data.points, Y, vars(self).get("n_kernels_", 1))
            self._inverse_: dict[str, tuple[AffineMixture, float]] = {}  # and its error, by ``inverse``
            self.embedding_ = self._match_dtype(rows, graph_data.samples(Y))
            self.eigenvalues_, self.residuals_ = solution.eigenvalues, solution.residuals
            self.rank_, self.n_iter_ = solution.rank, solution.n_iter
            self.distortion_ = distortion(Y, graph_data.W)
            for name, value in graph_data.attributes.items():
                setattr(self, name, value)
        return self

    def _solver_option(self) -> Solver:
        return self.eigen_solver if isinstance(self.eigen_solver, Solver) else Solver(self.eigen_solver)

    def _check_kernels(self) -> None:
        """Raise ValueError for parameters that contradict each other."""
        solver, kernels = self._solver_option(), self._kernels
        check_choice("eigen_solver", solver.method, self._solvers)
        if solver.tol == 0:
            raise ValueError("tol=0.0 of the eigensolver cannot be reached; set a positive number")
        if solver.method == "iterative" and not self.posterior:
            raise ValueError("eigen_solver='iterative' needs posterior=True; use eigen_solver='dense'")
        if not isinstance(kernels.centers, str) and self.n_kernels not in (None, len(kernels.centers)):
            raise ValueError(
                f"n_kernels={self.n_kernels!r}, but centers has {len(kernels.centers)} rows; leave"
                " n_kernels=None"
            )

    @property
    def _kernels(self) -> LocalKernels:
        return LocalKernels() if self.kernels is None else self.kernels

    def _fit_features(self, graph_data: Vertices) -> tuple[Transformation, np.ndarray]:
        """Fit a map that is linear in the features."""
        result = feature_map(
            graph_data.points, graph_data.W, graph_data.degree, self.n_components, self.correction
        )
        self._map_: FeatureMap | AffineMixture = result
        return result.transformation, result(graph_data.points)

    def _fit_kernels(
        self, graph_data: Vertices, centers: Any, covariances: Any
    ) -> tuple[Transformation, np.ndarray]:
        """Fit a mixture of affine maps."""
        kernels, solver = self._kernels, self._solver_option()
        seed, tol = self._seed(), 1e-6 if solver.tol is None else float(solver.tol)
        sigma = None if isinstance(kernels.sigma, str) else float(kernels.sigma)
        max_kernels, n_local = self._kernel_limits(graph_data.points)
        options = KernelEigenmapOptions(
            centers,
            sigma,
            n_local,
            self.posterior,
            self.correction,
            seed,
            covariances,
            solver.method,
            IterativeOptions(tol, solver.max_iter, seed),
        )
        n_kernels = self._choose_n_kernels(graph_data, max_kernels, options)
        result = kernel_eigenmap(
            graph_data.points, graph_data.W, graph_data.degree, self.n_components, n_kernels, options
        )
        fitted, self._map_ = result.mixture.kernels, result.mixture
        self.centers_, self.sigma_, self.n_kernels_ = fitted.centers, fitted.sigma, len(fitted.centers)
        self.local_components_ = graph_data.points.shape[1] if n_local is None else n_local
        return result.transformation, result.coordinates

    def _given_kernels(self, n_features: int) -> tuple[Any, Any]:
        """Return centres and covariances as arrays or names, checked without the rows."""
        n_local = self._kernels.local_components
        if n_local is not None:
            check_enough("local_components", n_local, n_local, n_features, "features")
        centers: Any = self._kernels.centers
        covariances: Any = self._kernels.covariances
        if not isinstance(centers, str):
            centers = check_matrix(centers, "centers")
            check_features(centers, "centers", n_features)
        if not isinstance(covariances, str):
            covariances = check_array(covariances, dtype=np.float64, allow_nd=True, input_name="covariances")
            check_covariances(covariances, 1 if isinstance(centers, str) else len(centers), n_features)
        return centers, covariances

    def _kernel_limits(self, X: np.ndarray) -> tuple[int, int | None]:
        """Return the largest default number of kernels, and the number of local coordinates (None: all)."""
        n_distinct, n_features = len(distinct_rows(X)[0]), X.shape[1]
        kernels = self._kernels
        if kernels.local_components is not None or n_features < n_distinct:
            n_local = n_features if kernels.local_components is None else kernels.local_components
            return max(1, n_distinct // (2 + 2 * n_local)), kernels.local_components
        if not isinstance(kernels.centers, str):
            return wide_kernels(n_distinct, self.n_components, len(np.asarray(kernels.centers)))
        given = None if self.n_kernels in (None, "auto") else int(self.n_kernels)
        return wide_kernels(n_distinct, self.n_components, given)

    def _choose_n_kernels(
        self, graph_data: Vertices, max_kernels: int, options: KernelEigenmapOptions
    ) -> int:
        """Return the number of kernels."""
        if not isinstance(options.centers, str):
            return len(options.centers)
        if self.n_kernels is None:
            return min(_DEFAULT_KERNELS, max_kernels)
        if self.n_kernels == "auto":
            n_kernels, self.held_out_distortion_ = choose_n_kernels(
                graph_data.points, graph_data.W, self.n_components, int(0.9 * max_kernels), options
            )
            return n_kernels
        return int(self.n_kernels)

    def _transform(self, X: Any) -> np.ndarray:
        with stage("projection"):
            return self._map_(as_contiguous_float64(X))  # Brand eq. 17, 18

    def jacobian(self, X: Any) -> np.ndarray:
        """Compute the derivatives ``dy/dx`` of the map at any points.

        ``J J'`` is the metric that the map induces: it describes how the map stretches and folds space.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_new, n_components, n_features)
        """
        check_is_fitted(self)
        X = check_input(self, X, reset=False)
        return self._match_dtype(X, self._map_.jacobian(as_contiguous_float64(X)))

    @rowwise("n_features_in_", of="_n_features_out", ready="_fitted_inverse")
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Compute rows of features for given coordinates (Brand eq. 19).

        Parameters
        ----------
        X : array-like of shape (n_new, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_new, n_features)
            Rows near the data, if the map is not folded; see ``inverse_error_``.
        """
        check_is_fitted(self)
        X = given_coordinates(self, X)
        with running(self):
            return self._match_dtype(X, self._fitted_inverse()[0](as_contiguous_float64(X)))

    @property
    def covariances_(self) -> np.ndarray:
        """Covariances of the kernels, of shape (n_kernels, n_features, n_features)."""
        check_is_fitted(self)
        if not isinstance(self._map_, AffineMixture):
            raise AttributeError("covariances_ is not available: basis='features' has no kernels")
        return self._map_.kernels.covariances

    @property
    def inverse_error_(self) -> float:
        """Median distance of training samples from their reconstructions, relative to the diameter."""
        check_is_fitted(self)
        with running(self):
            return self._fitted_inverse()[1]

    def _fitted_inverse(self) -> tuple[AffineMixture, float]:
        """Return the inverse and its error, computed on first use: it may take longer than ``fit``."""
        check_parameters(self)  # which may have been set after fit
        if self.inverse not in self._inverse_:
            forward = self._map_ if isinstance(self._map_, AffineMixture) else None
            self._inverse_[self.inverse] = fit_inverse(forward, *self._to_invert_, self.inverse == "refined")
        return self._inverse_[self.inverse]

    @property
    def _sparse(self) -> str | None:  # type: ignore[override]
        return "csr" if self.basis == "features" else None
