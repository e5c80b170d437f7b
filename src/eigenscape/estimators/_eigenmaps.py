"""Laplacian eigenmaps of the parts of an affinity, by all eigenvectors or by independent ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eigenscape.eigenfunctions import Embedding
from eigenscape.methods.independence import Selection, independent_eigenmaps
from eigenscape.methods.laplacian import laplacian_eigenmaps, require_eigenfunctions
from eigenscape.options import Independence
from eigenscape.pieces import Affinity, Split
from eigenscape.solvers import SolverConfig


def check_independence(
    independent: bool | Independence, n_components: int, approximation: Any = None
) -> Independence | None:
    """Return the criterion for independent eigenvectors, or None if all are used."""
    if independent and approximation is not None:
        raise ValueError(
            "independent=True needs eigenvectors of all samples, which"
            f" approximation={approximation!r} does not have; leave out one of them"
        )
    if not isinstance(independent, Independence):
        return Independence() if independent else None
    if independent.n_candidates is not None and independent.n_candidates < n_components:
        raise ValueError(
            f"n_candidates={independent.n_candidates} is less than n_components={n_components}; raise"
            " n_candidates"
        )
    return independent


def eigenmaps_of_parts(
    split: Split[Affinity],
    measures: Sequence[np.ndarray | None],
    n_components: int,
    solver: SolverConfig,
    criterion: Independence | None,
    *,
    diagonal: bool,
    nonzero: bool = False,
) -> tuple[list[Embedding], dict[str, Any]]:
    """Return the Laplacian eigenmaps of all parts, under the measure of each, and the fitted attributes.

    ``nonzero`` states whether the ``n_components`` of a whole graph must have nonzero eigenvalues.
    """
    solver = replace(solver, parts=split.joined)
    if criterion is None:
        maps = [
            laplacian_eigenmaps(
                part.kernel, n_components, solver, diagonal=diagonal, weights=part.weights, measure=measure
            )
            for part, measure in zip(split.parts, measures, strict=True)
        ]
        if split.is_whole:
            require_eigenfunctions(maps[0], n_components, nonzero)
        return maps, {}
    selections = [
        independent_eigenmaps(
            part.kernel, n_components, solver, criterion, diagonal=diagonal, weights=part.weights
        )
        for part in split.parts
    ]
    if split.is_whole:
        require_eigenfunctions(selections[0].embedding, 1)
    return [each.embedding for each in selections], _attributes(selections)


def _attributes(selections: Sequence[Selection]) -> dict[str, Any]:
    """Return the fitted attributes of selected eigenvectors; lists of arrays if there are several parts."""
    kept = [selection.kept for selection in selections]
    residuals = [selection.residuals for selection in selections]
    one = len(selections) == 1
    return {"kept_": kept[0] if one else kept, "independence_": residuals[0] if one else residuals}
