"""``eigenscape cluster``: cluster the rows of a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.fitting import build_estimator
from eigenscape.app.cli.options import (
    TABLES,
    Display,
    InputOptions,
    Only,
    OutputOptions,
    chosen_parameters,
    command_line,
)
from eigenscape.app.cli.output import write_plot, write_rows
from eigenscape.app.cli.run import Run, summarize
from eigenscape.app.methods import estimator_class, methods_with
from eigenscape.app.methods import parameters as parameters_of

DEFAULT = "spectral-clustering"


def cluster(
    ctx: typer.Context,
    source: options.Source,
    *,
    n_clusters: Annotated[
        str | None,
        options.option(
            "-k",
            help="Number of clusters, or auto to choose it from the data. Default: 8; mixture-ppca: 2.",
            metavar="N",
        ),
    ] = None,
    method: Annotated[
        str, options.option("-m", help="Method: spectral-clustering or mixture-ppca.", metavar="METHOD")
    ] = DEFAULT,
    writing: Annotated[OutputOptions, Only("out", "plot", "save", "force", "spreadsheet_safe")],
    reading: Annotated[InputOptions, Only(*TABLES.names, "weight")],
    display: Display,
) -> None:
    """Cluster the rows of a file and print the cluster sizes; -o writes the cluster of every row.

    Examples

        eigenscape cluster iris.csv -k 3
        eigenscape cluster iris.csv -k auto --assign-labels recursive
        eigenscape cluster iris.csv -k 3 --n-neighbors 12 -o clusters.csv --plot clusters.png
        eigenscape cluster graph.edges -k 5 -o clusters.csv

    The parameters of the method are further options: `eigenscape cluster -m mixture-ppca --help` lists them.
    """
    cls = estimator_class(method)
    name, count = cls._method.name, cls._method.clusters
    if not count:
        raise CommandError(
            f"{name} does not compute clusters; use -m {' or -m '.join(methods_with('clusters'))}"
        )
    run = Run(source, reading, writing, display, command_line(ctx))
    parameters = chosen_parameters(ctx, cls)
    if n_clusters is not None:
        parameters[count] = _parse_count(n_clusters, name, "auto" in parameters_of(cls)[count].choices)
    elif count not in parameters:
        run.say(f"{cls().get_params()[count]} clusters by default; set it with -k")
    table = run.read(cls, parameters)
    result = run.fit(build_estimator(cls, parameters, None, table.kind, table.array), table)
    clusters = vars(result.estimator).get("labels_")
    clusters = result.estimator.predict(result.fitted_table.array) if clusters is None else clusters
    write_rows(clusters[:, None], ["cluster"], table, writing)
    write_plot(writing.plot, result.embedding, labels=clusters, force=writing.force, title=name)
    sizes = [int((clusters == each).sum()) for each in range(clusters.max() + 1)]
    summary: dict[str, Any] = {**summarize(result, with_loss=display.as_json), "sizes": sizes}
    run.save(result)
    evidence = vars(result.estimator).get("cluster_evidence_")
    if evidence is not None:  # for a number of clusters that was chosen from the data
        summary["evidence"] = {key: list(map(float, values)) for key, values in evidence.items()}
        place = summary["evidence"]["n_clusters"].index(len(sizes))
        run.say(
            f"{len(sizes)} clusters chosen from 2 to {evidence['n_clusters'][-1]:g}: eigengap"
            f" {evidence['eigengap'][place]:.2g}, stability {evidence['stability'][place]:.2f}"
        )
    run.say(f"rows in each cluster: {', '.join(map(str, sizes))}")
    run.finish(summary, "clusters")


def _parse_count(text: str, name: str, can_choose: bool) -> int | str:
    """Return the value of ``-k``."""
    if text == "auto":
        if not can_choose:
            raise CommandError(f"-k auto is for {DEFAULT}; give {name} a number")
        return text
    if not text.isdecimal() or int(text) < 1:
        raise CommandError(f"-k must be a whole number of at least 1, or auto, got {text!r}")
    return int(text)
