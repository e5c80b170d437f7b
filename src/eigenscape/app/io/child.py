"""Files whose parser may crash are read in a child process, with limits of time and memory.

The child writes a header in JSON and arrays in npy format to a pipe; nothing is pickled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np

from eigenscape._memory import available_bytes
from eigenscape.app.io.guards import first_line
from eigenscape.exceptions import InputFileError, NotEnoughMemoryError

#: Seconds that a child may take, and further seconds for each mebibyte of its file.
_SECONDS, _SECONDS_PER_MIB = 60.0, 0.5
#: Searches the standard library, the folders of argument 1 and the installed packages, in this order; then
#: calls the function that argument 2 names.
_CODE = """
import site, sys
n_standard = len(sys.path)
site.main()
import importlib, json
sys.path[n_standard:n_standard] = json.loads(sys.argv[1])
module, _, name = sys.argv[2].partition(":")
getattr(importlib.import_module(module), name)(*sys.argv[3:])
"""


class Answer(NamedTuple):
    """Result of a child process."""

    header: dict[str, Any]
    arrays: list[np.ndarray]


def call_child(module: str, argument: str, path: Path) -> Answer:
    """Return ``module.answer(argument)``, computed in a child process.

    Parameters
    ----------
    module : str
        Name of a module with a function ``answer``, which returns an :class:`Answer`.
    argument : str
        Argument of the function.
    path : Path
        The file that is read, for the limits and for error messages.

    Raises
    ------
    InputFileError
        If the function raises an error, crashes or does not end.
    NotEnoughMemoryError
        If it needs more memory than is available.
    """
    seconds = _SECONDS + _SECONDS_PER_MIB * path.stat().st_size / 2**20
    with _start(module, argument) as child:
        expired = threading.Event()

        def stop() -> None:
            expired.set()
            child.kill()

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            answer = None if child.stdout is None else _receive(Pipe(child.stdout))
        except (EOFError, ValueError, OSError):
            answer = None
        finally:
            child.kill()
            timer.cancel()
    if expired.is_set():
        raise InputFileError(
            f"{path} could not be read within {seconds:.0f} s; it is damaged, or it declares far more than it"
            " contains"
        )
    if answer is None:
        raise InputFileError(f"{path} is damaged: the library that reads it ended without a result")
    if "memory" in answer.header:
        raise NotEnoughMemoryError(f"reading {path} needs more memory than is available; store fewer rows")
    if "invalid" in answer.header:
        raise InputFileError(answer.header["invalid"])
    if "error" in answer.header:
        kind = path.suffix.removeprefix(".")
        raise InputFileError(f"{path} is damaged or not an {kind} file: {answer.header['error']}")
    return answer


def start_python(function: str, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
    """Start a child process that calls a function of the package; nothing in the working folder is imported.

    Parameters
    ----------
    function : str
        Module and name of the function, separated by a colon.
    *arguments : str
        Arguments of the function.
    **options
        Options of ``subprocess.Popen``.
    """
    # -S: site is imported by _CODE, which counts the folders of the standard library before.
    command = [sys.executable, "-I", "-S", "-c", _CODE, json.dumps(_search_path()), function, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)


def _search_path() -> list[str]:
    """Return the search path of this process without the folders that Python adds for a script.

    The working folder and the folder of the script contain files of any name, such as ``numpy.py``. They are
    kept if they are absolute entries of PYTHONPATH. The folder of this package is the last entry, in case it
    is one of them.
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    added = [os.curdir, os.path.dirname(script) or os.curdir]
    chosen = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(entry)]
    kept = [
        os.path.abspath(entry)
        for entry in sys.path
        if entry and (_is_among(entry, chosen) or not _is_among(entry, added))
    ]
    return [*kept, str(Path(__file__).parents[3])]


def _is_among(entry: str, folders: list[str]) -> bool:
    return os.path.exists(entry) and any(
        os.path.exists(folder) and os.path.samefile(entry, folder) for folder in folders
    )


def _start(module: str, argument: str) -> subprocess.Popen[bytes]:
    arguments = (module, argument, str(available_bytes()))
    return start_python("eigenscape.app.io.child:serve", *arguments, stdin=subprocess.DEVNULL)


def serve(module: str, argument: str, memory: str) -> None:
    """Compute and send an answer; this is the main function of the child process."""
    pipe = Pipe(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what libraries print is not part of the answer
    _limit_memory(int(memory))
    send(pipe, compute(module, argument))
    pipe.file.close()


def compute(module: str, argument: str) -> Answer:
    """Return ``module.answer(argument)``, with errors in the header."""
    from importlib import import_module

    try:
        answer: Answer = import_module(module).answer(argument)
    except MemoryError:
        return Answer({"memory": True}, [])
    except InputFileError as error:  # the file is not damaged
        return Answer({"invalid": str(error)}, [])
    except Exception as error:
        return Answer({"error": first_line(error)}, [])
    return answer


def send(pipe: Pipe, answer: Answer) -> None:
    """Write an answer: the length of the header, the header, and arrays."""
    header = json.dumps({**answer.header, "n_arrays": len(answer.arrays)}).encode()
    pipe.write(len(header).to_bytes(8, "little") + header)
    for array in answer.arrays:
        np.lib.format.write_array(cast(Any, pipe), np.ascontiguousarray(array), allow_pickle=False)


class Pipe:
    """A pipe with the methods that NumPy uses for objects other than files, whose position it would ask."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.read, self.write = file, file.read, file.write


def _receive(pipe: Pipe) -> Answer:
    header = json.loads(pipe.read(int.from_bytes(pipe.read(8), "little")))
    arrays = [
        np.lib.format.read_array(cast(Any, pipe), allow_pickle=False) for _ in range(header["n_arrays"])
    ]
    return Answer(header, arrays)


def _limit_memory(n_bytes: int) -> None:
    """Limit the address space to its present size and a number of bytes, where this is possible."""
    status = Path("/proc/self/status")
    if not status.exists():
        return
    import resource

    size = next(line for line in status.read_text().splitlines() if line.startswith("VmSize:"))
    present = 1024 * int(size.split()[1])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = present + n_bytes + 2**30  # libraries reserve address space that they do not use
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
