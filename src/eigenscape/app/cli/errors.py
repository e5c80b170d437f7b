"""Exit codes, and messages on standard error: errors and warnings are one line each."""

from __future__ import annotations

import _thread
import errno
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from eigenscape._format import escape_controls
from eigenscape.app.errors import CommandError as CommandError

#: Exit codes. 0: success; 1: the computation failed; 2: the input, an option or a parameter is invalid;
#: 130: interrupted with Ctrl-C (128 + SIGINT, as shells report it).
FAILED, INVALID, INTERRUPTED = 1, 2, 130

#: Base class of typer's errors about the command line; typer exports only its subclasses.
_TyperError: Any = typer.BadParameter.__mro__[2]
#: Errors whose message is shown without the name of their class.
_EXPECTED = (ValueError, TypeError, OSError, MemoryError, RuntimeError, ImportError, _TyperError)
#: Operating system errors that are not the fault of the command line.
_SYSTEM_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
#: Options of the method of the command, by the names that messages of Python use.
option_names: dict[str, str] = {}
#: Seconds until an interrupt that was ignored is raised again.
_INTERRUPT_DELAY = 0.05


def print_message(text: str, quiet: bool = False) -> None:
    """Print a line to standard error unless ``quiet``; standard output is reserved for results.

    Control characters, which may come from a file, are escaped. Without standard error nothing is printed.
    """
    if not quiet and sys.stderr is not None:
        print(escape_controls(text), file=sys.stderr, flush=True)


@contextmanager
def handle_errors(debug: bool) -> Iterator[None]:
    """Print an exception raised in the block as one line and exit with the code that belongs to it."""
    try:
        with _print_warnings(), _repeated_interrupts():
            yield
    except (KeyboardInterrupt, typer.Abort):
        print_message("interrupted; no file was left half-written")
        _forget_interrupt()
        raise SystemExit(INTERRUPTED) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        print_message(f"error: {format_error(error)}")
        raise SystemExit(exit_code(error)) from None


@contextmanager
def _print_warnings() -> Iterator[None]:
    """Print each UserWarning (the base class of all warnings of this library) as one line; ignore others."""

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, UserWarning):  # imported packages may change the filters
            print_message(f"warning: {with_option_names(' '.join(str(message).split()))}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield


def _forget_interrupt() -> None:
    """Let ``python -m eigenscape`` end with the exit code.

    An interrupt inside ``exec`` of a string, as in the definition of a dataclass, is remembered by Python,
    even if it was caught, and ends the process by the signal. The next ``eval`` of a string clears it.
    """
    eval("None")


@contextmanager
def _repeated_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt again if Python ignored it, as it does in finalizers and callbacks of gc."""
    before = sys.unraisablehook
    timers: list[threading.Timer] = []

    def repeat(unraisable: Any) -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            # Not from here, where it would be ignored as well.
            timers.append(threading.Timer(_INTERRUPT_DELAY, _thread.interrupt_main))
            timers[-1].start()
        else:
            before(unraisable)

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in timers:
            timer.cancel()


def exit_code(error: BaseException) -> int:
    """Return 2 if other input or options could avoid the error, otherwise 1."""
    if isinstance(error, OSError):
        number = error.errno or getattr(error.__cause__, "errno", None)
        return FAILED if number in _SYSTEM_ERRORS else INVALID
    return INVALID if isinstance(error, ValueError | TypeError | _TyperError) else FAILED


def format_error(error: BaseException) -> str:
    """Return the message of an error on one line, with parameters as options of the command line."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, _TyperError):
        text = error.format_message()
    else:
        text = str(error)
    text = with_option_names(" ".join(text.split()))
    if text and isinstance(error, _EXPECTED):
        return text
    return f"{type(error).__name__}: {text or 'no message'} (--debug shows a traceback)"


def with_option_names(text: str) -> str:
    """Replace parameters in a message by options.

    ``missing='drop' (--missing drop)`` becomes the latter, and ``n_neighbors=9`` becomes ``--n-neighbors 9``
    if the method has this option (:data:`option_names`). Objects such as ``KNNGraph(width=2)`` stay.
    """
    text = re.sub(r"\(see ([a-z_]+)\)", lambda match: f"(see --{match[1].replace('_', '-')})", text)
    text = re.sub(r"\b\w+=(?:\[[^\]]*\]|\S+) \((--[a-z][^)]*)\)", r"\1", text)
    return re.sub(
        r"[A-Z]\w*\([^()]*\)|(?<![\w.-])([a-z]\w*)(?:=('[^']*'|\{[^}]*\}|\[[^]]*\]|[\w.+-]+)(?!\())?",
        _as_option,
        text,
    )


def _as_option(match: re.Match[str]) -> str:
    """Return a parameter with or without its value as an option; other words as they are."""
    name, value = match[1], match[2]
    if name not in option_names or (value is None and "_" not in name):
        return match[0]  # a word such as "metric" has other meanings too
    words = {None: "", "True": "", "False": " no", "None": " none"}
    return option_names[name] + words.get(value, f" {(value or '').strip(chr(39))}")
