"""``make analyze``: compiles the loops with gcc's static analyser; warnings are errors."""

from __future__ import annotations

import subprocess
import sys
import sysconfig

from native.building import SOURCE


def main() -> int:
    """Analyse all sources; return the number of those with remarks."""
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-fanalyzer"]
    failed = 0
    for file in sorted(SOURCE.glob("*.c")):
        is_loop = file.name not in ("module.c", "blas.c")
        more = (
            ["-DVARIANT=base"]
            if is_loop
            else [f"-I{sysconfig.get_path('include')}", "-DPy_LIMITED_API=0x030B0000"]
        )
        command = ["gcc", *flags, *more, "-c", file, "-o", "/dev/null"]
        failed += subprocess.run(command).returncode != 0
    print(f"{failed} sources with remarks")
    return failed


if __name__ == "__main__":
    sys.exit(main())
