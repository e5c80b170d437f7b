"""Maps of several views in common coordinates: their graphs, coupled by links (Ham et al. 2005).

See docs/decisions/methods-views.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenscape.eigenfunctions import Eigenfunctions, Embedding, Landmarks
from eigenscape.graph.components import component_labels
from eigenscape.kernels import Precomputed
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.linked import LinkedAffinity
from eigenscape.methods.laplacian import laplacian_eigenmaps, require_eigenfunctions
from eigenscape.methods.tuning import TUNING
from eigenscape.normalize import DividedKernel
from eigenscape.operators import gram
from eigenscape.solvers import SolverConfig

#: Couplings that are compared, in ascending order.
COUPLINGS = (0.1, 0.3, 1.0, 3.0, 10.0)


class AlignedEmbedding(NamedTuple):
    """Coordinates (m, n_components) of the vertices of all views, and the map of each view."""

    coordinates: np.ndarray
    maps: list[Embedding]


class CouplingChoice(NamedTuple):
    """A coupling, and the mean and standard error of the held-out losses of all that were compared."""

    coupling: float
    losses: np.ndarray  # (len(COUPLINGS),)
    errors: np.ndarray  # (len(COUPLINGS),)


@dataclass(frozen=True, eq=False)
class Views:
    """Affinity graphs of several views, and pairs of vertices that are linked.

    Parameters
    ----------
    affinities : tuple of BoundKernel
        The sparse affinity of each view.
    pairs : ndarray of shape (n_links, 2)
        Linked vertices, numbered over all views in their order.
    """

    affinities: tuple[BoundKernel, ...]
    pairs: np.ndarray
    edges: sparse.csr_array  # (m, m) affinities within views

    @classmethod
    def of(cls, affinities: Sequence[BoundKernel], pairs: np.ndarray) -> Views:
        """Return the views with their affinity matrices computed."""
        blocks = [sparse.csr_array(gram(affinity).matrix()) for affinity in affinities]
        return cls(tuple(affinities), pairs, sparse.csr_array(sparse.block_diag(blocks)))

    def links(self, coupling: float, pairs: np.ndarray) -> sparse.csr_array:
        """Return the weights (m, m) of links: ``coupling`` times the mean degree within views."""
        m = self.edges.shape[0]
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        linked = sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(m, m))
        linked.data[:] = coupling * self.edges.sum() / m  # a pair that is given twice is one link
        return linked


def aligned_eigenmaps(
    views: Views, coupling: float, n_components: int, solver: SolverConfig, pairs: np.ndarray | None = None
) -> AlignedEmbedding:
    """Return one map for each view, from the eigenvectors of one graph.

    The graph has the edges of all views and the links between them: ``(S - K) z = sigma S z`` with ``K =
    diag(K_1, K_2, ...) + mu C`` (Ham et al. 2005, with the links in the degrees ``S``). A new point has no
    links, so its Nyström formula is the formula of its own view. ``pairs`` are the links used, by default
    all.
    """
    links = views.links(coupling, views.pairs if pairs is None else pairs)
    affinity = Precomputed().bind(sparse.csr_array(views.edges + links))
    whole = require_eigenfunctions(laplacian_eigenmaps(affinity, n_components, solver), n_components)
    functions = whole.eigenfunctions
    assert isinstance(functions, Eigenfunctions)
    assert isinstance(functions.kernel, DividedKernel)
    maps, start = [], 0
    for base in views.affinities:
        rows = slice(start, start + base.X.shape[0])
        kernel = replace(functions.kernel, base=LinkedAffinity(base, start, links[rows]))
        own = Landmarks(base.X, None)  # the eigenvectors contain the vertices of all views
        maps.append(replace(whole, eigenfunctions=replace(functions, kernel=kernel), landmarks=own))
        start = rows.stop
    return AlignedEmbedding(whole.coordinates, maps)


def link_losses(coordinates: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the squared distances of linked points; on average two unrelated points have 1."""
    spread = 2 * coordinates.var(axis=0).sum()
    return np.square(coordinates[pairs[:, 0]] - coordinates[pairs[:, 1]]).sum(axis=1) / spread


def choose_coupling(views: Views, n_components: int, solver: SolverConfig) -> CouplingChoice:
    """Return the weakest coupling that brings links which it does not know as near as the best one does.

    A part of the links is left out, and its loss is the mean of :func:`link_losses`. The best coupling is
    often the strongest, but strong links distort the views, so the weakest is taken whose loss is within one
    standard error of the least.
    """
    folds, losses = _folds(views, solver.seed), []  # for each fold (n_couplings, n_left_out)
    for fold in range(TUNING.link_folds):
        kept, out = views.pairs[folds != fold], views.pairs[folds == fold]
        if not len(out) or component_labels(views.edges + views.links(1.0, kept)).max() > 0:
            continue
        found = [aligned_eigenmaps(views, mu, n_components, solver, kept) for mu in COUPLINGS]
        losses.append(np.array([link_losses(each.coordinates, out) for each in found]))
        if sum(part.shape[1] for part in losses) >= 200:  # enough links were left out
            break
    if not losses:
        raise ValueError(
            f"coupling='auto' leaves out a part of the links, but {len(views.pairs)} links do not connect the"
            " views without it; give more links, or a number such as coupling=1"
        )
    pooled = np.concatenate(losses, axis=1)
    means, errors = pooled.mean(axis=1), pooled.std(axis=1) / np.sqrt(pooled.shape[1])
    best = int(np.argmin(means))
    weakest = int(np.argmax(means <= means[best] + errors[best]))
    return CouplingChoice(COUPLINGS[weakest], means, errors)


def _folds(views: Views, seed: int | None) -> np.ndarray:
    """Return the fold of each link: the same for points linked to each other, by others too.

    The links of each view are spread over all folds, in random order."""
    first = views.pairs[:, 0]
    label = component_labels(views.links(1.0, views.pairs))[first]
    _, place, group = np.unique(label, return_index=True, return_inverse=True)
    ends = np.cumsum([affinity.X.shape[0] for affinity in views.affinities])
    view = np.searchsorted(ends, first[place], side="right")
    order = np.lexsort((np.random.default_rng(seed).random(len(place)), view))
    fold = np.empty(len(place), dtype=np.intp)
    fold[order] = np.arange(len(place)) % TUNING.link_folds
    return fold[group]
