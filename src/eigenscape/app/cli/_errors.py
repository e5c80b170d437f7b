"""How a command ends: exit codes, and errors and warnings of one line on standard error."""

from __future__ import annotations

import errno
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

#: 0 is success. 2: the input, an option or a parameter is wrong. 1: the work failed. 130: Ctrl-C, as shells
#: have it.
WRONG, FAILED, INTERRUPTED = 2, 1, 130

#: Base of the errors that typer raises for a wrong command line; it exports the leaves only.
_TYPER_ERROR: Any = typer.BadParameter.__mro__[2]


class WrongCommandError(ValueError):
    """What was asked for on the command line cannot be done."""


def exit_code(error: BaseException) -> int:
    """2 where other input would help, 1 where not."""
    if isinstance(error, OSError):
        number = error.errno or getattr(error.__cause__, "errno", None)
        return FAILED if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO) else WRONG
    return WRONG if isinstance(error, (ValueError, TypeError)) else FAILED


def one_line(error: BaseException) -> str:
    """What went wrong, without line breaks."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, _TYPER_ERROR):
        text = error.format_message()
    else:
        text = str(error)
    text = in_options(" ".join(text.split()))
    known = isinstance(
        error, (ValueError, TypeError, OSError, MemoryError, RuntimeError, ImportError, _TYPER_ERROR)
    )
    return (
        text
        if known and text
        else f"{type(error).__name__}: {text or 'no further message'} (--debug shows where)"
    )


def in_options(text: str) -> str:
    """Remedies as they are typed here: ``missing='drop' (--missing drop)`` is said for both, and the second
    is ours."""
    text = re.sub(r"\(see ([a-z_]+)\)", lambda found: f"(see --{found[1].replace('_', '-')})", text)
    return re.sub(r"\b\w+=(?:\[[^\]]*\]|\S+) \((--[a-z][^)]*)\)", r"\1", text)


@contextmanager
def ending(debug: bool) -> Iterator[None]:
    """Turn whatever the block raises into a line on standard error and an exit code."""
    try:
        with _warnings_in_one_line():
            yield
    except (KeyboardInterrupt, typer.Abort):
        _say("interrupted; no file was left half-written")
        raise SystemExit(INTERRUPTED) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        _say(f"error: {one_line(error)}")
        raise SystemExit(WRONG if isinstance(error, _TYPER_ERROR) else exit_code(error)) from None


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        _say(f"warning: {in_options(' '.join(str(message).split()))}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter(
            "default", UserWarning
        )  # also those of this library; others are about code, not about data
        warnings.showwarning = show
        yield


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
