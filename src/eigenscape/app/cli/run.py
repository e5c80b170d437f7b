"""Fitting an estimator to a table, and applying a fitted model to new rows."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.classes import given_labels
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import column_roles, is_streamed, row_chunks
from eigenscape.app.cli.memory import announce_memory
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


@dataclass
class Timer:
    """Seconds of each step of a command."""

    seconds: dict[str, float] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)  # stages within the fit

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time spent in the block to ``seconds[name]``."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def by_stage(self) -> dict[str, float]:
        """Return the seconds of reading and of each stage of the fit, without overlap."""
        rest = max(0.0, self.seconds["fit"] - sum(self.stages.values()))
        return {"reading": self.seconds["reading"], **self.stages, "everything else": rest}


@contextmanager
def show_progress(progress: bool | None, quiet: bool) -> Iterator[dict[str, float]]:
    """Show progress for the block; the yielded dict holds the seconds of each stage after it.

    If ``progress`` is None, it is shown unless ``quiet``: bars on a terminal, elsewhere lines of text, unless
    the block takes less than two seconds.
    """
    from eigenscape._progress import recording, reporting
    from eigenscape._progress_displays import QUIET_SECONDS

    seconds: dict[str, float] = {}
    visible, delay = (not quiet, QUIET_SECONDS) if progress is None else (progress, 0.0)
    with reporting(visible and sys.stderr is not None, delay), recording() as stages:
        yield seconds
    seconds.update({stage.name: stage.seconds for stage in stages})


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


@dataclass(frozen=True, eq=False)
class CommandFit:
    """An estimator fitted to a table."""

    estimator: BaseEstimator
    embedding: np.ndarray  # (n, n_components)
    table: Table  # as read
    fitted_table: Table  # standardised, if requested
    scaler: StandardScaler | None
    timer: Timer
    memory_estimate: float | None  # in bytes
    dominance: Dominance | None = None  # columns that dominate the distances


def fit(
    table: Table,
    cls: type[BaseEstimator],
    parameters: dict[str, Any],
    n_components: int | None,
    *,
    standardize: bool,
    progress: bool | None,
    quiet: bool,
    timer: Timer,
    weights: np.ndarray | None = None,
) -> CommandFit:
    """Fit an estimator to a table, with weights if given; return it with the coordinates."""
    if standardize and table.kind not in ("rows", "images"):
        raise CommandError(f"--standardize needs rows of numbers, but the input is {table.kind}; omit it")
    estimator = build_estimator(cls, parameters, n_components, table.kind, table.array)
    if _uses_classes(estimator):
        given_labels(table)  # raises before any work
    memory = announce_memory(estimator, table.array, quiet)
    dominance = None if standardize else warn_of_scales([estimator], table)
    with show_progress(progress, quiet) as stages, timer.measure("fit"):
        scaler = fit_scaler(table.array) if standardize else None
        fitted_table = table if scaler is None else scale(table, scaler)
        fit_estimator(estimator, fitted_table, weights)
        embedding = training_coordinates(estimator, fitted_table)
    timer.stages.update(stages)
    warn_of_few_points(embedding, table)
    return CommandFit(estimator, embedding, table, fitted_table, scaler, timer, memory, dominance)


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
    if _uses_classes(estimator):
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


def _uses_classes(estimator: BaseEstimator) -> bool:
    """Return whether labels are mixed into the graph of an estimator."""
    return bool(estimator.get_params().get("target_weight"))


def training_coordinates(estimator: BaseEstimator, table: Table) -> np.ndarray:
    """Return the coordinates of the rows that an estimator was fitted to."""
    if is_streamed(table.array) or "embedding_" not in vars(estimator):
        return transform_rows(estimator, table.array)
    return estimator.embedding_


def transform_rows(model: BaseEstimator, X: Any) -> np.ndarray:
    """Return the coordinates of rows, computed chunk by chunk if they are streamed."""
    import numpy as np

    if not is_streamed(X):
        return model.transform(X)
    return np.concatenate([model.transform(chunk) for chunk in row_chunks(X)])


def predict_rows(model: BaseEstimator, X: Any) -> np.ndarray:
    """Return the clusters of rows, computed chunk by chunk if they are streamed."""
    import numpy as np

    if not is_streamed(X):
        return model.predict(X)
    return np.concatenate([model.predict(chunk) for chunk in row_chunks(X)])


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


def summarize(result: CommandFit, with_loss: bool) -> dict[str, Any]:
    """Return what ``--json`` prints about a fit; the loss, which nothing else needs, if ``with_loss``."""
    from eigenscape._memory import peak_memory

    return describe_fit(result.estimator, result.embedding, with_loss) | {
        "input": column_roles(result.table),
        "dominant_columns": describe_dominance(result.dominance),
        "timings": result.timer.seconds,
        "stages": result.timer.stages,
        "memory": {"estimate": result.memory_estimate, "peak": peak_memory()},
    }


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
