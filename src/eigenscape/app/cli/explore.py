"""``eigenscape explore``: a live explorer of maps in the browser."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigenscape.app.cli import input as reader
from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.options import Display, InputOptions, Only, setting
from eigenscape.app.methods import estimator_class

if TYPE_CHECKING:
    from eigenscape.app.explore.session import Session
    from eigenscape.app.io.table import Table

_LOCAL = "127.0.0.1"
_server = partial(setting, panel="Server")


@dataclass(frozen=True)
class ServerOptions:
    """What the page shows and keeps, and the address of its server."""

    images: str | None = setting(
        "Size of the image in each row. Default: the size of the images in a folder.", "HEIGHTxWIDTH"
    )
    annotations: str | None = setting(
        "Keep named selections in this file; without it they are lost at the end.", "FILE.csv"
    )
    port: int = _server("Port of the server; 0 for a free one.", "PORT", default=0, min=0, max=65535)
    host: str = _server(
        "Address to listen at; others than this machine need --allow-remote.", "ADDRESS", default=_LOCAL
    )
    allow_remote: bool = _server(
        "Let other machines connect to --host, over connections that are not encrypted.", default=False
    )
    no_browser: bool = _server("Do not open the browser.", default=False)


def explore(
    ctx: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="A file, a folder of images, or a model file.")
    ],
    *,
    rows: Annotated[
        str | None, typer.Argument(metavar="[ROWS]", help="Rows to show on the map of a model file.")
    ] = None,
    method: Annotated[
        list[str] | None,
        options.option(
            "-m", help="Method to fit first; repeat the option for each one. Default: pca.", metavar="METHOD"
        ),
    ] = None,
    dimensions: options.Dimensions = None,
    reading: Annotated[InputOptions, options.ROWS],
    server: ServerOptions,
    display: Annotated[Display, Only("quiet")],
) -> None:
    """Open a live explorer of the rows of a file, or of the map of a model, in the browser.

    Maps are fitted in the page, compared and asked: which row would be here, where does this new row belong,
    how far can this point be trusted. The server is reachable from this machine only; Ctrl-C ends it.

    Examples

        eigenscape explore iris.csv
        eigenscape explore iris.csv -m isomap -m pca --n-neighbors 12 --standardize
        eigenscape explore digits.npy --images 8x8 -m isomap
        eigenscape explore iris.model new.csv --annotations marks.csv

    The parameters of the methods are further options: `eigenscape explore -m isomap --help` lists them.
    """
    from eigenscape.app.explore.server import LOOPBACK, Explorer

    host, quiet = server.host, display.quiet
    if host not in LOOPBACK and not server.allow_remote:
        raise CommandError(
            f"--host {host} lets other machines read the data; add --allow-remote if this is intended"
        )
    parameters: dict[str, dict[str, Any]] = {}
    for cls in map(estimator_class, method or ([] if dimensions is None else ["pca"])):
        given = {} if dimensions is None else {"n_components": dimensions}
        parameters[cls._method.name] = {**options.chosen_parameters(ctx, cls), **given}
    session = open_input(source, rows, reading, parameters, server, quiet)
    explorer = Explorer(session, host, server.port)
    if host not in LOOPBACK:
        print_message(
            "warning: other machines that know the address can read the data; connections are not encrypted"
        )
    typer.echo(f"exploring at {explorer.url} (Ctrl-C ends it)")
    explorer.run(open_browser=not server.no_browser)
    kept = session.annotations
    if len(kept) and kept.path is None:
        print_message(f"warning: {len(kept)} annotation(s) were not kept; name a file with --annotations")
    elif len(kept):
        print_message(f"{len(kept)} annotation(s) are in {kept.path}", quiet)
    print_message("the explorer is closed", quiet)


def open_input(
    source: str,
    rows: str | None,
    reading: InputOptions,
    parameters: dict[str, dict[str, Any]],
    server: ServerOptions,
    quiet: bool,
) -> Session:
    """Return a session of a file, or of the map of a model file with its training rows or other ones.

    The methods in ``parameters`` are fitted first; PCA if there is none and no model.
    """
    from eigenscape.app.explore.data import dataset_of_table
    from eigenscape.app.explore.opening import open_session
    from eigenscape.app.explore.origin import Origin

    images = None if server.images is None else reader.image_size(server.images, "--images", 3)
    saved = reader.load_model(source) if _is_model(source) else None
    if saved is not None:
        table = _rows_of_model(saved, source, rows, reading, quiet)
        origin, notes = Origin(rows, {}, source), {"columns": list(table.names), **saved.notes}
    elif source == "-":
        raise CommandError(
            "the explorer reads its input again when maps are copied as code; use a file, not -"
        )
    elif rows is not None:
        raise CommandError(f"{source} is not a model file, so {rows} cannot be shown on its map; omit it")
    else:
        table = reader.read_training_table(source, reading, quiet)
        given = reader.reader_options(reading)
        origin = Origin(source, {name: value for name, value in given.items() if value != "error"})
        notes, parameters = reader.column_notes(table, reading), parameters or {"pca": {}}
    data = dataset_of_table(table, origin, images, notes)
    chosen: dict[str, Any] = {"standardize": reading.standardize, "annotations": server.annotations}
    return open_session(data, parameters, None if saved is None else saved.model, **chosen)


def _is_model(source: str) -> bool:
    """Return whether a file is a model file: an archive with a header of this library."""
    from eigenscape.app.io.archive import HEADER

    path = Path(source).expanduser()
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return HEADER in archive.namelist()


def _rows_of_model(
    saved: reader.SavedModel, source: str, rows: str | None, reading: InputOptions, quiet: bool
) -> Table:
    """Return the rows to show on the map of a model: of a file, or its training rows."""
    from eigenscape.app.explore.opening import rows_of_model
    from eigenscape.app.io.table import Table, default_names

    if rows is not None:
        wanted = InputOptions(reading.label, id=reading.id, missing=reading.missing)
        return reader.read_new_table(rows, wanted, saved.notes, quiet)
    X = rows_of_model(saved.model)
    names = saved.notes.get("columns") or default_names(X.shape[1])
    return Table(X, names=tuple(names), source=source)
