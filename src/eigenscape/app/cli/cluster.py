"""``eigenscape cluster``: groups of rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eigenscape.app.cli import _reading as reading
from eigenscape.app.cli._building import wanted_kind
from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._fitting import summary
from eigenscape.app.cli._methods import CLUSTERING, canonical, estimator_class
from eigenscape.app.cli._models import save_model
from eigenscape.app.cli._options import MethodCommand, chosen_parameters, command_line
from eigenscape.app.cli._outputs import Out, Plot, Save, check_targets, draw, label_name
from eigenscape.app.cli._reading import Reading
from eigenscape.app.cli._shared import AsJson, Force, Progress, Quiet, finish, say
from eigenscape.app.cli._work import read_and_fit


class ClusterCommand(MethodCommand):
    """The options are those of spectral clustering, unless another method is named."""

    default_methods = CLUSTERING[:1]


def cluster(
    ctx: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="A file, a folder of images, or - for CSV on standard input."),
    ],
    clusters: Annotated[
        int | None, typer.Option("-k", help="Number of clusters; 8 unless you say.", min=1)
    ] = None,
    method: Annotated[
        str, typer.Option("-m", help="spectral-clustering or mixture-ppca.", metavar="METHOD")
    ] = CLUSTERING[0],
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

    The parameters of spectral clustering are options too, and so are those of mixture-ppca with `-m
    mixture-ppca`."""
    name = canonical(method)
    if name not in CLUSTERING:
        raise WrongCommandError(f"{name} makes no clusters; take -m {' or -m '.join(CLUSTERING)}")
    check_targets(source, force, as_json, out=out, plot=plot, save=save)
    cls = estimator_class(name)
    chosen = chosen_parameters(ctx, cls)
    chosen |= {} if clusters is None else {_counted(name): clusters}
    if _counted(name) not in chosen:
        say(f"{cls().get_params()[_counted(name)]} clusters; -k chooses", quiet or as_json)
    how = Reading(label, id_column, columns, missing, size, wanted_kind(kind, chosen))
    work = read_and_fit(source, cls, chosen, None, how, standardize, progress, quiet or as_json)
    clusters_found = vars(work.estimator).get("labels_")
    if clusters_found is None:
        clusters_found = work.estimator.predict(work.table.array)
    found = {**summary(work), "sizes": _sizes(clusters_found)}
    if out:
        _write_clusters(out, clusters_found, work.raw, force)
    if plot:
        draw(plot, work.embedding, labels=clusters_found, force=force, title=name)
    if save:
        save_model(save, work, None, command_line(ctx), force, quiet or as_json)
    say(f"rows in each cluster: {', '.join(map(str, found['sizes']))}", quiet or as_json)
    finish(found, {"clusters": out, "plot": plot, "model": save}, as_json, quiet)


def _counted(method: str) -> str:
    return "n_clusters" if method == "spectral-clustering" else "n_mixtures"


def _sizes(found: Any) -> list[int]:
    import numpy as np

    return np.bincount(found).tolist()


def _write_clusters(path: str, found: Any, table: Any, force: bool) -> None:
    from eigenscape.app.io import write_table

    called = label_name(table, ["cluster"])
    write_table(
        path,
        found[:, None],
        names=["cluster"],
        ids=table.ids,
        labels=table.labels,
        label_name=called,
        force=force,
    )
