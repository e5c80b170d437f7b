"""Run a script or a module with scikit-learn accelerated: ``python -m eigenscape.accel script.py ...``."""

from __future__ import annotations

import atexit
import runpy
import sys
from pathlib import Path

from eigenscape.accel import install, report

_USAGE = """usage: python -m eigenscape.accel [--verbose] script.py [arguments ...]
       python -m eigenscape.accel [--verbose] -m module [arguments ...]

Run a script or a module with scikit-learn's manifold learning computed by eigenscape.

  --verbose   print which calls ran where, in how many seconds, and why, when the script ends
  -h, --help  show this message
"""


def main(arguments: list[str]) -> None:
    """Run the script or module that the arguments name; its exit code is kept."""
    verbose = arguments[:1] == ["--verbose"]
    arguments = arguments[1:] if verbose else arguments
    if arguments[:1] in (["-h"], ["--help"]):
        print(_USAGE, end="")
        return
    as_module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if as_module else arguments
    if not arguments or arguments[0].startswith("-"):
        sys.exit(_USAGE)
    target = arguments[0]
    if not as_module and not Path(target).exists():
        sys.exit(f"eigenscape.accel: no such script: {target}")
    install()
    sys.argv = arguments
    if verbose:
        atexit.register(lambda: print(report(), file=sys.stderr))  # after threads that the script leaves
    if as_module:
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        if not sys.flags.safe_path:  # with it there is no folder of the script or module to replace
            sys.path[0] = str(Path(target).resolve().parent)
        runpy.run_path(target, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
