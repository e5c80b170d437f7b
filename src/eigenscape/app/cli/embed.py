"""``eigenscape embed`` and ``eigenscape cluster``: fit a method to a file, and write what it finds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.fitting import build_estimator
from eigenscape.app.cli.options import Display, InputOptions, Only, OutputOptions
from eigenscape.app.cli.output import write_rows
from eigenscape.app.cli.run import Run
from eigenscape.app.methods import estimator_class, methods_with, parameters

#: The method of ``cluster`` if no ``-m`` is given.
DEFAULT = "spectral-clustering"


def embed(
    ctx: typer.Context,
    source: options.Source,
    method: Annotated[
        str, options.option("-m", help="Method; `eigenscape methods` lists them.", metavar="METHOD")
    ],
    *,
    dimensions: options.Dimensions = None,
    writing: OutputOptions,
    reading: InputOptions,
    display: Display,
    cluster: options.ClusterOptions,
) -> None:
    """Fit a method to the rows of a file; write coordinates, a plot, a report or the model.

    Examples

        eigenscape embed iris.csv -m isomap -o map.csv --plot map.png
        eigenscape embed iris.csv -m isomap --n-neighbors 12 --report iris.html --save iris.model
        eigenscape embed iris.csv -m lle --standardize --label species -d 3 -o map.parquet
        eigenscape embed distances.csv -m mds --metric precomputed -o map.csv
        eigenscape embed large.npy -m greedy --dictionary-size 500 -o map.npy
        eigenscape embed BIG/ -m kernel-pca --dictionary-size 500 --dask local -o OUT/
        cut -d, -f1-4 iris.csv | eigenscape embed - -m pca -o - | head

    The parameters of the method are further options: `eigenscape embed -m isomap --help` lists them.
    """
    if not any((writing.out, writing.plot, writing.report, writing.save)):
        raise CommandError("nothing to write: give -o OUT for coordinates, --plot, --report or --save")
    if writing.compact is not None and writing.compact_size and not (writing.save or writing.report):
        raise CommandError("--compact needs --save MODEL or --report FILE.html")
    cls = estimator_class(method)
    chosen = options.chosen_parameters(ctx, cls)
    if cluster.dask is not None:
        from eigenscape.app.cli.distributed import embed_on_cluster

        estimator = build_estimator(cls, chosen, dimensions, "rows")
        run = Run(source, reading, writing, display, ctx.meta[options.COMMAND], folder=True)
        return embed_on_cluster(cluster.dask, run, estimator)
    run = Run(source, reading, writing, display, ctx.meta.get(options.COMMAND, ""))
    table = run.read(cls, chosen)
    run.fit(build_estimator(cls, chosen, dimensions, table.kind, table.array))
    names = run.estimator.get_feature_names_out()
    write_rows(run.embedding, names, table, writing, method=cls._method.name)
    if writing.plot is not None:
        shape = table.image_shape
        images = None if shape is None else run.rows.reshape(-1, *shape)
        run.plot(run.embedding, cls._method.name, labels=table.labels, images=images)
    if writing.report is not None:
        run.report()
    compact = run.save() if writing.save is not None else None
    run.finish(**run.describe_fit(), compact=compact)


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
    reading: Annotated[InputOptions, Only(*options.TABLES.names, "weight")],
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
        others = " or -m ".join(methods_with("clusters"))
        raise CommandError(f"{name} does not compute clusters; use -m {others}")
    run = Run(source, reading, writing, display, ctx.meta.get(options.COMMAND, ""))
    chosen = options.chosen_parameters(ctx, cls)
    if n_clusters is not None:
        chosen[count] = _parse_count(n_clusters, name, "auto" in parameters(cls)[count].choices)
    elif count not in chosen:
        run.say(f"{cls().get_params()[count]} clusters by default; set it with -k")
    table = run.read(cls, chosen)
    run.fit(build_estimator(cls, chosen, None, table.kind, table.array))
    clusters = vars(run.estimator).get("labels_")
    clusters = run.estimator.predict(table.array) if clusters is None else clusters
    write_rows(clusters[:, None], ["cluster"], table, writing)
    if writing.plot is not None:
        run.plot(run.embedding, name, labels=clusters)
    if writing.save is not None:
        run.save()
    sizes = [int((clusters == each).sum()) for each in range(clusters.max() + 1)]
    summary: dict[str, Any] = {**run.describe_fit(), "sizes": sizes}
    evidence = vars(run.estimator).get("cluster_evidence_")
    if evidence is not None:  # for a number of clusters that was chosen from the data
        summary["evidence"] = {key: list(map(float, values)) for key, values in evidence.items()}
        place = summary["evidence"]["n_clusters"].index(len(sizes))
        run.say(
            f"{len(sizes)} clusters chosen from 2 to {evidence['n_clusters'][-1]:g}: eigengap"
            f" {evidence['eigengap'][place]:.2g}, stability {evidence['stability'][place]:.2f}"
        )
    run.say(f"rows in each cluster: {', '.join(map(str, sizes))}")
    run.finish("clusters", **summary)


def _parse_count(text: str, name: str, can_choose: bool) -> int | str:
    """Return the value of ``-k``."""
    if text == "auto":
        if not can_choose:
            raise CommandError(f"-k auto is for {DEFAULT}; give {name} a number")
        return text
    if not text.isdecimal() or int(text) < 1:
        raise CommandError(f"-k must be a whole number of at least 1, or auto, got {text!r}")
    return int(text)
