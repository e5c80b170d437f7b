"""The option ``--dask``: fit and transform on a dask cluster, or on all cores of this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from eigenscape._format import format_bytes
from eigenscape._progress import format_duration
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import load_map, split_names
from eigenscape.app.cli.options import Display, InputOptions, OutputOptions
from eigenscape.app.cli.output import check_targets, print_summary, save_model
from eigenscape.app.cli.run import CommandFit, Timer, show_progress
from eigenscape.app.methods import method_of

if TYPE_CHECKING:
    import dask.array as da
    from distributed import Client
    from sklearn.base import BaseEstimator

    from eigenscape.app.io import Table

#: Fields of options that are used with a cluster; the others need the rows in memory.
_SUPPORTED = ("columns", "exclude", "out", "save", "force", "report_points", "spreadsheet_safe")


def _check(reading: InputOptions, writing: OutputOptions, others: dict[str, str | None]) -> None:
    """Raise an error if an option cannot be combined with ``--dask`` or the folder cannot be written.

    ``others`` are paths that the folder must not be, contain or lie in, by their description.
    """
    for group in (writing, reading):
        for field in fields(group):
            given = getattr(group, field.name) not in (field.default, "error")
            if given and field.name not in _SUPPORTED:
                name = field.name.replace("_", "-")
                raise CommandError(
                    f"--{name} needs the rows in memory, so it does not work with --dask; omit it"
                )
    if writing.out == "-":
        raise CommandError("-o - does not work with --dask, which writes a folder of parquet files")
    from eigenscape.distributed import require

    require("distributed")
    if writing.out is not None:
        from eigenscape.app.io.dask_writing import check_folder

        paths = {what: path for what, path in others.items() if path is not None}
        check_folder(writing.out, writing.force, paths)


def embed_on_cluster(
    address: str,
    source: str,
    estimator: BaseEstimator,
    reading: InputOptions,
    writing: OutputOptions,
    display: Display,
    command: str,
) -> None:
    """Fit an estimator to the rows of a folder and write their coordinates, one file for each partition."""
    method = method_of(estimator)
    if not type(estimator)._method.collections:
        raise CommandError(
            f"{method} needs all rows in memory, so it does not work with --dask; embed some of the rows"
            " without it and --save the model, then use `eigenscape transform MODEL INPUT --dask ...`"
        )
    check_targets(source, replace(writing, out=None, plot=None, report=None), display)
    _check(reading, writing, {"the input": source, "the target of --save": writing.save})
    timer = Timer()
    table = _read_collection(source, reading.columns, reading.exclude)
    with _connect(address, display.quiet) as client, show_progress(display):
        memory = _announce_cost(estimator, table.array, client, display.quiet)
        with timer.measure("fit"):
            estimator.fit(table.array)
        embedding = estimator.embedding_
        n_rows = _write_partitions(embedding, estimator, timer, writing)
    result = CommandFit(estimator, table, table, None, timer, embedding)
    save_model(result, reading, writing, command, display.quiet)
    summary = {
        "method": method,
        "rows": n_rows,
        "timings": timer.seconds,
        "memory": {"estimate": memory},
    }
    print_summary(summary, {"coordinates": writing.out, "model": writing.save}, display)


def transform_on_cluster(
    address: str,
    model_file: str,
    source: str,
    reading: InputOptions,
    writing: OutputOptions,
    display: Display,
) -> None:
    """Compute the coordinates of the rows of a folder with a saved model."""
    _check(reading, writing, {"the input": source, "the model": model_file})
    timer, saved = Timer(), load_map(model_file)
    if saved.scaler is not None:
        raise CommandError(
            "a model saved with --standardize does not work with --dask; scale the rows and fit without it"
        )
    has_names = not source.rstrip("/").endswith((".npy", ".zarr"))
    columns = ",".join(saved.notes.get("columns", [])) if has_names else ""
    table = _read_collection(source, columns or None)
    with _connect(address, display.quiet), show_progress(display):
        coordinates = saved.estimator.transform(table.array)
        n_rows = _write_partitions(coordinates, saved.estimator, timer, writing)
    summary = {"method": method_of(saved.estimator), "rows": n_rows, "timings": timer.seconds}
    print_summary(summary, {"coordinates": writing.out}, display)


@contextmanager
def _connect(address: str, quiet: bool) -> Iterator[Client]:
    """Connect to a cluster or start a local one; print the address of its dashboard."""
    from eigenscape.distributed.cluster import connect, watched

    with _quiet_logs(), connect(address) as client:
        print_message(f"dask dashboard: {client.dashboard_link}", quiet or not client.dashboard_link)
        with watched(client, address, print_message):
            yield client


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Silence logs of tasks that end early and of lost connections, which are reported here."""
    loggers = [logging.getLogger(name) for name in ("asyncio", "distributed", "tornado")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _read_collection(source: str, columns: str | None, exclude: str | None = None) -> Table:
    from eigenscape.app.io import read

    return read(source, columns=split_names(columns), exclude=split_names(exclude), dask=True)


def _announce_cost(estimator: BaseEstimator, array: da.Array, client: Client, quiet: bool) -> float:
    """Print an estimate of memory and time, and return the bytes per core.

    Print a warning if a worker has too little memory.
    """
    from eigenscape.distributed.estimate import cost

    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    cores = max(sum(worker["nthreads"] for worker in workers), 1)
    estimate = cost(estimator, array.shape[0], array.shape[1], max(array.chunks[0]), cores)
    print_message(
        f"{array.shape[0]} rows in {array.numblocks[0]} partitions on {cores} core(s):"
        f" about {format_bytes(estimate.bytes_each)} per core and {format_duration(estimate.seconds)}",
        quiet,
    )
    limits = [worker["memory_limit"] / worker["nthreads"] for worker in workers if worker["memory_limit"]]
    if limits and estimate.bytes_each > 0.7 * min(limits):
        available = format_bytes(min(limits))
        print_message(f"warning: a worker has {available} per core; store the rows in smaller row groups")
    return estimate.bytes_each


def _write_partitions(array: da.Array, estimator: BaseEstimator, timer: Timer, writing: OutputOptions) -> int:
    """Write coordinates, one file for each partition, and return the number of rows."""
    from eigenscape.app.io.dask_writing import write_parts

    if writing.out is None:
        return int(array.shape[0])
    names = [str(name) for name in estimator.get_feature_names_out()]
    with timer.measure("placing"):
        return write_parts(writing.out, array, names, force=writing.force)
