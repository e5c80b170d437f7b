"""``eigenscape cluster``: cluster the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import InputOptions, input_kind, read_training_table
from eigenscape.app.cli.options import MethodCommand, chosen_parameters, command_line
from eigenscape.app.cli.output import (
    check_targets,
    label_column,
    print_summary,
    row_numbers,
    save_model,
    write_plot,
)
from eigenscape.app.cli.run import CommandFit, Timer, fit, summarize
from eigenscape.app.cli.weights import check_weight_option, weight_column
from eigenscape.app.methods import estimator_class, methods_with
from eigenscape.app.methods import parameters as parameters_of

if TYPE_CHECKING:
    import numpy as np

    from eigenscape.app.io import Table

_DEFAULT = "spectral-clustering"


class ClusterCommand(MethodCommand):
    """A command with the parameters of spectral clustering as options, unless ``-m`` is given."""

    default_methods = (_DEFAULT,)


def cluster(
    ctx: typer.Context,
    source: options.Source,
    n_clusters: Annotated[
        str | None,
        typer.Option(
            "-k",
            help="Number of clusters, or auto to choose it from the data. Default: 8; mixture-ppca: 2.",
            metavar="N",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("-m", help="Method: spectral-clustering or mixture-ppca.", metavar="METHOD")
    ] = _DEFAULT,
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            help="Write the cluster of every row: .csv, .parquet, .npy, ...; - for standard output.",
            metavar="OUT",
            rich_help_panel="Writing",
        ),
    ] = None,
    plot: options.Plot = None,
    save: options.Save = None,
    force: options.Force = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    label: options.Label = None,
    id_column: options.Id = None,
    weight: options.Weight = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    encode: options.Encode = None,
    missing: options.Missing = "error",
    use_rep: options.UseRep = None,
    layer: options.Layer = None,
    obsp: options.Obsp = None,
    size: options.Size = None,
    kind: options.Kind = None,
    standardize: options.Standardize = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
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
        others = " or -m ".join(methods_with("clusters"))
        raise CommandError(f"{name} does not compute clusters; use -m {others}")
    check_targets(source, force, as_json, out=out, plot=plot, save=save)
    quiet = quiet or as_json
    parameters = chosen_parameters(ctx, cls)
    if n_clusters is not None:
        parameters[count] = _parse_count(n_clusters, name, "auto" in parameters_of(cls)[count].choices)
    elif count not in parameters:
        print_message(f"{cls().get_params()[count]} clusters by default; set it with -k", quiet)
    input_options = InputOptions(
        label,
        id_column,
        columns,
        missing,
        size,
        input_kind(kind, parameters),
        exclude=exclude,
        encode=encode,
        use_rep=use_rep,
        layer=layer,
        obsp=obsp,
        weight=weight,
    )
    check_weight_option(cls, input_options)
    timer = Timer()
    with timer.measure("reading"):
        table = read_training_table(source, input_options, quiet)
    result = fit(
        table,
        cls,
        parameters,
        None,
        standardize=standardize,
        progress=progress,
        quiet=quiet,
        timer=timer,
        weights=weight_column(table, weight),
    )
    clusters = _cluster_labels(result)
    sizes = _cluster_sizes(clusters)
    if out:
        _write_clusters(out, clusters, table, force, spreadsheet_safe)
    if plot:
        write_plot(plot, result.embedding, labels=clusters, force=force, title=name)
    summary = {**summarize(result, with_loss=as_json), "sizes": sizes, **_evidence(result)}
    if save:
        save_model(save, result, input_options, command_line(ctx), force=force, quiet=quiet)
    if "evidence" in summary:
        print_message(_describe_choice(summary["evidence"], len(sizes)), quiet)
    print_message(f"rows in each cluster: {', '.join(map(str, sizes))}", quiet)
    print_summary(summary, {"clusters": out, "plot": plot, "model": save}, as_json, quiet)


def _parse_count(text: str, name: str, can_choose: bool) -> int | str:
    """Return the value of ``-k``."""
    if text == "auto":
        if not can_choose:
            raise CommandError(f"-k auto is for {_DEFAULT}; give {name} a number")
        return text
    if not text.isdecimal() or int(text) < 1:
        raise CommandError(f"-k must be a whole number of at least 1, or auto, got {text!r}")
    return int(text)


def _evidence(result: CommandFit) -> dict[str, dict[str, list[float]]]:
    """Return the evidence for a number of clusters that was chosen from the data."""
    evidence = vars(result.estimator).get("cluster_evidence_")
    return (
        {} if evidence is None else {"evidence": {key: list(map(float, evidence[key])) for key in evidence}}
    )


def _describe_choice(evidence: dict[str, list[float]], count: int) -> str:
    place = evidence["n_clusters"].index(count)
    return (
        f"{count} clusters chosen from 2 to {evidence['n_clusters'][-1]:g}: eigengap"
        f" {evidence['eigengap'][place]:.2g}, stability {evidence['stability'][place]:.2f}"
    )


def _cluster_labels(result: CommandFit) -> np.ndarray:
    labels = vars(result.estimator).get("labels_")
    return result.estimator.predict(result.fitted_table.array) if labels is None else labels


def _cluster_sizes(clusters: np.ndarray) -> list[int]:
    import numpy as np

    return np.bincount(clusters).tolist()


def _write_clusters(
    path: str, clusters: np.ndarray, table: Table, force: bool, spreadsheet_safe: bool
) -> None:
    from eigenscape.app.io import write_table

    write_table(
        path,
        clusters[:, None],
        names=["cluster"],
        ids=table.ids,
        labels=table.labels,
        label_name=label_column(table, ["cluster"]),
        extra=row_numbers(table),
        force=force,
        spreadsheet_safe=spreadsheet_safe,
    )
