"""Split a graph or an affinity into the parts that are embedded separately, and join their embeddings.

See docs/decisions/pieces-connect.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from scipy import sparse

from eigenscape._progress import stage
from eigenscape._typing import Rows, is_sparse
from eigenscape._warnings import warn
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning, IsolatedPointWarning
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.kernels.affinity import MIN_EDGE_WEIGHT
from eigenscape.kernels.base import BoundKernel, FlooredKernel, RestrictedKernel
from eigenscape.operators import FactoredOperator, Operator, gram
from eigenscape.operators.gram import BlockedOperator
from eigenscape.pieces.embedding import AnyEmbedding, Assignment, Piece, PiecewiseEmbedding, SinglePiece

#: Values of the parameter ``on_disconnected``.
OnDisconnected = Literal["connect", "per_component", "largest", "raise"]
ON_DISCONNECTED: tuple[str, ...] = get_args(OnDisconnected)
#: "whole": solve one block-diagonal problem; "floor": raise all similarities to a minimum.
Action = Literal["connect", "per_component", "largest", "raise", "whole", "floor"]
_DESCRIPTION = {
    "connect": "they are connected by the shortest missing edges",
    "per_component": "each is embedded separately, and coordinates of different ones are not comparable",
    "floor": "the kernel is zero between them, and all similarities are raised to at least 1e-8",
    "whole": "each has its own eigenvectors",
    "largest": "the largest is embedded and all other points are placed on its map as new points",
}


@dataclass(frozen=True, eq=False)
class Affinity:
    """A similarity kernel bound to some training points, and its Gram matrix if it has been computed."""

    kernel: BoundKernel
    operator: Operator | None = None


@dataclass(frozen=True, eq=False)
class Split:
    """Parts of a graph or affinity to be embedded separately.

    Parameters
    ----------
    parts : tuple of NeighborGraph or of Affinity
        The parts to embed, each with at least two points.
    labels : ndarray of shape (m,)
        Connected component of each point, before components are connected; the largest is 0.
    members : tuple of ndarray
        Indices of the points of each piece, including pieces of one point, which are not among ``parts``.
    assign : callable or None
        Returns the piece of any point. None if there is a single part that contains all points.
    X : array or None
        All training points, if there are several pieces.
    by_table : bool
        Whether points are rows of distances to all training points.
    joined : ndarray of shape (m,) or None
        ``labels``, if edges were added between the components.
    """

    parts: tuple[Any, ...]
    labels: np.ndarray
    members: tuple[np.ndarray, ...] = ()
    assign: Assignment | None = None
    X: Any = None
    by_table: bool = False
    joined: np.ndarray | None = None

    def weights_of(self, weights: np.ndarray | None) -> list[np.ndarray | None]:
        """Return the weights of the points of each part, given the weights of all points or None."""
        if weights is None or self.is_whole:
            return [weights] * len(self.parts)
        return [weights[members] for members in self.members if len(members) > 1]

    @property
    def is_whole(self) -> bool:
        """Whether there is a single part that contains all points."""
        return self.assign is None


def join(
    embeddings: Sequence[AnyEmbedding], split: Split, n_components: int, weights: np.ndarray | None = None
) -> AnyEmbedding:
    """Join the embeddings of ``split.parts`` to one embedding of all points, which may have ``weights``."""
    if split.assign is None:
        return embeddings[0]
    remaining = iter(embeddings)
    pieces = tuple(
        Piece(next(remaining) if len(members) > 1 else None, members, split.by_table)
        for members in split.members
    )
    return PiecewiseEmbedding(pieces, split.assign, split.X, n_components, weights)


def split_graph(
    graph: NeighborGraph,
    on_disconnected: Action,
    max_components: int | None = None,
    choices: Sequence[str] = ON_DISCONNECTED,
) -> Split:
    """Split a graph into the parts that are embedded.

    Parameters
    ----------
    graph : NeighborGraph
    on_disconnected : {"connect", "per_component", "largest", "raise", "whole"}
        "connect" adds edges and "whole" keeps the components: one part in both cases. "per_component" returns
        one part per component, "largest" the largest component.
    max_components : int, optional
        Maximum number of components for "whole".
    choices : sequence of str
        Values of ``on_disconnected`` that error messages may suggest.

    Raises
    ------
    DisconnectedGraphError
        If the graph has several components that ``on_disconnected`` does not allow.
    """
    labels = component_labels(graph.distances)
    if labels.max() == 0:
        return Split((graph,), labels)
    _check_components(labels, on_disconnected, max_components, "raise n_neighbors or radius", choices)
    if on_disconnected == "connect":
        return Split((connect(graph, labels),), labels, joined=labels)
    if on_disconnected == "whole":
        return Split((graph,), labels)
    by_table = isinstance(graph.index, PrecomputedIndex)
    members = _members(labels, on_disconnected)
    assign: Assignment = NearestVertex(graph, labels)
    if on_disconnected == "largest":
        sparse_table = by_table and sparse.issparse(graph.vertices.X)
        assign = StoredDistance(members[0]) if sparse_table else SinglePiece()
    parts = tuple(graph.subset(some) for some in members if len(some) > 1)
    return Split(parts, labels, members, assign, graph.vertices.X, by_table)


def split_affinity(
    kernel: BoundKernel,
    on_disconnected: Action,
    max_components: int | None = None,
    *,
    floor: bool = False,
    n_jobs: int | None = None,
) -> Split:
    """Split a kernel that is zero between groups of points; see :func:`split_graph`.

    Such a kernel has no distances by which components could be connected. With ``floor``, "connect" raises
    all its values to a minimum instead.
    """
    operator = gram(kernel, n_jobs=n_jobs)
    if isinstance(operator, FactoredOperator) and not operator.is_nonnegative():
        operator = gram(kernel, n_jobs=n_jobs, factored=False)  # its lowest value is to be known
    lowest, labels = affinity_components(operator)
    if lowest < 0:
        raise ValueError(
            f"an affinity must not be negative, got {lowest:g}; use a similarity that is zero for dissimilar"
            " points"
        )
    if labels.max() == 0:
        return Split((Affinity(kernel, operator),), labels)
    if on_disconnected == "connect" and not floor:
        raise DisconnectedGraphError(
            f"the affinity has {labels.max() + 1} connected components and contains no distances by which to"
            " connect them; widen the kernel, or set on_disconnected='per_component' or 'largest'"
        )
    action: Action = "floor" if on_disconnected == "connect" else on_disconnected
    _check_components(labels, action, max_components, "widen the kernel")
    if action == "floor":
        return Split((Affinity(FlooredKernel(kernel, MIN_EDGE_WEIGHT)),), labels)
    if action == "whole":
        return Split((Affinity(kernel, operator),), labels)
    members = _members(labels, action)
    assign = StrongestAffinity(kernel, np.zeros_like(labels) if action == "largest" else labels)
    parts = tuple(Affinity(RestrictedKernel(kernel, some)) for some in members if len(some) > 1)
    return Split(parts, labels, members, assign, kernel.X)


def _members(labels: np.ndarray, action: Action) -> tuple[np.ndarray, ...]:
    """Return the indices of the points of the largest component, or of every one."""
    count = 1 if action == "largest" else int(labels.max()) + 1
    return tuple(np.flatnonzero(labels == number) for number in range(count))


def affinity_components(operator: Operator) -> tuple[float, np.ndarray]:
    """Return the lowest affinity and the component of each point, block by block if necessary."""
    if isinstance(operator, FactoredOperator):
        return 0.0, component_labels(operator.links())
    matrix = operator.matrix()
    if matrix is not None:
        return float(matrix.min()), component_labels(matrix)
    lowest, label = np.inf, np.arange(operator.shape[0])
    assert isinstance(operator, BlockedOperator)
    with stage("components", total=len(label)) as advance:
        for rows, values in operator.blocks():
            lowest = min(lowest, float(values.min()))
            advance(len(values))
            if not label.any():  # all points are connected
                continue
            row, column = np.nonzero(np.asarray(values))
            edges = sparse.coo_array(
                (np.ones(len(row)), (label[row + rows.start], label[column])), shape=operator.shape
            )
            label = component_labels(edges)[label]
    return lowest, np.unique(label, return_inverse=True)[1]


def _check_components(
    labels: np.ndarray,
    action: Action,
    max_components: int | None,
    remedy: str,
    choices: Sequence[str] = ON_DISCONNECTED,
) -> None:
    """Warn about several components and their treatment, or raise DisconnectedGraphError."""
    sizes = np.bincount(labels)
    listed = ", ".join(str(size) for size in sizes[:5]) + (", ..." if len(sizes) > 5 else "")
    message = f"the graph has {len(sizes)} connected components of {listed} points"
    if sizes[0] == 1 and action != "connect":
        raise DisconnectedGraphError(f"no two points are neighbours: each is a component by itself; {remedy}")
    if action == "raise":
        first, *others = (repr(choice) for choice in choices if choice != "raise")
        listed = f"{', '.join([first, *others[:-1]])} or {others[-1]}" if others else first
        raise DisconnectedGraphError(f"{message}; {remedy}, or set on_disconnected={listed}")
    if action == "whole" and sizes[-1] == 1:
        raise DisconnectedGraphError(
            f"{message}, some of them points without any neighbour; {remedy}, or set"
            " on_disconnected='connect'"
        )
    if action == "whole" and max_components is not None and len(sizes) > max_components:
        raise DisconnectedGraphError(
            f"{message}, more than n_clusters={max_components}, so the clusters are not determined; set"
            f" on_disconnected='connect', raise n_clusters, or {remedy}"
        )
    warn(f"{message}: {_DESCRIPTION[action]} (see on_disconnected)", DisconnectedGraphWarning)


@dataclass(frozen=True, eq=False)
class NearestVertex:
    """Assigns a point to the label of its nearest vertex; -1 for a point without a stored distance."""

    _shapes: ClassVar = {"graph.vertices.X": "n ...", "label": "n"}
    graph: NeighborGraph
    label: np.ndarray

    def __call__(self, Y: Rows) -> np.ndarray:
        vertex = self.graph.vertices.find(Y)
        new = np.flatnonzero(vertex < 0)
        if len(new):
            nearest = self.graph.index.nearest_graph(Y[new], 1)
            vertex[new] = -1
            listed = np.flatnonzero(np.diff(nearest.indptr))
            vertex[new[listed]] = nearest.indices
        return np.where(vertex >= 0, self.label[vertex], -1)


@dataclass(frozen=True, eq=False)
class StoredDistance:
    """Assigns 0 to points with a stored distance to one of ``members``, otherwise -1, with a warning."""

    members: np.ndarray

    def __call__(self, Y: Rows) -> np.ndarray:
        reached = np.diff(sparse.csr_array(Y)[:, self.members].indptr) > 0
        if not reached.all():
            warn(
                f"{int((~reached).sum())} point(s) have no stored distance to the largest component and are"
                " placed at the origin",
                IsolatedPointWarning,
            )
        return np.where(reached, 0, -1)


@dataclass(frozen=True, eq=False)
class StrongestAffinity:
    """Assigns a point to the label of the most similar training point; -1 if all similarities are zero."""

    _shapes: ClassVar = {"affinity.<points>": "n ...", "label": "n"}
    affinity: BoundKernel
    label: np.ndarray

    def __call__(self, Y: Rows) -> np.ndarray:
        similarity = self.affinity(Y)
        strongest = self.label[np.asarray(similarity.argmax(axis=1)).ravel()]
        largest = similarity.max(axis=1)
        largest = np.asarray(largest.toarray() if is_sparse(largest) else largest).ravel()
        return np.where(largest > 0, strongest, -1)
