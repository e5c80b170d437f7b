"""Views of :class:`AlignedSpectralMaps`: their tables, graphs and maps, and the links between their rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from eigenscape.estimators._base import Estimator
from eigenscape.estimators._graph import SampleGraph
from eigenscape.estimators._rows import check_input

#: ``(view, row, view, row)`` of each link.
Links = list[tuple[int, int, int, int]]


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


def linked_rows(links: Any, names: Sequence[Hashable], sizes: Sequence[int]) -> Links:
    """Return the links that ``links`` describe.

    Parameters
    ----------
    links : "rows", sequence or mapping of ids, or mapping of pairs
        See :meth:`AlignedSpectralMaps.fit`.
    names : sequence of hashable
        Names of the views.
    sizes : sequence of int
        Their numbers of rows.
    """
    if links is None:
        raise ValueError(
            "links=None, but views without rows in common cannot be aligned; pass ids of the rows of each"
            " view, links='rows' if row i is the same sample in all views, or pairs of row numbers"
        )
    if isinstance(links, str):
        if links != "rows":
            raise ValueError(f"links={links!r} is not known; the only string is 'rows'")
        if len(set(sizes)) > 1:
            raise ValueError(
                f"links='rows' needs views with equal numbers of rows, got {_listed(names, sizes)}; pass ids"
                " of the rows of each view"
            )
        return _by_id([range(size) for size in sizes], names)
    if isinstance(links, Mapping) and all(isinstance(key, tuple) and len(key) == 2 for key in links):
        return _by_pairs(links, names, sizes)
    ids = _ids_of_views(links, names)
    for name, own, size in zip(names, ids, sizes, strict=True):
        if len(own) != size:
            raise ValueError(f"links has {len(own)} ids for view {name!r}, which has {size} rows")
    return _by_id(ids, names)


def check_enough_links(links: Links, names: Sequence[Hashable], n_components: int) -> None:
    """Raise ValueError if a view has too few links, or if links do not connect all views."""
    linked: list[set[int]] = [set() for _ in names]
    group = np.arange(len(names))
    for a, i, b, j in links:
        linked[a].add(i)
        linked[b].add(j)
        group[group == group[b]] = group[a]
    counts = [len(rows) for rows in linked]
    fewest = int(np.argmin(counts))
    if counts[fewest] < n_components + 1:
        raise ValueError(
            f"view {names[fewest]!r} has {counts[fewest]} linked rows, but n_components={n_components} needs"
            f" at least {n_components + 1}; link more rows (linked rows: {_listed(names, counts)})"
        )
    if len(set(group)) > 1:
        alone = [name for name, own in zip(names, group, strict=True) if own != group[0]]
        raise ValueError(f"no links connect the views {alone!r} with view {names[0]!r}; link rows of both")


def _ids_of_views(links: Any, names: Sequence[Hashable]) -> list[list[Any]]:
    """Return the ids of the rows of each view, in the order of the views."""
    if isinstance(links, Mapping):
        if set(links) != set(names):
            raise ValueError(
                f"links has ids for the views {list(links)!r}, but X has {list(names)!r}; give ids for each"
            )
        links = [links[name] for name in names]
    if not hasattr(links, "__len__") or len(links) != len(names):
        raise ValueError(
            f"links must contain one sequence of ids for each of the {len(names)} views, got {links!r:.60}"
        )
    return [np.asarray(own).tolist() for own in links]


def _by_id(ids: Sequence[Sequence[Any]], names: Sequence[Hashable]) -> Links:
    """Link rows of equal id in consecutive views in which it occurs. None and NaN are no ids."""
    links: Links = []
    last: dict[Any, tuple[int, int]] = {}
    for view, own in enumerate(ids):
        for row, value in enumerate(own):
            if value is None or value != value:
                continue
            before = last.get(value)
            if before is not None:
                if before[0] == view:
                    raise ValueError(
                        f"links: id {value!r} occurs in rows {before[1]} and {row} of view {names[view]!r};"
                        " ids must be unique within a view, or None for a row without links"
                    )
                links.append((*before, view, row))
            last[value] = (view, row)
    return links


def _by_pairs(links: Mapping[Any, ArrayLike], names: Sequence[Hashable], sizes: Sequence[int]) -> Links:
    """Return the links between given pairs of rows of two views each."""
    found: Links = []
    for (first, second), pairs in links.items():
        if first not in names or second not in names or first == second:
            raise ValueError(f"links: ({first!r}, {second!r}) must be two of the views {list(names)!r}")
        a, b = names.index(first), names.index(second)
        rows = np.asarray(pairs)
        if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
            raise ValueError(
                f"links: pairs of ({first!r}, {second!r}) must be an integer array of shape (n_links, 2), got"
                f" shape {rows.shape} and dtype {rows.dtype}"
            )
        for name, size, own in ((first, sizes[a], rows[:, 0]), (second, sizes[b], rows[:, 1])):
            if len(own) and (own.min() < 0 or own.max() >= size):
                raise ValueError(
                    f"links: row {int(own.min() if own.min() < 0 else own.max())} is not a row of view"
                    f" {name!r}, which has {size}"
                )
        found += [(a, int(i), b, int(j)) for i, j in rows]
    return found


def _listed(names: Sequence[Hashable], counts: Sequence[int]) -> str:
    return ", ".join(f"{name!r}: {count}" for name, count in zip(names, counts, strict=True))
