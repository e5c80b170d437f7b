"""Estimators of the methods, fitted to tables: parameters, weights, labels, scaling, warnings, summaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import PRECOMPUTED, reader_options
from eigenscape.app.cli.options import InputOptions
from eigenscape.app.methods import make_estimator, method_of

if TYPE_CHECKING:
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from eigenscape.app.io.table import Table

#: Description of each kind of precomputed input, and the methods that take it.
_PRECOMPUTED_HINTS = {
    "distances": "a distance matrix; use isomap, locally-linear-embedding or classical-mds",
    "affinities": "an affinity matrix; use laplacian-eigenmaps or kernel-pca",
    "edges": "an edge list; use laplacian-eigenmaps, diffusion-map or spectral-clustering (weights are"
    " affinities), or isomap (weights are lengths)",
}
#: Largest number of rows for which a summary includes the training loss, which takes O(n²) operations.
_MAX_LOSS_ROWS = 5000
#: Fitted attributes in a summary.
_ATTRIBUTES = (
    *("eigenvalues_", "residuals_", "solver_", "stress_", "ncut_", "n_connected_components_"),
    *("neighbor_recall_", "gram_error_bound_"),
)


def build_estimator(
    cls: type[Any], parameters: dict[str, Any], n_components: int | None, kind: str, array: Any = None
) -> Any:
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
    if kind in _PRECOMPUTED_HINTS:
        parameters = _precomputed(cls, parameters, kind, array)
    return make_estimator(cls, parameters)


def _precomputed(cls: type[Any], parameters: dict[str, Any], kind: str, array: Any) -> dict[str, Any]:
    """Return the parameters of an estimator of distances, affinities or edges."""
    name = getattr(cls, "_pairwise_parameter", None) or ""
    value = PRECOMPUTED.get((name, kind))
    if value is None or (kind == "edges" and name == "metric" and not cls._method.geodesic):
        needed = "rows of numbers" if value is None else "all distances"
        raise CommandError(f"{method_of(cls)} needs {needed}, but the input is {_PRECOMPUTED_HINTS[kind]}")
    parameters = {name: value, **parameters}
    if {"n_neighbors", "radius"} & set(parameters):
        return parameters
    if kind == "edges" and name == "metric" and parameters[name] == "precomputed":
        parameters["radius"] = 2.0 * float(array.max()) or 1.0  # every edge connects neighbours
    elif kind == "distances" and hasattr(array, "indptr") and "n_neighbors" in cls().get_params():
        parameters["n_neighbors"] = max(1, int((array.indptr[1:] - array.indptr[:-1]).min()))  # all stored
    return parameters


def announce_memory(estimator: Any, table: Table, quiet: bool) -> float | None:
    """Print and return an estimate of the memory of a fit in bytes; None if the rows are streamed."""
    if table.is_streamed:
        return None
    from eigenscape._format import format_bytes
    from eigenscape._memory import available_bytes

    needed = estimator._method.memory.estimate(estimator.get_params(), *table.array.shape)
    free = format_bytes(available_bytes())
    name = estimator._method.name
    print_message(f"{name}: about {format_bytes(needed)} of memory ({free} free)", quiet)
    return needed


def fit_labels(estimator: Any, table: Table) -> np.ndarray | None:
    """Return the classes or groups of rows that an estimator is fitted to; None if it needs none."""
    if estimator.get_params().get("target_weight"):
        return given_labels(table)
    if not estimator._method.groups:
        return None
    if table.labels is None:
        raise CommandError(
            f"{method_of(estimator)} needs groups of rows, whose differences are the noise; name their"
            " column with --label"
        )
    return table.labels


def given_labels(table: Table) -> np.ndarray:
    """Return the labels of a table, -1 or None for rows that have none."""
    import numpy as np

    from eigenscape._roles import missing_labels

    if table.labels is None:
        raise CommandError(
            f"{table.source} has no column of labels; name it with --label, with empty cells for unlabelled"
            " rows"
        )
    labels = np.asarray(table.labels)
    if labels.dtype.kind in "iu":
        return labels
    missing = missing_labels(labels)
    if labels.dtype.kind != "f":
        texts = labels.astype(str).astype(object)
        texts[missing] = None
        return texts
    if (labels[~missing] % 1 != 0).any():
        raise CommandError(
            f"column {table.label_name!r} of {table.source} has numbers that are not integers, which are no"
            " classes; name another column with --label"
        )
    return np.where(missing, -1, labels).astype(np.int64)


def check_weight_option(cls: type[Any], options: InputOptions) -> None:
    """Raise CommandError before any work if a method has no weights, or their column has another role."""
    from sklearn.utils.validation import has_fit_parameter

    if not has_fit_parameter(cls, "sample_weight"):
        raise CommandError(
            f"{method_of(cls)} has no sample weights; omit --weight, or use a method such as kernel-pca,"
            " laplacian-eigenmaps or pca"
        )
    name, columns = options.weight, reader_options(options).get("columns", ())
    roles = {"--label": name == options.label, "--id": name == options.id, "--columns": name in columns}
    for option in (option for option, used in roles.items() if used):
        raise CommandError(f"column {name!r} is given by --weight and by {option}; omit one of them")


def weight_column(table: Table, name: str) -> np.ndarray:
    """Return the weights of the rows, or raise CommandError if the column does not contain weights."""
    import numpy as np

    if table.is_streamed:
        raise CommandError("--weight needs all rows in memory; omit --stream, or use a smaller file")
    if name not in table.extra:
        raise CommandError(
            f"--weight {name}: {table.source} is not a table that contains this column and features; weights"
            " are a column of a table with names, such as a CSV or Parquet file"
        )
    where = f"column {name!r} of {table.source}"
    try:
        weights = table.extra[name].astype(np.float64)
    except (TypeError, ValueError) as error:  # could not convert string to float: 'a'
        shown = str(error).partition(": ")[2]
        raise CommandError(f"{where} contains text ({shown}), not weights") from None
    problem = ~np.isfinite(weights) | (weights < 0)
    if problem.any():
        row = int(np.flatnonzero(problem)[0])
        number = row if table.rows is None else int(table.rows[row])
        kind = "is missing or infinite" if not np.isfinite(weights[row]) else f"is {weights[row]:g}"
        raise CommandError(
            f"the weight in {where} {kind} in row {number + 1} (counted from 1); weights are numbers of at"
            " least 0"
        )
    return weights


def warn_of_scales(estimator: Any, table: Table) -> dict[str, float]:
    """Print a warning if few columns dominate the distances of an estimator.

    Return these columns with their shares of the total variance. Of streamed rows, the first chunk is
    examined.
    """
    from eigenscape.app.report.dominance import find_dominance

    rows = next(iter(table.chunks)) if table.kind == "rows" else None
    found = None if rows is None else find_dominance(estimator, rows, table.names)
    if found is None:
        return {}
    _warn(
        f"{found.subject}, so the map shows {found.extent}; add --standardize, unless the units of the"
        " columns are comparable"
    )
    return dict(zip(found.names, found.shares.tolist(), strict=True))


def warn_of_few_points(embedding: np.ndarray, table: Table, prefix: str) -> None:
    """Print a warning for coordinates that a handful of points determine."""
    from eigenscape.app.report.dominance import few_points_sentences
    from eigenscape.quality import localized_coordinates

    found = localized_coordinates(embedding)
    for sentence in few_points_sentences(found, len(embedding), table.ids, table.labels):
        _warn(sentence.removesuffix("."), prefix)


def _warn(sentence: str, prefix: str = "") -> None:
    """Print a sentence of a report as a warning: in lower case, with the characters of a terminal."""
    plain = sentence.replace("\u00a0", " ").replace("“", "'").replace("”", "'")
    print_message(f"warning: {prefix}{plain[0].lower()}{plain[1:]}")


def fit_estimator(
    estimator: Any, table: Table, labels: np.ndarray | None, weights: np.ndarray | None
) -> np.ndarray:
    """Fit an estimator to rows, in chunks if they are streamed; return the coordinates of the rows."""
    if table.is_streamed and estimator._method.streams == "partial_fit":
        for chunk in table.chunks:
            estimator.partial_fit(chunk)
    else:
        targets = () if labels is None else (labels,)
        estimator.fit(table.array, *targets, **({} if weights is None else {"sample_weight": weights}))
    if table.is_streamed or "embedding_" not in vars(estimator):
        return apply_to_rows(estimator.transform, table)
    return estimator.embedding_


def apply_to_rows(function: Callable[[Any], np.ndarray], table: Table) -> np.ndarray:
    """Return the values of a function of rows, computed chunk by chunk if they are streamed."""
    import numpy as np

    return np.concatenate([function(chunk) for chunk in table.chunks])


def standardize(table: Table) -> tuple[Table, StandardScaler]:
    """Return a table with columns of mean 0 and variance 1, and its scaler; sparse rows are not centred."""
    from scipy import sparse
    from sklearn.preprocessing import StandardScaler

    if table.kind not in ("rows", "images"):
        raise CommandError(f"--standardize needs rows of numbers, but the input is {table.kind}; omit it")
    scaler = StandardScaler(with_mean=not sparse.issparse(table.array))
    for chunk in table.chunks:
        scaler.partial_fit(chunk)
    return replace(table.with_rows(scaler.transform), unscaled=table.array), scaler


def describe_fit(estimator: Any, embedding: np.ndarray) -> dict[str, Any]:
    """Return method, parameters, shape, fitted attributes and training loss of an estimator.

    The rows that carry a coordinate, if they are few, are listed by the number of the coordinate, both
    counted from 1.
    """
    from eigenscape.options import flattened
    from eigenscape.quality import localized_coordinates, participation_ratio

    fitted = vars(estimator)
    has_loss = "eigenvalues_" in fitted and callable(getattr(estimator, "loss", None))
    return {
        "method": method_of(estimator),
        "parameters": flattened(estimator.get_params(deep=False)),
        "shape": list(embedding.shape),
        "participation_ratio": participation_ratio(embedding),
        "few_rows": {found.coordinate + 1: found.points + 1 for found in localized_coordinates(embedding)},
        **{name.removesuffix("_"): fitted[name] for name in _ATTRIBUTES if name in fitted},
        "loss": float(estimator.loss()) if has_loss and len(embedding) <= _MAX_LOSS_ROWS else None,
    }
