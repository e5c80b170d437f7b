"""What to do with a graph in several pieces."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from eigenscape.eigenfunctions import Embedding
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning, IsolatedPointWarning
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.kernels.affinity import LEAST
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.restricted import FlooredKernel, RestrictedKernel
from eigenscape.operators import Operator, gram
from eigenscape.pieces import OnePiece, Piece, PiecewiseEmbedding

#: What the user may choose, and "whole": leave the pieces apart but solve them as one block-diagonal problem;
#: "floor": see embed_affinity. What most callers let ``on_disconnected`` be, for advice.
_CHOICES = ("connect", "per_component", "largest", "raise")
OnDisconnected = Literal["connect", "per_component", "largest", "raise", "whole", "floor"]
_DOES = {
    "connect": "they are joined by their shortest missing edges",
    "per_component": "each is embedded by itself, so that coordinates of different components do not compare",
    "floor": "the kernel vanishes between them, so all similarities are raised to at least 1e-8",
    "whole": "each keeps its own eigenvectors",
    "largest": "the largest is embedded and the other points are placed on its map as new points",
}


def embed_graph(
    graph: NeighborGraph,
    embed: Callable[[NeighborGraph, bool], Embedding],
    n_components: int,
    on_disconnected: OnDisconnected,
    most_pieces: int | None = None,
    choices: tuple[str, ...] = _CHOICES,
) -> tuple[Embedding | PiecewiseEmbedding, np.ndarray]:
    """Embed a graph by ``embed``, in pieces if it is disconnected; also the component number of each vertex.

    ``embed`` is told whether it may return fewer coordinates. With ``on_disconnected="whole"`` there may be
    ``most_pieces``. ``choices`` are the values that the caller's parameter may have."""
    label = component_labels(graph.distances)
    if label.max() == 0:
        return embed(graph, False), label
    _announce(label, on_disconnected, most_pieces, "raise n_neighbors or radius", choices)
    if on_disconnected in ("connect", "whole"):
        return embed(connect(graph, label) if on_disconnected == "connect" else graph, False), label
    by_table = isinstance(graph.index, PrecomputedIndex)
    assign: Assignment = NearestVertex(graph, label)
    if on_disconnected == "largest":
        listed = by_table and sparse.issparse(graph.vertices.X)
        assign = ListedAmong(np.flatnonzero(label == 0)) if listed else OnePiece()
    pieces = _pieces(label, on_disconnected, lambda members: embed(graph.subset(members), True), by_table)
    return PiecewiseEmbedding(pieces, assign, graph.vertices.X, n_components), label


def embed_affinity(
    affinity: BoundKernel,
    embed: Callable[[BoundKernel, Operator | None, bool], Embedding],
    n_components: int,
    on_disconnected: OnDisconnected,
    most_pieces: int | None = None,
    floor: bool = False,
    n_jobs: int | None = None,
) -> tuple[Embedding | PiecewiseEmbedding, np.ndarray]:
    """The same for a similarity that is no neighbourhood graph and has no distances to connect by.

    With ``floor`` a kernel that vanishes between its components is connected by raising all values to a least
    one."""
    weights = gram(affinity, n_jobs=n_jobs)
    lowest, label = survey(weights)
    if lowest < 0:
        raise ValueError(
            f"an affinity must not be negative, got {lowest:g}; use a similarity that is zero for unlike points"
        )
    if label.max() == 0:
        return embed(affinity, weights, False), label
    if on_disconnected == "connect" and not floor:
        raise DisconnectedGraphError(
            f"the affinity falls into {label.max() + 1} components and holds no distances by which to connect them; widen the"
            " kernel, or set on_disconnected='per_component' or 'largest'"
        )
    _announce(
        label, "floor" if on_disconnected == "connect" else on_disconnected, most_pieces, "widen the kernel"
    )
    if on_disconnected == "connect":
        return embed(FlooredKernel(affinity, LEAST), None, False), label
    if on_disconnected == "whole":
        return embed(affinity, weights, False), label
    assign = StrongestAffinity(affinity, np.zeros_like(label) if on_disconnected == "largest" else label)
    pieces = _pieces(
        label, on_disconnected, lambda members: embed(RestrictedKernel(affinity, members), None, True), False
    )
    return PiecewiseEmbedding(pieces, assign, affinity.X, n_components), label


#: Says for each point the number of its piece, or -1.
Assignment = Callable[[Any], np.ndarray]


