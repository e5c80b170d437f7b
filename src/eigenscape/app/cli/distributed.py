"""The option ``--dask``: fit and transform on a dask cluster, or on all cores of this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from eigenscape._format import format_bytes
from eigenscape._progress_displays import format_duration
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import InputOptions, load_map, split_names
from eigenscape.app.cli.output import print_summary, save_model
from eigenscape.app.cli.run import CommandFit, Timer, show_progress
from eigenscape.app.methods import estimator_class, method_of

if TYPE_CHECKING:
    import dask.array as da
    import typer
    from distributed import Client
    from sklearn.base import BaseEstimator

    from eigenscape.app.io import Table

#: Options that need the rows in memory.
_IN_MEMORY_OPTIONS = (
    "--plot",
    "--report",
    "--compact",
    "--label",
    "--id",
    "--encode",
    "--missing",
    "--use-rep",
    "--layer",
    "--obsp",
    "--size",
    "--kind",
    "--stream",
    "--standardize",
)


def check_options(ctx: typer.Context, out: str | None, force: bool, others: dict[str, str | None]) -> None:
    """Raise an error if an option cannot be combined with ``--dask`` or the folder cannot be written.

    Parameters
    ----------
    ctx : typer.Context
        Context of the command, which holds the values of its options.
    out : str or None
        The output folder.
    force : bool
        Whether an existing folder may be replaced.
    others : dict of str to (str or None)
        Paths that the folder must not be, contain or lie in, by their description.
    """
    for option in _IN_MEMORY_OPTIONS:
        name = "id_column" if option == "--id" else option.removeprefix("--").replace("-", "_")
        if ctx.params.get(name) not in (None, False, "error", ""):
            raise CommandError(f"{option} needs the rows in memory, so it does not work with --dask; omit it")
    if out == "-":
        raise CommandError("-o - does not work with --dask, which writes a folder of parquet files")
    from eigenscape.distributed import require

    require("distributed")
    if out is not None:
        from eigenscape.app.io.dask_writing import check_folder

        check_folder(out, force, {what: path for what, path in others.items() if path is not None})


def check_method(method: str) -> None:
    """Raise CommandError if a method cannot be fitted to a dask collection."""
    cls = estimator_class(method)
    if not cls._method.collections:
        raise CommandError(
            f"{method} needs all rows in memory, so it does not work with --dask; embed some of the rows"
            " without it and --save the model, then use `eigenscape transform MODEL INPUT --dask ...`"
        )


def embed_on_cluster(
    address: str,
    source: str,
    estimator: BaseEstimator,
    *,
    columns: str | None,
    exclude: str | None,
    out: str | None,
    save: str | None,
    command: str,
    force: bool,
    as_json: bool,
    quiet: bool,
    progress: bool | None,
) -> None:
    """Fit an estimator to the rows of a folder and write their coordinates, one file for each partition."""
    timer = Timer()
    table = _read_collection(source, columns, exclude)
    with _connect(address, quiet) as client, show_progress(progress, quiet):
        memory = _announce_cost(estimator, table.array, client, quiet)
        with timer.measure("fit"):
            estimator.fit(table.array)
        embedding = estimator.embedding_
        n_rows = _write_partitions(out, embedding, estimator, timer, force)
    if save:
        result = CommandFit(estimator, embedding, table, table, None, timer, memory)
        save_model(save, result, InputOptions(columns=columns), command, force=force, quiet=quiet)
    summary = {
        "method": method_of(estimator),
        "rows": n_rows,
        "timings": timer.seconds,
        "memory": {"estimate": memory},
    }
    print_summary(summary, {"coordinates": out, "model": save}, as_json, quiet)


def transform_on_cluster(
    address: str,
    model_file: str,
    source: str,
    out: str,
    *,
    force: bool,
    as_json: bool,
    quiet: bool,
    progress: bool | None,
) -> None:
    """Compute the coordinates of the rows of a folder with a saved model."""
    timer, saved = Timer(), load_map(model_file)
    if saved.scaler is not None:
        raise CommandError(
            "a model saved with --standardize does not work with --dask; scale the rows and fit without it"
        )
    has_names = not source.rstrip("/").endswith((".npy", ".zarr"))
    columns = ",".join(saved.notes.get("columns", [])) if has_names else ""
    table = _read_collection(source, columns or None)
    with _connect(address, quiet), show_progress(progress, quiet):
        coordinates = saved.estimator.transform(table.array)
        n_rows = _write_partitions(out, coordinates, saved.estimator, timer, force)
    summary = {"method": method_of(saved.estimator), "rows": n_rows, "timings": timer.seconds}
    print_summary(summary, {"coordinates": out}, as_json, quiet)


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


def _write_partitions(
    out: str | None, array: da.Array, estimator: BaseEstimator, timer: Timer, force: bool
) -> int:
    """Write coordinates, one file for each partition, and return the number of rows."""
    from eigenscape.app.io.dask_writing import write_parts

    if out is None:
        return int(array.shape[0])
    names = [str(name) for name in estimator.get_feature_names_out()]
    with timer.measure("placing"):
        return write_parts(out, array, names, force=force)
