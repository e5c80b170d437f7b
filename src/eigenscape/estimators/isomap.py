"""The Isomap estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape import _memory
from eigenscape.dictionary.landmarks import NAMES
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import Fitted, SpectralEstimator
from eigenscape.estimators._distances import INDEFINITE, DistanceSpectrum, DistanceSpectrumMixin
from eigenscape.estimators._graph import ON_DISCONNECTED, Neighborhood, embed_on_graph
from eigenscape.estimators._inverse import InverseMixin, local_inverse
from eigenscape.estimators._landmarks import check_landmarks, given_vertices, landmark_attributes
from eigenscape.estimators._ordinal import ordinal_options, report_stress
from eigenscape.estimators._validation import check_choice, check_count
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.distance import GeodesicKernel
from eigenscape.methods.isomap import LandmarkIsomap, isomap, ordinal_isomap, require_lengths
from eigenscape.methods.kernel_pca import require_components
from eigenscape.methods.ordinal import OrdinalEmbedding, require_square


class Isomap(DistanceSpectrumMixin, InverseMixin, SpectralEstimator):
    r"""Classical MDS of the distances along the data.

    The distance of two points is the length of the shortest path between them through the neighbourhood graph
    of the training points (Bengio eq. 14); these geodesic distances are double-centred and the coordinates
    are :math:`\sqrt{l_r}\, v_r` (Bengio sec. 2.5). A new point joins the graph at the end of paths only, so
    new points do not affect one another. The geodesic distances of ``fit`` are kept in single precision while
    it works where the data are float32 or memory asks for it.

    With ``n_landmarks`` the geodesic distances to these alone are found, in O(q n) memory instead of O(n^2):
    the map is made of the landmarks and all other points are placed on it,

    .. math:: e_r(x) = \frac{1}{2\sqrt{l_r}} \sum_i v_{ri}\bigl(E_{x'} d^2(x', x_i) - d^2(x_i, x)\bigr)

    (Bengio eq. 15), which is the Nystrom formula again (Bengio eq. 23). The distances (n_samples, q) stay in
    the model, and a new point takes its own from those of its neighbours. With all samples as landmarks it is
    Isomap.

    Parameters
    ----------
    n_components : int, default=2
    n_neighbors : int or None, default=None
        Neighbours of a point; None takes 10, or a quarter of the samples where that is fewer, but at least 5.
    joined : {"union", "mutual", "shared"}, default="union"
        As for :class:`LaplacianEigenmaps`. The stricter ones leave out short cuts, which ruin geodesics.
    radius : float or None, default=None
        If given, points within this distance are joined instead, and ``n_neighbors`` is not used.
    metric : str or function, default="euclidean"
        Any scikit-learn metric; "precomputed" for a matrix of distances, or a sparse graph of them.
    metric_params : dict or None, default=None
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are searched. "auto" is exact up to 30 000 samples, in few dimensions and for most
        metrics; beyond, dense rows under a Euclidean or cosine metric are searched approximately, and
        ``neighbor_recall_`` tells how well.
    on_disconnected : {"connect", "per_component", "largest", "raise"}, default="connect"
        What to do, after a :class:`~eigenscape.exceptions.DisconnectedGraphWarning`, with a graph in several
        components: join them by their shortest missing edges; embed each by itself; embed the largest and
        place the other points on its map as new points; or refuse.
    n_landmarks : int, "auto" or None, default=None
        None for Isomap of all samples; else how many landmarks, in each component where it is embedded by
        itself. "auto" starts with 16 (or twice what the components need) and doubles them until the map moves
        less than ``landmark_tol``.
    landmarks : {"maxmin", "random", "kmeans", "greedy"}, list of sample numbers, or points, default="maxmin"
        "maxmin" takes the point farthest, along the data, from the landmarks so far; the others as for
        :class:`LandmarkMDS`. The samples nearest to given points are taken. A list or points need no
        ``n_landmarks``.
    landmark_tol : float, default=0.01
        As for :class:`LandmarkMDS`.
    ordinal : bool, default=False
        Ask of the map that its distances have the order of the geodesic ones, not their values (Burges sec.
        2.3): :class:`OrdinalMDS` of the geodesics. There is no kernel then: no ``kernel_``, ``eigenvalues_``,
        ``eigenfunctions`` or ``loss``, but ``stress_``. Of ``order``, ``indefinite``, ``eigen_solver`` and
        ``tol`` nothing is used, and ``max_iter`` (None for 300) counts its steps.
    n_init, ties
        As for :class:`OrdinalMDS`, where ``ordinal=True``.
    order, indefinite
        As for :class:`ClassicalMDS`.
    eigen_solver, tol, max_iter, random_state, verbose
        As for :class:`KernelPCA`.
    n_jobs : int or None, default=None
        Cores for neighbours and geodesics; -1 for all.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
    eigenvalues_ : ndarray of shape (n_components,), or (n_connected_components, n_components) in pieces
    kernel_ : BoundKernel
    component_labels_ : ndarray of shape (n_samples,)
        Connected component of each sample before any joining, the largest is 0.
    n_connected_components_ : int
    degrees_ : ndarray of shape (n_samples,)
        Edges of each sample in the neighbourhood graph, before any joining; equal samples share a vertex.
    n_neighbors_ : int
        The number of neighbours in use, where they are counted.
    neighbor_recall_ : float
        Share of the true neighbours that the search found, measured on a sample; 1 if it was exact.
    landmarks_, n_landmarks_, landmark_steps_, landmark_reason_
        As for :class:`LandmarkMDS`, where there are landmarks.
    stress_ : float, or ndarray of shape (n_pieces,)
        Kruskal's stress-1, where ``ordinal=True``.
    negative_fraction_, is_euclidean_
        As for :class:`ClassicalMDS`, of the geodesic distances (between landmarks); only where the graph was
        embedded whole.
    inverse_error_ : float
        How well ``inverse_transform`` makes training rows again when each is left out in turn: root mean
        square distance over the rows' spread, on at most 1000 rows. Computed when asked for. The inverse
        takes the rows for an affine function of the coordinates around every place of the map; there is none
        for precomputed distances or components embedded each by itself.
    residuals_, solver_, n_features_in_
        As for :class:`KernelPCA`.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import Isomap
    >>> X, t = make_swiss_roll(1100, random_state=0)
    >>> model = Isomap(n_components=2, n_neighbors=10).fit(X[:1000])
    >>> model.transform(X[1000:]).shape
    (100, 2)

    From any place of the map back to the roll:

    >>> again = model.inverse_transform(model.transform(X[1000:]))
    >>> bool(abs(again - X[1000:]).mean() < 0.02 * X.std())
    True

    A tenth of the samples for landmarks gives nearly the same map:

    >>> from eigenscape.quality import aligned_error
    >>> few = Isomap(n_components=2, n_neighbors=10, n_landmarks=100).fit(X[:1000])
    >>> aligned_error(few.embedding_, model.embedding_) < 0.01
    True
    """

    _make_inverse = local_inverse
    _pairwise_parameter = "metric"

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | None = None,
        joined: str = "union",
        radius: float | None = None,
        metric: Any = "euclidean",
        metric_params: dict | None = None,
        neighbors: str = "auto",
        on_disconnected: str = "connect",
        n_landmarks: int | str | None = None,
        landmarks: Any = "maxmin",
        landmark_tol: float = 0.01,
        ordinal: bool = False,
        n_init: int = 4,
        ties: str = "primary",
        order: str = "value",
        indefinite: str = "keep",
        eigen_solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.joined = joined
        self.radius = radius
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.on_disconnected = on_disconnected
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.landmark_tol = landmark_tol
        self.ordinal = ordinal
        self.n_init = n_init
        self.ties = ties
        self.order = order
        self.indefinite = indefinite
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _embed(self, X: Any) -> Fitted:
        check_count("n_components", self.n_components)
        check_choice("order", self.order, ("value", "magnitude"))
        check_choice("indefinite", self.indefinite, INDEFINITE)
        check_choice("on_disconnected", self.on_disconnected, ON_DISCONNECTED)
        neighborhood = Neighborhood(
            self.n_neighbors,
            self.radius,
            self.metric,
            self.metric_params,
            self.neighbors,
            self.n_jobs,
            self.joined,
        )
        if not isinstance(self.ordinal, bool):
            raise ValueError(f"ordinal={self.ordinal!r} must be True or False")
        if self.ordinal:
            return self._embed_ordinal(X, neighborhood)
        if self.n_landmarks is None and isinstance(self.landmarks, str):
            check_choice("landmarks", self.landmarks, NAMES)
            if self.landmarks != "maxmin":  # the default says nothing
                raise ValueError(f"landmarks={self.landmarks!r} needs n_landmarks; set a number, or 'auto'")
            return self._embed_all(X, neighborhood)
        return self._embed_landmarks(X, neighborhood)

    def _embed_ordinal(self, X: Any, neighborhood: Neighborhood) -> Fitted:
        if self.n_landmarks is not None or not isinstance(self.landmarks, str):
            raise ValueError(
                "ordinal=True compares all pairs of points, landmarks only some; leave out one of them"
            )
        options = ordinal_options(
            self.n_components,
            self.n_init,
            300 if self.max_iter is None else self.max_iter,
            1e-6,
            self.ties,
            self.random_state,
        )
        require_square(X.shape[0])
        layouts = []

        def embed(graph: NeighborGraph, _fewer: bool) -> OrdinalEmbedding:
            model = ordinal_isomap(graph, options, self.n_jobs)
            layouts.append(model.layout)
            return model

        fitted = embed_on_graph(X, embed, self.n_components, neighborhood, self.on_disconnected)
        report_stress(layouts, options)
        self._spectrum = None
        stress = np.array([layout.stress for layout in layouts])
        found = {
            "stress_": float(stress[0]) if len(stress) == 1 else stress,
            "n_iter_": max(layout.n_iter for layout in layouts),
        }
        return fitted._replace(attributes={**(fitted.attributes or {}), **found}, spectral=False)

    def _embed_all(self, X: Any, neighborhood: Neighborhood) -> Fitted:
        n = X.shape[0]
        # Single precision where the data have no more, or where double would not fit.
        single = X.dtype == np.float32 or not _memory.fits(1.2 * 8.0 * n * n)
        dtype = np.float32 if single else np.float64
        _memory.require(
            1.1 * np.dtype(dtype).itemsize * n * n,
            f"Isomap of {n} points (their geodesic distances)",
            "set n_landmarks, or fit a sample and transform the rest",
        )
        solver = self._solver()
        graphs = []

        def embed(graph: NeighborGraph, fewer: bool) -> Embedding:
            count = min(self.n_components, graph.n_vertices - 1)
            model = isomap(
                graph,
                count,
                solver,
                self.n_jobs,
                dtype,
                order=self.order,
                indefinite=self.indefinite,
            )
            graphs.append(graph)
            return require_components(model, 1 if fewer else count, self.order)

        fitted = embed_on_graph(X, embed, self.n_components, neighborhood, self.on_disconnected)
        self._spectrum = (
            DistanceSpectrum(GeodesicKernel(graphs[0], self.n_jobs, dtype)) if len(graphs) == 1 else None
        )
        return fitted

    def _embed_landmarks(self, X: Any, neighborhood: Neighborhood) -> Fitted:
        rows = not self._is_precomputed()
        wish = check_landmarks(
            self.n_landmarks, self.landmarks, self.landmark_tol, self.n_components, X, rows
        )
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        require_lengths(X.shape[0], wish.count or self.n_components + 1, dtype)
        given = given_vertices(X, wish, neighborhood)
        options = {"order": self.order, "indefinite": self.indefinite}
        embed = LandmarkIsomap(
            self.n_components, self._solver(), dtype, options, wish.how, wish.count, given, self.landmark_tol
        )
        fitted = embed_on_graph(X, embed, self.n_components, neighborhood, self.on_disconnected)
        columns = fitted.model.columns
        which = columns if fitted.group is None else np.unique(fitted.group, return_index=True)[1][columns]
        self._spectrum = DistanceSpectrum(embed.distances[0]) if len(embed.distances) == 1 else None
        return fitted._replace(
            attributes={**(fitted.attributes or {}), **landmark_attributes(wish, which, embed.growths)}
        )
