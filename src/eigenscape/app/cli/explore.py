"""``eigenscape explore``: a live explorer of maps in the browser."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigenscape.app.cli import options
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.input import (
    column_notes,
    load_model,
    read_new_table,
    read_training_table,
    split_names,
)
from eigenscape.app.cli.options import ROWS, Display, InputOptions, Only, chosen_parameters, setting
from eigenscape.app.methods import estimator_class, method_name

if TYPE_CHECKING:
    from eigenscape.app.explore.session import Session

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
    reading: Annotated[InputOptions, ROWS],
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
    images_shape = None if server.images is None else _image_shape(server.images)
    parameters = {}
    for name in dict.fromkeys(method_name(name) for name in method or []):
        parameters[name] = chosen_parameters(ctx, estimator_class(name))
        if dimensions is not None:
            parameters[name]["n_components"] = dimensions
    if _is_model(source):
        session = _explore_model(source, rows, reading, parameters, images_shape, server.annotations, quiet)
    elif rows is not None:
        raise CommandError(f"{source} is not a model file, so {rows} cannot be shown on its map; omit it")
    else:
        if not parameters and dimensions is not None:
            parameters = {"pca": {"n_components": dimensions}}
        session = _explore_table(source, reading, parameters, images_shape, server.annotations, quiet)
    try:
        explorer = Explorer(session, host, server.port)
    except BaseException:
        session.close()
        raise
    if host not in LOOPBACK:
        print_message(
            "warning: other machines that know the address can read the data; connections are not encrypted"
        )
    typer.echo(f"exploring at {explorer.url} (Ctrl-C ends it)")
    explorer.run(open_browser=not server.no_browser)
    _print_end(session, quiet)


def _print_end(session: Session, quiet: bool) -> None:
    kept = session.annotations
    if len(kept) and kept.path is None:
        print_message(f"warning: {len(kept)} annotation(s) were not kept; name a file with --annotations")
    elif len(kept):
        print_message(f"{len(kept)} annotation(s) are in {kept.path}", quiet)
    print_message("the explorer is closed", quiet)


def _image_shape(text: str) -> list[int]:
    parts = text.lower().split("x")
    if len(parts) not in (2, 3) or not all(part.isdigit() and 0 < len(part) < 6 for part in parts):
        raise CommandError(f"--images must be HEIGHTxWIDTH or HEIGHTxWIDTHx3, such as 28x28, got {text!r}")
    return [int(part) for part in parts]


def _is_model(source: str) -> bool:
    """Return whether a file is a model file: an archive with a header of this library."""
    from eigenscape.app.io.archive import HEADER

    path = Path(source).expanduser()
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return HEADER in archive.namelist()


def _explore_table(
    source: str,
    reading: InputOptions,
    parameters: dict[str, dict[str, Any]],
    images: Sequence[int] | None,
    annotations: str | None,
    quiet: bool,
) -> Session:
    from eigenscape.app.explore.data import dataset_of_table
    from eigenscape.app.explore.opening import first_fits, open_session
    from eigenscape.app.explore.origin import Origin

    if source == "-":
        raise CommandError(
            "the explorer reads its input again when maps are copied as code; use a file, not -"
        )
    table = read_training_table(source, reading, quiet)
    origin = Origin(source, _reading_options(reading))
    data = dataset_of_table(table, origin, images, column_notes(table, reading))
    fits = first_fits(list(parameters) or ["pca"], data, parameters)
    return open_session(data, fits, standardize=reading.standardize, annotations=annotations)


def _explore_model(
    source: str,
    rows: str | None,
    reading: InputOptions,
    parameters: dict[str, dict[str, Any]],
    images: Sequence[int] | None,
    annotations: str | None,
    quiet: bool,
) -> Session:
    from eigenscape.app.explore.data import dataset_of_table
    from eigenscape.app.explore.opening import first_fits, open_session, rows_of_model
    from eigenscape.app.explore.origin import Origin
    from eigenscape.app.io import Table
    from eigenscape.app.io.table import default_names

    saved = load_model(source)
    notes = saved.notes
    if rows is not None:
        wanted = InputOptions(reading.label, id=reading.id, missing=reading.missing)
        table = read_new_table(rows, wanted, notes, quiet)
    else:
        X = rows_of_model(saved.model)
        names = notes.get("columns") or default_names(X.shape[1])
        table = Table(X, names=tuple(names), source=source)
    data = dataset_of_table(table, Origin(rows, {}, source), images, {"columns": list(table.names), **notes})
    session = open_session(
        data,
        first_fits(list(parameters), data, parameters),
        standardize=reading.standardize,
        annotations=annotations,
    )
    try:
        session.add_model(saved.model)
    except BaseException:
        session.close()
        raise
    return session


def _reading_options(reading: InputOptions) -> dict[str, Any]:
    """Return the options of the reader that are not their defaults, by their names in Python."""
    chosen: dict[str, Any] = {
        "label": reading.label,
        "id": reading.id,
        "columns": split_names(reading.columns),
        "exclude": split_names(reading.exclude),
        "encode": reading.encode,
        "missing": None if reading.missing in ("", "error") else reading.missing,
        "use_rep": reading.use_rep,
        "layer": reading.layer,
        "size": None if reading.size is None else tuple(map(int, reading.size.lower().split("x"))),
    }
    return {name: value for name, value in chosen.items() if value is not None}
