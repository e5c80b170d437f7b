"""``make sanitize``: tests the loops and fits every estimator with sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from native.building import ROOT, build

FOLDER = ROOT / "build" / "sanitize"


def main() -> None:
    """Build a copy of the package whose loops are checked, and test it."""
    extension = build(FOLDER, "-DSANITIZE=ON", "-DWARNINGS=ON")
    source = FOLDER / "src"
    shutil.copytree(
        ROOT / "src" / "eigenscape",
        source / "eigenscape",
        ignore=shutil.ignore_patterns("*.so", "__pycache__", "CMake*", "*.ninja"),
    )
    shutil.copy(extension, source / "eigenscape" / "_native")
    libraries = [_library("libasan.so"), _library("libubsan.so")]
    environment = {
        **os.environ,
        "PYTHONPATH": str(source),
        "LD_PRELOAD": " ".join(libraries),
        # Python does not free everything at its end.
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",
        "EIGENSCAPE_SANITIZED": str(source),
        "EIGENSCAPE_CALLS": os.environ.get("EIGENSCAPE_CALLS", "100"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    python = [sys.executable]
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/native"]
    subprocess.run([*python, *pytest], check=True, cwd=ROOT, env=environment)
    fit_all = (
        "import runpy, eigenscape;"
        f" assert eigenscape.__file__.startswith({str(source)!r});"
        " runpy.run_path('tests/packaging/fit_every_estimator.py')['fit_all']()"
    )
    subprocess.run([*python, "-W", "ignore", "-c", fit_all], check=True, cwd=ROOT, env=environment)
    print("no sanitizer has complained")


def _library(name: str) -> str:
    """Return the path of a library of the compiler."""
    compiler = os.environ.get("CC", "gcc")
    done = subprocess.run([compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True)
    path = Path(done.stdout.strip())
    if not path.is_absolute():
        sys.exit(f"{compiler} has no {name}; install gcc, or set CC to a compiler with sanitizers")
    return str(path)


if __name__ == "__main__":
    main()
