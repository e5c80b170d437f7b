"""Ordinal MDS and ordinal Isomap."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigenscape._warnings import warn
from eigenscape.estimators._base import FitResult
from eigenscape.estimators._graph import given_neighborhood, neighborhood_graph
from eigenscape.methods.isomap import ordinal_isomap
from eigenscape.methods.ordinal import Layout, OrdinalOptions, require_pair_memory
from eigenscape.options import Landmarks, Ordinal
from eigenscape.pieces import join, split_graph


def ordinal_isomap_result(estimator: Any, X: Any, landmarks: Landmarks | None) -> FitResult:
    """Fit ordinal Isomap to validated data; ``estimator`` has the parameters of :class:`Isomap`."""
    if landmarks is not None:
        raise ValueError(
            "ordinal=True compares all pairs of points, landmarks only some; leave out one of them"
        )
    n, ordinal = estimator.n_components, estimator.ordinal
    ordinal = ordinal if isinstance(ordinal, Ordinal) else Ordinal()
    options = OrdinalOptions(n, ordinal.n_init, ordinal.max_iter, 1e-6, ordinal.ties, estimator._seed())
    require_pair_memory(X.shape[0])
    graph = neighborhood_graph(X, given_neighborhood(estimator), n)
    split = split_graph(graph.graph, estimator.on_disconnected)
    maps = [ordinal_isomap(part, options, estimator.n_jobs) for part in split.parts]
    layouts = [embedding.layout for embedding in maps]
    warn_if_not_converged(layouts, options)
    stress = np.array([layout.stress for layout in layouts])
    attributes = {
        "stress_": float(stress[0]) if len(stress) == 1 else stress,
        "n_iter_": max(layout.n_iter for layout in layouts),
        "_spectrum_": None,
    }
    embedding = join(maps, split, n)
    return graph.result(embedding, split, n, attributes, has_kernel=False)


def warn_if_not_converged(layouts: list[Layout], options: OrdinalOptions) -> None:
    """Warn if an ordinal map has not converged."""
    unconverged = [layout for layout in layouts if not layout.converged]
    if unconverged:
        warn(
            f"the map was still improving after max_iter={options.max_iter} steps, at a stress of"
            f" {unconverged[0].stress:.4g}: the last step lowered it by more than tol={options.tol:g}; raise"
            " max_iter or tol",
            ConvergenceWarning,
        )
