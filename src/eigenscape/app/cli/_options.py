"""A typer command whose further options are the parameters of the method that it is given."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._methods import canonical, estimator_class
from eigenscape.app.cli._parameters import Parameter, parameters

#: Words after a flag that are its value.
_SAID = ("yes", "no", "true", "false", "on", "off")
#: Where the parsed parameters wait for the command, in its context.
PARAMETERS = "eigenscape.parameters"


class MethodCommand(TyperCommand):
    """Takes the options of the method after ``-m`` out of the command line before typer reads it, and adds
    them to ``--help``.

    ``--method`` is the long form of ``-m``, except for a method that has a parameter of this name.
    """

    #: The methods where none is given.
    default_methods: tuple[str, ...] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Split the words between the method and typer."""
        args = _with_optional_value(args, "--compact")
        ctx.meta["eigenscape.command"] = shlex.join(["eigenscape", str(ctx.info_name), *args])
        names = _method_names(args) or list(self.default_methods)
        ctx.meta["eigenscape.methods"] = names
        if {"--help", "-h"} & set(args):
            return super().parse_args(ctx, [word for word in args if word in ("--help", "-h")])
        own = {
            option for parameter in self.params for option in (*parameter.opts, *parameter.secondary_opts)
        } | {"--help"}
        known = _merged([parameters(estimator_class(name)) for name in names])
        chosen, rest = _split(args, known, own, [canonical(name) for name in names])
        ctx.meta[PARAMETERS] = chosen
        return super().parse_args(ctx, rest)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of the command, and that of the method where one was given."""
        super().format_help(ctx, formatter)
        names = ctx.meta.get("eigenscape.methods", [])
        if names != list(self.default_methods):
            from eigenscape.app.cli.methods import show_method

            for name in names:
                show_method(canonical(name))


def chosen_parameters(ctx: Any, cls: Any) -> dict[str, Any]:
    """The parameters given on the command line that ``cls`` has."""
    accepted = parameters(cls)
    return {name: value for name, value in ctx.meta.get(PARAMETERS, {}).items() if name in accepted}


def command_line(ctx: Any) -> str:
    """The command as it was typed."""
    return ctx.meta.get("eigenscape.command", "")


def _method_names(args: list[str]) -> list[str]:
    """What stands after every ``-m``; after the first ``--method`` where there is no ``-m``."""
    names = _after(args, "-m") + [
        word[2:] for word in args if word.startswith("-m") and word[2:3].isalpha()
    ]  # also -misomap
    return names or _after(args, "--method")[:1]


def _with_optional_value(args: list[str], flag: str) -> list[str]:
    """``--compact`` alone means automatic; a number after it is its value."""
    alone = [word == flag and not following.isdigit() for word, following in pairwise([*args, ""])]
    return [f"{word}=auto" if bare else word for word, bare in zip(args, alone, strict=True)]


def _after(args: list[str], flag: str) -> list[str]:
    found = [word for before, word in pairwise(args) if before == flag]
    return found + [word.removeprefix(f"{flag}=") for word in args if word.startswith(f"{flag}=")]


def _merged(all_parameters: Iterable[dict[str, Parameter]]) -> dict[str, Parameter]:
    merged: dict[str, Parameter] = {}
    for found in all_parameters:
        merged = {**found, **merged}
    return merged


def _split(
    args: list[str], known: dict[str, Parameter], own: set[str], methods: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """Values of the parameters, and the words that are left."""
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
            raise _no_such_option(option, known, own, methods)
    return chosen, rest


def _value(parameter: Parameter, value: str | None, words: deque[str]) -> Any:
    if value is None and parameter.is_flag and not (words and words[0].lower() in _SAID):
        return True
    value = (words.popleft() if words else None) if value is None else value
    if value is None:
        raise WrongCommandError(
            f"{parameter.option} needs a value{f': {parameter.kind}' if parameter.kind else ''}"
        )
    return parameter.parse(value)


def _no_such_option(
    option: str, known: dict[str, Parameter], own: set[str], methods: list[str]
) -> WrongCommandError:
    takes = [parameter.option for parameter in known.values()]
    close = get_close_matches(
        option.replace("_", "-"), [*takes, *(name for name in own if name.startswith("--"))], n=2, cutoff=0.6
    )
    parts = [f"no such option: {option}"]
    parts += (
        [f"{' and '.join(methods)} takes {', '.join(takes)}"]
        if takes
        else ["options of a method need -m METHOD"]
        if not close
        else []
    )
    parts += [f"did you mean {' or '.join(close)}?"] if close else []
    return WrongCommandError("; ".join(parts))
