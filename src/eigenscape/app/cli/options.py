"""Options of the commands in groups, and commands that accept the parameters of a method as options.

A command has a parameter for each group of options; :func:`grouped` shows their fields to typer. The first
panel of ``--help`` has the options that are used most; the other panels follow.
"""

from __future__ import annotations

import inspect
import shlex
from argparse import ArgumentParser
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from eigenscape.app.cli import errors
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.methods import Parameter, estimator_class, make_estimator, option_names, parameters

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def option(*names: str, help: str, metavar: str = "", **more: Any) -> Any:  # noqa: A002
    """Return an option for typer; flags have no metavar."""
    return typer.Option(*names, help=help, metavar=metavar, **more)


def setting(
    text: str, metavar: str = "", *names: str, default: Any = None, panel: str | None = None, **more: Any
) -> Any:
    """Return a field of a group: its help, and the names of its option if they are not the field's name."""
    described = {"names": names, "help": text, "metavar": metavar, "rich_help_panel": panel, **more}
    return field(default=default, metadata=described)


_reading, _writing = partial(setting, panel="Reading"), partial(setting, panel="Writing")
_messages = partial(setting, panel="Messages")

Source = Annotated[
    str,
    typer.Argument(metavar="INPUT", help="A file, a folder of images, or - for CSV on standard input."),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file written by --save.")]
Dimensions = Annotated[
    int | None, option("-d", help="Number of coordinates. Default: 2.", metavar="N", min=1)
]
Dask = Annotated[
    str | None,
    option(
        "--dask",
        help="Run on a dask cluster: tcp://HOST:PORT of its scheduler, or local. INPUT is parquet, zarr or"
        " npy, OUT a folder.",
        metavar="ADDRESS",
        rich_help_panel="Cluster",
    ),
]


@dataclass(frozen=True)
class InputOptions:
    """Options about reading a file, as given on the command line."""

    label: str | None = setting(
        "Column of labels. Default: the first text column with repeated values.", "COLUMN"
    )
    columns: str | None = setting(
        "Columns to use, separated by commas: names or wildcards ('px*'). Default: all numeric columns.",
        "A,B,C",
    )
    standardize: bool = setting(
        "Scale every column to mean 0 and variance 1; a saved model scales new rows, too.", default=False
    )
    id: str | None = _reading(
        "Column of row identifiers. Default: id, or a text column whose values all differ.", "COLUMN"
    )
    exclude: str | None = _reading("Columns not to use, in the form of --columns.", "A,B,C")
    encode: str | None = _reading("Use text columns, too: a column of 0 and 1 for each value.", "onehot")
    missing: str = _reading(
        "Treatment of missing values: an error, drop their rows, fill in the mean of the column, or keep"
        " them (probabilistic-pca, factor-analysis, mixture-ppca). Default: error; for a saved model as for"
        " its training rows.",
        "error|drop|mean|keep",
        default="",
        show_default=False,
    )
    weight: str | None = _reading(
        "Column of sample weights, which is not a feature. A weight of 2 counts a row twice.", "COLUMN"
    )
    use_rep: str | None = _reading("Read obsm[KEY] of an h5ad file instead of X, such as X_pca.", "KEY")
    layer: str | None = _reading("Read layers[KEY] of an h5ad file instead of X.", "KEY")
    obsp: str | None = _reading(
        "Read the graph obsp[KEY] of an h5ad file: distances or connectivities.", "KEY"
    )
    size: str | None = _reading("Size to which images of a folder are resized.", "HEIGHTxWIDTH")
    header: bool | None = _reading(
        "Whether a text table begins with the names of its columns. Default: its first lines tell.",
        "",
        "--header/--no-header",
        show_default=False,
    )
    kind: str | None = _reading("Contents of the file: rows, distances, affinities or edges.", "KIND")
    stream: bool = _reading(
        "Read in chunks (greedy, pca); the default for files larger than 256 MiB.", default=False
    )


@dataclass(frozen=True)
class OutputOptions:
    """Options about writing files, as given on the command line."""

    out: str | None = setting(
        "Write a line for each row, such as its coordinates: .csv, .tsv, .parquet, .arrow, .feather, .npy,"
        " .npz, .mtx, .h5ad, or - for CSV on standard output.",
        "OUT",
        "-o",
        "--out",
    )
    plot: str | None = setting("Write a scatter plot: .png, .svg or .pdf.", "FILE")
    report: str | None = setting("Write an interactive report: one HTML file.", "FILE.html")
    save: str | None = setting("Write the fitted model, for new rows.", "MODEL")
    force: bool = setting("Overwrite existing files.", default=False)
    report_points: int = _writing(
        "Maximum number of points in the report, a random sample of more; 0 for all.",
        "N",
        default=50_000,
        min=0,
    )
    spreadsheet_safe: bool = _writing(
        "Write an apostrophe before text in .csv and .tsv that spreadsheets take for formulas.", default=False
    )


@dataclass(frozen=True)
class Display:
    """What a command prints besides its results."""

    as_json: bool = _messages("Print a summary as JSON to standard output.", "", "--json", default=False)
    quiet: bool = _messages("Print only warnings and errors.", "", "--quiet", "-q", default=False)
    progress: bool | None = _messages(
        "Show progress. Default: bars on a terminal, a line now and then elsewhere, after 2 s.",
        "",
        "--progress/--no-progress",
    )

    def __post_init__(self) -> None:
        """Print nothing else with ``--json``."""
        object.__setattr__(self, "quiet", self.quiet or self.as_json)


class Only:
    """The fields of a group of options that a command has; ``required`` is one that must be given."""

    def __init__(self, *names: str, required: str | None = None) -> None:
        self.names, self.required = names, required


#: Fields for commands that read rows of numbers, no distances or graphs.
ROWS = Only(
    "label", "columns", "standardize", "id", "exclude", "encode", "missing", "use_rep", "layer", "size"
)
#: Fields for commands that also read distances and graphs, but no weights and no chunks.
TABLES = Only(*ROWS.names, "obsp", "kind")
#: Fields for commands that write a line for each row, or save a model.
ROWS_AND_MODEL = Only("out", "save", "force", "spreadsheet_safe")


@cache
def _fields_as_parameters(group: Any) -> dict[str, inspect.Parameter]:
    """Return the fields of a group of options as parameters of a command for typer."""
    types, found = get_type_hints(group), {}
    for each in fields(group):
        described = dict(each.metadata)
        names = described.pop("names") or (f"--{each.name.replace('_', '-')}",)
        annotation: Any = Annotated[types[each.name], typer.Option(*names, **described)]
        found[each.name] = inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=annotation
        )
    return found


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options (dataclasses) are replaced by their fields, for typer."""
    hints = get_type_hints(function, include_extras=True)
    shown: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        group = getattr(hint, "__origin__", hint)
        if not (isinstance(group, type) and is_dataclass(group)):
            shown.append(parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        known = _fields_as_parameters(group)
        only = next(iter(getattr(hint, "__metadata__", ())), Only(*known))
        groups[parameter.name] = group, [name for name in known if name in only.names]
        for name in groups[parameter.name][1]:
            required = name == only.required
            shown.append(known[name].replace(default=inspect.Parameter.empty) if required else known[name])

    @wraps(function)
    def command(**values: Any) -> None:
        for name, (group, names) in groups.items():
            values[name] = group(**{each: values.pop(each) for each in names})
        function(**values)

    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return command


#: Words that are read as the value of the flag before them.
_FLAG_VALUES = ("yes", "no", "true", "false", "on", "off")
#: Keys of the data that a command receives in ``ctx.meta``.
_PARAMETERS, _METHODS = "eigenscape.parameters", "eigenscape.methods"
COMMAND = "eigenscape.command"  # as it was typed
#: Finds the methods among the arguments: ``-m isomap``, ``-misomap``, ``--method=isomap``.
_METHOD_PARSER = ArgumentParser(add_help=False, allow_abbrev=False)
for _name in ("-m", "--method"):
    _METHOD_PARSER.add_argument(_name, action="append", nargs="?", default=[])


class MethodCommand(TyperCommand):
    """A command that accepts the parameters of the method given by ``-m`` as further options.

    These options are removed from the command line before typer parses it; ``--help`` lists them.
    ``--method`` is the long form of ``-m``, except for a method that has a parameter of this name.
    """

    #: Methods used if no ``-m`` is given.
    default_methods: tuple[str, ...] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the parameters of the method, and let typer parse the other arguments."""
        given = _METHOD_PARSER.parse_known_args(args)[0]
        names = [name for name in given.m or given.method[:1] if name] or list(self.default_methods)
        ctx.meta[COMMAND] = shlex.join(["eigenscape", str(ctx.info_name), *args])
        ctx.meta[_METHODS] = names
        if {"--help", "-h"} & set(args):
            return super().parse_args(ctx, [word for word in args if word in ("--help", "-h")])
        classes = [estimator_class(name) for name in names]
        known: dict[str, Parameter] = {}
        errors.option_names.clear()
        for cls in classes:  # the first method that has a parameter defines it
            known = {**parameters(cls), **known}
            errors.option_names.update(option_names(cls))
        own = {name for each in self.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
        ctx.meta[_PARAMETERS], rest = _split(args, known, own, [cls._method.name for cls in classes])
        return super().parse_args(ctx, rest)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the command, then the parameters of the methods given by ``-m``."""
        super().format_help(ctx, formatter)
        names = ctx.meta.get(_METHODS, [])
        if names != list(self.default_methods):
            from eigenscape.app.cli.models import show_method

            for name in names:
                show_method(name)


def chosen_parameters(ctx: typer.Context, cls: type[BaseEstimator]) -> dict[str, Any]:
    """Return the parameters given on the command line that an estimator class has."""
    accepted = parameters(cls)
    chosen = {name: value for name, value in ctx.meta.get(_PARAMETERS, {}).items() if name in accepted}
    make_estimator(cls, chosen)  # raises before any work if options cannot be combined
    return chosen


def _split(
    args: list[str], known: dict[str, Parameter], own: set[str], methods: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the values of parameters of the methods, and the other arguments.

    ``known`` are the parameters of the methods, ``own`` the options of the command.
    """
    chosen: dict[str, Any] = {}
    rest: list[str] = []
    words = deque(args)
    while words:
        word = words.popleft()
        if word == "--":
            rest += [word, *words]
            break
        option, equals, value = word.partition("=")
        name = option.removeprefix("--").replace("-", "_")
        if not word.startswith("--"):
            rest.append(word)
        elif name in known:
            chosen[name] = _value(known[name], value if equals else None, words)
        elif name.startswith("no_") and name[3:] in known and known[name[3:]].is_flag:
            chosen[name[3:]] = False
        elif option == "--method":
            rest += ["-m", value if equals else words.popleft() if words else ""]
        elif option.replace("_", "-") in own:
            rest.append(option.replace("_", "-") + equals + value)
        else:
            raise CommandError(_unknown_option(option, known, own, methods))
    return chosen, rest


def _value(parameter: Parameter, value: str | None, words: deque[str]) -> Any:
    """Parse the value of a parameter; if it was not joined by ``=``, take the next word."""
    if value is None and parameter.is_flag and not (words and words[0].lower() in _FLAG_VALUES):
        return True
    if value is None and not words:
        raise CommandError(f"{parameter.option} needs a value: {parameter.type_text}")
    return parameter.parse(words.popleft() if value is None else value)


def _unknown_option(option: str, known: dict[str, Parameter], own: set[str], methods: list[str]) -> str:
    """Return the message for an option that neither the command nor the methods have."""
    available = [parameter.option for parameter in known.values()]
    candidates = [*available, *(name for name in own if name.startswith("--"))]
    close = get_close_matches(option.replace("_", "-"), candidates, n=2, cutoff=0.6)
    text = f"no such option: {option}"
    if available:
        text += f"; options of {' and '.join(methods)}: {', '.join(available)}"
    elif not close:
        text += "; parameters of a method need -m METHOD"
    return f"{text}; did you mean {' or '.join(close)}?" if close else text
