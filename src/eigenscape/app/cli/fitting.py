"""Estimators of the methods, fitted to tables: parameters, weights, labels, scaling, warnings, summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import is_streamed, row_chunks, split_names
from eigenscape.app.cli.options import InputOptions
from eigenscape.app.methods import make_estimator, method_of

if TYPE_CHECKING:
    import numpy as np
    from sklearn.base import BaseEstimator
    from sklearn.preprocessing import StandardScaler

    from eigenscape.app.io import Table
    from eigenscape.app.report.scales import Dominance

#: Value of the parameter of an estimator that takes each kind of precomputed input.
_PRECOMPUTED = {
    "metric": {"distances": "precomputed", "edges": "precomputed"},
    "affinity": {
        "distances": "precomputed_nearest_neighbors",
        "affinities": "precomputed",
        "edges": "precomputed",
    },
    "kernel": {"affinities": "precomputed"},
}
#: Description of each kind of precomputed input, and the methods that take it.
_PRECOMPUTED_HINTS = {
    "distances": ("a distance matrix", "use isomap, locally-linear-embedding or classical-mds"),
    "affinities": ("an affinity matrix", "use laplacian-eigenmaps or kernel-pca"),
    "edges": (
        "an edge list",
        "use laplacian-eigenmaps, diffusion-map or spectral-clustering (weights are affinities),"
        " or isomap (weights are lengths)",
    ),
}
#: Largest number of rows for which a summary includes the training loss, which takes O(n²) operations.
_MAX_LOSS_ROWS = 5000
#: Fitted attributes in a summary.
_ATTRIBUTES = (
    "eigenvalues_",
    "residuals_",
    "solver_",
    "stress_",
    "ncut_",
    "n_connected_components_",
    "neighbor_recall_",
    "gram_error_bound_",
)


def build_estimator(
    cls: type[Any],
    parameters: dict[str, Any],
    n_components: int | None,
    kind: str,
    array: Any = None,
) -> BaseEstimator:
    """Construct an estimator with the given parameters for one kind of input.

    Parameters
    ----------
    cls : type
        The estimator class.
    parameters : dict
        Parameters given on the command line.
    n_components : int or None
        Value of ``-d``. None keeps the default of the estimator.
    kind : {"rows", "images", "distances", "affinities", "edges"}
        Kind of the input.
    array : csr_array, optional
        The weights of an edge list, or the distances of a neighbour graph. All entries are used by default.
    """
    parameters = dict(parameters)
    if n_components is not None:
        name = "n_components" if "n_components" in cls().get_params() else "n_clusters"
        if name in parameters:
            raise CommandError(f"-d and --{name.replace('_', '-')} are the same; give one of them")
        parameters[name] = n_components
    if kind not in _PRECOMPUTED_HINTS:
        return make_estimator(cls, parameters)
    name = getattr(cls, "_pairwise_parameter", None) or ""
    value = _PRECOMPUTED.get(name, {}).get(kind)
    needs_all = kind == "edges" and name == "metric" and not cls._method.geodesic
    if value is None or needs_all:
        description, remedy = _PRECOMPUTED_HINTS[kind]
        needed = "rows of numbers" if value is None else "all distances"
        raise CommandError(f"{method_of(cls)} needs {needed}, but the input is {description}; {remedy}")
    parameters.setdefault(name, value)
    every_edge = kind == "edges" and name == "metric" and parameters[name] == "precomputed"
    if every_edge and not {"n_neighbors", "radius"} & set(parameters):
        parameters["radius"] = 2.0 * float(array.max()) or 1.0  # every edge connects neighbours
    is_graph = kind == "distances" and hasattr(array, "indptr") and "n_neighbors" in cls().get_params()
    if is_graph and not {"n_neighbors", "radius"} & set(parameters):
        parameters["n_neighbors"] = max(1, int((array.indptr[1:] - array.indptr[:-1]).min()))  # all stored
    return make_estimator(cls, parameters)


def announce_memory(estimator: BaseEstimator, X: Any, quiet: bool) -> float | None:
    """Print and return an estimate of the memory of a fit in bytes; None if the rows are streamed."""
    if is_streamed(X):
        return None
    from eigenscape._format import format_bytes
    from eigenscape._memory import available_bytes

    needed = estimate_memory(estimator, *X.shape)
    free = format_bytes(available_bytes())
    print_message(f"{method_of(estimator)}: about {format_bytes(needed)} of memory ({free} free)", quiet)
    return needed


def estimate_memory(estimator: BaseEstimator, n_rows: int, n_columns: int) -> float:
    """Estimate the peak memory of a fit in bytes, within a factor of 2, without the rows themselves."""
    from eigenscape.estimators._method import Memory, described

    description = described(estimator)
    memory = Memory() if description is None else description.memory
    return memory.estimate(estimator.get_params(), n_rows, n_columns)


def given_labels(table: Table) -> np.ndarray:
    """Return the labels of a table, -1 or None for rows that have none."""
    import numpy as np

    if table.labels is None:
        raise CommandError(
            f"{table.source} has no column of labels; name it with --label, with empty cells for unlabelled"
            " rows"
        )
    labels = np.asarray(table.labels)
    if labels.dtype.kind == "f":
        known = np.isfinite(labels)
        if (labels[known] == np.round(labels[known])).all():
            return np.where(known, np.nan_to_num(labels), -1).astype(np.int64)
        raise CommandError(
            f"column {table.label_name!r} of {table.source} has numbers that are not integers, which are no"
            " classes; name another column with --label"
        )
    if labels.dtype.kind in "iu":
        return labels
    found = np.empty(len(labels), dtype=object)
    for row, value in enumerate(labels):
        found[row] = None if value is None or str(value).strip() == "" else str(value)
    return found


def check_weight_option(cls: type[BaseEstimator], options: InputOptions) -> None:
    """Raise CommandError before any work if a method has no weights, or their column has another role."""
    from sklearn.utils.validation import has_fit_parameter

    name = options.weight
    if name is None:
        return
    if not has_fit_parameter(cls, "sample_weight"):
        raise CommandError(
            f"{method_of(cls)} has no sample weights; omit --weight, or use a method such as kernel-pca,"
            " laplacian-eigenmaps or pca"
        )
    roles = {"--label": [options.label], "--id": [options.id], "--columns": split_names(options.columns)}
    for option, names in roles.items():
        if name in (names or ()):
            raise CommandError(f"column {name!r} is given by --weight and by {option}; omit one of them")


def weight_column(table: Table, name: str | None) -> np.ndarray | None:
    """Return the weights of the rows, or raise CommandError if the column does not contain weights."""
    import numpy as np

    if name is None:
        return None
    if is_streamed(table.array):
        raise CommandError("--weight needs all rows in memory; omit --stream, or use a smaller file")
    if name not in table.extra:
        raise CommandError(
            f"--weight {name}: {table.source} is not a table that contains this column and features; weights"
            " are a column of a table with names, such as a CSV or Parquet file"
        )
    column = table.extra[name]
    if column.dtype.kind not in "fiub":
        shown = next((value for value in column.tolist() if not _is_number(value)), "")
        raise CommandError(f"column {name!r} of {table.source} contains text ({shown!r}), not weights")
    weights = column.astype(np.float64)
    problem = ~np.isfinite(weights) | (weights < 0)
    if problem.any():
        row = int(np.flatnonzero(problem)[0])
        number = row if table.rows is None else int(table.rows[row])
        kind = "is missing or infinite" if not np.isfinite(weights[row]) else f"is {weights[row]:g}"
        raise CommandError(
            f"the weight in column {name!r} of {table.source} {kind} in row {number + 1} (counted from 1);"
            " weights are numbers of at least 0"
        )
    if not weights.any():
        raise CommandError(f"all weights in column {name!r} of {table.source} are 0")
    return weights


def _is_number(value: object) -> bool:
    """Return whether a value is a number, or a text that can be read as one."""
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def warn_of_scales(estimators: Sequence[BaseEstimator], table: Table) -> Dominance | None:
    """Print a warning if few columns dominate the distances of an estimator; return these columns.

    Of streamed rows, the first chunk is examined; rows that can be read only once are not.
    """
    from eigenscape.app.report.scales import find_dominance
    from eigenscape.streams import as_chunks, can_repeat

    X = table.array
    if is_streamed(X):
        chunks = as_chunks(X)
        X = next(iter(chunks), None) if chunks is not None and can_repeat(chunks) else None
    if table.kind != "rows" or X is None:
        return None
    found = (find_dominance(estimator, X, table.names) for estimator in estimators)
    dominance = next((one for one in found if one is not None), None)
    if dominance is not None:
        _warn(
            f"{dominance.subject}, so the map shows {dominance.extent}; add --standardize, unless"
            " the units of the columns are comparable"
        )
    return dominance


def warn_of_few_points(embedding: np.ndarray, table: Table, method: str = "") -> None:
    """Print a warning for coordinates that a handful of points determine."""
    from eigenscape.app.report.few_points import few_points_sentences
    from eigenscape.quality import localized_coordinates

    found = localized_coordinates(embedding)
    for sentence in few_points_sentences(found, len(embedding), table.ids, table.labels):
        _warn(sentence.removesuffix("."), f"{method}: " if method else "")


def _warn(sentence: str, prefix: str = "") -> None:
    """Print a sentence of a report as a warning: in lower case, with the characters of a terminal."""
    plain = sentence.replace("\u00a0", " ").replace("“", "'").replace("”", "'")
    print_message(f"warning: {prefix}{plain[0].lower()}{plain[1:]}")


def fit_estimator(estimator: BaseEstimator, table: Table, weights: np.ndarray | None = None) -> BaseEstimator:
    """Fit an estimator to a table: in chunks if it is streamed, with weights if given.

    Methods that need groups are fitted to the labels, maps with a ``target_weight`` to the labels as classes.
    """
    from eigenscape.estimators._method import described

    description = described(estimator)
    if uses_classes(estimator):
        return estimator.fit(table.array, given_labels(table), sample_weight=weights)
    if weights is not None:
        return estimator.fit(table.array, sample_weight=weights)
    if description is not None and description.groups:
        if table.labels is None:
            raise CommandError(
                f"{description.name} needs groups of rows, whose differences are the noise; name their"
                " column with --label"
            )
        return estimator.fit(table.array, table.labels)
    if is_streamed(table.array) and description is not None and description.streams == "partial_fit":
        for chunk in row_chunks(table.array):
            estimator.partial_fit(chunk)
        return estimator
    return estimator.fit(table.array)


def uses_classes(estimator: BaseEstimator) -> bool:
    """Return whether labels are mixed into the graph of an estimator."""
    return bool(estimator.get_params().get("target_weight"))


def training_coordinates(estimator: BaseEstimator, table: Table) -> np.ndarray:
    """Return the coordinates of the rows that an estimator was fitted to."""
    if is_streamed(table.array) or "embedding_" not in vars(estimator):
        return apply_to_rows(estimator.transform, table.array)
    return estimator.embedding_


def apply_to_rows(function: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """Return the values of a function of rows, computed chunk by chunk if they are streamed."""
    import numpy as np

    return np.concatenate([function(chunk) for chunk in row_chunks(X)]) if is_streamed(X) else function(X)


def fit_scaler(X: Any) -> StandardScaler:
    """Fit a StandardScaler to rows, in chunks if they are streamed; sparse rows are not centred."""
    from scipy import sparse
    from sklearn.preprocessing import StandardScaler

    if is_streamed(X):
        scaler = StandardScaler()
        for chunk in row_chunks(X):
            scaler.partial_fit(chunk)
        return scaler
    return StandardScaler(with_mean=not sparse.issparse(X)).fit(X)


def scale(table: Table, scaler: StandardScaler) -> Table:
    """Standardise the columns of a table, chunk by chunk if it is streamed."""
    X = table.array
    scaled = ScaledChunks(X, scaler) if is_streamed(X) else scaler.transform(X)
    return replace(table, array=scaled, unscaled=X)


@dataclass(frozen=True, eq=False)
class ScaledChunks:
    """Streamed rows, each chunk standardised when it is read."""

    rows: Any
    scaler: StandardScaler

    def __iter__(self) -> Iterator[Any]:
        for chunk in row_chunks(self.rows):
            yield self.scaler.transform(chunk)


def describe_dominance(dominance: Dominance | None) -> dict[str, float]:
    """Return the share of the total variance of each column that dominates the distances."""
    if dominance is None:
        return {}
    return dict(zip(dominance.names, dominance.shares.tolist(), strict=True))


def describe_fit(estimator: BaseEstimator, embedding: np.ndarray, with_loss: bool = True) -> dict[str, Any]:
    """Return method, parameters, shape, fitted attributes and training loss of an estimator.

    The rows that carry a coordinate, if they are few, are listed by the number of the coordinate, both
    counted from 1.
    """
    from eigenscape.options import flattened
    from eigenscape.quality import localized_coordinates, participation_ratio

    fitted = vars(estimator)
    has_loss = with_loss and "eigenvalues_" in fitted and callable(getattr(estimator, "loss", None))
    return {
        "method": method_of(estimator),
        "parameters": flattened(estimator.get_params(deep=False)),
        "shape": list(embedding.shape),
        "participation_ratio": participation_ratio(embedding),
        "few_rows": {found.coordinate + 1: found.points + 1 for found in localized_coordinates(embedding)},
        **{name.removesuffix("_"): fitted[name] for name in _ATTRIBUTES if name in fitted},
        "loss": float(estimator.loss()) if has_loss and len(embedding) <= _MAX_LOSS_ROWS else None,
    }
