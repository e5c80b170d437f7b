"""``--dask``: the same commands on a cluster, or on all cores of this machine; folders in, folders out."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from eigenscape._format import format_bytes
from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._fitting import Clock
from eigenscape.app.cli._methods import IN_MEMORY, method_of
from eigenscape.app.cli._shared import finish, say, showing

Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        help="Work on a dask cluster: tcp://HOST:PORT of its scheduler, or local. INPUT is parquet, zarr or npy, OUT a folder.",
        metavar="ADDRESS",
        rich_help_panel="Cluster",
    ),
]


def check_request(out: str | None, force: bool, apart: dict[str, str | None], **refused: Any) -> None:
    """What does not go with ``--dask`` is refused, and so is a folder that cannot be written, before any
    work.

    ``apart``: the files and folders that the output must neither be, nor hold, nor lie in.
    """
    for name, value in refused.items():
        if value not in (None, False, "error"):
            raise WrongCommandError(
                f"--{name.replace('_', '-')} needs the rows in memory and does not go with --dask; leave it out"
            )
    if out == "-":
        raise WrongCommandError(
            "-o - does not go with --dask: the coordinates are a folder of parquet files; name one"
        )
    from eigenscape.distributed import require

    require("distributed")
    if out is not None:
        from eigenscape.app.io.dask_writing import check_folder

        check_folder(out, force, {what: place for what, place in apart.items() if place is not None})


def check_method(method: str) -> None:
    """Methods that cannot learn from a collection are refused before there is a cluster."""
    if method in IN_MEMORY:
        raise WrongCommandError(
            f"{method} needs all rows in memory and does not go with --dask; embed some of the rows without it and --save the model,"
            " then place the others with `eigenscape transform MODEL INPUT --dask ...`"
        )


def embed_on_cluster(
    address: str, source: str, estimator: Any, out: str | None, save: str | None, command: str, **how: Any
) -> None:
    """Fit to the rows of a folder where they lie, and write their coordinates: one file a partition."""
    clock, quiet = Clock(), how["quiet"]
    table = _read(source, how["columns"])
    with _client(address, quiet) as client, showing(how["progress"], quiet):
        estimated = _announce(estimator, table.array, client, quiet)
        with clock.timed("fit"):
            estimator.fit(table.array)
        rows = _write(out, estimator.embedding_, estimator, clock, how["force"])
    if save:
        from eigenscape.app.cli._models import save_model
        from eigenscape.app.cli._reading import Reading
        from eigenscape.app.cli._work import Work

        work = Work(
            estimator,
            estimator.embedding_,
            table,
            table,
            None,
            Reading(columns=how["columns"]),
            clock,
            estimated,
        )
        save_model(save, work, None, command, how["force"], quiet)
    found = {
        "method": method_of(estimator),
        "rows": rows,
        "timings": clock.seconds,
        "memory": {"estimate": estimated},
    }
    finish(found, {"coordinates": out, "model": save}, how["as_json"], quiet)


def transform_on_cluster(address: str, model_file: str, source: str, out: str, **how: Any) -> None:
    """Place the rows of a folder on the map of a saved model."""
    from eigenscape.app.cli._models import notes_of, parts
    from eigenscape.app.io import describe, load

    clock, quiet = Clock(), how["quiet"]
    model, notes = load(model_file), notes_of(describe(model_file))
    estimator, scaler = parts(model)
    if scaler is not None:
        raise WrongCommandError(
            "a model saved with --standardize is not applied on a cluster; scale the rows, and fit without it"
        )
    wanted = (
        None if source.rstrip("/").endswith((".npy", ".zarr")) else ",".join(notes.get("columns", [])) or None
    )
    table = _read(source, wanted)
    with _client(address, quiet), showing(how["progress"], quiet):
        rows = _write(out, estimator.transform(table.array), estimator, clock, how["force"])
    finish(
        {"method": method_of(estimator), "rows": rows, "timings": clock.seconds},
        {"coordinates": out},
        how["as_json"],
        quiet,
    )


@contextmanager
def _client(address: str, quiet: bool) -> Iterator[Any]:
    from eigenscape.distributed import connect

    tasks = logging.getLogger("asyncio")  # which would tell of those that Ctrl-C leaves behind
    before = tasks.level
    tasks.setLevel(logging.CRITICAL)
    with connect(address) as client:
        say(f"dask dashboard: {client.dashboard_link}", quiet or not client.dashboard_link)
        yield client
    tasks.setLevel(before)


def _read(source: str, columns: str | None) -> Any:
    from eigenscape.distributed import read

    return read(source, columns=None if columns is None else columns.split(","))


def _announce(estimator: Any, array: Any, client: Any, quiet: bool) -> float:
    """Memory and time, before the work starts; a warning where the workers have less."""
    from eigenscape.distributed import cost

    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    cores = max(sum(worker["nthreads"] for worker in workers), 1)
    found = cost(estimator, array.shape[0], array.shape[1], max(array.chunks[0]), cores)
    say(
        f"{array.shape[0]} rows in {array.numblocks[0]} partitions on {cores} core(s): about {format_bytes(found.bytes_each)} a core and"
        f" {_duration(found.seconds)}",
        quiet,
    )
    least = min(
        (worker["memory_limit"] / worker["nthreads"] for worker in workers if worker["memory_limit"]),
        default=float("inf"),
    )
    if found.bytes_each > 0.7 * least:
        print(
            f"warning: a worker has {format_bytes(least)} a core; store the rows in smaller row groups",
            file=sys.stderr,
            flush=True,
        )
    return found.bytes_each


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _write(out: str | None, array: Any, estimator: Any, clock: Clock, force: bool) -> int:
    from eigenscape.distributed import write_parts

    if out is None:
        return int(array.shape[0])
    with clock.timed("placing"):
        return write_parts(out, array, [str(name) for name in estimator.get_feature_names_out()], force=force)
