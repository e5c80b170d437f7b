"""Views of :class:`AlignedSpectralMaps`: their tables, graphs and maps."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from eigenscape.estimators._base import Estimator
from eigenscape.estimators._graph import SampleGraph
from eigenscape.estimators._links import Links
from eigenscape.estimators._rows import check_input


class ViewMap(Estimator):
    """The map of one view of :class:`AlignedSpectralMaps`; it is made by its ``fit``.

    Parameters
    ----------
    view : str or int
        Name of the view.
    n_jobs : int or None
        Number of threads; see :class:`AlignedSpectralMaps`.
    verbose : bool
        Whether to report the progress of each stage.
    """

    def __init__(self, view: Hashable = 0, *, n_jobs: int | None = None, verbose: bool = False) -> None:
        self.view = view
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> NoReturn:
        """Raise TypeError: the map of a view cannot be fitted alone."""
        raise TypeError("the map of a view cannot be fitted alone; fit AlignedSpectralMaps")


def linked_vertices(graphs: Sequence[SampleGraph], links: Links) -> np.ndarray:
    """Return pairs (n_links, 2) of linked vertices, numbered over all views, each pair once."""
    starts = np.cumsum([0, *(graph.graph.n_vertices for graph in graphs)])
    vertex = [start + graph.vertex for start, graph in zip(starts, graphs, strict=False)]
    return np.unique([(vertex[a][i], vertex[b][j]) for a, i, b, j in links], axis=0)


def tables_by_name(X: Any) -> dict[Hashable, Any]:
    """Return the tables of views by name, or by position."""
    if isinstance(X, Mapping):
        tables = dict(X)
    elif isinstance(X, (list, tuple)) and all(np.ndim(table) == 2 or hasattr(table, "shape") for table in X):
        tables = dict(enumerate(X))
    else:
        raise TypeError(
            f"X must be a list or dict of tables, one for each view, got {type(X).__name__}; a single table"
            " is embedded by LaplacianEigenmaps"
        )
    if len(tables) < 2:
        raise ValueError(f"X must contain at least 2 views, got {len(tables)}")
    return tables


def check_table(view: ViewMap, table: Any) -> Any:
    """Return the validated rows of a view; errors have a note that names it."""
    try:
        return check_input(view, table, reset=True)
    except (TypeError, ValueError) as error:
        error.add_note(f"This is view {view.view!r}.")
        raise
