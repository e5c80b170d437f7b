"""Build the documentation site and check it: ``make docs``.

The pages of a version are in the folder ``build/docs/VERSION``; ``build/docs/index.html`` leads to
the newest one and ``build/docs/versions.html`` lists all of them. Nothing is fetched from a network. With
``EIGENSCAPE_GALLERY=0`` the examples are shown but not run; ``EIGENSCAPE_INTERSPHINX=1`` links other
projects.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "_ext"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the documentation site and check it.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs", help="output folder")
    return parser.parse_args()


def _index(folder: Path) -> None:
    """Write the page that leads to the newest version and the list of versions."""
    versions = sorted(
        (path.name for path in folder.iterdir() if (path / "index.html").exists()),
        key=lambda name: [int(part) if part.isdigit() else 0 for part in name.split(".")],
        reverse=True,
    )
    style = "<!doctype html><html lang='en'><meta charset='utf-8'><title>eigenscape</title>"
    newest = versions[0]
    (folder / "index.html").write_text(
        f"{style}<meta http-equiv='refresh' content='0; url={newest}/index.html'>"
        f"<p><a href='{newest}/index.html'>eigenscape {newest}</a></p></html>\n"
    )
    items = "".join(f"<li><a href='{name}/index.html'>{name}</a></li>" for name in versions)
    (folder / "versions.html").write_text(f"{style}<h1>Versions</h1><ul>{items}</ul></html>\n")


def main() -> int:
    """Build, check, and return the exit code."""
    arguments = _arguments()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("MPLBACKEND", "agg")
    from site_check import check_site
    from sphinx.cmd.build import build_main

    from eigenscape import __version__

    version = ".".join(__version__.split(".")[:2])
    target = arguments.out / version
    options = [
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-E",  # reads all pages: the search index loses the entries of pages that are not read again
        "-j",
        "auto",
        "-d",
        str(arguments.out.parent / "doctrees"),
    ]
    start = time.perf_counter()
    code = build_main([*options, str(DOCS), str(target)])
    if code:
        return code
    problems = check_site(target)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    _index(arguments.out)
    seconds = time.perf_counter() - start
    print(f"{target}: {len(list(target.rglob('*.html')))} pages in {seconds:.0f} s, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
