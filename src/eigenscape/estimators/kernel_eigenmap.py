"""The KernelEigenmap estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from eigenscape._progress import reporting, stage
from eigenscape.distributed import is_collection
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._collections import check_in_memory, rowwise
from eigenscape.estimators._docs import documented
from eigenscape.estimators._samples import fit_to_sample
from eigenscape.estimators._validation import check_choice, check_kernel_parameters, double
from eigenscape.estimators._vertices import Vertices, vertices
from eigenscape.graph.row_index import distinct_rows
from eigenscape.methods.graph_embedding import Transformation, feature_map
from eigenscape.methods.inverse_map import fit_inverse, rows_to_invert
from eigenscape.methods.kernel_eigenmap import KernelEigenmapOptions, choose_n_kernels, kernel_eigenmap
from eigenscape.methods.mixture import AffineMixture
from eigenscape.quality.edge_distortion import distortion

_KERNELS = 64


@documented
class KernelEigenmap(Estimator):
    r"""A continuous map from the space of the data, smooth along the edges of a graph, and its inverse.

    With edge weights :math:`W`, degrees :math:`D` and a description :math:`z(x)` of any point, collected in
    :math:`Z`, it solves the small problem (Brand eq. 8)

    .. math:: Z W Z' v = \lambda Z D Z' v

    and maps by :math:`y = [v_2, \dots, v_{d+1}]' z(x)`: of all such maps with :math:`Y' D Y = n` this one has
    the least :math:`\sum_{ij} |y_i - y_j|^2 W_{ij}` (eq. 16). With ``basis="kernels"``, :math:`z(x)` are
    local coordinates around Gaussian kernels :math:`p_k`, weighted by the kernels' posteriors (eq. 14-17)

    .. math:: z(x) = \left[ (K_k (x - \mu_k), 1)\; \frac{p_k(x)}{\sum_j p_j(x)} \right]_k,

    so that the map is a smooth mixture of affine maps, defined everywhere. Far from all kernels it is the
    affine map of the nearest.

    Parameters
    ----------
    {n_components}
    n_kernels : int, "auto" or None, default=None
        Number of kernels. If None, 64, or fewer if :math:`z` would have more entries than half the number of
        samples. "auto" doubles the number from 4 to at most 256 and uses the smallest whose distortion on
        held-out edges is within 5 % of the best.
    sigma : float or "auto", default="auto"
        Width of the kernels. "auto" is half the median distance of a centre to its third nearest other
        centre.
    centers : {"random", "kmeans", "maxmin", "greedy"} or array-like, default="random"
        Centres of the kernels. "random": a random subset of the data. "maxmin": each centre is the point
        farthest from the earlier ones. "greedy": each is the point whose Gaussian is approximated worst by
        the earlier ones. "kmeans": means of clusters. An array of shape (n_kernels, n_features) gives the
        centres.
    local_components : int or None, default=None
        Dimensions of the local coordinates :math:`K_k (x - \mu_k)`: principal directions of the points around
        each kernel. If None, all features are used; if 0, only the posteriors.
    correction : {"reweighted", "stochastic", "affine", "raw"}, default="reweighted"
        Correction if the constant function is not in the span of :math:`Z`, so that :math:`v_1` is not
        uniform (Brand sec. 2.1). With posteriors it is in the span, and all four give the same map.
        "reweighted" and "stochastic" divide by :math:`v_1'z(x)`; if this changes sign, the map has a pole
        and a ``PoleWarning`` is issued. Use "affine" for features that are centred or of both signs.
    posterior : bool, default=True
        Whether kernels are divided by their sum (Brand eq. 14). If False, the corrections differ.
    basis : {"kernels", "features"}, default="kernels"
        Description :math:`z(x)`. "features" uses :math:`z(x) = x`, which may be sparse, for a graph with
        features at its vertices (see ``fit``).
    inverse : {"refined", "blocks"}, default="refined"
        Method of ``inverse_transform``. "blocks" inverts the affine map of each kernel (Brand eq. 19).
        "refined" also fits the coefficients to the training data. The inverse is computed on first use.
    n_neighbors : int or None, default=None
        Number of nearest neighbours of each sample. If None, 12, or fewer for fewer than 48 distinct samples.
    {radius}
    {weights}
    {t}
    {metric}
        Rows are needed, so "precomputed" distances are not supported.
    {metric_params}
    {neighbors}
    regularization : float, default=0
        Value added to the diagonal of :math:`W`, which makes the map more isometric if neighbourhoods have
        similar sizes (Brand sec. 4).
    on_disconnected : {"connect", "whole", "raise"}, default="connect"
        Treatment of a graph with several connected components. "connect" adds the shortest edges that connect
        them; "whole" keeps them as they are. Both issue a
        :class:`~eigenscape.exceptions.DisconnectedGraphWarning`; "raise" raises an error.
    {random_state}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    {embedding_}
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, largest first.
    distortion_ : float
        :func:`eigenscape.quality.distortion` of the embedding: comparable between methods on one graph.
    residuals_ : ndarray of shape (n_components,)
        Of the small problem, relative to :math:`|ZDZ'| |v|`.
    rank_ : int
        Dimensions that :math:`Z` spans, the constant apart where it was taken out.
    centers_ : ndarray of shape (n_kernels, n_features)
        Centres of the kernels.
    sigma_ : float
        Width of the kernels.
    n_kernels_ : int
        Number of kernels.
    held_out_distortion_ : dict
        For each number of kernels that "auto" tried, the distortion on held-out edges; infinite where so few
        cannot carry the map.
    inverse_error_ : float
        Median distance of a training point to its round trip, in units of the diameter of the data.
    graph_ : sparse array of shape (n_vertices, n_vertices)
        The weights in use; equal rows are one vertex.
    {component_labels_}
    {n_connected_components_}
    {degrees_}
    {n_neighbors_}
    {neighbor_recall_}
    {t_}
    {n_features_in_}

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

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_kernels: int | str | None = None,
        sigma: float | str = "auto",
        centers: Any = "random",
        local_components: int | None = None,
        correction: str = "reweighted",
        posterior: bool = True,
        basis: str = "kernels",
        inverse: str = "refined",
        n_neighbors: int | None = None,
        radius: float | None = None,
        weights: str = "inverse",
        t: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        neighbors: str = "auto",
        regularization: float = 0.0,
        on_disconnected: str = "connect",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_kernels = n_kernels
        self.sigma = sigma
        self.centers = centers
        self.local_components = local_components
        self.correction = correction
        self.posterior = posterior
        self.basis = basis
        self.inverse = inverse
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.weights = weights
        self.t = t
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.regularization = regularization
        self.on_disconnected = on_disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, graph: Any = None) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points; with ``basis="features"`` they may be sparse.
        y : ignored
        graph : array or sparse matrix of shape (n_samples, n_samples), optional
            Symmetric edge weights between the rows of ``X``, instead of their neighbourhood graph. New
            vertices of the graph are then placed by their features alone.

        Returns
        -------
        self
        """
        check_kernel_parameters(self)
        self._reset()
        if is_collection(X) and graph is None:
            with reporting(self.verbose):
                return fit_to_sample(self, X, spectral=False)
        rows = self._rows(X, reset=True)
        with reporting(self.verbose):
            known = vertices(self, rows, graph)
            answer, Y = self._fit_features(known) if self.basis == "features" else self._fit_kernels(known)
        self._to_invert_ = rows_to_invert(known.points, Y, vars(self).get("n_kernels_", 1))
        self._inverse_ = {}
        self.embedding_ = self._like(rows, known.samples(Y))
        self.eigenvalues_, self.residuals_, self.rank_ = answer.eigenvalues, answer.residuals, answer.rank
        self.distortion_ = distortion(Y, known.W)
        vars(self).update(known.attributes)
        return self

    def _transform(self, X: Any) -> np.ndarray:
        with stage("projection"):
            return self._map_(double(X))  # Brand eq. 17, 18

    def jacobian(self, X: Any) -> np.ndarray:
        """Derivatives ``dy/dx`` of the map at any points, shape (n_new, n_components, n_features).

        ``J J'`` is the metric that the map induces: how it stretches and folds space there.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return self._like(X, self._map_.jacobian(double(X)))

    @rowwise("n_features_in_", of="_n_features_out", ready="_ready_inverse")
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Points of the space of the data for coordinates on the map (Brand eq. 19).

        Parameters
        ----------
        X : array-like of shape (n_new, n_components)

        Returns
        -------
        ndarray of shape (n_new, n_features)
            Near the data where the map is not folded; ``inverse_error_`` says how near.
        """
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if X.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {X.shape[1]} coordinates, but KernelEigenmap has {self._n_features_out} components"
            )
        with reporting(self.verbose):
            return self._like(X, self._ready_inverse()[0](double(X)))

    @property
    def inverse_error_(self) -> float:
        """Median distance of a training point to its round trip, in units of the diameter of the data."""
        check_is_fitted(self)
        with reporting(self.verbose):
            return self._ready_inverse()[1]

    def _ready_inverse(self) -> tuple[AffineMixture, float]:
        """The inverse that ``inverse`` names and its error, fitted when first asked for: it may cost more
        than the map."""
        check_choice("inverse", self.inverse, ("refined", "blocks"))  # again: it may have been set after fit
        if self.inverse not in self._inverse_:
            forward = self._map_ if isinstance(self._map_, AffineMixture) else None
            self._inverse_[self.inverse] = fit_inverse(forward, *self._to_invert_, self.inverse == "refined")
        return self._inverse_[self.inverse]

    def _fit_features(self, known: Vertices) -> tuple[Transformation, np.ndarray]:
        self._map_ = feature_map(known.points, known.W, known.degree, self.n_components, self.correction)
        return self._map_.transformation, self._map_(known.points)

    def _fit_kernels(self, known: Vertices) -> tuple[Transformation, np.ndarray]:
        centers = (
            self.centers
            if isinstance(self.centers, str)
            else check_array(self.centers, dtype=np.float64, input_name="centers")
        )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        sigma = None if self.sigma == "auto" else float(self.sigma)
        options = KernelEigenmapOptions(
            centers, sigma, self.local_components, self.posterior, self.correction, seed
        )
        n_kernels = self._count(known, options)
        found = kernel_eigenmap(known.points, known.W, known.degree, self.n_components, n_kernels, options)
        self._map_, kernels = found.mixture, found.mixture.kernels
        self.centers_, self.sigma_, self.n_kernels_ = kernels.centers, kernels.sigma, len(kernels.centers)
        return found.transformation, found.coordinates

    def _count(self, known: Vertices, options: KernelEigenmapOptions) -> int:
        """How many kernels."""
        n, n_features = len(distinct_rows(known.points)[0]), known.points.shape[1]
        most = max(1, n // (2 + 2 * (n_features if self.local_components is None else self.local_components)))
        if not isinstance(self.centers, str):
            return len(self.centers)
        if self.n_kernels is None:
            return min(_KERNELS, most)
        if self.n_kernels == "auto":
            n_kernels, self.held_out_distortion_ = choose_n_kernels(
                known.points, known.W, self.n_components, int(0.9 * most), options
            )
            return n_kernels
        return self.n_kernels

    def _rows(self, X: Any, reset: bool) -> Any:
        check_in_memory(self, X)
        accept = "csr" if self.basis == "features" else False
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=accept,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
        )
        if (
            reset
            and self.basis == "kernels"
            and self.local_components is not None
            and self.local_components > X.shape[1]
        ):
            raise ValueError(
                f"local_components={self.local_components} needs as many features, got"
                f" n_features={X.shape[1]}; lower it"
            )
        return sparse.csr_array(X) if sparse.issparse(X) else X

    _no_sparse = "kernels need dense rows; set basis='features' or pass X.toarray()"

    @property
    def _sparse(self) -> str | None:  # type: ignore[override]
        return "csr" if self.basis == "features" else None
