"""Options that several commands share, and commands that accept the parameters of a method as options."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from eigenscape.app.cli import errors
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.methods import (
    Parameter,
    estimator_class,
    make_estimator,
    method_name,
    option_names,
    parameters,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def _option(*names: str, help: str, panel: str | None = None, metavar: str | None = None, **more: Any) -> Any:  # noqa: A002
    return typer.Option(*names, help=help, rich_help_panel=panel, metavar=metavar, **more)


Source = Annotated[
    str,
    typer.Argument(metavar="INPUT", help="A file, a folder of images, or - for CSV on standard input."),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file written by --save.")]
Dimensions = Annotated[
    int | None, _option("-d", help="Number of coordinates. Default: 2.", metavar="N", min=1)
]

Label = Annotated[
    str | None,
    _option(
        help="Column of labels. Default: the first text column with repeated values.",
        metavar="COLUMN",
        panel="Reading",
    ),
]
Weight = Annotated[
    str | None,
    _option(
        help="Column of sample weights, which is not a feature. A weight of 2 counts a row twice.",
        metavar="COLUMN",
        panel="Reading",
    ),
]
Id = Annotated[
    str | None,
    _option(
        "--id",
        help="Column of row identifiers. Default: id, or a text column whose values all differ.",
        metavar="COLUMN",
        panel="Reading",
    ),
]
Columns = Annotated[
    str | None,
    _option(
        help="Columns to use, separated by commas: names, wildcards ('px*') or types (dtype:float, int, bool,"
        " number, text). Default: all numeric columns.",
        metavar="A,B,C",
        panel="Reading",
    ),
]
Exclude = Annotated[
    str | None,
    _option(help="Columns not to use, in the form of --columns.", metavar="A,B,C", panel="Reading"),
]
Encode = Annotated[
    str | None,
    _option(
        help="Use text columns, too: a column of 0 and 1 for each value.", metavar="onehot", panel="Reading"
    ),
]
UseRep = Annotated[
    str | None,
    _option(
        "--use-rep",
        help="Read obsm[KEY] of an h5ad file instead of X, such as X_pca.",
        metavar="KEY",
        panel="Reading",
    ),
]
Layer = Annotated[
    str | None,
    _option(help="Read layers[KEY] of an h5ad file instead of X.", metavar="KEY", panel="Reading"),
]
Obsp = Annotated[
    str | None,
    _option(
        help="Read the graph obsp[KEY] of an h5ad file: distances or connectivities.",
        metavar="KEY",
        panel="Reading",
    ),
]
Missing = Annotated[
    str,
    _option(
        help="Treatment of missing values: drop their rows, fill in the mean of the column or what"
        " probabilistic PCA expects, or keep them (probabilistic-pca, factor-analysis, mixture-ppca).",
        metavar="error|drop|mean|ppca|keep",
        panel="Reading",
    ),
]
NewMissing = Annotated[
    str,
    _option(
        help="Treatment of missing values. Default: fill in as for the training rows, or error.",
        metavar="error|drop|mean|ppca|keep",
        panel="Reading",
        show_default=False,
    ),
]
Size = Annotated[
    str | None,
    _option(help="Size to which images of a folder are resized.", metavar="HEIGHTxWIDTH", panel="Reading"),
]
Kind = Annotated[
    str | None,
    _option(
        help="Contents of the file: rows, distances, affinities or edges.", metavar="KIND", panel="Reading"
    ),
]
Stream = Annotated[
    bool,
    _option(
        "--stream",
        help="Read in chunks (greedy, pca); the default for files larger than 256 MiB.",
        metavar="",
        panel="Reading",
    ),
]
Standardize = Annotated[
    bool,
    _option(
        "--standardize",
        help="Scale every column to mean 0 and variance 1; a saved model scales new rows, too.",
        metavar="",
        panel="Reading",
    ),
]

Out = Annotated[
    str | None,
    _option(
        "-o",
        "--out",
        help="Write the coordinates: .csv, .tsv, .parquet, .arrow, .feather, .npy, .npz, .mtx, .h5ad,"
        " or - for CSV on standard output.",
        metavar="OUT",
        panel="Writing",
    ),
]
Plot = Annotated[
    str | None, _option(help="Write a scatter plot: .png, .svg or .pdf.", metavar="FILE", panel="Writing")
]
Report = Annotated[
    str | None,
    _option(help="Write an interactive report: one HTML file.", metavar="FILE.html", panel="Writing"),
]
ReportPoints = Annotated[
    int,
    _option(
        "--report-points",
        help="Maximum number of points in the report, a random sample of more; 0 for all.",
        metavar="N",
        panel="Writing",
        min=0,
    ),
]
Save = Annotated[
    str | None, _option(help="Write the fitted model, for transform.", metavar="MODEL", panel="Writing")
]
Compact = Annotated[
    str | None,
    _option(
        help="Save M representative rows instead of all rows, and let the report place new rows by them."
        " Without a value, M is chosen automatically.",
        metavar="[M]",
        panel="Writing",
    ),
]
SpreadsheetSafe = Annotated[
    bool,
    _option(
        "--spreadsheet-safe",
        help="Write an apostrophe before text in .csv and .tsv that spreadsheets take for formulas.",
        metavar="",
        panel="Writing",
    ),
]
Force = Annotated[bool, _option("--force", help="Overwrite existing files.", metavar="", panel="Writing")]

AsJson = Annotated[bool, _option("--json", help="Print a summary as JSON to standard output.", metavar="")]
Quiet = Annotated[bool, _option("--quiet", "-q", help="Print only warnings and errors.", metavar="")]
Progress = Annotated[
    bool | None,
    _option(
        "--progress/--no-progress",
        help="Show progress. Default: bars on a terminal, a line now and then elsewhere, after 2 s.",
        metavar="",
    ),
]
Dask = Annotated[
    str | None,
    _option(
        "--dask",
        help="Run on a dask cluster: tcp://HOST:PORT of its scheduler, or local."
        " INPUT is parquet, zarr or npy, OUT a folder.",
        metavar="ADDRESS",
        panel="Cluster",
    ),
]

#: Words that are read as the value of the flag before them.
_FLAG_VALUES = ("yes", "no", "true", "false", "on", "off")
#: Keys of the data that a command receives in ``ctx.meta``.
_PARAMETERS, _COMMAND, _METHODS = "eigenscape.parameters", "eigenscape.command", "eigenscape.methods"


class MethodCommand(TyperCommand):
    """A command that accepts the parameters of the method given by ``-m`` as further options.

    These options are removed from the command line before typer parses it; ``--help`` lists them.
    ``--method`` is the long form of ``-m``, except for a method that has a parameter of this name.
    """

    #: Methods used if no ``-m`` is given.
    default_methods: tuple[str, ...] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the parameters of the method, and let typer parse the other arguments."""
        args = _with_optional_value(args, "--compact")
        names = _method_names(args) or list(self.default_methods)
        ctx.meta[_COMMAND] = shlex.join(["eigenscape", str(ctx.info_name), *args])
        ctx.meta[_METHODS] = names
        if {"--help", "-h"} & set(args):
            return super().parse_args(ctx, [word for word in args if word in ("--help", "-h")])
        command_options = {
            option for parameter in self.params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        known = _merge([parameters(estimator_class(name)) for name in names])
        errors.option_names.clear()
        for name in names:
            errors.option_names.update(option_names(estimator_class(name)))
        chosen, rest = _split(
            args, known, command_options | {"--help"}, [method_name(name) for name in names]
        )
        ctx.meta[_PARAMETERS] = chosen
        return super().parse_args(ctx, rest)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the command, then the parameters of the methods given by ``-m``."""
        super().format_help(ctx, formatter)
        names = ctx.meta.get(_METHODS, [])
        if names != list(self.default_methods):
            from eigenscape.app.cli.methods import show_method

            for name in names:
                show_method(name)


def chosen_parameters(ctx: typer.Context, cls: type[BaseEstimator]) -> dict[str, Any]:
    """Return the parameters given on the command line that an estimator class has."""
    accepted = parameters(cls)
    chosen = {name: value for name, value in ctx.meta.get(_PARAMETERS, {}).items() if name in accepted}
    make_estimator(cls, chosen)  # raises before any work if options cannot be combined
    return chosen


def command_line(ctx: typer.Context) -> str:
    """Return the command as it was typed."""
    return ctx.meta.get(_COMMAND, "")


def _method_names(args: list[str]) -> list[str]:
    """Return the values of ``-m``, or of the first ``--method`` if there is no ``-m``."""
    joined = [word[2:] for word in args if word.startswith("-m") and word[2:3].isalpha()]  # -misomap
    return _values_of(args, "-m") + joined or _values_of(args, "--method")[:1]


def _values_of(args: list[str], flag: str) -> list[str]:
    separate = [word for before, word in pairwise(args) if before == flag]
    return separate + [word.removeprefix(f"{flag}=") for word in args if word.startswith(f"{flag}=")]


def _with_optional_value(args: list[str], flag: str) -> list[str]:
    """Replace a flag that no number follows by ``FLAG=auto``."""
    pairs = pairwise([*args, ""])
    return [f"{word}=auto" if word == flag and not after.isdigit() else word for word, after in pairs]


def _merge(parameters_of_methods: Iterable[dict[str, Parameter]]) -> dict[str, Parameter]:
    """Merge the parameters of several methods; the first method that has a name defines it."""
    merged: dict[str, Parameter] = {}
    for each in parameters_of_methods:
        merged = {**each, **merged}
    return merged


def _split(
    args: list[str], known: dict[str, Parameter], command_options: set[str], methods: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the values of parameters of the methods, and the other arguments."""
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
        elif option.replace("_", "-") in command_options:
            rest.append(option.replace("_", "-") + equals + value)
        else:
            raise CommandError(_unknown_option(option, known, command_options, methods))
    return chosen, rest


def _value(parameter: Parameter, value: str | None, words: deque[str]) -> Any:
    """Parse the value of a parameter; if it was not joined by ``=``, take the next word."""
    if value is None and parameter.is_flag and not (words and words[0].lower() in _FLAG_VALUES):
        return True
    if value is None and not words:
        raise CommandError(f"{parameter.option} needs a value: {parameter.type_text}")
    return parameter.parse(words.popleft() if value is None else value)


def _unknown_option(
    option: str, known: dict[str, Parameter], command_options: set[str], methods: list[str]
) -> str:
    """Return the message for an option that neither the command nor the methods have."""
    available = [parameter.option for parameter in known.values()]
    candidates = [*available, *(name for name in command_options if name.startswith("--"))]
    close = get_close_matches(option.replace("_", "-"), candidates, n=2, cutoff=0.6)
    text = f"no such option: {option}"
    if available:
        text += f"; options of {' and '.join(methods)}: {', '.join(available)}"
    elif not close:
        text += "; parameters of a method need -m METHOD"
    return f"{text}; did you mean {' or '.join(close)}?" if close else text
