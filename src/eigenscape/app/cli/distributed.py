"""The option ``--dask``: fit and transform on a dask cluster, or on all cores of this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from eigenscape._format import format_bytes
from eigenscape._progress import format_duration
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import load_map, reader_options
from eigenscape.app.cli.run import Run
from eigenscape.app.methods import method_of

if TYPE_CHECKING:
    import dask.array as da
    from distributed import Client

#: Fields of options that are used with a cluster; the others need the rows in memory.
_SUPPORTED = ("columns", "exclude", "out", "save", "force", "report_points", "spreadsheet_safe")


def _check(run: Run) -> None:
    """Raise an error if an option cannot be combined with ``--dask`` or the folder cannot be written."""
    for group in (run.writing, run.reading):
        for field in fields(group):
            given = getattr(group, field.name) not in (field.default, "error")
            if given and field.name not in _SUPPORTED:
                name = field.name.replace("_", "-")
                raise CommandError(
                    f"--{name} needs the rows in memory, so it does not work with --dask; omit it"
                )
    if run.writing.out == "-":
        raise CommandError("-o - does not work with --dask, which writes a folder of parquet files")
    from eigenscape.distributed import require

    require("distributed")
    if run.writing.out is not None:
        from eigenscape.app.io.dask_writing import check_folder

        others = {"the input": run.source, "the model": run.model_file}
        others["the target of --save"] = run.writing.save
        paths = {what: path for what, path in others.items() if path is not None}
        check_folder(run.writing.out, run.writing.force, paths)


def embed_on_cluster(address: str, run: Run, estimator: Any) -> None:
    """Fit an estimator to the rows of a folder and write their coordinates, one file for each partition."""
    from eigenscape.app.io.reading import read

    if not type(estimator)._method.collections:
        raise CommandError(
            f"{method_of(estimator)} needs all rows in memory, so it does not work with --dask; embed some"
            " of the rows without it and --save the model, then use"
            " `eigenscape transform MODEL INPUT --dask ...`"
        )
    _check(run)
    run.table = read(run.source, **reader_options(run.reading), dask=True)
    with _connect(address, run.display.quiet) as client:
        run.memory = _announce_cost(run, estimator, client)
        with run.step("fit"):
            run.estimator = estimator.fit(run.table.array)
        run.embedding = estimator.embedding_
        n_rows = _write_partitions(run, run.embedding, estimator)
    run.save()
    run.finish(method=method_of(estimator), rows=n_rows)


def transform_on_cluster(address: str, run: Run) -> None:
    """Compute the coordinates of the rows of a folder with a saved model."""
    from eigenscape.app.io.reading import read

    _check(run)
    saved = load_map(str(run.model_file))
    if saved.scaler is not None:
        raise CommandError(
            "a model saved with --standardize does not work with --dask; scale the rows and fit without it"
        )
    has_names = not run.source.rstrip("/").endswith((".npy", ".zarr"))
    run.table = read(run.source, columns=saved.notes.get("columns") if has_names else None, dask=True)
    with _connect(address, run.display.quiet):
        coordinates = saved.estimator.transform(run.table.array)
        n_rows = _write_partitions(run, coordinates, saved.estimator)
    run.finish(method=method_of(saved.estimator), rows=n_rows)


@contextmanager
def _connect(address: str, quiet: bool) -> Iterator[Client]:
    """Connect to a cluster or start a local one; print the address of its dashboard.

    Logs of tasks that end early and of lost connections are silenced: these are reported here.
    """
    from eigenscape.distributed.cluster import connect, watched

    logging.disable(logging.ERROR)
    try:
        with connect(address) as client:
            print_message(f"dask dashboard: {client.dashboard_link}", quiet or not client.dashboard_link)
            with watched(client, address, print_message):
                yield client
    finally:
        logging.disable(logging.NOTSET)


def _announce_cost(run: Run, estimator: Any, client: Client) -> float:
    """Print an estimate of memory and time, and return the bytes per core.

    Print a warning if a worker has too little memory.
    """
    from eigenscape.distributed.estimate import cost

    array = run.table.array
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    cores = max(sum(worker["nthreads"] for worker in workers), 1)
    estimate = cost(estimator, array.shape[0], array.shape[1], max(array.chunks[0]), cores)
    run.say(
        f"{array.shape[0]} rows in {array.numblocks[0]} partitions on {cores} core(s):"
        f" about {format_bytes(estimate.bytes_each)} per core and {format_duration(estimate.seconds)}"
    )
    limits = [worker["memory_limit"] / worker["nthreads"] for worker in workers if worker["memory_limit"]]
    if limits and estimate.bytes_each > 0.7 * min(limits):
        available = format_bytes(min(limits))
        print_message(f"warning: a worker has {available} per core; store the rows in smaller row groups")
    return estimate.bytes_each


def _write_partitions(run: Run, array: da.Array, estimator: Any) -> int:
    """Write coordinates, one file for each partition, and return the number of rows."""
    from eigenscape.app.io.dask_writing import write_parts

    if run.writing.out is None:
        return int(array.shape[0])
    names = [str(name) for name in estimator.get_feature_names_out()]
    with run.step("placing"):
        return write_parts(run.writing.out, array, names, force=run.writing.force)
