"""Views of :class:`AlignedSpectralMaps`: their tables, graphs and maps."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._affinity import AffinityOptions, GraphSamples, bind_affinity
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._links import Links
from eigenscape.estimators._rows import check_input
from eigenscape.kernels.base import BoundKernel
from eigenscape.pieces import Split


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


@dataclass(frozen=True, eq=False)
class ViewGraph:
    """The neighbourhood graph of a view."""

    samples: GraphSamples
    split: Split  # in one part

    @property
    def affinity(self) -> BoundKernel:
        return self.split.parts[0].kernel

    @property
    def vertex(self) -> np.ndarray:
        """Vertex of each row."""
        return self.samples.graph.vertex

    @property
    def n_vertices(self) -> int:
        return self.samples.graph.graph.n_vertices

    def attributes(self, embedding: Embedding, n_components: int) -> Mapping[str, Any]:
        """Return the fitted attributes of the map of the view."""
        return self.samples.result(embedding, self.split, n_components).attributes


def view_graph(
    rows: Any, options: AffinityOptions, n_components: int, on_disconnected: Literal["connect", "raise"]
) -> ViewGraph:
    """Return the graph of validated rows, whose components are connected or refused."""
    samples = bind_affinity(rows, options, n_components)
    assert isinstance(samples, GraphSamples)
    return ViewGraph(samples, samples.split(on_disconnected))


def linked_vertices(graphs: Sequence[ViewGraph], links: Links) -> np.ndarray:
    """Return pairs (n_links, 2) of linked vertices, numbered over all views, each pair once."""
    starts = np.cumsum([0, *(graph.n_vertices for graph in graphs)])
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


def set_attributes(estimator: Estimator, attributes: Mapping[str, Any]) -> None:
    """Set fitted attributes by name."""
    for name, value in attributes.items():
        setattr(estimator, name, value)
