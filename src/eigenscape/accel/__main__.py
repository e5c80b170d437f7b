"""Run a script or a module with scikit-learn accelerated: ``python -m eigenscape.accel script.py ...``."""

from __future__ import annotations

import argparse
import atexit
import runpy
import sys
from pathlib import Path

from eigenscape.accel import install, report


def main() -> None:
    """Run the script or module that the arguments name; its exit code is kept."""
    text = "Run a script or a module with scikit-learn's manifold learning computed by eigenscape."
    parser = argparse.ArgumentParser("python -m eigenscape.accel", description=text, allow_abbrev=False)
    parser.add_argument("--verbose", action="store_true", help="print which calls ran where, seconds and why")
    parser.add_argument("-m", dest="as_module", action="store_true", help="run a module, not a script")
    parser.add_argument("target", help="script, or name of a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script or module")
    options = parser.parse_args()
    if not options.as_module and not Path(options.target).exists():
        sys.exit(f"eigenscape.accel: no such script: {options.target}")
    install()
    sys.argv = [options.target, *options.arguments]
    if options.verbose:
        atexit.register(lambda: print(report(), file=sys.stderr))  # after threads that the script leaves
    if options.as_module:
        runpy.run_module(options.target, run_name="__main__", alter_sys=True)
    else:
        if not sys.flags.safe_path:  # with it there is no folder of the script or module to replace
            sys.path[0] = str(Path(options.target).resolve().parent)
        runpy.run_path(options.target, run_name="__main__")


if __name__ == "__main__":
    main()
