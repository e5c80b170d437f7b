"""Command line ``python -m experiments.recipes``: make a data file from a downloaded original."""

from __future__ import annotations

import argparse
import sys
import textwrap
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eigenscape.io import whole_file
from experiments._data import DATA_FILES, check_arrays
from experiments.recipes import RECIPES, Recipe, check_original, digest


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments, make a file and return the exit code."""
    parser = argparse.ArgumentParser(
        "python -m experiments.recipes",
        description="Make a data file of --data from its original. Without arguments: list the originals.",
    )
    add = parser.add_argument
    add("name", nargs="?", choices=sorted(RECIPES), help="name of the data file")
    add("original", nargs="?", type=Path, help="downloaded original: a file or a folder, see the list")
    add("--out", "-o", type=Path, default=Path("data"), metavar="DIR", help="output folder (default: data)")
    add("--force", action="store_true", help="replace an existing file")
    add("--any-version", action="store_true", help="accept an original with another checksum")
    options = parser.parse_args(arguments)
    if options.name is None:
        for name, recipe in RECIPES.items():
            print(_describe(name, recipe))
        return 0
    if options.original is None:
        parser.error(f"give the original of {options.name}: {RECIPES[options.name].source}")
    try:
        _make(options)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _describe(name: str, recipe: Recipe) -> str:
    """Return the originals of a data file as text."""
    lines = [f"{name}.npz"]
    for original in recipe.originals:
        lines += [f"  {original.url}", f"    {original.checksum or 'no checksum is known'}"]
    lines += [f"  pass: {recipe.source}", f"  terms: {recipe.terms}"]
    return "\n".join(lines + textwrap.wrap(recipe.note, 100, initial_indent="  ", subsequent_indent="  "))


def _make(options: argparse.Namespace) -> None:
    """Check the original, make the arrays and write the file."""
    recipe: Recipe = RECIPES[options.name]
    for original in recipe.originals:
        path = options.original / original.name if options.original.is_dir() else options.original
        if path.is_file() and path.name == original.name and not options.any_version:
            print(check_original(path, original))
        else:
            print(f"{path.name}: checksum not compared")
    arrays = recipe.make(options.original)
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / f"{options.name}.npz"
    with whole_file(target, force=options.force) as temporary:
        np.savez_compressed(temporary, **arrays)
        check_arrays(temporary, DATA_FILES[options.name])
    for key, expected in recipe.digests.items():
        same = key in arrays and digest(arrays[key]) == expected
        print(f"{key}: {'the same as' if same else 'different from'} the file of the published results")
    print(f"wrote {target}")


if __name__ == "__main__":
    sys.exit(main())