def _pieces(
    label: np.ndarray,
    on_disconnected: OnDisconnected,
    embed: Callable[[np.ndarray], Embedding],
    by_table: bool,
) -> tuple[Piece, ...]:
    """The largest component embedded, or every one; a point alone is not."""
    count = 1 if on_disconnected == "largest" else label.max() + 1
    members = [np.flatnonzero(label == number) for number in range(count)]
    return tuple(Piece(embed(some) if len(some) > 1 else None, some, by_table) for some in members)


def survey(weights: Operator) -> tuple[float, np.ndarray]:
    """The lowest affinity and the component of each point, block by block where the matrix is not kept."""
    matrix = weights.matrix()
    if matrix is not None:
        return float(matrix.min()), component_labels(matrix)
    lowest, label = np.inf, np.arange(weights.shape[0])
    for rows, values in weights.blocks():  # type: ignore[attr-defined]
        lowest = min(lowest, float(values.min()))
        row, column = np.nonzero(values)
        joined = sparse.coo_array(
            (np.ones(len(row)), (label[row + rows.start], label[column])), shape=weights.shape
        )
        label = component_labels(joined)[label]
    return lowest, np.unique(label, return_inverse=True)[1]


def _announce(
    label: np.ndarray,
    does: OnDisconnected,
    most_pieces: int | None,
    remedy: str,
    choices: tuple[str, ...] = _CHOICES,
) -> None:
    """Warn of the components and what is done about them, or refuse."""
    sizes = np.bincount(label)
    listed = ", ".join(str(size) for size in sizes[:5]) + (", ..." if len(sizes) > 5 else "")
    found = f"the graph has {len(sizes)} connected components of {listed} points"
    if sizes[0] == 1 and does != "connect":
        raise DisconnectedGraphError(f"no two points are neighbours: each is a component by itself; {remedy}")
    if does == "raise":
        first, *others = (repr(choice) for choice in choices if choice != "raise")
        listed = f"{', '.join([first, *others[:-1]])} or {others[-1]}"
        raise DisconnectedGraphError(f"{found}; {remedy}, or set on_disconnected={listed}")
    if does == "whole" and sizes[-1] == 1:
        raise DisconnectedGraphError(
            f"{found}, some of them points without any neighbour; {remedy}, or set on_disconnected='connect'"
        )
    if does == "whole" and most_pieces is not None and len(sizes) > most_pieces:
        raise DisconnectedGraphError(
            f"{found}, more than n_clusters={most_pieces}, so the clusters are not determined; set on_disconnected='connect', raise"
            f" n_clusters, or {remedy}"
        )
    warnings.warn(f"{found}: {_DOES[does]} (see on_disconnected)", DisconnectedGraphWarning, stacklevel=2)


@dataclass(frozen=True, eq=False)
class NearestVertex:
    """The label of the vertex nearest to a point; -1 for a point without a stored distance."""

    graph: NeighborGraph
    label: np.ndarray

    def __call__(self, Y: Any) -> np.ndarray:
        vertex = self.graph.vertices.find(Y)
        new = np.flatnonzero(vertex < 0)
        if len(new):
            nearest = self.graph.index.nearest_graph(Y[new], 1)
            vertex[new] = -1
            listed = np.flatnonzero(np.diff(nearest.indptr))
            vertex[new[listed]] = nearest.indices
        return np.where(vertex >= 0, self.label[vertex], -1)


@dataclass(frozen=True, eq=False)
class ListedAmong:
    """0 for a point whose sparse row of distances lists any of ``members``; -1, with a warning, for one out
    of reach."""

    members: np.ndarray

    def __call__(self, Y: Any) -> np.ndarray:
        reached = np.diff(sparse.csr_array(Y)[:, self.members].indptr) > 0
        if not reached.all():
            warnings.warn(
                f"{int((~reached).sum())} point(s) have no stored distance to the largest component and are placed at the origin",
                IsolatedPointWarning,
                stacklevel=2,
            )
        return np.where(reached, 0, -1)


@dataclass(frozen=True, eq=False)
class StrongestAffinity:
    """The label of the training point most similar to a point; -1 for a point similar to none."""

    affinity: BoundKernel
    label: np.ndarray

    def __call__(self, Y: Any) -> np.ndarray:
        similarity = self.affinity(Y)
        strongest = self.label[np.asarray(similarity.argmax(axis=1)).ravel()]
        largest = similarity.max(axis=1)
        return np.where(
            np.asarray(largest.todense() if sparse.issparse(largest) else largest).ravel() > 0, strongest, -1
        )
