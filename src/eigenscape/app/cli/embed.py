"""``eigenscape embed``, ``cluster`` and ``compare``: fit methods to a file, and write what they find."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, format_error, print_message
from eigenscape.app.cli.fitting import build_estimator
from eigenscape.app.cli.options import Display, InputOptions, Only, OutputOptions
from eigenscape.app.cli.output import write_plot, write_rows
from eigenscape.app.cli.run import Run
from eigenscape.app.methods import estimator_class, methods_with, parameters

#: The method of ``cluster`` if no ``-m`` is given.
DEFAULT = "spectral-clustering"
#: Methods compared by default, one of each family.
COMPARED = (
    *("pca", "kernel-pca", "isomap", "locally-linear-embedding", "laplacian-eigenmaps", "diffusion-map"),
    "neighbor-embedding",
)


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
    dask: options.Dask = None,
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
    cls = estimator_class(method)
    chosen = options.chosen_parameters(ctx, cls)
    if dask is not None:
        from eigenscape.app.cli.distributed import embed_on_cluster

        estimator = build_estimator(cls, chosen, dimensions, "rows")
        run = Run(source, reading, writing, display, ctx.meta[options.COMMAND], folder=True)
        return embed_on_cluster(dask, run, estimator)
    run = Run(source, reading, writing, display, ctx.meta.get(options.COMMAND, ""))
    table = run.read(cls, chosen)
    run.fit(cls, chosen, dimensions)
    names = run.estimator.get_feature_names_out()
    write_rows(run.embedding, names, table, writing, method=cls._method.name)
    images = None if table.image_shape is None else run.rows.reshape(-1, *table.image_shape)
    write_plot(writing, run.embedding, cls._method.name, labels=table.labels, images=images)
    run.report()
    run.save()
    run.finish(**run.describe_fit())


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
        chosen[count] = parameters(cls)[count].parse(n_clusters, "-k")
    elif count not in chosen:
        run.say(f"{cls().get_params()[count]} clusters by default; set it with -k")
    table = run.read(cls, chosen)
    run.fit(cls, chosen)
    clusters = vars(run.estimator).get("labels_")
    clusters = run.estimator.predict(table.array) if clusters is None else clusters
    write_rows(clusters[:, None], ["cluster"], table, writing)
    write_plot(writing, run.embedding, name, labels=clusters)
    run.save()
    sizes = [int((clusters == each).sum()) for each in range(clusters.max() + 1)]
    summary: dict[str, Any] = {**run.describe_fit(), "sizes": sizes}
    evidence = vars(run.estimator).get("cluster_evidence_")
    if evidence is not None:  # for a number of clusters that was chosen from the data
        summary["evidence"] = {key: list(map(float, values)) for key, values in evidence.items()}
        if len(sizes) > 1:
            place = summary["evidence"]["n_clusters"].index(len(sizes))
            run.say(
                f"{len(sizes)} clusters chosen from 2 to {evidence['n_clusters'][-1]:g}: eigengap"
                f" {evidence['eigengap'][place]:.2g}, stability {evidence['stability'][place]:.2f}"
            )
    run.say(f"rows in each cluster: {', '.join(map(str, sizes))}")
    run.finish("clusters", **summary)


def compare(
    ctx: typer.Context,
    source: options.Source,
    *,
    method: Annotated[
        list[str] | None,
        options.option("-m", help="Method; repeat the option for each one.", metavar="METHOD"),
    ] = None,
    dimensions: options.Dimensions = None,
    writing: Annotated[OutputOptions, Only("report", "report_points", "force", required="report")],
    reading: Annotated[InputOptions, options.TABLES],
    display: Display,
) -> None:
    """Fit several methods to the rows of a file and write a report that compares their maps.

    A parameter applies to every method that has it. Without -m, one method of each family is fitted.

    Examples

        eigenscape compare iris.csv --report comparison.html
        eigenscape compare iris.csv -m pca -m isomap -m lle --n-neighbors 12 --report comparison.html
    """
    chosen = {cls: options.chosen_parameters(ctx, cls) for cls in map(estimator_class, method or COMPARED)}
    if len(chosen) < 2:
        only = next(iter(chosen))._method.name
        raise CommandError(f"a comparison needs two different methods, got {only} only; add another -m")
    run = Run(source, reading, writing, display, ctx.meta.get(options.COMMAND, ""))
    table = run.read(None, *chosen.values())
    _warm_up(*chosen)
    models: dict[str, Any] = {}
    summaries: dict[str, Any] = {}
    for cls, given in chosen.items():
        name = cls._method.name
        try:
            run.fit(cls, given, dimensions, name)
        except (ValueError, TypeError, RuntimeError, MemoryError) as error:
            print_message(f"warning: {name} is left out: {format_error(error)}")
            continue
        models[name] = run.estimator
        figures = {"timings": {"fit": run.seconds[name]}, "memory": {"estimate": run.memory}}
        summaries[name] = {**run.describe_fit(), **figures}
    if len(models) < 2:
        raise CommandError(
            f"a comparison needs two methods, but only {len(models)} could be fitted; use other methods (-m)"
        )
    from eigenscape.app.report import write_comparison

    timings = {name: run.seconds[name] for name in models}
    write_comparison(str(writing.report), models, table, timings=timings, **run.report_arguments())
    run.finish(methods=summaries)


def _warm_up(*classes: type[Any]) -> None:
    """Fit methods to a few rows, so that no duration includes the loading of code."""
    import numpy as np

    rows = np.random.default_rng(0).standard_normal((60, 4))
    for cls in classes:
        with suppress(ValueError, TypeError, RuntimeError), warnings.catch_warnings():  # some need labels
            warnings.simplefilter("ignore")
            cls().fit(rows)
