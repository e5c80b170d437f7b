"""``eigenscape cluster``: groups of rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eigenscape.cli import _reading as reading
from eigenscape.cli._building import build, wanted_kind
from eigenscape.cli._errors import WrongCommandError
from eigenscape.cli._fitting import Clock, announce_memory, coordinates, fit, summary
from eigenscape.cli._methods import CLUSTERING, canonical, estimator_class
from eigenscape.cli._models import save_model
from eigenscape.cli._options import MethodCommand, chosen_parameters, command_line
from eigenscape.cli._outputs import Out, Plot, Save, check_targets, draw
from eigenscape.cli._reading import Reading, fitted_scaler, read_table, scaled
from eigenscape.cli._shared import AsJson, Force, Progress, Quiet, finish, say, showing


class ClusterCommand(MethodCommand):
    """The options are those of spectral clustering, unless another method is named."""

    default_methods = CLUSTERING[:1]


def cluster(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="INPUT", help="A file, a folder of images, or - for CSV on standard input.")],
    clusters: Annotated[int | None, typer.Option("-k", help="Number of clusters; 8 unless you say.", min=1)] = None,
    method: Annotated[str, typer.Option("-m", help="spectral-clustering or mixture-ppca.", metavar="METHOD")] = CLUSTERING[0],
    out: Out = None,
    plot: Plot = None,
    save: Save = None,
    force: Force = False,
    label: reading.Label = None,
    id_column: reading.Id = None,
    columns: reading.Columns = None,
    missing: reading.Missing = "error",
    size: reading.Size = None,
    kind: reading.Kind = None,
    standardize: reading.Standardize = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    progress: Progress = None,
) -> None:
    """Find clusters of the rows of a file; with -o, write the cluster of every row.

    Examples

        eigenscape cluster iris.csv -k 3
        eigenscape cluster iris.csv -k 3 --n-neighbors 12 -o clusters.csv --plot clusters.png
        eigenscape cluster graph.edges -k 5 -o clusters.csv
    """
    name = canonical(method)
    if name not in CLUSTERING:
        raise WrongCommandError(f"{name} makes no clusters; take -m {' or -m '.join(CLUSTERING)}")
    check_targets(source, force, out=out, plot=plot, save=save)
    cls = estimator_class(name)
    chosen = chosen_parameters(ctx, cls)
    chosen |= {} if clusters is None else {_counted(name): clusters}
    how = Reading(label, id_column, columns, missing, size, wanted_kind(kind, chosen))
    quiet, clock = quiet or as_json, Clock()
    with clock.timed("reading"):
        table = read_table(source, how, quiet)
    estimator = build(cls, chosen, None, table.kind)
    memory = announce_memory(estimator, table.array, quiet)
    with showing(progress, quiet), clock.timed("fit"):
        scaler = fitted_scaler(table.array) if standardize else None
        table = scaled(table, scaler) if scaler else table
        fit(estimator, table)
        found_clusters = estimator.labels_ if "labels_" in vars(estimator) else estimator.predict(table.array)
    embedding = coordinates(estimator, table)
    found = summary(estimator, embedding, clock, memory)
    found["sizes"] = _sizes(found_clusters)
    if out:
        _write_clusters(out, found_clusters, table, force)
    if plot:
        draw(plot, embedding, labels=found_clusters, force=force, title=name)
    if save:
        save_model(save, estimator, scaler, table, how, command_line(ctx), None, force)
    if not as_json:
        say(f"rows in each cluster: {', '.join(map(str, found['sizes']))}", quiet)
    finish(found, {"clusters": out, "plot": plot, "model": save}, as_json, quiet)


def _counted(method: str) -> str:
    return "n_clusters" if method == "spectral-clustering" else "n_mixtures"


def _sizes(found: Any) -> list[int]:
    import numpy as np

    return np.bincount(found).tolist()


def _write_clusters(path: str, found: Any, table: Any, force: bool) -> None:
    from eigenscape.io import write_table

    write_table(path, found[:, None], names=["cluster"], ids=table.ids, labels=table.labels, force=force)
